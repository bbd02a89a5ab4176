"""Idempotency keys: under the same one the service does a thing once, however often it is asked within 24 hours."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

from app.service.calls import limit
from app.translation import tr

_KEY = re.compile(r"[A-Za-z0-9_-]{1,255}")


def new_idempotency_key(now: datetime | None = None) -> str:
    """Return a key that nobody has used: the day, so that a person can tell keys apart, and 64 random bits.

    Short enough that the field shows all of it.
    """
    return f"{now or datetime.now(UTC):%Y%m%d}-{secrets.token_urlsafe(8)}"


def check_idempotency_key(key: str) -> None:
    """Raise `LimitExceeded` for a key that the service would not take."""
    limit(
        _KEY.fullmatch(key) is not None,
        "Idempotency-Key",
        "A-Z a-z 0-9 _ -, 1 to 255",
        tr("An idempotency key has 1 to 255 letters, digits, _ and -."),
    )
