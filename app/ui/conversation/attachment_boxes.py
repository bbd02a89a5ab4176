"""What the person attached to a message: images as they are, everything else as a chip with its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainterPath

from app.translation import tr
from app.ui.conversation.attachment_kinds import ICONS, kind_word
from app.ui.conversation.boxes import Box, Control, PaintState, paint_focus_ring, paint_frame
from app.ui.kit import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.conversation.rows import RowAttachment
    from app.ui.conversation.units import Styles

IMAGE_WIDE, IMAGE_HIGH = 220, 160  # px at 100 %
CHIP_HIGH, CHIP_WIDE = 44, 230
RADIUS = 8.0


class AttachmentsBox(Box):
    """Stands above the bubble, at the right like it. Pressing an image or a passage shows it, else a copy is saved."""

    above = below = "bubble"

    def __init__(self, styles: Styles, attachments: tuple[RowAttachment, ...]) -> None:
        super().__init__(styles.theme)
        self._figures = styles.figures
        self._attachments = attachments
        self._controls: list[Control] = []

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        gap = float(theme.px(6))
        lines: list[list[tuple[int, float, float]]] = [[]]
        used = 0.0
        for number, each in enumerate(self._attachments):
            wide, high = self._size_of(each)
            wide = min(wide, float(width))
            if lines[-1] and used + gap + wide > width:
                lines.append([])
                used = 0.0
            lines[-1].append((number, wide, high))
            used += (gap if used else 0.0) + wide
        self._controls = []
        y = 0.0
        for line in lines:
            tall = max((high for _, _, high in line), default=0.0)
            x = width - sum(wide for _, wide, _ in line) - gap * (len(line) - 1)
            for number, wide, high in line:
                each = self._attachments[number]
                name = f"{kind_word(each.kind)} {each.name}, {each.detail}"
                rect = QRectF(x, y + tall - high, wide, high)
                action = ("attachment", str(number)) if each.path else ("none",)
                opens = each.kind == "image" or each.is_passage
                press = tr("Click to open.") if opens else tr("Click to save.")
                tip = f"{each.name}\n{each.detail}" + (f"\n{press}" if each.path else "")
                self._controls.append(Control(f"file{number}", rect, name, action, tooltip=tip))
                x += wide + gap
            y += tall + gap
        self.height = round(max(0.0, y - gap) + theme.px(6))
        return self.height

    def _size_of(self, each: RowAttachment) -> tuple[float, float]:
        theme = self.theme
        if each.kind == "image" and each.path and each.width and each.height:
            most_wide, most_high = theme.type_px(IMAGE_WIDE), theme.type_px(IMAGE_HIGH)
            scale = min(1.0, most_wide / each.width, most_high / each.height)
            return max(48.0, each.width * scale), max(36.0, each.height * scale)
        words = max(
            QFontMetricsF(theme.font("small", 500)).horizontalAdvance(each.name),
            QFontMetricsF(theme.font("caption")).horizontalAdvance(each.detail),
        )
        lead = theme.px(10) + theme.icon_px(18) + theme.px(8)
        return min(float(theme.type_px(CHIP_WIDE)), lead + words + theme.px(12)), float(theme.height_px(CHIP_HIGH, 33))

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        for control, each in zip(self._controls, self._attachments, strict=True):
            if not control.rect.intersects(state.clip):
                continue
            if each.kind != "image" or not self._paint_image(painter, control.rect, each):
                self._paint_chip(painter, control.rect, each, hovered=state.hovered == control.id)
            if state.focused == control.id:
                paint_focus_ring(painter, self.theme, control.rect, RADIUS)

    def _paint_image(self, painter: QPainter, rect: QRectF, each: RowAttachment) -> bool:
        """Draw an image, or a quiet place for one that is being read; False for one that cannot be drawn."""
        if not each.path or not each.width or self._figures is None:
            return False
        device = painter.device()
        dpr = device.devicePixelRatioF() if device is not None else 1.0
        wide, high = round(rect.width() * dpr), round(rect.height() * dpr)
        image = self._figures.thumbnails.get(each.path, wide, high, Path(each.path).read_bytes)
        if image is not None and image.isNull():
            return False
        theme = self.theme
        path = QPainterPath()
        path.addRoundedRect(rect, RADIUS, RADIUS)
        painter.save()
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.setRenderHint(painter.RenderHint.SmoothPixmapTransform)
        painter.fillPath(path, theme.color("sunken"))
        if image is not None:
            painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
            painter.drawImage(rect, image)
        painter.restore()
        return True

    def _paint_chip(self, painter: QPainter, rect: QRectF, each: RowAttachment, *, hovered: bool) -> None:
        theme = self.theme
        fill = theme.color("hover" if hovered and each.path else "sunken")
        paint_frame(painter, rect, RADIUS, fill, theme.color("line"), True, True)
        side = theme.icon_px(18)
        x = rect.left() + theme.px(10)
        name = next((icon for kind, icon in ICONS.items() if kind == each.kind), "document")
        icons.paint(painter, theme, name, QRectF(x, round(rect.center().y() - side / 2), side, side), "text2")
        x += side + theme.px(8)
        room = rect.right() - theme.px(10) - x
        line = rect.height() / 2
        flags = int((Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value)
        for text, font, role, top in (
            (each.name, theme.font("small", 500), "text", rect.top() + theme.px(3)),
            (each.detail, theme.font("caption"), "text3", rect.top() + line - theme.px(2)),
        ):
            painter.setFont(font)
            painter.setPen(theme.color(role))
            shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(QRectF(x, top, room + 2, line - theme.px(1)), flags, shown)
