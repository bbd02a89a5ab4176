"""Loads the images that the person allowed, at most four at a time; everything else is drawn from the name.

What was loaded once is kept in the cache folder, so that it is there at once next time and without a network.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QImage, QPixmap

from app.ui.kit.discard import discard

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply

MAX_BYTES = 4_000_000
MAX_KEPT = 300
MAX_CACHE_BYTES = 64 * 1024 * 1024
AT_ONCE = 4
TIMEOUT_MS = 15_000
SIDE = 288  # px kept: 72 px at 200 % text on a screen of double resolution


class CharacterImages(QObject):
    """`get` returns what is there and fetches what is missing; `arrived` tells the address.

    No cookies, no credentials, no redirects to other hosts; what is no image stays drawn.
    """

    arrived = Signal(str)

    def __init__(self, parent: QObject | None = None, cache: Path | None = None) -> None:
        """`cache` is the folder for what was loaded; None keeps nothing on the disk."""
        super().__init__(parent)
        self._cache = cache
        self._kept: OrderedDict[str, QPixmap | None] = OrderedDict()
        self._wanted: OrderedDict[str, None] = OrderedDict()
        self._loading: dict[str, QNetworkReply] = {}
        self._network: QNetworkAccessManager | None = None

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
        for reply in tuple(self._loading.values()):
            reply.abort()
        self._kept.clear()

    def forget_all(self) -> None:
        """Consent was taken back: delete what lies in the cache folder as well."""
        self.forget()
        cache = self._manager().cache() if self._cache is not None else None
        if cache is not None:
            cache.clear()

    def _manager(self) -> QNetworkAccessManager:
        from PySide6.QtNetwork import QNetworkAccessManager, QNetworkDiskCache

        if self._network is None:
            self._network = QNetworkAccessManager(self)
            self._network.setTransferTimeout(TIMEOUT_MS)
            if self._cache is not None:
                disk = QNetworkDiskCache(self._network)
                disk.setCacheDirectory(str(self._cache))
                disk.setMaximumCacheSize(MAX_CACHE_BYTES)
                self._network.setCache(disk)
        return self._network

    def _load_next(self) -> None:
        from PySide6.QtNetwork import QNetworkRequest

        network = self._manager()
        while self._wanted and len(self._loading) < AT_ONCE:
            url, _ = self._wanted.popitem()  # the newest first: it is what is on screen now
            request = QNetworkRequest(QUrl(url))
            policy = QNetworkRequest.RedirectPolicy.SameOriginRedirectPolicy
            request.setAttribute(QNetworkRequest.Attribute.RedirectPolicyAttribute, policy)
            manual = QNetworkRequest.LoadControl.Manual
            request.setAttribute(QNetworkRequest.Attribute.CookieLoadControlAttribute, manual)
            request.setAttribute(QNetworkRequest.Attribute.CookieSaveControlAttribute, manual)
            request.setAttribute(QNetworkRequest.Attribute.AuthenticationReuseAttribute, manual)
            prefer = QNetworkRequest.CacheLoadControl.PreferCache
            request.setAttribute(QNetworkRequest.Attribute.CacheLoadControlAttribute, prefer)
            reply = network.get(request)
            self._loading[url] = reply
            # Methods, not lambdas: one that holds this object would let go of it while the reply is being destroyed,
            # and this object's end destroys its replies: the same one a second time.
            reply.downloadProgress.connect(self._progressed)
            reply.finished.connect(self._finished)

    def _progressed(self, so_far: int, total: int) -> None:
        from PySide6.QtNetwork import QNetworkReply

        reply = self.sender()
        if isinstance(reply, QNetworkReply) and max(so_far, total) > MAX_BYTES:
            reply.abort()

    def _finished(self) -> None:
        from PySide6.QtNetwork import QNetworkReply

        reply = self.sender()
        url = next((url for url, each in self._loading.items() if each is reply), None)
        if not isinstance(reply, QNetworkReply) or url is None:
            return
        del self._loading[url]
        ok = reply.error() == QNetworkReply.NetworkError.NoError
        self._keep(url, image_from(reply.read(MAX_BYTES)) if ok else None)
        discard(reply)
        self._load_next()

    def _keep(self, url: str, image: QPixmap | None) -> None:
        self._kept[url] = image
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        if image is not None:
            self.arrived.emit(url)


def image_from(content: QByteArray) -> QPixmap | None:
    """Decode, cut to a square and shrink; None for what is no image."""
    image = QImage.fromData(content)
    if image.isNull():
        return None
    side = min(image.width(), image.height())
    square = image.copy((image.width() - side) // 2, (image.height() - side) // 2, side, side)
    if side > SIDE:
        smooth = Qt.TransformationMode.SmoothTransformation
        square = square.scaled(QSize(SIDE, SIDE), Qt.AspectRatioMode.KeepAspectRatio, smooth)
    return QPixmap.fromImage(square)
