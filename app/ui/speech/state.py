"""What the speech tab shows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from app.service.speech_text import Span
from app.translation import tr

if TYPE_CHECKING:
    from app.ui.kit.widgets.receipt_line import Run


@dataclass(frozen=True, slots=True)
class Meter:
    """How much text there is, how it is cut, and what it will cost. `why_not` is "" when it can be spoken."""

    characters: int = 0
    parts: tuple[Span, ...] = ()
    seconds: float = 0.0  # of sound, roughly
    price: Decimal | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The voice and model in use, as they are called."""

    model: str = ""
    model_name: str = ""
    voice: str = ""
    voice_name: str = ""


@dataclass(frozen=True, slots=True)
class ClipRow:
    """A clip as the list shows it, or the clips of one voice comparison (`clips`), which are one row."""

    id: str  # of a comparison: its own, not that of a clip
    title: str
    second_line: str  # "Tamsin · Orpheus"
    length: str  # "4:47"
    cost: str  # "$0.0186"
    group: str  # "Today"
    starred: bool = False
    working: bool = False
    is_partial: bool = False  # some of it is missing: going on asks for the rest
    plays: bool = False
    clips: tuple[ClipRow, ...] = ()
    is_draft: bool = False  # a text that was not spoken yet

    @property
    def spoken(self) -> str:
        """The row for a screen reader."""
        words = [self.title, self.second_line, self.length, self.cost]
        words += (
            [tr("starred")] * self.starred + [tr("generating")] * self.working + [tr("incomplete")] * self.is_partial
        )
        return ", ".join(word for word in words if word)


@dataclass(frozen=True, slots=True)
class PlayerView:
    """What the player bar shows. Places come by a signal of their own."""

    clip_id: str = ""
    title: str = ""
    ready: bool = False
    plays: bool = False
    busy: bool = False
    status: str = ""
    known_s: float = 0.0
    whole_s: float = 0.0
    speed: float = 1.0
    volume: float = 1.0
    output: str = ""
    problem: str = ""
    receipts: tuple[tuple[Run, ...], ...] = ()  # the first says what all come to
    missing_parts: int = 0
    can_save: bool = False
    is_speaking: bool = False  # a clip is being asked for right now


@dataclass(frozen=True, slots=True)
class SpeechHead:
    """Title and kind of what the editor holds."""

    title: str = ""
    clip_id: str = ""  # "" for a text that was not spoken yet
    draft_id: str = ""  # of such a text, once it is a row of the list

    @property
    def row_id(self) -> str:
        """The row of the list that is open; "" for none."""
        return self.clip_id or self.draft_id


@dataclass(frozen=True, slots=True)
class AuditionRow:
    """One voice of an audition, or one clip of a comparison."""

    clip_id: str
    voice_name: str
    model_name: str
    voice: str
    model: str
    title: str = ""
    text: str = ""
    delivery: str = ""  # "MP3 · speed 1.25"
    length: str = ""
    cost: str = ""
    state: str = ""  # "working", "complete", "failed", …
    note: str = ""
    starred: bool = False
    plays: bool = False


class SampleView(Protocol):
    """What was found in a sample of a voice."""

    @property
    def seconds(self) -> float: ...

    @property
    def level_db(self) -> float: ...

    @property
    def problem(self) -> str: ...

    @property
    def advice(self) -> str: ...

    @property
    def can_be_used(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ClonedRow:
    """A voice of one's own on its shelf."""

    id: str
    name: str
    model_name: str
    handle: str
    age: str  # "made 4 days ago", "its account was removed", "" for one that was never made
    expiry: str  # "expires in 3 days", "expired", "" for one that was never made
    has_expired: bool
    sample_s: float
    price: Decimal | None = None  # of cloning it again, in USD
    working: bool = False
    in_use: bool = False
