"""Signing in with a wallet: which site, one fresh message for each request, and the header that carries it.

A header is good for one request: its nonce is used up when it is verified, also when the request then fails. The
message names the account's own host and nothing else, so that a service which is not the one it says it is cannot use
our signature at the real one.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import SplitResult, urlsplit

from app.translation import tr
from app.wallet.errors import SignInRefused
from app.wallet.networks import sign_in_chain_id
from app.wallet.sign_in_message import SignInMessage, read_sign_in_message, write_moment
from app.wallet.signer import Signer

LIFE = timedelta(minutes=4)  # services take five; one is left for slow lines and clocks
MAX_HEADER_CHARS = 16 * 1024


@dataclass(frozen=True, slots=True)
class SignInSite:
    """Who asks for the sign-in, as the message will name it."""

    domain: str
    uri: str
    statement: str


def site_of(base_url: str, *, domain: str | None, uri: str | None, statement: str) -> SignInSite:
    """Return the site of an account at `base_url`. Raises `SignInRefused` for an address that must not be signed for.

    `domain` and `uri` are what the dialect names, or None. They count only if they are the account's own host: a
    stranger's gateway that speaks the dialect of a known service must not get a message signed for that service.
    """
    parts = _web_address(base_url)
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" and not _is_this_computer(host):
        raise SignInRefused(
            "insecure", tr("Signing in needs https://. With http://, others on the network could read the signature.")
        )
    shown = f"[{host}]" if ":" in host else host
    usual = {"https": 443, "http": 80}[parts.scheme]
    authority = shown if parts.port in (None, usual) else f"{shown}:{parts.port}"
    if domain is not None and domain.lower() == authority:
        origin = uri if uri is not None and _web_address(uri).hostname == host else f"https://{authority}"
        return SignInSite(domain, origin, statement)
    return SignInSite(authority, f"{parts.scheme}://{authority}", statement)


def new_message(site: SignInSite, signer: Signer, now: datetime, nonce: str = "") -> SignInMessage:
    """Return a message that is good from `now`, by the service's clock, for four minutes. Raises `SignInRefused`."""
    return SignInMessage(
        chain=signer.chain,
        domain=site.domain,
        address=signer.address,
        statement=site.statement,
        uri=site.uri,
        chain_id=sign_in_chain_id(signer.chain),
        nonce=nonce or secrets.token_hex(8),
        issued_at=write_moment(now),
        expires_at=write_moment(now + LIFE),
    )


def header_value(message: SignInMessage, signature: str) -> str:
    """Base64 of the JSON that services expect: one line, padded, not the URL-safe alphabet."""
    payload: dict[str, object] = {
        "address": message.address,
        "message": message.text,
        "signature": signature,
        "timestamp": _milliseconds(message.issued_moment),
    }
    if message.chain == "evm":
        payload["chainId"] = int(message.chain_id)
    else:
        payload |= {"chainId": f"solana:{message.chain_id}", "type": "ed25519"}
    return base64.b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a header says. It is shown to a person as what it is, never from memory."""

    message: SignInMessage
    signature: str
    timestamp_ms: int | None


def read_header(value: str) -> SignedIn:
    """Take a header apart. Raises `SignInRefused` for one that says two things at once, or nothing."""
    refused = SignInRefused("header", tr("This is not a sign-in header."))
    if len(value) > MAX_HEADER_CHARS:
        raise refused
    payload: object = None
    with suppress(ValueError, RecursionError):
        payload = json.loads(base64.b64decode(value.encode("ascii"), validate=True))
    if not isinstance(payload, dict):
        raise refused
    text, signature, timestamp = payload.get("message"), payload.get("signature"), payload.get("timestamp")
    if not isinstance(text, str) or not isinstance(signature, str):
        raise refused
    message = read_sign_in_message(text)
    chain_id = message.chain_id if message.chain == "evm" else f"solana:{message.chain_id}"
    if payload.get("address") != message.address or str(payload.get("chainId")) not in (
        chain_id,
        f"eip155:{message.chain_id}",
    ):
        raise SignInRefused("mismatch", tr("The sign-in header names a different wallet or chain than its message."))
    stamped = isinstance(timestamp, int) and not isinstance(timestamp, bool)
    return SignedIn(message, signature, timestamp if stamped else None)


class SignInHeaderMaker:
    """Makes one header for each call of it. `on_signed` hears what was signed, for the list of sign-ins.

    The clock is this computer's; `skew` is what the service's is ahead of it.
    """

    def __init__(
        self,
        signer: Signer,
        site: SignInSite,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        on_signed: Callable[[SignInMessage], None] | None = None,
    ) -> None:
        self._signer = signer
        self._site = site
        self._clock = clock
        self._on_signed = on_signed

    async def __call__(self, skew: timedelta) -> str:
        """Raises `WalletError`."""
        message = new_message(self._site, self._signer, self._clock() + skew)
        signature = await self._signer.sign_text(message.text)
        if self._on_signed is not None:
            self._on_signed(message)
        return header_value(message, signature)


def _milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _web_address(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
            return parts
    except ValueError:
        pass
    raise SignInRefused("address", tr("You cannot sign in at this account’s address."))


def _is_this_computer(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
