"""The turns of a branch as they are sent: text and attachments. Bytes are read only when a request is really sent.

Until then a part says which attachment it stands for, so that a request can be built, shown and kept for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.service.chat_types import ChatMessage, ChatRequest, ContentPart
from app.service.http.base64_text import Base64Text
from app.ui.chat.composer.attachment import (
    Attachment,
    attachments_of,
    cached_ones,
    outline_of,
    part_of,
    stand_in,
    why_refused,
)

if TYPE_CHECKING:
    from app.service.models import Model
    from app.storage.attachment_files import AttachmentFiles
    from app.storage.chat_rows import Message

PASSAGES_NAME = "Passages.txt"
_LIKE_A_PASSAGE = re.compile(rb"^## Passage \d", re.MULTILINE)  # a line of a document, which must not begin another
Excerpts = tuple[tuple[int, Attachment], ...]  # passages of documents, each with the number that cites it


@dataclass(frozen=True, slots=True)
class AttachedPart(ContentPart):
    """A part whose bytes are still on the disk. `excerpts` are what its file is made of."""

    attachment: Attachment | None = None
    excerpts: Excerpts = ()

    @classmethod
    def of(cls, attachment: Attachment, excerpts: Excerpts = (), *, cache: bool = False) -> AttachedPart:
        outline = outline_of(attachment, cache=cache)
        return cls(outline.type, outline.value, cache, attachment, excerpts)

    def data(self, files: AttachmentFiles) -> bytes:
        """Read what it stands for. Raises `StorageError`."""
        if not self.excerpts:
            return files.read(self.attachment.sha256) if self.attachment is not None else b""
        return b"\n\n".join(
            f"## Passage {number}: {each.name}\n\n".encode() + _LIKE_A_PASSAGE.sub(rb"\\\g<0>", files.read(each.sha256))
            for number, each in self.excerpts
        )


def user_messages(
    branch: Sequence[Message], model: Model | None = None, *, cache: bool = False
) -> dict[str, ChatMessage]:
    """Return the turns of a branch that carry attachments, by message id.

    What the model does not take is replaced by a sentence that says so. A turn is written the same each time, so that
    caches keep hitting. Passages go in one file: a message may have five (R-AUG-10), and as text of the message the
    service would open the links in them (R-EXT-10).
    """
    turns = [(message, _as_sent(attachments_of(message.attachments))) for message in branch if message.attachments]
    marked = cached_ones([tuple(each for each, _ in group) for _, group in turns]) if cache else frozenset()
    found: dict[str, ChatMessage] = {}
    for turn, (message, group) in enumerate(turns):
        parts: list[ContentPart] = [ContentPart.of_text(message.content)] if message.content else []
        for place, (each, excerpts) in enumerate(group):
            refused = why_refused(each, model)
            if refused:
                parts.append(stand_in(each, refused))
            else:
                parts.append(AttachedPart.of(each, excerpts, cache=(turn, place) in marked))
        if parts:
            found[message.id] = ChatMessage("user", tuple(parts))
    return found


def _as_sent(group: Sequence[Attachment]) -> list[tuple[Attachment, Excerpts]]:
    """Each file of a message, with what it is made of: all its passages are one, at the place of the first."""
    found: list[tuple[Attachment, Excerpts]] = [(each, ()) for each in group if not each.is_excerpt]
    excerpts = tuple(pair for pair in _numbered(group) if pair[1].is_excerpt)
    if excerpts:
        size, tokens = sum(each.size for _, each in excerpts), sum(each.tokens for _, each in excerpts)
        file = Attachment("text", PASSAGES_NAME, "text/plain", size, "", tokens=tokens)
        found.insert(next(place for place, each in enumerate(group) if each.is_excerpt), (file, excerpts))
    return found


def _numbered(group: Sequence[Attachment]) -> Iterator[tuple[int, Attachment]]:
    """What is from documents, counted as answers cite it."""
    return enumerate((each for each in group if each.place is not None), 1)


def has_attachments(request: ChatRequest) -> bool:
    """Whether bytes have to be read before the request can be sent."""
    return any(isinstance(part, AttachedPart) for message in request.messages for part in _parts(message))


def filled(request: ChatRequest, files: AttachmentFiles) -> ChatRequest:
    """Return the request with the bytes in it. Raises `StorageError`. Reads and encodes: call it in a thread."""
    return replace(request, messages=tuple(_filled(message, files) for message in request.messages))


def _filled(message: ChatMessage, files: AttachmentFiles) -> ChatMessage:
    if not any(isinstance(part, AttachedPart) for part in _parts(message)):
        return message
    parts = [
        part_of(part.attachment, Base64Text.of(part.data(files)), cache=part.cache)
        if isinstance(part, AttachedPart) and part.attachment is not None
        else part
        for part in _parts(message)
    ]
    return replace(message, content=tuple(parts))


def _parts(message: ChatMessage) -> tuple[ContentPart, ...]:
    return message.content if isinstance(message.content, tuple) else ()
