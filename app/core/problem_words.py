"""The sentences of every `ServiceError`: what happened, what it means, one primary button and one alternative.

No blame, no apology, nothing that is not known: "nothing was charged" only where the service cannot have charged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from app.core.money import money, whole_money
from app.service.response_info import MAX_WAIT_S
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from app.service import errors

Button = tuple[str, str]  # (action id, words)

RETRY: Button = ("retry", tr("Try again"))
EDIT: Button = ("edit", tr("Edit"))
DISMISS: Button = ("dismiss", tr("Do not send"))
UNLOCK: Button = ("retry", tr("Unlock…"))  # asking again asks for what unlocks, and then sends
REPLACE_KEY: Button = ("replace-key", tr("Replace key…"))
OTHER_KEY: Button = ("replace-key", tr("Use another key…"))
KEY_LIMIT: Button = ("key-limit", tr("Raise the limit…"))
UPDATE: Button = ("about", tr("Look for an update…"))
SWITCH: Button = ("switch-account", tr("Use another account…"))
SANDBOX: Button = ("sandbox", tr("Work in the Sandbox"))
CONTINUE: Button = ("continue", tr("Continue"))
START_OVER: Button = ("start-over", tr("Start over"))
CHOOSE_MODEL: Button = ("choose-model", tr("Choose another model…"))
CHECK_BALANCE: Button = ("check-balance", tr("Check the balance"))
CONNECTION: Button = ("connection", tr("Check the connection…"))
LIMITS: Button = ("limits", tr("Change the limit…"))

_BARE_WORD = re.compile(r"[a-z0-9]+([._:-][A-Za-z0-9]+)*|[A-Z0-9]+([._:-][A-Z0-9]+)+")  # needs_consent, always, E_NO
_WAITING_IS_ALL = re.compile(r"(rate limit|too many requests|slow down)\b", re.IGNORECASE)  # and nothing else
_OVERLOADED = re.compile(r"\boverloaded\b|\bat capacity\b", re.IGNORECASE)
_FAILURES = re.compile(r"\(> ?(\d{1,4})\)")  # "Too many failed attempts (> 50)"
_REPLACEMENT = re.compile(r"\bdeprecated\b.*?\buse ['\"`]?([A-Za-z0-9][\w.:/-]{0,99})", re.IGNORECASE)
_NO_MODEL = re.compile(r"\bmodel\b.*\b(not found|deprecated)\b|\binvalid model\b", re.IGNORECASE)
_REGION = re.compile(r"\b(region|country|location|jurisdiction)", re.IGNORECASE)
_NO_REASON = tr("It gave no reason.")
_NOTHING_SENT = tr("Nothing was sent, so nothing was charged.")


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The words of one error. `waits` allows a countdown when the error says how long."""

    what: str
    meaning: str
    primary: Button | None = RETRY
    alternative: Button | None = None
    severity: Literal["bad", "warn", "quiet"] = "bad"
    icon: str = "error"
    waits: bool = False
    facts: tuple[tuple[str, str], ...] = ()


def told_to_wait(error: errors.ServiceError, told: ErrorText, subject: str, moment: str) -> ErrorText:
    """The same where nothing is sent again by itself: when it may be, and whether to try."""
    # what a service names beyond a day is cut to one: it may be any day after that
    is_cut = (error.retry_after_s or 0.0) >= MAX_WAIT_S
    later = tr("Try again in a day or later.") if is_cut else tr("Try again {moment}.", moment=moment)
    if type(error).__name__ != "RateLimited":
        return replace(told, meaning=_join(told.meaning, later), primary=RETRY, waits=False)
    resets = tr("It resets in a day or later.") if is_cut else tr("Resets {moment}.", moment=moment)
    resets = later if _is_overload(error) else resets
    return replace(
        told,
        meaning=_join(_beyond_waiting(error), resets, _whose_limit(error), _kept(subject), tr("Nothing was charged.")),
        primary=RETRY,
        waits=False,
    )


def status_line(status: int) -> str:
    """Return `401 Unauthorized`, or the number alone where nobody named it."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status) if 0 <= status <= 999 else "–"


def for_error(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    """Return the words of the closest class that has some. `subject` is "" where nothing of the person's was sent."""
    if error.exchange is not None and error.exchange.request.method == "GET":
        subject = ""  # it only reads, which is free
    for kind in type(error).__mro__:
        writer = _WRITERS.get(kind.__name__)
        if writer is not None:
            return writer(error, subject, charged)
    return _anything(error, subject, charged)


def _said(error: errors.ServiceError) -> str:
    """The service's own sentence with a full stop, or nothing; a bare word of a machine is said to be one."""
    return _sentence(error.message.strip())


def _sentence(text: str) -> str:
    if _BARE_WORD.fullmatch(text):
        return tr("The service’s reason: “{text}”.", text=text)
    return "" if not text else text if text[-1] in ".!?…" else f"{text}."


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _kept(subject: str) -> str:
    return tr("Your {subject} is saved.", subject=subject) if subject else ""


def _this(subject: str) -> str:
    return tr("this {subject}", subject=subject) if subject else tr("this")


def _says_phrase(error: errors.ServiceError) -> bool:
    """Whether the message only repeats the status: the service itself gave no words."""
    return str(error.status) in error.message


def _safe(error: errors.ServiceError, subject: str) -> str:
    if not subject:
        return tr("Nothing was charged.")
    if error.surely_not_sent:
        return tr("Your {subject} did not reach the service, so nothing was charged.", subject=subject)
    return tr("Your {subject} may have reached the service. Its receipt shows whether it was charged.", subject=subject)


def _anything(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(tr("The service could not do this"), _join(_said(error) or _NO_REASON, charged), RETRY)


def _limit(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    limit = getattr(error, "limit", "")
    name = getattr(error, "field", "")
    what = (
        tr("{name} is over its limit", name=name)
        if name
        else tr("{this} is over a limit", this=_this(subject).capitalize())
    )
    allowed = tr("The limit is {limit}.", limit=limit) if limit and limit not in error.message else ""
    return ErrorText(what, _join(_said(error), allowed, _NOTHING_SENT), EDIT, icon="warning", severity="warn")


def _spending_limit(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    rule = getattr(error, "rule", "")
    what = rule or tr("Your spending limit prevents this")
    change = f"{LIMITS[0]}:{getattr(error, 'scope', '')}", LIMITS[1]
    meaning = _said(error).removeprefix(f"{rule}. ") or _NOTHING_SENT
    return ErrorText(what, meaning, change, icon="warning", severity="warn")


def _held(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("Rialto has paused requests"),
        _join(
            tr("Many requests failed in the last 30 s. Sending more could get your account blocked."), _kept(subject)
        ),
        DISMISS,
        icon="clock",
        severity="warn",
        waits=True,
    )


def _no_credential(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if getattr(error, "locked", False):
        means = tr("Unlock your keys to send {this}.", this=_this(subject))
        return ErrorText(tr("Not sent yet"), means, UNLOCK, icon="lock", severity="warn")
    means = _join(_said(error), tr("Nothing was sent."), _kept(subject))
    return ErrorText(
        tr("The key for this account cannot be read"), means, REPLACE_KEY, RETRY, icon="key", severity="warn"
    )


def _offline(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    code = error.code or ""
    if code.startswith("proxy"):
        means = _join(_said(error), _safe(error, subject))
        return ErrorText(tr("The proxy could not be used"), means, CONNECTION, RETRY, icon="plug", severity="warn")
    if code in ("certificate", "ca_file", "tls"):
        means = _join(_said(error), _safe(error, subject))
        return ErrorText(
            tr("No secure connection to the service"), means, CONNECTION, RETRY, icon="shield", severity="warn"
        )
    return ErrorText(
        tr("The service could not be reached"),
        _join(_safe(error, subject), tr("History and drafts still work.")),
        RETRY,
        SANDBOX,
        icon="offline",
        severity="warn",
    )


def _timed_out(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("The service took too long to respond"),
        _safe(error, subject),
        RETRY,
        CONNECTION,
        icon="clock",
        severity="warn",
    )


def _cut(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if not getattr(error, "arrived", True):
        return ErrorText(
            tr("The reply stopped before it began"),
            _join(tr("Nothing was received."), charged),
            RETRY,
            icon="warning",
            severity="warn",
        )
    return ErrorText(
        tr("The reply stopped early"),
        _join(tr("The part that arrived is saved."), charged),
        CONTINUE,
        START_OVER,
        icon="warning",
        severity="warn",
    )


def _bad_answer(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    why = (
        tr("It was cut off, or changed on the way. What arrived is kept.")
        if charged
        else tr("This may not be the service’s address, or something in between changed the response.")
    )
    return ErrorText(
        tr("The response could not be read"),
        _join(why, charged),
        RETRY,
        CONNECTION,
    )


def _wrong_media(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        str(error).rstrip(".") or tr("The service sent an unexpected response"),
        _join(tr("It may have been charged. The receipt shows whether it was."), charged),
        RETRY,
        icon="warning",
        severity="warn",
    )


def _oversized(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        str(error).rstrip(".") or tr("The response is too large for Rialto"),
        _join(tr("None of it was saved. Request less at a time."), charged),
        EDIT,  # the same question would bring the same answer, and cost as much
        icon="warning",
        severity="warn",
    )


def _in_band(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("The model is overloaded") if _is_overload(error) else tr("The service stopped with an error"),
        _join(_said(error) or _NO_REASON, charged),
        RETRY,
        icon="warning",
        severity="warn",
    )


def _bad_request(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if error.code == "context_length_exceeded":
        return ErrorText(
            tr("This is too long for the model"),
            _join(_said(error), tr("Nothing was charged.")),
            CHOOSE_MODEL,
            EDIT,
            icon="layers",
            severity="warn",
        )
    if error.code == "provider_content_policy":  # of a provider behind the service, whatever the status is
        return _refused_content(error, subject, charged or tr("Nothing was charged."))
    first = error.fields[0] if error.fields else None
    if first is not None:
        end = "" if first.message.endswith((".", "!", "?")) else "."
        # without the name of a field, a bare reason such as "Invalid" says nothing by itself
        said = (
            f"{first.path}: {first.message}{end}"
            if first.path
            else tr("The service said “{message}”.", message=first.message)
        )
        return ErrorText(tr("The service rejected a value"), tr("{said} Nothing was charged.", said=said), EDIT, RETRY)
    if "content-type" in error.message.lower():
        return _bad_type(error, subject, charged)
    if _names_model(error):
        return _not_found(error, subject, charged)
    return ErrorText(
        tr("The service did not accept the request"), _join(_said(error), tr("Nothing was charged.")), EDIT, RETRY
    )


def _no_key(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    exchange = error.exchange
    if error.code == "sign_in_refused":  # our own wallet did not sign: it is locked, watched, or its key is away
        return ErrorText(
            tr("The wallet did not sign"),
            _join(error.message, tr("Nothing was sent."), _kept(subject)),
            RETRY,
            SWITCH,
            icon="lock",
            severity="warn",
        )
    if exchange is not None and exchange.request.sign_in_header:
        coded = (error.code or "").startswith("X402_") or "sign-in" in error.message.lower()
        reason = tr("The service refused the sign-in.") if coded else tr("This feature needs an API key.")
        return ErrorText(
            tr("The service did not accept the wallet’s sign-in"),
            _join(reason, tr("Nothing was charged."), _kept(subject)),
            RETRY if coded else SWITCH,
            SWITCH if coded else RETRY,
            icon="wallet",
        )
    return ErrorText(
        tr("The service did not accept your API key"),
        _join(tr("Nothing was charged."), _kept(subject), tr("The key may have been deleted or replaced.")),
        REPLACE_KEY,
        RETRY,
        icon="key",
    )


def _needs_admin_key(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("This needs an admin key"),
        _join(tr("Your API key works, but it may only make requests."), tr("Nothing was charged."), _kept(subject)),
        OTHER_KEY,
        SWITCH,
        icon="key",
        severity="warn",
    )


def _needs_plan(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if getattr(error, "for_model", False):
        return ErrorText(
            tr("This model is not part of this account’s plan"),
            _join(_said(error), tr("Your API key works."), tr("Nothing was charged."), _kept(subject)),
            CHOOSE_MODEL,
            SWITCH,
            icon="lock",
            severity="warn",
        )
    return ErrorText(
        tr("This account has no active plan"),
        _join(_said(error), tr("Nothing was charged."), _kept(subject)),
        SWITCH,
        RETRY,
        icon="lock",
    )


def _key_limit(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("This API key has reached its own spending limit"),
        _join(
            tr("The account may still have credits: topping up does not help."),
            tr("Nothing was charged."),
            _kept(subject),
        ),
        KEY_LIMIT,
        OTHER_KEY,
        icon="key",
        severity="warn",
    )


def _no_credits(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if getattr(error, "no_credentials", False):
        return ErrorText(
            tr("The service did not receive a key"),
            _join(tr("It asks for a key or a wallet’s sign-in."), tr("Nothing was charged."), _kept(subject)),
            REPLACE_KEY,
            SWITCH,
            icon="key",
        )
    facts: list[tuple[str, str]] = []
    for label, name in ((tr("Needs up to"), "need"), (tr("You have"), "have"), (tr("Minimum top-up"), "minimum")):
        amount = getattr(error, name, None)
        if amount is not None:
            facts.append((label, money(amount)))
    need, have = getattr(error, "need", None), getattr(error, "have", None)
    short = (
        tr("The balance is short by {need}.", need=money(need - have)) if need is not None and have is not None else ""
    )
    top_up = getattr(error, "suggested", None) or getattr(error, "minimum", None)
    button = ("top-up", tr("Top up…"))
    if top_up:  # the dialog begins with the amount that the button names
        button = (f"top-up:{top_up.normalize():f}", tr("Top up {top_up}…", top_up=whole_money(top_up)))
    return ErrorText(
        tr("Not enough credits for {this}", this=_this(subject)),
        _join(short or tr("The balance is too low."), tr("Nothing was charged.")),
        button,
        CHOOSE_MODEL,
        icon="credits",
        severity="warn",
        facts=tuple(facts),
    )


def _forbidden(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("This account is not allowed to do this"),
        _join(_said(error), tr("Nothing was charged.")),
        SWITCH,
        RETRY,
        icon="lock",
    )


def _model_forbidden(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    elsewhere = _REGION.search(error.message) is not None
    return ErrorText(
        tr("This model is not offered in your region") if elsewhere else tr("This key may not use this model"),
        _join(_said(error), tr("Nothing was charged."), _kept(subject)),
        CHOOSE_MODEL,
        None if elsewhere else OTHER_KEY,
        icon="lock",
        severity="warn",
    )


def _other_wallet(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("This belongs to another wallet"), _join(_said(error), tr("Nothing was charged.")), SWITCH, icon="wallet"
    )


def _account_disabled(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("The service has closed its API for this account"),
        _join(_said(error), tr("Nothing was charged."), _kept(subject)),
        SWITCH,
        RETRY,
        icon="lock",
    )


def _names_model(error: errors.ServiceError) -> bool:
    """Whether the service says that the model is not one of its own (any more)."""
    return _NO_MODEL.search(error.message) is not None


def _not_found(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    said = error.message.lower()
    replacement = _REPLACEMENT.search(error.message)
    if replacement is not None:
        name = replacement[1].rstrip(".")
        choice, other = (f"use-model:{name}", tr("Use {other}", other=name)), CHOOSE_MODEL
    elif "character" in said or "media" in said:
        choice, other = EDIT, RETRY
    else:
        choice, other = CHOOSE_MODEL, RETRY
    why = "" if replacement or choice == EDIT else tr("It may have been renamed or removed.")
    return ErrorText(
        tr("The service does not have this model") if _names_model(error) else tr("The service does not have this"),
        _join(_said(error), why, tr("Nothing was charged.")),
        choice,
        other,
        icon="search",
        severity="warn",
    )


def _conflict(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if getattr(error, "consent", None):
        return ErrorText(
            tr("The service needs your consent"),
            _join(_said(error), tr("Nothing was charged.")),
            ("consent", tr("Review…")),
            icon="shield",
            severity="warn",
        )
    busy = "progress" in error.message.lower()
    what = tr("Something else is in progress") if busy else tr("The service cannot do this right now")
    return ErrorText(what, _join(_said(error) or _NO_REASON, tr("Nothing was charged.")), RETRY, severity="warn")


def _gone(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("The service no longer has this"),
        _join(_said(error), tr("Nothing was charged.")),
        CHOOSE_MODEL if "model" in error.message.lower() else UPDATE,
        icon="history",
        severity="warn",
    )


def _too_large(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("{this} is too large to send", this=_this(subject).capitalize())
        if subject
        else tr("The request is too large for the service"),
        _join(_said(error), tr("The original is not changed.") if subject else "", tr("Nothing was charged.")),
        ("shorten", tr("Make it smaller")),
        icon="drive",
    )


def _bad_type(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if "content-type" in error.message.lower() or "encoding" in error.message.lower():  # ours, not a file's
        return ErrorText(
            tr("The service does not accept requests of this kind"),
            _join(_said(error), tr("Nothing was charged.")),
            UPDATE,
            RETRY,
        )
    return ErrorText(
        tr("The service does not accept this kind of file"),
        _join(_said(error), tr("Nothing was charged.")),
        ("choose-file", tr("Choose another file…")),
        icon="document",
    )


def _refused_content(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if not getattr(error, "by_policy", True):
        return ErrorText(
            tr("The service cannot use this"),
            _join(_said(error) or _NO_REASON, charged or tr("Nothing was charged.")),
            ("choose-file", tr("Choose another file…")),
            CHOOSE_MODEL,
            icon="document",
            severity="warn",
        )
    refunded = getattr(error, "credits_refunded", None)
    money_word = charged or (tr("The credits were refunded.") if refunded else "")
    if getattr(error, "suggested_prompt", ""):
        return ErrorText(
            tr("The service’s content rules do not allow this"),
            _join(_said(error) or _NO_REASON, money_word, tr("The service suggests different wording.")),
            ("use-suggestion", tr("Show suggestion…")),
            EDIT,
            icon="shield",
            severity="warn",
        )
    other = getattr(error, "recommended_model", "")
    choice = (f"use-model:{other}", tr("Use {other}", other=other)) if other else CHOOSE_MODEL
    return ErrorText(
        tr("The service’s content rules do not allow this"),
        _join(_said(error) or _NO_REASON, money_word),
        EDIT,
        choice,
        icon="shield",
        severity="warn",
    )


def _is_overload(error: errors.ServiceError) -> bool:
    """Whether the model has too much to do, rather than a limit being reached."""
    return error.code == "model_overloaded" or _OVERLOADED.search(error.message) is not None


def _beyond_waiting(error: errors.ServiceError) -> str:
    """What the service says of a limit, such as which one it is; "" where it says only that there is one."""
    bare = _WAITING_IS_ALL.match(error.message) or _says_phrase(error) or _is_overload(error)
    return "" if bare else _said(error)


def _rate_limited(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    overloaded = _is_overload(error)
    if not error.retry_after_s:  # a reset that is over already says nothing
        return ErrorText(
            tr("The model is overloaded") if overloaded else tr("Too many requests"),
            _join(_said(error), _whose_limit(error), _kept(subject), tr("Nothing was charged.")),
            RETRY,
            CHOOSE_MODEL,
            icon="clock",
            severity="warn",
        )
    return ErrorText(
        tr("The model is overloaded") if overloaded else tr("Limit reached"),
        _join(
            _beyond_waiting(error),
            tr("Rialto resends your {subject} automatically when the wait is over.", subject=subject),
            _whose_limit(error),
        ),
        DISMISS,
        CHOOSE_MODEL,
        icon="clock",
        severity="warn",
        waits=True,
    )


def _whose_limit(error: errors.ServiceError) -> str:
    whose = {
        "api_key": tr("Your API key sets this limit."),
        "user": tr("Your account sets this limit."),
        "global": tr("The service sets this limit for everyone."),
    }
    return whose.get((error.info.limit_type if error.info is not None else None) or "", "")


def _blocked(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    allowed = _FAILURES.search(error.message)
    return ErrorText(
        tr("The service is refusing all requests for now"),
        _join(
            tr_n(
                "More than one request failed in 30 s.",
                "More than {n} requests failed in 30 s.",
                int(allowed[1]) if allowed else 20,
            ),
            tr("All tabs are waiting."),
            _kept(subject),
            tr("Nothing was charged."),
        ),
        DISMISS,
        icon="clock",
        waits=True,
    )


def _server_failed(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    if error.status == 511:  # by definition from a network on the way: the request never left it
        return ErrorText(
            tr("This network asks you to sign in"),
            _join(tr("Open any page in your browser and sign in to the network."), _kept(subject), _NOTHING_SENT),
            RETRY,
            CONNECTION,
            severity="warn",
            icon="offline",
        )
    if error.status == 501:  # the Sandbox without one of its engines says which, and what brings it
        return ErrorText(
            tr("The service cannot do this here"),
            _join(_said(error) or _NO_REASON, _kept(subject), tr("Nothing was charged.")),
            CHOOSE_MODEL,
            severity="warn",
            icon="warning",
        )
    busy = error.status in (502, 503, 504, 529)
    what = tr("The service is busy") if busy else tr("The service failed")
    tries = error.exchange.attempts if error.exchange is not None else 1
    tried = tr_n("Rialto tried once.", "Rialto tried {n} times.", tries) if tries > 1 else ""
    return ErrorText(
        what,
        _join("" if _says_phrase(error) else _said(error), tried, _safe(error, subject)),
        RETRY,
        CHOOSE_MODEL,
        severity="warn",
        icon="warning",
    )


def _unknown_outcome(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("It is not clear whether this was paid"),
        tr(
            "The payment was sent, but no clear response came back. Check the balance first. Sending "
            "this same payment again is safe. Making a new one is not."
        ),
        CHECK_BALANCE,
        severity="warn",
        icon="warning",
    )


def _evidence_refused(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("This model’s enclave could not be verified"),
        _join(_sentence(error.message) or _NO_REASON, _kept(subject), _NOTHING_SENT),
        RETRY,
        CHOOSE_MODEL,
        icon="warning",
    )


def _seal_broken(error: errors.ServiceError, subject: str, charged: str) -> ErrorText:
    return ErrorText(
        tr("The sealed answer failed its check"),
        _join(_sentence(error.message), tr("Rialto stopped the answer and did not resend anything."), charged),
        CHOOSE_MODEL,
        icon="warning",
    )


_Writer = Callable[["errors.ServiceError", str, str], ErrorText]
_WRITERS: dict[str, _Writer] = {
    "ServiceError": _anything,
    "LimitExceeded": _limit,
    "SpendingLimit": _spending_limit,
    "CredentialUnavailable": _no_credential,
    "CallsPaused": _held,
    "ConnectionFailed": _offline,
    "TimedOut": _timed_out,
    "StreamCut": _cut,
    "SealBroken": _seal_broken,
    "EvidenceRefused": _evidence_refused,
    "BadResponse": _bad_answer,
    "OversizedResponse": _oversized,
    "WrongMedia": _wrong_media,
    "InBandError": _in_band,
    "ContentBlocked": _refused_content,
    "OutcomeUnknown": _unknown_outcome,
    "BadRequest": _bad_request,
    "AuthenticationFailed": _no_key,
    "AdminKeyRequired": _needs_admin_key,
    "PlanRequired": _needs_plan,
    "PaymentRequired": _no_credits,
    "KeyLimitReached": _key_limit,
    "Forbidden": _forbidden,
    "ModelForbidden": _model_forbidden,
    "OtherWallet": _other_wallet,
    "AccountDisabled": _account_disabled,
    "NotFound": _not_found,
    "Conflict": _conflict,
    "Gone": _gone,
    "TooLarge": _too_large,
    "UnsupportedType": _bad_type,
    "ContentRefused": _refused_content,
    "RateLimited": _rate_limited,
    "AbuseBlocked": _blocked,
    "ServerFailed": _server_failed,
}


def has_own_words(kind: type[errors.ServiceError]) -> bool:
    """Tell whether a class has sentences of its own rather than its parent's."""
    return kind.__name__ in _WRITERS
