"""Notes below an answer that was cut, refused or is empty. Plain text, no Qt, no disk.

How an answer ended is stored with it, so the note is there after a restart as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from app.core.problems import ActionSpec, Problem
from app.service.http.sanitize import sanitize_line
from app.translation import tr

if TYPE_CHECKING:
    from app.service.response_info import ResponseInfo

RETRY = ActionSpec("retry", tr("Try again"))
EDIT = ActionSpec("edit", tr("Edit"))
CONTINUE = ActionSpec("continue", tr("Continue"))
OTHER_MODEL = ActionSpec("choose-model", tr("Choose another model…"))
CONTENT_FILTER = "content_filter"  # the `finish_reason` of an answer that was stopped for its content
USE_SUGGESTION = "use-suggestion"

# A flag of the answer's headers → what it says, in the order of weight.
_POLICY: tuple[tuple[str, str, str], ...] = (
    ("contains_minor", "minor", tr("The service says it shows a minor.")),
    ("is_adult_content_violation", "adult", tr("The service says this model does not allow adult content.")),
    ("is_content_violation", "violation", tr("The service says it breaks the content rules.")),
    ("is_blurred", "blurred", tr("The service says part of it was blurred.")),
)


KNOWN_REASONS = frozenset(
    {"", "stop", "eos", "end_turn", "stop_sequence", "tool_calls", "function_call", "length", "max_tokens"}
)


def policy_of(info: ResponseInfo | None) -> list[str]:
    """The content rules that the answer's headers name, as they are stored."""
    return [name for field, name, _ in _POLICY if info is not None and getattr(info, field) is True]


def note_of_ending(usage: Mapping[str, object], *, has_words: bool, stated: str = "") -> Problem | None:
    """The note for a stored or a finished answer; None for one that ended as usual.

    `stated`: what the service said of it in the stream.
    """
    if usage.get("refused"):
        return Problem(
            tr("The model declined to answer"),
            tr("Its reply is above. Another model or a different wording may help."),
            primary=EDIT,
            alternative=OTHER_MODEL,
            severity="quiet",
            icon="shield",
        )
    policy = usage.get("policy")
    names = [str(name) for name in policy] if isinstance(policy, Iterable) and not isinstance(policy, str) else []
    if usage.get("finish_reason") == CONTENT_FILTER:
        said = " ".join((*filter(None, [stated]), *(words for _, name, words in _POLICY if name in names)))
        what = (
            tr("The service’s content rules ended this answer")
            if has_words
            else tr("The service’s content rules do not allow this")
        )
        kept = tr("Everything before that is saved. The receipt shows what was charged.") if has_words else ""
        return Problem(
            what, f"{said} {kept}".strip(), primary=EDIT, alternative=OTHER_MODEL, severity="warn", icon="shield"
        )
    if names:
        said = " ".join(words for _, name, words in _POLICY if name in names)
        what = tr("The service marked this answer")
        return Problem(what, said, primary=EDIT, alternative=OTHER_MODEL, severity="warn", icon="shield")
    if usage.get("finish_reason") == "error":
        return Problem(
            tr("The service stopped with an error"),
            tr("It gave no reason."),
            primary=CONTINUE if has_words else RETRY,
            alternative=OTHER_MODEL,
            severity="warn",
            icon="warning",
        )
    reason = str(usage.get("finish_reason") or "")
    if reason not in KNOWN_REASONS:
        return Problem(
            tr("The answer ended for a reason that Rialto does not know"),
            tr("The service calls it “{reason}”. The answer may be incomplete.", reason=sanitize_line(reason)),
            primary=CONTINUE if has_words else RETRY,
            severity="quiet",
            icon="info",
        )
    if reason in ("length", "max_tokens") and has_words:
        return Problem(
            tr("The answer reached its length limit"),
            tr("Continue asks the model to pick up from here. You can raise the reply limit in Parameters."),
            primary=CONTINUE,
            severity="quiet",
            icon="info",
        )
    return None


def empty_answer() -> Problem:
    return Problem(
        tr("The answer is empty"),
        tr("The service sent no text."),
        primary=RETRY,
        severity="warn",
        icon="warning",
    )


def not_sent(sentence: str) -> Problem:
    """What was to go along could not be read."""
    return Problem(
        tr("This message could not be sent"),
        tr("{sentence} Nothing was sent, so nothing was charged.", sentence=sentence),
        primary=EDIT,
        alternative=RETRY,
        icon="document",
    )


def for_chat(problem: Problem) -> Problem:
    """The same problem with buttons that a chat can carry out."""

    def fit(action: ActionSpec | None) -> ActionSpec | None:
        return _IN_CHAT.get(action.id, action) if action is not None else None

    primary, alternative = fit(problem.primary), fit(problem.alternative)
    return problem._replace(primary=primary, alternative=alternative if alternative != primary else None)


# Buttons of other tabs' forms → what does the same here.
_IN_CHAT: Mapping[str, ActionSpec] = {
    "shorten": ActionSpec("edit", tr("Edit and reduce size")),
    "choose-file": ActionSpec("edit", tr("Change attachments")),
    "consent": ActionSpec("edit", tr("Edit")),  # nothing in a chat takes consent; the details say what is asked
}
