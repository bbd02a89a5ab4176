"""Play, pause, places, speed, loudness and output of a sound: the same bar and the same keys in every tab.

The bar shows and asks; whoever owns the sound (a presenter with an `app.audio.player.Player`) does. Letter keys work
while the bar, or a list that hands its keys on with `handle_key`, has the focus.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.audio.devices import Device
from app.core.time_format import length, position
from app.formats import format_number
from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.key_text import set_tip
from app.ui.kit.sound.waveform_view import WaveformView
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton, QuietButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.spinner import Spinner

SPEEDS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
SKIP_S = 5.0
NARROWEST_STATUS = 60  # px at 100 %


class PlayButton(QPushButton):
    """The round button: 40 px, filled."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plays = False
        self.setProperty("painted", True)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_plays(False)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def set_plays(self, plays: bool) -> None:
        """Offer Pause while it plays, Play otherwise."""
        self._plays = plays
        self.setAccessibleName(tr("Pause") if plays else tr("Play"))
        set_tip(self, self.accessibleName(), "Space")
        self.update()

    def sizeHint(self) -> QSize:
        side = self._theme.icon_px(40)
        return QSize(side, side)

    def ring_radius(self) -> float:
        return self.width() / 2

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isEnabled()
        fill = ("accent_hover" if self.isDown() or self.underMouse() else "accent") if on else "line2"
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(fill))
        painter.drawEllipse(self.rect())
        side = self._theme.icon_px(18)
        place = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)
        paint(painter, self._theme, "pause" if self._plays else "play", place, "on_accent" if on else "text3")


class _Status(Label):
    """What goes on, where there is room for at least a word of it; the tooltip has it in any case."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.width() >= self._theme.type_px(NARROWEST_STATUS):
            super().paintEvent(event)


class PlayerBar(QWidget):
    """`extras` takes buttons for the right end of the second line, such as Save as….

    `passing` takes those that come and go: they are left of all others, so that none of these moves.
    """

    play_pressed = Signal()
    seek_requested = Signal(float)  # seconds
    skip_requested = Signal(float)  # seconds, backwards below 0
    segment_requested = Signal(int)  # -1 the one before, 1 the next
    speed_chosen = Signal(float)
    volume_chosen = Signal(float)  # 0 to 1
    output_chosen = Signal(str)  # a device's id, "" for the system's default
    outputs_requested = Signal()  # the menu is about to open

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._speed = 1.0
        self._outputs: tuple[Device, ...] = ()
        self._output_id = ""
        self._output_problem = ""
        self.play = PlayButton(theme)
        self.waveform = WaveformView(theme)
        self.time = Label(theme, "0:00", weight=600, tabular=True)
        self.length = Label(theme, "/ 0:00", role="text2", tabular=True)
        self.spinner = Spinner(theme)
        self.status = _Status(theme, "", "small", "text2", elide=True, tabular=True)
        self.back = QuietButton(theme, "5 s", "back-5", size="small")
        self.back.setAccessibleName(tr("Back 5 seconds"))
        self.forward = QuietButton(theme, "5 s", "forward-5", size="small")
        self.forward.setAccessibleName(tr("Forward 5 seconds"))
        self.speed = QuietButton(theme, "1.0×", size="small")
        self.volume = IconButton(theme, "volume", tr("Volume and output"), size="small", icon_size=16)
        self.passing = QHBoxLayout()
        self.extras = QHBoxLayout()
        self._sound_card: Popover | None = None
        self._volume_field: SliderField | None = None
        self._volume = 1.0
        self._arrange()
        self._connect()
        self.set_ready(False)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _arrange(self) -> None:
        self._outer = QHBoxLayout(self)
        self._outer.addWidget(self.play, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.waveform)
        self._row = QHBoxLayout()
        for widget in (self.time, self.length, self.spinner):
            self._row.addWidget(widget)
        self._row.addWidget(self.status, 1)
        self._row.addLayout(self.passing)
        for button in (self.back, self.forward, self.speed, self.volume):
            self._row.addWidget(button)
        self._row.addLayout(self.extras)
        column.addLayout(self._row)
        self._outer.addLayout(column, 1)
        self._column = column
        self.spinner.hide()

    def _connect(self) -> None:
        self.play.clicked.connect(self.play_pressed)
        self.waveform.seek_requested.connect(self.seek_requested)
        self.back.clicked.connect(lambda: self.skip_requested.emit(-SKIP_S))
        self.forward.clicked.connect(lambda: self.skip_requested.emit(SKIP_S))
        self.speed.clicked.connect(self._open_speeds)
        self.volume.clicked.connect(self._open_sound)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._outer.setContentsMargins(px(24), px(10), px(24), px(8))
        self._outer.setSpacing(px(12))
        self._column.setSpacing(px(4))
        self._row.setSpacing(px(6))
        self.extras.setSpacing(px(6))

    def fit(self) -> None:
        """Lay the buttons out now: only then does the smallest width count what they say."""
        self._outer.activate()

    # -- what is shown --------------------------------------------------------------------------------------------

    def set_ready(self, ready: bool) -> None:
        """Say whether there is a sound at all."""
        for widget in (self.play, self.waveform, self.back, self.forward, self.speed):
            widget.setEnabled(ready)

    def set_plays(self, plays: bool) -> None:
        self.play.set_plays(plays)

    def set_position(self, seconds: float) -> None:
        self.waveform.set_position(seconds)
        self.time.set_text(position(seconds))
        self.set_length(self.waveform.duration_s)

    def set_length(self, seconds: float) -> None:
        """Show how long the sound is, as soon as that is known."""
        self.length.set_text(f"/ {length(seconds)}")

    def set_status(self, words: str, busy: bool = False) -> None:
        """Say what goes on beside the time, with a ring that turns while it does."""
        self.status.set_text(words)
        self.spinner.setVisible(busy)

    def set_speed(self, speed: float) -> None:
        self._speed = speed
        self.speed.setText(f"{format_number(speed, 2 if speed % 0.5 else 1)}×")
        self.speed.setAccessibleName(tr("Playback speed {speed}", speed=f"{speed:g}"))

    def set_volume(self, volume: float) -> None:
        """Show a loudness from 0 to 1 without telling anybody."""
        self._volume = volume
        if self._volume_field is not None:
            self._volume_field.set_value(round(volume * 100))

    def set_outputs(self, outputs: Sequence[Device], chosen: str, problem: str = "") -> None:
        """Take the loudspeakers there are and the chosen one's id; or the sentence why there are none."""
        self._outputs, self._output_id, self._output_problem = tuple(outputs), chosen, problem

    # -- menus ----------------------------------------------------------------------------------------------------

    def _open_speeds(self) -> None:
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for speed in SPEEDS:
            action = menu.add(f"{speed:g}×")
            action.setCheckable(True)
            action.setChecked(speed == self._speed)
            action.setData(speed)
        menu.triggered.connect(lambda action: self.speed_chosen.emit(float(action.data())))
        menu.popup(self.speed.mapToGlobal(self.speed.rect().bottomLeft()))

    def _open_sound(self) -> None:
        self.outputs_requested.emit()
        if self._sound_card is None:
            card = self._sound_card = Popover(self._theme, self, name=tr("Volume and output"))
            card.body.addWidget(Label(self._theme, tr("Volume"), "small", "text2"))
            field = SliderField(self._theme, tr("Volume in percent"), low=0, high=100, step=1, decimals=0, default=100)
            field.value_edited.connect(lambda value: self.volume_chosen.emit(value / 100))
            card.body.addWidget(field)
            card.set_first_focus(field.slider)
            self._volume_field = field
            self.output = Button(self._theme, tr("Output"), "chevron-down", size="small")
            self.output.clicked.connect(self._open_outputs)
            card.body.addWidget(Label(self._theme, tr("Output"), "small", "text2"))
            card.body.addWidget(self.output)
        assert self._volume_field is not None
        self._volume_field.set_value(round(self._volume * 100))
        self.output.setText(self._output_name())
        self._sound_card.open_at(self.volume, above=True, align_right=True, width=260)

    def _output_name(self) -> str:
        chosen = next((one.name for one in self._outputs if one.id == self._output_id), "")
        return chosen or tr("System default")

    def _open_outputs(self) -> None:
        if self._sound_card is not None:
            self._sound_card.close()
        self.output_menu().popup(self.volume.mapToGlobal(self.volume.rect().topLeft()))

    def output_menu(self) -> Menu:
        """Return the menu of outputs: the system's default, then every device by name."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._output_problem:
            menu.add(self._output_problem, enabled=False)
        for device_id, name in (("", tr("System default")), *((one.id, one.name) for one in self._outputs)):
            action = menu.add(name)
            action.setCheckable(True)
            action.setChecked(device_id == self._output_id)
            action.setData(device_id)
        menu.triggered.connect(lambda action: self.output_chosen.emit(str(action.data())))
        return menu

    # -- keys -----------------------------------------------------------------------------------------------------

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key means for a player; False when it means nothing here."""
        if event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier):
            return False
        if not self.play.isEnabled():
            return False
        key = event.key()
        if key == Qt.Key.Key_Space:
            self.play_pressed.emit()
        elif key in (Qt.Key.Key_J, Qt.Key.Key_Left):
            self.skip_requested.emit(-SKIP_S)
        elif key in (Qt.Key.Key_L, Qt.Key.Key_Right):
            self.skip_requested.emit(SKIP_S)
        elif key in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            self.segment_requested.emit(1 if key == Qt.Key.Key_BracketRight else -1)
        elif key in (Qt.Key.Key_Less, Qt.Key.Key_Greater):
            self._step_speed(1 if key == Qt.Key.Key_Greater else -1)
        else:
            return False
        return True

    def _step_speed(self, direction: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self._speed))
        self.speed_chosen.emit(SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + direction))])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.handle_key(event):
            super().keyPressEvent(event)
