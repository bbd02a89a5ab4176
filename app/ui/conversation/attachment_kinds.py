"""The kinds of attachments: their words and icons, over the message box and in messages alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from app.translation import tr

Kind = Literal["image", "audio", "video", "text", "pdf", "document"]
KINDS: tuple[Kind, ...] = ("image", "audio", "video", "text", "pdf", "document")
WORDS: Mapping[Kind, str] = {
    "image": tr("Image"),
    "audio": tr("Audio"),
    "video": tr("Video"),
    "text": tr("Text"),
    "pdf": "PDF",
    "document": tr("Document"),
}
ICONS: Mapping[Kind, str] = {
    "image": "images",
    "audio": "wave",
    "video": "video",
    "text": "document",
    "pdf": "document",
    "document": "document",
}


def kind_word(kind: str) -> str:
    """The word for a kind, for screen readers and receipts."""
    return WORDS[kind] if kind in KINDS else tr("File")
