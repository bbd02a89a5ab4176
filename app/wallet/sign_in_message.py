"""The sign-in message: EIP-4361, and the same layout for the Ed25519 chain. Written and read strictly.

    <domain> wants you to sign in with your Ethereum account:
    <address>

    <statement>

    URI: <uri>
    Version: 1
    Chain ID: 8453
    Nonce: <nonce>
    Issued At: <RFC 3339>
    Expiration Time: <RFC 3339>

Lines end with a line feed, the last one with nothing. Stricter than the standard in three points: a domain has no
user name before an @ (it would read like another host), times exist in the calendar, and everything is bounded.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from app.translation import tr
from app.wallet.addresses import Chain, read_evm_address, read_solana_address
from app.wallet.errors import AddressRefused, SignInRefused

MAX_MESSAGE_CHARS = 8192
MAX_RESOURCES = 64

_CHAR = r"[A-Za-z0-9\-._~!$&'()*+,;=]"
_PCHAR = rf"(?:{_CHAR}|[:@]|%[0-9A-Fa-f]{{2}})"
_PORT = r"(?::[0-9]{0,5})?"
_IPV6 = r"\[(?P<{0}>[0-9A-Fa-f:.]+)\]"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*"
_AUTHORITY = (
    rf"(?:(?:{_CHAR}|:|%[0-9A-Fa-f]{{2}})*@)?(?:{_IPV6.format('uri_v6')}|(?:{_CHAR}|%[0-9A-Fa-f]{{2}})*){_PORT}"
)
_PATH = rf"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?|{_PCHAR}+(?:/{_PCHAR}*)*|)"
_URI = re.compile(rf"{_SCHEME}:{_PATH}(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?")
_FIRST = re.compile(
    rf"(?:(?P<scheme>{_SCHEME})://)?(?P<domain>(?:{_IPV6.format('v6')}|[A-Za-z0-9\-._~]+){_PORT})"
    r" wants you to sign in with your (?P<kind>Ethereum|Solana) account:"
)
_STATEMENT = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;= ]+")
_NONCE = re.compile(r"[A-Za-z0-9]{8,256}")
_CHAIN_ID = {"evm": re.compile(r"[0-9]{1,78}"), "solana": re.compile(r"[1-9A-HJ-NP-Za-km-z]{1,44}")}
_REQUEST_ID = re.compile(rf"{_PCHAR}*")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_KINDS: dict[str, Chain] = {"Ethereum": "evm", "Solana": "solana"}


@dataclass(frozen=True, slots=True)
class SignInMessage:
    """Every field as it stands in the text; "" and None for what is left out. Times are RFC 3339 text."""

    chain: Chain
    domain: str
    address: str
    statement: str
    uri: str
    chain_id: str
    nonce: str
    issued_at: str
    expires_at: str = ""
    not_before: str = ""
    request_id: str | None = None
    resources: tuple[str, ...] = ()
    scheme: str = ""
    version: str = "1"

    @property
    def text(self) -> str:
        """The text to sign. Raises `SignInRefused` unless reading it gives these very fields."""
        text = _written(self)
        if read_sign_in_message(text) != self:
            raise SignInRefused("message", tr("This sign-in message does not match its own fields."))
        return text

    @property
    def issued_moment(self) -> datetime:
        return read_moment(self.issued_at)

    @property
    def expiry_moment(self) -> datetime | None:
        return read_moment(self.expires_at) if self.expires_at else None


def read_sign_in_message(text: str) -> SignInMessage:
    """Read a whole message. Raises `SignInRefused` for anything that is not one, character by character."""
    if len(text) > MAX_MESSAGE_CHARS or not text.isascii():
        raise SignInRefused("message", tr("A sign-in message must be short and plain ASCII."))
    lines = _Lines(text.split("\n"))
    first = _FIRST.fullmatch(lines.take())
    if first is None:
        raise SignInRefused(
            "first_line", tr("The first line of the sign-in message must name a domain and a type of account.")
        )
    if first["v6"] and not _is_ipv6(first["v6"]):
        raise SignInRefused("domain", tr("The domain in the sign-in message is not valid."))
    chain = _KINDS[first["kind"]]
    address = _address(lines.take(), chain)
    lines.expect_empty()
    statement = lines.take()
    if statement:
        _match(_STATEMENT, statement, "statement")
        lines.expect_empty()
    uri = _uri(lines.value("URI: "), "uri")
    if lines.value("Version: ") != "1":
        raise SignInRefused("version", tr("Only version 1 of sign-in messages is supported."))
    chain_id = _match(_CHAIN_ID[chain], lines.value("Chain ID: "), "chain_id")
    nonce = _match(_NONCE, lines.value("Nonce: "), "nonce")
    issued_at = _moment(lines.value("Issued At: "))
    expires_at = _moment(found) if (found := lines.optional("Expiration Time: ")) is not None else ""
    not_before = _moment(found) if (found := lines.optional("Not Before: ")) is not None else ""
    request_id = lines.optional("Request ID: ")
    if request_id is not None:
        _match(_REQUEST_ID, request_id, "request_id")
    return SignInMessage(
        chain=chain,
        domain=first["domain"],
        address=address,
        statement=statement,
        uri=uri,
        chain_id=chain_id,
        nonce=nonce,
        issued_at=issued_at,
        expires_at=expires_at,
        not_before=not_before,
        request_id=request_id,
        resources=_resources(lines),
        scheme=first["scheme"] or "",
    )


def write_moment(moment: datetime) -> str:
    """UTC with milliseconds and Z, rounded down: `2026-01-02T03:04:05.678Z`."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def read_moment(text: str) -> datetime:
    """Raises `SignInRefused`. Digits beyond a microsecond are dropped."""
    found = _MOMENT.fullmatch(text)
    if found is not None:
        day, time, fraction, zone = found.groups()
        try:
            return datetime.fromisoformat(f"{day}T{time}{(fraction or '')[:7]}{'+00:00' if zone == 'Z' else zone}")
        except ValueError:
            pass
    raise SignInRefused(
        "time", tr("A time in the sign-in message is not valid. Times look like 2026-01-02T03:04:05.678Z.")
    )


class _Lines:
    """The lines of a message, taken one after the other."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def ended(self) -> bool:
        return self._at >= len(self._lines)

    def take(self) -> str:
        if self.ended():
            raise SignInRefused("short", tr("The sign-in message ends too early."))
        line = self._lines[self._at]
        self._at += 1
        return line

    def expect_empty(self) -> None:
        if self.take():
            raise SignInRefused("layout", tr("The sign-in message has text where a line should be empty."))

    def value(self, label: str) -> str:
        line = self.take()
        if not line.startswith(label):
            raise SignInRefused("layout", tr("The sign-in message is missing the line “{label}”.", label=label.strip()))
        return line[len(label) :]

    def optional(self, label: str) -> str | None:
        if self.ended() or not self._lines[self._at].startswith(label):
            return None
        return self.value(label)


def _written(message: SignInMessage) -> str:
    kind = next(name for name, chain in _KINDS.items() if chain == message.chain)
    scheme = f"{message.scheme}://" if message.scheme else ""
    lines = [f"{scheme}{message.domain} wants you to sign in with your {kind} account:", message.address, ""]
    lines += [message.statement, ""] if message.statement else [""]
    lines += [
        f"URI: {message.uri}",
        f"Version: {message.version}",
        f"Chain ID: {message.chain_id}",
        f"Nonce: {message.nonce}",
        f"Issued At: {message.issued_at}",
    ]
    if message.expires_at:
        lines.append(f"Expiration Time: {message.expires_at}")
    if message.not_before:
        lines.append(f"Not Before: {message.not_before}")
    if message.request_id is not None:
        lines.append(f"Request ID: {message.request_id}")
    if message.resources:
        lines += ["Resources:", *(f"- {resource}" for resource in message.resources)]
    return "\n".join(lines)


def _resources(lines: _Lines) -> tuple[str, ...]:
    if lines.ended():
        return ()
    if lines.take() != "Resources:":
        raise SignInRefused("layout", tr("The sign-in message has a line that does not belong there."))
    found: list[str] = []
    while not lines.ended():
        found.append(_uri(lines.value("- "), "resources"))
        if len(found) > MAX_RESOURCES:
            raise SignInRefused("resources", tr("The sign-in message lists too many resources."))
    if not found:
        raise SignInRefused("resources", tr("The sign-in message has a list of resources, but the list is empty."))
    return tuple(found)


def _address(text: str, chain: Chain) -> str:
    try:
        if chain == "solana":
            return read_solana_address(text)
        if read_evm_address(text) == text:
            return text
    except AddressRefused:
        pass
    raise SignInRefused("address", tr("The address in the sign-in message has a wrong checksum."))


def _uri(text: str, name: str) -> str:
    found = _URI.fullmatch(text)
    if found is None or (found["uri_v6"] and not _is_ipv6(found["uri_v6"])):
        raise SignInRefused(name, tr("An address in the sign-in message is not a URI."))
    return text


def _moment(text: str) -> str:
    read_moment(text)
    return text


def _match(pattern: re.Pattern[str], text: str, name: str) -> str:
    if not pattern.fullmatch(text):
        raise SignInRefused(
            name,
            tr(
                "The {replace} of the sign-in message has a character that is not allowed.",
                replace=name.replace("_", " "),
            ),
        )
    return text


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
