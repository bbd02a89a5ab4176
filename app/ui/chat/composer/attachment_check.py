"""Looks at the bytes of what is to be attached: what they really are, how large an image is, how to make it smaller.

Names and file endings are not believed. Everything here reads, decodes or encodes: call it in a thread.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QImage

from app.core import number_format
from app.files import read_regular
from app.formats import format_number
from app.media_types import sniff_file
from app.service.http.size_limits import LIMIT_WORDS
from app.text_encoding import NotText, decode_text, decoded_as, is_text, name_of
from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import (
    MAX_BYTES,
    MAX_SHOWN_NAME,
    ODS,
    ODT,
    PDF_BYTES_A_TOKEN,
    SHRUNK_PX,
    SOUND_BYTES_A_TOKEN,
    VIDEO_BYTES_A_TOKEN,
    WORTH_SHRINKING,
    XLSB,
    Attachment,
    DocumentPlace,
    image_tokens,
)
from app.ui.chat.session.estimate import count_tokens
from app.ui.kit.image_decoding import MAX_PIXELS, OWN_FORMS, ImageTooLarge, UndecodableImage, decoded, image_size
from app.ui.kit.image_metadata import NotWhole, check_whole
from app.ui.kit.image_repair import is_bitmap, is_whole_bitmap

MIN_SIDE_PX = 64
JPEG_QUALITY = 85
_CONVERTED = {"gif", "bmp", "tiff"}  # images that the service does not take as they are
_SOUNDS = {"wav": "wav", "mp3": "mp3", "flac": "flac", "ogg": "ogg", "opus": "ogg", "aac": "aac", "m4a": "m4a"}
_VIDEOS = {"mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mpeg": "video/mpeg"}
_PICTURES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp", "heic": "image/heic", "avif": "image/avif"}
_STILL_BRANDS = {b"heic": "heic", b"heix": "heic", b"mif1": "heic", b"msf1": "heic", b"avif": "avif", b"avis": "avif"}
_OFFICE = "application/vnd.openxmlformats-officedocument."
_PACKED = {  # forms that say nothing of what they hold → file ending → media type
    "zip": {
        ".docx": f"{_OFFICE}wordprocessingml.document",
        ".pptx": f"{_OFFICE}presentationml.presentation",
        ".xlsx": f"{_OFFICE}spreadsheetml.sheet",
        ".epub": "application/epub+zip",
        ".odt": ODT,
        ".ods": ODS,
        ".xlsb": XLSB,
    },
    "ole": {
        **dict.fromkeys((".xls", ".docx", ".pptx", ".xlsx"), "application/vnd.ms-excel"),  # the last three: a password
        **dict.fromkeys((".doc", ".ppt"), "application/msword"),  # to be told that they are too old
    },
}
_TEXTS = {".csv": "text/csv", ".md": "text/markdown", ".json": "application/json"}


class NotAttached(Exception):
    """What cannot be attached; `sentence` says why and is shown at the chip."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class AttachmentCheckResult:
    """An attachment without its hash, and the bytes to keep: those of the file, or converted ones.

    `others` are other readings of text whose encoding is a guess.
    """

    attachment: Attachment
    data: bytes
    others: tuple[AttachmentCheckResult, ...] = ()


def read_file(path: Path) -> bytes:
    """Return the bytes of a file that is small enough. Raises `NotAttached`."""
    try:
        if not path.is_file():
            raise NotAttached(tr("Folders cannot be attached."))
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise NotAttached(
                tr("{size} bytes. The limit is {limit_words}.", size=format_number(size), limit_words=LIMIT_WORDS)
            )
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise NotAttached(
            tr("It could not be read: {strerror}.", strerror=error.strerror or tr("no reason given"))
        ) from error


def check(name: str, data: bytes, place: DocumentPlace | None = None) -> AttachmentCheckResult:
    """Return what `data` is, and that it is a document where `place` says so. Raises `NotAttached` with a sentence."""
    name = " ".join(name.split())[:MAX_SHOWN_NAME] or tr("Untitled")
    if not data:
        raise NotAttached(tr("It is empty."))
    if len(data) > MAX_BYTES:
        raise NotAttached(
            tr("{count} bytes. The limit is {limit_words}.", count=format_number(len(data)), limit_words=LIMIT_WORDS)
        )
    kind = form_of(data)
    plain = Attachment("text", name, "text/plain", len(data), "", place=place)
    if kind in _PICTURES or kind in _CONVERTED:
        return _picture(plain, data, kind)
    if kind in _SOUNDS or kind == "aiff":
        return AttachmentCheckResult(_sound(plain, kind), data)
    if kind in _VIDEOS:
        tokens = len(data) // VIDEO_BYTES_A_TOKEN
        return AttachmentCheckResult(plain._replace(kind="video", media_type=_VIDEOS[kind], tokens=tokens), data)
    packed = _PACKED.get(kind, {}).get(Path(name).suffix.lower())
    if kind == "pdf" or packed is not None:
        found = plain._replace(tokens=len(data) // PDF_BYTES_A_TOKEN)
        if packed is None:
            return AttachmentCheckResult(found._replace(kind="pdf", media_type="application/pdf"), data)
        return AttachmentCheckResult(found._replace(kind="document", media_type=packed), data)
    return _text(plain, data)


def form_of(data: bytes) -> str:
    """Return the form of the bytes by how they begin, "" for none that is known."""
    if data[4:8] == b"ftyp" and data[8:12] in _STILL_BRANDS:
        return _STILL_BRANDS[data[8:12]]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and is_text(data):
        return ""  # an MP3 frame may begin with the same two bytes
    for mark, form in (
        (b"%PDF-", "pdf"),
        (b"PK\x03\x04", "zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
        (b"BM", "bmp" if is_bitmap(data) else ""),
        (b"II*\x00", "tiff"),
        (b"MM\x00*", "tiff"),
        (b"\x00\x00\x01\xba", "mpeg"),
        (b"\x00\x00\x01\xb3", "mpeg"),
    ):
        if form and data.startswith(mark):
            return form
    if data[:4] == b"FORM" and data[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    return sniff_file(io.BytesIO(data)) or ""


def _sound(plain: Attachment, form: str) -> Attachment:
    audio_format = _SOUNDS.get(form, "aiff")
    tokens = plain.size // SOUND_BYTES_A_TOKEN
    return plain._replace(kind="audio", media_type=f"audio/{audio_format}", audio_format=audio_format, tokens=tokens)


def of_text(name: str, text: str, place: DocumentPlace | None = None, note: str = "") -> AttachmentCheckResult:
    """Return text of this computer as an attachment; `place` is where in a document it stands."""
    data = text.encode("utf-8", "replace")
    plain = Attachment("text", " ".join(name.split())[:MAX_SHOWN_NAME], "text/plain", len(data), "")
    return AttachmentCheckResult(plain._replace(tokens=count_tokens(text), place=place, note=note), data)


def _text(plain: Attachment, data: bytes) -> AttachmentCheckResult:
    try:
        text, found = decode_text(data)
    except NotText:
        raise NotAttached(
            tr("Rialto can attach images, audio, video, text, PDF, Office files and e-books. This is something else.")
        ) from None
    if found.codec == "utf-8" and not found.mark and not found.bad_bytes:
        return _as_text(plain, text, data)
    if not found.is_guess:
        damaged = tr_n("{n} damaged byte", "{n} damaged bytes", found.bad_bytes) if found.bad_bytes else ""
        return _as_text(plain._replace(note=damaged), text, text.encode())
    readings = []
    for codec in (found.codec, *found.others):
        text = decoded_as(data, codec)
        note = tr("encoding guessed: {encoding}", encoding=name_of(codec))
        readings.append(_as_text(plain._replace(note=note), text, text.encode()))
    return replace(readings[0], others=tuple(readings[1:]))


def _as_text(plain: Attachment, text: str, data: bytes) -> AttachmentCheckResult:
    media_type = _TEXTS.get(Path(plain.name).suffix.lower(), plain.media_type)
    return AttachmentCheckResult(plain._replace(media_type=media_type, size=len(data), tokens=count_tokens(text)), data)


def _picture(plain: Attachment, data: bytes, form: str) -> AttachmentCheckResult:
    size = image_size(data, OWN_FORMS)
    width, height = size.width(), size.height()
    if form not in ("heic", "avif"):  # Qt may lack these; the service does not
        if width <= 0 or height <= 0:
            raise NotAttached(tr("The image is damaged: its size cannot be read."))
        if min(width, height) < MIN_SIDE_PX:
            raise NotAttached(
                tr(
                    "{width} × {height} pixels. Each side needs at least {min_side_px}.",
                    width=width,
                    height=height,
                    min_side_px=MIN_SIDE_PX,
                )
            )
        if width * height > MAX_PIXELS:
            raise NotAttached(
                tr(
                    "{width} × {height} pixels. The limit is 100 million.",
                    width=format_number(width),
                    height=format_number(height),
                )
            )
    if form in _CONVERTED:
        return _converted(plain, data)
    if form not in ("heic", "avif"):
        try:
            check_whole(data, form)
        except NotWhole:
            raise NotAttached(tr("The image is incomplete or damaged.")) from None
    found = plain._replace(
        kind="image",
        media_type=_PICTURES[form],
        width=max(0, width),
        height=max(0, height),
        tokens=image_tokens(width, height),
    )
    return AttachmentCheckResult(found, data)


def _converted(plain: Attachment, data: bytes) -> AttachmentCheckResult:
    if is_bitmap(data) and not is_whole_bitmap(data):
        raise NotAttached(tr("The image is incomplete or damaged."))
    image = _drawn(data)
    return _as_image(plain, image, tr("sent as PNG"))


def shrink(attachment: Attachment, data: bytes) -> AttachmentCheckResult:
    """Return the image no larger than 1,568 px, without what the camera noted. Raises `NotAttached`."""
    whole = QSize(attachment.width, attachment.height)
    side = max(attachment.width, attachment.height)
    wanted = whole * (SHRUNK_PX / side) if side > SHRUNK_PX else None
    return _as_image(
        attachment, _drawn(data, wanted), tr("made smaller, was {size}", size=number_format.size(attachment.size))
    )


def from_clipboard(image: QImage) -> bytes:
    """Return an image of the clipboard as PNG. Raises `NotAttached`."""
    return _written(image, "PNG", -1)


def _as_image(plain: Attachment, image: QImage, note: str) -> AttachmentCheckResult:
    """Encode without loss where that stays small or the image can be seen through, else as JPEG."""
    data = _written(image, "PNG", -1)
    media_type = "image/png"
    if len(data) > WORTH_SHRINKING // 2 and not image.hasAlphaChannel():
        data, media_type = _written(image, "JPEG", JPEG_QUALITY), "image/jpeg"
    found = plain._replace(
        kind="image",
        media_type=media_type,
        size=len(data),
        sha256="",
        width=image.width(),
        height=image.height(),
        tokens=image_tokens(image.width(), image.height()),
        note=note,
    )
    return AttachmentCheckResult(found, data)


def _drawn(data: bytes, wanted: QSize | None = None) -> QImage:
    try:
        return decoded(data, wanted, OWN_FORMS)
    except ImageTooLarge:
        raise NotAttached(tr("The image is too large to be decoded.")) from None
    except UndecodableImage:
        raise NotAttached(tr("The image is damaged and cannot be shown.")) from None


def _written(image: QImage, form: str, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # the binding takes the form as text, its stubs say bytes
    if image.isNull() or not image.save(buffer, form, quality):  # type: ignore[call-overload]
        raise NotAttached(tr("The image cannot be saved."))
    return bytes(buffer.data().data())
