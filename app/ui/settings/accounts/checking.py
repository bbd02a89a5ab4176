"""Asking a service about a key, and putting the answer into words for the form and the rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.core.problems import describe
from app.service import errors
from app.translation import tr
from app.ui.settings.accounts.state import FormState, TestLine

if TYPE_CHECKING:
    from app.service.errors import ServiceError
    from app.service.service import Service


@dataclass(frozen=True, slots=True)
class CheckedKey:
    """What a service said about a key, or of a wallet that signed in. `permitted` is its own verdict."""

    permitted: bool
    latency_ms: int
    by_wallet: bool = False


async def check_key(service: Service, wallet: str = "") -> CheckedKey:
    """Ask for the limits of a key, or sign in as the wallet of an address and ask for its balance.

    Free. Raises `ServiceError`.
    """
    started = time.monotonic()
    if wallet:
        await service.x402.balance(wallet)
        permitted = True
    else:
        permitted = (await service.account.rate_limits()).access_permitted
    return CheckedKey(permitted, round((time.monotonic() - started) * 1000), by_wallet=bool(wallet))


def verdict(checked: CheckedKey) -> TestLine:
    if not checked.permitted:
        return TestLine("bad", tr("Key recognized, access denied"), f"{checked.latency_ms} ms")
    what = tr("Sign-in accepted") if checked.by_wallet else tr("Key accepted")
    return TestLine("ok", what, f"{checked.latency_ms} ms")


def host_name(address: str) -> str:
    return urlsplit(address).hostname or address


def key_problem(key: str) -> str:
    if not key:
        return tr("Paste the API key.")
    if not key.isascii() or not key.isprintable() or " " in key:
        return tr("Keys contain no spaces or special characters.")
    return ""


def refused(error: ServiceError, done: int) -> FormState:
    """Put a failed check to the field that can mend it."""
    if isinstance(error, errors.AuthenticationFailed):
        return FormState(problems={"key": tr("The service did not accept this key.")}, done=done)
    if isinstance(error, errors.PlanRequired | errors.AccountDisabled):
        return FormState(problems={"key": short(error)}, done=done)
    if isinstance(error, errors.Forbidden):
        return FormState(problems={"key": tr("The service does not accept this key from here.")}, done=done)
    if isinstance(error, errors.NotFound | errors.BadResponse):
        return FormState(
            problems={
                "base_url": tr("A server answered, but it is not a compatible service. Check the path (often /api/v1).")
            },
            done=done,
        )
    on_the_way = error.code or ""
    if on_the_way.startswith("proxy") or on_the_way in ("certificate", "ca_file"):
        sentence = tr("{message} Run the test in Settings, under Connection.", message=error.message)
        return FormState(problems={"base_url": sentence}, can_save_unchecked=True, done=done)
    if on_the_way == "tls":
        sentence = tr("A server answered at this address, but not over a secure connection.")
        return FormState(problems={"base_url": sentence}, can_save_unchecked=True, done=done)
    if isinstance(error, errors.ConnectionFailed | errors.TimedOut):
        return FormState(
            problems={"base_url": tr("Nothing answered at this address.")}, can_save_unchecked=True, done=done
        )
    return FormState(sentence=short(error), can_save_unchecked=True, done=done)


def short(error: ServiceError) -> str:
    """One sentence for a row, from the one table of words."""
    return describe(error, subject="").what
