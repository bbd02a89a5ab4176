"""The signed text of a sign-in: EIP-4361 for EVM wallets, the same layout for the other kind. Read strictly.

Source: EIP-4361 (layout, order and alphabet of every line); wire reference, "Sign-in header".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from app.sandbox.accounts.sign_in_codes import SignInRefused
from app.sandbox.accounts.wallet_address import Chain

MAX_CHARS = 16_384
_KINDS: Mapping[str, Chain] = {"Ethereum": "evm", "Solana": "solana"}
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_URI = r"[A-Za-z][A-Za-z0-9+.\-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*"
_LAYOUT = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.\-]*://)?(?P<domain>[A-Za-z0-9\-._~:\[\]]+)"
    r" wants you to sign in with your (?P<kind>Ethereum|Solana) account:\n"
    r"(?P<address>[^\n]*)\n\n"
    r"(?:(?P<statement>[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;= ]+)\n\n|(?P<gap>\n)|)"
    r"URI: (?P<uri>[^\n]*)\n"
    r"Version: (?P<version>[^\n]*)\n"
    r"Chain ID: (?P<chain_id>[^\n]*)"
    r"(?:\nNonce: (?P<nonce>[^\n]*))?"
    r"\nIssued At: (?P<issued_at>[^\n]*)"
    r"(?:\nExpiration Time: (?P<expires_at>[^\n]*))?"
    r"(?:\nNot Before: (?P<not_before>[^\n]*))?"
    r"(?:\nRequest ID: (?P<request_id>[A-Za-z0-9\-._~!$&'()*+,;=:@%]*))?"
    r"(?:\nResources:(?P<resources>(?:\n- [^\n]+)*))?"
)


@dataclass(frozen=True, slots=True)
class SignInMessage:
    """What a sign-in is judged by. Times are aware."""

    chain: Chain
    domain: str
    address: str
    chain_id: str
    nonce: str
    issued_at: datetime
    expires_at: datetime | None
    not_before: datetime | None


def read_message(text: str) -> SignInMessage:
    """Raises `SignInRefused`: PARSE_ERROR for a wrong layout, INVALID_MESSAGE for a wrong value, MISSING_NONCE."""
    found = _LAYOUT.fullmatch(text) if len(text) <= MAX_CHARS else None
    if found is None:
        raise SignInRefused("PARSE_ERROR", "The signed message does not have the lines of EIP-4361 in their order")
    chain = _KINDS[found["kind"]]
    if chain == "evm" and found["statement"] is None and found["gap"] is None:
        raise SignInRefused("PARSE_ERROR", "Without a statement two empty lines follow the address")
    if found["version"] != "1":
        raise SignInRefused("INVALID_MESSAGE", "The version of the message must be 1")
    resources = (found["resources"] or "").removeprefix("\n- ").split("\n- ") if found["resources"] else []
    for uri in (found["uri"], *resources):
        if not re.fullmatch(_URI, uri):
            raise SignInRefused("INVALID_MESSAGE", "A URI in the message is malformed")
    if not found["nonce"]:
        raise SignInRefused("MISSING_NONCE", "The message has no nonce")
    if not re.fullmatch(r"[A-Za-z0-9]{8,}", found["nonce"]):
        raise SignInRefused("INVALID_MESSAGE", "A nonce has at least 8 letters or digits, and nothing else")
    return SignInMessage(
        chain=chain,
        domain=found["domain"].lower(),
        address=found["address"],
        chain_id=found["chain_id"],
        nonce=found["nonce"],
        issued_at=_moment("Issued At", found["issued_at"]),
        expires_at=_optional_moment("Expiration Time", found["expires_at"]),
        not_before=_optional_moment("Not Before", found["not_before"]),
    )


def message_of_fields(fields: Mapping[str, object], address: str, chain: Chain, chain_id: str) -> str:
    """Write the text that a client signed who sends its fields one by one instead of the text.

    Raises `SignInRefused` INVALID_PAYLOAD for a missing field or one of a wrong type.
    """
    kind = "Ethereum" if chain == "evm" else "Solana"
    lines = [f"{_text(fields, 'domain')} wants you to sign in with your {kind} account:", address, ""]
    statement = _optional_text(fields, "statement")
    if statement:
        lines += [statement, ""]
    elif chain == "evm":
        lines.append("")
    lines += [f"URI: {_text(fields, 'uri')}", f"Version: {_text(fields, 'version')}", f"Chain ID: {chain_id}"]
    for label, name in (
        ("Nonce", "nonce"),
        ("Issued At", "issuedAt"),
        ("Expiration Time", "expirationTime"),
        ("Not Before", "notBefore"),
        ("Request ID", "requestId"),
    ):
        value = _optional_text(fields, name)
        if value is not None:
            lines.append(f"{label}: {value}")
    resources = fields.get("resources")
    if resources is not None:
        if not isinstance(resources, list) or not all(isinstance(each, str) for each in resources):
            raise SignInRefused("INVALID_PAYLOAD", "resources must be a list of strings")
        lines += ["Resources:", *(f"- {each}" for each in resources)]
    return "\n".join(lines)


def _moment(label: str, text: str) -> datetime:
    try:
        if not re.fullmatch(_TIME, text):
            raise ValueError
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise SignInRefused("INVALID_MESSAGE", f"{label} is not a time as RFC 3339 writes it") from None


def _optional_moment(label: str, text: str | None) -> datetime | None:
    return None if text is None else _moment(label, text)


def _optional_text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise SignInRefused("INVALID_PAYLOAD", f"{name} must be a text")
    return value


def _text(fields: Mapping[str, object], name: str) -> str:
    value = _optional_text(fields, name)
    if value is None:
        raise SignInRefused("INVALID_PAYLOAD", f"Neither the message nor its field {name} was sent")
    return value
