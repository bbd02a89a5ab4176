"""How well a few typed letters fit a title. Plain text in, a score and the letters that matched out."""

from __future__ import annotations

from dataclasses import dataclass

_LEAST_SCATTERED = 40
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
    """Letters in order, each at a word's start where that is possible: "sit" finds Start in the …

    The first letter must start a word: scattered letters fit nearly everything.
    """
    positions: list[int] = []
    at = -1
    for letter in word:
        starts = [
            index
            for index in range(at + 1, len(folded))
            if folded[index] == letter and (index == 0 or folded[index - 1] in _SEPARATORS)
        ]
        follows = at >= 0 and at + 1 < len(folded) and folded[at + 1] == letter
        at = at + 1 if follows else starts[0] if starts else folded.find(letter, at + 1)
        if at < 0:
            return None
        positions.append(at)
    if positions[0] and folded[positions[0] - 1] not in _SEPARATORS:
        return None
    spread = positions[-1] - positions[0] + 1 - len(word)
    at_starts = sum(1 for index in positions if index == 0 or folded[index - 1] in _SEPARATORS)
    score = 10 * at_starts + 40 - spread
    return Match(score, tuple(positions)) if score > _LEAST_SCATTERED else None


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
