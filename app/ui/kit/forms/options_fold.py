"""Options that few people need, behind a button until someone opens them."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import QuietButton


class OptionsFold(QWidget):
    """`body` takes the options. Closed at first."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.head = QuietButton(theme, tr("More options"), "chevron-right", size="small")
        self._inside = QWidget()
        self._inside.hide()
        self.body = QVBoxLayout(self._inside)
        self.body.setContentsMargins(0, 0, 0, 0)
        self._fold_column = QVBoxLayout(self)
        self._fold_column.setContentsMargins(0, 0, 0, 0)
        line = QHBoxLayout()
        line.addWidget(self.head)
        line.addStretch(1)
        self._fold_column.addLayout(line)
        self._fold_column.addWidget(self._inside)
        self.head.clicked.connect(lambda: self.unfold(self._inside.isHidden()))
        theme.changed.connect(self._apply_fold_theme)
        self._apply_fold_theme()

    def unfold(self, on: bool) -> None:
        """Show the options, or fold them away."""
        self._inside.setVisible(on)
        self.head.set_icon("chevron-down" if on else "chevron-right")
        self.head.setText(tr("Fewer options") if on else tr("More options"))

    def _apply_fold_theme(self) -> None:
        self._fold_column.setSpacing(self._theme.px(10))
        self.body.setSpacing(self._theme.px(4))
