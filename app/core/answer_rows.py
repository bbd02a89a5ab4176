"""What came back from one call, as the Request pages of all tabs show it: refused or not."""

from __future__ import annotations

from app.core import number_format, time_format
from app.service.exchange import Exchange
from app.translation import tr

MAX_BODY_CHARS = 4_000  # of a refusal


def answer_rows(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """Label and value of each fact: status, tries, times, every header, and the body of a refusal."""
    rows = [(tr("Status"), str(exchange.status or tr("no response")))]
    if exchange.attempts > 1:
        rows.append((tr("Tries"), number_format.count(exchange.attempts)))
    rows.append((tr("Sent"), time_format.clock(exchange.started_at)))
    rows.append((tr("Duration"), time_format.duration(exchange.duration_s)))
    rows += exchange.info.headers if exchange.info is not None else ()
    if exchange.error and exchange.refused_body:
        rows.append((tr("Body"), exchange.refused_body[:MAX_BODY_CHARS]))
    return tuple(rows)
