"""Loads the images that the person allowed, at most four at a time; everything else is drawn from the name.

Their authors chose the addresses. What was loaded once is kept in the cache folder, so that it is there at once next
time and without a network.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from app.files import remove, replace
from app.service.errors import ServiceError
from app.service.http.anonymous_client import AnonymousClient
from app.ui.kit.image_decoding import fitted, image_size

if TYPE_CHECKING:
    from pathlib import Path

    from app.core.tasks import TaskScope
    from app.service.http.network import Network

MAX_BYTES = 4_000_000
MAX_KEPT = 300
MAX_CACHE_BYTES = 64 * 1024 * 1024
CACHED_S = 30 * 24 * 3600.0
AT_ONCE = 4
WITHIN_S = 15.0
SIDE = 288  # px kept: 72 px at 200 % text on a screen of double resolution


class CharacterImages(QObject):
    """`get` returns what is there and fetches what is missing; `arrived` names the address."""

    arrived = Signal(str)

    def __init__(
        self,
        network: Network,
        tasks: TaskScope,
        parent: QObject | None = None,
        *,
        asked: Callable[[str], object] = lambda _host: None,
        cache: Path | None = None,
    ) -> None:
        """`asked` is called with the host of each request. Without a `cache` folder nothing is kept on the disk."""
        super().__init__(parent)
        self._client = AnonymousClient(network, WITHIN_S, asked)
        self._tasks = tasks
        self._cache = cache
        self._kept: OrderedDict[str, QPixmap | None] = OrderedDict()
        self._wanted: OrderedDict[str, None] = OrderedDict()
        self._loading: set[str] = set()

    async def aclose(self) -> None:
        """Close the connections."""
        self.forget()
        await self._client.aclose()

    def get(self, url: str) -> QPixmap | None:
        """The image, or None while it is drawn."""
        if not url:
            return None
        if url in self._kept:
            self._kept.move_to_end(url)
            return self._kept[url]
        if url not in self._loading:
            self._wanted[url] = None
            self._wanted.move_to_end(url)
            self._load_next()
        return None

    def forget(self) -> None:
        """Stop loading and drop what was loaded: consent was taken back, or the account is another one."""
        self._wanted.clear()
        for url in self._loading:
            self._tasks.cancel(_task(url))
        self._loading.clear()
        self._kept.clear()

    def forget_all(self) -> None:
        """Consent was taken back: delete the files in the cache folder as well."""
        self.forget()
        if self._cache is not None:
            self._tasks.replace("character images", self._empty, self._cache)

    async def _empty(self, cache: Path) -> None:
        await asyncio.to_thread(_remove, cache, 0)

    def _load_next(self) -> None:
        while self._wanted and len(self._loading) < AT_ONCE:
            url, _ = self._wanted.popitem()  # the newest first: it is what is on screen now
            self._loading.add(url)
            self._tasks.replace(_task(url), self._load, url)

    async def _load(self, url: str) -> None:
        image = QImage()
        try:
            cached = self._cache / hashlib.sha256(url.encode()).hexdigest() if self._cache is not None else None
            data = await asyncio.to_thread(_read, cached) if cached is not None else b""
            if not data:
                data = await self._client.get(url, MAX_BYTES)
                if cached is not None:
                    await asyncio.to_thread(_write, cached, data)
            image = await asyncio.to_thread(square_image, data)
        except ServiceError:
            pass  # it stays drawn
        if url not in self._loading:
            return
        self._loading.discard(url)
        self._keep(url, None if image.isNull() else QPixmap.fromImage(image))
        self._load_next()

    def _keep(self, url: str, image: QPixmap | None) -> None:
        self._kept[url] = image
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        if image is not None:
            self.arrived.emit(url)


def square_image(data: bytes) -> QImage:
    """Decode, cut to a square and shrink; a null image for anything that is no image."""
    size = image_size(data)
    if not size.isValid() or size.isEmpty():
        return QImage()
    box = size.scaled(QSize(SIDE, SIDE), Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    image = fitted(data, box.width(), box.height())
    side = min(image.width(), image.height())
    return image.copy((image.width() - side) // 2, (image.height() - side) // 2, side, side)


def _task(url: str) -> str:
    return f"character-image:{url}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if time.time() - path.stat().st_mtime < CACHED_S else b""
    except OSError:
        return b""


def _write(path: Path, data: bytes) -> None:
    """Keep a file, and room for it. A disk that refuses costs only the next download."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(data)
        replace(part, path)
    _remove(path.parent, MAX_CACHE_BYTES)


def _remove(folder: Path, most_bytes: int) -> None:
    """Delete the oldest files until the rest takes at most so much."""
    with contextlib.suppress(OSError):
        files = sorted(((about.st_mtime, about.st_size, path) for path, about in _files(folder)), reverse=True)
        used = 0
        for _, size, path in files:
            used += size
            if used > most_bytes:
                remove(path)


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in folder.iterdir():
        yield path, path.stat()
