"""What the tab shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from app.core import money, number_format
from app.translation import tr, tr_n

STATE_WORDS: Mapping[str, str] = {
    "sending": tr("generating"),
    "withheld": tr("withheld by policy"),
    "broken": tr("not an image"),
    "failed": tr("failed"),
    "unknown": tr("unknown"),
}
KIND_WORDS: Mapping[str, str] = {
    "edit": tr("Edited"),
    "upscale": tr("Upscaled"),
    "background": tr("Background removed"),
}
SCOPES = (("", tr("All images")), ("starred", tr("Starred")), ("trash", tr("Trash")))


@dataclass(frozen=True, slots=True)
class EditDraft:
    """What was written and painted for an edit that is not made yet. `mask` is a PNG, b"" for nothing painted."""

    prompt: str = ""
    mask: bytes = b""


@dataclass(frozen=True, slots=True)
class Tile:
    """One image in the gallery."""

    id: str
    title: str
    cost: str
    state: str
    note: str = ""
    starred: bool = False
    blurred: bool = False
    second_line: str = ""
    at: datetime | None = None

    @property
    def is_whole(self) -> bool:
        return self.state == "saved"

    def spoken(self) -> str:
        """What a screen reader says."""
        words = [
            self.title,
            STATE_WORDS.get(self.state, ""),
            self.note,
            tr("starred") if self.starred else "",
            self.cost,
        ]
        return ", ".join(word for word in words if word)


@dataclass(frozen=True, slots=True)
class GalleryState:
    """What the gallery shows: which images, of how many. `busy`: one of them is still to come.

    `unread`: so many older ones follow that were not read yet.
    """

    tiles: Sequence[Tile] = ()
    total: int = 0
    search: str = ""
    scope: str = ""
    loaded: bool = False
    busy: bool = False
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What the images take on this disk, with what the service sent for them; the trash is counted apart."""

    images: int = 0
    size_bytes: int = 0
    trash_bytes: int = 0

    @property
    def words(self) -> str:
        words = tr("No images")
        if self.images:
            words = f"{tr_n('{n} image', '{n} images', self.images)}, {number_format.size(self.size_bytes)}"
        if not self.trash_bytes:
            return words
        return f"{words} · {tr('trash {trash_bytes}', trash_bytes=number_format.size(self.trash_bytes))}"


@dataclass(frozen=True, slots=True)
class PaidAction:
    """Something that costs: what its button says. `why_not` is "" when it can be done."""

    id: str
    text: str
    price: Decimal | None = None
    why_not: str = ""
    asks_first: bool = False  # its dialog names the price

    @property
    def words(self) -> str:
        return self.text if self.asks_first else money.priced(self.text, self.price)


@dataclass(frozen=True, slots=True)
class Refused:
    """What the content policy refused last. `source_id` is the image of an edit, `proposal` the service's words."""

    prompt: str
    proposal: str = ""
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class EditModel:
    """One model that edits, as the dialog needs it."""

    id: str
    name: str
    ratios: tuple[str, ...]
    resolutions: tuple[str, ...]
    prompt_chars: int
    qualities: tuple[str, ...] = ()
    most_inputs: int = 1
    shapes_one: bool = True  # whether a single image may get another shape
    default_resolution: str = ""
    default_quality: str = ""


@dataclass(frozen=True, slots=True)
class Details:
    """One image beside the gallery. `facts` are (label, value) pairs; `path` is None where there is no file."""

    id: str
    title: str
    state: str
    note: str
    path: Path | None
    prompt: str = ""
    enhanced_prompt: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    policy: str = ""
    policy_ok: bool = True
    starred: bool = False
    trashed: bool = False
    can_rerun: bool = False
    paid_actions: tuple[PaidAction, ...] = ()
    width: int = 0  # px; 0 while there is no image
    height: int = 0
