"""Plays a video in the window: play, places, single frames, a loop. Decoded in software, drawn by ourselves.

Frames become images in a thread of the pool; while one is being made the next ones are dropped, so that a video that
is too large for this computer stutters instead of holding up the window. QtMultimedia is loaded by the first
video that is played.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.core.time_format import position
from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.icons import paint
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

    from app.ui.kit.sound.media_sound import MediaSound
    from app.ui.kit.theme import Theme

SKIP_MS = 5_000
USUAL_FRAME_MS = 1000 / 24
CANNOT_PLAY = tr("This computer cannot play this video. Show it in its folder and open it with another program.")


class VideoScreen(QWidget):
    """The image, as large as it fits. A click plays or pauses."""

    pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture = QImage()
        self._shape = (16, 9)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Video"))
        show_as(self, "Graphic")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def picture(self) -> QImage:
        return self._picture

    def set_shape(self, width: int, height: int) -> None:
        self._shape = (width, height) if width > 0 and height > 0 else (16, 9)
        self.updateGeometry()

    def show_image(self, image: QImage) -> None:
        self._picture = image
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(280), self.heightForWidth(self._theme.px(280)))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(90))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        wide, high = self._shape
        return min(self._theme.px(420), round(width * high / wide))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), self._theme.px(8), self._theme.px(8))
        painter.setClipPath(shape)
        painter.fillRect(self.rect(), self._theme.color("sunken"))
        if self._picture.isNull():
            side = self._theme.icon_px(28)
            middle = QPointF(self.rect().center())
            spot = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
            paint(painter, self._theme, "video", spot, "text3")
            return
        size = self._picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        painter.drawImage(QRectF(left, top, size.width(), size.height()), self._picture)


class VideoPlayer(QWidget):
    """Screen and transport. Nothing sounds before Play is pressed. `problem` tells a sentence."""

    problem = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._film = ""
        self._player: QMediaPlayer | None = None
        self._sink: QVideoSink | None = None
        self._sound: MediaSound | None = None
        self._painting = False
        self._is_loaded = False  # or being loaded
        self._waits_for_first = False  # image of what was loaded
        self._starts = False  # Play was pressed, and what is played is being loaded
        self._length_ms = 0  # as it was told; the player knows better
        self._frame_ms = USUAL_FRAME_MS
        self._at_ms = 0.0
        self.frames_shown = 0
        self.image_box = VideoScreen(theme)
        self.play = IconButton(theme, "play", tr("Play"), shortcut="Space", filled=True)
        self.time = Label(theme, "0:00 / 0:00", "small", "text2", tabular=True)
        self.place = QSlider(Qt.Orientation.Horizontal)
        self.place.setAccessibleName(tr("Video position"))
        self.back = IconButton(theme, "chevron-left", tr("Previous frame"), shortcut=",", size="small")
        self.step = IconButton(theme, "chevron-right", tr("Next frame"), shortcut=".", size="small")
        self.loop = IconButton(theme, "refresh", tr("Loop"), size="small", checkable=True)
        self.mute = IconButton(theme, "volume", tr("Mute"), size="small", checkable=True)
        self._row = QHBoxLayout()
        for widget in (self.play, self.time, self.place, self.back, self.step, self.loop, self.mute):
            self._row.addWidget(widget, 1 if widget is self.place else 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.px(10))
        layout.addWidget(self.image_box)
        layout.addLayout(self._row)
        self.image_box.pressed.connect(self.toggle)
        self.play.clicked.connect(self.toggle)
        self.place.sliderMoved.connect(self.seek)
        self.place.actionTriggered.connect(lambda _: self.seek(self.place.sliderPosition()))
        self.back.clicked.connect(lambda: self.step_frame(-1))
        self.step.clicked.connect(lambda: self.step_frame(1))
        self.loop.toggled.connect(self._set_loop)
        self.mute.toggled.connect(self._set_mute)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        self._row.setSpacing(self._theme.px(6))

    def fill_height(self) -> None:
        """Let the image take all the room there is, in a window of its own."""
        self.image_box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.setStretchFactor(self.image_box, 1)

    # The video

    @property
    def film(self) -> str:
        return self._film

    @property
    def duration_ms(self) -> int:
        return (self._player.duration() if self._player is not None else 0) or self._length_ms

    @property
    def position_ms(self) -> float:
        return self._at_ms

    @property
    def plays(self) -> bool:
        if self._player is None:
            return False
        from PySide6.QtMultimedia import QMediaPlayer

        return self._starts or self._player.playbackState() == QMediaPlayer.PlaybackState.PlayingState

    def show_video(self, video: str, width: int = 0, height: int = 0, length_s: float = 0.0) -> None:
        """Show a video, "" for none; one that is shown already goes on.

        Where its length is known, `show_poster` is to follow, and the file is opened once somebody plays or seeks it:
        who walks through a list opens none. Else it is opened at once and stays on its first image.
        """
        if video == self._film:
            return
        self.stop()
        self._film = video
        self._at_ms, self._length_ms = 0.0, round(length_s * 1000)
        self._is_loaded = False
        self.image_box.set_shape(width, height)
        self.image_box.show_image(QImage())
        for widget in (self.play, self.place, self.back, self.step, self.loop, self.mute):
            widget.setEnabled(bool(video))
        if self._player is not None:
            self._player.setSource(QUrl())
        self._show_length()
        if video and not self._length_ms:
            self._load()

    def show_poster(self, image: QImage) -> None:
        """Show this image of a video until it is played; with a null one, its first image."""
        if self._film and not self._is_loaded:
            self.image_box.show_image(image)
            if image.isNull():
                self._load()

    def _load(self) -> None:
        if self._is_loaded:
            return
        from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

        from app.ui.kit.sound.media_sound import MediaSound

        if self._player is None:
            self._player = QMediaPlayer(self)
            self._sink = QVideoSink(self)
            self._player.setVideoSink(self._sink)
            self._sink.videoFrameChanged.connect(self._frame)
            self._player.durationChanged.connect(lambda _: self._show_length())
            self._player.playbackStateChanged.connect(lambda _: self._show_state())
            self._player.mediaStatusChanged.connect(self._status)
            self._player.errorOccurred.connect(lambda *_: self._fail())
            self._set_loop(self.loop.isChecked())
            self._sound = MediaSound(self._player)
            self._set_mute(self.mute.isChecked())
        self._is_loaded = self._waits_for_first = True
        self._player.setSource(QUrl.fromLocalFile(self._film))

    def _status(self, status: object) -> None:
        from PySide6.QtMultimedia import QMediaPlayer

        is_new = status == QMediaPlayer.MediaStatus.LoadedMedia and self._waits_for_first
        if is_new and not self._starts and self._player is not None:
            self._player.pause()  # decodes the first frame and stays on it, silent
        self._show_time()

    def _fail(self) -> None:
        self._starts = False
        self.problem.emit(CANNOT_PLAY)

    # What the person does

    def toggle(self) -> None:
        if not self._film or self.stop():
            return
        self._load()
        assert self._player is not None
        if self._sound is not None:
            self._sound.open()
        if self.duration_ms and self._at_ms >= self.duration_ms - self._frame_ms * 1.5:
            self.seek(0)
        self._starts = True
        self._player.play()

    def seek(self, at_ms: float) -> None:
        if self._film:
            self._load()
            assert self._player is not None
            if self._sound is not None:
                self._sound.clear()
            self._at_ms = max(0.0, min(float(at_ms), float(self.duration_ms)))
            if not self._waits_for_first:
                self._player.setPosition(round(self._at_ms))
            self._show_time()

    def skip(self, by_ms: float) -> None:
        self.seek(self._at_ms + by_ms)

    def step_frame(self, by: int) -> None:
        """One image on or back; playing stops for it."""
        if self._film:
            self.stop()
            self.seek(min(self._at_ms + by * self._frame_ms, max(0.0, self.duration_ms - self._frame_ms)))

    def stop(self) -> bool:
        """Be silent; False when nothing played."""
        played, self._starts = self.plays, False
        if self._player is not None:
            self._player.pause()
        return played

    def _set_loop(self, on: bool) -> None:
        from PySide6.QtMultimedia import QMediaPlayer

        if self._player is not None:
            self._player.setLoops(QMediaPlayer.Loops.Infinite if on else QMediaPlayer.Loops.Once)

    def _set_mute(self, on: bool) -> None:
        if self._sound is not None:
            self._sound.is_muted = on
            self._sound.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.handle_key(event):
            super().keyPressEvent(event)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Carry out a key of the player; a list that has the focus hands its keys on with this."""
        key = Qt.Key(event.key())
        job_actions: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Space: self.toggle,
            Qt.Key.Key_Comma: lambda: self.step_frame(-1),
            Qt.Key.Key_Period: lambda: self.step_frame(1),
            Qt.Key.Key_J: lambda: self.skip(-SKIP_MS),
            Qt.Key.Key_L: lambda: self.skip(SKIP_MS),
            Qt.Key.Key_Left: lambda: self.skip(-SKIP_MS),
            Qt.Key.Key_Right: lambda: self.skip(SKIP_MS),
        }
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or key not in job_actions or not self._film:
            return False
        job_actions[key]()
        return True

    # What the player tells

    def _frame(self, frame: object) -> None:
        from PySide6.QtMultimedia import QVideoFrame

        if not isinstance(frame, QVideoFrame) or not frame.isValid() or self._painting or not self._is_loaded:
            return
        rate = frame.streamFrameRate()
        if rate > 1:
            self._frame_ms = 1000 / rate
        self._painting = True
        at_ms = frame.startTime() / 1000
        copy = QVideoFrame(frame)
        run_in_pool(self, lambda: copy.toImage(), lambda image: self._show(image, at_ms))

    def _show(self, image: QImage, at_ms: float) -> None:
        self._painting = False
        if not self._is_loaded or image.isNull():
            return
        first, self._waits_for_first = self._waits_for_first, False
        if first and self._at_ms and self._player is not None:  # sought meanwhile
            self._player.setPosition(round(self._at_ms))
            return
        self.frames_shown += 1
        if self.plays or at_ms == 0:
            self._at_ms = max(0.0, at_ms)
        self.image_box.show_image(image)
        self._show_time()

    def _show_state(self) -> None:
        from PySide6.QtMultimedia import QMediaPlayer

        self._starts = False
        plays = self.plays
        if not plays and self._sound is not None and self._player is not None:
            if self._player.playbackState() == QMediaPlayer.PlaybackState.StoppedState:  # at its end
                self._sound.finish()
            else:
                self._sound.close()
        self.play.set_icon("pause" if plays else "play")
        self.play.rename(tr("Pause") if plays else tr("Play"), "Space")

    def _show_length(self) -> None:
        self.place.setRange(0, self.duration_ms)
        self._show_time()

    def _show_time(self) -> None:
        self.time.set_text(f"{position(self._at_ms / 1000)} / {position(self.duration_ms / 1000)}")
        if not self.place.isSliderDown():
            self.place.setValue(round(self._at_ms))
            self.place.setToolTip(plain_tip(self.time.text()))


class VideoWindow(QWidget):
    """A video in a window of its own, as large as one likes, paused on its first image. Esc closes it."""

    def __init__(self, theme: Theme, title: str, film: str, size: tuple[int, int]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        zone(self, "canvas")
        self.setWindowTitle(tr("{title} – Rialto", title=title))
        self.player = VideoPlayer(theme)
        self.player.fill_height()
        layout = QVBoxLayout(self)
        layout.addWidget(self.player)
        self.resize(theme.px(960), theme.px(640))
        self.player.show_video(film, *size)
        self.player.play.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif not self.player.handle_key(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.player.show_video("")
        super().closeEvent(event)
