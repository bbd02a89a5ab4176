"""Attachments of a message: their kind, which models take them, how they are sent. Plain values, no Qt, no disk.

Limits and media types: service specification, chat completions, content parts (R-CHAT-05, R-CHAT-11..14).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from app.core import number_format
from app.formats import format_number
from app.service.http.size_limits import LIMIT_WORDS, MAX_UPLOAD_BYTES
from app.translation import tr, tr_n
from app.ui.conversation.attachment_kinds import KINDS, WORDS, Kind

if TYPE_CHECKING:
    from app.service.chat_types import ContentPart
    from app.service.http.base64_text import Base64Text
    from app.service.models import Model

MAX_BYTES = MAX_UPLOAD_BYTES
MAX_ALL_BYTES = MAX_UPLOAD_BYTES  # of one message: base64 adds a third, and a request may have 35 MB
MAX_SHOWN_NAME = 120
SHRUNK_PX = 1_568  # larger images are cut down by the models anyway
WORTH_SHRINKING = 1_000_000  # bytes
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
READ_HERE_ONLY = frozenset((ODT, ODS, XLSB))  # the service does not read them
_FILES: tuple[Kind, ...] = ("text", "pdf", "document")
MOST_OF: Mapping[str, tuple[tuple[Kind, ...], int, str]] = {
    "image": (("image",), 10, tr("Up to 10 images per message.")),
    "audio": (("audio",), 5, tr("Up to 5 audio files per message.")),
    "video": (("video",), 3, tr("Up to 3 videos per request.")),
    **dict.fromkeys(_FILES, (_FILES, 5, tr("Up to 5 files per message."))),
}
_WITH_PASSAGES = tr("Up to 5 files per message. Passages together count as one.")
_CANNOT: Mapping[str, tuple[str, str]] = {
    "image": ("supports_vision", tr("cannot see images")),
    "audio": ("supports_audio_input", tr("cannot listen to audio")),
    "video": ("supports_video_input", tr("cannot watch videos")),
}
# An image is cut into tiles of 512 px; each counts like 170 tokens and the whole like 85 more (public rule of thumb).
TILE_PX, TILE_TOKENS, IMAGE_TOKENS, MOST_TILES = 512, 170, 85, 16
SOUND_BYTES_A_TOKEN = 500
VIDEO_BYTES_A_TOKEN = 400
PDF_BYTES_A_TOKEN = 12  # of office files and books as well, which are packed like it
_HASH = re.compile(r"[0-9a-f]{64}")
CACHE_FROM_TOKENS = 1_024  # shorter pieces are not cached by the models that say what they cache
MAX_CACHE_MARKS = 4


class DocumentPlace(NamedTuple):
    """Where in a project's documents an attached text is from. `first` and `last` are 0 for the whole document."""

    path: str  # full on the computer where it was attached; a name alone in what was imported
    first: int = 0
    last: int = 0

    @classmethod
    def from_dict(cls, stored: object) -> DocumentPlace | None:
        """Read a stored one; None when it cannot be used."""
        if not isinstance(stored, Mapping) or not isinstance(stored.get("path"), str):
            return None
        return cls(stored["path"], _positive(stored.get("first")), _positive(stored.get("last")))


class Attachment(NamedTuple):
    """One attachment; its bytes are on the disk under `sha256`. `tokens` is an estimate, `note` what was done to it."""

    kind: Kind
    name: str
    media_type: str
    size: int
    sha256: str
    width: int = 0
    height: int = 0
    tokens: int = 0
    audio_format: str = ""
    note: str = ""
    place: DocumentPlace | None = None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Attachment | None:
        """Read a stored one; None when it cannot be used."""
        values = {name: stored.get(name, cls._field_defaults.get(name)) for name in cls._fields}
        if values["kind"] not in KINDS:
            return None
        for name in ("size", "width", "height", "tokens"):
            values[name] = _positive(values[name])
        for name in ("name", "media_type", "audio_format", "note"):
            values[name] = values[name] if isinstance(values[name], str) else ""
        if not isinstance(values["sha256"], str) or not _HASH.fullmatch(values["sha256"]):
            values["sha256"] = ""  # the bytes are not on this computer
        values["place"] = DocumentPlace.from_dict(values["place"])
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        stored = {name: value for name, value in self._asdict().items() if value not in ("", 0, None)}
        return stored if self.place is None else {**stored, "place": self.place._asdict()}

    @property
    def is_excerpt(self) -> bool:
        """Whether it is a passage of a document. All those of a message are sent in one file."""
        return self.kind == "text" and self.place is not None and self.place.first > 0

    @property
    def detail(self) -> str:
        """`1.2 MB, 2,048 × 1,536`, and what was done to it."""
        parts = [number_format.size(self.size)]
        if self.width and self.height:
            parts.append(f"{format_number(self.width)} × {format_number(self.height)}")
        parts += [self.note] if self.note else []
        return ", ".join(parts)


def _positive(number: object) -> int:
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else 0


def attachments_of(stored: Sequence[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    """Read a stored list; what cannot be used is left out."""
    return tuple(found for each in stored if (found := Attachment.from_dict(each)) is not None)


def why_refused(attachment: Attachment, model: Model | None) -> str:
    """The sentence for an attachment that the model does not take, "" for one that it does (R-CHAT-11..13)."""
    capability, words = _CANNOT.get(attachment.kind, ("", ""))
    if model is None or not capability or getattr(model.capabilities, capability):
        return ""
    return f"{model.name} {words}."


def refusals(attachments: Sequence[Attachment], model: Model | None) -> tuple[str, ...]:
    """A sentence for each attachment of one message, "" for those that can go along."""
    counted: dict[tuple[Kind, ...], int] = {}
    found: list[str] = []
    total = 0
    has_excerpts = False
    for each in attachments:
        kinds, most, sentence = MOST_OF[each.kind]
        if not (each.is_excerpt and has_excerpts):
            counted[kinds] = counted.get(kinds, 0) + 1
        has_excerpts = has_excerpts or each.is_excerpt
        total += each.size
        refused = why_refused(each, model)
        if not refused and counted[kinds] > most:
            refused = _WITH_PASSAGES if has_excerpts and kinds == _FILES else sentence
        if not refused and each.kind == "image" and counted[kinds] > most_images(model):
            number, name = most_images(model), model.name if model is not None else tr("The model")
            refused = tr_n(
                "{name} allows {n} image per message.", "{name} allows {n} images per message.", number, name=name
            )
        if not refused and total > MAX_ALL_BYTES:
            refused = tr("Attachments can total up to {limit_words}.", limit_words=LIMIT_WORDS)
        found.append(refused)
    return tuple(found)


def most_images(model: Model | None) -> int:
    """How many images one message may have for this model."""
    most = MOST_OF["image"][1]
    if model is None:
        return most
    if not model.capabilities.supports_multiple_images:
        return 1
    return min(most, model.capabilities.max_images or most)


def can_shrink(attachment: Attachment) -> bool:
    """Tell whether an image is worth making smaller."""
    if attachment.kind != "image" or not attachment.width or "smaller" in attachment.note:
        return False
    return max(attachment.width, attachment.height) > SHRUNK_PX or attachment.size > WORTH_SHRINKING


def image_tokens(width: int, height: int) -> int:
    """About how many tokens an image counts; the most when its size is not known."""
    if not width or not height:
        return IMAGE_TOKENS + MOST_TILES * TILE_TOKENS
    tiles = math.ceil(width / TILE_PX) * math.ceil(height / TILE_PX)
    return IMAGE_TOKENS + min(MOST_TILES, tiles) * TILE_TOKENS


def part_of(attachment: Attachment, data: str | Base64Text, *, cache: bool = False) -> ContentPart:
    """The content part that carries the bytes, or words instead of them."""
    from app.service.chat_types import ContentPart

    if attachment.kind == "audio":
        return ContentPart.of_audio(data, attachment.audio_format or "wav", cache=cache)
    head = f"data:{attachment.media_type};base64,"
    address = head + data if isinstance(data, str) else data.behind(head)
    if attachment.kind == "image":
        return ContentPart.of_image(address, cache=cache)
    if attachment.kind == "video":
        return ContentPart.of_video(address, cache=cache)
    return ContentPart.of_file(address, attachment.name or None, cache=cache)


def stand_in(attachment: Attachment, sentence: str) -> ContentPart:
    """What stands in an earlier turn for an attachment that the model of now does not take."""
    from app.service.chat_types import ContentPart

    return ContentPart.of_text(f"[{WORDS[attachment.kind]} “{attachment.name}” is left out: {sentence}]")


def outline_of(attachment: Attachment, *, cache: bool = False) -> ContentPart:
    """The same part without the bytes, saying how many there are: for the Request page, and until it is sent."""
    return part_of(attachment, f"… {number_format.size(attachment.size)}", cache=cache)


def cached_ones(groups: Sequence[tuple[Attachment, ...]]) -> frozenset[tuple[int, int]]:
    """Which attachments of a branch are marked for the cache: the first four long ones, as (turn, place).

    The first ones, because what is marked in an early turn must not change when later turns come (R-CHAT-05).
    """
    found = [
        (turn, place)
        for turn, group in enumerate(groups)
        for place, each in enumerate(group)
        if each.tokens >= CACHE_FROM_TOKENS
    ]
    return frozenset(found[:MAX_CACHE_MARKS])
