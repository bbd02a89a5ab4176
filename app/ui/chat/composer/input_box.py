"""Where a message is typed: one to twelve lines high, tells Enter from a line break, never sends mid-composition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.kit.theme import Theme

MAX_LINES = 12


def local_files(source: QMimeData) -> list[Path]:
    """The files of this computer in what was dropped or pasted; [] when there is anything else among them."""
    urls = source.urls() if source.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if urls and all(url.isLocalFile() for url in urls) else []


def can_be_attached(source: QMimeData) -> bool:
    """Whether what is dragged over the window could become an attachment."""
    return bool(local_files(source)) or (source.hasImage() and not source.hasText())


class MessageBox(TextArea):
    """A plain text field. `send_requested` follows the sending key, `recall_requested` an arrow up when empty."""

    send_requested = Signal()
    recall_requested = Signal()
    files_given = Signal(object)  # list[Path], pasted or dropped
    image_given = Signal(object)  # QImage of the clipboard

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, name=tr("Message"))
        self._theme = theme
        self._ground = "surface"
        self._fills_ground = False
        self.enter_sends = True
        self.takes_key: Callable[[QKeyEvent], bool] | None = None  # a completion that is open comes first
        self.setProperty("bare", True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(self._rescale)
        self._apply_theme()

    def complete(self) -> None:
        """Fill behind the text from now on, so that a caret blinks without what is behind it.

        Not before the first paint: at the first `viewport()` PySide looks through all kinds of widgets, for 6 ms.
        """
        self._fills_ground = True
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def set_ground(self, role: str) -> None:
        """Fill behind the text with this color of the theme: that of the frame around it."""
        self._ground = role
        self.viewport().update()

    def set_text(self, text: str) -> None:
        """Replace the text without reporting an edit."""
        if text != self.toPlainText():
            super().set_text(text)
            self._fit()

    def caret_after(self, text: str) -> int:
        return 2 * len(text)  # the end: Qt counts some characters twice

    def line_count(self) -> int:
        """Lines on screen, wrapped ones included."""
        return max(1, round(self.document().documentLayout().documentSize().height()))

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height_of(self.line_count()))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(80), self._height_of(1))

    def _height_of(self, lines: int) -> int:
        line = QFontMetricsF(self.font()).lineSpacing()
        return round(line * max(1, min(MAX_LINES, lines))) + 2

    def _apply_theme(self) -> None:
        font = self._theme.font("reading")
        self.setFont(font)
        self._fit()

    def _rescale(self) -> None:
        """Take another text size: the placeholder is painted with the viewport's font, which keeps its first one."""
        self._apply_theme()
        self.viewport().setFont(self.font())

    def _fit(self) -> None:
        lines = self.line_count()
        height = self._height_of(lines)
        if not self.minimumHeight() == self.maximumHeight() == height:
            self.setFixedHeight(height)
            self._fit()  # meanwhile the text was laid out, and may have come to more lines
            return
        on = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines > MAX_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(on)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._fills_ground:
            painter = QPainter(self.viewport())
            painter.fillRect(event.rect(), self._theme.color(self._ground))
            painter.end()
        super().paintEvent(event)

    def event(self, event: QEvent) -> bool:
        """Tab belongs to an open completion first, and Ctrl+Z to the window while there is nothing typed to undo."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.matches(QKeySequence.StandardKey.Undo)
            and not self.document().isUndoAvailable()
        ):
            event.ignore()
            return False
        completes = self.takes_key if not self.is_composing else None
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and completes is not None:
            is_tab = event.key() == Qt.Key.Key_Tab
            return (is_tab and completes(event)) or super().event(event)
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.takes_key is not None and not self.is_composing and self.takes_key(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.is_composing:
            held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if held == Qt.KeyboardModifier.ControlModifier:
                self.send_requested.emit()
                return
            shifted = held == Qt.KeyboardModifier.ShiftModifier
            if held == Qt.KeyboardModifier.NoModifier or shifted:
                if shifted != self.enter_sends:
                    self.send_requested.emit()
                else:
                    self.insertPlainText("\n")
                    self.ensureCursorVisible()
                return
        plain_up = event.key() == Qt.Key.Key_Up and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if plain_up and not self.is_composing and self.document().isEmpty():
            self.recall_requested.emit()
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return can_be_attached(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text as text, without its formatting; files and images become attachments."""
        files = local_files(source)
        if files:
            self.files_given.emit(files)
        elif source.hasImage() and not source.hasText():
            self.image_given.emit(source.imageData())
        elif source.hasText():
            self.textCursor().insertText(source.text().replace("\r\n", "\n").replace("\r", "\n"))
            self.ensureCursorVisible()
