"""What is done to images themselves: checking, shrinking, cutting to a tile, putting an edit behind its mask.

Everything here runs in threads, on bytes that strangers made.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath

from app import files
from app.ui.kit.image_decoding import UndecodableImage, decoded, fitted

THUMBNAIL_PX = 720  # the longer side of what the gallery keeps
QUALITY = 86


def checked_size(data: bytes) -> tuple[int, int]:
    """Decode an image from end to end and return its width and height in pixels. Raises `UndecodableImage`."""
    image = decoded(data)
    return image.width(), image.height()


def thumbnail(data: bytes) -> bytes:
    """Return a small image as JPEG, or PNG where it is clear in places; b"" for what cannot be drawn."""
    image = fitted(data, THUMBNAIL_PX, THUMBNAIL_PX)
    return b"" if image.isNull() else encoded(image, "PNG" if image.hasAlphaChannel() else "JPG")


def small_image(source: Path, cache: Path) -> Path:
    """Where the small image of a file lies, or will."""
    return cache / f"{source.stem}.thumb"


def read_thumbnail(source: Path, cache: Path) -> bytes:
    """Return the small image of a file, made once and kept in the folder `cache` where that takes it.

    Several threads may ask for the same one at once. Raises `OSError` when the file itself cannot be read.
    """
    cached = small_image(source, cache)
    try:
        return cached.read_bytes()
    except OSError:
        small = thumbnail(source.read_bytes())
    with contextlib.suppress(OSError):
        if small:
            cached.parent.mkdir(parents=True, exist_ok=True)
            part = cached.with_suffix(f".{threading.get_ident()}.part")
            part.write_bytes(small)
            files.replace(part, cached)
    return small


def tile(image: QImage, size: QSize, radius: float, ground: QColor | None = None, face: QColor | None = None) -> QImage:
    """Return the whole image in `size` (device pixels), with round corners.

    `face` is seen where the image has another shape. The corners are clear, or show the `ground`; then all of it is
    opaque, and drawn several times as fast.
    """
    if image.isNull() or size.isEmpty():
        return QImage()
    clear = QImage.Format.Format_ARGB32_Premultiplied
    found = QImage(size, clear if ground is None else QImage.Format.Format_RGB32)
    found.fill(Qt.GlobalColor.transparent if ground is None else ground)
    painter = QPainter(found)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    path = QPainterPath()
    path.addRoundedRect(QRectF(0, 0, size.width(), size.height()), radius, radius)
    painter.setClipPath(path)
    if face is not None:
        painter.fillRect(found.rect(), face)
    scaled = image.size().scaled(size, Qt.AspectRatioMode.KeepAspectRatio)
    place = QRect(0, 0, scaled.width(), scaled.height())
    place.moveCenter(QRect(0, 0, size.width(), size.height()).center())
    painter.drawImage(place, image)
    painter.end()
    return found


def composite_with_mask(before: bytes, after: bytes, mask: bytes) -> bytes:
    """Return `before` with `after` where the mask is painted, as PNG in the size of `before`. Raises
    `UndecodableImage`.

    `mask` is a PNG whose clear places are kept; it and `after` may have other sizes and are stretched.
    """
    base = decoded(before).convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    changed = decoded(after).convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    shape = decoded(mask).convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    whole = QRect(0, 0, base.width(), base.height())
    layer = QImage(base.size(), QImage.Format.Format_ARGB32_Premultiplied)
    layer.fill(Qt.GlobalColor.transparent)
    painter = QPainter(layer)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(whole, changed)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
    painter.drawImage(whole, shape)
    painter.end()
    painter = QPainter(base)
    painter.drawImage(0, 0, layer)
    painter.end()
    return encoded(base, "PNG")


def encoded(image: QImage, form: str) -> bytes:
    """Return the bytes of an image; `form` is a name that Qt writes ("PNG", "JPG"). Raises `UndecodableImage`."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, form, QUALITY if form == "JPG" else -1):  # type: ignore[call-overload]  # a str is what Qt takes
        raise UndecodableImage
    data: QByteArray = buffer.data()
    return bytes(data.data())
