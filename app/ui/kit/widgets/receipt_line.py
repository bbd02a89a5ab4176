"""The receipt line: what an answer cost, in which amounts, how long it took. It wraps at its separators.

Painted as runs of text so that amounts stand out; as text it is one line for the clipboard and for screen readers.
Views that paint whole messages use `lay_out_runs` and `paint_runs` without the widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetricsF, QGuiApplication, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.lists.rows import sanitized_row
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu

_GAP = 8  # px on either side of a separator
_DOT = 3
_ICON = 14


@dataclass(frozen=True, slots=True)
class Run:
    """One piece between two separators. `strong` is semibold in the text color; `role` another color; `mono` is for
    ids, whose signs are told apart one by one."""

    text: str
    strong: bool = False
    role: str = ""
    mono: bool = False


def _font(theme: Theme, run: Run) -> QFont:
    return theme.font("small", 600 if run.strong else None, mono=run.mono, tabular=True)


def runs_text(runs: Sequence[Run]) -> str:
    """Return the line as plain text, for the clipboard and for screen readers."""
    return " · ".join(run.text for run in runs)


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """A run and where it stands; `dot` is the middle of the separator before it, None at the start of a line."""

    run: Run
    rect: QRectF
    dot: QPointF | None


def lay_out_runs(theme: Theme, runs: Sequence[Run], width: float, indent: float = 0.0) -> tuple[list[PlacedRun], int]:
    """Place `runs` in lines of `width` px, the first one indented; return them and the height in px."""
    line = theme.line_px("small")
    gap, dot = theme.px(_GAP), theme.px(_DOT)
    placed: list[PlacedRun] = []
    x, y = indent, 0
    first = True
    for run in runs:
        wide = QFontMetricsF(_font(theme, run)).horizontalAdvance(run.text)
        step = 0.0 if first else 2.0 * gap + dot
        if not first and x + step + wide > width:
            x, y, first, step = indent, y + line, True, 0.0
        middle = None if first else QPointF(x + gap + dot / 2, y + line / 2)
        placed.append(PlacedRun(run, QRectF(x + step, y, min(wide, max(1.0, width - x - step)), line), middle))
        x += step + wide
        first = False
    return placed, y + line


def paint_runs(painter: QPainter, theme: Theme, placed: Sequence[PlacedRun], origin: QPointF) -> None:
    """Draw runs that `lay_out_runs` has placed, moved by `origin`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(origin)
    dot = theme.px(_DOT)
    for item in placed:
        if item.dot is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("control"))
            painter.drawEllipse(item.dot, dot / 2, dot / 2)
        font = _font(theme, item.run)
        painter.setFont(font)
        painter.setPen(theme.color(item.run.role or ("text" if item.run.strong else "text2")))
        text = QFontMetricsF(font).elidedText(item.run.text, Qt.TextElideMode.ElideRight, item.rect.width() + 1)
        painter.drawText(item.rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
    painter.restore()


class ReceiptLine(QLabel):
    """`set_runs` changes what it says; `activated` comes when it is clicked, to open the Request page.

    `dot` shows a dot in the accent instead of the receipt icon, for an answer that is still being written.
    """

    activated = Signal()

    def __init__(
        self, theme: Theme, runs: Sequence[Run] = (), *, dot: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: tuple[Run, ...] = ()
        self._dot = dot
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_runs(runs, dot=dot)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    @property
    def runs(self) -> tuple[Run, ...]:
        return self._runs

    def set_runs(self, runs: Sequence[Run], *, dot: bool = False) -> None:
        """Say something else."""
        self._runs, self._dot = tuple(map(sanitized_row, runs)), dot
        self.setText(runs_text(self._runs))
        self.setAccessibleName(self.text())
        self.updateGeometry()
        self.update()

    def copy(self) -> None:
        """Put the line on the clipboard as plain text."""
        QGuiApplication.clipboard().setText(self.text())

    def _indent(self) -> float:
        return float(self._theme.icon_px(_ICON) + self._theme.px(7))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return lay_out_runs(self._theme, self._runs, width, self._indent())[1]

    def sizeHint(self) -> QSize:
        placed, height = lay_out_runs(self._theme, self._runs, 1e6, self._indent())
        right = max((item.rect.right() for item in placed), default=self._indent())
        return QSize(round(right) + 2, height)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(80), self._theme.line_px("small"))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.activated.emit()
        super().mouseReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.add(tr("Copy receipt"), "copy").triggered.connect(self.copy)
        menu.popup(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self._theme.line_px("small")
        if self._dot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent"))
            painter.drawEllipse(QPointF(self._theme.px(4), line / 2), self._theme.px(7) / 2, self._theme.px(7) / 2)
        else:
            side = self._theme.icon_px(_ICON)
            paint(painter, self._theme, "receipt", QRectF(0, (line - side) / 2, side, side), "text3")
        placed, _ = lay_out_runs(self._theme, self._runs, self.width(), self._indent())
        paint_runs(painter, self._theme, placed, QPointF(0, 0))
