"""Paints where an image may change: with the mouse, or with the arrow keys and Space."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.translation import tr
from app.ui.images.image_processing import encoded
from app.ui.kit.accessible_role import show_as
from app.ui.kit.image_decoding import UndecodableImage, decoded
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce

LONGEST_MASK_PX = 1024  # a mask need not be finer
MOST_UNDO = 40
MIN_BRUSH, MAX_BRUSH, DEFAULT_BRUSH = 4, 400, 80  # in px of the mask
_STEP = 12  # px of the mask that an arrow key moves
_ARROWS = {
    Qt.Key.Key_Left: QPoint(-1, 0),
    Qt.Key.Key_Right: QPoint(1, 0),
    Qt.Key.Key_Up: QPoint(0, -1),
    Qt.Key.Key_Down: QPoint(0, 1),
}

MASK_COLOR = "deeppink"  # seen on grass, sky and skin, in both themes


class MaskEditor(QWidget):
    """The image with what is painted over it in a color that no image has much of. `changed` follows every stroke.

    Keys: arrows move the brush (with Shift five times as far), Space paints where it stands, Enter paints while it
    moves until pressed again, Backspace rubs out, [ and ] change the brush, I inverts, Ctrl+Z takes back.
    """

    changed = Signal()
    brush_changed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._picture = QImage()
        self.painting = QImage()
        self._undo: list[QImage] = []
        self._redo: list[QImage] = []
        self.brush = DEFAULT_BRUSH
        self.erases = False
        self._at = QPointF(0, 0)  # of the brush, in px of the mask
        self._last: QPointF | None = None
        self._pen_down = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Mask"))
        show_as(self, "Graphic")
        self.setAccessibleDescription(
            tr(
                "Arrow keys move the brush, Space paints, Backspace erases, brackets change its size, I inverts the "
                "mask."
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type_px(420), self._theme.type_px(300))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.type_px(240), self._theme.type_px(180))

    def show_image(self, image: QImage) -> None:
        """Begin with an empty mask."""
        self._picture = image
        longest = LONGEST_MASK_PX
        size = image.size().scaled(longest, longest, Qt.AspectRatioMode.KeepAspectRatio)
        self.painting = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        self.painting.fill(Qt.GlobalColor.transparent)
        self._undo.clear()
        self._redo.clear()
        self._at = QPointF(size.width() / 2, size.height() / 2)
        self.changed.emit()
        self.update()

    def show_mask(self, png: bytes) -> None:
        """Go on with a mask that `mask_png` gave; one that cannot be read is left out."""
        with suppress(UndecodableImage):
            mask = decoded(png)
            painter = QPainter(self.painting)
            painter.drawImage(self.painting.rect(), mask)
            painter.end()
            self.changed.emit()
            self.update()

    # -- what can be done -----------------------------------------------------------------------------------------

    @property
    def share(self) -> float:
        """How much of the image is painted, 0 to 1."""
        if self.painting.isNull():
            return 0.0
        small = self.painting.scaled(64, 64).convertToFormat(QImage.Format.Format_Alpha8)
        data = bytes(small.constBits())
        return sum(byte > 127 for byte in data) / len(data)

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    def mask_png(self) -> bytes | None:
        """Return what is painted as PNG, None for nothing."""
        return encoded(self.painting, "PNG") if self.share > 0 else None

    def set_brush(self, size: int) -> None:
        self.brush = max(MIN_BRUSH, min(MAX_BRUSH, size))
        self.brush_changed.emit(self.brush)
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel changes the size of the brush."""
        steps = event.angleDelta().y() / 120
        self.set_brush(self.brush + round(8 * steps))
        event.accept()

    def undo(self) -> bool:
        """Take the last stroke back."""
        return self._step(self._undo, self._redo)

    def redo(self) -> bool:
        return self._step(self._redo, self._undo)

    def _step(self, back: list[QImage], forth: list[QImage]) -> bool:
        if not back:
            return False
        forth.append(self.painting)
        self.painting = back.pop()
        self._publish()
        return True

    def clear(self) -> None:
        self._begin()
        self.painting.fill(Qt.GlobalColor.transparent)
        self._publish()

    def invert(self) -> None:
        """Paint what is not painted, and the other way round."""
        self._begin()
        painter = QPainter(self.painting)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOut)
        painter.fillRect(self.painting.rect(), Qt.GlobalColor.white)
        painter.end()
        self._publish()

    def _begin(self) -> None:
        self._undo.append(self.painting.copy())
        del self._undo[:-MOST_UNDO]
        self._redo.clear()

    def _publish(self) -> None:
        self.changed.emit()
        announce(self, tr("{share} percent painted", share=round(self.share * 100)))
        self.update()

    def stroke(self, start: QPointF, end: QPointF) -> None:
        """Paint, or rub out, from one place of the mask to another."""
        painter = QPainter(self.painting)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mode = QPainter.CompositionMode
        painter.setCompositionMode(mode.CompositionMode_Clear if self.erases else mode.CompositionMode_SourceOver)
        pen = QPen(QColor("white"), self.brush, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        if start == end:
            painter.drawPoint(start)
        else:
            painter.drawLine(start, end)
        painter.end()

    # -- mouse and keys -------------------------------------------------------------------------------------------

    def _frame(self) -> QRect:
        size = self.painting.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        rect = QRect(QPoint(0, 0), size)
        rect.moveCenter(self.rect().center())
        return rect

    def _place(self, point: QPointF) -> QPointF:
        frame = self._frame()
        if frame.isEmpty():
            return QPointF()
        scale = self.painting.width() / frame.width()
        return QPointF((point.x() - frame.left()) * scale, (point.y() - frame.top()) * scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self.painting.isNull():
            self._begin()
            self._last = self._at = self._place(event.position())
            self.stroke(self._last, self._last)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = self._place(event.position())
        if self._last is not None:
            self.stroke(self._last, self._at)
            self._last = self._at
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._last is not None:
            self._last = None
            self._publish()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, text = event.key(), event.text()
        command = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if command and key == Qt.Key.Key_Z:
            self.redo() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else self.undo()
        elif key in _ARROWS:
            self._move(_ARROWS[Qt.Key(key)], 5 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_Space:
            self._dab(erases=self.erases)
        elif key == Qt.Key.Key_Backspace:
            self._dab(erases=True)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not command:
            self._pen_down = not self._pen_down
            announce(self, tr("The brush is down") if self._pen_down else tr("The brush is up"))
        elif text in ("[", "]"):
            self.set_brush(self.brush + (8 if text == "]" else -8))
        elif text.lower() == "i" and not command:
            self.invert()
        else:
            super().keyPressEvent(event)

    def _move(self, way: QPoint, times: int) -> None:
        before = self._at
        x = min(max(0.0, before.x() + way.x() * _STEP * times), float(self.painting.width()))
        y = min(max(0.0, before.y() + way.y() * _STEP * times), float(self.painting.height()))
        self._at = QPointF(x, y)
        if self._pen_down:
            self._begin()
            self.stroke(before, self._at)
            self._publish()
        self.update()

    def _dab(self, *, erases: bool) -> None:
        before, self.erases = self.erases, erases
        self._begin()
        self.stroke(self._at, self._at)
        self.erases = before
        self._publish()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        frame = self._frame()
        painter.drawImage(frame, self._picture)
        tint = QImage(self.painting.size(), QImage.Format.Format_ARGB32_Premultiplied)
        color = QColor(MASK_COLOR)
        color.setAlpha(150)
        tint.fill(color)
        over = QPainter(tint)
        over.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
        over.drawImage(0, 0, self.painting)
        over.end()
        painter.drawImage(frame, tint)
        scale = frame.width() / max(1, self.painting.width())
        centre = QPointF(frame.left() + self._at.x() * scale, frame.top() + self._at.y() * scale)
        radius = self.brush * scale / 2
        ring = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
        for shade, width in (("black", 3), ("white", 1)):
            painter.setPen(
                QPen(QColor(shade), width, Qt.PenStyle.DashLine if self._pen_down else Qt.PenStyle.SolidLine)
            )
            painter.drawEllipse(ring)
