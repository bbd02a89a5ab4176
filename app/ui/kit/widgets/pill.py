"""Toggles in the shape of a pill, as under the message box."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.service.http.sanitize import sanitize_text
from app.ui.kit.icons import paint
from app.ui.kit.key_text import set_tip
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import commit_composed
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import dashed_frame, solid_frame
from app.ui.kit.widgets.menu import Menu

LONGEST_PX, NARROWEST_PX = 220, 160  # of one pill; a longer tag or name is cut
_ICON = 15


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
        self._icon = icon_name
        self._shortcut = shortcut
        self._tone = "accent"
        self._hint: QSize | None = None
        self.setCheckable(True)
        self.setChecked(checked)
        self.setText(sanitize_text(text))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_usable(True)
        theme.changed.connect(self._apply_theme)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        commit_composed()
        super().mousePressEvent(event)

    def _apply_theme(self) -> None:
        self._hint = None
        self.updateGeometry()
        self.update()

    def setText(self, text: str) -> None:
        self._hint = None
        super().setText(text)

    def set_usable(self, usable: bool, reason: str = "") -> None:
        """Off limits the pill stays in its place, dashed, and its tooltip says why."""
        self.setEnabled(usable)
        if usable:
            set_tip(self, self.text(), self._shortcut)
        else:
            self.setToolTip(plain_tip(reason))
            self.setAccessibleDescription(reason)

    def set_icon(self, icon_name: str, tone: str = "accent") -> None:
        """Show another icon; `tone` is the color role of the pill while it is on."""
        if (icon_name, tone) != (self._icon, self._tone):
            self._icon, self._tone = icon_name, tone
            self._hint = None
            self.updateGeometry()
            self.update()

    def ring_radius(self) -> float:
        return self.height() / 2

    def sizeHint(self) -> QSize:
        """Measured once for each text: the row of the message box asks at every key."""
        if self._hint is None:
            self._hint = self._measure()
        return QSize(self._hint)

    def _measure(self) -> QSize:
        theme = self._theme
        width = QFontMetricsF(theme.font("small", 500)).horizontalAdvance(self.text()) + theme.px(11)
        gap = theme.px(6) if self.text() else theme.px(-2)
        width += theme.px(9) + theme.icon_px(_ICON) + gap if self._icon else theme.px(11)
        return QSize(min(round(width + 1), theme.type_px(LONGEST_PX)), theme.height_px(28, 17))

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return hint.boundedTo(QSize(self._theme.type_px(NARROWEST_PX), hint.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, area, on = self._theme, QRectF(self.rect()), self.isChecked()
        painter = QPainter(self)
        radius = area.height() / 2
        if not self.isEnabled():
            dashed_frame(painter, theme, area, radius, fill="")
        elif on:
            solid_frame(painter, theme, area, radius, f"{self._tone}_tint", self._tone)
        else:
            fill = "line" if self.isDown() else "hover" if self.underMouse() else "surface"
            solid_frame(painter, theme, area, radius, fill, "line2")
        role = "text3" if not self.isEnabled() else self._tone if on else "text2"
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        words = area.adjusted(theme.px(11), 0, -theme.px(11), 0)
        if self._icon:
            side = theme.icon_px(_ICON)
            left = area.right() - theme.px(9) - side if mirrored else theme.px(9)
            paint(painter, theme, self._icon, QRectF(left, area.center().y() - side / 2, side, side), role)
            start = theme.px(9) + side + theme.px(6)
            words = area.adjusted(theme.px(11), 0, -start, 0) if mirrored else area.adjusted(start, 0, 0, 0)
        painter.setFont(theme.font("small", 500))
        painter.setPen(theme.color(role))
        side_of_text = Qt.AlignmentFlag.AlignLeft if self._icon else Qt.AlignmentFlag.AlignHCenter
        shown = QFontMetricsF(painter.font()).elidedText(self.text(), Qt.TextElideMode.ElideRight, words.width() + 2)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | side_of_text), shown)


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
        if self.isEnabled():
            self.set_usable(True)
        self.updateGeometry()

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
        menu = Menu(self._theme, self)
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
