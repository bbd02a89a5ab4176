"""A check box that takes a click anywhere on it: Qt's own takes none above and below its text, which is under 24 px."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QCheckBox


class CheckBox(QCheckBox):
    """As `QCheckBox`, as high as the style sheet makes it."""

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)
