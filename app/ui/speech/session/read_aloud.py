"""Reads an answer of a chat aloud, from its first sentence while the rest is still being written.

The first sentence is asked for alone, so that it is heard early; what has been written meanwhile is asked for together.
Everything becomes one clip like any other. No text is asked for twice.
"""

from __future__ import annotations

import asyncio
import re

from PySide6.QtCore import QObject, Signal

from app.core.problems import Problem
from app.core.tasks import TaskScope
from app.service.speech_text import MAX_CHARS, Span, parts, sentences
from app.storage.clips import title_of
from app.translation import tr
from app.ui.speech.presenter import SPEAK, SpeechPresenter
from app.ui.speech.session.synthesis import SpeechSynthesis

TOGETHER_CHARS = 1500  # of what was written meanwhile


class ReadAloud(QObject):
    """One answer at a time. `said` carries a sentence for the window, such as why nothing can be heard."""

    notice = Signal(str)  # a sentence

    def __init__(self, presenter: SpeechPresenter, tasks: TaskScope) -> None:
        super().__init__()
        self._presenter = presenter
        self._tasks = tasks
        self.source = ""  # whose answer is read; "" for none
        self._text = ""
        self._is_whole = True
        self._news = asyncio.Event()
        presenter.problem_changed.connect(self._publish_problem)

    def toggle(self, source: str, text: str, *, is_whole: bool) -> None:
        """Read an answer; one that is being read falls silent."""
        if self.source == source and (self._tasks.running(SPEAK) or self._presenter.sound.view.plays):
            self.stop()
            return
        self.begin(source, text, is_whole=is_whole)

    def begin(self, source: str, text: str, *, is_whole: bool) -> None:
        """Read from the beginning. What is read already stops."""
        if self._tasks.running(SPEAK):
            self.stop()
        self.source, self._text, self._is_whole = source, spoken(text), is_whole
        self._news = asyncio.Event()
        if self._presenter.service is None or self._presenter.clip_library is None or not self._presenter.choice.voice:
            self.notice.emit(tr("No voice is selected yet. Choose one in Speech."))
            self.source = ""
            return
        if fault := self._presenter.extra_fault:
            self.notice.emit(fault)
            self.source = ""
            return
        self._presenter.keep_choice()
        self._tasks.replace(SPEAK, self._read)

    def feed(self, source: str, text: str, *, is_whole: bool = False) -> None:
        """The answer has grown to `text`, or is whole."""
        if source == self.source:
            self._text, self._is_whole = spoken(text), is_whole
            self._news.set()

    def stop(self) -> bool:
        """Be silent now; False when nothing was read."""
        if not self.source:
            return False
        self.source = ""
        return self._presenter.stop()

    async def _read(self) -> None:
        first = await self._next_spans(0)
        if not first:
            self.source = ""
            self.notice.emit(tr("This answer has no text to read aloud."))
            return
        presenter = self._presenter
        begun = self._text[: first[-1].end]
        clip = await presenter.plan_clip(
            begun, presenter.choice.model, presenter.choice.voice, first, title=title_of(begun)
        )
        await presenter.read(clip, aloud=True, grow=self._grow)

    async def _grow(self, reading: SpeechSynthesis) -> bool:
        """Add what was written since, as parts of the clip."""
        clip = reading.clip
        if not self._text.startswith(clip.text):
            return False  # an answer that was rewritten is another answer
        spans = await self._next_spans(len(clip.text))
        if not spans or self._presenter.clip_library is None:
            return False
        reading.clip = await self._presenter.clip_library.clips.extend(
            clip.id, self._text[: spans[-1].end], [(span.start, span.end) for span in spans]
        )
        return True

    async def _next_spans(self, start: int) -> tuple[Span, ...]:
        """Return the next part behind `start`, waiting for a whole sentence; () at the end of the answer."""
        while True:
            found = self._ready(start)
            if found or self._is_whole:
                return found
            self._news.clear()
            await self._news.wait()

    def _ready(self, start: int) -> tuple[Span, ...]:
        rest = self._text[start:]
        known = sentences(rest)
        if not self._is_whole:
            known = known[:-1]  # the last one may go on
        if not known:
            return ()
        end = known[0].end
        if start:
            within = [span for span in known if span.end - known[0].start <= TOGETHER_CHARS]
            end = within[-1].end if within else known[0].end
        piece = rest[known[0].start : end]
        if not any(char.isalnum() for char in piece):
            return self._ready(start + end) if start + end < len(self._text) else ()
        offset = start + known[0].start
        return tuple(Span(span.start + offset, span.end + offset) for span in parts(piece, MAX_CHARS))

    def _publish_problem(self, problem: Problem | None) -> None:
        if problem is not None and self.source:
            self.notice.emit(problem.sentence)


_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CITATION = re.compile(r"\[REF\].*?\[/REF\]|\[\^?\d+(?:\s*,\s*\d+)*\](?!\()", re.DOTALL)
_MATH = re.compile(r"\$\$.*?(?:\$\$|\Z)", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|>+)[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE)
_STRONG = re.compile(r"(\*\*\*|\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*])")
_CODE = re.compile(r"`+([^`\n]+)`+")
_TAG = re.compile(r"</?[a-zA-Z][^>\n]*>")
_BLANK = re.compile(r"\n{3,}")


def spoken(markdown: str) -> str:
    """Return Markdown as it is read aloud. A fence that is still open hides what comes after it."""
    text = _FENCE.sub("", markdown.replace("\r\n", "\n"))
    text = _CITATION.sub("", _MATH.sub("", text))
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _TABLE_RULE.sub("", _RULE.sub("", text))
    text = _HEADING.sub(lambda match: _closed(match[1]), text)
    text = _BULLET.sub("", text)
    text = _ROW.sub(
        lambda match: _closed(", ".join(cell.strip() for cell in match[1].split("|") if cell.strip())), text
    )
    text = _CODE.sub(r"\1", text)
    for _ in range(2):  # bold inside italic
        text = _STRONG.sub(r"\2", text)
        text = _EMPHASIS.sub(r"\2", text)
    text = _TAG.sub("", text)
    return _BLANK.sub("\n\n", text).strip()


def _closed(line: str) -> str:
    """A heading or a row ends like a sentence, so that the voice falls."""
    return line if not line or line[-1] in ".!?:…。" else f"{line}."
