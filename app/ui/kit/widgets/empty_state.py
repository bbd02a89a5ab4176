"""What a place looks like before there is anything in it: what belongs here, the first step, one key."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.problems import ActionSpec
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label

SHOW_AFTER_MS = 300
SLOW_AFTER_MS = 5000


class EmptyState(QWidget):
    """Icon, title, sentence, buttons and "Or press [key] to …", in the middle. `action` tells the id of a button.

    `actions` are (spec, icon name) pairs; the first one is the main one when `primary` is set.
    """

    action = Signal(str)

    def __init__(
        self,
        theme: Theme,
        title: str,
        text: str = "",
        *,
        icon_name: str = "",
        icon_role: str = "text2",
        actions: Sequence[tuple[ActionSpec, str]] = (),
        primary: bool = False,
        key: str = "",
        key_does: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        middle = Qt.AlignmentFlag.AlignHCenter
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.px(16), theme.px(11), theme.px(16), theme.px(11))
        column.setSpacing(theme.px(8))
        column.addStretch(1)
        self._icon = IconLabel(theme, icon_name or "logo", icon_role, px=40 if not icon_name else 32)
        column.addWidget(self._icon, 0, middle)
        self.title = Label(theme, title, "heading", wrap=True)
        self.text = Label(theme, text, role="text2", wrap=True)
        for label in (self.title, self.text):
            label.setAlignment(middle)
            column.addWidget(label)
        self.text.setVisible(bool(text))
        if actions:
            row = QHBoxLayout()
            holder = QWidget()
            flow = FlowLayout(theme, centered=True, parent=holder)
            for place, (spec, button_icon) in enumerate(actions):
                button = Button(theme, spec.text, button_icon, kind="primary" if primary and place == 0 else "")
                button.setObjectName(spec.id)
                button.clicked.connect(self._pressed)
                flow.addWidget(button)
            row.addStretch(1)
            row.addWidget(holder)
            row.addStretch(1)
            column.addSpacing(theme.px(8))
            column.addLayout(row)
        if key:
            self.hint = QWidget()
            line = QHBoxLayout(self.hint)
            line.setContentsMargins(0, 0, 0, 0)
            line.setSpacing(theme.px(4))
            line.addStretch(1)
            line.addWidget(Label(theme, tr("Or press") if actions else tr("Press"), "small", "text2"))
            line.addWidget(KeyHint(theme, key))
            line.addWidget(Label(theme, key_does, "small", "text2"))
            line.addStretch(1)
            column.addSpacing(theme.px(4))
            column.addWidget(self.hint)
        column.addStretch(1)

    def set_words(self, title: str, text: str, icon_name: str = "") -> None:
        """Say something else, such as what was searched for, perhaps under another sign."""
        if icon_name:
            self._icon.set_icon(icon_name, "text2")
        self.title.set_text(title)
        self.text.set_text(text)
        self.text.setVisible(bool(text))

    def _pressed(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.action.emit(sender.objectName())


class Skeleton(QWidget):
    """The shape of a list that is being read: nothing for 300 ms, then gray bars; `slow` after 5 s.

    Connect `slow` to what shows Stop and the last saved copy. Shown again, it starts anew.
    """

    slow = Signal()

    def __init__(self, theme: Theme, *, rows: int = 6, row_px: int = 46, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows, self._row_px = rows, row_px
        self._drawn = False
        self.setAccessibleName(tr("Loading"))
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SHOW_AFTER_MS)
        self._soon.timeout.connect(self._draw)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(SLOW_AFTER_MS)
        self._late.timeout.connect(self.slow)
        theme.changed.connect(self.update)

    def _draw(self) -> None:
        self._drawn = True
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._drawn = False
        self._soon.start()
        self._late.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._soon.stop()
        self._late.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._drawn:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        px = self._theme.px
        step = self._theme.height_px(self._row_px, 36)
        room = self.width() - px(28) - px(16)
        for row in range(self._rows):
            top = px(8) + row * step
            wide = room * (0.34 + 0.17 * (row * 7 % 4) / 4)  # uneven, as titles are
            narrow = room * (0.22 + 0.32 * (row * 5 % 4) / 4)
            for rect, role, radius in (
                (QRectF(0, top + px(6), px(16), px(16)), "sunken", px(4)),
                (QRectF(px(28), top, wide, px(10)), "line", px(5)),
                (QRectF(px(28), top + px(18), narrow, px(7)), "sunken", px(3)),
            ):
                painter.setBrush(self._theme.color(role))
                painter.drawRoundedRect(rect, radius, radius)
