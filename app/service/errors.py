"""What can go wrong with a call. Nothing but a `ServiceError` leaves this layer; `CancelledError` is nobody's error.

    ServiceError
    ├── LimitExceeded         refused here, before anything was sent: names the field and its limit
    │   └── SpendingLimit     the limit is the person's own, on what may be spent
    ├── CredentialUnavailable not sent: the key that the call needs is locked, or not on this computer
    ├── CallsPaused           not sent: too many refused calls lately, or the service blocks us for a while
    ├── ConnectionFailed      no answer; `surely_not_sent` says whether the service can have seen the call
    ├── TimedOut              no answer in time; may have been carried out and charged
    ├── StreamCut             an answer began and ended too early; what arrived stays with the caller
    │   └── SealBroken        a sealed answer that is not sealed, or was changed; `reason` says which
    ├── BadResponse             an answer that cannot be what the service meant: not JSON, another host
    │   ├── WrongMedia        no sound, no image, no text where one was asked for; may have been charged
    │   └── OversizedResponse   larger than we read; `str(error)` names the limit
    ├── InBandError           an error object inside an answer that began with 200
    │   └── ContentBlocked    the model's provider stopped the answer for its content
    ├── EvidenceRefused       not sent: what should prove a model's enclave does not; `verdict` has every check
    ├── OutcomeUnknown        a payment was sent, and nobody can say yet whether it was carried out
    └── RefusedCall           the service answered with a status of 400 or more
        ├── BadRequest            400   `fields` names what to change
        ├── AuthenticationFailed  401
        ├── AdminKeyRequired      401   the key is good, the endpoint is for admin keys
        ├── PlanRequired          401   the key is good, the account's plan does not include this
        ├── PaymentRequired       402   need, have, minimum, options
        ├── KeyLimitReached       402   the key's own limit on spending, whatever the balance is
        ├── Forbidden             403
        │   ├── ModelForbidden    403   not this model: the key's privacy setting, or the region
        │   └── OtherWallet       403   what belongs to another wallet
        ├── AccountDisabled       403   the service has closed its API for this account
        ├── NotFound              404
        ├── Conflict              409   consent, or a payment in progress
        ├── Gone                  410
        ├── TooLarge              413
        ├── UnsupportedType       415
        ├── ContentRefused        422   by its rules, or because the file does not suit; may carry what would pass
        ├── RateLimited           429   `retry_after_s` until the next window
        │   └── AbuseBlocked      429   "too many failed attempts": everything is refused for 30 s
        └── ServerFailed          5xx

Each class can be made from a sentence alone, so a screen can be tried with every one of them.
Standard library only: the window imports this before it paints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.service.exchange import Exchange
    from app.service.response_info import ResponseInfo
    from app.service.sealed.resource import Attestation


@dataclass(frozen=True, slots=True)
class FieldError:
    """One complaint about one field. `path` as a person writes it: `messages[0].content`; empty for the whole body."""

    path: str
    message: str


class ServiceError(Exception):
    """A call that did not give what was asked for.

    `message` is the service's own sentence where it gave one: bounded, without markup, still not to be trusted.
    `code` is a machine word from the body or None. `request_id` is what support asks for, or "". `retry_after_s` is
    how long to wait, where anybody said so. `surely_not_sent` is True only if the service cannot have seen the call.
    `exchange` is the call as it happened, with its request; None if it never left this computer.
    """

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        code: str | None = None,
        fields: tuple[FieldError, ...] = (),
        info: ResponseInfo | None = None,
        request_id: str = "",
        retry_after_s: float | None = None,
        surely_not_sent: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.fields = fields
        self.info = info
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.surely_not_sent = surely_not_sent
        self.exchange: Exchange | None = None


class LimitExceeded(ServiceError):
    """Refused before sending. `field` is the wire name, `limit` the largest (or smallest) value allowed, as text."""

    def __init__(self, message: str = "", *, field: str = "", limit: str = "") -> None:
        fields = (FieldError(field, message),) if field else ()
        super().__init__(message, fields=fields, surely_not_sent=True)
        self.field = field
        self.limit = limit


class SpendingLimit(LimitExceeded):
    """Refused before sending by one's own limit on spending.

    The message begins with `rule`, which says which: "Your daily limit of $2.00 is reached". `scope` is what the limit
    is for: "day", "call", "tab speech", "account <id>".
    """

    def __init__(self, message: str = "", *, rule: str = "", scope: str = "day") -> None:
        super().__init__(message)
        self.rule = rule
        self.scope = scope


class CredentialUnavailable(ServiceError):
    """Not sent: the key or password that the call needs cannot be read. `locked`: it can be, once it is unlocked."""

    def __init__(self, message: str = "", *, locked: bool = False) -> None:
        super().__init__(message, surely_not_sent=True)
        self.locked = locked


class CallsPaused(ServiceError):
    """Not sent, because more refusals would get the account blocked. Try again in `resumes_in_s`."""

    def __init__(self, message: str = "", *, resumes_in_s: float = 0.0) -> None:
        super().__init__(message, retry_after_s=resumes_in_s, surely_not_sent=True)
        self.resumes_in_s = resumes_in_s


class ConnectionFailed(ServiceError):
    """No connection, or it broke before an answer began."""


class TimedOut(ServiceError):
    """No answer within the time allowed. Unless `surely_not_sent`, the call may have been carried out."""


class StreamCut(ServiceError):
    """The answer stopped before its end. What `arrived` has already been given to the caller."""

    arrived = True  # False: not even a beginning


class SealBroken(StreamCut):
    """A sealed answer that cannot be trusted. Nothing of the piece that broke the seal is given to anybody.

    `reason`: "clear" (something came in the clear), "damaged" (a piece that does not open), "unsealed" (the answer does
    not say that it is sealed), "stale" (the enclave has another key now), "history" (earlier turns were refused), or
    "refused" (the sealed request was). It is never repeated by itself, and never in the clear.
    """

    def __init__(self, message: str = "", *, reason: str = "damaged", arrived: bool = False, **told: Any) -> None:
        super().__init__(message, **told)
        self.reason = reason
        self.arrived = arrived


class EvidenceRefused(ServiceError):
    """Nothing was sent: the evidence of a model's enclave failed a check. The message is that check's sentence.

    `attestation` is what was checked, with every line; None where the service could not be asked. `changed_at` is set
    where the enclave is genuine but not the one first seen there: the person has to say whether to go on.
    """

    def __init__(self, message: str = "", *, attestation: Attestation | None = None, changed_at: str = "") -> None:
        super().__init__(message, surely_not_sent=True)
        self.attestation = attestation
        self.changed_at = changed_at


class BadResponse(ServiceError):
    """An answer that cannot be read: not the promised format, or sent on to another host."""


class WrongMedia(BadResponse):
    """A good answer whose bytes are no sound, no image, no text: not what was asked for, and maybe charged."""


class OversizedResponse(BadResponse):
    """An answer larger than is read here. Nothing of it was kept in memory."""


class InBandError(ServiceError):
    """An error object inside a stream whose status was 200. Text that came before it stays with the caller."""


class ContentBlocked(InBandError):
    """The answer was stopped for its content. The same request would be stopped again."""


class OutcomeUnknown(ServiceError):
    """Money may have moved. Look at balance and transactions; send the identical payment again, never another one."""


class RefusedCall(ServiceError):
    """The service answered with a status of 400 or more."""


class BadRequest(RefusedCall):
    """400: something in the request is wrong; `fields` says what, where the service said so."""


class AuthenticationFailed(RefusedCall):
    """401: the key or the sign-in was not accepted. Some services also answer so where it only lacks a right."""


class AdminKeyRequired(RefusedCall):
    """401 for a key that may make requests but not manage the account."""


class PlanRequired(RefusedCall):
    """401 for a good key of an account without a paid plan. `for_model`: other models would do."""

    for_model = False


class PaymentRequired(RefusedCall):
    """402: the balance is too low, or nothing was presented that could pay.

    `have` and `need` in USD where the service named them; `minimum` is the smallest top-up, `suggested` the one it
    proposes. `options` are payment options as received: show them, never pay from them without asking.
    """

    have: Decimal | None = None
    need: Decimal | None = None
    minimum: Decimal | None = None
    suggested: Decimal | None = None
    options: tuple[Mapping[str, object], ...] = ()
    challenge: Mapping[str, object] | None = None
    no_credentials = False  # the service saw neither a key nor a sign-in, and says how to pay instead


class KeyLimitReached(RefusedCall):
    """402 of a key that has reached its own spending limit. Topping up the account changes nothing."""


class Forbidden(RefusedCall):
    """403: not from this region, not with this key, not for this wallet."""


class ModelForbidden(Forbidden):
    """403 for one model: the key is limited to private models, or the model is not offered in this region."""


class OtherWallet(Forbidden):
    """403: a wallet may see only what is its own."""


class AccountDisabled(RefusedCall):
    """403 for every call of an account that the service has closed its API for."""


class NotFound(RefusedCall):
    """404: no such model, character, job or path."""


class Conflict(RefusedCall):
    """409: consent is needed first (`consent` holds what was asked), or a payment is already in progress."""

    consent: Mapping[str, object] | None = None


class Gone(RefusedCall):
    """410: a retired model or endpoint, or a download that has been given out already."""


class TooLarge(RefusedCall):
    """413: the body is larger than the service takes."""


class UnsupportedType(RefusedCall):
    """415: the content type is not accepted."""


class ContentRefused(RefusedCall):
    """422: refused by content policy, or (`by_policy` False) the medium cannot be read or has the wrong size."""

    by_policy = True
    suggested_prompt: str = ""
    recommended_model: str = ""
    credits_refunded: bool | None = None


class RateLimited(RefusedCall):
    """429: a limit is reached. `retry_after_s` counts to the next window where the service told it."""


class AbuseBlocked(RateLimited):
    """429 of the failure budget: every call is refused for 30 s."""


class ServerFailed(RefusedCall):
    """5xx: the service failed."""


# What the same key is refused again, and another one or a change to the account may be allowed.
NEEDS_ANOTHER_KEY = (AuthenticationFailed, AdminKeyRequired, PlanRequired, KeyLimitReached, AccountDisabled)
