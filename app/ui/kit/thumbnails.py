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
from app.ui.kit.qt_repairs.thread_pool import run_in_pool

KEPT_BYTES = 48_000_000  # decoded, of all tabs together: as much as fills a 4K screen, and half of that again
SIZES = 2  # of one image: a list and an inspector show it; what was as large as the window before is not shown again
MAX_WAITING = 96  # a fast scroll asks for thousands; only the newest can still be wanted
_HIGHEST = 2**30  # of what Qt takes as a priority


class ImageCache:
    """Images by owner and name; what was not used for longest goes when they take more than `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, str], QImage] = OrderedDict()  # the one used last at the end

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, owner: int, name: str) -> QImage | None:
        if (owner, name) not in self._kept:
            return None
        self._kept.move_to_end((owner, name))
        return self._kept[owner, name]

    def put(self, owner: int, name: str, image: QImage) -> None:
        """Keep an image; the newest one stays, whatever its size."""
        self.drop(owner, name)
        self._kept[owner, name] = image
        self._bytes += image.sizeInBytes()
        while self._bytes > self.max_bytes and len(self._kept) > 1:
            self.drop(*next(iter(self._kept)))

    def names(self, owner: int) -> list[str]:
        """The names of an owner's images, the one used last at the end."""
        return [name for each, name in self._kept if each == owner]

    def drop(self, owner: int, name: str) -> None:
        image = self._kept.pop((owner, name), None)
        if image is not None:
            self._bytes -= image.sizeInBytes()

    def drop_all(self, owner: int) -> None:
        for name in self.names(owner):
            self.drop(owner, name)


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
        key = f"{key}@{width_px}x{height_px}{look}"
        image = self._cache.get(self._owner, key)
        if image is not None:
            return image
        if key not in self._loading:
            self._loading[key] = None
            while len(self._loading) > MAX_WAITING:
                del self._loading[next(iter(self._loading))]
            self._turn += 1
            work = partial(_made, self._loading, key, width_px, height_px, load, finish)
            run_in_pool(self, work, partial(self._take, key), pool=self._pool, priority=min(self._turn, _HIGHEST))
        return None

    def forget(self, key: str) -> None:
        """Make an image anew when it is next asked for, in whatever size."""
        for kept in self._sizes(key):
            self._cache.drop(self._owner, kept)

    def _sizes(self, key: str) -> list[str]:
        """The names under which an image is kept, in each size and look; the one used last at the end."""
        return [name for name in self._cache.names(self._owner) if name.rpartition("@")[0] == key]

    def _take(self, key: str, image: QImage | None) -> None:
        if image is None:
            return
        self._loading.pop(key, None)
        self._cache.put(self._owner, key, image)
        of = key.rpartition("@")[0]
        for older in self._sizes(of)[:-SIZES]:
            self._cache.drop(self._owner, older)
        self.loaded.emit(of)


def _made(
    wanted: Container[str],
    key: str,
    width_px: int,
    height_px: int,
    load: Callable[[], bytes],
    finish: Callable[[QImage], QImage] | None,
) -> QImage | None:
    """Return the image; None for one that newer ones have pushed out. Runs in a thread of the pool."""
    if key not in wanted:
        return None
    try:
        image = fitted(load(), width_px, height_px)
        return finish(image) if finish is not None and not image.isNull() else image
    except OSError:
        return QImage()
