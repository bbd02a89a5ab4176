"""An image as large as the window: Esc closes, arrows walk, plus, minus and the wheel zoom, a drag moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.focus import FocusReturn, leave_focus
from app.ui.kit.layer import Layer
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme
from app.ui.kit.thumbnails import Thumbnails
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone

LARGEST_PX = 4096  # of either side: what is larger is shown and copied smaller
STEP, MOST = 1.25, 8.0  # of zooming; `MOST` screen pixels for one of the image


@dataclass(frozen=True, slots=True)
class ViewedImage:
    """An image file and what to call it."""

    name: str
    path: Path


class ImageViewer(Layer):
    """Covers `window` until it is closed; then it is gone, and the focus is where it was."""

    save_requested = Signal(int)  # which of the images
    copied = Signal()

    def __init__(self, theme: Theme, window: QWidget, images: Sequence[ViewedImage], at: int = 0) -> None:
        """Raises `IndexError` where there is no image `at`."""
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._images = tuple(images)
        self._at = at
        self._zoom = 0.0  # screen pixels for one of the image; 0 fits the window
        self._shift = QPointF()
        self._drag: QPointF | None = None
        self._focus_return = FocusReturn(self)
        self._loader = Thumbnails(self, max_bytes=2 * 4 * LARGEST_PX**2)
        self._loader.loaded.connect(lambda _key: self.update())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.ring_widget = None  # it is all there is to see
        zone(self, "canvas")
        self.setAccessibleName(tr("Image"))
        self.title = Label(theme, "", "body", "text2", elide=True)
        self.previous = IconButton(theme, "chevron-left", tr("Previous image"), shortcut="Left")
        self.next = IconButton(theme, "chevron-right", tr("Next image"), shortcut="Right")
        self.smaller = IconButton(theme, "minus", tr("Zoom out"), shortcut="-")
        self.fit = IconButton(theme, "expand", tr("Fit to window"), shortcut="0")
        self.larger = IconButton(theme, "plus", tr("Zoom in"), shortcut="+")
        self.copy = IconButton(theme, "copy", tr("Copy image"), shortcut="Ctrl+C")
        self.save = IconButton(theme, "download", tr("Save as…"), shortcut="Ctrl+S")
        self.close_button = IconButton(theme, "close", tr("Close"), shortcut="Esc")
        buttons = (self.previous, self.next, self.smaller, self.fit, self.larger, self.copy, self.save)
        leave_focus(*buttons, self.close_button)
        self._bar = QHBoxLayout()
        self._bar.addWidget(self.title, 1)
        for button in (*buttons, self.close_button):
            self._bar.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._bar)
        layout.addStretch(1)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.smaller.clicked.connect(lambda: self.zoom_by(1 / STEP))
        self.larger.clicked.connect(lambda: self.zoom_by(STEP))
        self.fit.clicked.connect(self.fit_to_window)
        self.copy.clicked.connect(self.copy_image)
        self.save.clicked.connect(lambda: self.save_requested.emit(self._at))
        self.close_button.clicked.connect(self.leave)
        theme.changed.connect(self._apply_theme)
        window.installEventFilter(self)
        self._apply_theme()
        self._show()

    def open(self) -> None:
        """Cover the window and take the keyboard."""
        self._focus_return.remember(self._window.focusWidget())
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """Uncover the window; the focus goes back to where it was."""
        if self.isVisible():
            self.hide()
            self._focus_return.give_back()
            discard(self)

    # What is shown

    @property
    def at(self) -> int:
        """Which of the images is shown."""
        return self._at

    def step(self, by: int) -> None:
        """Show the next image (1) or the one before (-1); nothing happens at either end."""
        if 0 <= self._at + by < len(self._images):
            self._at += by
            self._show()

    def _show(self) -> None:
        image, count = self._images[self._at], len(self._images)
        self.title.set_text(
            tr("{name} · {at} of {count}", name=image.name, at=self._at + 1, count=count) if count > 1 else image.name
        )
        self.setAccessibleDescription(self.title.text())
        self.previous.setEnabled(self._at > 0)
        self.next.setEnabled(self._at < count - 1)
        self.fit_to_window()

    def image(self) -> QImage | None:
        """The image on show, a null one for a file that holds none, None while it is being read."""
        path = self._images[self._at].path
        return self._loader.get(str(path), LARGEST_PX, LARGEST_PX, path.read_bytes)

    def copy_image(self) -> None:
        """Put the image on the clipboard."""
        image = self.image()
        if image is not None and not image.isNull():
            QGuiApplication.clipboard().setImage(image)
            self.copied.emit()

    # Zooming

    def zoom(self) -> float:
        """Screen pixels for one pixel of the image."""
        image = self.image()
        if self._zoom or image is None or image.isNull():
            return self._zoom or 1.0
        room = self._room()
        return min(1.0, room.width() / image.width(), room.height() / image.height())

    def zoom_by(self, factor: float) -> None:
        """Make the image larger or smaller around the middle of the window."""
        before = self.zoom()
        self._zoom = max(min(before, 0.05), min(MOST, before * factor))
        self._shift *= self._zoom / before
        self.update()

    def fit_to_window(self) -> None:
        """Show all of the image, no larger than it is."""
        self._zoom, self._shift = 0.0, QPointF()
        self.update()

    def _room(self) -> QRectF:
        top = self._bar.geometry().bottom() + 1
        air = self._theme.px(16)
        return QRectF(self.rect()).adjusted(air, top, -air, -air)

    # Events

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # no key of the window behind means anything here
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        match event.key():
            case Qt.Key.Key_Escape:
                self.leave()
            case Qt.Key.Key_Left | Qt.Key.Key_PageUp:
                self.step(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                self.step(1)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom_by(STEP)
            case Qt.Key.Key_Minus:
                self.zoom_by(1 / STEP)
            case Qt.Key.Key_0:
                self.fit_to_window()
            case Qt.Key.Key_C if held:
                self.copy_image()
            case Qt.Key.Key_S if held:
                self.save_requested.emit(self._at)
            case _:
                super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.angleDelta().y():
            self.zoom_by(STEP ** (event.angleDelta().y() / 120))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag is not None:
            self._shift += event.position() - self._drag
            self._drag = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._zoom:
            self.fit_to_window()
        else:
            self.zoom_by(1 / self.zoom())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and alive(self, self._window):
            self.setGeometry(self._window.rect())
        return False

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._bar.setContentsMargins(px(16), px(8), px(8), px(8))
        self._bar.setSpacing(px(4))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("canvas"))
        room, image = self._room(), self.image()
        if image is None or image.isNull():
            words = tr("Loading…") if image is None else tr("This image cannot be shown.")
            painter.setFont(self._theme.font("body"))
            painter.setPen(self._theme.color("text2"))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter.value), words)
            return
        size = QSizeF(image.size()) * self.zoom()
        place = QRectF(QPointF(), size)
        place.moveCenter(room.center() + self._shift)
        painter.setClipRect(room)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.zoom() < 2)
        painter.drawImage(place, image)
