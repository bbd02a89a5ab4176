"""Rows and columns that follow the size of the text, one of which wraps when its buttons, pills or chips need it."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QLayoutItem, QWidget

from app.ui.kit.theme import Theme

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom


class ScaledBox(QBoxLayout):
    """A row or a column whose margins and gap, in px at 100 %, follow the size of the text."""

    def __init__(
        self,
        theme: Theme,
        direction: QBoxLayout.Direction,
        *,
        margins: tuple[int, int, int, int] = (0, 0, 0, 0),
        gap: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Without a `gap`, the gap is the style's. A box given to a parent becomes its layout."""
        super().__init__(direction, parent)
        self._theme, self._margins, self._gap = theme, margins, gap
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        px = self._theme.px
        left, top, right, bottom = self._margins
        self.setContentsMargins(px(left), px(top), px(right), px(bottom))
        if self._gap is not None:
            self.setSpacing(px(self._gap))


class FlowLayout(QLayout):
    """Places its widgets side by side, each at its preferred width, in as many lines as they need."""

    def __init__(
        self,
        theme: Theme,
        *,
        gap: int = 8,
        line_gap: int = 8,
        centered: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """`centered`: each line stands in the middle, as under a title that does."""
        super().__init__()
        self._centered = centered
        self._theme = theme
        self._gap, self._line_gap = gap, line_gap
        self._items: list[QLayoutItem] = []
        self.destroyed.connect(self._items.clear)  # Python may hold the layout longer: no wrapper outlives its item
        if parent is not None:
            parent.setLayout(self)
        self.setContentsMargins(0, 0, 0, 0)
        theme.changed.connect(self.invalidate)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self._around()
        inner = width - margins.left() - margins.right()
        return self._arrange(QRect(0, 0, inner, 0), move=False) + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect.marginsRemoved(self._around()), move=True)

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        gaps = self._theme.px(self._gap) * max(0, len(hints) - 1)
        size = QSize(sum(hint.width() for hint in hints) + gaps, max((hint.height() for hint in hints), default=0))
        return size.grownBy(self._around())

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size.grownBy(self._around())

    def _around(self) -> QMargins:
        """Our own margins and those that the widget asks for."""
        widget = self.parentWidget()
        margins = self.contentsMargins()
        return margins + widget.contentsMargins() if widget is not None and widget.layout() is self else margins

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Lay the items out in `rect` and return the height they need."""
        gap, line_gap = self._theme.px(self._gap), self._theme.px(self._line_gap)
        parent = self.parentWidget()
        mirrored = parent is not None and parent.layoutDirection() == Qt.LayoutDirection.RightToLeft
        lines: list[list[tuple[QLayoutItem, QSize]]] = [[]]
        x = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(rect.width(), item.minimumSize().width())))
            if lines[-1] and x + size.width() > rect.width():
                lines.append([])
                x = 0
            lines[-1].append((item, size))
            x += size.width() + gap
        y = rect.top()
        for line in lines:
            height = max((size.height() for _, size in line), default=0)
            x = rect.left()
            if self._centered:
                taken = sum(size.width() for _, size in line) + gap * (len(line) - 1)
                x += max(0, (rect.width() - taken) // 2)
            for item, size in line:
                if move:
                    left = rect.right() + 1 - (x - rect.left()) - size.width() if mirrored else x
                    item.setGeometry(QRect(QPoint(left, y + (height - size.height()) // 2), size))
                x += size.width() + gap
            y += height + line_gap
        return max(0, y - line_gap - rect.top())
