"""Fields of the form: a choice of values, an aspect ratio, and a media file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.segmented import SegmentedChoice

MOST_SEGMENTS = 3
LONGEST_SEGMENT = 8


class ValueChoice(QWidget):
    """One of the values that a model takes: side by side while they are few and short, else a list that drops down."""

    chosen = Signal(str)

    def __init__(
        self, theme: Theme, name: str, *, longest: int = LONGEST_SEGMENT, parent: QWidget | None = None
    ) -> None:
        """`longest`: how many characters fit side by side."""
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._longest = longest
        self._items: tuple[tuple[str, str], ...] = ()
        self.field: SegmentedChoice | ChoiceField | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def show_values(self, items: Sequence[tuple[str, str]], current: str) -> None:
        """Offer (value, words) pairs."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self._build()
        field = self.field
        if isinstance(field, SegmentedChoice) and field.current != current:
            field.set_current(current)
        elif isinstance(field, ChoiceField):
            field.setCurrentIndex(field.findData(current))

    def _build(self) -> None:
        if self.field is not None:
            discard(self.field)
            self.field = None
        if not self._items:
            return
        few = len(self._items) <= MOST_SEGMENTS and all(len(words) <= self._longest for _, words in self._items)
        if few:
            self.field = SegmentedChoice(self._theme, self._name, self._items, stretch=True)
            self.field.changed.connect(self.chosen)
        else:
            field = ChoiceField(self._theme, self._name)
            for value, words in self._items:
                field.addItem(words, value)
            field.activated.connect(lambda _: self.chosen.emit(str(field.currentData())))
            self.field = field
        self._layout.addWidget(self.field)


class _Shape(QRadioButton):
    """A frame of the video's shape over its words."""

    def __init__(self, theme: Theme, ratio: str, parent: QWidget) -> None:
        super().__init__(ratio, parent)
        self._theme = theme
        self.ratio = ratio
        self.setAccessibleName(tr("Aspect ratio {ratio}", ratio=ratio))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        theme = self._theme
        words = self.fontMetrics().horizontalAdvance(self.text()) + theme.px(12)
        return QSize(max(theme.px(60), words), theme.px(22) + theme.type_px(16) + theme.px(10))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), self.sizeHint().height())

    def hitButton(self, pos: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked()
        painter.setPen(QPen(theme.color("accent" if on else "line2"), 1))
        fill = "accent_tint" if on else "hover" if self.underMouse() else "surface"
        painter.setBrush(theme.color(fill))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme.px(6), theme.px(6))
        wide, _, high = self.ratio.partition(":")
        painter.setPen(QPen(theme.color("accent" if on else "text2"), 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        middle = theme.px(8) + theme.px(8)
        if wide.isdigit() and high.isdigit() and int(wide) and int(high):
            share = int(wide) / int(high)
            long = theme.px(22) if share > 1 else theme.px(16)
            width, height = (long, long / share) if share >= 1 else (long * share, long)
            frame = QRectF(self.width() / 2 - width / 2, middle - height / 2, width, height)
            painter.drawRoundedRect(frame, 2, 2)
        painter.setFont(theme.font("small", 500))
        painter.setPen(theme.color("accent" if on else "text2"))
        below = QRectF(0, theme.px(26), self.width(), self.height() - theme.px(28))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.text())
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.px(6), theme.px(6))


class ShapeChoice(QWidget):
    """The shapes of a video; arrows move between them."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shapes: dict[str, _Shape] = {}
        self._flow = FlowLayout(theme, gap=8, line_gap=8, parent=self)
        self._group = QButtonGroup(self)
        self.setAccessibleName(tr("Aspect ratio"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_values(self, ratios: Sequence[str], current: str) -> None:
        if tuple(ratios) != tuple(self._shapes):
            for shape in self._shapes.values():
                self._group.removeButton(shape)
            discard(*self._shapes.values())
            self._shapes = {ratio: _Shape(self._theme, ratio, self) for ratio in ratios}
            for ratio, shape in self._shapes.items():
                self._group.addButton(shape)
                self._flow.addWidget(shape)
                shape.clicked.connect(lambda _=False, ratio=ratio: self.chosen.emit(ratio))
        if current in self._shapes:
            self._shapes[current].setChecked(True)

    def shape(self, ratio: str) -> QRadioButton:
        """The button of a shape. Raises KeyError."""
        return self._shapes[ratio]


class MediaSlot(QWidget):
    """A file that goes along: chosen, dropped, or taken away again. `chosen` carries its path, "" for none."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, title: str, suffixes: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title = title
        self._suffixes = suffixes
        FileDrop(theme, self).dropped.connect(lambda paths: self.chosen.emit(str(paths[0])))
        self.label = Label(theme, title, "small", "text2", weight=500)
        self.button = Button(theme, tr("Choose…"), "images")
        self.button.setAccessibleName(tr("{title}: choose a file", title=title))
        self.name = Label(theme, "", elide=True)
        self.remove = IconButton(theme, "close", tr("{title}: remove the file", title=title), size="small")
        self.problem = ProblemLabel(theme)
        self.problem.hide()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(self.button)
        row.addWidget(self.name, 1)
        row.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(4))
        column.addWidget(self.label)
        column.addLayout(row)
        column.addWidget(self.problem)
        self.button.clicked.connect(self.choose)
        self.remove.clicked.connect(lambda: self.chosen.emit(""))
        self.show_file("")

    def show_file(self, path: str, hint: str = "") -> None:
        self.name.set_text(Path(path).name if path else hint or tr("None"))
        self.name.set_role("text" if path else "text3")
        self.remove.setVisible(bool(path))

    def show_problem(self, sentence: str) -> None:
        """Say below the file why it cannot be used, "" for nothing."""
        self.problem.set_text(sentence)
        self.problem.setVisible(bool(sentence))
        self.button.setAccessibleDescription(sanitize_line(sentence))

    def choose(self) -> None:
        """Ask for a file."""
        kinds = tr("{title} ({suffixes});;All files (*)", title=self._title, suffixes=self._suffixes)
        ask_for_file(self, self._title, lambda path: self.chosen.emit(str(path)), kinds)
