"""Paints one character: as a card in the grid, as a line in the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.core import number_format
from app.translation import tr
from app.ui.characters.list_model import CHARACTER_ROLE
from app.ui.characters.state import uses_text
from app.ui.kit import icons
from app.ui.kit.widgets.avatar import avatar_pixmap
from app.ui.kit.widgets.badge import badge_size, paint_badge
from app.ui.kit.widgets.frames import solid_frame

if TYPE_CHECKING:
    from app.service.characters import Character
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
GAP = 12  # px between cards at 100 %


class CardDelegate(QStyledItemDelegate):
    """`cell` is the room of one card with its gap, in px; the view sets it. `image_of` gives a loaded image."""

    def __init__(
        self, theme: Theme, image_of: Callable[[Character], QPixmap | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image_of = image_of
        self.cell = QSize(250, 150)
        self.as_lines = False

    def height_px(self) -> int:
        """The height of one cell at the present text size."""
        theme = self._theme
        if self.as_lines:
            return theme.type_px(19) + theme.type_px(17) + theme.px(22)
        words = 2 * theme.type_px(19) + theme.height_px(18, 16)
        return theme.px(12) * 2 + self._face() + theme.px(9) * 2 + words + theme.px(GAP)

    def _face(self) -> int:
        return max(self._theme.icon_px(44), self._theme.type_px(20) + self._theme.type_px(17))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self.cell

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        character = index.data(CHARACTER_ROLE)
        if character is None:
            return
        theme = self._theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        gap = theme.px(GAP) if not self.as_lines else 0
        card = QRectF(option.rect).adjusted(0, 0, -gap, -gap)
        self._paint_frame(painter, card, option.state)
        if self.as_lines:
            self._paint_line(painter, card.toRect(), character)
        else:
            self._paint_card(painter, card.toRect(), character)
        painter.restore()

    def _paint_frame(self, painter: QPainter, card: QRectF, state: QStyle.StateFlag) -> None:
        theme = self._theme
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        if self.as_lines:
            fill = "accent_tint" if selected else "hover" if hovered else ""
            if fill:
                solid_frame(painter, theme, card, theme.px(6), fill, "")
        else:
            border = "accent" if selected else "line2" if hovered else "line"
            solid_frame(painter, theme, card, theme.px(8), "surface", border, 2.0 if selected else 1.0)
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(card.adjusted(4, 4, -4, -4), theme.px(5), theme.px(5))

    def _paint_face(self, painter: QPainter, rect: QRect, character: Character) -> None:
        theme = self._theme
        radius = theme.px(10)
        image = self._image_of(character)
        device = painter.device()
        dpr = device.devicePixelRatioF() if device is not None else 1.0
        if image is None:
            name = character.name or character.slug
            painter.drawPixmap(rect.topLeft(), avatar_pixmap(name, rect.width(), radius, dpr))
            return
        painter.save()
        clip = QPainterPath()
        clip.addRoundedRect(QRectF(rect), radius, radius)
        painter.setClipPath(clip)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(rect, image)
        painter.restore()

    def _paint_card(self, painter: QPainter, card: QRect, character: Character) -> None:
        theme = self._theme
        inside = card.adjusted(theme.px(12), theme.px(12), -theme.px(12), -theme.px(12))
        side = theme.icon_px(44)
        self._paint_face(painter, QRect(inside.left(), inside.top(), side, side), character)
        left = inside.left() + side + theme.px(12)
        name_line = QRect(left, inside.top() + theme.px(2), inside.right() - left + 1, theme.type_px(20))
        self._write(painter, name_line, character.name or character.slug, "reading", 600, "text")
        facts = QRect(left, name_line.bottom() + 1, name_line.width(), theme.type_px(17))
        self._paint_facts(painter, facts, character)
        top = inside.top() + self._face() + theme.px(9)
        words = QRect(inside.left(), top, inside.width(), 2 * theme.type_px(19))
        self._paint_words(painter, words, character.description or "")
        badges = QRect(inside.left(), words.bottom() + 1 + theme.px(9), inside.width(), theme.height_px(18, 16))
        self._paint_badges(painter, badges, character)

    def _paint_line(self, painter: QPainter, card: QRect, character: Character) -> None:
        theme = self._theme
        inside = card.adjusted(theme.px(10), theme.px(8), -theme.px(10), 0)
        side = theme.icon_px(36)
        face = QRect(inside.left(), card.center().y() - side // 2, side, side)
        self._paint_face(painter, face, character)
        left = inside.left() + side + theme.px(12)
        facts_width = theme.type_px(170)
        name_line = QRect(left, inside.top(), inside.right() - left - facts_width, theme.type_px(19))
        self._write(painter, name_line, character.name or character.slug, "body", 600, "text")
        facts = QRect(inside.right() - facts_width, inside.top(), facts_width, theme.type_px(19))
        self._paint_facts(painter, facts, character)
        about = QRect(left, name_line.bottom() + 1, inside.right() - left, theme.type_px(17))
        self._write(painter, about, " ".join((character.description or "").split()), "small", None, "text2")

    def _paint_facts(self, painter: QPainter, rect: QRect, character: Character) -> None:
        """Star, rating, number of ratings at the left; uses at the right."""
        theme = self._theme
        stats = character.stats
        font = theme.font("small", tabular=True)
        metrics = QFontMetrics(font)
        uses = uses_text(stats.imports)
        painter.setFont(font)
        painter.setPen(theme.color("text3"))
        painter.drawText(rect, _END, uses)
        if not stats.rating_count:
            self._write(
                painter,
                rect.adjusted(0, 0, -metrics.horizontalAdvance(uses), 0),
                tr("Not rated"),
                "small",
                None,
                "text3",
            )
            return
        side = theme.icon_px(12)
        spot = QRectF(rect.left(), rect.center().y() - side / 2 + 0.5, side, side)
        icons.paint(painter, theme, "star-filled", spot, "warn")
        left = rect.left() + side + theme.px(4)
        rating = number_format.rating(stats.average_rating)
        painter.setPen(theme.color("text2"))
        painter.drawText(QRect(left, rect.top(), rect.width(), rect.height()), _START, rating)
        left += metrics.horizontalAdvance(rating) + theme.px(4)
        room = rect.right() - metrics.horizontalAdvance(uses) - theme.px(4) - left
        self._write(
            painter,
            QRect(left, rect.top(), room, rect.height()),
            f"({number_format.count(stats.rating_count)})",
            "small",
            None,
            "text3",
        )

    def _paint_words(self, painter: QPainter, rect: QRect, text: str) -> None:
        """Two lines, the second cut with an ellipsis."""
        theme = self._theme
        font = theme.font("body")
        painter.setPen(theme.color("text2"))
        layout = QTextLayout(" ".join(text[: 4 * rect.width()].split()), font)
        layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeading))
        layout.beginLayout()
        line_height = theme.type_px(19)
        for place in range(2):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(rect.width())
            top = rect.top() + place * line_height + (line_height - line.height()) / 2
            last = place == 1 and line.textStart() + line.textLength() < len(layout.text())
            if last:
                rest = QFontMetrics(font).elidedText(
                    layout.text()[line.textStart() :], Qt.TextElideMode.ElideRight, rect.width()
                )
                painter.setFont(font)
                painter.drawText(QRect(rect.left(), rect.top() + line_height, rect.width(), line_height), _START, rest)
            else:
                line.draw(painter, QPointF(rect.left(), top))
        layout.endLayout()

    def _paint_badges(self, painter: QPainter, rect: QRect, character: Character) -> None:
        theme = self._theme
        side = theme.icon_px(14)
        right = rect.right() + 1
        if character.web_enabled:
            spot = QRectF(right - side, rect.center().y() - side / 2, side, side)
            icons.paint(painter, theme, "globe", spot, "text3")
            right -= side + theme.px(6)
        left = rect.left()
        tags = [(tr("Adult"), "warn")] if character.adult else []
        tags += [(tr("Featured"), "accent")] if character.featured else []
        tags += [(tag, "neutral") for tag in character.tags]
        for text, tone in tags:
            size = badge_size(theme, text)
            if left + size.width() > right:
                break
            paint_badge(painter, theme, QRectF(left, rect.top(), size.width(), size.height()), text, tone)
            left += size.width() + theme.px(4)

    def _write(self, painter: QPainter, rect: QRect, text: str, style: str, weight: int | None, role: str) -> None:
        font: QFont = self._theme.font(style, weight, tabular=True)
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.drawText(rect, _START, shown)


_START = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
