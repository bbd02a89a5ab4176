"""Small pictures of large ones, decoded in a thread and kept while they are likely to be looked at again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QObject, QThreadPool, Signal
from PySide6.QtGui import QImage

MAX_KEPT = 64


class Thumbnails(QObject):
    """`get` returns what is there and begins to make what is not; `loaded` tells the key."""

    loaded = Signal(str)
    _made = Signal(str, QImage)  # key, picture; sent from the thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[str, QImage] = OrderedDict()
        self._loading: set[str] = set()
        self._made.connect(self._take)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being made."""
        return not self._loading

    def get(self, key: str, width_px: int, height_px: int, load: Callable[[], bytes]) -> QImage | None:
        """Return the picture that fits, a null one where there is none to be had, None while it is being made.

        `load` runs in a thread; an `OSError` of it means that there is no picture.
        """
        key = f"{key}@{width_px}x{height_px}"
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._loading:
            self._loading.add(key)
            QThreadPool.globalInstance().start(lambda: self._make(key, width_px, height_px, load))
        return None

    def _make(self, key: str, width_px: int, height_px: int, load: Callable[[], bytes]) -> None:
        """Runs in a thread of the pool."""
        from app.ui.shared.picture_decoding import fitted

        try:
            image = fitted(load(), width_px, height_px)
        except OSError:
            image = QImage()
        try:
            self._made.emit(key, image)
        except RuntimeError:
            return  # the window was closed meanwhile

    def _take(self, key: str, image: QImage) -> None:
        self._loading.discard(key)
        self._kept[key] = image
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        self.loaded.emit(key.rpartition("@")[0])
