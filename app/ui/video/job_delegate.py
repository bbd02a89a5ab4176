"""Paints a job: poster, title with its state, model and price below, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPainterPath, QPen, QRegion
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.shared import icons
from app.ui.shared.badge import badge_size, paint_badge
from app.ui.shared.spinner import paint_spinner
from app.ui.video.job_model import ROW_ROLE
from app.ui.video.state import JobRow

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_LINE = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_SIGNS = {"failed": ("warning", "bad"), "unknown": ("warning", "warn"), "expired": ("clock", "warn")}
POSTER = QSize(96, 54)  # at 100 %


class JobDelegate(QStyledItemDelegate):
    """`poster` gives a film's picture by its path, None while there is none. `turn`: place of the rings, 0 to 1."""

    def __init__(
        self, theme: Theme, poster: Callable[[str, QSize], QImage | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._poster = poster
        self.turn = 0.0
        self.open_row = ""
        self.wanted = QRegion()  # of the paint event: Qt asks for every row in the rectangle around it

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        words = theme.type_px(19) + theme.type_px(17) + theme.px(6) + theme.px(8)
        return QSize(option.rect.width(), max(theme.px(POSTER.height()), words) + theme.px(21))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, JobRow) or not (self.wanted.isEmpty() or self.wanted.intersects(option.rect)):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        self._paint_back(painter, rect, option.state, row.id == self.open_row)
        theme = self._theme
        right_to_left = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        inside = rect.adjusted(theme.px(16), theme.px(10), -theme.px(14), -theme.px(10))
        size = QSize(theme.px(POSTER.width()), theme.px(POSTER.height()))
        narrow = inside.width() < size.width() * 3.4
        if not narrow:
            left = inside.right() - size.width() + 1 if right_to_left else inside.left()
            frame = QRect(QPoint(left, inside.center().y() - size.height() // 2 + 1), size)
            self._paint_poster(painter, frame, row)
            shift = size.width() + theme.px(12)
            inside.adjust(0 if right_to_left else shift, 0, -shift if right_to_left else 0, 0)
        self._paint_words(painter, inside, row)
        painter.restore()

    def _paint_back(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_open: bool) -> None:
        theme = self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        if is_open:
            painter.fillRect(rect, theme.color("accent_tint"))
            right_to_left = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
            bar = QRect(rect.right() - 2 if right_to_left else rect.left(), rect.top() + theme.px(12), 3, 0)
            bar.setBottom(rect.bottom() - theme.px(12))
            painter.fillRect(bar, theme.color("accent"))
        elif state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(2, 2, -3, -3), theme.px(6), theme.px(6))

    def _paint_poster(self, painter: QPainter, frame: QRect, row: JobRow) -> None:
        theme = self._theme
        picture = self._poster(row.poster, frame.size()) if row.poster else None
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame), theme.px(4), theme.px(4))
        painter.setPen(QPen(theme.color("line2"), 1))
        painter.setBrush(theme.color("sunken"))
        painter.drawPath(shape)
        if picture is not None and not picture.isNull():
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            target = QRectF(frame)
            share = max(target.width() / picture.width(), target.height() / picture.height())
            width, height = picture.width() * share, picture.height() * share
            middle = target.center()
            painter.drawImage(QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height), picture)
            painter.restore()
            return
        side = theme.icon_px(20)
        sign = QRectF(frame.center().x() - side / 2 + 1, frame.center().y() - side / 2 + 1, side, side)
        if row.busy:
            paint_spinner(painter, theme, sign, self.turn if row.turns else row.share or 0.0)
        else:
            name, role = _SIGNS.get(row.state, ("video", "text2"))
            icons.paint(painter, theme, name, sign, role)

    def _paint_words(self, painter: QPainter, inside: QRect, row: JobRow) -> None:
        theme = self._theme
        right_to_left = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        bar = theme.px(14) if row.share is not None else 0
        high = theme.type_px(19) + theme.px(6) + theme.type_px(17) + bar
        top = inside.top() + max(0, (inside.height() - high) // 2)
        upper = QRect(inside.left(), top, inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + theme.px(6), inside.width(), theme.type_px(17))
        size = badge_size(theme, row.badge, row.icon)
        left = upper.left() if right_to_left else upper.right() - size.width() + 1
        place = QRect(QPoint(left, upper.center().y() - size.height() // 2 + 1), size)
        paint_badge(painter, theme, QRectF(place), row.badge, row.tone, row.icon)
        body = theme.font("body", 500)
        painter.setFont(body)
        painter.setPen(theme.color("text"))
        taken = size.width() + theme.px(8)
        room = upper.adjusted(taken if right_to_left else 0, 0, 0 if right_to_left else -taken, 0)
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(room, _LINE, QFontMetrics(body).elidedText(row.title, elide, room.width()))
        small = theme.font("small", tabular=True)
        metrics = QFontMetrics(small)
        painter.setFont(small)
        painter.setPen(theme.color("text2"))
        words = metrics.elidedText(row.right, elide, lower.width())
        painter.drawText(lower, _END, words)
        left_room = max(0, lower.width() - metrics.horizontalAdvance(words) - theme.px(12))
        painter.drawText(lower, _LINE, metrics.elidedText(row.second, elide, left_room))
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
