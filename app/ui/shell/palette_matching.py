"""How well a few typed letters fit a title. Plain text in, a score and the letters that matched out."""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_LETTERS = 70  # less than a run inside a word
_SEPARATORS = " _-/.:“(…"


@dataclass(frozen=True, slots=True)
class Match:
    """`score` orders results, higher is better; `positions` are the matched indices of the title."""

    score: int
    positions: tuple[int, ...] = ()


def match(typed: str, title: str) -> Match | None:
    """Fit `typed` into `title`, or None. Nothing typed fits everything with score 0.

    Best are a whole word's start, then a run inside a word, then letters in order ("nc" in "New chat"). Several
    words may come in any order: each has to fit on its own.
    """
    words = typed.casefold().split()
    folded = title.casefold()
    if not words:
        return Match(0)
    if len(folded) != len(title):  # a letter that grows when folded would shift the marks
        folded = title.lower() if len(title.lower()) == len(title) else title
    score = 0
    marked: set[int] = set()
    for word in words:
        found = _match_word(word, folded)
        if found is None:
            return None
        score += found.score
        marked.update(found.positions)
    return Match(score // len(words) - len(title) // 8, tuple(sorted(marked)))


def _match_word(word: str, folded: str) -> Match | None:
    at = folded.find(word)
    best = -1
    while at >= 0:
        if at == 0 or folded[at - 1] in _SEPARATORS:
            best = at
            break
        best = at if best < 0 else best
        at = folded.find(word, at + 1)
    if best >= 0:
        starts_word = best == 0 or folded[best - 1] in _SEPARATORS
        score = 100 + (60 if best == 0 else 40 if starts_word else 0) + (20 if len(word) == len(folded) else 0)
        return Match(score, tuple(range(best, best + len(word))))
    return _match_letters(word, folded)


def _match_letters(word: str, folded: str) -> Match | None:
    """First letters of words in order, each with what follows it: "nc" and "nech" find New chat.

    Letters from the middle of words do not count: scattered letters fit nearly everything.
    """
    positions: list[int] = []
    at = -1
    for letter in word:
        if at >= 0 and at + 1 < len(folded) and folded[at + 1] == letter:
            at += 1
        else:
            starts = (i for i in range(at + 1, len(folded)) if i == 0 or folded[i - 1] in _SEPARATORS)
            at = next((i for i in starts if folded[i] == letter), -1)
        if at < 0:
            return None
        positions.append(at)
    return Match(_FIRST_LETTERS - positions[0], tuple(positions))


def marked_runs(title: str, positions: tuple[int, ...]) -> tuple[tuple[str, bool], ...]:
    """Cut `title` into runs of matched and other letters, for painting: (("Tra", True), ("nscribe", False))."""
    runs: list[tuple[str, bool]] = []
    marked = set(positions)
    for index, letter in enumerate(title):
        is_marked = index in marked
        if runs and runs[-1][1] == is_marked:
            runs[-1] = (runs[-1][0] + letter, is_marked)
        else:
            runs.append((letter, is_marked))
    return tuple(runs)
