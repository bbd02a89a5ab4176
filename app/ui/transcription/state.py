"""What the transcribe page shows at once, as frozen values. The presenter makes them; widgets only draw them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.translation import tr
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.exporting import CueRules

if TYPE_CHECKING:
    from app.core.problems import Problem
    from app.service.exchange import Exchange
    from app.ui.kit.widgets.receipt_line import Run

# Seconds of one channel at 16 kHz into bytes: WAV exactly, the others as speech usually comes out.
BYTES_PER_S = {"wav": 32_000, "flac": 16_000, "ogg": 6_000}
FORMAT_NOTES = {
    "flac": tr("FLAC, 16 kHz mono: lossless, about half the size of WAV."),
    "wav": tr("WAV, 16 kHz mono: as recorded."),
    "ogg": tr("OGG, Opus: small, with little loss of accuracy."),
}
LANGUAGES: tuple[tuple[str, str], ...] = (
    ("", tr("Detect")),
    ("ar", tr("Arabic")),
    ("bg", tr("Bulgarian")),
    ("ca", tr("Catalan")),
    ("zh", tr("Chinese")),
    ("hr", tr("Croatian")),
    ("cs", tr("Czech")),
    ("da", tr("Danish")),
    ("nl", tr("Dutch")),
    ("en", tr("English")),
    ("et", tr("Estonian")),
    ("fi", tr("Finnish")),
    ("fr", tr("French")),
    ("de", tr("German")),
    ("el", tr("Greek")),
    ("he", tr("Hebrew")),
    ("hi", tr("Hindi")),
    ("hu", tr("Hungarian")),
    ("id", tr("Indonesian")),
    ("it", tr("Italian")),
    ("ja", tr("Japanese")),
    ("ko", tr("Korean")),
    ("lv", tr("Latvian")),
    ("lt", tr("Lithuanian")),
    ("no", tr("Norwegian")),
    ("pl", tr("Polish")),
    ("pt", tr("Portuguese")),
    ("ro", tr("Romanian")),
    ("ru", tr("Russian")),
    ("sk", tr("Slovak")),
    ("sl", tr("Slovenian")),
    ("es", tr("Spanish")),
    ("sv", tr("Swedish")),
    ("th", tr("Thai")),
    ("tr", tr("Turkish")),
    ("uk", tr("Ukrainian")),
    ("vi", tr("Vietnamese")),
)
# Wire names that extra JSON cannot set, with the field that does.
OWN_FIELDS: Mapping[str, str] = {
    "file": tr("File"),
    "model": tr("Model"),
    "language": tr("Spoken language"),
    "timestamps": tr("Word timestamps"),
    "response_format": tr("Result"),
}


def language_name(code: str) -> str:
    return dict(LANGUAGES).get(code, code) if code else ""


@dataclass(frozen=True, slots=True)
class Options:
    """How sound is sent. `language` "" lets the model listen for itself."""

    model: str = ""
    language: str = ""
    timestamps: bool = True
    response_format: str = "json"
    record_as: str = "flac"
    extra_json: str = ""  # further form fields as typed, an object


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as the picker shows it; `takes_hints` and `kinds` as far as they are known."""

    id: str
    name: str
    privacy: str = ""
    price: str = ""  # "$0.006 per minute"
    takes_hints: bool | None = None
    kinds: tuple[str, ...] | None = None
    usd_per_second: Decimal | None = None
    retires: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the list. `state` is a row's of `Transcripts`, or "preparing"."""

    id: str
    title: str
    second_line: str
    right: str  # how long it is
    cost: str
    group: str
    state: str
    origin: str = "file"

    @property
    def spoken(self) -> str:
        """The row as a screen reader says it."""
        return ", ".join(part for part in (self.title, self.right, self.second_line, self.cost) if part)


@dataclass(frozen=True, slots=True)
class Mark:
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Microphone:
    """An input to choose. `id` "" is the system's default; `channels` is 0 where nobody says how many it has."""

    id: str
    name: str
    channels: int = 1


@dataclass(frozen=True, slots=True)
class Microphones:
    """The microphones there are, the chosen one, and why there may be none."""

    microphones: tuple[Microphone, ...] = ()
    chosen: str = ""
    channel: int = -1
    gain_db: float = 0.0
    problem: str = ""
    missing: bool = False  # the chosen one is not plugged in; the default stands in for it
    is_known: bool = True  # False until the first look
    test: str = ""  # what the three-second test is doing: "", "recording", "playing"

    @property
    def device(self) -> Microphone | None:
        return next((each for each in self.microphones if each.id == self.chosen), None)


@dataclass(frozen=True, slots=True)
class Work:
    """What is being done with a row: `phase` is "waiting", "preparing", "uploading", "listening"."""

    phase: str
    share: float | None = None  # 0 to 1, None: nobody knows
    words: str = ""
    part: int = 0
    parts: int = 0


@dataclass(frozen=True, slots=True)
class Sound:
    """A file or recording as its page shows it."""

    name: str = ""
    kind: str = ""  # "FLAC", "MP4"
    size_bytes: int = 0
    duration_s: float | None = None
    too_large: bool = False  # over what every reading of "25 MB" allows
    is_over_limit: bool = False  # surely refused as it is
    why_not: str = ""
    is_there: bool = True
    path: str = ""
    peaks: Any = None  # app.audio.waveform.Pairs


@dataclass(frozen=True, slots=True)
class Head:
    """The open row. `view` is "empty", "recording", "sound", "result" or "batch"."""

    view: str = "empty"
    id: str | None = None
    title: str = ""
    state: str = ""
    origin: str = "file"
    note: str = ""
    sound: Sound = field(default_factory=Sound)
    work: Work | None = None
    problem: Problem | None = None
    price: str = ""  # "$0.0046"
    price_words: str = ""  # "for 2 min 17 s with Whisper large v3"
    treatment: str = ""
    target_bytes: int = 0
    receipt: tuple[Run, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    marks: tuple[Mark, ...] = ()
    exchange: Exchange | None = None
    model_name: str = ""
    is_sandbox: bool = False
    can_send: bool = True
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class BatchRow:
    id: str
    title: str
    kind: str
    size: str
    length: str
    price: str
    status: str
    tone: str = ""  # "", "ok", "warn", "bad", "accent"
    share: float | None = None
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The table of files."""

    rows: tuple[BatchRow, ...] = ()
    running: bool = False
    done: int = 0
    left: int = 0  # that can be sent now
    waiting: int = 0  # that were sent for and wait: the batch was paused, or the program ended
    price: str = ""
    seconds: float = 0.0
    why_not: str = ""  # why nothing can be sent


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """The open transcript: its words, and what is marked in them."""

    document: Document = field(default_factory=Document)
    can_undo: bool = False
    can_redo: bool = False
    language: str = ""
    received: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExportChoice:
    kind: str = "srt"
    rules: CueRules = field(default_factory=CueRules)


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of an export, around what is heard; `place` says which piece it is."""

    text: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A recording as it is now. Levels in dB of full scale; `peaks` are pairs (low, high) of 20 ms, the newest last."""

    phase: str = ""  # "opening", "recording", "paused", "saving"; "" for none
    seconds: float = 0.0
    size_bytes: int = 0  # as it will be uploaded, about
    level_db: float = -90.0
    peak_db: float = -90.0
    warning: str = ""
    lost_s: float = 0.0  # what a slow disk did not take
    peaks: tuple[tuple[float, float], ...] = ()
    peak_count: int = 0


def why_not_sent(head: Head, batch: Batch) -> str:
    """Return why what is shown cannot be sent now, "" where that is nobody's question."""
    if head.view == "batch":
        return _why_no_batch(batch)
    if head.view != "sound":
        return ""
    if head.work is not None:
        return tr("It is already being sent.")
    if head.why_not:
        return head.why_not
    return "" if head.sound.is_there else head.sound.why_not


def _why_no_batch(batch: Batch) -> str:
    if not batch.rows:
        return tr("The table has no files.")
    if batch.running:
        return tr("The files are already being transcribed.")
    if batch.left and batch.why_not:
        return batch.why_not
    return tr("All files in the table are transcribed.")
