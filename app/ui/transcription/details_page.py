"""The inspector's quiet pages: what is known of the sound and its transcript, and the request as it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.buttons import QuietButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MONO = frozenset(
    {tr("Request"), tr("Address"), tr("File"), "SHA-256", "model", "file", "cf-ray"}
)  # ids lose their shape otherwise


class Facts(QWidget):
    """Names with their values below, so that long values have the width of the pane. One button copies all."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.rows: tuple[tuple[str, str], ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(4))
        top = QHBoxLayout()
        top.addWidget(Label(theme, title, weight=600), 1)
        self.copy_button = QuietButton(theme, tr("Copy"), "copy", size="small")
        self.copy_button.setAccessibleName(tr("Copy: {title}", title=title))
        self.copy_button.clicked.connect(self.copy)
        top.addWidget(self.copy_button)
        column.addLayout(top)
        lines = QVBoxLayout()
        lines.setSpacing(0)
        column.addLayout(lines)
        self._lines: WidgetList[Label] = WidgetList(lines)

    def set_rows(self, rows: tuple[tuple[str, str], ...]) -> None:
        """Show other facts."""
        if rows == self.rows:
            return
        self.rows = rows
        self._lines.clear()
        for name, value in rows:
            self._lines.add(Label(self._theme, name, "caption", "text3"))
            told = Label(self._theme, value, "small", wrap=True, mono=name in MONO, tabular=True)
            told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            told.setContentsMargins(0, 0, 0, self._theme.px(6))
            self._lines.add(told)

    def copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(f"{name}: {value}" for name, value in self.rows))


class DetailsPage(ScrollPane):
    """Label and value, row by row."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("Details"))
        column = self.fill(theme, "pane", (16, 14, 16, 16), 12)
        self.nothing = Label(
            theme, tr("Open a recording, file or transcript to see its details."), role="text2", wrap=True
        )
        self.block = Facts(theme, tr("Details"))
        column.addWidget(self.nothing)
        column.addWidget(self.block)
        column.addStretch(1)
        self.show_facts(())

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        self.nothing.setVisible(not facts)
        self.block.setVisible(bool(facts))
        self.block.set_rows(facts)
