"""Line icons: one SVG per meaning, colored at paint time so that they follow the theme.

The files in `resources/icons` draw with `currentColor` on a 20 px grid. Nothing is read before it is painted, and every
rendering is kept by (name, size, color, resolution).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap

from app.ui.kit.resources import resources_folder

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

_MAX_KEPT = 512  # renderings; a full window uses about 80 per theme
_kept: dict[tuple[str, int, str, float], QPixmap] = {}


@cache
def _source(name: str) -> str:
    path = icons_folder() / f"{name}.svg"
    return path.read_text(encoding="utf-8")


def icons_folder() -> Path:
    """Return the folder with one SVG per meaning."""
    return resources_folder() / "icons"


def icon(theme: Theme, name: str, role: str = "text2", on_role: str | None = None) -> QIcon:
    """Return an icon in the color `role`, in `on_role` while its button is on, in `text3` while it is off limits.

    Raises `FileNotFoundError` at once when there is no such icon, not at the first paint.
    """
    if not (icons_folder() / f"{name}.svg").is_file():
        raise FileNotFoundError(f"no icon named {name!r}")
    return QIcon(_SvgIconEngine(theme, name, role, on_role or role))


def pixmap(theme: Theme, name: str, px: int, role: str = "text2", dpr: float = 1.0) -> QPixmap:
    """Return the icon drawn `px` device-independent pixels wide for a screen of resolution `dpr`."""
    color = theme.color(role).name()
    key = (name, px, color, dpr)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        found = _kept[key] = _render(name, px, color, dpr)
    return found


def paint(painter: QPainter, theme: Theme, name: str, rect: QRectF, role: str = "text2") -> None:
    """Draw the icon into `rect` (its width counts), sharp at the painter's resolution."""
    device = painter.device()
    dpr = device.devicePixelRatioF() if device is not None else 1.0
    painter.drawPixmap(rect.topLeft(), pixmap(theme, name, round(rect.width()), role, dpr))


def _render(name: str, px: int, color: str, dpr: float) -> QPixmap:
    from PySide6.QtSvg import QSvgRenderer  # only a program that paints an icon pays for it

    drawn = QPixmap(QSize(round(px * dpr), round(px * dpr)))
    drawn.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(_source(name).replace("currentColor", color).encode()))
    painter = QPainter(drawn)
    renderer.render(painter)
    painter.end()
    drawn.setDevicePixelRatio(dpr)
    return drawn


class _SvgIconEngine(QIconEngine):
    """Asks the theme for the color whenever Qt asks for the image."""

    def __init__(self, theme: Theme, name: str, role: str, on_role: str) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._role = role
        self._on_role = on_role

    def _role_for(self, mode: QIcon.Mode, state: QIcon.State) -> str:
        if mode == QIcon.Mode.Disabled:
            return "text3"
        return self._on_role if state == QIcon.State.On else self._role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        side = min(rect.width(), rect.height())
        target = QRectF(0, 0, side, side)
        target.moveCenter(QRectF(rect).center())
        paint(painter, self._theme, self._name, target, self._role_for(mode, state))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        side = round(min(size.width(), size.height()) / scale)
        return pixmap(self._theme, self._name, side, self._role_for(mode, state), scale)

    def clone(self) -> QIconEngine:
        return _SvgIconEngine(self._theme, self._name, self._role, self._on_role)

    def isNull(self) -> bool:
        return False
