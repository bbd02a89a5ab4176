"""The first image of every video, made once, kept beside it and shown small."""

from __future__ import annotations

from collections import deque
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSaveFile, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QImage

from app.ui.kit.discard import discard
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool
from app.ui.kit.thumbnails import Thumbnails

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

SUFFIX = ".jpg"
GIVE_UP_MS = 8_000  # for a video that this computer cannot show
AT_MS = 200  # the very first image is often black
MAX_SIDE = 640
TRIES = 3  # of one video in one run: a busy computer may be too slow at first


class Posters(QObject):
    """`get` returns what there is and begins to make what there is not; `made` tells the video's path."""

    made = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = Thumbnails(self)
        self._thumbnails.loaded.connect(lambda key: self.made.emit(key.rpartition("#")[0]))
        self._waiting: deque[str] = deque()
        self._tried: dict[str, int] = {}
        self._at_work: set[str] = set()
        self._written_ones: set[str] = set()
        self._frames: FirstFrame | None = None

    def get(self, video: str, size: QSize) -> QImage | None:
        key = f"{video}#{video in self._written_ones}"  # another key once there is an image to read
        image = self._thumbnails.get(key, size.width() * 2, size.height() * 2, partial(_read, video))
        tries = self._tried.get(video, 0)
        if image is not None and image.isNull() and tries < TRIES and video not in self._at_work:
            self._tried[video] = tries + 1
            self._at_work.add(video)
            self._waiting.append(video)
            self._next()
        return image

    def _next(self) -> None:
        if self._frames is not None and self._frames.busy:
            return
        while self._waiting and not Path(self._waiting[0]).exists():  # deleted while it waited
            self._at_work.discard(self._waiting.popleft())
        if not self._waiting:
            return
        if self._frames is None:
            self._frames = FirstFrame(self)
            self._frames.ended.connect(self._take)
        self._frames.begin(self._waiting.popleft())

    def _take(self, video: str, image: QImage) -> None:
        if image.isNull():
            self._at_work.discard(video)
        else:
            run_in_pool(self, lambda: kept_beside(video, image), lambda kept: self._written(video, kept))
        self._next()

    def _written(self, video: str, kept: bool) -> None:
        self._at_work.discard(video)
        if not kept:
            return
        self._written_ones.add(video)
        self.made.emit(video)


def _read(video: str) -> bytes:
    return Path(video + SUFFIX).read_bytes()


def kept_beside(video: str, image: QImage) -> bool:
    """Write the image beside its video, whole or not at all: others may be reading. Runs in a thread of the pool."""
    if not Path(video).exists():  # deleted meanwhile: nothing of it stays
        return False
    if max(image.width(), image.height()) > MAX_SIDE:
        image = image.scaled(
            MAX_SIDE, MAX_SIDE, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
    file = QSaveFile(video + SUFFIX)
    if not file.open(QSaveFile.OpenModeFlag.WriteOnly):
        return False
    return image.save(file, "JPG", 85) and file.commit()  # type: ignore[call-overload]  # a str is what Qt takes


class FirstFrame(QObject):
    """Decodes one image of one video at a time, in software. A null image: it cannot be shown here.

    Every video has a player and a sink of its own: frames come from another thread, and one of the video before that
    comes late must not be taken for the next video's.
    """

    ended = Signal(str, QImage)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._film = ""
        self._player: QMediaPlayer | None = None
        self._sink: QVideoSink | None = None
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.setInterval(GIVE_UP_MS)
        self._limit.timeout.connect(lambda: self._end(self._film, QImage()))

    @property
    def busy(self) -> bool:
        return self._player is not None

    def begin(self, video: str) -> None:
        from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

        self._film = video
        self._player, self._sink = QMediaPlayer(self), QVideoSink(self)
        self._player.setVideoSink(self._sink)
        self._sink.videoFrameChanged.connect(lambda frame: self._frame(video, frame))
        self._player.errorOccurred.connect(lambda *_: self._end(video, QImage()))
        self._limit.start()
        self._player.setSource(QUrl.fromLocalFile(video))
        self._player.play()

    def _frame(self, video: str, frame: object) -> None:
        from PySide6.QtMultimedia import QVideoFrame

        if video != self._film or not isinstance(frame, QVideoFrame) or not frame.isValid():
            return
        if frame.startTime() >= AT_MS * 1000:
            self._end(video, frame.toImage())

    def _end(self, video: str, image: QImage) -> None:
        if not video or video != self._film:
            return
        self._film = ""
        self._limit.stop()
        QTimer.singleShot(0, lambda: self._stopped(video, image))

    def _stopped(self, video: str, image: QImage) -> None:
        player, sink, self._player, self._sink = self._player, self._sink, None, None
        if not alive(self):
            return  # its page has gone, and they with it
        if player is not None:
            player.stop()
            discard(player)
        if sink is not None:
            discard(sink)
        self.ended.emit(video, image)
