"""Thumbnails, decoded in a thread and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, Signal
from PySide6.QtGui import QImage

from app.ui.kit.image_decoding import fitted
from app.ui.kit.qt_repairs.thread_pool import run_in_pool

KEPT_BYTES = 32_000_000  # decoded: as much as fills a 4K screen, whatever sizes the window had before
SIZES = 2  # of one image: a list and an inspector show it; what was as large as the window before is not shown again
MAX_WAITING = 96  # a fast scroll asks for thousands; only the newest can still be wanted
_HIGHEST = 2**30  # of what Qt takes as a priority


class Thumbnails(QObject):
    """`get` returns what is there and begins to make what is not; `loaded` tells the key."""

    loaded = Signal(str)

    def __init__(self, parent: QObject | None = None, *, max_bytes: int = KEPT_BYTES, one_thread: bool = False) -> None:
        super().__init__(parent)
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, QImage] = OrderedDict()
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
    ) -> QImage | None:
        """Return the image that fits, a null one where there is none to be had, None while it is being made.

        `load` runs in a thread; an `OSError` of it means that there is no image. `finish`, in the same thread, makes
        of the fitted image what is kept. What was asked for last is made first.
        """
        key = f"{key}@{width_px}x{height_px}"
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
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
            self._drop(kept)

    def _sizes(self, key: str) -> list[str]:
        """The names under which an image is kept, the one used last at the end."""
        return [name for name in self._kept if name.rpartition("@")[0] == key]

    def _take(self, key: str, image: QImage | None) -> None:
        if image is None:
            return
        self._loading.pop(key, None)
        if key in self._kept:
            self._drop(key)
        self._kept[key] = image
        self._bytes += image.sizeInBytes()
        of = key.rpartition("@")[0]
        for older in self._sizes(of)[:-SIZES]:
            self._drop(older)
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))
        self.loaded.emit(of)

    def _drop(self, key: str) -> None:
        self._bytes -= self._kept.pop(key).sizeInBytes()


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
