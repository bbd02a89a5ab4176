"""A transcript as a file: plain text, Markdown, SubRip, WebVTT, JSON and CSV.

Subtitles are cut into cues by words: at most so many characters a line, so many lines and so many seconds. SubRip has
no standard; what is written here is what players agree on. WebVTT follows the W3C's candidate recommendation.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.number_format import or_dash
from app.core.time_format import LONGEST_S, position, whole_seconds
from app.translation import tr
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
MIN_CUE_S = 0.3
_CLAUSE_END = re.compile(r"[,;:，、；：–—]$")


@dataclass(frozen=True, slots=True)
class CueRules:
    """How subtitles are cut."""

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
    """Cut the words into cues: at sentence ends, then clauses, then wherever the room ends. They never overlap."""
    found: list[Cue] = []
    for segment in document.segments:
        begun: list[Word] = []
        for number, word in enumerate(segment.words):
            if begun and not _fits([*begun, word], rules):
                cut = _best_cut(begun)
                found.append(_cue(begun[:cut], rules))
                begun = begun[cut:]
            begun.append(word)
            is_last = number + 1 == len(segment.words)
            if not is_last and SENTENCE_END.search(word.text) and _chars(begun) >= rules.line_chars:
                found.append(_cue(begun, rules))
                begun = []
        if begun:
            found.append(_cue(begun, rules))
    return _in_order(found)


def _chars(words: Sequence[Word]) -> int:
    return sum(len(word.text) + 1 for word in words) - 1


def _fits(words: Sequence[Word], rules: CueRules) -> bool:
    return words[-1].end - words[0].start <= rules.longest_s and len(_lines(words, rules)) <= rules.lines


def _best_cut(words: Sequence[Word]) -> int:
    """Return before which word to cut: behind the last clause in the second half, else at the end."""
    for number in range(len(words) - 1, max(0, len(words) // 2 - 1), -1):
        text = words[number - 1].text
        if number < len(words) and (SENTENCE_END.search(text) or _CLAUSE_END.search(text)):
            return number
    return len(words)


def _lines(words: Sequence[Word], rules: CueRules) -> list[str]:
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word.text}".strip()
        if lines[-1] and len(longer) > rules.line_chars:
            lines.append(word.text)
        else:
            lines[-1] = longer
    return lines


def _cue(words: Sequence[Word], rules: CueRules) -> Cue:
    return Cue(words[0].start, words[-1].end, tuple(_lines(words, rules)))


def _in_order(found: Sequence[Cue]) -> tuple[Cue, ...]:
    """Give every cue a length that can be read, without reaching into the next one."""
    ordered: list[Cue] = []
    for number, cue in enumerate(found):
        start = max(cue.start, ordered[-1].end if ordered else 0.0)
        following = found[number + 1].start if number + 1 < len(found) else float("inf")
        end = max(cue.end, start + MIN_CUE_S)
        if end > following > start:
            end = following
        ordered.append(Cue(round(start, 3), round(max(end, start + 0.001), 3), cue.lines))
    return tuple(ordered)


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
    return [" ".join(each) for each in found]


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
        "text": " ".join(segment.text for segment in document.segments),
        "duration": document.duration_s,
        "estimated_times": document.estimated,
        "segments": [
            {
                "text": segment.text,
                "start": segment.start,
                "end": segment.end,
                "words": [{"word": word.text, "start": word.start, "end": word.end} for word in segment.words],
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
            text = f"'{word.text}" if word.text[:1] in "=+-@\t\r" else word.text
            writer.writerow((number, f"{word.start:.3f}", f"{word.end:.3f}", text))
    return out.getvalue()
