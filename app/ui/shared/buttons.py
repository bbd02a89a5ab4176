"""Buttons of four kinds, and buttons that are an icon alone and therefore must be named."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QToolButton, QWidget

from app.ui.shared.icons import icon
from app.ui.shared.kbd import hint_size, paint_hint
from app.ui.shared.key_text import key_text, tip_text
from app.ui.shared.theme import Theme

_ICON_ROLE = {"primary": "on_accent", "danger": "bad", "danger-fill": "canvas", "link": "accent", "quiet": "text2"}


class Button(QPushButton):
    """A button with words. `kind`: "", primary, quiet, danger, danger-fill or link; `size`: "", small or large.

    `hint` is a shortcut drawn as a key inside the button; it does not bind the key.
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
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._kind = kind
        self._hint = key_text(hint)
        self._icon_role = icon_role or _ICON_ROLE.get(kind, "text")
        self._small = size == "small"
        self.setProperty("kind", kind)
        self.setProperty("size", size)
        self.setAutoDefault(False)  # Enter in a dialog must never pay, sign or delete
        self.set_icon(icon_name)
        self._dress()
        theme.changed.connect(self._dress)

    def set_icon(self, icon_name: str) -> None:
        """Show another icon, or none."""
        if icon_name:
            self.setIcon(icon(self._theme, icon_name, self._icon_role))

    def set_hint(self, shortcut: str) -> None:
        """Draw another key in the button, or none."""
        self._hint = key_text(shortcut)
        self.updateGeometry()
        self.update()

    def _dress(self) -> None:
        side = self._theme.icon_px(14 if self._small else 16)
        self.setIconSize(QSize(side, side))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        if self._hint:
            hint.setWidth(hint.width() + hint_size(self._theme, self._hint).width() + self._theme.px(6))
        return hint

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._hint:
            super().paintEvent(event)
            return
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        size = hint_size(self._theme, self._hint)
        content = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        key = QRect(
            content.right() - size.width() + 1, (self.height() - size.height()) // 2, size.width(), size.height()
        )
        option.rect = content.adjusted(0, 0, -size.width() - self._theme.px(6), 0)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)
        role = "text3" if not self.isEnabled() else self._icon_role if self._kind else "text2"
        paint_hint(
            painter, self._theme, self._hint, QRectF(key), role, on_fill=self._kind in ("primary", "danger-fill")
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
    """Words that act, inside a card or a sentence."""

    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "small") -> None:
        super().__init__(theme, text, icon_name, kind="link", size=size)
        self.setCursor(Qt.CursorShape.PointingHandCursor)


class IconButton(QToolButton):
    """An icon alone; `name` says aloud and in the tooltip what it does. Raises `ValueError` without one.

    `size` is "" (32 px) or small (26 px); `framed` draws the border of a labelled button, `filled` the accent.
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
        self.setProperty("size", size)
        self.setProperty("framed", framed)
        self.setProperty("filled", filled)
        self.setCheckable(checkable)
        self.set_icon(icon_name)
        self.rename(name, shortcut)
        self._dress()
        theme.changed.connect(self._dress)

    def set_icon(self, icon_name: str, role: str = "") -> None:
        """Show another icon, in another colour role when one is given."""
        self._role = role or self._role
        self.setIcon(icon(self._theme, icon_name, self._role, self._on_role))

    def rename(self, name: str, shortcut: str = "") -> None:
        """Say something else aloud and in the tooltip."""
        self.setAccessibleName(name)
        self.setToolTip(tip_text(name, shortcut))

    def _dress(self) -> None:
        side = self._theme.icon_px(self._icon_size)
        self.setIconSize(QSize(side, side))
