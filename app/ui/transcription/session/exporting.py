"""A transcript as a file: plain text, Markdown, SubRip, WebVTT, JSON and CSV.

Subtitles are cut into cues by words: at most so many characters a line, so many lines and so many seconds. Within these
limits cues end where sentences and clauses end, have lines of about the same length, and stay for a second at least.
SubRip has no standard; what is written here is what players agree on. WebVTT follows the W3C's recommendation.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.core.number_format import or_dash
from app.core.time_format import LONGEST_S, position, whole_seconds
from app.formats import csv_cell
from app.translation import tr
from app.ui.kit.scripts import join, spans_of, width_of
from app.ui.transcription.session.document import SENTENCE_END, Document, Word

FORMATS = ("srt", "vtt", "txt", "md", "json", "csv")
TITLES: Mapping[str, tuple[str, str]] = {
    "srt": ("SRT", tr("Subtitles")),
    "vtt": ("WebVTT", tr("Web captions")),
    "txt": (tr("Text"), tr("Paragraphs")),
    "md": (tr("Markdown"), tr("With notes")),
    "json": ("JSON", tr("As received")),
    "csv": ("CSV", tr("One word per row")),
}
PARAGRAPH_PAUSE_S = 2.0
MIN_CUE_S = 1.0
PAUSE_S = 0.3  # between two words: as good a place for a cut as a comma
MERGE_PAUSE_S = 2.0  # the longest pause within a cue that was joined of two
SHORT_WIDTH = 12  # columns: a cue or a line with fewer looks lost
_CLAUSE_END = re.compile(r"[,;:，、；：–—]\s*$")


@dataclass(frozen=True, slots=True)
class CueRules:
    """How subtitles are cut. Wide characters, such as Chinese ones, count as two."""

    line_chars: int = 42
    lines: int = 2
    longest_s: float = 6.0


@dataclass(frozen=True, slots=True)
class Cue:
    start: float
    end: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """What an export says about the recording besides its words."""

    title: str = ""
    recorded: str = ""  # a date as people write it
    model: str = ""
    language: str = ""
    marks: tuple[tuple[float, str], ...] = ()
    received: Mapping[str, Any] | None = None


def export(kind: str, document: Document, head: Head, rules: CueRules = CueRules()) -> str:
    """Return the file's text. Raises `KeyError` for a format that is not there."""
    if kind == "srt":
        return srt(cues(document, rules))
    if kind == "vtt":
        return vtt(cues(document, rules))
    if kind == "txt":
        return "\n\n".join(paragraphs(document)) + "\n"
    if kind == "md":
        return markdown(document, head)
    if kind == "json":
        return as_json(document, head)
    return {"csv": as_csv}[kind](document)


# Cues


def cues(document: Document, rules: CueRules) -> tuple[Cue, ...]:
    """Cut the words into cues that never overlap. A segment longer than a cue is cut evenly, best behind a sentence."""
    found = [part for segment in document.segments for part in _cut(segment.words, rules)]
    return _in_order(_joined(found, rules), rules)


class _Widths:
    """How wide stretches of some words are when they stand in one line."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._spans = spans_of([word.text for word in words], width_of)

    def of(self, first: int, end: int) -> int:
        return self._spans[end - 1][1] - self._spans[first][0]

    def lines(self, first: int, end: int, rules: CueRules) -> int:
        """How many lines words `first` to `end` need at least."""
        count, begun = 1, first
        for number in range(first + 1, end):
            if self.of(begun, number + 1) > rules.line_chars:
                count, begun = count + 1, number
        return count


def _break_cost(words: Sequence[Word], end: int) -> float:
    """How bad it is to cut before word `end`: not at all behind a sentence, a little behind a clause."""
    text = words[end - 1].text
    if end == len(words) or SENTENCE_END.search(text):
        return 0.0
    paused = words[end].start - words[end - 1].end >= PAUSE_S
    return 0.25 if paused or _CLAUSE_END.search(text) else 0.75


@lru_cache(maxsize=10_000)  # an edit changes one segment of a preview that is cut again as a whole
def _cut(words: tuple[Word, ...], rules: CueRules) -> tuple[tuple[Word, ...], ...]:
    """Cut the words of a segment into as few and as even cues as fit the rules, at the best places."""
    spans = spans_of([word.text for word in words], width_of)
    breaks = [_break_cost(words, end) for end in range(1, len(words) + 1)]
    capacity = rules.line_chars * rules.lines
    best: list[tuple[float, int]] = [(0.0, 0)]  # for each number of words: what they cost, where the last cue begins
    for end, (cut_cost, (_, last_column)) in enumerate(zip(breaks, spans, strict=True), 1):
        ends_s = words[end - 1].end
        lines, line_end = 1, last_column  # from the last line up
        chosen = (float("inf"), end - 1)
        for first in range(end - 1, -1, -1):
            column = spans[first][0]
            if line_end - column > rules.line_chars and first < end - 1:
                lines, line_end = lines + 1, spans[first][1]
            duration = ends_s - words[first].start
            if first < end - 1 and (lines > rules.lines or duration > rules.longest_s):
                break
            width = last_column - column
            cost = best[first][0] + 1.0 + (1 - min(1.0, width / capacity)) ** 2 + cut_cost
            if duration < MIN_CUE_S:
                cost += 3.0
            if width < SHORT_WIDTH:
                cost += 1.5
            chosen = min(chosen, (cost, first))
        best.append(chosen)
    found: list[tuple[Word, ...]] = []
    end = len(words)
    while end:
        first = best[end][1]
        found.append(words[first:end])
        end = first
    return tuple(found[::-1])


def _width(words: Sequence[Word]) -> int:
    return _Widths(words).of(0, len(words))


def _joined(found: Sequence[tuple[Word, ...]], rules: CueRules) -> list[tuple[Word, ...]]:
    """Join what is too short to be read, and has no pause after it to stay in, with a neighbor where both fit."""

    def fits(one: Sequence[Word], two: Sequence[Word]) -> bool:
        both = [*one, *two]
        return (
            two[0].start - one[-1].end <= MERGE_PAUSE_S
            and both[-1].end - both[0].start <= rules.longest_s
            and _Widths(both).lines(0, len(both), rules) <= rules.lines
        )

    kept: list[tuple[Word, ...]] = []
    number = 0
    waiting = list(found)
    while number < len(waiting):
        part = waiting[number]
        following = waiting[number + 1] if number + 1 < len(waiting) else None
        room = (following[0].start if following is not None else float("inf")) - part[0].start
        if max(room, part[-1].end - part[0].start) < MIN_CUE_S or (room < MIN_CUE_S and following is not None):
            before = kept[-1] if kept and fits(kept[-1], part) else None
            after = following if following is not None and fits(part, following) else None
            if after is not None and (before is None or _width(after) < _width(before)):
                waiting[number + 1] = (*part, *after)
                number += 1
                continue
            if before is not None:
                kept[-1] = (*before, *part)
                number += 1
                continue
        kept.append(part)
        number += 1
    return kept


@lru_cache(maxsize=10_000)
def _lines(words: tuple[Word, ...], rules: CueRules) -> tuple[str, ...]:
    """Break words into as few lines as they need, of about the same length, best behind a clause."""
    widths = _Widths(words)
    count = widths.lines(0, len(words), rules)
    aim = widths.of(0, len(words)) / count
    best: list[dict[int, tuple[float, tuple[int, ...]]]] = [{0: (0.0, ())}]
    for _ in range(count):
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for first, (cost, ends) in best[-1].items():
            for end in range(first + 1, len(words) + 1):
                width = widths.of(first, end)
                if width > rules.line_chars and end > first + 1:
                    break
                new = cost + ((width - aim) / rules.line_chars) ** 2 + _break_cost(words, end) / 10
                if end not in following or new < following[end][0]:
                    following[end] = (new, (*ends, end))
        best.append(following)
    ends = best[-1][len(words)][1]
    return tuple(
        join([word.text for word in words[first:end]]).rstrip() for first, end in zip((0, *ends), ends, strict=False)
    )


def _in_order(found: Sequence[tuple[Word, ...]], rules: CueRules) -> tuple[Cue, ...]:
    """Give every cue a time that can be read, first from the pause behind it, then from its neighbors."""
    times = [[words[0].start, words[-1].end] for words in found]
    for at, span in enumerate(times):
        if at:
            span[0] = max(span[0], times[at - 1][1])
        end = max(span[1], span[0] + MIN_CUE_S)
        if at + 1 < len(times) and end > times[at + 1][0] > span[0]:
            end = _borrowed(times, at, end)
        span[1] = max(end, span[0] + 0.001)
    return tuple(
        Cue(round(start, 3), round(end, 3), _lines(words, rules))
        for words, (start, end) in zip(found, times, strict=True)
    )


def _borrowed(times: list[list[float]], at: int, end: float) -> float:
    """Return when cue `at`, which has too little room, ends: a neighbor that has time to spare gives some."""
    start, following = times[at][0], times[at + 1]
    if following[0] - start >= MIN_CUE_S:
        return following[0]
    if following[1] - (start + MIN_CUE_S) >= MIN_CUE_S:
        return start + MIN_CUE_S  # the following one begins when this one ends
    if at and start - times[at - 1][0] >= MIN_CUE_S:
        earlier = max(times[at - 1][0] + MIN_CUE_S, following[0] - MIN_CUE_S)
        if earlier < start:
            times[at - 1][1] = times[at][0] = earlier
    return following[0]


def clock(seconds: float, sign: str) -> str:
    """Return `00:00:22,480`; `sign` stands between seconds and thousandths."""
    thousandths = round(min(max(0.0, seconds), LONGEST_S) * 1000)
    hours, rest = divmod(thousandths, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    whole, rest = divmod(rest, 1000)
    return f"{hours:02d}:{minutes:02d}:{whole:02d}{sign}{rest:03d}"


def srt(found: Sequence[Cue]) -> str:
    blocks = [
        f"{number}\n{clock(cue.start, ',')} --> {clock(cue.end, ',')}\n" + "\n".join(map(_harmless, cue.lines)) + "\n"
        for number, cue in enumerate(found, 1)
    ]
    return "\n".join(blocks)


def vtt(found: Sequence[Cue]) -> str:
    blocks = [
        f"{number}\n{clock(cue.start, '.')} --> {clock(cue.end, '.')}\n" + "\n".join(map(_escaped, cue.lines)) + "\n"
        for number, cue in enumerate(found, 1)
    ]
    return "WEBVTT\n\n" + "\n".join(blocks)


def _harmless(line: str) -> str:
    return line.replace("-->", "→")


def _escaped(line: str) -> str:
    """In WebVTT three signs mean something else."""
    return _harmless(line).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Texts


def paragraphs(document: Document) -> list[str]:
    """Join segments into paragraphs; a long pause begins a new one."""
    found: list[list[str]] = []
    last_end: float | None = None
    for segment in document.segments:
        if last_end is None or segment.start - last_end >= PARAGRAPH_PAUSE_S:
            found.append([])
        found[-1].append(segment.text)
        last_end = segment.end
    return [join(each) for each in found]


def markdown(document: Document, head: Head) -> str:
    """Title, facts, then each segment behind its time; marks stand where they were set."""
    facts = " · ".join(fact for fact in (head.recorded, position(document.end_s), head.model, head.language) if fact)
    lines = [f"# {_plain(head.title) or tr('Transcript')}", ""]
    if facts:
        lines += [_plain(facts), ""]
    marks = sorted(head.marks)
    for segment in document.segments:
        while marks and marks[0][0] < segment.end:
            at, text = marks.pop(0)
            lines += [f"> **{position(at)}** {_plain(text) or tr('Note')}", ""]
        lines += [f"**{position(segment.start)}** {_plain(segment.text)}", ""]
    for at, text in marks:
        lines += [f"> **{position(at)}** {_plain(text) or tr('Note')}", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Words, not markup: what Markdown would read as a sign of its own gets a backslash."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


def full_clock(seconds: float) -> str:
    """Return `02:17`, `1:02:03`: a clock whose width does not change while it runs."""
    words = position(seconds)
    return words.zfill(5) if words.count(":") == 1 else words


@or_dash
def length_words(seconds: float) -> str:
    """Return `24 s`, `7 min 42 s`, `1 h 5 min`."""
    whole = max(0, whole_seconds(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return tr("{hours} h {minutes} min", hours=hours, minutes=minutes) if minutes else f"{hours} h"
    if minutes:
        return (
            tr("{minutes} min {left} s", minutes=minutes, left=left) if left else tr("{minutes} min", minutes=minutes)
        )
    return f"{left} s"


def as_json(document: Document, head: Head) -> str:
    """The edited text with its times, and under "received" the service's own answer."""
    body: dict[str, Any] = {
        "title": head.title,
        "model": head.model,
        "language": head.language,
        "text": join([segment.text for segment in document.segments]),
        "duration": document.duration_s,
        "estimated_times": document.estimated,
        "segments": [
            {
                "text": segment.text,
                "start": segment.start,
                "end": segment.end,
                "words": [{"word": word.text.rstrip(), "start": word.start, "end": word.end} for word in segment.words],
            }
            for segment in document.segments
        ],
        "marks": [{"at": at, "text": text} for at, text in head.marks],
    }
    if head.received:
        body["received"] = dict(head.received)
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"


def as_csv(document: Document) -> str:
    """One word a row. A word that a spreadsheet would run as a formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("segment", "start", "end", "word"))
    for number, segment in enumerate(document.segments, 1):
        for word in segment.words:
            writer.writerow((number, f"{word.start:.3f}", f"{word.end:.3f}", csv_cell(word.text.rstrip())))
    return out.getvalue()
