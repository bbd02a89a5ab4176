"""Paints a job: poster, title with its state, model and price below, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPen

from app.ui.kit import icons
from app.ui.kit.lists.grouped_list import RowLike
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, is_right_to_left, without_end, without_start
from app.ui.kit.widgets.badge import badge_size, paint_badge
from app.ui.kit.widgets.spinner import paint_spinner
from app.ui.video.state import JobRow

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

_SIGNS = {"failed": ("warning", "bad"), "unknown": ("warning", "warn"), "expired": ("clock", "warn")}
POSTER = QSize(96, 54)  # at 100 %


class JobDelegate(GroupedDelegate):
    """`poster` gives a video's image by its path, None while there is none."""

    ground = "row"

    def __init__(
        self, theme: Theme, poster: Callable[[str, QSize], QImage | None], parent: QObject | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._poster = poster
        self.awaited: dict[str, str] = {}  # video → the job that was painted without its poster

    def row_height(self, row: RowLike) -> int:
        theme = self._theme
        words = theme.type_px(19) + theme.type_px(17) + theme.px(6) + theme.px(8)
        return max(theme.px(POSTER.height()), words) + theme.px(21)

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if not isinstance(row, JobRow):
            return
        inside, frame = self._inside(rect), self.poster_rect(rect, painter.layoutDirection())
        if not frame.isEmpty():
            self._paint_poster(painter, frame, row)
            inside = without_start(painter, inside, frame.width() + self._theme.px(12))
        if self.wanted.isEmpty() or self.wanted.intersects(inside):
            self._paint_words(painter, inside, row)

    def poster_rect(self, rect: QRect, direction: Qt.LayoutDirection) -> QRect:
        """Where the poster is in a row's `rect`; empty where the words need all of it."""
        theme, inside = self._theme, self._inside(rect)
        size = QSize(theme.px(POSTER.width()), theme.px(POSTER.height()))
        if inside.width() < size.width() * 3.4:
            return QRect()
        is_right = direction == Qt.LayoutDirection.RightToLeft
        left = inside.right() - size.width() + 1 if is_right else inside.left()
        return QRect(QPoint(left, inside.center().y() - size.height() // 2 + 1), size)

    def _inside(self, rect: QRect) -> QRect:
        px = self._theme.px
        return rect.adjusted(px(16), px(10), -px(14), -px(10))

    def _paint_poster(self, painter: QPainter, frame: QRect, row: JobRow) -> None:
        theme = self._theme
        image = self._poster(row.poster, frame.size()) if row.poster else None
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame), theme.px(4), theme.px(4))
        painter.setPen(QPen(theme.color("line2"), 1))
        painter.setBrush(theme.color("sunken"))
        painter.drawPath(shape)
        if image is not None and not image.isNull():
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            target = QRectF(frame)
            share = max(target.width() / image.width(), target.height() / image.height())
            width, height = image.width() * share, image.height() * share
            middle = target.center()
            painter.drawImage(QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height), image)
            painter.restore()
            return
        if row.poster:
            self.awaited[row.poster] = row.id
        side = theme.icon_px(20)
        sign = QRectF(frame.center().x() - side / 2 + 1, frame.center().y() - side / 2 + 1, side, side)
        if row.busy:
            paint_spinner(painter, theme, sign, self.turn if row.turns else row.share or 0.0)
        else:
            name, role = _SIGNS.get(row.state, ("video", "text2"))
            icons.paint(painter, theme, name, sign, role)

    def _paint_words(self, painter: QPainter, inside: QRect, row: JobRow) -> None:
        theme = self._theme
        bar = theme.px(14) if row.share is not None else 0
        high = theme.type_px(19) + theme.px(6) + theme.type_px(17) + bar
        top = inside.top() + max(0, (inside.height() - high) // 2)
        upper = QRect(inside.left(), top, inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + theme.px(6), inside.width(), theme.type_px(17))
        size = badge_size(theme, row.badge, row.icon)
        left = upper.left() if is_right_to_left(painter) else upper.right() - size.width() + 1
        place = QRect(QPoint(left, upper.center().y() - size.height() // 2 + 1), size)
        paint_badge(painter, theme, QRectF(place), row.badge, row.tone, row.icon)
        room = without_end(painter, upper, size.width() + theme.px(8))
        self.text(painter, room, row.title, theme.font("body", 500), "text")
        small = theme.font("small", tabular=True)
        self.pair(painter, lower, (row.second, small, "text2"), (row.right, small, "text2"))
        if row.share is not None:
            self._paint_bar(painter, QRectF(lower.left(), lower.bottom() + theme.px(6), lower.width(), 6), row.share)

    def _paint_bar(self, painter: QPainter, groove: QRectF, share: float) -> None:
        theme = self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line2"))
        painter.drawRoundedRect(groove, 3, 3)
        fill = QRectF(groove)
        if share < 0:  # nobody knows how far it is: a piece that slides
            fill.setWidth(groove.width() * 0.25)
            there_and_back = 1 - abs(2 * self.turn - 1)
            fill.moveLeft(groove.left() + there_and_back * (groove.width() - fill.width()))
        else:
            fill.setWidth(max(6.0, groove.width() * share))
        painter.setBrush(theme.color("accent"))
        painter.drawRoundedRect(fill, 3, 3)
