"""A unit is what the view lays out, paints and drops as one: a stretch of an answer, a line of sources, a receipt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from app.ui.conversation.boxes import Box, PaintState, thought_frame
from app.ui.conversation.json_lines import JsonViewState
from app.ui.kit.markdown.style import MarkdownStyle

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPainter

    from app.ui.kit.markdown.figures import Figures
    from app.ui.kit.markdown.segments import Segment
    from app.ui.kit.theme import Theme

HEAD, THOUGHT, BODY, CALLS, SOURCES, STATE, FOOTER = SECTIONS = range(7)
Key = tuple[int, int]  # section of its row, place in the section

THOUGHT_LEFT, THOUGHT_RIGHT, THOUGHT_BOTTOM = 42, 14, 11


@dataclass(frozen=True, slots=True)
class ControlReference:
    """The address of a control: row id, unit, number of the box in it, control id."""

    row_id: str
    key: Key
    box: int
    control: str


@dataclass(slots=True)
class RowViewState:
    """What the person chose in a message; kept while the chat is open, even for messages that are far away."""

    reasoning_open: bool | None = None
    all_sources: bool = False
    details_open: bool = False
    thought_s: float | None = None
    thought_started: float = 0.0
    json: dict[str, JsonViewState] = field(default_factory=dict)  # by the name of the box


class Styles:
    """The four ways of drawing Markdown, made anew when the theme changes."""

    def __init__(self, theme: Theme, figures: Figures | None = None) -> None:
        self.theme = theme
        self.figures = figures
        self.reading = MarkdownStyle(theme, "reading")
        self.table = MarkdownStyle(theme, "body")
        self.thought = MarkdownStyle(theme, "body", "text2")
        for style in (self.reading, self.table, self.thought):
            style.figures = figures


class Unit:
    """Boxes below each other, built when first needed and dropped when far away.

    `gap` is the air above, part of the height. `frame` "thought" puts it inside the thoughts' frame, whose lower end it
    draws when `ends_frame`. `dirty_from` is the y from which it must be painted again, None when it is as painted.
    """

    def __init__(self, section: int, build: Callable[[Unit], list[Box]], segment: Segment | None = None) -> None:
        self.section = section
        self.segment = segment
        self.frame = ""
        self.ends_frame = False
        self.gap = 0
        self.height = 0
        self.width = 0
        self.left = 0
        self.dirty_from: float | None = 0.0
        self._fits = False  # whether `height` is right for `width`
        self._laid_out = False  # whether these very boxes have had a layout
        self._build = build
        self._boxes: list[Box] | None = None

    @property
    def is_built(self) -> bool:
        return self._boxes is not None

    @property
    def can_be_painted(self) -> bool:
        """Whether its boxes have had a layout; one that no longer fits will do until the next."""
        return self._boxes is not None and self._laid_out

    @property
    def boxes(self) -> list[Box]:
        """Return the boxes, building them now if need be."""
        if self._boxes is None:
            self._boxes = self._build(self)
            self._fits = self._laid_out = False
            self.dirty_from = 0.0
        return self._boxes

    def drop(self) -> None:
        """Forget everything that can be built again."""
        self._boxes = None
        self._fits = False
        self.dirty_from = 0.0

    def stale(self, dirty_from: float = 0.0) -> None:
        """Lay out again before the next paint; what is above `dirty_from` looks as before."""
        self._fits = False
        self.dirty_from = dirty_from if self.dirty_from is None else min(self.dirty_from, dirty_from)

    def fits(self, width: int) -> bool:
        """Tell whether `layout` for that width has nothing to do."""
        return self._fits and self.width == width

    def layout(self, width: int, style: MarkdownStyle) -> int:
        """Lay out for a column of `width` px unless that is done; return the height."""
        boxes = self.boxes
        if self.fits(width):
            return self.height
        theme = style.theme
        framed = self.frame == "thought"
        self.left = theme.px(THOUGHT_LEFT) if framed else 0
        inner = width - self.left - (theme.px(THOUGHT_RIGHT) if framed else 0)
        y = self.gap if boxes else 0
        above = ""
        for box in boxes:
            y += style.gap(above, box.above)
            box.y = y
            y += box.layout(max(40, inner))
            above = box.below
        if self.ends_frame and framed:
            y += theme.px(THOUGHT_BOTTOM)
        if self.width != width or (self.height != y and self.dirty_from is None):
            self.dirty_from = 0.0
        self.height = y
        self.width = width
        self._fits = self._laid_out = True
        return y

    def paint(self, painter: QPainter, clip: QRectF, theme: Theme, states: Callable[[int, Box], PaintState]) -> None:
        """Draw with the painter's origin at the unit's top left; `states` says how each box stands."""
        if self.section == HEAD and self._boxes:
            rect = QRectF(0, self.gap, self.width, self.height - self.gap)
            thought_frame(painter, theme, rect, top=True, bottom=self.ends_frame)
        elif self.frame == "thought":
            rect = QRectF(0, 0, self.width, self.height)
            thought_frame(painter, theme, rect, top=False, bottom=self.ends_frame)
        for number, box in enumerate(self.boxes):
            if box.y > clip.bottom() or box.y + box.height < clip.top():
                continue
            state = states(number, box)
            at = QPointF(self.left, box.y)
            state.clip = clip.translated(-at)
            painter.translate(at)
            box.paint(painter, state)
            painter.translate(-at)

    def box_at(self, y: float) -> int:
        """Return the number of the box at height `y`, the nearest one outside; -1 without boxes."""
        boxes = self.boxes
        for number, box in enumerate(boxes):
            if y < box.y + box.height:
                return number
        return len(boxes) - 1

    @property
    def weight(self) -> int:
        """Return how long the unit is likely to be, in lines, without laying it out."""
        if self.segment is None:
            return 2
        source = self.segment.source
        return 1 + len(source) // 70 + source.count("\n")
