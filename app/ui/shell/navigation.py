"""The rail: the mark, one button for each tab that works, Settings at the bottom."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.core.tabs import TabInfo
from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.key_text import set_tip
from app.ui.kit.theme import Theme

WIDTH = 76
_ITEM_HEIGHT = 52
_LOGO_HEIGHT = 40
_SIDE = 6  # from the rail's edge to an item's background
_BAR = 3


class RailButton(QRadioButton):
    """One tab: icon over label, a bar at the window's edge when it is shown, a count while jobs run."""

    approached = Signal()  # by the pointer or by the keyboard: a press may follow

    def __init__(self, theme: Theme, info: TabInfo, shortcut: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.info = info
        self._badge = 0
        self.setText(info.title)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus to the tab
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_shortcut_text(shortcut)
        self._name()

    def set_shortcut_text(self, shortcut: str) -> None:
        set_tip(self, self.info.title, shortcut)

    def set_badge(self, count: int) -> None:
        if count != self._badge:
            self._badge = count
            self._name()
            self.update()

    def ring_rect(self) -> QRectF:
        """Return what the focus ring goes around: the painted background, not the whole width."""
        return QRectF(self._body())

    def ring_radius(self) -> float:
        return 8.0

    def _body(self) -> QRect:
        side = self._theme.px(_SIDE)
        return self.rect().adjusted(side, 0, -side, 0)

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.approached.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.approached.emit()

    def sizeHint(self) -> QSize:
        theme = self._theme
        metrics = QFontMetrics(theme.font("caption", 600))
        width = max(theme.px(WIDTH), metrics.horizontalAdvance(self.text()) + 2 * theme.px(_SIDE) + 2 * theme.px(4))
        height = max(theme.px(_ITEM_HEIGHT), theme.icon_px(20) + metrics.height() + theme.px(3) + 2 * theme.px(6))
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        """In a low window with large text the air around icon and label goes first."""
        whole = self.sizeHint()
        return whole - QSize(0, 2 * self._theme.px(6))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()  # the rail moves; Qt's own way depends on what is checked
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        body = self._body()
        if self.isChecked() or self.underMouse() or self.isDown():
            painter.setBrush(theme.color("accent_tint" if self.isChecked() else "hover"))
            painter.drawRoundedRect(body, 8, 8)
        if self.isChecked():
            painter.setBrush(theme.color("accent"))
            inset = theme.px(12)
            at = self.width() - _BAR if self.isRightToLeft() else 0
            painter.drawRoundedRect(at, inset, _BAR, self.height() - 2 * inset, 2, 2)
        role = "accent" if self.isChecked() else "text2"
        font = theme.font("caption", 600 if self.isChecked() else 500)
        metrics = QFontMetrics(font)
        icon_size = theme.icon_px(20)
        gap = theme.px(3)
        top = (self.height() - icon_size - gap - metrics.height()) // 2
        left = (self.width() - icon_size) // 2
        icons.paint(painter, theme, self.info.icon, QRectF(left, top, icon_size, icon_size), role)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        line = QRect(0, top + icon_size + gap, self.width(), metrics.height())
        painter.drawText(line, Qt.AlignmentFlag.AlignCenter, self.text())
        if self._badge:
            self._paint_badge(painter, left + icon_size, top)

    def _paint_badge(self, painter: QPainter, icon_right: int, icon_top: int) -> None:
        theme = self._theme
        font = theme.font("caption", 600, tabular=True)
        font.setPixelSize(max(1, theme.type_px(10)))
        text = str(self._badge) if self._badge < 100 else "99+"
        height = theme.type_px(16)
        width = max(height, QFontMetrics(font).horizontalAdvance(text) + theme.px(8))
        box = QRect(icon_right - theme.px(4), max(0, icon_top - theme.px(7)), width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        painter.drawRoundedRect(box, height / 2, height / 2)
        painter.setFont(font)
        painter.setPen(theme.color("on_accent"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _name(self) -> None:
        title = self.info.title
        name = tr("{title}, {badge} running", title=title, badge=self._badge) if self._badge else title
        self.setAccessibleName(name)


class LogoButton(QToolButton):
    """The mark. It opens the menu of all actions where there is no menu bar."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Rialto menu"))
        set_tip(self, tr("All actions"), "F10")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def ring_rect(self) -> QRectF:
        return QRectF(self._body())

    def ring_radius(self) -> float:
        return 8.0

    def _body(self) -> QRect:
        side = self._theme.px(_SIDE + 2)
        return self.rect().adjusted(side, 0, -side, 0)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(WIDTH), max(self._theme.px(_LOGO_HEIGHT), self._theme.icon_px(30) + 6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.isDown():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("hover"))
            painter.drawRoundedRect(self._body(), 8, 8)
        size = self._theme.icon_px(30)
        at = QRectF((self.width() - size) // 2, (self.height() - size) // 2, size, size)
        icons.paint(painter, self._theme, "logo", at, "accent")


class Rail(QWidget):
    """The column of tabs. One tab stop for all of them; the arrow keys move between them."""

    tab_chosen = Signal(str)
    tab_approached = Signal(str)
    menu_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Tabs"))
        self._buttons: dict[str, RailButton] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._chosen)
        self.logo = LogoButton(theme)
        self.logo.clicked.connect(self.menu_requested)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.logo)
        self._column.addStretch(1)
        theme.changed.connect(self._restyle)
        self._restyle()

    def add(self, info: TabInfo, shortcut: str = "") -> None:
        button = RailButton(self._theme, info, shortcut)
        self._buttons[info.name] = button
        self._group.addButton(button)
        button.approached.connect(lambda: self.tab_approached.emit(info.name))
        above = sum(not each.info.at_bottom for each in self._buttons.values())
        self._column.insertWidget(-1 if info.at_bottom else above, button)
        self._restyle()

    def names(self) -> tuple[str, ...]:
        """The tabs in rail order, the ones at the bottom last."""
        ordered = sorted(self._buttons.values(), key=lambda button: button.info.at_bottom)
        return tuple(button.info.name for button in ordered)

    def button(self, name: str) -> RailButton:
        return self._buttons[name]

    def set_current(self, name: str | None) -> None:
        """Mark the tab that is shown; None while a page without a tab is shown, such as the welcome page."""
        self._group.setExclusive(name is not None)
        for button in self._buttons.values():
            button.setChecked(button.info.name == name)
        self._group.setExclusive(True)
        stop = self.first_target()
        for button in self._buttons.values():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if button is stop else Qt.FocusPolicy.NoFocus)

    def set_badge(self, name: str, count: int) -> None:
        self._buttons[name].set_badge(count)

    def first_target(self) -> QWidget | None:
        """What gets the focus when somebody comes to the rail: the tab that is shown, or the first one."""
        shown = next((button for button in self._buttons.values() if button.isChecked()), None)
        return shown or next(iter(self._buttons.values()), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrow keys open the neighbor of the tab that has the keyboard, whichever is on show."""
        names = self.names()
        focused = next((name for name in names if self._buttons[name].hasFocus()), None)
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if focused is None or step is None:
            super().keyPressEvent(event)
            return
        at = names.index(focused) + step
        if 0 <= at < len(names):
            button = self._buttons[names[at]]
            button.setFocus(Qt.FocusReason.TabFocusReason)
            self.tab_chosen.emit(button.info.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("rail"))
        painter.setPen(self._theme.color("line"))
        edge = 0 if self.isRightToLeft() else self.width() - 1
        painter.drawLine(edge, 0, edge, self.height())

    def _restyle(self) -> None:
        gap = self._theme.px(4)
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, self._theme.px(8), 0, self._theme.px(8))
        layout.setSpacing(gap)
        widest = max((button.sizeHint().width() for button in self._buttons.values()), default=0)
        self.setFixedWidth(max(self._theme.px(WIDTH), widest))
        for button in self._buttons.values():
            button.setFixedWidth(self.width())
            button.updateGeometry()
        self.logo.setFixedWidth(self.width())
        self.update()

    def _chosen(self, button: RailButton) -> None:
        self.tab_chosen.emit(button.info.name)
