"""A transcript as it is read and edited: segments of words, each with its time. Immutable; an edit is a new document.

Times are seconds from the start of the recording. Where the model gave none they are spread over the text by its
length and marked as estimated: good enough to find a place, and never passed off as heard.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.ui.kit.scripts import join, needs_blank, words_of

PAUSE_S = 0.8  # between two words of different segments, where only words are given
LONGEST_SEGMENT_S = 20.0
SENTENCE_END = re.compile(r"""[.!?…。！？][)"'”’»\]」』）]*\s*$""")
SECONDS_PER_CHAR = 0.065  # of speech, when not even the length of the recording is known


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its punctuation, or a character of a script without blanks; a blank that follows one is its last."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Segment:
    """What is said between two pauses. Never empty of words."""

    words: tuple[Word, ...]
    start: float
    end: float

    @property
    def text(self) -> str:
        return join([word.text for word in self.words]).rstrip()


@dataclass(frozen=True, slots=True)
class Document:
    """`estimated` tells which times the model did not give: "" none, "words" those within segments, "all"."""

    segments: tuple[Segment, ...] = ()
    estimated: str = ""
    duration_s: float | None = None
    # derived, for finding the word that is spoken: starts of all words, and where each one stands
    starts: tuple[float, ...] = field(default=(), compare=False, repr=False)
    places: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, segments: Iterable[Segment], estimated: str = "", duration_s: float | None = None) -> Document:
        """Return the document with its index of times."""
        kept = tuple(segment for segment in segments if segment.words)
        places = tuple((s, w) for s, segment in enumerate(kept) for w in range(len(segment.words)))
        starts = tuple(word.start for segment in kept for word in segment.words)
        return cls(kept, estimated, duration_s, starts, places)

    @property
    def text(self) -> str:
        """The whole text, one segment a line."""
        return "\n".join(segment.text for segment in self.segments)

    @property
    def word_count(self) -> int:
        return len(self.places)

    @property
    def end_s(self) -> float:
        return self.duration_s or (self.segments[-1].end if self.segments else 0.0)

    def word(self, place: tuple[int, int]) -> Word:
        return self.segments[place[0]].words[place[1]]

    def word_at(self, seconds: float) -> tuple[int, int] | None:
        """Return (segment, word) of the word that is spoken at a moment, the last one begun; None before the first."""
        number = bisect_right(self.starts, seconds) - 1
        return self.places[number] if number >= 0 else None

    def segment_at(self, seconds: float) -> int | None:
        place = self.word_at(seconds)
        return place[0] if place is not None else None

    def changed(self, segments: Sequence[Segment]) -> Document:
        """Return the document with other segments."""
        return Document.of(segments, self.estimated, self.duration_s)

    # On disk

    def to_json(self) -> dict[str, Any]:
        return {
            "estimated": self.estimated,
            "duration": self.duration_s,
            "segments": [
                {
                    "start": segment.start,
                    "end": segment.end,
                    "words": [[word.text, word.start, word.end] for word in segment.words],
                }
                for segment in self.segments
            ],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Document:
        """Read what `to_json` wrote; what cannot be read of it is left out."""
        segments = []
        for item in body.get("segments") or ():
            if not isinstance(item, Mapping):
                continue
            words = tuple(
                Word(str(each[0]), float(each[1]), float(each[2]))
                for each in item.get("words") or ()
                if isinstance(each, list) and len(each) == 3 and all(isinstance(n, int | float) for n in each[1:])
            )
            start, end = item.get("start"), item.get("end")
            if words:
                begin = float(start) if isinstance(start, int | float) else words[0].start
                segments.append(Segment(words, begin, float(end) if isinstance(end, int | float) else words[-1].end))
        duration = body.get("duration")
        return cls.of(
            segments, str(body.get("estimated") or ""), float(duration) if isinstance(duration, int | float) else None
        )


def document_from(
    text: str,
    duration_s: float | None,
    words: Sequence[tuple[str, float, float]],
    segments: Sequence[tuple[str, float, float]],
) -> Document:
    """Make a document of what the service answered, whichever lists of times it filled (any may be empty)."""
    heard = _heard([(word, *_span(start, end)) for word, start, end in words if word.strip()])
    spans = [(said.strip(), *_span(start, end)) for said, start, end in segments if said.strip()]
    if heard and spans:
        return Document.of(_words_into_segments(heard, spans), "", duration_s)
    if heard:
        return Document.of(_by_pauses(_with_signs(heard, text)), "", duration_s)
    if spans:
        return Document.of((segment_of(said, start, end) for said, start, end in spans), "words", duration_s)
    return Document.of(_estimated(text, duration_s), "all", duration_s)


def join_documents(parts: Sequence[tuple[Document, float]], duration_s: float | None = None) -> Document:
    """Put the documents of a recording's parts one after the other; each comes with the second it begins at."""
    segments = [
        Segment(
            tuple(Word(word.text, word.start + shift, word.end + shift) for word in segment.words),
            segment.start + shift,
            segment.end + shift,
        )
        for document, shift in parts
        for segment in document.segments
    ]
    order = ("", "words", "all")
    worst = max((order.index(document.estimated) for document, _ in parts if document.segments), default=0)
    return Document.of(segments, order[worst], duration_s)


def segment_of(text: str, start: float, end: float) -> Segment:
    """Return a segment whose words share its time by their length."""
    return Segment(spread(words_of(text), start, end), start, end)


def spread(texts: Sequence[str], start: float, end: float) -> tuple[Word, ...]:
    """Give each word its share of the time between `start` and `end`, by length."""
    weights = [len(text) + 1 for text in texts]
    total = sum(weights) or 1
    each = (end - start) / total
    words: list[Word] = []
    at = start
    for text, weight in zip(texts, weights, strict=True):
        words.append(Word(text, round(at, 3), round(at + weight * each, 3)))
        at += weight * each
    return tuple(words)


def _span(start: float, end: float) -> tuple[float, float]:
    begin = max(0.0, float(start))
    return round(begin, 3), round(max(begin, float(end)), 3)


def _words_into_segments(words: Sequence[Word], spans: Sequence[tuple[str, float, float]]) -> list[Segment]:
    """Put timed words into the segments they lie in; the segments' own text has the punctuation."""
    segments: list[Segment] = []
    rest = list(words)
    for number, (said, start, end) in enumerate(spans):
        following = spans[number + 1][1] if number + 1 < len(spans) else float("inf")
        inside: list[Word] = []
        while rest and rest[0].start < max(start, min(end, following)) + 1e-6:
            inside.append(rest.pop(0))
        if number + 1 == len(spans):
            inside += rest
            rest = []
        if inside:
            segments.append(Segment(tuple(_with_signs(inside, said)), start, max(end, inside[-1].end)))
        else:
            segments.append(segment_of(said, start, end))
    return segments


def _heard(pieces: Sequence[tuple[str, float, float]]) -> tuple[Word, ...]:
    """The words of a list. Some models cut words into pieces and put a blank before those that begin one."""
    words = [Word(text.strip(), start, end) for text, start, end in pieces]
    if any(text[0].isspace() for text, _, _ in pieces[1:]):
        return _with_signs(words, "".join(text for text, _, _ in pieces))
    return tuple(words)


def _with_signs(words: Sequence[Word], text: str) -> tuple[Word, ...]:
    """Take capitals, punctuation and blanks from the running text, where it has just the same letters."""
    letters = [(letter, at) for at, sign in enumerate(text) for letter in _letters(sign)]
    bare = [_letters(word.text) for word in words]
    if not letters or "".join(bare) != "".join(letter for letter, _ in letters):
        return tuple(words)
    found: list[Word] = []
    done = begun = 0  # letters, and characters of the text, that are in `found`
    for word, own in zip(words, bare, strict=True):
        if not own:  # punctuation of its own: it stands with the word before it
            if found:
                found[-1] = replace(found[-1], end=max(found[-1].end, word.end))
            continue
        done += len(own)
        last = letters[done - 1][1] + 1
        following = letters[done][1] if done < len(letters) else len(text)
        end = last + _sign_end(text[last:following])
        piece = text[begun:end]
        begun = end
        said = " ".join(piece.split())
        glued = found and not piece[:1].isspace() and not found[-1].text.endswith(" ")
        if glued and needs_blank(found[-1].text, said):
            found[-1] = Word(found[-1].text + said, found[-1].start, max(found[-1].end, word.end))
            continue
        if found and piece[:1].isspace() and not needs_blank(found[-1].text, said):
            found[-1] = replace(found[-1], text=f"{found[-1].text} ")
        found.append(replace(word, text=said))
    return tuple(found)


def _sign_end(gap: str) -> int:
    """How much of the text between two words belongs to the first: up to the last blank, or to an opening sign."""
    blanks = [at for at, sign in enumerate(gap) if sign.isspace()]
    if blanks:
        return len(gap[: blanks[-1]].rstrip())
    opening = (at for at, sign in enumerate(gap) if unicodedata.category(sign) in ("Ps", "Pi") or sign in "¿¡")
    return next(opening, len(gap))


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _by_pauses(words: Sequence[Word]) -> list[Segment]:
    """Cut a row of words at sentence ends and pauses, and where a segment would get too long to read."""
    segments: list[Segment] = []
    begun: list[Word] = []
    for number, word in enumerate(words):
        begun.append(word)
        following = words[number + 1] if number + 1 < len(words) else None
        if following is None:
            break
        paused = following.start - word.end >= PAUSE_S
        if paused or SENTENCE_END.search(word.text) or word.end - begun[0].start >= LONGEST_SEGMENT_S:
            segments.append(Segment(tuple(begun), begun[0].start, begun[-1].end))
            begun = []
    if begun:
        segments.append(Segment(tuple(begun), begun[0].start, begun[-1].end))
    return segments


def _estimated(text: str, duration_s: float | None) -> list[Segment]:
    """Cut a text without times at its sentence ends, and spread the recording over it."""
    sentences: list[list[str]] = [[]]
    for word in words_of(text):
        sentences[-1].append(word)
        if SENTENCE_END.search(word):
            sentences.append([])
    sentences = [each for each in sentences if each]
    lengths = [sum(len(word) + 1 for word in each) for each in sentences]
    total = sum(lengths)
    length_s = duration_s if duration_s else total * SECONDS_PER_CHAR
    segments, at = [], 0.0
    for each, length in zip(sentences, lengths, strict=True):
        end = at + length_s * length / total
        segments.append(Segment(spread(each, at, end), round(at, 3), round(end, 3)))
        at = end
    return segments
