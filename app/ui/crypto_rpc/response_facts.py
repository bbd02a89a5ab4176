"""The line above an answer: status, time, what it cost, and the id to ask the service about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

ID_CHARS = 16  # of an id that is shown whole
ID_START, ID_END = 8, 4


class ResponseFacts(QWidget):
    copied = Signal(str)  # what was copied, in words

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._flow = FlowLayout(theme, gap=22, line_gap=8, parent=self)
        self._pairs: WidgetList[QWidget] = WidgetList(self._flow)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_facts(self, facts: Sequence[tuple[str, str, str]], request_id: str) -> None:
        """Label, value and tone of each; the id last, where there is one."""
        self._pairs.clear()
        for label, value, tone in facts:
            words = Label(self._theme, value, role=tone or "text", weight=600, tabular=True)
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._pair(label).addWidget(words, 1, 0)
        if request_id:
            self._show_id(self._pair(tr("Request ID")), request_id)
        self.setVisible(bool(facts) or bool(request_id))

    def _pair(self, label: str) -> QGridLayout:
        pair = QWidget()
        grid = QGridLayout(pair)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(self._theme.px(2))
        grid.addWidget(Label(self._theme, label, "caption", "text2"), 0, 0)
        self._pairs.add(pair)
        return grid

    def _show_id(self, grid: QGridLayout, value: str) -> None:
        """An id in the face in which no two signs look alike, shortened where it is long; the button copies all."""
        short = value if len(value) <= ID_CHARS else f"{value[:ID_START]}…{value[-ID_END:]}"
        words = Label(self._theme, short, mono=True)
        words.setToolTip(plain_tip(value))
        words.setAccessibleName(tr("Request ID {value}", value=value))
        copy = IconButton(self._theme, "copy", tr("Copy request ID"), size="small", icon_size=14)
        copy.clicked.connect(lambda: self._copy(value))
        grid.addWidget(words, 1, 0)
        grid.addWidget(copy, 0, 1, 2, 1, Qt.AlignmentFlag.AlignBottom)  # higher than a line: beside both

    def _copy(self, value: str) -> None:
        QGuiApplication.clipboard().setText(value)
        self.copied.emit(tr("request ID"))

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._flow.setContentsMargins(px(16), px(10), px(16), px(10))
