"""Transactions of the program's own wallets: what the chain says first, one review, one signature, one sending.

Nothing is signed before the review was agreed to, and what was signed is sent once. Sending it again after an answer
that never came sends the same bytes under the same key: nothing is signed twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.core.number_format import DASH
from app.service.idempotency_keys import new_idempotency_key
from app.service.rpc_methods import estimate, family_of
from app.storage.errors import NoHistory, StorageError
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow, numbered
from app.ui.crypto_rpc.session.contracts import token_rows
from app.ui.crypto_rpc.session.decoding import bytes_of
from app.ui.crypto_rpc.session.networks import coin_of, is_test_network, network_title
from app.ui.crypto_rpc.session.sending import (
    NotSent,
    check_caps,
    estimate_words,
    prepared,
    question_of,
    read_transactions,
)
from app.ui.crypto_rpc.session.tracking import is_waiting
from app.wallet.addresses import read_evm_address
from app.wallet.errors import WalletError
from app.wallet.quantities import hex_quantity, in_unit, node_quantity, read_quantity
from app.wallet.transactions import Transaction

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces
    from app.ui.crypto_rpc.session.outcomes import CallOutcome
    from app.ui.crypto_rpc.state import SendQuestion

SEND = "eth_sendRawTransaction"
NOBODY = "0x0000000000000000000000000000000000000000"
RECENT = 100  # requests that are looked through for one that may be on its way
BASE_FEE_RISES = 2  # times: what a transaction may wait for while blocks are full
SPARE_GAS = (6, 5)  # of a contract's estimate; a plain transfer needs what it needs
READ_METHODS = (
    "eth_chainId",
    "eth_getTransactionCount",
    "eth_getBalance",
    "eth_getBlockByNumber",
    "eth_maxPriorityFeePerGas",
    "eth_getCode",
    "eth_estimateGas",
)
MANY_BASE_FEES = 10  # a tip that makes the fee this often the base fee buys nothing
HIGH_FEES = {"ether": "0.003", "BNB": "0.01", "POL": "20", "AVAX": "0.3"}  # a few dollars, roughly
NATIVE_UNIT = "ether"  # 18 decimals, whatever a network calls its coin
_CHAIN_ID = re.compile(r"[0-9]{1,18}|0x[0-9a-f]{1,15}")
_PLAIN_AMOUNT = re.compile(r"[0-9]*\.?[0-9]+")


@dataclass(frozen=True, slots=True)
class OwnWallet:
    """A wallet whose key is on this computer."""

    id: str
    name: str
    address: str


class Wallets(Protocol):
    """The program's own wallets."""

    def offered(self) -> Sequence[OwnWallet]:
        """Those that may sign for the account in use: play money and real money never mix."""

    async def unlock(self) -> bool:
        """Have the person unlock the keys; True when they are unlocked."""

    async def sign(self, wallet_id: str, transaction: Transaction, network: str) -> str:
        """Sign once and write it down; the raw bytes as "0x…". Raises `WalletError`."""


@dataclass(frozen=True, slots=True)
class TransactionRequest:
    """What a person filled in. `call`: "to" and "data" of a contract's call; {} for a plain transfer."""

    wallet: OwnWallet
    network: str
    to: str
    amount: str
    call: dict[str, str]
    interface: str = ""
    chain_id: str = ""  # as the person entered it, where Rialto does not know the network's


@dataclass(frozen=True, slots=True)
class ReadyTransaction:
    """A transaction that the chain would take, and what is to be read before it is signed."""

    wallet: OwnWallet
    network: str
    transaction: Transaction
    question: SendQuestion


@dataclass(frozen=True, slots=True)
class _Signed:
    """Bytes that were signed, and the key under which they may be sent again."""

    network: str
    row: CallRow
    key: str


class NotPossible(Exception):
    """The transaction cannot be made; `sentence` says why. Nothing was signed."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def read_amount(text: str) -> int:
    """An amount of the native coin in wei: "1.5", "30 gwei", "0x10". Raises `WalletError` or `NotPossible`."""
    text = text.strip()
    if "," in text:
        raise NotPossible(tr("Write the amount with a decimal point and no commas."))
    return read_quantity(text + NATIVE_UNIT if _PLAIN_AMOUNT.fullmatch(text) else text)


def read_chain_id(text: str) -> int:
    """A chain's id as a person writes it: "4663" or "0x1237". Raises `NotPossible`."""
    digits = text.strip().lower()
    number = int(digits, 16 if digits.startswith("0x") else 10) if _CHAIN_ID.fullmatch(digits) else 0
    if not number:
        raise NotPossible(tr("Enter the network’s chain ID as a number."))
    return number


def filled(request: TransactionRequest) -> tuple[str, int, str]:
    """Recipient, value in wei, and data. Raises `WalletError` or `NotPossible` with what is wrong with a field."""
    to = read_evm_address(request.to.strip())
    value = read_amount(request.amount) if request.amount.strip() else 0
    if not request.call and not value:
        raise NotPossible(tr("Enter an amount."))
    return to, value, request.call.get("data", "0x")


@contextmanager
def _as_not_possible() -> Iterator[None]:
    """Whatever stops a transaction before it is signed is one sentence for the form."""
    try:
        yield
    except NotSent as error:
        raise NotPossible(str(error.problem)) from error
    except (WalletError, StorageError) as error:
        raise NotPossible(error.sentence) from error


def fault_of(request: TransactionRequest) -> str:
    """What is wrong with what is filled in, "" for nothing."""
    try:
        filled(request)
    except (NotPossible, WalletError) as error:
        return error.sentence
    return ""


class TransactionPresenter:
    """`wallets` is None where the program has none."""

    def __init__(self, presenter: CryptoRpcPresenter, interfaces: ContractInterfaces, tasks: TaskScope) -> None:
        self._presenter = presenter
        self._tasks = tasks
        self._interfaces = interfaces
        self._signed: dict[str, _Signed] = {}  # by the id of the request on disk, until the program ends
        self.wallets: Wallets | None = None

    def why_not(self) -> str:
        """Why no transaction can be made here, "" when one can."""
        network = self._presenter.draft.network
        if family_of(network) != "evm":
            return tr("{network} is not an EVM network. Choose one first.", network=network_title(network))
        return "" if self._presenter.can_ask else tr("Choose an account first.")

    def offered(self) -> tuple[OwnWallet, ...]:
        return tuple(self.wallets.offered()) if self.wallets is not None else ()

    def price_words(self) -> str:
        """What reading the chain before the review costs."""
        price = estimate(self._presenter.draft.network, READ_METHODS)
        return estimate_words(price.credits, price.low_usd, price.high_usd)

    async def prepare(self, request: TransactionRequest) -> ReadyTransaction:
        """Ask the chain for nonce, gas, fees and balance. Raises `NotPossible`."""
        with _as_not_possible():
            return await self._prepare(request)

    async def _prepare(self, request: TransactionRequest) -> ReadyTransaction:
        to, value, data = filled(request)
        sender, network = request.wallet.address, request.network
        call: dict[str, object] = {"from": sender, "to": to, "value": hex_quantity(value), "data": data}
        params: tuple[list[object], ...] = (
            [],
            [sender, "pending"],
            [sender, "latest"],
            ["latest", False],
            [],
            [to, "latest"],
            [call],
        )
        rows = [CallRow(place, *each) for place, each in enumerate(zip(READ_METHODS, params, strict=True), start=1)]
        payload = bytes_of(data) or b""
        moves_tokens, amount = self._interfaces.interfaces(network).moved(to, payload)
        if moves_tokens and not amount:
            rows = list(numbered([*rows, *token_rows(to)]))
        _, outcomes = await self._presenter.jobs.send(network, rows, key="", batch=True)
        read = dict(zip(READ_METHODS, outcomes, strict=False))
        coin = coin_of(network)
        balance = _number(read, "eth_getBalance")
        if value > balance:
            raise NotPossible(_too_little(request.wallet, balance, value, coin, with_fees=False))
        chain_id = await self._chain_id(request, _number(read, "eth_chainId"))
        estimated = read["eth_estimateGas"]
        if estimated.is_error:
            raise NotPossible(self._refusal(to, estimated))
        has_code = read["eth_getCode"].value not in ("0x", "0x0", None, "")
        gas = _number(read, "eth_estimateGas")
        tip = _number(read, "eth_maxPriorityFeePerGas")
        transaction = Transaction(
            kind="EIP-1559",
            sender=sender,
            to=to,
            value=value,
            nonce=_number(read, "eth_getTransactionCount"),
            gas=gas * SPARE_GAS[0] // SPARE_GAS[1] if data != "0x" or has_code else gas,
            max_fee=_base_fee(read["eth_getBlockByNumber"], network) * BASE_FEE_RISES + tip,
            max_priority_fee=tip,
            chain_id=chain_id,
            data=bytes.fromhex(data[2:]),
        )
        if transaction.most_wei > balance:
            raise NotPossible(_too_little(request.wallet, balance, transaction.most_wei, coin, with_fees=True))
        if request.interface:
            await self._interfaces.keep(to, request.interface)
        warnings = [
            *_warnings(transaction, has_code=has_code),
            *_fee_warnings(transaction, network),
            *await self._unknown_before(network),
        ]
        question = question_of(
            network,
            self._presenter.network_list.chain_id(network),
            (transaction,),
            interfaces=self._interfaces.interfaces(network),
            play=self._presenter.in_sandbox,
            more_warnings=warnings,
            network_of=self._presenter.network_list.network_of,
        )
        return ReadyTransaction(request.wallet, network, transaction, question)

    async def _chain_id(self, request: TransactionRequest, said: int) -> int:
        """The chain that is signed for. The node is the service's, so its word alone is never enough."""
        networks, network = self._presenter.network_list, request.network
        known = networks.chain_id(network)
        wanted = read_chain_id(request.chain_id) if known is None else known
        if wanted != said:
            raise NotPossible(
                tr(
                    "The node is on chain {said}, but {network} is chain {known}. Nothing was signed.",
                    said=str(said),
                    network=network_title(network),
                    known=str(wanted),
                )
            )
        other = networks.network_of(said)
        if other not in (None, network):
            raise NotPossible(
                tr(
                    "Chain {said} is {other}, not {network}. Nothing was signed.",
                    said=str(said),
                    other=network_title(str(other)),
                    network=network_title(network),
                )
            )
        if known is None:
            await networks.remember_chain_id(network, said)
        return said

    def _refusal(self, to: str, refused: CallOutcome) -> str:
        data = refused.data.get("data") if isinstance(refused.data, Mapping) else refused.data
        raw = bytes_of(data)
        words = (self._interfaces.interfaces().revert(to, raw) if raw else "") or refused.message
        return tr("The network would refuse this transaction: {reason}. Nothing was signed.", reason=words.rstrip("."))

    async def _unknown_before(self, network: str) -> list[str]:
        """A warning for each transaction of this network that may be on its way and was never answered."""
        calls = self._presenter.calls
        if calls is None:
            raise NoHistory
        recent = await calls.recent(limit=RECENT)
        lost = [
            str(digest)
            for call in recent
            if call.network == network and call.state == "unknown"
            for item, digest in call.transactions.items()
            if is_waiting(call, str(item))
        ]
        return [
            tr("It is not clear whether an earlier transaction was sent. Look it up first: {hash}", hash=each)
            for each in lost
        ]

    async def sign_and_send(self, ready: ReadyTransaction, signed: Callable[[], object]) -> None:
        """Sign what was agreed to, tell `signed`, and send it once.

        Raises `NotPossible` before anything was signed. How the sending went is shown.
        """
        with _as_not_possible():
            made = await self._sign(ready)
        signed()
        await self._send(made)

    async def _sign(self, ready: ReadyTransaction) -> _Signed:
        presenter, wallets = self._presenter, self.wallets
        service, account, calls = presenter.service_account_calls()
        if wallets is None or ready.wallet not in self.offered():  # the account in use changed meanwhile
            raise NotPossible(tr("This wallet belongs to another account. Nothing was signed."))
        now = presenter.jobs.now()
        credits = estimate(ready.network, (SEND,)).credits
        await check_caps(calls, service, account, credits, now, over_credits=True)
        if not await wallets.unlock():
            raise NotPossible(tr("Your keys are locked. Unlock to send. Nothing was signed."))
        raw = await wallets.sign(ready.wallet.id, ready.transaction, network_title(ready.network))
        return _Signed(ready.network, CallRow(1, SEND, [raw]), new_idempotency_key(now))

    def send_again(self, call_id: str) -> bool:
        """Send the same signed bytes under the same key; False where the run on screen is none of these."""
        signed = self._signed.get(call_id)
        return signed is not None and self._tasks.start_unless_running("rpc send", self._send_again, signed)

    async def _send_again(self, signed: _Signed) -> None:
        transactions = await read_transactions((signed.row,))
        chain_id = self._presenter.network_list.chain_id(signed.network)
        question = question_of(
            signed.network,
            chain_id,
            tuple(transactions.values()),
            interfaces=self._interfaces.interfaces(signed.network),
            play=self._presenter.in_sandbox,
            network_of=self._presenter.network_list.network_of,
        )
        if await self._presenter.ask(question):
            await self._send(signed)

    async def _send(self, signed: _Signed) -> None:
        presenter, rows = self._presenter, (signed.row,)
        async with presenter.sending():
            service, _, _ = presenter.service_account_calls()
            operation = prepared(service, signed.network, rows, batch=False, key=signed.key)
            call = await presenter.deliver(operation, rows, await read_transactions(rows))
            if call.state != "answered":
                self._signed[call.id] = signed


def _number(read: dict[str, CallOutcome], method: str) -> int:
    outcome = read[method]
    number = None if outcome.is_error else node_quantity(outcome.value)
    if number is None:
        said = outcome.message.rstrip(".") or tr("no number in the response")
        raise NotPossible(tr("The node did not answer {method}: {said}. Nothing was signed.", method=method, said=said))
    return number


def _base_fee(block: CallOutcome, network: str) -> int:
    fee = node_quantity(block.value.get("baseFeePerGas")) if isinstance(block.value, Mapping) else None
    if fee is None:
        raise NotPossible(
            tr(
                "{network} does not report a base fee (EIP-1559). Sign this transaction elsewhere and send its bytes "
                "with eth_sendRawTransaction.",
                network=network_title(network),
            )
        )
    return fee


def _coins(wei: int) -> str:
    return in_unit(wei) if 0 <= wei < 2**256 else DASH


def _too_little(wallet: OwnWallet, balance: int, wanted: int, coin: str, *, with_fees: bool) -> str:
    if with_fees:
        return tr(
            "{wallet} holds {held} {coin}. With the highest fee, this needs {wanted} {coin}. Nothing was signed.",
            wallet=wallet.name,
            held=_coins(balance),
            wanted=_coins(wanted),
            coin=coin,
        )
    return tr(
        "{wallet} holds {held} {coin}. This needs {wanted} {coin} and the fee. Nothing was signed.",
        wallet=wallet.name,
        held=_coins(balance),
        wanted=_coins(wanted),
        coin=coin,
    )


def _warnings(transaction: Transaction, *, has_code: bool) -> list[str]:
    found = []
    if transaction.to == NOBODY:
        found.append(tr("This is the zero address. What it receives is lost."))
    if transaction.to == transaction.sender:
        found.append(tr("The recipient is the wallet itself."))
    if transaction.data and not has_code:
        found.append(tr("There is no contract at this address. The call would do nothing."))
    if not transaction.data and has_code:
        found.append(tr("The recipient is a contract. Make sure that it can return what it receives."))
    return found


def _fee_warnings(transaction: Transaction, network: str) -> list[str]:
    """The node names the fees, and whoever runs it may want a balance burned in them."""
    found = []
    coin, fees, tip = coin_of(network), transaction.most_wei - transaction.value, transaction.max_priority_fee or 0
    base_fee = (transaction.max_fee - tip) // BASE_FEE_RISES
    if transaction.value and fees > transaction.value:
        found.append(
            tr(
                "The fees may reach {fees} {coin}, more than the {value} {coin} that you send.",
                fees=_coins(fees),
                value=_coins(transaction.value),
                coin=coin,
            )
        )
    elif fees > read_amount(HIGH_FEES[coin]) and not is_test_network(network):
        found.append(tr("The fees may reach {fees} {coin}.", fees=_coins(fees), coin=coin))
    if transaction.max_fee > MANY_BASE_FEES * base_fee:
        found.append(
            tr(
                "The node asks for a tip of {tip} gwei on top of a base fee of {base} gwei, which is unusual.",
                tip=in_unit(tip, "gwei"),
                base=in_unit(base_fee, "gwei"),
            )
        )
    return found
