"""An icon as a label, next to text."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.ui.kit.icons import pixmap
from app.ui.kit.theme import Theme


class IconLabel(QLabel):
    """An image beside words that say the same; silent for screen readers."""

    def __init__(
        self, theme: Theme, icon_name: str, role: str = "text2", *, px: int = 18, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._name, self._role, self._px = theme, icon_name, role, px
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def set_icon(self, icon_name: str, role: str) -> None:
        """Show another image in another color."""
        self._name, self._role = icon_name, role
        self._apply_theme()

    def _apply_theme(self) -> None:
        side = self._theme.icon_px(self._px)
        self.setPixmap(pixmap(self._theme, self._name, side, self._role, self.devicePixelRatioF()))
