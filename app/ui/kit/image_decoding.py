"""Decodes untrusted images: bounded in pixels and scaled to fit a square."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader, QTransform

from app.ui.kit.image_metadata import orientation_of
from app.ui.kit.image_repair import repaired

MAX_PIXELS = 100_000_000
MAX_MEGABYTES = 400  # of one decoded image: the most pixels with 32 bits each
WEB_FORMS = frozenset({"png", "jpeg", "jpg", "gif", "webp", "heic", "heif", "avif"})  # never SVG
OWN_FORMS = WEB_FORMS | {"bmp", "tiff"}  # of a person's own files; no service sends these, and a decoder less is safer
_TURNED = QImageIOHandler.Transformation.TransformationRotate90
_UPRIGHT = {  # orientation of EXIF → what turns the image as it is looked at
    2: QTransform(-1, 0, 0, 1, 0, 0),
    3: QTransform(-1, 0, 0, -1, 0, 0),
    4: QTransform(1, 0, 0, -1, 0, 0),
    5: QTransform(0, 1, 1, 0, 0, 0),
    6: QTransform(0, 1, -1, 0, 0, 0),
    7: QTransform(0, -1, -1, 0, 0, 0),
    8: QTransform(0, -1, 1, 0, 0, 0),
}


class UndecodableImage(Exception):
    """The bytes cannot be drawn."""


class ImageTooLarge(UndecodableImage):
    """The image may be whole, but takes more memory than one image may take."""


def image_size(data: bytes, forms: frozenset[str] = WEB_FORMS) -> QSize:
    """Return width and height as the image is looked at, turned as its camera says; -1 × -1 when they are unknown."""
    reader, buffer = _reader(data)
    size = reader.size() if _form(reader) in forms else QSize()
    turned = _is_turned(reader, data)
    buffer.close()
    return size.transposed() if turned and size.isValid() else size


def decoded(data: bytes, wanted: QSize | None = None, forms: frozenset[str] = WEB_FORMS) -> QImage:
    """Return the image, in the size `wanted` when one is given. Raises `UndecodableImage`."""
    reader, buffer = _reader(data)
    size = reader.size()
    image = QImage()
    bits = max(32, QImage.toPixelFormat(reader.imageFormat()).bitsPerPixel())  # what Qt counts with
    if size.width() * size.height() > MAX_PIXELS or size.width() * size.height() * bits // 8 > MAX_MEGABYTES * 2**20:
        buffer.close()
        raise ImageTooLarge
    if _form(reader) in forms:
        if wanted is not None:
            reader.setScaledSize(wanted.transposed() if _is_turned(reader, data) else wanted)
        upright = _UPRIGHT.get(_orientation(reader, data))
        image = reader.read()
        if upright is not None:
            image = image.transformed(upright)
    buffer.close()
    if image.isNull():
        raise UndecodableImage
    return image


def fitted(data: bytes, width_px: int, height_px: int) -> QImage:
    """Return the image no larger than that, its shape kept; a null image for what cannot be drawn."""
    size = image_size(data)
    if not size.isValid():
        return QImage()
    wanted = size.scaled(width_px, height_px, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
    try:
        return decoded(data, wanted if wanted.width() < size.width() else None)
    except UndecodableImage:
        return QImage()


def _form(reader: QImageReader) -> str:
    return bytes(reader.format().data()).decode("ascii", "replace").lower()


def _is_turned(reader: QImageReader, data: bytes) -> bool:
    """Whether width and height change places."""
    return bool(reader.transformation() & _TURNED) or _orientation(reader, data) > 4


def _orientation(reader: QImageReader, data: bytes) -> int:
    """Return the orientation of forms of which Qt does not read it; 1 is upright."""
    form = _form(reader)
    return orientation_of(data, form) if form in ("png", "webp") else 1


def _reader(data: bytes) -> tuple[QImageReader, QBuffer]:
    buffer = QBuffer()
    buffer.setData(QByteArray(repaired(data)))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    QImageReader.setAllocationLimit(MAX_MEGABYTES)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    reader.setDecideFormatFromContent(True)
    return reader, buffer
