"""What a person does to a transcript: correct words, move, split and merge segments, search. Times are never lost.

Every function takes a document and gives a new one, or the same when nothing changes; undo is keeping the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from app.ui.kit.scripts import join, spans_of, words_of
from app.ui.transcription.session.document import Document, Segment, Word, spread

SHORTEST_S = 0.05  # of a segment or a word that somebody nudges
NUDGE_S = 0.1


def edit_segment(document: Document, number: int, text: str) -> Document:
    """Let a segment say `text`. Words that stay keep their times; new ones share the time of those they replace.

    An empty text deletes the segment.
    """
    segment = document.segments[number]
    written = words_of(text)
    if join(written).rstrip() == segment.text:
        return document
    rows = list(document.segments)
    if not written:
        del rows[number]
        return document.changed(rows)
    rows[number] = replace(segment, words=_retimed(segment, written))
    return document.changed(rows)


def _retimed(segment: Segment, written: list[str]) -> tuple[Word, ...]:
    said_before = [one for word in segment.words for one in spread(words_of(word.text), word.start, word.end)]
    before = [word.text for word in said_before]
    words: list[Word] = []
    matcher = SequenceMatcher(None, [_key(text) for text in before], [_key(text) for text in written], autojunk=False)
    for kind, old, old_end, new, new_end in matcher.get_opcodes():
        if kind == "equal":
            for place, text in zip(range(old, old_end), written[new:new_end], strict=True):
                words.append(replace(said_before[place], text=text))
        elif kind == "replace":
            said = said_before[old:old_end]
            if len(said) == new_end - new:
                words += [replace(word, text=text) for word, text in zip(said, written[new:new_end], strict=True)]
            else:
                words += spread(written[new:new_end], said[0].start, said[-1].end)
        elif kind == "insert":
            start = words[-1].end if words else segment.start
            end = said_before[old].start if old < len(said_before) else segment.end
            if end - start < SHORTEST_S and words:  # no pause to put them in: they share the time of the word before
                last = words.pop()
                words += spread([last.text, *written[new:new_end]], last.start, max(last.end, end))
            else:
                words += spread(written[new:new_end], start, max(start, end))
    return tuple(words)


def _key(text: str) -> str:
    return text.casefold().strip(" .,;:!?…\"'“”‘’()[]")


def nudge(document: Document, number: int, edge: str, by_s: float) -> Document:
    """Move a segment's "start", "end" or "both" by seconds, as far as its neighbors let it; its words go along."""
    rows = list(document.segments)
    segment = rows[number]
    low = rows[number - 1].end if number else 0.0
    high = rows[number + 1].start if number + 1 < len(rows) else max(document.duration_s or 0.0, segment.end + 60)
    low, high = min(low, segment.start), max(high, segment.end)
    start, end = segment.start, segment.end
    if edge == "both":
        by_s = max(low - start, min(high - end, by_s))
        start, end = start + by_s, end + by_s
    elif edge == "start":
        start = max(low, min(start + by_s, end - SHORTEST_S))
    else:
        end = min(high, max(end + by_s, start + SHORTEST_S))
    start, end = round(start, 3), round(end, 3)
    if (start, end) == (segment.start, segment.end):
        return document
    rows[number] = Segment(_stretched(segment, start, end), start, end)
    return document.changed(rows)


def _stretched(segment: Segment, start: float, end: float) -> tuple[Word, ...]:
    """The same words in another span: their places in it stay as they were."""
    before = max(segment.end - segment.start, 1e-9)
    factor = (end - start) / before

    def at(seconds: float) -> float:
        return round(start + (seconds - segment.start) * factor, 3)

    return tuple(Word(word.text, at(word.start), at(word.end)) for word in segment.words)


def split(document: Document, number: int, word: int) -> Document:
    """Begin a new segment with the word of that number; 0, or a number that is not there, changes nothing."""
    segment = document.segments[number]
    if not 0 < word < len(segment.words):
        return document
    first, second = segment.words[:word], segment.words[word:]
    middle = max(first[-1].end, min(second[0].start, segment.end))
    rows = list(document.segments)
    rows[number : number + 1] = [
        Segment(first, segment.start, first[-1].end if first[-1].end <= middle else middle),
        Segment(second, second[0].start, segment.end),
    ]
    return document.changed(rows)


def merge(document: Document, number: int) -> Document:
    """Join a segment with the one after it; the last one stays as it is."""
    if not 0 <= number < len(document.segments) - 1:
        return document
    one, two = document.segments[number : number + 2]
    rows = list(document.segments)
    rows[number : number + 2] = [Segment(one.words + two.words, one.start, max(one.end, two.end))]
    return document.changed(rows)


@dataclass(frozen=True, slots=True)
class Match:
    """Where a search found something: a segment, and characters of its text."""

    segment: int
    start: int
    end: int


def search(document: Document, text: str) -> tuple[Match, ...]:
    """Return every place, in any case, in order. Words may stand on both sides of a line break."""
    wanted = " ".join(text.casefold().split())
    if not wanted:
        return ()
    found: list[Match] = []
    for number, segment in enumerate(document.segments):
        said = segment.text.casefold()
        if len(said) != len(segment.text):  # folding made it longer (ß, İ): places are then those of lower case
            said = segment.text.lower()
            if len(said) != len(segment.text):
                said = segment.text
        at = said.find(wanted)
        while at >= 0:
            found.append(Match(number, at, at + len(wanted)))
            at = said.find(wanted, at + len(wanted))
    return tuple(found)


def replaced(document: Document, found: Sequence[Match], text: str) -> Document:
    """Write `text` where each of `found` is; words that stay keep their times, and a segment left empty goes."""
    places: dict[int, list[Match]] = {}
    for match in found:
        places.setdefault(match.segment, []).append(match)
    for number in sorted(places, reverse=True):  # from the end: what goes moves nothing that is still to come
        written = document.segments[number].text
        for match in sorted(places[number], key=lambda each: each.start, reverse=True):
            written = written[: match.start] + text + written[match.end :]
        document = edit_segment(document, number, written)
    return document


def word_spans(segment: Segment) -> tuple[tuple[int, int], ...]:
    """Return where each word stands in the segment's text: (first character, one behind the last)."""
    return tuple(spans_of([word.text for word in segment.words]))
