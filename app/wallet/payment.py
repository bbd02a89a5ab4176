"""From one option and an amount to one signed payment, and to the header values that carry it.

Nothing is signed that was not checked here: scheme, network, token, receiver, amount, how long it stays open, and how
old the service's terms are. One authorization serves every form of the header: sending a payment again, or in the
other form, never takes a second signature. Money is Decimal or whole base units.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from app.translation import tr
from app.wallet.addresses import read_evm_address, read_solana_address
from app.wallet.errors import AddressRefused, PaymentRefused, SigningFailed
from app.wallet.networks import Token
from app.wallet.payment_terms import SCHEME, PaymentOption, SolanaTerms
from app.wallet.signer import (
    SECP256K1_ORDER,
    Ed25519Signer,
    EthAccountSigner,
    recovered_address,
    typed_data_message,
)
from app.wallet.solana_transfer import TokenTransfer
from app.wallet.typed_data import NONCE_BYTES, TransferAuthorization

SMALLEST_USD = Decimal(5)
LARGEST_USD = Decimal(10_000)
MIN_EXPONENT, MAX_EXPONENT = -40, 40  # of an amount that somebody could have typed
BACKDATED = timedelta(minutes=10)  # for chains whose clock is behind ours
MAX_TERMS_AGE = timedelta(minutes=1)
BLOCK_LIFE_S = 90  # how long the network takes a payment that names a new block: blocks take 0.4 s and more
MEMO_BYTES = 16
MAX_SKEW = timedelta(minutes=10)  # a service whose clock runs far ahead would get a payment that is open for as long

Form = Literal["v2", "flat", "v1"]

NOT_ELSEWHERE = tr("A payment on Solana cannot be signed elsewhere and pasted here. Pay from the program with the key.")

_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")


@dataclass(frozen=True, slots=True)
class PaymentLimits:
    """What may be paid at once, in USD. `own_cap` is the person's, None for none."""

    smallest: Decimal = SMALLEST_USD
    largest: Decimal = LARGEST_USD
    own_cap: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PreparedPayment:
    """A payment that may be signed, and nothing else than this one.

    `valid_before`, in Unix seconds by the service's clock: it can be carried out until then. On Solana the network
    counts blocks instead, so that is about when.
    """

    option: PaymentOption
    amount_usd: Decimal
    authorization: TransferAuthorization | TokenTransfer
    valid_before: int

    @property
    def token(self) -> Token:
        return self.option.token

    @property
    def key(self) -> str:
        """What tells this payment from every other: its nonce, on Solana the hash of its message."""
        words = self.authorization
        return "0x" + (words.nonce if isinstance(words, TransferAuthorization) else words.digest).hex()


@dataclass(frozen=True, slots=True)
class SignedPayment:
    """A payment with its signature. Whoever has `header_value` can have it carried out: keep it out of every log."""

    prepared: PreparedPayment
    signature: str

    def header_value(self, form: Form) -> str:
        """`v2`: with the accepted terms; `flat`: for services that refuse those; `v1`: the first protocol version."""
        option, authorization = self.prepared.option, self.prepared.authorization
        payload = authorization.payload(self.signature)
        content: dict[str, object]
        if form == "v2":
            accepted = {**option.terms, "amount": str(authorization.value)}
            content = {"x402Version": 2, "accepted": accepted, "payload": payload}
        else:
            version = 2 if form == "flat" else 1
            content = {"x402Version": version, "scheme": SCHEME, "network": option.network, "payload": payload}
        text = json.dumps(content, separators=(",", ":"), default=_plain_number)
        return base64.b64encode(text.encode()).decode()

    @property
    def usual_form(self) -> Form:
        """The form for the version of the protocol that the service spoke."""
        return "v2" if self.prepared.option.version == 2 else "v1"

    def __repr__(self) -> str:
        return f"SignedPayment({self.prepared!r}, signature hidden)"


def units_of(amount_usd: Decimal, decimals: int) -> int:
    """USD to base units, exactly. Raises `PaymentRefused` for more decimals than the token has."""
    if not isinstance(amount_usd, Decimal):
        raise TypeError("money is Decimal")
    if not amount_usd.is_finite() or not MIN_EXPONENT <= int(amount_usd.as_tuple().exponent) <= MAX_EXPONENT:
        raise PaymentRefused("amount", tr("This amount cannot be paid."), "amount")
    units = Fraction(amount_usd) * 10**decimals
    if units.denominator != 1:
        raise PaymentRefused("amount", tr("Use up to {decimals} decimal places.", decimals=decimals), "amount")
    return int(units)


def usd_of(units: int, decimals: int) -> Decimal:
    """Base units to USD, exactly."""
    return Decimal(f"{units}E-{decimals}")


def prepare_payment(
    option: PaymentOption,
    amount_usd: Decimal,
    payer: str,
    *,
    now: datetime,
    named_at: datetime,
    skew: timedelta = timedelta(),
    limits: PaymentLimits | None = None,
    nonce: bytes | None = None,
) -> PreparedPayment:
    """Check everything about a payment and fix what would be signed. Raises `PaymentRefused`.

    `now` is this computer's time, aware; `skew` is what the service's clock is ahead of it; `named_at` is when the
    service named these terms, by its own clock. `nonce` is 32 bytes, random unless a test gives them; on Solana its
    hexadecimal digits are the memo.
    """
    limits = limits or PaymentLimits()
    token = option.token
    sender = _payer(payer, token)
    if sender == option.receiver:
        raise PaymentRefused("receiver", tr("The payment would go to this same wallet."), "payTo")
    if abs(skew) > MAX_SKEW and not token.test_money:
        raise PaymentRefused(
            "clock", tr("This computer’s clock is several minutes off from the service’s. Correct it first.")
        )
    now = now + skew
    if not timedelta(seconds=-5) <= now - named_at <= MAX_TERMS_AGE:
        raise PaymentRefused("stale", tr("The service’s terms are too old. Request them again."))
    value = units_of(amount_usd, token.decimals)
    _check_amount(amount_usd, usd_of(option.least_units, token.decimals), limits)
    start = int(now.timestamp())
    if option.solana is not None:
        transfer = _transfer(option, option.solana, sender, value, nonce)
        return PreparedPayment(option, amount_usd, transfer, start + BLOCK_LIFE_S)
    valid_before = start + option.window_s
    authorization = TransferAuthorization(
        token_name=token.name,
        token_version=token.version,
        chain_id=token.chain_id,
        token=token.address,
        sender=sender,
        receiver=option.receiver,
        value=value,
        valid_after=start - int(BACKDATED.total_seconds()),
        valid_before=valid_before,
        nonce=nonce if nonce is not None else secrets.token_bytes(NONCE_BYTES),
    )
    return PreparedPayment(option, amount_usd, authorization, valid_before)


def renewed_payment(shown: PreparedPayment, fresh: PreparedPayment) -> PreparedPayment:
    """Return what is signed for a payment that was shown a while ago: on Solana, the same with the newest block.

    Raises `PaymentRefused` if anything else differs.
    """
    before, after = shown.authorization, fresh.authorization
    if not isinstance(before, TokenTransfer) or not isinstance(after, TokenTransfer):
        return shown
    after = replace(after, memo=before.memo)
    if replace(before, blockhash=after.blockhash, last_valid_height=after.last_valid_height) != after:
        raise PaymentRefused("encoding", tr("The signed data does not match your choice."))
    return replace(fresh, authorization=after)


async def sign_payment(prepared: PreparedPayment, signer: EthAccountSigner | Ed25519Signer) -> SignedPayment:
    """Raises `WalletError`. Write the intent to disk before calling this: from here on the payment exists."""
    words = prepared.authorization
    if signer.address == words.sender:
        if isinstance(words, TransferAuthorization) and isinstance(signer, EthAccountSigner):
            return SignedPayment(prepared, await signer.sign_authorization(words))
        if isinstance(words, TokenTransfer) and isinstance(signer, Ed25519Signer):
            return SignedPayment(prepared, await signer.sign_transfer(words))
    raise PaymentRefused("payer", tr("The payment was prepared for another wallet."), "from")


async def accept_signature(prepared: PreparedPayment, text: str) -> SignedPayment:
    """Take a signature that was made elsewhere. Raises `SigningFailed` unless it is the payer's, of this payment."""
    words = prepared.authorization
    if not isinstance(words, TransferAuthorization):
        raise SigningFailed("elsewhere", NOT_ELSEWHERE)
    signature = _standard_signature(text.strip())

    def signer_of_it() -> str:
        return recovered_address(typed_data_message(words), signature)

    if await asyncio.to_thread(signer_of_it) != words.sender:
        raise SigningFailed("other_signer", tr("This signature is from another wallet or signs something else."))
    return SignedPayment(prepared, signature)


def _payer(text: str, token: Token) -> str:
    try:
        return read_evm_address(text) if token.chain == "evm" else read_solana_address(text)
    except AddressRefused:
        pass
    raise PaymentRefused("payer", tr("The paying wallet has no address on this chain."), "from")


def _transfer(option: PaymentOption, terms: SolanaTerms, sender: str, value: int, nonce: bytes | None) -> TokenTransfer:
    if not terms.blockhash:
        raise PaymentRefused(
            "no_block", tr("The service does not name a recent block of the chain."), "extra.recentBlockhash"
        )
    if terms.fee_payer == sender:
        raise PaymentRefused("fee_payer", tr("This wallet would pay the network fee itself."), "extra.feePayer")
    return TokenTransfer(
        mint=option.token.address,
        decimals=option.token.decimals,
        fee_payer=terms.fee_payer,
        sender=sender,
        receiver=option.receiver,
        value=value,
        memo=terms.memo or (nonce if nonce is not None else secrets.token_bytes(MEMO_BYTES)).hex(),
        blockhash=terms.blockhash,
        last_valid_height=terms.last_valid_height,
    )


def _standard_signature(text: str) -> str:
    """r, s and 27 or 28; s in the lower half, as the token's contract demands."""
    if not _SIGNATURE.fullmatch(text):
        raise SigningFailed(
            "format", tr("A signature is 0x followed by 130 hexadecimal digits. Contract wallets are not supported.")
        )
    data = bytes.fromhex(text[2:])
    parity = data[64] - 27 if data[64] >= 27 else data[64]
    if parity not in (0, 1) or int.from_bytes(data[32:64], "big") > SECP256K1_ORDER // 2:
        raise SigningFailed("format", tr("The token does not accept this form of signature."))
    return "0x" + data[:64].hex() + f"{27 + parity:02x}"


def _plain_number(value: object) -> float:
    """A number with a point that the service put into its terms; none of those that we read has one."""
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} in terms of payment")


def _dollars(amount: Decimal) -> str:
    """As people write it, exact: `$5`, `$1,000,000`, `$0.25`."""
    whole, _, cents = f"{amount:,f}".partition(".")
    cents = cents.rstrip("0")
    return f"${whole}.{cents.ljust(2, '0')}" if cents else f"${whole}"


def _check_amount(amount: Decimal, asked: Decimal, limits: PaymentLimits) -> None:
    if amount < limits.smallest:
        raise PaymentRefused(
            "too_small", tr("The minimum top-up is {dollars}.", dollars=_dollars(limits.smallest)), "amount"
        )
    if amount > limits.largest:
        raise PaymentRefused(
            "too_large", tr("The maximum top-up is {dollars}.", dollars=_dollars(limits.largest)), "amount"
        )
    if limits.own_cap is not None and amount > limits.own_cap:
        raise PaymentRefused(
            "own_cap", tr("Your limit for top-ups is {dollars}.", dollars=_dollars(limits.own_cap)), "amount"
        )
    if amount < asked:
        raise PaymentRefused(
            "below_terms", tr("The service accepts {dollars} or more.", dollars=_dollars(asked)), "amount"
        )
