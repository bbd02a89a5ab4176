"""What the message view is given to show: one frozen value per message, without Qt.."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from app.core.problems import Problem

Role = Literal["user", "assistant", "note", "tool"]
RowState = Literal["complete", "streaming", "stopped", "interrupted", "failed"]

ASSISTANT_ACTIONS = ("copy", "speak", "retry", "branch", "more")
USER_ACTIONS = ("copy",)
LINE_CHARS = 70  # of text in a line, for the scroll bar only


def likely_lines(text: str) -> int:
    return 3 + len(text) // LINE_CHARS + text.count("\n")


@dataclass(frozen=True, slots=True)
class RowCall:
    """A function that the model asks for. It is shown and answered by hand, never run."""

    id: str
    name: str
    arguments: str  # JSON as the model wrote it
    answered: bool = False


@dataclass(frozen=True, slots=True)
class RowSource:
    """One search result behind an answer; everything in it is untrusted text and nothing of it is ever fetched.

    Or a passage of the person's own documents: `passage` is the row and the attachment that it went along as.
    """

    title: str
    url: str
    snippet: str = ""
    date: str = ""
    passage: tuple[str, int] | None = None

    @property
    def host(self) -> str:
        """Return the host without `www.`, or "" where the address is not one."""
        try:
            host = urlsplit(self.url).hostname or ""
        except ValueError:
            return ""
        return host.removeprefix("www.")


@dataclass(frozen=True, slots=True)
class RowAttachment:
    """What the person attached. `path` is where its bytes are on this computer, "" when they are gone.

    `is_passage` says that it is text of a document that can be opened at the place.
    """

    kind: str
    name: str
    detail: str
    path: str = ""
    width: int = 0
    height: int = 0
    is_passage: bool = False


@dataclass(frozen=True, slots=True)
class ReceiptRun:
    """One part of a receipt line; parts are told apart by a dot.

    `role` names a color of the theme, `icon` a file of resources/icons; the icon "dot" is the small disc of
    work that is going on. A `spare` part is left out where a line has no room for all; who copies the line has it.
    """

    text: str
    role: str = "text2"
    strong: bool = False
    icon: str = ""
    spare: bool = False


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message as it stands now.

    `text` and `reasoning` are Markdown as the service sent them. `citations` says whether web search was on for the
    request: only then are `[REF]0[/REF]` and `^1^` read as markers, because `^2^` also occurs in mathematics.
    `reasoning_open` None leaves folding to the view: open while the thoughts come, folded when the answer starts.
    `state_text` is the quiet second half of the note "The reply stopped early.", such as "418 tokens kept, $0.0019."
    `byline` says who wrote an answer and when, behind its receipt; `moment` is the full date, its tooltip.
    `actions` None means the usual ones of the role. `place` of `places` says which branch this turn is: with more
    than one, arrows beside it send the actions "previous" and "next". `structured` says that the text was asked for as
    JSON and is shown as a tree, `schema_violation` where it leaves its schema. A row of the role "tool" is what was
    answered for the function `caption`. `no_speech` is why it cannot be read aloud, "" when it can. `lines` is about
    how many lines it takes, 0 while it streams.
    """

    id: str
    role: Role
    text: str = ""
    reasoning: str = ""
    reasoning_s: float | None = None
    reasoning_tokens: int | None = None
    reasoning_open: bool | None = None
    citations: bool = False
    sources: tuple[RowSource, ...] = ()
    receipt: tuple[ReceiptRun, ...] = ()
    byline: tuple[ReceiptRun, ...] = ()
    moment: str = ""
    state: RowState = "complete"
    state_text: str = ""
    problem: Problem | None = field(default=None)
    actions: tuple[str, ...] | None = None
    place: int = 1
    places: int = 1
    calls: tuple[RowCall, ...] = ()
    structured: bool = False
    schema_violation: str = ""
    caption: str = ""
    attachments: tuple[RowAttachment, ...] = ()
    no_speech: str = ""
    lines: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Count the likely lines here: rows are made in pieces, and a view of thousands takes them in one turn.

        A row that streams is made anew with each piece of its text.
        """
        object.__setattr__(self, "lines", 0 if self.state == "streaming" else likely_lines(self.text))

    @property
    def shown_actions(self) -> tuple[str, ...]:
        """Return the names of the buttons beside the receipt; while the answer still comes only those it was given."""
        if self.actions is not None:
            return self.actions
        if self.state == "streaming" or self.role == "note":
            return ()
        return ASSISTANT_ACTIONS if self.role == "assistant" else USER_ACTIONS


def receipt_text(runs: tuple[ReceiptRun, ...]) -> str:
    """Return a receipt as plain text."""
    return " · ".join(run.text for run in runs)
