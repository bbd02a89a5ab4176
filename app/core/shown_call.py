"""One call as the Request pages of all tabs show it, as a frozen value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from app.service.exchange import Exchange, RequestRecord


class ShownCall(NamedTuple):
    """`title` is "Part 2 of 3", "" where there is one call only. `headers` are all of the response's, in its order.

    `facts` (label, value) are what was kept of a call of an earlier session, whose headers are not known any more; the
    address of its record is "" then. `refusal` is the body of a refusal, without the key.
    """

    record: RequestRecord
    title: str = ""
    status: int | None = None
    sent_at: datetime | None = None
    duration_s: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    attempts: int = 1


def shown_call(exchange: Exchange, title: str = "") -> ShownCall:
    """Return a call of this session with everything that the response said."""
    return ShownCall(
        exchange.request,
        title,
        exchange.status,
        exchange.started_at,
        exchange.duration_s,
        exchange.info.headers if exchange.info is not None else (),
        refusal=exchange.refused_body if exchange.error else "",
        attempts=exchange.attempts,
    )
