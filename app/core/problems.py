"""Turns a failed call into words: what happened, what it means, what to do. One `describe` for every tab;
the sentences are in `problem_words.py`.

A `Problem` is drawn by `ErrorCard`, in one line, or as a banner. It never holds a secret: texts from the service pass
`redact` before anybody sees or copies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.core.time_format import LONGEST_COUNTDOWN_S, clock, coming, duration
from app.formats import current, written
from app.translation import tr

if TYPE_CHECKING:
    from app.core.problem_words import Button
    from app.credentials.accounts import Account
    from app.service.errors import ServiceError
    from app.service.response_info import ResponseInfo

Severity = Literal["bad", "warn", "quiet"]


class ActionSpec(NamedTuple):
    """A button: `id` is what the presenter hears (`retry`, `replace-key`, …), `text` what the person reads."""

    id: str
    text: str


class Problem(NamedTuple):
    """An error in three parts, its buttons, and the facts for support.

    `facts` are amounts shown in the card (label, value); `details` the block that is copied for support.
    `fields` are (path, sentence) pairs for forms that can mark the field itself.
    """

    what: str
    meaning: str = ""
    primary: ActionSpec | None = None
    alternative: ActionSpec | None = None
    details: tuple[tuple[str, str], ...] = ()
    severity: Severity = "bad"
    icon: str = "error"
    countdown_until: datetime | None = None
    facts: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    request_id: str = ""

    def __str__(self) -> str:
        return f"{self.what}. {self.meaning}".strip()

    @property
    def sentence(self) -> str:
        """What happened and what it means, as a screen reader says it."""
        return str(self)

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """The buttons in order, the primary one first."""
        return tuple(action for action in (self.primary, self.alternative) if action is not None)

    def details_text(self) -> str:
        """The details as they are copied for support: one `Label: value` a line."""
        return "\n".join(f"{label}: {value}" for label, value in self.details)


SANDBOX_MONEY = ActionSpec("sandbox-money", tr("Reset play money…"))
SANDBOX_SETTINGS = ActionSpec("sandbox-settings", tr("Open the Sandbox…"))
OTHER_ACCOUNT = ActionSpec("switch-account", tr("Use another account…"))


def for_account(problem: Problem, account: Account | None) -> Problem:
    """Return the problem with ways out that this account has: a wallet tops up, play money is filled up, a key has
    nothing to pay with; and the Sandbox is no way out of the Sandbox.
    """
    kind = account.kind if account is not None else ""

    def fit(action: ActionSpec | None) -> ActionSpec | None:
        if action is not None and kind == "sandbox" and action.id == "sandbox":
            return SANDBOX_SETTINGS
        if action is not None and kind != "wallet" and action.id.partition(":")[0] == "top-up":
            return SANDBOX_MONEY if kind == "sandbox" else OTHER_ACCOUNT
        return action

    return problem._replace(primary=fit(problem.primary), alternative=fit(problem.alternative))


def describe(
    error: ServiceError,
    *,
    now: datetime | None = None,
    subject: str = tr("message"),
    charged: str = "",
    sends_again: bool = False,
    clean: Callable[[str], str] | None = None,
) -> Problem:
    """Return the words for `error`.

    `subject` is what the person sent ("message", "recording", "clip"), "" where Rialto only asked for something;
    `charged` a sentence about money when it is known ("418 tokens kept, $0.0019."); `now` sets the clock for
    countdowns. `sends_again` promises that it is sent again by itself when its time comes, which is counted down;
    else the words say when that is, and ask. `clean` removes secrets; without it, what `hide_secrets_with` was given
    does, or else the patterns that a credential is known by.
    """
    # the words come with the first error, not with the window
    from app.core.problem_words import for_error, told_to_wait

    now = now or datetime.now(UTC)
    clean = clean or _hider[0] or _by_pattern()
    told = for_error(error, subject, charged)
    wait = error.retry_after_s
    until = now + timedelta(seconds=wait) if wait is not None and told.waits else None
    if until is not None and not (sends_again and wait is not None and wait <= LONGEST_COUNTDOWN_S):
        told, until = told_to_wait(error, told, subject, coming(until, now)), None

    def button(spec: Button | None) -> ActionSpec | None:
        return (
            ActionSpec(spec[0], clean(spec[1])) if spec is not None else None
        )  # may name a model the service proposed

    return Problem(
        what=clean(told.what),
        meaning=clean(told.meaning),
        primary=button(told.primary),
        alternative=button(told.alternative),
        details=_details(error, now, clean),
        severity=told.severity,
        icon=told.icon,
        countdown_until=until,
        facts=told.facts,
        fields=tuple((clean(item.path), clean(item.message)) for item in error.fields),
        request_id=clean(error.request_id),
    )


_hider: list[Callable[[str], str] | None] = [None]


def hide_secrets_with(redact: Callable[[str], str]) -> None:
    """Let the registry of secrets in use clean every problem. The composition root calls this once.

    The one value of this layer that is set from outside: an error made anywhere must come out clean, also where
    nobody thought of it.
    """
    _hider[0] = redact


def _by_pattern() -> Callable[[str], str]:
    from app.credentials.redaction import Redactor  # imported with the first error, not with the window

    return Redactor().redact


def _answered_by(info: ResponseInfo) -> Iterator[tuple[str, str]]:
    """Which part of the service answered, and what it did before: empty values are left out."""
    told = (
        (tr("Version"), info.service_version),
        (tr("Host"), info.host_name),
        (tr("Model router"), info.model_router),
        (tr("Retries by the service"), str(info.retry_count) if info.retry_count is not None else ""),
        (tr("Sign-in"), tr("Refreshed by the service") if info.was_sign_in_refreshed else ""),
        (tr("Limit type"), info.limit_type),
    )
    return ((label, value) for label, value in told if value)


def _details(error: ServiceError, now: datetime, clean: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    from app.core.problem_words import status_line

    rows: list[tuple[str, str]] = []
    if error.status is not None:
        rows.append((tr("Status"), status_line(error.status)))
    if error.message:
        rows.append((tr("Service said") if error.status is not None else tr("Reason"), clean(error.message)))
    if error.code:
        rows.append((tr("Code"), clean(error.code)))
    rows += [(clean(tr("Field {path}", path=item.path).strip()), clean(item.message)) for item in error.fields]
    if error.request_id:
        rows.append((tr("Request ID"), clean(error.request_id)))
    if error.info is not None:
        rows += [(label, clean(value)) for label, value in _answered_by(error.info)]
    exchange = error.exchange
    time = written(now.astimezone(), current().clock)
    if exchange is not None:
        rows.append((tr("Request"), clean(f"{exchange.request.method} {exchange.request.path}")))
        if exchange.model:
            rows.append((tr("Model"), clean(exchange.model)))
        time = tr(
            "{started_at}, after {duration_s}",
            started_at=clock(exchange.started_at),
            duration_s=duration(exchange.duration_s),
        )
    rows.append((tr("Time"), time))
    return tuple(rows)
