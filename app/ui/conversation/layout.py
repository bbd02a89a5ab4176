"""One message taken apart into units: thoughts, answer, sources, note or error, receipt."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.conversation.attachment_boxes import AttachmentsBox
from app.ui.conversation.bubble import BubblePart, bubble_parts
from app.ui.conversation.cards import ErrorCard, StateNote
from app.ui.conversation.caret_line import CaretLineBox
from app.ui.conversation.json_parts import answer_box, call_box
from app.ui.conversation.line_boxes import CaptionBox, FooterBox, NoteBox, ReasoningHeader, SourcesBox
from app.ui.conversation.streaming_markdown import StreamingMarkdown
from app.ui.conversation.units import (
    BODY,
    CALLS,
    FOOTER,
    HEAD,
    SECTIONS,
    SOURCES,
    STATE,
    THOUGHT,
    Key,
    RowViewState,
    Styles,
    Unit,
)
from app.ui.conversation.wait_line import QuietWait, is_quiet_wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.ui.conversation.boxes import Box
    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.markdown.style import MarkdownStyle

LOAD_CHARS = 48_000  # of a long message read at once; the rest follows in steps
TOP_PX = 16  # air above the first message
_ROW_GAPS = {"user": 16, "assistant": 14, "note": 14, "tool": 14}
_SECTION_GAPS = {HEAD: 0, THOUGHT: 0, BODY: 14, CALLS: 14, SOURCES: 14, STATE: 12, FOOTER: 12}


class MessageLayout:
    """The units of one row. `first` says that nothing stands above it."""

    def __init__(self, row: MessageRow, styles: Styles, memory: RowViewState, *, first: bool) -> None:
        self.row = row
        self.memory = memory
        self._styles = styles
        self._first = first
        self.sections: list[list[Unit]] = [[] for _ in SECTIONS]
        self.answer = StreamingMarkdown(BODY, styles, citations=row.citations)
        self.thoughts = StreamingMarkdown(THOUGHT, styles, citations=False)
        self._pulse = Unit(BODY, lambda unit: [CaretLineBox(self._styles.reading)])
        self._bubbles: list[Unit] = []
        self._tree = Unit(BODY, lambda unit: [answer_box(self._styles.theme, self.row, self.memory)])
        if row.role == "assistant":
            self.answer.extend(row.text)
            self.thoughts.extend(row.reasoning)
            self._bind_sources()
            self.advance(LOAD_CHARS)
        else:
            self._make_own(row)
            self.arrange()

    @property
    def streaming(self) -> bool:
        return self.row.state == "streaming"

    @property
    def backlog(self) -> int:
        return self.answer.backlog + self.thoughts.backlog

    def style_of(self, unit: Unit) -> MarkdownStyle:
        return self._styles.thought if unit.section == THOUGHT else self._styles.reading

    def set_first(self, first: bool) -> None:
        """Say whether nothing stands above the row (any more)."""
        if first != self._first:
            self._first = first
            self._set_gaps()

    # -- text that comes ----------------------------------------------------------------------------------------------

    def append(self, text: str = "", reasoning: str = "") -> None:
        """Take text that has arrived; `advance` shows it."""
        if reasoning:
            if not self.memory.thought_started:
                self.memory.thought_started = time.perf_counter()
            self.thoughts.extend(reasoning)
        if text:
            if self.memory.thought_started and self.memory.thought_s is None:
                self.memory.thought_s = time.perf_counter() - self.memory.thought_started
            self.answer.extend(text)

    def advance(self, limit: int) -> None:
        """Show about `limit` more characters, and end the texts of a message that is complete."""
        self.thoughts.advance(limit)
        if not self.thoughts.backlog:
            self.answer.advance(limit)
        if not self.backlog and not self.streaming:
            self.thoughts.finish()
            self.answer.finish()
        self.arrange()

    # -- changes ------------------------------------------------------------------------------------------------------

    def change(self, row: MessageRow) -> None:
        """Show another state of the same message."""
        old, self.row = self.row, row
        if row.role != "assistant":
            if row.text != old.text or row.role != old.role:
                self._make_own(row)
            for unit in self._bubbles:
                unit.drop()
            self.arrange()
            return
        self.answer = self._with_text(self.answer, row.text, row.citations)
        self.thoughts = self._with_text(self.thoughts, row.reasoning, False)
        if row.sources != old.sources or self.streaming != (old.state == "streaming"):
            self._bind_sources()
            for unit in self.answer.units:
                if unit.segment is not None and ("[REF]" in unit.segment.source or "^" in unit.segment.source):
                    unit.drop()
        self._tree.drop()
        for section in (HEAD, CALLS, SOURCES, STATE, FOOTER):
            for unit in self.sections[section]:
                unit.drop()
        self.advance(0)

    def _with_text(self, flow: StreamingMarkdown, text: str, citations: bool) -> StreamingMarkdown:
        """Carry on with `text` when it only grew, begin anew when it is another one or had ended already."""
        reopened = flow.is_finished and (self.streaming or text != flow.text)
        if flow.citations == citations and text.startswith(flow.text) and not reopened:
            flow.extend(text[len(flow.text) :])
            return flow
        fresh = StreamingMarkdown(flow.section, self._styles, citations=citations)
        fresh.sources, fresh.bound = flow.sources, flow.bound
        fresh.extend(text)
        fresh.advance(LOAD_CHARS)
        return fresh

    def _bind_sources(self) -> None:
        row = self.row
        self.answer.sources = row.sources
        self.answer.bound = None if self.streaming and not row.sources else len(row.sources)

    def _make_own(self, row: MessageRow) -> None:
        """Make the units of a message that is shown as typed, or of a note."""
        if row.role == "note":
            self._bubbles = [Unit(BODY, lambda unit: [NoteBox(self._styles.theme, self.row.text)])]
            return
        parts = bubble_parts(row.text)
        self._bubbles = [Unit(BODY, lambda unit: [CaptionBox(self._styles.theme, row.caption)])] if row.caption else []
        if row.attachments:
            self._bubbles.append(Unit(BODY, lambda unit: [AttachmentsBox(self._styles, self.row.attachments)]))
            if not row.text:
                parts = []
        for number, (text, in_code) in enumerate(parts):

            def build(unit: Unit, number: int = number, text: str = text, in_code: bool = in_code) -> list[Box]:
                first, last = number == 0, number == len(parts) - 1
                return [BubblePart(self._styles.reading, text, self.row, first=first, last=last, in_code=in_code)]

            self._bubbles.append(Unit(BODY, build))

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def reasoning_open(self) -> bool:
        """Open while thoughts come and no answer has begun, unless the person or the row says otherwise."""
        if self.memory.reasoning_open is not None:
            return self.memory.reasoning_open
        if self.row.reasoning_open is not None:
            return self.row.reasoning_open
        return self.streaming and not self.answer.text

    def arrange(self) -> None:
        """Make the sections agree with the row and with what has been read of its texts."""
        row = self.row
        sections = self.sections
        if row.role != "assistant":
            sections[BODY] = self._bubbles
        else:
            has_thoughts = bool(self.thoughts.text.strip())
            is_open = has_thoughts and self.reasoning_open
            self._keep(HEAD, has_thoughts, lambda unit: [self._header()])
            sections[THOUGHT] = self.thoughts.units if is_open else []
            sections[BODY] = [self._tree] if self.shows_tree else self.answer.units
            if self.streaming and not sections[BODY] and not is_open:
                sections[BODY] = [self._pulse]
            self._keep_calls()
            self._keep(SOURCES, bool(row.sources), lambda unit: [self._sources()])
            early = row.state in ("stopped", "interrupted")
            self._keep(STATE, early or row.problem is not None, lambda unit: self._notes())
            has_footer = bool(row.receipt or row.byline or row.shown_actions or row.places > 1)
            self._keep(FOOTER, has_footer, lambda unit: [self._footer()])
            self._frame_thoughts()
        self._set_gaps()

    def _keep(self, section: int, wanted: bool, build: object) -> None:
        units = self.sections[section]
        if wanted and not units:
            units.append(Unit(section, build))  # type: ignore[arg-type]  # a lambda of one argument
        elif not wanted and units:
            self.sections[section] = []

    @property
    def shows_tree(self) -> bool:
        """Whether the answer is shown as JSON: when it was asked for so, has come whole, and is not empty."""
        return self.row.structured and not self.streaming and bool(self.row.text.strip())

    def _keep_calls(self) -> None:
        units = self.sections[CALLS]
        if len(units) == len(self.row.calls):
            return

        def build(number: int) -> Unit:
            theme = self._styles.theme
            return Unit(CALLS, lambda unit: [call_box(theme, self.row, number, self.memory)])

        self.sections[CALLS] = [build(number) for number in range(len(self.row.calls))]

    def _frame_thoughts(self) -> None:
        thoughts = self.sections[THOUGHT]
        for unit in self.sections[HEAD]:
            if unit.ends_frame == bool(thoughts):
                unit.ends_frame = not thoughts
                unit.drop()
        for number, unit in enumerate(thoughts):
            ends = number == len(thoughts) - 1
            if unit.frame != "thought" or unit.ends_frame != ends:
                unit.frame = "thought"
                unit.ends_frame = ends
                unit.stale()

    def _set_gaps(self) -> None:
        """Give the first unit of every section its air; within a text the flow has done that."""
        px = self._styles.theme.px
        is_first = True
        for section, units in enumerate(self.sections):
            if not units:
                continue
            air = _SECTION_GAPS[section]
            if is_first:
                air = TOP_PX if self._first else _ROW_GAPS[self.row.role]
            is_first = False
            gap = px(air)
            unit = units[0]
            if unit.gap != gap:
                unit.gap = gap
                unit.stale()
            for other in units[1:] if section == CALLS else ():
                other.gap = px(8)

    def _header(self) -> ReasoningHeader:
        row, memory = self.row, self.memory
        seconds = row.reasoning_s if row.reasoning_s is not None else memory.thought_s
        if self.streaming and not self.answer.text and seconds is None:
            title = tr("Thinking")
        else:
            title = (
                tr("Thought for {seconds} s", seconds=format_number(seconds, 1))
                if seconds is not None
                else tr("Reasoning")
            )
        tokens = row.reasoning_tokens
        note = tr_n("{n} token, billed as output", "{n} tokens, billed as output", tokens) if tokens else ""
        return ReasoningHeader(self._styles.theme, title, note, is_open=self.reasoning_open)

    def _sources(self) -> SourcesBox:
        return SourcesBox(self._styles.theme, self.row.sources, show_all=self.memory.all_sources)

    def _notes(self) -> list[Box]:
        row = self.row
        found: list[Box] = []
        if row.state in ("stopped", "interrupted"):
            found.append(StateNote(self._styles.theme, row))
        if row.problem is not None:
            theme, problem = self._styles.theme, row.problem
            card = ErrorCard(theme, problem, details_open=self.memory.details_open)
            found.append(QuietWait(theme, problem) if is_quiet_wait(problem) else card)
        return found

    def _footer(self) -> FooterBox:
        return FooterBox(self._styles.theme, self.row)

    # -- walking ------------------------------------------------------------------------------------------------------

    def unit(self, key: Key) -> Unit | None:
        section, index = key
        units = self.sections[section]
        return units[index] if 0 <= index < len(units) else None

    def first_key(self) -> Key | None:
        return next(((section, 0) for section, units in enumerate(self.sections) if units), None)

    def next_key(self, key: Key) -> Key | None:
        section, index = key
        if index + 1 < len(self.sections[section]):
            return section, index + 1
        return next(((later, 0) for later in range(section + 1, len(self.sections)) if self.sections[later]), None)

    def previous_key(self, key: Key) -> Key | None:
        section, index = key
        if index > 0 and self.sections[section]:
            return section, min(index, len(self.sections[section])) - 1
        for earlier in range(section - 1, -1, -1):
            if self.sections[earlier]:
                return earlier, len(self.sections[earlier]) - 1
        return None

    def units(self) -> Iterator[tuple[Key, Unit]]:
        """Return every unit with its key, from the top."""
        for section, units in enumerate(self.sections):
            for index, unit in enumerate(units):
                yield (section, index), unit

    def restyle(self, styles: Styles) -> None:
        """Take other fonts and colors; everything built is forgotten."""
        self._styles = styles
        self.answer.restyle(styles)
        self.thoughts.restyle(styles)
        self._pulse.drop()
        self._tree.drop()
        for _, unit in self.units():
            unit.drop()
        self.arrange()
