"""A field that filters a list: it waits a moment, clears with Esc, and shows the key that leads to it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.translation import tr, tr_n
from app.ui.kit.icons import paint
from app.ui.kit.key_text import SAID, key_text
from app.ui.kit.plain_tooltip import tip_of_placeholder
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.key_hint import hint_size, paint_hint

DEBOUNCE_MS = 120
PAUSE_MS = 500  # after the last letter or row, before what was found is said


def results_words(count: int) -> str:
    """How many rows fit what was typed, as it is said."""
    return tr_n("{n} result", "{n} results", count) if count else tr("No results.")


class SearchField(QLineEdit):
    """`search_changed` comes 120 ms after the last key; `left` when Esc is pressed in an empty field.

    `FilterKeys` walks the rows below it.

    What was typed ends with the page: a field that is hidden is emptied, unless it looks for places in a text
    (`is_filter` is False).

    `results` returns what a screen reader says once typing pauses ("3 results"); None where `FilterKeys` says the rows.
    Call `say_results` where rows come later than that.
    """

    search_changed = Signal(str)
    left = Signal()

    def __init__(
        self,
        theme: Theme,
        placeholder: str,
        *,
        results: Callable[[], str] | None,
        shortcut: str = "",
        icon_name: str = "search",
        is_filter: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hint = key_text(shortcut)
        self._icon = icon_name
        self.is_filter = is_filter
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setAccessibleDescription(SAID)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(self.publish)
        self._told = ""
        self._results = results
        self._said = ""
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._say_results)
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

    def publish(self) -> None:
        """Search now for what was typed a moment ago."""
        self._timer.stop()
        if self.text() != self._told:
            self._told = self.text()
            self._said = ""
            self.search_changed.emit(self._told)
            self.say_results()

    def say_results(self) -> None:
        """Say what was found after a pause, where that is something else than was said last."""
        if self.hasFocus():
            self._pause.start()

    def say_step(self) -> None:
        """Say at once where a step led."""
        self._pause.stop()
        self._say(anew=True)

    def _say_results(self) -> None:
        if self.hasFocus():
            self._say()

    def _say(self, *, anew: bool = False) -> None:
        words = self._results() if self._results is not None and self.text().strip() else ""
        if words and (anew or words != self._said):
            self._said = words
            announce(self, words)

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
            self.publish()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.publish()
        super().keyPressEvent(event)

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Take the focus. A shortcut also selects the last word, so that another one replaces it."""
        if reason == Qt.FocusReason.ShortcutFocusReason:
            self.selectAll()
        super().setFocus(reason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        stays = event.spontaneous() or not self.window().isVisible()  # a dialog reads it after it has closed
        if self.is_filter and not stays and self.text():
            self.setText("")  # unlike `clear` it leaves nothing that Ctrl+Z would bring back
            self.publish()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        tip_of_placeholder(self)
        painter = QPainter(self)
        side = self._theme.icon_px(16)
        place = QRectF(self._theme.px(9), (self.height() - side) / 2, side, side)
        paint(painter, self._theme, self._icon, place, "text2" if self.isEnabled() else "text3")
        if self._hint and not self.text():
            size = hint_size(self._theme, self._hint)
            key = QRectF(self.width() - size.width() - self._theme.px(8), (self.height() - size.height()) / 2, 0, 0)
            key.setSize(size)
            paint_hint(painter, self._theme, self._hint, key, "text2")
