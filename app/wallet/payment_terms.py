"""Terms of payment as a service names them, read without trust: JSON values in, one checked option out.

Both versions of the protocol are read. The terms are kept exactly as received, because the payment repeats them.
Source: the service's specification (top-up), x402 versions 1 and 2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from app.translation import tr
from app.wallet.addresses import ZERO_ADDRESS, read_evm_address, same_evm_address
from app.wallet.errors import AddressRefused, PaymentRefused
from app.wallet.networks import KNOWN_TOKENS, SOLANA_NAMES, Token
from app.wallet.visible_text import hides_something, make_visible

SCHEME = "exact"
MAX_OPTIONS = 32
MAX_TEXT_CHARS = 256
MIN_WINDOW_S = 30
MAX_WINDOW_S = 300  # of what is signed: for so long anyone who has the signature can carry the payment out
MAX_ASKED_WINDOW_S = 3600
MAX_AMOUNT_DIGITS = 30

_DIGITS = re.compile(r"[0-9]+")
_AMOUNT_NAME = {1: "maxAmountRequired", 2: "amount"}


@dataclass(frozen=True, slots=True)
class PaymentOption:
    """One way to pay that may be signed. `least_units` is what the service asks for, in the token's base units.

    `window_s` is for how long a payment is signed, at most 300 s even where the service asks for more.
    `terms` is the service's own entry, unchanged. `version` is the protocol's.
    """

    version: int
    token: Token
    network: str
    least_units: int
    receiver: str
    window_s: int
    terms: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OtherOption:
    """A way to pay that is shown but not signed here, and why."""

    network: str
    code: str
    sentence: str


def read_options(
    accepts: Sequence[object], version: int, tokens: Sequence[Token] = KNOWN_TOKENS
) -> tuple[tuple[PaymentOption, ...], tuple[OtherOption, ...]]:
    """Sort a service's list into what may be signed and what may not. Never raises."""
    usable: list[PaymentOption] = []
    others: list[OtherOption] = []
    for terms in accepts[:MAX_OPTIONS]:
        try:
            usable.append(read_option(terms, version, tokens))
        except PaymentRefused as refusal:
            network = terms.get("network") if isinstance(terms, Mapping) else None
            shown = make_visible(network[:MAX_TEXT_CHARS]) if isinstance(network, str) else ""
            others.append(OtherOption(shown, refusal.code, refusal.sentence))
    return tuple(usable), tuple(others)


def read_option(terms: object, version: int, tokens: Sequence[Token] = KNOWN_TOKENS) -> PaymentOption:
    """Check one entry of `accepts`. Raises `PaymentRefused`, which names the field."""
    if version not in _AMOUNT_NAME:
        raise PaymentRefused(
            "version",
            tr("Rialto does not support version {version} of the payment protocol.", version=version),
            "x402Version",
        )
    if not isinstance(terms, Mapping):
        raise PaymentRefused("terms", tr("The service’s payment terms cannot be read."))
    if _text(terms, "scheme") != SCHEME:
        raise PaymentRefused("scheme", tr("Rialto signs only payments of an exact amount."), "scheme")
    network = _text(terms, "network")
    token = _token(_on_network(network, tokens), _text(terms, "asset"))
    _check_extra(terms.get("extra"), token)
    return PaymentOption(
        version=version,
        token=token,
        network=network,
        least_units=_units(terms, _AMOUNT_NAME[version]),
        receiver=_receiver(_text(terms, "payTo"), token),
        window_s=_window(terms.get("maxTimeoutSeconds")),
        terms=MappingProxyType(dict(terms)),
    )


def changed_terms(shown: PaymentOption, fresh: PaymentOption) -> tuple[str, ...]:
    """The wire names of what differs between two answers of the service; empty when a person saw what is signed."""
    names = sorted({*shown.terms, *fresh.terms})
    changed = [name for name in names if shown.terms.get(name) != fresh.terms.get(name)]
    return tuple(changed if shown.version == fresh.version else ["x402Version", *changed])


def _on_network(network: str, tokens: Sequence[Token]) -> tuple[Token, ...]:
    found = tuple(token for token in tokens if token.on(network))
    if found:
        return found
    if network in SOLANA_NAMES:
        raise PaymentRefused(
            "other_rail",
            tr(
                "Rialto cannot pay on this chain. Choose another method, or pay from a wallet program for that "
                "chain. The credits then belong to the paying address."
            ),
            "network",
        )
    raise PaymentRefused("network", tr("The service asks for payment on an unknown network."), "network")


def _token(tokens: Sequence[Token], asset: str) -> Token:
    """The known token at the address `asset`; a look-alike has another address."""
    for token in tokens:
        if same_evm_address(asset, token.address):
            return token
    known = reduce(
        lambda first, second: tr("{first} or {second}", first=first, second=second),
        (tr("{symbol} on {network_name}", symbol=each.symbol, network_name=each.network_name) for each in tokens),
    )
    raise PaymentRefused("asset", tr("The service asks for a token that is not {known}.", known=known), "asset")


def _check_extra(extra: object, token: Token) -> None:
    """The names that the token's contract is signed under. Another name would make a signature that pays nothing."""
    if not isinstance(extra, Mapping):
        raise PaymentRefused("extra", tr("The service does not name its token."), "extra")
    for name, expected in (("name", token.name), ("version", token.version)):
        if _text(extra, name, "extra.") != expected:
            raise PaymentRefused(
                "token_name",
                tr("The token does not call itself {name}, version {version}.", name=token.name, version=token.version),
                f"extra.{name}",
            )
    method = extra.get("assetTransferMethod")
    if method not in (None, "eip3009"):
        raise PaymentRefused(
            "method", tr("The service asks for permission to take more than one payment."), "extra.assetTransferMethod"
        )


def _receiver(text: str, token: Token) -> str:
    try:
        receiver = read_evm_address(text)
    except AddressRefused as refusal:
        sentence = refusal.sentence
    else:
        if receiver not in (ZERO_ADDRESS, token.address):
            return receiver
        sentence = tr("A payment to this address could not be credited.")
    raise PaymentRefused("receiver", tr("The payment recipient is wrong. {sentence}", sentence=sentence), "payTo")


def _units(terms: Mapping[str, object], name: str) -> int:
    text = _text(terms, name)
    if not _DIGITS.fullmatch(text) or len(text) > MAX_AMOUNT_DIGITS or int(text) == 0:
        raise PaymentRefused("amount", tr("The amount the service asks for is not a whole number of units."), name)
    return int(text)


def _window(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not MIN_WINDOW_S <= value <= MAX_ASKED_WINDOW_S:
        raise PaymentRefused(
            "window",
            tr(
                "A payment can stay valid for {min_window_s} seconds to {max_window_s} minutes. The service asks for "
                "something else.",
                min_window_s=MIN_WINDOW_S,
                max_window_s=MAX_ASKED_WINDOW_S // 60,
            ),
            "maxTimeoutSeconds",
        )
    return min(value, MAX_WINDOW_S)


def _text(terms: Mapping[str, object], name: str, prefix: str = "") -> str:
    value = terms.get(name)
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT_CHARS:
        raise PaymentRefused("terms", tr("The payment terms are missing “{name}”.", name=name), prefix + name)
    if hides_something(value):
        raise PaymentRefused(
            "hidden", tr("The payment terms have hidden characters in “{name}”.", name=name), prefix + name
        )
    return value
