"""The smallest things the message view stacks: a box knows its height, paints itself, and finds text and controls.

Boxes are plain objects, not widgets: a screen holds a few dozen, and a scrolled-out one is simply dropped.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

    from app.ui.conversation.code_box import CodeGroup
    from app.ui.conversation.horizontal_scroll import HorizontalScroll
    from app.ui.kit.theme import Theme

FOCUS_GAP = 2  # px between a control and its focus ring, which is 2 px itself


@dataclass(slots=True)
class Control:
    """Something in a box that can be pressed. `id` is unique in its box; `action` is what pressing it means.

    `role`: "button", "link", "toggle" (a button that stays down) or "disclosure" (one that unfolds what is below).
    `look`: "none" (text that is painted anyway), "icon", "quiet", "link", "plain", "primary" or "pill".
    """

    id: str
    rect: QRectF
    name: str
    action: tuple[str, ...]
    role: str = "button"
    look: str = "none"
    label: str = ""
    icon: str = ""
    tooltip: str = ""
    checked: bool = False
    dimmed: bool = False  # off limits; the tooltip says why
    areas: list[QRectF] = field(default_factory=list)  # a link over two lines has two

    def contains(self, point: QPointF) -> bool:
        return any(area.contains(point) for area in self.areas) if self.areas else self.rect.contains(point)


@dataclass(slots=True)
class PaintState:
    """What paints differently now: control ids of the box that are hovered, pressed, focused; the selected stretch.

    `done` is a copy button that has just worked; `lively` says that the pointer or the focus is in this message.
    """

    hovered: str = ""
    pressed: str = ""
    focused: str = ""
    done: str = ""
    lively: bool = False
    selection: tuple[int, int] | None = None
    found: Sequence[tuple[int, int]] = ()  # words that were looked for
    shown: tuple[int, int] | None = None  # the one of them that was gone to
    clip: QRectF = field(default_factory=QRectF)  # in the box's own coordinates


class Box(ABC):
    """Base of everything stacked in a row. Coordinates start at the box's own top left; heights are whole px."""

    above = ""  # kinds of the outer blocks, which decide the air between two boxes
    below = ""
    sideways: HorizontalScroll | None = None  # for what may be wider than the column
    group: CodeGroup | None = None  # for code
    source = ""  # of code: its lines as they are

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.width = 0
        self.height = 0
        self.y = 0  # in its unit; set by the unit

    @abstractmethod
    def layout(self, width: int) -> int:
        """Lay out for `width` px and return the height."""

    @abstractmethod
    def paint(self, painter: QPainter, state: PaintState) -> None:
        """Draw; the painter's origin is the box's top left."""

    def controls(self) -> list[Control]:
        """Return what can be pressed, in reading order."""
        return []

    @property
    def counts_down(self) -> bool:
        """Whether the box changes by itself once a second."""
        return False

    # -- text -----------------------------------------------------------------------------------------------------

    @property
    def length(self) -> int:
        """The number of positions that a selection can distinguish; 0 for a box without text."""
        return 0

    def position_at(self, point: QPointF) -> int:
        """Return the text position nearest to `point`."""
        return 0

    def word_at(self, position: int) -> tuple[int, int]:
        """Return the ends of the word at `position`."""
        return position, position

    def text(self, start: int, end: int) -> str:
        """Return the visible text between two positions, as it is to be copied."""
        return ""

    def end_rect(self) -> QRectF | None:
        """Return where the next character would stand, for the caret of a streaming answer."""
        return None

    def scrolled_by(self, delta: float) -> bool:
        """Scroll sideways by `delta` px; False when there is nothing to scroll."""
        return False

    def bar_rect(self) -> QRectF:
        """Return where its own scroll bar is; empty for most."""
        return QRectF()

    def drag_bar_to(self, x: float) -> None:  # noqa: B027  # most boxes have no bar
        """Scroll sideways so that the middle of the bar comes under `x`."""


class RuleBox(Box):
    """A line across."""

    above = below = "rule"

    def __init__(self, theme: Theme, indent: int) -> None:
        super().__init__(theme)
        self._indent = indent

    def layout(self, width: int) -> int:
        self.width = width
        self.height = 1
        return 1

    def paint(self, painter: QPainter, state: PaintState) -> None:
        painter.fillRect(QRectF(self._indent, 0, self.width - self._indent, 1), self.theme.color("line2"))


def paint_frame(
    painter: QPainter, rect: QRectF, radius: float, fill: QColor, line: QColor | None, top: bool, bottom: bool
) -> None:
    """Draw a rounded frame or, with `top` or `bottom` off, the slice of one that goes on above or below."""
    painter.save()
    painter.setRenderHint(painter.RenderHint.Antialiasing)
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    whole = QRectF(rect)
    if not top:
        whole.setTop(rect.top() - 2 * radius - 2)
    if not bottom:
        whole.setBottom(rect.bottom() + 2 * radius + 2)
    painter.setBrush(fill)
    painter.setPen(Qt.PenStyle.NoPen if line is None else QPen(line, 1))
    painter.drawRoundedRect(whole.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.restore()


def thought_frame(painter: QPainter, theme: Theme, rect: QRectF, *, top: bool, bottom: bool) -> None:
    """Draw the slice of the thoughts' frame behind one of its parts."""
    paint_frame(painter, rect, 8, theme.color("pane"), theme.color("line"), top, bottom)


def paint_focus_ring(painter: QPainter, theme: Theme, rect: QRectF, radius: float = 6) -> None:
    """Draw the ring of keyboard focus around `rect`."""
    painter.save()
    painter.setRenderHint(painter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("accent"), 2))
    out = FOCUS_GAP + 1
    painter.drawRoundedRect(rect.adjusted(-out, -out, out, out), radius + FOCUS_GAP, radius + FOCUS_GAP)
    painter.restore()


def selection_color(theme: Theme) -> QColor:
    """Return the see-through band behind selected text; text on it keeps more than 7 to 1."""
    color = theme.color("accent")
    color.setAlphaF(0.34 if theme.is_dark else 0.22)
    return color


def whole(px: float) -> int:
    """Round a height up, so that boxes stack on whole pixels."""
    return math.ceil(px - 0.01)
