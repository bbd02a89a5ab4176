"""A QR code, dark on white in every theme, because cameras read it so.

A module of its own: it is loaded by the first code.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme

QUIET = 4  # modules around the code that stay white


def qr_code(text: str) -> tuple[bytearray, ...]:
    """Return the modules of a code, row by row, 1 for dark. Raises `ValueError` beyond 2,331 bytes."""
    from segno import make_qr  # tabs that are built ahead import this module

    matrix: tuple[bytearray, ...] = make_qr(text, error="m", boost_error=False, mode="byte", encoding="utf-8").matrix
    return matrix


class QrView(QWidget):
    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self._theme = theme
        self._rows = qr_code(text)
        self.setAccessibleName(tr("QR code"))
        self.setAccessibleDescription(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        side = self._theme.px(5) * (len(self._rows) + 2 * QUIET)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(Qt.GlobalColor.white))
        side = self.width() / (len(self._rows) + 2 * QUIET)
        for y, row in enumerate(self._rows):
            for x, dark in enumerate(row):
                if dark:
                    box = QRectF((x + QUIET) * side, (y + QUIET) * side, side + 0.5, side + 0.5)
                    painter.fillRect(box, QColor(Qt.GlobalColor.black))
