"""A film in a window of its own, as large as one likes. Esc closes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui.kit.widgets.surfaces import zone
from app.ui.video.video_player import VideoPlayer

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class VideoWindow(QWidget):
    """Begins paused on the first picture."""

    def __init__(self, theme: Theme, title: str, film: str, size: tuple[int, int]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        zone(self, "canvas")
        self.setWindowTitle(f"{title} – Rialto")
        self.player = VideoPlayer(theme)
        self.player.fill_height()
        layout = QVBoxLayout(self)
        layout.addWidget(self.player)
        self.resize(theme.px(960), theme.px(640))
        self.player.show_film(film, *size)
        self.player.play.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif not self.player.handle_key(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.player.show_film("")
        super().closeEvent(event)
