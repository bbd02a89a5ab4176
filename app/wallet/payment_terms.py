"""Terms of payment as a service names them, read without trust: JSON values in, one checked option out.

Both versions of the protocol are read. The terms are kept exactly as received, because the payment repeats them.
Source: the service's specification (top-up), x402 versions 1 and 2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from app.translation import tr
from app.wallet.addresses import ZERO_ADDRESS, read_evm_address, read_solana_address, same_address
from app.wallet.errors import AddressRefused, PaymentRefused
from app.wallet.networks import KNOWN_TOKENS, Token
from app.wallet.solana_transfer import MAX_MEMO_BYTES, PROGRAMS, TOKEN_PROGRAM, is_on_curve, key_bytes
from app.wallet.visible_text import hides_something, make_visible

SCHEME = "exact"
MAX_OPTIONS = 32
MAX_TEXT_CHARS = 256
MIN_WINDOW_S = 30
MAX_WINDOW_S = 300  # of what is signed: for so long anyone who has the signature can carry the payment out
MAX_ASKED_WINDOW_S = 3600
MAX_AMOUNT_DIGITS = 30
SYSTEM_PROGRAM = "1" * 32  # of Solana; where an address of zeros belongs
RENEWED = ("recentBlockhash", "lastValidBlockHeight")  # in `extra`, another one in each answer

_DIGITS = re.compile(r"[0-9]+")
_AMOUNT_NAME = {1: "maxAmountRequired", 2: "amount"}


@dataclass(frozen=True, slots=True)
class SolanaTerms:
    """What only Solana's terms have. `blockhash` is "" and `last_valid_height` None where the service names neither.

    `memo` is the service's own, "" where each payment gets a random one.
    """

    fee_payer: str
    memo: str
    blockhash: str
    last_valid_height: int | None


@dataclass(frozen=True, slots=True)
class PaymentOption:
    """One way to pay that may be signed. `least_units` is what the service asks for, in the token's base units.

    `window_s` is for how long a payment is signed, at most 300 s even where the service asks for more.
    `terms` is the service's own entry, unchanged. `version` is the protocol's. `solana`: None on other chains.
    """

    version: int
    token: Token
    network: str
    least_units: int
    receiver: str
    window_s: int
    terms: Mapping[str, object]
    solana: SolanaTerms | None = None


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
    extra = terms.get("extra")
    if token.chain == "evm":
        _check_extra(extra, token)
    return PaymentOption(
        version=version,
        token=token,
        network=network,
        least_units=_units(terms, _AMOUNT_NAME[version]),
        receiver=_receiver(_text(terms, "payTo"), token),
        window_s=_window(terms.get("maxTimeoutSeconds")),
        terms=MappingProxyType(dict(terms)),
        solana=_solana_terms(extra, token) if token.chain == "solana" else None,
    )


def changed_terms(shown: PaymentOption, fresh: PaymentOption) -> tuple[str, ...]:
    """The wire names of what differs between two answers of the service; empty when a person saw what is signed."""
    before, after = _lasting(shown), _lasting(fresh)
    names = sorted({*before, *after})
    changed = [name for name in names if before.get(name) != after.get(name)]
    return tuple(changed if shown.version == fresh.version else ["x402Version", *changed])


def _on_network(network: str, tokens: Sequence[Token]) -> tuple[Token, ...]:
    found = tuple(token for token in tokens if token.on(network))
    if found:
        return found
    for token in KNOWN_TOKENS:
        if token.on(network):
            raise PaymentRefused(
                "other_rail",
                tr(
                    "This wallet cannot pay on {network_name}. To pay there, top up a wallet of that chain.",
                    network_name=token.network_name,
                ),
                "network",
            )
    raise PaymentRefused("network", tr("The service asks for payment on an unknown network."), "network")


def _token(tokens: Sequence[Token], asset: str) -> Token:
    """The known token at the address `asset`; a look-alike has another address."""
    for token in tokens:
        if same_address(asset, token.address):
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


def _solana_terms(extra: object, token: Token) -> SolanaTerms:
    if not isinstance(extra, Mapping):
        raise PaymentRefused("extra", tr("The service does not name its token."), "extra")
    decimals = extra.get("decimals")
    if decimals is not None and (not isinstance(decimals, int) or decimals != token.decimals):
        raise PaymentRefused(
            "decimals",
            tr(
                "The service counts the token with other decimal places than its {decimals}.",
                decimals=token.decimals,
            ),
            "extra.decimals",
        )
    if extra.get("tokenProgram") not in (None, TOKEN_PROGRAM):
        raise PaymentRefused(
            "program", tr("The service names another token program than the token’s own."), "extra.tokenProgram"
        )
    memo = extra.get("memo")
    if memo is not None and len(_text(extra, "memo", "extra.").encode()) > MAX_MEMO_BYTES:
        raise PaymentRefused("memo", tr("The memo in the payment terms is too long."), "extra.memo")
    blockhash, height = _block(extra)
    return SolanaTerms(
        fee_payer=_fee_payer(_text(extra, "feePayer", "extra."), token),
        memo=str(memo or ""),
        blockhash=blockhash,
        last_valid_height=height,
    )


def with_block(option: PaymentOption, block: Mapping[str, object]) -> PaymentOption:
    """Return an option that names a block of a node, as `getLatestBlockhash` returns it. Raises `PaymentRefused`."""
    assert option.solana is not None
    blockhash, height = _block({**block, "recentBlockhash": block.get("blockhash")})
    return replace(option, solana=replace(option.solana, blockhash=blockhash, last_valid_height=height))


def _block(extra: Mapping[str, object]) -> tuple[str, int | None]:
    """The hash of the block, "" where there is none, and the height until which it is good."""
    height = extra.get("lastValidBlockHeight")
    if not isinstance(height, int) or isinstance(height, bool):
        is_number = isinstance(height, str) and _DIGITS.fullmatch(height) and len(height) <= MAX_AMOUNT_DIGITS
        if height is not None and not is_number:
            raise PaymentRefused(
                "block", tr("The service names a block that does not exist."), "extra.lastValidBlockHeight"
            )
        height = int(height) if isinstance(height, str) else None
    blockhash = "" if extra.get("recentBlockhash") is None else _blockhash(_text(extra, RENEWED[0], "extra."))
    return blockhash, height


def _fee_payer(text: str, token: Token) -> str:
    """An address that a key can belong to, because it has to sign."""
    try:
        if is_on_curve(key_bytes(text)) and text not in (SYSTEM_PROGRAM, token.address, *PROGRAMS):
            return text
    except AddressRefused:
        pass
    raise PaymentRefused(
        "fee_payer", tr("The service names no valid address that pays the network fee."), "extra.feePayer"
    )


def _blockhash(text: str) -> str:
    try:
        if any(key_bytes(text)):
            return text
    except AddressRefused:
        pass
    raise PaymentRefused("block", tr("The service names a block that does not exist."), "extra.recentBlockhash")


def _lasting(option: PaymentOption) -> Mapping[str, object]:
    """The terms without what every answer of a service has anew: the newest block."""
    extra = option.terms.get("extra")
    if option.solana is None or not isinstance(extra, Mapping):
        return option.terms
    return {**option.terms, "extra": {name: value for name, value in extra.items() if name not in RENEWED}}


def _receiver(text: str, token: Token) -> str:
    try:
        receiver = read_evm_address(text) if token.chain == "evm" else read_solana_address(text)
    except AddressRefused as refusal:
        sentence = refusal.sentence
    else:
        if receiver not in (ZERO_ADDRESS, SYSTEM_PROGRAM, token.address, *PROGRAMS):
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
