"""What differs between two answers, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.service.http.json_large import JSON_LIST, JSON_OBJECT
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.kit.json.node import Path, TreeRoot
from app.ui.kit.json.tree_model import path_text

MAX_DIFFERENCES = 2_000


Pair = tuple[Path, object, object]


@dataclass(frozen=True, slots=True)
class AbsentValue:
    """Stands where one of the two answers has nothing."""


MISSING = AbsentValue()


@dataclass(frozen=True, slots=True)
class Difference:
    """`path` begins with the number of the call, from 0."""

    path: Path
    before: object
    after: object


def differences(before: object, after: object, path: Path, limit: int = MAX_DIFFERENCES) -> list[Difference]:
    """Every place where two JSON values differ, in order, at most `limit`. Lists are compared place by place."""
    found: list[Difference] = []
    waiting: list[Iterator[Pair]] = [iter([(path, before, after)])]
    while waiting and len(found) < limit:
        pair = next(waiting[-1], None)
        if pair is None:
            waiting.pop()
            continue
        place, old, new = pair
        if isinstance(old, JSON_OBJECT) and isinstance(new, JSON_OBJECT):
            waiting.append(_by_name(place, old, new))
        elif isinstance(old, JSON_LIST) and isinstance(new, JSON_LIST):
            waiting.append(_by_place(place, old, new))
        elif type(old) is not type(new) or old != new:
            found.append(Difference(place, old, new))
    return found


def _by_name(path: Path, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Pair]:
    for name in dict.fromkeys([*old, *new]):
        yield (*path, name), old.get(name, MISSING), new.get(name, MISSING)


def _by_place(path: Path, old: Sequence[object], new: Sequence[object]) -> Iterator[Pair]:
    for at in range(max(len(old), len(new))):
        yield (*path, at), old[at] if at < len(old) else MISSING, new[at] if at < len(new) else MISSING


def compared(before: Sequence[CallOutcome], after: Sequence[CallOutcome]) -> tuple[TreeRoot, ...]:
    """The differences of two runs of one request, as rows of a tree. Call it in a thread."""
    rows: list[TreeRoot] = []
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        for each in differences(old.value, new.value, (number,), MAX_DIFFERENCES - len(rows)):
            sides = {
                name: value for name, value in (("before", each.before), ("now", each.after)) if value is not MISSING
            }
            note = "new" if each.before is MISSING else "gone" if each.after is MISSING else "other"
            rows.append(TreeRoot(path_text(each.path) or new.method, sides, str(new.id), note))
    return tuple(rows)
