"""The 52 px line on top of every pane, so that the lines of all panes meet."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QTabBar, QWidget

from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import nothing_said
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from collections.abc import Iterator


class PaneHeader(QFrame):
    """A title at the left, buttons at the right, a hairline below."""

    def __init__(
        self,
        theme: Theme,
        title: str = "",
        *,
        style: str = "heading",
        weight: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("part", "header")
        self._layout = QHBoxLayout(self)
        self.title = Label(theme, title, style, weight=weight, elide=True)
        self._layout.addWidget(self.title, 1)
        self._left = 1
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def set_title(self, title: str) -> None:
        self.title.set_text(title)

    def add(self, widget: QWidget) -> None:
        """Put a widget at the right end."""
        self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_before_title(self, widget: QWidget) -> None:
        """Put a widget, such as a back button, before the title."""
        self._layout.insertWidget(self._layout.indexOf(self.title), widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_after_title(self, widget: QWidget) -> None:
        """Put a widget right behind the title, which then takes only the room that its words need."""
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._layout.setStretchFactor(self.title, 0)
        position = self._layout.indexOf(self.title) + self._left
        self._layout.insertWidget(position, widget, 0, Qt.AlignmentFlag.AlignVCenter)
        if self._left == 1:
            self._layout.insertStretch(position + 1, 1)
        self._left += 1

    def _apply_theme(self) -> None:
        self._layout.setContentsMargins(self._theme.px(16), 0, self._theme.px(12), 0)
        self._layout.setSpacing(self._theme.px(8))


class _Bar(QTabBar):
    """A tab that the program shows is not told to screen readers: Orca takes its reader to a chosen tab."""

    def setCurrentIndex(self, index: int) -> None:
        with self._silent():
            super().setCurrentIndex(index)

    def setTabVisible(self, index: int, visible: bool) -> None:
        with self._silent():
            super().setTabVisible(index, visible)

    @contextmanager
    def _silent(self) -> Iterator[None]:
        before = self.currentIndex()
        is_news = self.hasFocus() or not self.window().isVisible()  # before the first paint nobody asks who listens
        with QSignalBlocker(self), nullcontext() if is_news else nothing_said():
            yield
        if self.currentIndex() != before:
            self.currentChanged.emit(self.currentIndex())


class PaneTabs(QFrame):
    """A header whose title is a row of tabs, as on top of the inspector. `bar.currentChanged` tells the tab."""

    def __init__(self, theme: Theme, name: str, titles: tuple[str, ...], *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("part", "header")
        self.bar = _Bar()
        self.bar.setAccessibleName(name)
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideRight)
        for title in titles:
            self.bar.addTab(title)
        self._layout = QHBoxLayout(self)
        self._layout.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignBottom)
        self._layout.addStretch(1)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def add(self, widget: QWidget) -> None:
        """Put a widget at the right end."""
        self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Titles that have no room are cut, and whole in their tooltips."""
        super().resizeEvent(event)
        is_cut = self.bar.sizeHint().width() > self.bar.width()
        for place in range(self.bar.count()):
            self.bar.setTabToolTip(place, plain_tip(self.bar.tabText(place)) if is_cut else "")

    def _apply_theme(self) -> None:
        self._layout.setContentsMargins(self._theme.px(16), 0, self._theme.px(12), 0)
        self._layout.setSpacing(self._theme.px(8))
