"""Thumbnails, decoded in a thread and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container
from functools import partial
from itertools import count
from typing import ClassVar

from PySide6.QtCore import QObject, QThreadPool, Signal
from PySide6.QtGui import QImage

from app.ui.kit.image_decoding import fitted
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool

KEPT_BYTES = 48_000_000  # decoded, of all tabs together: as much as fills a 4K screen, and half of that again
SIZES = 2  # of one image: a list and an inspector show it; what was as large as the window before is not shown again
MAX_WAITING = 96  # a fast scroll asks for thousands; only the newest can still be wanted
_HIGHEST = 2**30  # of what Qt takes as a priority


class ImageCache:
    """Images by owner and key, each in its last `SIZES` faces: a size and a look.

    When all take more than `max_bytes`, the image that was not used for longest goes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, str], dict[str, QImage]] = OrderedDict()  # what was used last at the ends

    def __len__(self) -> int:
        """How many images there are, each face counted."""
        return sum(map(len, self._kept.values()))

    def get(self, owner: int, key: str, face: str) -> QImage | None:
        faces = self._kept.get((owner, key), {})
        if face not in faces:
            return None
        self._kept.move_to_end((owner, key))
        faces[face] = faces.pop(face)
        return faces[face]

    def put(self, owner: int, key: str, face: str, image: QImage) -> None:
        """Keep an image; the newest one stays, whatever its size."""
        faces = self._kept.setdefault((owner, key), {})
        self._kept.move_to_end((owner, key))
        self._drop(faces, face)
        faces[face] = image
        self._bytes += image.sizeInBytes()
        while len(faces) > SIZES:
            self._drop(faces, next(iter(faces)))
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self.drop(*next(iter(self._kept)))

    def drop(self, owner: int, key: str) -> None:
        faces = self._kept.pop((owner, key), {})
        for face in [*faces]:
            self._drop(faces, face)

    def drop_all(self, owner: int) -> None:
        for key in [key for each, key in self._kept if each == owner]:
            self.drop(owner, key)

    def _drop(self, faces: dict[str, QImage], face: str) -> None:
        image = faces.pop(face, None)
        if image is not None:
            self._bytes -= image.sizeInBytes()


class Thumbnails(QObject):
    """`get` returns what is there and begins to make what is not; `loaded` tells the key.

    All share one cache, except those that state a bound: what is on screen pushes out what a hidden tab showed.
    """

    loaded = Signal(str)
    shared: ClassVar = ImageCache(KEPT_BYTES)
    _owners: ClassVar = count()

    def __init__(
        self, parent: QObject | None = None, *, max_bytes: int | None = None, one_thread: bool = False
    ) -> None:
        super().__init__(parent)
        self._cache = self.shared if max_bytes is None else ImageCache(max_bytes)
        self._owner = next(self._owners)
        self.destroyed.connect(partial(self._cache.drop_all, self._owner))
        self._loading: dict[str, None] = {}  # in the order in which they were asked for
        self._turn = 0
        self._pool = QThreadPool.globalInstance()
        if one_thread:  # of a long list: more of them would only take turns with the window's own thread
            self._pool = QThreadPool(self)
            self._pool.setMaxThreadCount(1)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being made."""
        return not self._loading

    def get(
        self,
        key: str,
        width_px: int,
        height_px: int,
        load: Callable[[], bytes],
        finish: Callable[[QImage], QImage] | None = None,
        look: str = "",
    ) -> QImage | None:
        """Return the image that fits, a null one where there is none to be had, None while it is being made.

        `load` runs in a thread; an `OSError` of it means that there is no image. `finish`, in the same thread, makes
        of the fitted image what is kept; `look` names what it depends on. What was asked for last is made first.
        """
        face = f"{width_px}x{height_px}{look}"
        image = self._cache.get(self._owner, key, face)
        if image is not None:
            return image
        name = f"{key}@{face}"
        if name not in self._loading:
            self._loading[name] = None
            while len(self._loading) > MAX_WAITING:
                del self._loading[next(iter(self._loading))]
            self._turn += 1
            work = partial(_made, self._loading, name, width_px, height_px, load, finish)
            take = partial(self._take, name, key, face)
            run_in_pool(self, work, take, pool=self._pool, priority=min(self._turn, _HIGHEST))
        return None

    def _take(self, name: str, key: str, face: str, image: QImage | None) -> None:
        if image is None:
            return
        self._loading.pop(name, None)
        self._cache.put(self._owner, key, face, image)
        self.loaded.emit(key)


def _made(
    wanted: Container[str],
    name: str,
    width_px: int,
    height_px: int,
    load: Callable[[], bytes],
    finish: Callable[[QImage], QImage] | None,
) -> QImage | None:
    """Return the image; None for one that newer ones have pushed out. Runs in a thread of the pool."""
    if name not in wanted:
        return None
    try:
        image = fitted(load(), width_px, height_px)
        return finish(image) if finish is not None and not image.isNull() else image
    except OSError:
        return QImage()
