"""A field that filters a list: it waits a moment, clears with Esc, and shows the key that leads to it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.key_text import key_text
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.kbd import hint_size, paint_hint

DEBOUNCE_MS = 120


class SearchField(QLineEdit):
    """`search_changed` comes 120 ms after the last key; `left` when Esc is pressed in an empty field."""

    search_changed = Signal(str)
    left = Signal()

    def __init__(
        self,
        theme: Theme,
        placeholder: str,
        *,
        shortcut: str = "",
        icon_name: str = "search",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hint = key_text(shortcut)
        self._icon = icon_name
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(self._publish)
        self._told = ""
        self._clear = IconButton(theme, "close", tr("Clear"), size="small", icon_size=14, parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Esc does it from the keyboard
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()
        self.textChanged.connect(self._edited)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        right = max(hint_size(self._theme, self._hint).width() if self._hint else 0, self._theme.height_px(26))
        self.setTextMargins(self._theme.icon_px(16) + self._theme.px(6), 0, right, 0)
        self._place_clear()
        self.update()

    def _edited(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        self._timer.start()

    def _publish(self) -> None:
        self._timer.stop()
        if self.text() != self._told:
            self._told = self.text()
            self.search_changed.emit(self._told)

    def _place_clear(self) -> None:
        side = self._clear.sizeHint()
        self._clear.setGeometry(
            self.width() - side.width() - 3, (self.height() - side.height()) // 2, side.width(), side.height()
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
            self._publish()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._publish()
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        side = self._theme.icon_px(16)
        place = QRectF(self._theme.px(9), (self.height() - side) / 2, side, side)
        paint(painter, self._theme, self._icon, place, "text2" if self.isEnabled() else "text3")
        if self._hint and not self.text():
            size = hint_size(self._theme, self._hint)
            key = QRectF(self.width() - size.width() - self._theme.px(8), (self.height() - size.height()) / 2, 0, 0)
            key.setSize(size)
            paint_hint(painter, self._theme, self._hint, key, "text2")
