"""What the command palette lists for a typed text: candidates in, ordered and grouped rows out. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.translation import tr
from app.ui.kit.tab import PaletteItem
from app.ui.shell.palette_matching import Match, marked_runs, match

# Kinds in the order their groups stand when they fit equally well.
GROUPS = {
    "tab": tr("Go to"),
    "action": tr("Actions"),
    "open": tr("Open"),
    "model": tr("Models"),
    "character": tr("Characters"),
    "setting": tr("Settings"),
}
PREFIXES = {">": "action", "@": "character", "#": "model", "?": "setting"}
PREFIX_WORDS = {">": tr("commands only"), "@": tr("characters"), "#": tr("models"), "?": tr("settings")}

_UNASKED = ("tab", "action", "open")  # what is offered before anything is typed
_PER_GROUP = 6
_PER_GROUP_ALONE = 60  # when a prefix leaves one group only
_RECENT = 5
_FOUND_INSIDE = 30  # score of an item whose title does not match: its source found the text within
_HINT_MATCH = 20
_FEWEST_LETTERS = 3
_OTHER_WORD = 110  # of an item that is found by another word for it: between the middle and the start of a word


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that the palette could run. `keys` are the parts of its shortcut, as key caps."""

    key: str
    kind: str
    title: str
    hint: str = ""
    icon: str = ""
    keys: tuple[str, ...] = ()
    run: Callable[[], object] = lambda: None
    words: str = ""  # never shown: what else people call it

    @classmethod
    def of(cls, item: PaletteItem) -> Candidate:
        return cls(item.key, item.kind, item.title, item.hint, item.icon, (), item.run)


@dataclass(frozen=True, slots=True)
class Row:
    """A group's heading (`candidate` None) or one candidate with its matched letters marked."""

    heading: str = ""
    candidate: Candidate | None = None
    title_runs: tuple[tuple[str, bool], ...] = ()
    hint_runs: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows to show, and how many candidates fit in all."""

    rows: tuple[Row, ...]
    shown: int
    fitting: int


def split_prefix(text: str) -> tuple[str, str]:
    """ "#north" → ("model", "north"); without a prefix the kind is ""."""
    text = text.lstrip()
    kind = PREFIXES.get(text[:1], "")
    return (kind, text[1:].strip()) if kind else ("", text.strip())


def listing(candidates: Sequence[Candidate], text: str, recent: Sequence[str] = ()) -> Listing:
    """Group what fits `text`, best group first; with nothing typed what was used last comes before everything."""
    kind, typed = split_prefix(text)
    if not kind and not typed:  # models and single settings are for those who know what they look for
        candidates = [each for each in candidates if each.kind in _UNASKED or each.key in recent]
    fitting = [
        (fit, candidate)
        for candidate in candidates
        if kind in ("", candidate.kind)
        and (fit := _fit(candidate, typed, found_by_source=candidate.kind in ("open", "model", "character")))
    ]
    rows: list[Row] = []
    used: set[str] = set()
    if not typed and not kind and recent:
        by_key = {candidate.key: candidate for _, candidate in fitting}
        again = [by_key[key] for key in recent if key in by_key][:_RECENT]
        if again:
            rows.append(Row(heading=tr("Recently used")))
            rows += [_row(candidate, _Fit(0)) for candidate in again]
            used = {candidate.key for candidate in again}
    most = _PER_GROUP_ALONE if kind else _PER_GROUP
    groups = _grouped([pair for pair in fitting if pair[1].key not in used], recent)
    for heading, members in groups:
        rows.append(Row(heading=heading))
        rows += [_row(candidate, fit) for fit, candidate in members[:most]]
    shown = sum(1 for row in rows if row.candidate is not None)
    return Listing(tuple(rows), shown, len(fitting))


@dataclass(frozen=True, slots=True)
class _Fit:
    score: int
    in_title: Match | None = None
    in_hint: Match | None = None

    def __bool__(self) -> bool:
        return True


def _fit(candidate: Candidate, typed: str, *, found_by_source: bool) -> _Fit | None:
    in_title = match(typed, candidate.title)
    in_hint = match(typed, candidate.hint) if typed and candidate.hint else None
    if in_hint is not None and in_hint.score < 80:
        in_hint = None  # scattered letters of a description are chance
    if in_title is not None:
        return _Fit(in_title.score, in_title, in_hint)
    if in_hint is not None:
        return _Fit(min(in_hint.score, 80) - _HINT_MATCH, None, in_hint)
    if typed and all(_begins_one(each, candidate.words) for each in typed.casefold().split()):
        return _Fit(_OTHER_WORD)
    return _Fit(_FOUND_INSIDE) if found_by_source else None


def _begins_one(typed: str, words: str) -> bool:
    """Whether one of `words` begins so; fewer than three letters are chance, unless they are a whole word."""
    known = words.casefold().split()
    return typed in known or (len(typed) >= _FEWEST_LETTERS and any(word.startswith(typed) for word in known))


def _grouped(
    fitting: Sequence[tuple[_Fit, Candidate]], recent: Sequence[str]
) -> list[tuple[str, list[tuple[_Fit, Candidate]]]]:
    place = {key: index for index, key in enumerate(recent)}
    by_kind: dict[str, list[tuple[_Fit, Candidate]]] = {}
    for pair in fitting:
        by_kind.setdefault(pair[1].kind, []).append(pair)
    for members in by_kind.values():
        members.sort(key=lambda pair: (-pair[0].score, place.get(pair[1].key, len(place))))
    order = list(GROUPS)
    kinds = sorted(by_kind, key=lambda kind: (-by_kind[kind][0][0].score, order.index(kind)))
    return [(GROUPS[kind], by_kind[kind]) for kind in kinds]


def _row(candidate: Candidate, fit: _Fit) -> Row:
    return Row(
        candidate=candidate,
        title_runs=marked_runs(candidate.title, fit.in_title.positions if fit.in_title else ()),
        hint_runs=marked_runs(candidate.hint, fit.in_hint.positions if fit.in_hint else ()),
    )
