"""A switch: 32 × 18 px at 100 %. The position of its knob shows the state, not color alone."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QVariantAnimation
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.ui.kit.theme import Theme

_MIN_TARGET = 24  # px; smaller is hard to hit


class Switch(QAbstractButton):
    """A check box in the shape of a switch. `name` is what a screen reader says; raises `ValueError` without one.

    Disabled means "this model does not use it": dashed and empty, with the reason beside it.
    """

    def __init__(self, theme: Theme, name: str, *, checked: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a switch needs a name")
        self._theme = theme
        self._place = 1.0 if checked else 0.0
        self._slide: QVariantAnimation | None = None
        self.setCheckable(True)
        self.setChecked(checked)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._move_speech_option)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def _track(self) -> QRectF:
        width, height = self._theme.icon_px(32), self._theme.icon_px(18)
        return QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.icon_px(32), max(_MIN_TARGET, self._theme.icon_px(18)))

    def ring_rect(self) -> QRectF:
        """Return what the focus ring goes around: the track, not the larger target."""
        return self._track()

    def ring_radius(self) -> float:
        return self._track().height() / 2

    def _move_speech_option(self, on: bool) -> None:
        target = 1.0 if on else 0.0
        time = self._theme.motion_ms(90)
        if not time or not self.isVisible():
            self._place = target
            self.update()
            return
        if self._slide is None:
            self._slide = QVariantAnimation(self)
            self._slide.valueChanged.connect(self._set_place)
        self._slide.stop()
        self._slide.setDuration(time)
        self._slide.setStartValue(self._place)
        self._slide.setEndValue(target)
        self._slide.start()

    def _set_place(self, place: float) -> None:
        self._place = place
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = self._track()
        unit = track.height() / 18
        on = self.isChecked()
        if self._slide is None or self._slide.state() != QVariantAnimation.State.Running:
            self._place = 1.0 if on else 0.0  # also when it was set while its signals were blocked
        color = self._theme.color
        if not self.isEnabled():
            pen = QPen(color("line2"), 1.0, Qt.PenStyle.DashLine)
            pen.setDashPattern([3, 3])
            fill, knob = color("sunken"), color("line2")
        elif on:
            pen, fill, knob = QPen(color("accent"), 1.5 * unit), color("accent"), color("on_accent")
        else:
            pen, fill, knob = QPen(color("control"), 1.5 * unit), color("surface"), color("control")
            if self.underMouse():
                fill = color("hover")
        half = pen.widthF() / 2
        painter.setPen(pen)
        painter.setBrush(fill)
        body = track.adjusted(half, half, -half, -half)
        painter.drawRoundedRect(body, body.height() / 2, body.height() / 2)
        side = 11 * unit
        left = track.left() + 3.5 * unit
        right = track.right() - 3.5 * unit - side
        place = 1 - self._place if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else self._place
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(knob)
        painter.drawEllipse(QRectF(left + (right - left) * place, track.center().y() - side / 2, side, side))
