"""Paints one image of the gallery: large with its title and price below, or as a line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPen, QPixmap, QRegion
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.translation import tr
from app.ui.images.state import STATE_WORDS, Tile
from app.ui.images.tile_model import TILE_ROLE
from app.ui.kit import icons
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import badge_size, paint_badge
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.spinner import paint_spinner

Index = QModelIndex | QPersistentModelIndex
ImageOf = Callable[[str, QSize], QImage | None]  # id, size in device pixels
GAP = 14  # px between images at 100 %
KEPT_CAPTIONS = 400  # about 10 MB at most
NEW_CAPTIONS = 8  # at most in one frame; a leap brings thirty
LINE_FACE = 56  # px; the width of an image in a line
_START = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_CENTER = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
_TOP = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


class TileDelegate(QStyledItemDelegate):
    """`cell` is the room of one image with its gap, in px; the view sets it.

    `waiting_words` says of one that is on its way how long it has been, or why it has not left yet.
    """

    def __init__(
        self,
        theme: Theme,
        image_of: ImageOf,
        waiting_words: Callable[[str], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image_of = image_of
        self._waiting_words = waiting_words
        self.cell = QSize(343, 226)
        self.as_lines = False
        self.turn = 0.0  # of the spinners, 0 to 1
        # Qt asks for every tile in the rectangle around what is to be painted: with a new row below and one image
        # above that has just been decoded, that is every tile in sight.
        self.wanted = QRegion()
        self.waiting: list[int] = []  # the rows whose captions had no room in this frame
        self._room = NEW_CAPTIONS
        self._captions: dict[tuple[str, str, int, float], QPixmap] = {}
        self._faces: dict[tuple[int, int, int, float], QPixmap] = {}
        theme.changed.connect(self._forget)

    def begin_frame(self, wanted: QRegion) -> None:
        """Call before every painting of the list; `waiting` then tells whose captions are to be painted in the next."""
        self.wanted = wanted
        self.waiting = []
        self._room = NEW_CAPTIONS

    def caption_px(self) -> int:
        """The height of what stands below an image, with the gap to the next one."""
        return self._theme.type_px(19) + self._theme.px(4) + self._theme.px(GAP)

    def line_px(self) -> int:
        return self._theme.type_px(19) + self._theme.type_px(17) + self._theme.px(14)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self.cell

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tile = index.data(TILE_ROLE)
        if not isinstance(tile, Tile) or not (self.wanted.isEmpty() or self.wanted.intersects(option.rect)):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.as_lines:
            self._paint_line(painter, option.rect, tile, option.state)
        else:
            self._paint_tile(painter, option.rect, tile, option.state, index.row())
        painter.restore()

    def _paint_tile(self, painter: QPainter, cell: QRect, tile: Tile, state: QStyle.StateFlag, row: int) -> None:
        theme = self._theme
        gap = theme.px(GAP)
        inset = theme.px(4)  # room for the ring of the chosen one
        face = QRect(cell.left() + inset, cell.top() + inset, cell.width() - gap, cell.height() - self.caption_px())
        self._paint_image(painter, face, tile, theme.px(8))
        if state & QStyle.StateFlag.State_Selected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(face).adjusted(-3, -3, 3, 3), theme.px(10), theme.px(10))
        words = QRect(face.left(), face.bottom() + theme.px(4), face.width(), theme.type_px(19))
        caption = self._caption(painter, tile, words.size())
        if caption is None:
            self.waiting.append(row)
        else:
            painter.drawPixmap(words.topLeft(), caption)

    def _caption(self, painter: QPainter, tile: Tile, size: QSize) -> QPixmap | None:
        """Title and price, painted once: laying out text is most of what a tile costs. None: not in this frame."""
        ratio = _ratio(painter)
        key = (tile.title, tile.cost, size.width(), ratio)
        made = self._captions.get(key)
        if made is None:
            if not self._room:
                return None
            self._room -= 1
            made = self._opaque_pixmap(size, ratio)
            font = self._theme.font("small", tabular=True)
            inner = QPainter(made)
            inner.setLayoutDirection(painter.layoutDirection())
            inner.setFont(font)
            inner.setPen(self._theme.color("text2"))
            whole = QRect(QPoint(0, 0), size)
            metrics = QFontMetrics(font)
            inner.drawText(whole, _END, tile.cost)
            room = whole.width() - metrics.horizontalAdvance(tile.cost) - self._theme.px(8)
            shown = metrics.elidedText(tile.title, Qt.TextElideMode.ElideRight, max(0, room))
            is_left = inner.layoutDirection() == Qt.LayoutDirection.LeftToRight
            place = QRect(0 if is_left else whole.width() - room, 0, room, whole.height())
            inner.drawText(place, _START, shown)
            inner.end()
            self._captions[key] = made
            if len(self._captions) > KEPT_CAPTIONS:
                del self._captions[next(iter(self._captions))]
        return made

    def _empty_face(self, painter: QPainter, size: QSize, radius: int) -> QPixmap:
        """What stands where an image is being read."""
        ratio = _ratio(painter)
        key = (size.width(), size.height(), radius, ratio)
        made = self._faces.get(key)
        if made is None:
            made = self._opaque_pixmap(size, ratio)
            inner = QPainter(made)
            solid_frame(inner, self._theme, QRectF(QPoint(0, 0), size), radius, "sunken", "")
            inner.end()
            self._faces = {key: made}
        return made

    def _opaque_pixmap(self, size: QSize, ratio: float) -> QPixmap:
        """On the ground of the gallery: what is clear nowhere is copied, and not mixed pixel by pixel."""
        made = QPixmap(size * ratio)
        made.setDevicePixelRatio(ratio)
        made.fill(self._theme.color("canvas"))
        return made

    def _forget(self) -> None:
        self._captions.clear()
        self._faces.clear()

    def _paint_image(self, painter: QPainter, face: QRect, tile: Tile, radius: int) -> None:
        theme = self._theme
        ratio = _ratio(painter)
        size = QSize(round(face.width() * ratio), round(face.height() * ratio))
        image = self._image_of(tile.id, size) if tile.is_whole else None
        if image is not None and not image.isNull():
            painter.drawImage(face, image)
            self._paint_signs(painter, face, tile)
            return
        if self.as_lines:
            solid_frame(painter, theme, QRectF(face), radius, "sunken", "")
            self._paint_small_sign(painter, face, tile)
            return
        painter.drawPixmap(face.topLeft(), self._empty_face(painter, face.size(), radius))
        if tile.state == "sending":
            self._paint_waiting(painter, face, tile)
        elif not tile.is_whole:
            self._paint_reason(painter, face, tile)

    def _paint_waiting(self, painter: QPainter, face: QRect, tile: Tile) -> None:
        theme = self._theme
        side = theme.icon_px(20)
        spot = QRectF(face.center().x() - side / 2, face.center().y() - side - theme.px(2), side, side)
        paint_spinner(painter, theme, spot, self.turn)
        painter.setFont(theme.font("body", tabular=True))
        painter.setPen(theme.color("text2"))
        painter.drawText(face.adjusted(0, theme.px(30), 0, 0), _CENTER, self._waiting_words(tile.id))

    def _paint_reason(self, painter: QPainter, face: QRect, tile: Tile) -> None:
        theme = self._theme
        side = theme.icon_px(20)
        spot = QRectF(face.center().x() - side / 2, face.center().y() - side - theme.px(18), side, side)
        icons.paint(painter, theme, _sign(tile), spot, _tone(tile))
        inside = face.adjusted(theme.px(12), face.height() // 2 - theme.px(8), -theme.px(12), -theme.px(8))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text2"))
        words = STATE_WORDS.get(tile.state, "")
        metrics = QFontMetrics(theme.font("small"))
        lines = max(1, inside.height() // metrics.lineSpacing() - 1)
        note = metrics.elidedText(tile.note, Qt.TextElideMode.ElideRight, inside.width() * lines * 9 // 10)
        painter.drawText(inside, _TOP, f"{words[:1].upper()}{words[1:]}\n{note}")

    def _paint_small_sign(self, painter: QPainter, face: QRect, tile: Tile) -> None:
        side = self._theme.icon_px(16)
        spot = QRectF(face.center().x() - side / 2, face.center().y() - side / 2, side, side)
        if tile.state == "sending":
            paint_spinner(painter, self._theme, spot, self.turn)
        elif not tile.is_whole:
            icons.paint(painter, self._theme, _sign(tile), spot, _tone(tile))

    def _paint_signs(self, painter: QPainter, face: QRect, tile: Tile) -> None:
        """Star and policy, on the image itself."""
        theme = self._theme
        if self.as_lines:
            return
        left = face.left() + theme.px(8)
        if tile.blurred:
            size = badge_size(theme, tr("Blurred"), "eye-off")
            spot = QRectF(left, face.top() + theme.px(8), size.width(), size.height())
            paint_badge(painter, theme, spot, tr("Blurred"), "warn", "eye-off")
        if tile.starred:
            side = theme.icon_px(16)
            spot = QRectF(face.right() - side - theme.px(10), face.top() + theme.px(8), side, side)
            solid_frame(painter, theme, spot.adjusted(-4, -4, 4, 4), theme.px(6), "surface", "")
            icons.paint(painter, theme, "star-filled", spot, "warn")

    def _paint_line(self, painter: QPainter, cell: QRect, tile: Tile, state: QStyle.StateFlag) -> None:
        theme = self._theme
        selected, hovered = state & QStyle.StateFlag.State_Selected, state & QStyle.StateFlag.State_MouseOver
        if selected or hovered:
            solid_frame(painter, theme, QRectF(cell), theme.px(6), "accent_tint" if selected else "hover", "")
        wide = theme.icon_px(LINE_FACE)
        face = QRect(cell.left() + theme.px(8), cell.top() + theme.px(5), wide, cell.height() - theme.px(10))
        self._paint_image(painter, face, tile, theme.px(4))
        left, right = face.right() + theme.px(12), cell.right() - theme.px(10)
        font = theme.font("small", tabular=True)
        cost = QFontMetrics(font).horizontalAdvance(tile.cost)
        upper = QRect(left, cell.top() + theme.px(7), right - left, theme.type_px(19))
        painter.setFont(font)
        painter.setPen(theme.color("text2"))
        painter.drawText(upper, _END, tile.cost)
        room = right - left - cost - theme.px(12)
        if tile.starred:
            side = theme.icon_px(14)
            star = QRectF(left, upper.center().y() - side / 2, side, side)
            icons.paint(painter, theme, "star-filled", star, "warn")
            upper.setLeft(left + side + theme.px(6))
            room -= side + theme.px(6)
        title = QRect(upper.left(), upper.top(), room, upper.height())
        self._write(painter, title, tile.title, "body", "text")
        words = " · ".join(word for word in (tile.second_line, STATE_WORDS.get(tile.state, ""), tile.note) if word)
        lower = QRect(left, upper.bottom() + 1, right - left, theme.type_px(17))
        self._write(painter, lower, words, "small", "text2")

    def _write(self, painter: QPainter, rect: QRect, text: str, style: str, role: str) -> None:
        font = self._theme.font(style, tabular=True)
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.drawText(rect, _START, shown)


def _ratio(painter: QPainter) -> float:
    device = painter.device()
    return device.devicePixelRatioF() if device is not None else 1.0


def _sign(tile: Tile) -> str:
    return {"withheld": "eye-off", "unknown": "warning", "broken": "error", "failed": "error"}.get(tile.state, "info")


def _tone(tile: Tile) -> str:
    return "bad" if tile.state in ("broken", "failed") else "warn"
