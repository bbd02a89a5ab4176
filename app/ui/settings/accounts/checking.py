"""Asking a service about a key, and putting the answer into words for the form and the rows."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.ui.settings.accounts.state import FormState, TestLine

if TYPE_CHECKING:
    from app.service.errors import ServiceError
    from app.service.service import Service


@dataclass(frozen=True, slots=True)
class CheckedKey:
    """What a service said about a key. `permitted` is its own verdict."""

    permitted: bool
    tier: str
    latency_ms: int


# base address, dialect, key → what the service says. Raises `ServiceError`.
Check = Callable[[str, str, str], Awaitable[CheckedKey]]


async def check_key(
    address: str, dialect: str, key: str, *, open_with: Callable[..., Service] | None = None
) -> CheckedKey:
    """Ask the service for the key's limits. Raises `ServiceError`. `open_with` replaces `open_service`."""
    from app.service.auth import ApiKeyAuth
    from app.service.service import open_service

    async def read_key() -> str:
        return key

    service = (open_with or open_service)(address, dialect, ApiKeyAuth(read_key), lambda _exchange: None)
    try:
        started = time.monotonic()
        limits = await service.account.rate_limits()
        latency_ms = round((time.monotonic() - started) * 1000)
    finally:
        await service.aclose()
    return CheckedKey(limits.access_permitted, limits.tier.id, latency_ms)


def verdict(checked: CheckedKey) -> TestLine:
    if not checked.permitted:
        return TestLine("bad", "Known, but not let in", f"{checked.latency_ms} ms")
    return TestLine("ok", "Key accepted", f"{checked.latency_ms} ms")


def host_name(address: str) -> str:
    return urlsplit(address).hostname or address


def key_problem(key: str) -> str:
    if not key:
        return "Paste the API key."
    if not key.isascii() or not key.isprintable() or " " in key:
        return "A key has letters, digits and signs only, without spaces."
    return ""


def refused(error: ServiceError, done: int) -> FormState:
    """Put a failed check to the field that can mend it."""
    from app.service import errors

    if isinstance(error, errors.AuthenticationFailed):
        return FormState(problems={"key": "The service did not accept this key."}, done=done)
    if isinstance(error, errors.Forbidden):
        return FormState(problems={"key": "The service does not let this key in from here."}, done=done)
    if isinstance(error, errors.NotFound | errors.BadAnswer):
        return FormState(problems={"base_url": "Something answers there, but not such a service."}, done=done)
    on_the_way = error.code or ""
    if on_the_way.startswith("proxy") or on_the_way in ("certificate", "ca_file"):
        sentence = f"{error.message} Settings, under Connection, can test the way there."
        return FormState(problems={"base_url": sentence}, can_save_unchecked=True, done=done)
    if on_the_way == "tls":
        sentence = "Something answers at this address, but not over a secure connection."
        return FormState(problems={"base_url": sentence}, can_save_unchecked=True, done=done)
    if isinstance(error, errors.ConnectionFailed | errors.TimedOut):
        return FormState(problems={"base_url": "Nothing answered at this address."}, can_save_unchecked=True, done=done)
    return FormState(sentence=short(error), can_save_unchecked=True, done=done)


def short(error: ServiceError) -> str:
    """One sentence for a row, from the one table of words."""
    from app.core.problems import describe

    return describe(error, subject="").what
