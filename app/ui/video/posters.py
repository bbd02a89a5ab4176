"""The first picture of every film, made once, kept beside it and shown small."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSaveFile, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QImage

from app.ui.kit.discard import discard
from app.ui.kit.qt_repairs.alive import alive
from app.ui.kit.qt_repairs.thread_pool import run_in_pool
from app.ui.kit.thumbnails import Thumbnails

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

SUFFIX = ".jpg"
GIVE_UP_MS = 8_000  # for a film that this computer cannot show
AT_MS = 200  # the very first picture is often black
MAX_SIDE = 640
TRIES = 3  # of one film in one run: a busy computer may be too slow at first


class Posters(QObject):
    """`get` returns what there is and begins to make what there is not; `made` tells the film's path."""

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

    def get(self, film: str, size: QSize) -> QImage | None:
        path = Path(film + SUFFIX)
        key = f"{film}#{film in self._written_ones}"  # another key once there is a picture to read
        picture = self._thumbnails.get(key, size.width() * 2, size.height() * 2, path.read_bytes)
        tries = self._tried.get(film, 0)
        if picture is not None and picture.isNull() and tries < TRIES and film not in self._at_work:
            self._tried[film] = tries + 1
            self._at_work.add(film)
            self._waiting.append(film)
            self._next()
        return picture

    def _next(self) -> None:
        if not self._waiting or (self._frames is not None and self._frames.busy):
            return
        if self._frames is None:
            self._frames = FirstFrame(self)
            self._frames.ended.connect(self._take)
        self._frames.begin(self._waiting.popleft())

    def _take(self, film: str, picture: QImage) -> None:
        if picture.isNull():
            self._at_work.discard(film)
        else:
            run_in_pool(self, lambda: kept_beside(film, picture), lambda kept: self._written(film) if kept else None)
        self._next()

    def _written(self, film: str) -> None:
        self._at_work.discard(film)
        self._written_ones.add(film)
        self.made.emit(film)


def kept_beside(film: str, picture: QImage) -> bool:
    """Write the picture beside its film, whole or not at all: others may be reading. Runs in a thread of the pool."""
    if max(picture.width(), picture.height()) > MAX_SIDE:
        picture = picture.scaled(
            MAX_SIDE, MAX_SIDE, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
    file = QSaveFile(film + SUFFIX)
    if not file.open(QSaveFile.OpenModeFlag.WriteOnly):
        return False
    return picture.save(file, "JPG", 85) and file.commit()  # type: ignore[call-overload]  # a str is what Qt takes


class FirstFrame(QObject):
    """Decodes one picture of one film at a time, in software. A null picture: it cannot be shown here.

    Every film has a player and a sink of its own: frames come from another thread, and one of the film before that
    comes late must not be taken for the next film's.
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

    def begin(self, film: str) -> None:
        from PySide6.QtMultimedia import QMediaPlayer, QVideoSink

        self._film = film
        self._player, self._sink = QMediaPlayer(self), QVideoSink(self)
        self._player.setVideoSink(self._sink)
        self._sink.videoFrameChanged.connect(lambda frame: self._frame(film, frame))
        self._player.errorOccurred.connect(lambda *_: self._end(film, QImage()))
        self._limit.start()
        self._player.setSource(QUrl.fromLocalFile(film))
        self._player.play()

    def _frame(self, film: str, frame: object) -> None:
        from PySide6.QtMultimedia import QVideoFrame

        if film != self._film or not isinstance(frame, QVideoFrame) or not frame.isValid():
            return
        if frame.startTime() >= AT_MS * 1000:
            self._end(film, frame.toImage())

    def _end(self, film: str, picture: QImage) -> None:
        if not film or film != self._film:
            return
        self._film = ""
        self._limit.stop()
        QTimer.singleShot(0, lambda: self._stopped(film, picture))

    def _stopped(self, film: str, picture: QImage) -> None:
        player, sink, self._player, self._sink = self._player, self._sink, None, None
        if not alive(self):
            return  # its page has gone, and they with it
        if player is not None:
            player.stop()
            discard(player)
        if sink is not None:
            discard(sink)
        self.ended.emit(film, picture)
