"""Toggles in the shape of a pill, as under the message box."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.ui.shared.icons import icon
from app.ui.shared.key_text import tip_text
from app.ui.shared.theme import Theme


class PillButton(QToolButton):
    """An on/off pill with words, and an icon when one is named."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        icon_name: str = "",
        *,
        shortcut: str = "",
        checked: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shortcut = shortcut
        self.setProperty("pill", True)
        self.setCheckable(True)
        self.setChecked(checked)
        self.setText(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if icon_name:
            self.setIcon(icon(theme, icon_name, "text2", "accent"))
            self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.set_usable(True)
        self._dress()
        theme.changed.connect(self._dress)

    def set_usable(self, usable: bool, reason: str = "") -> None:
        """Off limits the pill stays in its place, dashed, and its tooltip says why."""
        self.setEnabled(usable)
        self.setToolTip(tip_text(self.text(), self._shortcut) if usable else reason)

    def _dress(self) -> None:
        side = self._theme.icon_px(15)
        self.setIconSize(QSize(side, side))
        self.updateGeometry()

    def ring_radius(self) -> float:
        return self.height() / 2


class CyclePill(PillButton):
    """A pill with more than two states: each press takes the next, an arrow key opens them all as a menu.

    `choices` are (key, words) pairs; the first one is "off".
    """

    changed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        choices: Sequence[tuple[str, str]],
        icon_name: str = "",
        *,
        current: str = "",
        shortcut: str = "",
        parent: QWidget | None = None,
    ) -> None:
        self._choices = tuple(choices)
        self._current = current or self._choices[0][0]
        super().__init__(theme, dict(self._choices)[self._current], icon_name, shortcut=shortcut, parent=parent)
        self.set_current(self._current)
        self.clicked.connect(self._next)

    @property
    def current(self) -> str:
        """The key of the state in force."""
        return self._current

    def set_current(self, key: str) -> None:
        """Take a state without telling anybody. Raises `KeyError`."""
        self.setText(dict(self._choices)[key])
        self._current = key
        self.setChecked(key != self._choices[0][0])
        self.set_usable(self.isEnabled())

    def choose(self, key: str) -> None:
        """Take a state as if the person had chosen it."""
        before = self._current
        self.set_current(key)
        if key != before:
            self.changed.emit(key)

    def _next(self) -> None:
        keys = [key for key, _ in self._choices]
        self.choose(keys[(keys.index(self._current) + 1) % len(keys)])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.open_menu()
            return
        super().keyPressEvent(event)

    def open_menu(self) -> QMenu:
        """Show every state as a menu under the pill."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for key, words in self._choices:
            action = QAction(words, menu, checkable=True, checked=key == self._current)
            action.setData(key)
            menu.addAction(action)
        menu.triggered.connect(self._chosen)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
        return menu

    def _chosen(self, action: QAction) -> None:
        self.choose(action.data())
