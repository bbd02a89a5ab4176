"""A badge: a word or number about what it is next to. Its color is never the only sign."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.service.http.sanitize import sanitize_text
from app.ui.kit.icons import paint
from app.ui.kit.theme import Theme

# tone → (background role, text role)
_TONES = {
    "neutral": ("sunken", "text2"),
    "accent": ("accent_tint", "accent"),
    "ok": ("ok_tint", "ok"),
    "warn": ("warn_tint", "warn"),
    "bad": ("bad_tint", "bad"),
    "sandbox": ("sandbox_tint", "sandbox"),
    "outline": ("", "text2"),
}
_ICON = 12
LONGEST_PX = 200
LONGEST_CHARS = 400  # no letter is narrower than half a pixel


def badge_size(theme: Theme, text: str, icon_name: str = "") -> QSize:
    """Return the room a badge takes; delegates that paint badges use it too."""
    words = sanitize_text(text[:LONGEST_CHARS])
    width = QFontMetricsF(theme.font("caption", tabular=True)).horizontalAdvance(words) + 2 * theme.px(6)
    if icon_name:
        width += theme.icon_px(_ICON) + theme.px(4)
    return QSize(min(round(width + 0.5), theme.type_px(LONGEST_PX)), theme.height_px(18, 16))


def paint_badge(
    painter: QPainter, theme: Theme, rect: QRectF, text: str, tone: str = "neutral", icon_name: str = ""
) -> None:
    """Draw a badge into `rect`, as `Badge` and delegates do."""
    background, role = _TONES[tone]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen if background else theme.color("line2"))
    painter.setBrush(theme.color(background) if background else Qt.BrushStyle.NoBrush)
    frame = rect if background else rect.adjusted(0.5, 0.5, -0.5, -0.5)
    radius = theme.px(4)
    painter.drawRoundedRect(frame, radius, radius)
    left = rect.left() + theme.px(6)
    if icon_name:
        side = theme.icon_px(_ICON)
        paint(painter, theme, icon_name, QRectF(left, rect.center().y() - side / 2, side, side), role)
        left += side + theme.px(4)
    painter.setFont(theme.font("caption", tabular=True))
    painter.setPen(theme.color(role))
    words = QRectF(left, rect.top(), rect.right() - left, rect.height())
    shown = QFontMetricsF(painter.font()).elidedText(
        sanitize_text(text[:LONGEST_CHARS]), Qt.TextElideMode.ElideRight, words.width() + 1
    )
    painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
    painter.restore()


class Badge(QLabel):
    """`tone` is neutral, accent, ok, warn, bad, sandbox or outline."""

    def __init__(
        self, theme: Theme, text: str, tone: str = "neutral", *, icon: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._tone = tone
        self._icon = icon
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def set_badge(self, text: str, tone: str, icon: str = "") -> None:
        """Say something else, in another tone."""
        self._tone, self._icon = tone, icon
        self.setText(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return badge_size(self._theme, self.text(), self._icon)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_badge(QPainter(self), self._theme, QRectF(self.rect()), self.text(), self._tone, self._icon)
