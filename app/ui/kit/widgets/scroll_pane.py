"""A pane that scrolls up and down when its content is higher than it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.ui.kit.widgets.surfaces import SCROLL_BAR_PX, float_scroll_bar, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class ScrollPane(QScrollArea):
    """Never scrolls sideways, and takes no focus of its own: what is in it does."""

    def __init__(self, spoken: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(spoken)
        float_scroll_bar(self)

    def fill(self, theme: Theme, tone: str, margins: tuple[int, int, int, int], spacing: int) -> QVBoxLayout:
        """Put in a column in the tone of a zone. Left, top, right, bottom and the gaps grow with the theme's size.

        A right margin as wide as the scroll bar gives it its room: what nothing lies over is scrolled in a third of
        the time.
        """
        self._takes_margin = margins[2] >= SCROLL_BAR_PX
        if self._takes_margin:
            self.setViewportMargins(0, 0, 0, 0)
        self.inside = QWidget()
        zone(self.inside, tone)
        self._layout = QVBoxLayout(self.inside)
        self._measures = (theme, margins, spacing)
        self.setWidget(self.inside)
        theme.changed.connect(self._set_measures)
        self._set_measures()
        return self._layout

    def _set_measures(self) -> None:
        theme, margins, spacing = self._measures
        left, top, right, bottom = (theme.px(each) for each in margins)
        right = max(0, right - SCROLL_BAR_PX) if self._takes_margin else right
        self._layout.setContentsMargins(left, top, right, bottom)
        self._layout.setSpacing(theme.px(spacing))
