"""Images drawn from a name: the same name always gives the same image, and nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme

GRID = 48.0  # every motif is drawn on a 48 × 48 grid

# (ground, figure, light): the same in both themes, as a photograph would be
_COLORS = (
    ("#D3E2F2", "#2F6DB5", "#E7E0CF"),
    ("#F3D8CC", "#B4472E", "#F0C46A"),
    ("#DCD6F2", "#5746A3", "#F0B8A0"),
    ("#D9DEE1", "#44515A", "#E2A65B"),
    ("#D5E8D2", "#2A6B31", "#F2D27C"),
    ("#F2DFBF", "#855000", "#C9583B"),
    ("#CFE4E1", "#0B666B", "#E8C27A"),
    ("#EFD5E4", "#7A2F5F", "#9CC7C2"),
)


def paint_avatar(painter: QPainter, name: str, rect: QRectF, radius: float = 0.0) -> None:
    """Draw the image of `name` into `rect` with rounded corners."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    clip = QPainterPath()
    radius = radius or rect.width() * 8 / GRID
    clip.addRoundedRect(rect, radius, radius)
    painter.setClipPath(clip)
    painter.translate(rect.topLeft())
    painter.scale(rect.width() / GRID, rect.height() / GRID)
    painter.setPen(Qt.PenStyle.NoPen)
    import hashlib  # OpenSSL behind it takes 4 ms of a start that draws no name

    seed = hashlib.sha256(name.strip().casefold().encode()).digest()
    ground, figure, light = (QColor(value) for value in _COLORS[seed[0] % len(_COLORS)])
    painter.fillRect(QRectF(0, 0, GRID, GRID), ground)
    _MOTIFS[seed[1] % len(_MOTIFS)](painter, ground, figure, light)
    painter.restore()


@lru_cache(maxsize=256)
def avatar_pixmap(name: str, px: int, radius: int = 0, dpr: float = 1.0) -> QPixmap:
    """Return the image `px` device-independent pixels wide; delegates use it."""
    image = QPixmap(round(px * dpr), round(px * dpr))
    image.setDevicePixelRatio(dpr)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_avatar(painter, name, QRectF(0, 0, px, px), radius)
    painter.end()
    return image


class Avatar(QWidget):
    """The image of a name, `px` wide at 100 %. A real image may be put in its place with `set_image`."""

    def __init__(self, theme: Theme, name: str, *, px: int = 44, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._px = px
        self._picture: QPixmap | None = None
        self.setAccessibleName(tr("Image of {name}", name=name) if name else tr("Avatar"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def set_name(self, name: str) -> None:
        """Draw somebody else."""
        self._name, self._picture = name, None
        self.setAccessibleName(tr("Image of {name}", name=name))
        self.update()

    def set_image(self, image: QPixmap | None) -> None:
        """Show an image that the person allowed to load, or the drawn one again."""
        self._picture = image
        self.update()

    def sizeHint(self) -> QSize:
        side = self._theme.icon_px(self._px)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        area = QRectF(self.rect())
        radius = self._theme.px(12 if self._px > 56 else 8)
        if self._picture is None or self._picture.isNull():
            paint_avatar(painter, self._name, area, radius)
            return
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        clip = QPainterPath()
        clip.addRoundedRect(area, radius, radius)
        painter.setClipPath(clip)
        size = self._picture.size()
        side = min(size.width(), size.height())
        middle = QRectF((size.width() - side) / 2, (size.height() - side) / 2, side, side)
        painter.drawPixmap(area, self._picture, middle)


_Motif = Callable[[QPainter, QColor, QColor, QColor], None]


def _arch(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    for color, left, width, top in ((figure, 10.0, 28.0, 12.0), (ground, 17.0, 14.0, 21.0)):
        path = QPainterPath()
        path.addRoundedRect(QRectF(left, top, width, GRID), width / 2, width / 2)
        painter.fillPath(path, color)
    painter.setBrush(light)
    painter.drawEllipse(QPointF(24, 9), 4, 4)


def _hills(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    path = QPainterPath(QPointF(0, 34))
    path.cubicTo(9, 26, 17, 26, 24, 34)
    path.cubicTo(31, 42, 39, 42, 48, 34)
    path.lineTo(48, 48)
    path.lineTo(0, 48)
    painter.fillPath(path, figure)
    painter.setBrush(light)
    painter.drawEllipse(QPointF(24, 18), 9, 9)


def _rings(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    for color, radius in ((figure, 15), (light, 8), (ground, 3)):
        painter.setBrush(color)
        painter.drawEllipse(QPointF(24, 24), radius, radius)


def _house(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    painter.fillRect(QRectF(8, 20, 32, 28), figure)
    painter.setBrush(light)
    painter.drawPolygon(QPolygonF([QPointF(4, 22), QPointF(24, 6), QPointF(44, 22)]))
    painter.fillRect(QRectF(20, 32, 8, 16), ground)


def _person(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    painter.setBrush(figure)
    painter.drawEllipse(QPointF(24, 19), 8.5, 8.5)
    path = QPainterPath(QPointF(7, 48))
    path.cubicTo(7, 37, 14.5, 30, 24, 30)
    path.cubicTo(33.5, 30, 41, 37, 41, 48)
    painter.fillPath(path, figure)
    painter.setBrush(light)
    painter.drawEllipse(QPointF(36, 11), 5, 5)


def _peaks(painter: QPainter, ground: QColor, figure: QColor, light: QColor) -> None:
    for color, top in ((figure, 6.0), (light, 18.0)):
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([QPointF(24, top), QPointF(40, top + 30), QPointF(8, top + 30)]))


_MOTIFS: tuple[_Motif, ...] = (_arch, _hills, _rings, _house, _person, _peaks)
