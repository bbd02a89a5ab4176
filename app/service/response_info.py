"""Every response header that we read, as one value. Unreadable values are left out, never guessed.

Source: service specification, response headers and rate-limit headers (R-HDR-01..32). Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from app.service.amounts import balance, charge, count, number
from app.service.dialect import Dialect
from app.service.http.sanitize import sanitize_text
from app.translation import tr

MAX_WAIT_S = 24 * 3600.0
SKEW_WORTH_CORRECTING_S = 5.0
MAX_HEADER_VALUE_CHARS = 8192
UNSHOWN_HEADERS = frozenset({"set-cookie", "authorization", "www-authenticate", "proxy-authenticate"})
MAX_FILE_NAME_CHARS = 120
_UNSAFE_IN_FILE_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069]')


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """What one answer said about itself. Times are aware; money is USD as Decimal, except the DIEM balance.

    `balance_usd` and `balance_diem` are the balances *before* the call. Everything the service did not send is None.
    """

    status: int
    received_at: datetime
    headers: tuple[tuple[str, str], ...] = ()  # lower-case names, in order; cookies and credentials left out

    content_type: str | None = None  # without parameters, lower case
    content_encoding: str | None = None
    content_length: int | None = None
    date: datetime | None = None
    retry_after_s: float | None = None

    request_id: str = ""  # X-Request-ID, else CF-RAY
    cf_ray: str | None = None
    service_version: str | None = None
    service_timestamp: str | None = None
    host_name: str | None = None

    model_id: str | None = None
    model_name: str | None = None
    model_router: str | None = None
    deprecation_warning: str | None = None
    deprecation_date: str | None = None  # ISO 8601 as sent
    deprecated: bool | None = None
    deprecated_replacement: str | None = None
    enhanced_prompt: str | None = None

    limit_requests: int | None = None
    remaining_requests: int | None = None
    reset_requests_at: datetime | None = None
    limit_tokens: int | None = None  # per minute
    remaining_tokens: int | None = None
    reset_tokens_at: datetime | None = None
    limit_type: str | None = None  # "user", "api_key", "global"
    cap_limit: int | None = None  # X-RateLimit-*: the chain proxy's calls per minute
    cap_remaining: int | None = None
    cap_reset_at: datetime | None = None
    failures_remaining: int | None = None  # how many refusals are left before a block
    failures_reset_at: datetime | None = None

    page: int | None = None  # counted from 1
    page_size: int | None = None
    page_total: int | None = None  # rows
    page_count: int | None = None
    next_cursor: str | None = None

    balance_usd: Decimal | None = None
    balance_diem: Decimal | None = None
    balance_remaining: Decimal | None = None  # wallet callers: after the call
    rpc_credits: int | None = None
    rpc_cost_usd: Decimal | None = None
    claimed: str = ""  # charges that no call can have, as sent
    replayed: bool | None = None  # Idempotent-Replayed: nothing was charged
    payment_required: str | None = None  # base64 JSON
    payment_response: str | None = None

    tee: bool | None = None  # the answer comes from an enclave, sealed where the request was
    tee_provider: str | None = None
    is_blurred: bool | None = None
    is_content_violation: bool | None = None
    is_adult_content_violation: bool | None = None
    contains_minor: bool | None = None
    auth_refreshed: str | None = None
    retry_count: int | None = None
    endpoint_deprecation: str | None = None
    endpoint_sunset: str | None = None
    endpoint_link: str | None = None

    @property
    def reset_at(self) -> datetime | None:
        """When the window that stopped us opens again: the requests' window first, then tokens, then the cap."""
        return self.reset_requests_at or self.cap_reset_at or self.reset_tokens_at

    @property
    def was_sign_in_refreshed(self) -> bool:
        """Whether the service renewed the token of this call. Any value but a no counts: the header has no format."""
        return (self.auth_refreshed or "false").lower() not in ("false", "0", "no")

    @property
    def clock_skew_s(self) -> float:
        """How far the service's clock is ahead of ours; 0 when the answer had no date or it is within its 1 s grain."""
        if self.date is None:
            return 0.0
        skew = (self.date - self.received_at).total_seconds()
        return skew if abs(skew) > SKEW_WORTH_CORRECTING_S else 0.0


def read_response_info(
    status: int, headers: Iterable[tuple[str, str]], dialect: Dialect, received_at: datetime | None = None
) -> ResponseInfo:
    """Read `headers` (any case, any order, repeated names: the first counts) into a `ResponseInfo`."""
    now = received_at or datetime.now(UTC)
    shown: list[tuple[str, str]] = []
    first: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        text = sanitize_text(value[:MAX_HEADER_VALUE_CHARS].strip())
        first.setdefault(lower, text)
        if lower not in UNSHOWN_HEADERS:
            shown.append((lower, text))

    get = first.get
    branded = dialect.branded(first).get

    date = _http_date(get("date"))
    skew = _skew(date, now)

    def reset(name: str) -> datetime | None:
        return reset_moment(get(name), now, skew)

    cf_ray = get("cf-ray")
    enhanced = branded("enhanced-prompt")
    return ResponseInfo(
        status=status,
        received_at=now,
        headers=tuple(shown),
        content_type=(get("content-type") or "").partition(";")[0].strip().lower() or None,
        content_encoding=(get("content-encoding") or "").lower() or None,
        content_length=count(get("content-length")),
        date=date,
        retry_after_s=_retry_after(get("retry-after"), now, skew),
        request_id=get("x-request-id") or cf_ray or "",
        cf_ray=cf_ray,
        service_version=branded("version"),
        service_timestamp=branded("timestamp"),
        host_name=branded("host-name"),
        model_id=branded("model-id"),
        model_name=branded("model-name"),
        model_router=branded("model-router"),
        deprecation_warning=branded("model-deprecation-warning"),
        deprecation_date=branded("model-deprecation-date"),
        deprecated=truth(branded("deprecated")),
        deprecated_replacement=branded("deprecated-replacement"),
        enhanced_prompt=sanitize_text(unquote(enhanced)) if enhanced is not None else None,
        limit_requests=count(get("x-ratelimit-limit-requests")),
        remaining_requests=count(get("x-ratelimit-remaining-requests")),
        reset_requests_at=reset("x-ratelimit-reset-requests"),
        limit_tokens=count(get("x-ratelimit-limit-tokens")),
        remaining_tokens=count(get("x-ratelimit-remaining-tokens")),
        reset_tokens_at=reset("x-ratelimit-reset-tokens"),
        limit_type=get("x-ratelimit-type"),
        cap_limit=count(get("x-ratelimit-limit")),
        # Two families share `x-ratelimit-remaining`: the proxy's cap has `-limit` beside it, the failure budget not.
        cap_remaining=count(get("x-ratelimit-remaining")) if "x-ratelimit-limit" in first else None,
        cap_reset_at=reset("x-ratelimit-reset"),
        failures_remaining=None if "x-ratelimit-limit" in first else count(get("x-ratelimit-remaining")),
        failures_reset_at=reset("x-ratelimit-resets"),
        page=count(get("x-pagination-page")),
        page_size=count(get("x-pagination-limit")),
        page_total=count(get("x-pagination-total")),
        page_count=count(get("x-pagination-total-pages")),
        next_cursor=get("x-next-cursor"),
        balance_usd=balance(branded("balance-usd")),
        balance_diem=balance(branded("balance-diem")),
        balance_remaining=balance(get("x-balance-remaining")),
        rpc_credits=count(branded("rpc-credits")),
        rpc_cost_usd=charge(branded("rpc-cost-usd")),
        claimed=_impossible(credits=branded("rpc-credits"), usd=branded("rpc-cost-usd")),
        replayed=truth(get("idempotent-replayed")),
        payment_required=get("payment-required"),
        payment_response=get("payment-response") or get("x-payment-response"),
        tee=truth(branded("tee")),
        tee_provider=branded("tee-provider"),
        is_blurred=truth(branded("is-blurred")),
        is_content_violation=truth(branded("is-content-violation")),
        is_adult_content_violation=truth(branded("is-adult-model-content-violation")),
        contains_minor=truth(branded("contains-minor")),
        auth_refreshed=get("x-auth-refreshed"),
        retry_count=count(get("x-retry-count")),
        endpoint_deprecation=get("deprecation"),
        endpoint_sunset=get("sunset"),
        endpoint_link=get("link"),
    )


def reset_moment(text: str | None, now: datetime, skew_s: float = 0.0) -> datetime | None:
    """Turn a reset value into a moment: Unix milliseconds, Unix seconds or seconds from now, told apart by size.

    The answer lies between `now` and 24 hours later, on our own clock.
    """
    value = number(text) if text else None
    if value is None:
        return None
    told = float(value)
    if told > 1e11:
        wait_s = told / 1000 - now.timestamp() - skew_s
    elif told > 1e8:
        wait_s = told - now.timestamp() - skew_s
    else:
        wait_s = told
    return now + timedelta(seconds=min(max(wait_s, 0.0), MAX_WAIT_S))


def truth(text: str | None) -> bool | None:
    """`true` and `false` only, in any case; anything else is unknown."""
    return {"true": True, "false": False}.get((text or "").lower())


def _impossible(*, credits: str | None, usd: str | None) -> str:
    claims = [tr("{count} credits", count=credits)] if credits and count(credits) is None else []
    claims += [f"{usd} USD"] if usd and charge(usd) is None else []
    return ", ".join(claims)


def _retry_after(text: str | None, now: datetime, skew_s: float) -> float | None:
    seconds = number(text)
    if seconds is not None:
        return min(max(float(seconds), 0.0), MAX_WAIT_S)
    moment = _http_date(text)
    if moment is None:
        return None
    return min(max((moment - now).total_seconds() - skew_s, 0.0), MAX_WAIT_S)


def _http_date(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _skew(date: datetime | None, now: datetime) -> float:
    return ResponseInfo(status=0, received_at=now, date=date).clock_skew_s
