"""Buttons of six kinds, and buttons that are an icon alone and therefore must be named."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from app.service.http.sanitize import sanitize_line, sanitize_text
from app.ui.kit.icons import icon, paint
from app.ui.kit.key_text import key_text, set_tip
from app.ui.kit.plain_tooltip import tip_while_cut
from app.ui.kit.text_area import commit_composed
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import dashed_frame, solid_frame
from app.ui.kit.widgets.key_hint import hint_size, paint_hint

# kind → (fill, border, words) at rest; "" is nothing
_LOOKS = {
    "": ("surface", "line2", "text"),
    "primary": ("accent", "accent", "on_accent"),
    "quiet": ("", "", "text2"),
    "danger": ("surface", "bad", "bad"),
    "danger-fill": ("bad", "bad", "canvas"),
    "link": ("", "", "accent"),
}
# size → (height, padding, text style, icon)
_SIZES = {"": (32, 12, "body", 16), "small": (26, 9, "small", 14), "large": (40, 18, "reading", 18)}

LONGEST_PX, CUT_PX = 480, 200  # of a button; a longer name in it is a stranger's and cut
_CHEVRON = 14  # px of the sign of a choice


class Button(QPushButton):
    """A button with words. `kind`: "", primary, quiet, danger, danger-fill or link; `size`: "", small or large.

    `hint` is a shortcut drawn as a key inside the button; it does not bind the key. Where room is short, it is the
    first to go.
    """

    def __init__(
        self,
        theme: Theme,
        text: str,
        icon_name: str = "",
        *,
        kind: str = "",
        size: str = "",
        hint: str = "",
        icon_role: str = "",
        opens_menu: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """`opens_menu` draws the sign of a choice behind the words."""
        super().__init__(text, parent)
        self._theme = theme
        self._opens_menu = opens_menu
        self._kind = kind
        self._size = size
        self._icon_name = icon_name
        self._icon_role = icon_role
        self._hint = key_text(hint)
        self._fill, self._border, self._words = _LOOKS[kind]
        self.setProperty("painted", True)  # the style sheet then leaves this button alone
        self.setAutoDefault(False)  # Enter in a dialog must never pay, sign or delete
        width = QSizePolicy.Policy.Preferred if hint else QSizePolicy.Policy.Minimum
        self.setSizePolicy(width, QSizePolicy.Policy.Fixed)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        commit_composed()
        super().mousePressEvent(event)

    def set_icon(self, icon_name: str, role: str = "") -> None:
        """Show another icon, or none."""
        if (icon_name, role) != (self._icon_name, self._icon_role):
            self._icon_name, self._icon_role = icon_name, role
            self._apply_theme()

    def set_hint(self, shortcut: str) -> None:
        """Draw another key in the button, or none."""
        self._hint = key_text(shortcut)
        self._apply_theme()

    @property
    def kind(self) -> str:
        return self._kind

    def set_kind(self, kind: str) -> None:
        """Become another kind of button, as Send becomes Stop."""
        self._kind = kind
        self._fill, self._border, self._words = _LOOKS[kind]
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFont(self._font())
        self.updateGeometry()
        self.update()

    def _font(self) -> QFont:
        strong = self._kind in ("primary", "danger-fill")
        return self._theme.font(_SIZES[self._size][2], 600 if strong else 500, tabular=True)

    # -- measures -------------------------------------------------------------------------------------------------

    def _parts(self) -> tuple[float, float, float]:
        """Widths of icon, words and key, each with the gap before it."""
        theme = self._theme
        side = float(theme.icon_px(_SIZES[self._size][3])) if self._icon_name else 0.0
        gap = theme.px(5 if self._size == "small" else 6)
        words = QFontMetricsF(self._font()).horizontalAdvance(self._shown_text())
        words += gap if side and words else 0
        key = hint_size(theme, self._hint).width() + gap if self._hint else 0.0
        if self._opens_menu:
            key = theme.icon_px(_CHEVRON) + gap
        return side, words, key

    def _shown_text(self) -> str:
        return sanitize_text(self.text().replace("&&", "\n").replace("&", "").replace("\n", "&"))

    def sizeHint(self) -> QSize:
        height, padding, style, _ = _SIZES[self._size]
        if self._kind == "link":
            height, padding = 24, 0
        line = {"body": 19, "small": 17, "reading": 22}[style]
        wide = sum(self._parts()) + 2 * self._theme.px(padding)
        if wide > self._theme.type_px(LONGEST_PX):
            wide = self._theme.type_px(CUT_PX)
        return QSize(round(wide + 0.5), self._theme.height_px(height, line))

    def minimumSizeHint(self) -> QSize:
        size = self.sizeHint()
        return size - QSize(round(self._parts()[2]), 0) if self._hint and not self._opens_menu else size

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        role = self._paint_frame(painter)
        self._paint_content(painter, role)

    def _paint_frame(self, painter: QPainter) -> str:
        """Draw fill and border and return the role of the words."""
        theme, area, radius = self._theme, QRectF(self.rect()), self._theme.px(6)
        if not self.isEnabled():
            if self._kind not in ("quiet", "link"):
                dashed_frame(painter, theme, area, radius)
            return "text3"
        fill, border, words = self._fill, self._border, self._words
        pressed = self.isDown() or (self.menu() is not None and self.menu().isVisible())
        hovered = self.underMouse()
        if self._kind == "primary":
            fill = border = "accent_hover" if pressed or hovered else "accent"
        elif self._kind in ("", "quiet", "danger") and (pressed or hovered or self.isChecked()):
            fill = "line" if pressed else "hover"
            words = "text" if self._kind == "quiet" else words
        solid_frame(painter, theme, area, radius, fill, border)
        if pressed and self._kind in ("primary", "danger-fill"):  # an inner shadow of 2 px at the upper edge
            painter.save()
            painter.setClipRect(QRectF(area.left(), area.top(), area.width(), 2))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("shadow"))
            painter.drawRoundedRect(area, radius, radius)
            painter.restore()
        return words

    def _paint_content(self, painter: QPainter, role: str) -> None:
        theme = self._theme
        side, words, key = self._parts()
        around = 0 if self._kind == "link" else 2 * theme.px(_SIZES[self._size][1])
        has_hint = not self._opens_menu and bool(self._hint) and self.width() >= round(side + words + key + around)
        if not has_hint and not self._opens_menu:
            key = 0.0
        if words > theme.type_px(LONGEST_PX) - around - side - key:
            words = max(0.0, self.width() - around - side - key)
        gap = theme.px(5 if self._size == "small" else 6)
        x = max((self.width() - side - words - key) / 2, 0.0)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        middle = self.height() / 2

        def place(left: float, width: float, height: float) -> QRectF:
            left = self.width() - left - width if mirrored else left
            return QRectF(left, middle - height / 2, width, height)

        if side:
            icon_role = self._icon_role if self._icon_role and self.isEnabled() else role
            paint(painter, theme, self._icon_name, place(x, side, side), icon_role)
            x += side
        if words:
            before = gap if side else 0
            painter.setFont(self._font())
            painter.setPen(theme.color(role))
            room = place(
                x + before, self.width() - 2 * x if not side and not key else words - before + 1, self.height()
            )
            text = self._shown_text()
            metrics = QFontMetricsF(self._font())
            is_cut = metrics.horizontalAdvance(text) > room.width() + 1
            tip_while_cut(self, text, is_cut)
            if is_cut:
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
            if self._kind == "link" and self.underMouse() and self.isEnabled():
                line = middle + metrics.ascent() / 2 + 1
                painter.drawLine(round(room.left()), round(line), round(room.left() + words - before), round(line))
            x += words
        if self._opens_menu:
            chevron = theme.icon_px(_CHEVRON)
            paint(painter, theme, "chevron-down", place(x + gap, chevron, chevron), "text3")
        elif has_hint:
            size = hint_size(theme, self._hint)
            on_fill = self._kind in ("primary", "danger-fill") and self.isEnabled()
            hint_role = role if on_fill or not self.isEnabled() else "text2"
            paint_hint(
                painter, theme, self._hint, place(x + gap, size.width(), size.height()), hint_role, on_fill=on_fill
            )


class PrimaryButton(Button):
    """The one thing to do here."""

    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "", hint: str = "") -> None:
        super().__init__(theme, text, icon_name, kind="primary", size=size, hint=hint)


class QuietButton(Button):
    """A button without a frame, for what is seldom needed."""

    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "", hint: str = "") -> None:
        super().__init__(theme, text, icon_name, kind="quiet", size=size, hint=hint)


class DangerButton(Button):
    """A button that destroys something."""

    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "", filled: bool = False) -> None:
        super().__init__(theme, text, icon_name, kind="danger-fill" if filled else "danger", size=size)


class LinkButton(Button):
    """Words that act, inside a card or a sentence; they begin where other words begin."""

    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "small") -> None:
        super().__init__(theme, text, icon_name, kind="link", size=size)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def ring_rect(self) -> QRect:
        """Return what the focus ring goes around: a little air beside the words, none above."""
        return self.rect().adjusted(-2, 2, 2, -2)


class IconButton(QToolButton):
    """An icon alone; `name` says aloud and in the tooltip what it does. Raises `ValueError` without one.

    `size` is "" (32 px) or small (26 px); `framed` draws the border of a labeled button, `filled` the accent.
    """

    def __init__(
        self,
        theme: Theme,
        icon_name: str,
        name: str,
        *,
        shortcut: str = "",
        role: str = "text2",
        on_role: str | None = None,
        size: str = "",
        icon_size: int = 0,
        framed: bool = False,
        filled: bool = False,
        checkable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a button that is an icon alone needs a name")
        self._theme = theme
        self._icon_size = icon_size or (16 if size == "small" else 18)
        self._role = "on_accent" if filled else "text" if framed and role == "text2" else role
        self._on_role = on_role
        self.setProperty("kind", "icon")
        self.setProperty("sizing", size)
        self.setProperty("framed", framed)
        self.setProperty("filled", filled)
        self.setCheckable(checkable)
        self.set_icon(icon_name)
        self.rename(name, shortcut)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        commit_composed()
        super().mousePressEvent(event)

    def set_icon(self, icon_name: str, role: str = "") -> None:
        """Show another icon, in another color role when one is given."""
        self._role = role or self._role
        self.setIcon(icon(self._theme, icon_name, self._role, self._on_role))

    def rename(self, name: str, shortcut: str = "") -> None:
        """Say something else aloud and in the tooltip."""
        self.setAccessibleName(sanitize_line(name))
        set_tip(self, name, shortcut)

    def _apply_theme(self) -> None:
        side = self._theme.icon_px(self._icon_size)
        self.setIconSize(QSize(side, side))
