"""A refusal's body, in whatever shape it comes, to one `ServiceError`.

The service has no single error shape: the text may stand in `error`, in `error.message`, in `customMessage`, the
machine code in `code`, in `error.code` or in `error` itself, and proxies in front of it answer with HTML or nothing.
Source: service specification, errors (R-ERR-01..15); the order of the tests below is part of it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus

from app.service.amounts import balance, charge, number
from app.service.errors import (
    AbuseBlocked,
    AccountDisabled,
    AdminKeyRequired,
    AuthenticationFailed,
    BadRequest,
    BadResponse,
    Conflict,
    ContentBlocked,
    ContentRefused,
    FieldError,
    Forbidden,
    Gone,
    InBandError,
    KeyLimitReached,
    ModelForbidden,
    NotFound,
    OtherWallet,
    PaymentRequired,
    PlanRequired,
    RateLimited,
    RefusedCall,
    ServerFailed,
    ServiceError,
    TooLarge,
    UnsupportedType,
)
from app.service.http.json_text import read_json
from app.service.response_info import MAX_WAIT_S, ResponseInfo
from app.translation import tr

MAX_MESSAGE_CHARS = 600
MAX_FOREIGN_CHARS = 200  # of a body that is not JSON
MAX_FIELDS = 100
MAX_DEPTH = 24
BLOCK_S = 30.0
BLOCK_TEXT = re.compile(r"too many failed attempts", re.IGNORECASE)

_MACHINE_WORD = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_INVISIBLE = re.compile(r"<(script|style|head)\b.*?(</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(?:[A-Za-z/!?][^>]*>|!--.*?-->)", re.DOTALL)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\s]+")

_BY_STATUS: Mapping[int, type[RefusedCall]] = {
    400: BadRequest,
    401: AuthenticationFailed,
    402: PaymentRequired,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    415: UnsupportedType,
    422: ContentRefused,
    429: RateLimited,
}

# Refusals that only their words tell from others with their status; without a match, the status decides.
# Source: the public table of error codes, whose codes are not on the wire.
_BY_WORDS: tuple[tuple[int, type[RefusedCall], re.Pattern[str]], ...] = tuple(
    (status, kind, re.compile(words, re.IGNORECASE))
    for status, kind, words in (
        (401, AdminKeyRequired, r"\badmin (api )?key"),
        (401, PlanRequired, r"\bonly available to\b|\bsubscription is (inactive|not active)"),
        (402, KeyLimitReached, r"\bkey\b.*\bspend(ing)? limit"),
        (403, AccountDisabled, r"\bapi access\b.*\bdisabled"),
        (403, OtherWallet, r"\b(your own|only the) wallet"),
        (403, ModelForbidden, r"\bmodels?\b"),
    )
)
_POLICY = re.compile(r"polic(y|ies)|violat|moderat|\bblocked\b|prohibited|not allowed|content rules", re.IGNORECASE)
_BLOCKED_IN_BAND = frozenset({"content_blocked_by_provider", "content_filter_error", "content_filter"})


def decode_refusal(info: ResponseInfo, body: bytes) -> RefusedCall:
    """Return the error that an answer with `info.status` of 400 or more stands for. Never raises."""
    found = _json(body)
    content = found if isinstance(found, Mapping) else None
    message, code, fields = _said(content) if content is not None else (_foreign_text(found, body), None, ())
    blocked = info.status == 429 and (BLOCK_TEXT.search(message) or BLOCK_TEXT.search(body.decode("utf-8", "replace")))
    kind: type[RefusedCall]
    if blocked:
        kind = AbuseBlocked
    elif info.status >= 500:
        kind = ServerFailed
    else:
        found_kinds = (kind for status, kind, words in _BY_WORDS if status == info.status and words.search(message))
        kind = next(found_kinds, _BY_STATUS.get(info.status, RefusedCall))
    content = content or {}
    error = kind(
        message or _phrase(info.status),
        status=info.status,
        code=code,
        fields=fields,
        info=info,
        request_id=_text(content.get("request_id"), 200) or info.request_id,
        retry_after_s=BLOCK_S if blocked else _retry_after_s(info, content),
    )
    _add_particulars(error, content)
    return error


def decode_in_band(content: Mapping[str, object], info: ResponseInfo | None = None) -> InBandError:
    """Return the error that stands inside a stream which began well. Never raises."""
    message, code, fields = _said(content)
    seconds = number(_get(content.get("error"), "retry_after"))
    names = (code, _get(content.get("error"), "type"))
    kind = ContentBlocked if any(name in _BLOCKED_IN_BAND for name in names) else InBandError
    return kind(
        message or tr("The service reported an error in its response."),
        status=info.status if info else None,
        code=code,
        fields=fields,
        info=info,
        request_id=_text(content.get("request_id"), 200) or (info.request_id if info else ""),
        retry_after_s=min(max(float(seconds), 0.0), MAX_WAIT_S) if seconds is not None else None,
    )


def misdirected(info: ResponseInfo) -> BadResponse:
    """The error for a status that is neither good nor a refusal."""
    return BadResponse(
        tr("The service answered {status}, which does not match this request.", status=info.status),
        status=info.status,
        info=info,
        request_id=info.request_id,
    )


def plain_text(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """A stranger's text as one line: no markup, no control or direction characters, no more than `max_chars`."""
    text = text[: max_chars * 50]  # bounds the work on a hostile page
    if "<" in text:
        text = _TAG.sub(" ", _INVISIBLE.sub(" ", text))
    text = _UNPRINTABLE.sub(" ", html.unescape(text)).strip()
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def flatten_details(details: object) -> tuple[FieldError, ...]:
    """Every complaint of a validation tree with the path of its field: `speed`, `messages[0].content`.

    `_errors` holds the complaints of a level; every other key leads one level down, array items by their number.
    """
    if isinstance(details, str):
        text = plain_text(details)
        return (FieldError("", text),) if text else ()
    return tuple(each for each, _ in zip(_walk(details, "", 0), range(MAX_FIELDS), strict=False))


def _walk(level: object, path: str, depth: int) -> Iterator[FieldError]:
    if not isinstance(level, Mapping) or depth > MAX_DEPTH:
        return
    complaints = level.get("_errors")
    if isinstance(complaints, list):
        for complaint in complaints:
            text = _text(complaint)
            if text:
                yield FieldError(path, text)
    for key, below in level.items():
        if key != "_errors":
            yield from _walk(below, join_path(path, key), depth + 1)


def join_path(path: str, key: object) -> str:
    name = plain_text(str(key), 60)
    if isinstance(key, int) or name.isdigit():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def _issues(issues: object) -> tuple[FieldError, ...]:
    """The flat list that some answers put beside the tree."""
    found: list[FieldError] = []
    for issue in issues[:MAX_FIELDS] if isinstance(issues, list) else ():
        text = _text(_get(issue, "message"))
        steps = _get(issue, "path")
        path = ""
        for step in steps[:MAX_DEPTH] if isinstance(steps, list) else ():
            path = join_path(path, step)
        if text:
            found.append(FieldError(path, text))
    return tuple(found)


def _said(content: Mapping[str, object]) -> tuple[str, str | None, tuple[FieldError, ...]]:
    """Message, machine code and field complaints of a JSON body."""
    error = content.get("error")
    code = content.get("code")
    if isinstance(error, Mapping):
        message = _text(error.get("message"))
        code = error.get("code") or error.get("type") or code
    elif isinstance(error, str) and "message" in content and _MACHINE_WORD.fullmatch(error):
        message, code = _text(content.get("message")), error
    else:
        message = _text(content.get("customMessage")) or _text(content.get("message") if code else None)
        message = message or _text(error) or _text(content.get("message"))
    details = content.get("details")
    if details is None and isinstance(error, Mapping):
        details = error.get("details")
    fields = flatten_details(details) or _issues(content.get("issues"))
    param = _text(_get(error, "param"), 60)
    if not fields and param and message:
        fields = (FieldError(param, message),)
    return message, (_text(code, 80) or None), fields


def _add_particulars(error: RefusedCall, content: Mapping[str, object]) -> None:
    if isinstance(error, PaymentRequired):
        error.have = balance(content.get("currentBalanceUsd"))
        error.need = charge(content.get("minimumBalanceUsd"))
        error.minimum = charge(content.get("minimumTopUpUsd"))
        error.suggested = charge(content.get("suggestedTopUpUsd"))
        options = content.get("accepts")
        error.options = (
            tuple(each for each in options if isinstance(each, Mapping)) if isinstance(options, list) else ()
        )
        challenge = content.get("siwxChallenge") or _get(content.get("extensions"), "sign-in-with-x")
        error.challenge = challenge if isinstance(challenge, Mapping) else None
        error.no_credentials = "x402Version" in content
    elif isinstance(error, PlanRequired):
        error.for_model = re.search(r"\bmodel\b", error.message, re.IGNORECASE) is not None
    elif isinstance(error, ContentRefused):
        inner = content.get("error")
        error.suggested_prompt = _text(content.get("suggested_prompt"), 4000)
        error.recommended_model = _text(_get(inner, "recommended_model") or content.get("recommended_model"), 200)
        refunded = _get(inner, "credits_refunded")
        refunded = content.get("credits_refunded") if refunded is None else refunded
        error.credits_refunded = refunded if isinstance(refunded, bool) else None
        hints = error.suggested_prompt or error.recommended_model or error.credits_refunded is not None
        error.by_policy = bool(hints or _POLICY.search(f"{error.code or ''} {error.message}"))
    elif isinstance(error, Conflict) and "consent_flow" in content:
        error.consent = {key: value for key, value in content.items() if key != "error"}


def _retry_after_s(info: ResponseInfo, content: Mapping[str, object]) -> float | None:
    if info.retry_after_s is not None:
        return info.retry_after_s
    if info.status != 429:
        return None
    seconds = number(_get(content.get("error"), "retry_after"))
    if seconds is not None:
        return min(max(float(seconds), 0.0), MAX_WAIT_S)
    reset_at = info.reset_at
    return (reset_at - info.received_at).total_seconds() if reset_at is not None else None


def _json(body: bytes) -> object:
    """What the body says as JSON, of a list the first object; None for what is no JSON."""
    try:
        content = read_json(body)
    except ServiceError:
        return None
    if isinstance(content, list):
        return next((each for each in content if isinstance(each, Mapping)), content)
    return content


def _foreign_text(found: object, body: bytes) -> str:
    """The words of a body that is no object: its own where it is a text or no JSON, none where it is data."""
    if found is not None:
        return _text(found, MAX_FOREIGN_CHARS)
    return plain_text(body.decode("utf-8", "replace"), MAX_FOREIGN_CHARS)


def _phrase(status: int) -> str:
    try:
        return tr("The service answered {status} {phrase}.", status=status, phrase=HTTPStatus(status).phrase)
    except ValueError:
        return tr("The service answered {status}.", status=status)


def _text(value: object, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    return plain_text(value, max_chars) if isinstance(value, str) else ""


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None
