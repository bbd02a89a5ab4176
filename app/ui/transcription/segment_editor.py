"""A segment as a field, in its own place: Enter keeps, Esc leaves, looking elsewhere keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class SegmentEditor(TextArea):
    """`committed` names the segment and its new text. What was left with Esc is there when the segment opens again."""

    committed = Signal(int, str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self._over = parent
        self._segment = -1
        self._before = ""
        self._left: dict[tuple[int, str], str] = {}  # by segment and its text, what was typed when Esc was pressed
        self.setAccessibleName(tr("Segment text"))
        self.setTabChangesFocus(True)
        self.hide()
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFont(self._theme.font("reading"))
        self._fit()

    def _fit(self) -> None:
        """Be as high as the words, so that the next segment can be read; longer ones than the view are scrolled."""
        lines = max(1, round(self.document().size().height()))
        margins = self.contentsMargins()  # the viewport of a hidden box is not laid out yet
        around = margins.top() + margins.bottom() + 2 * round(self.document().documentMargin())
        room = max(0, self._over.height() - self.y())
        high = lines * self.fontMetrics().lineSpacing() + around
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if high > room else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        self.setFixedHeight(max(self.fontMetrics().lineSpacing() + around, min(high, room)))

    def open(self, segment: int, text: str, area: QRect) -> None:
        """Stand over the segment's text with the same words."""
        self._segment, self._before = segment, text
        self.setPlainText(text)
        if left := self._left.pop((segment, text), ""):
            self.selectAll()
            self.insertPlainText(left)  # Ctrl+Z in the field leads back to the text of the segment
        pad = self._theme.px(6)
        self.setGeometry(QRect(area.left() - pad, area.top() - pad // 2, area.width() + 2 * pad, self.height()))
        self.show()
        self._fit()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._end(keep=True)
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self._end(keep=False)
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end(keep=True)

    def _end(self, *, keep: bool) -> None:
        if self.isHidden():
            return
        self.hide()
        text = " ".join(self.toPlainText().split())
        if not keep and text and text != self._before:
            self._left[self._segment, self._before] = text
        if keep and text != self._before:
            self.committed.emit(self._segment, text)
