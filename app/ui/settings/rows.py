"""What the pages of Settings are made of: headings, cards of rows, a row with a control at its end."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.kit.build_steps import BuildSteps
from app.ui.kit.discard import WidgetList
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.flow import ACROSS, DOWN
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule


class SectionPage(QWidget):
    """One section's content: a column of groups, at most as wide as is good to read."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.column = QVBoxLayout(self)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def build(self) -> BuildSteps[None]:
        """Make the rest of a page that takes long, a piece at each step; most pages are whole from the beginning."""
        yield from ()

    def header_widgets(self) -> tuple[QWidget, ...]:
        """What belongs to the right end of the page's header."""
        return ()

    def shown(self) -> None:
        """The person came to this section."""

    def group(self, title: str, *content: QWidget) -> QWidget:
        """Add a heading with what belongs under it."""
        holder = QWidget()
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(self.theme.px(8))
        if title:
            inner.addWidget(Label(self.theme, title, "heading"))
        for widget in content:
            inner.addWidget(widget)
        self.column.addWidget(holder)
        return holder

    def _apply_theme(self) -> None:
        side = self.theme.px(24)
        self.column.setContentsMargins(side, self.theme.px(18), side, self.theme.px(24))
        self.column.setSpacing(self.theme.px(24))


class RowCard(QWidget):
    """A card whose rows are told apart by lines."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self._rows: WidgetList[QWidget] = WidgetList(column)
        theme.changed.connect(self.update)

    def add(self, row: QWidget) -> None:
        if len(self._rows):
            self._rows.add(rule())
        self._rows.add(row)
        row.show()  # in a card that is on screen, a layout would show it one event later

    def empty(self) -> None:
        """Take all rows away."""
        self._rows.clear()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The card, and in it the rows that stand on a tint: the card's corners cut them, not their own."""
        painter = QPainter(self)
        radius = self._theme.px(8)
        solid_frame(painter, self._theme, QRectF(self.rect()), radius, "surface", "line")
        inside = QPainterPath()
        inside.addRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius - 1, radius - 1)
        painter.setClipPath(inside)
        for row in self._rows:
            if tint := row.property("tint"):
                painter.fillRect(row.geometry(), self._theme.color(tint))


class SettingRow(QWidget):
    """A title, a quiet line of what it means, and its control. The title names the control.

    A control that takes more than half of the row stands below words that would have to wrap beside it.
    """

    def __init__(self, theme: Theme, title: str, control: QWidget | None = None, *, meaning: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.title = Label(theme, title, wrap=True)
        self._row = QHBoxLayout(self)
        words = QVBoxLayout()
        self._row.addLayout(words, 1)  # first: what is made visible without a parent is a window for a moment
        words.setSpacing(0)
        words.addStretch(1)
        words.addWidget(self.title)
        self.meaning = Label(theme, meaning, "small", "text2", wrap=True)
        words.addWidget(self.meaning)
        self.meaning.setVisible(bool(meaning))
        words.addStretch(1)
        if control is not None:
            self.title.setBuddy(control)
            if not control.accessibleName():
                control.setAccessibleName(title)
            if meaning:
                control.setAccessibleDescription(meaning)
            self._row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def add(self, widget: QWidget) -> None:
        """Put one more thing at the end."""
        self._row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def set_meaning(self, text: str, role: str = "text2") -> None:
        self.meaning.set_text(text)
        self.meaning.set_role(role)
        self.meaning.setVisible(bool(text))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        inside = self.rect().marginsRemoved(self._row.contentsMargins()).width()
        controls = [item for item in map(self._row.itemAt, range(1, self._row.count())) if item and not item.isEmpty()]
        room = inside - sum(item.sizeHint().width() + self._row.spacing() for item in controls)
        words = max(each.fontMetrics().horizontalAdvance(each.text()) for each in (self.title, self.meaning))
        self._row.setDirection(DOWN if room < min(inside // 2, words) else ACROSS)

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(8)
        self._row.setContentsMargins(across, down, across, down)
        self._row.setSpacing(self._theme.px(12))
        self.setMinimumHeight(self._theme.height_px(44))


def value_label(theme: Theme, text: str = "", *, mono: bool = False) -> Label:
    """A value at the end of a row: selectable, because people copy versions and addresses."""
    label = Label(theme, text, "code" if mono else "body", "text2", tabular=not mono)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label
