"""What the video page shows at once, as frozen values. The presenter makes them; widgets only draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.video.consent import Consent
from app.ui.video.model_constraints import Form, FormErrors, ModelConstraints

if TYPE_CHECKING:
    from app.core.problems import Problem
    from app.service.exchange import Exchange
    from app.ui.kit.widgets.receipt_line import Run

FILTERS = (("all", tr("All")), ("open", tr("Running")), ("ready", tr("Ready")), ("trash", tr("Trash")))


@dataclass(frozen=True, slots=True)
class ModelChoice:
    id: str
    name: str
    kind: str  # "text", "image", "video"


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of what is filled in. `price` is "" while it is not known; `note` says why, or what follows from it."""

    price: str = ""
    note: str = ""
    asking: bool = False


@dataclass(frozen=True, slots=True)
class FormView:
    form: Form = field(default_factory=Form)
    takes: ModelConstraints | None = None
    models: tuple[ModelChoice, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    refusal: FormErrors = field(default_factory=FormErrors)
    wrong_files: Mapping[str, str] = field(default_factory=dict)  # field → what is wrong with its file
    is_looking: bool = False  # the files that were chosen are still being looked at
    quote: Quote = Quote()
    note: str = ""  # why there is nothing to choose from


@dataclass(frozen=True, slots=True)
class JobRow:
    """One line of the list. `share` 0 to 1 draws a bar, below 0 one that slides; None draws none."""

    id: str
    title: str
    second: str
    state: str
    badge: str
    tone: str
    icon: str
    right: str
    poster: str = ""  # the path of a video, "" where there is none
    share: float | None = None
    busy: bool = False

    @property
    def turns(self) -> bool:
        """True while something happens and nobody knows how far it is."""
        return self.busy and self.share is not None and self.share < 0

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.title, self.badge, self.second, self.right) if part)


@dataclass(frozen=True, slots=True)
class Jobs:
    """The list: what passes filter and search, and what stands above and below it."""

    rows: Sequence[JobRow] = ()
    which: str = "all"
    search: str = ""
    running: str = ""  # "2 running"
    footer: str = ""  # "14 videos, 1.1 GB"
    total: int = 0
    selected: str = ""
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """The job that is looked at. `remote` is "kept", "gone" or "" where nothing is to be said.

    `actions` are ids of what can be done with it: "cancel", "up", "down", "send", "again", "clean", "fetch", "save",
    "trash", "restore", "delete", "consent".
    """

    id: str = ""
    title: str = ""
    state: str = ""
    film: str = ""
    video_size: tuple[int, int] = (0, 0)
    length_s: float = 0.0
    saved: tuple[str, str] = ("", "")
    remote: str = ""
    remote_words: tuple[str, str] = ("", "")
    progress: str = ""
    share: float | None = None
    problem: Problem | None = None
    facts: tuple[tuple[str, str], ...] = ()
    receipt: tuple[Run, ...] = ()
    actions: frozenset[str] = frozenset()
    body: Mapping[str, object] = field(default_factory=dict)
    exchange: Exchange | None = None
    consent: Consent | None = None  # what the service wants to be agreed to first
    price: str = ""
