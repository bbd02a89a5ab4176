"""Wallet and service layer against the Sandbox, which verifies with code of its own: sign-in, top-up, mishaps."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from app.service.chat_types import ChatMessage, ChatRequest
from app.service.dialect import DIALECTS
from app.service.errors import AuthenticationFailed, BadRequest, Conflict, Forbidden, OutcomeUnknown, PaymentRequired
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.service.wallet_auth import WalletAuth
from app.wallet.addresses import Chain
from app.wallet.errors import WalletError
from app.wallet.networks import tokens_of
from app.wallet.payment import SignedPayment, prepare_payment, sign_payment
from app.wallet.payment_terms import read_options
from app.wallet.sign_in import SignInHeaderMaker, site_of
from app.wallet.signer import Ed25519Signer, EthAccountSigner
from tests.sandbox.support import Client, running
from tests.wallet.figures import SEED, SOLANA_ADDRESS, Store


@dataclass
class Harness:
    """A person with a wallet in front of a Sandbox."""

    sandbox: Client
    service: Service
    auth: WalletAuth
    signer: EthAccountSigner | Ed25519Signer
    exchanges: list[Exchange]

    async def payment(self, amount: str = "7.25") -> SignedPayment:
        terms = await self.service.x402.top_up_requirements()
        tokens = (*tokens_of("evm", is_sandbox=True), *tokens_of("evm", is_sandbox=False))
        (option,), others = read_options(terms.options, terms.version, tokens)
        assert [other.code for other in others] in ([], ["other_rail"])
        prepared = prepare_payment(
            option,
            Decimal(amount),
            self.signer.address,
            now=datetime.now(UTC),
            named_at=terms.named_at,
            skew=self.auth.skew,
        )
        assert isinstance(self.signer, EthAccountSigner)
        return await sign_payment(prepared, self.signer)

    async def balance(self) -> Decimal | None:
        return (await self.service.x402.balance(self.signer.address)).balance_usd


@asynccontextmanager
async def harness(sandbox: Client, dialect: str = "service", chain: Chain = "evm") -> AsyncIterator[Harness]:
    signer: EthAccountSigner | Ed25519Signer
    if chain == "evm":
        faucet = sandbox.control("/faucet", method="GET")["wallet"]  # everybody's wallet, full of play money
        signer = EthAccountSigner(faucet["address"], Store(faucet["private_key"], "evm"))
    else:
        signer = Ed25519Signer(SOLANA_ADDRESS, Store(SEED, "solana"))
    names = DIALECTS[dialect]
    base_url = sandbox.running.base_url
    site = site_of(base_url, domain=names.siwx_domain, uri=names.siwx_uri, statement=names.siwx_statement)
    auth = WalletAuth(base_url, names.siwx_header, SignInHeaderMaker(signer, site), refused_by=(WalletError,))
    exchanges: list[Exchange] = []
    service = open_service(base_url, dialect, auth, exchanges.append)
    try:
        yield Harness(sandbox, service, auth, signer, exchanges)
    finally:
        await service.aclose()


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, clock=time.time) as client:
        yield client


@pytest.fixture
def venice(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, clock=time.time, dialect="venice") as client:
        yield client


@pytest.mark.parametrize("chain", ["evm", "solana"])
@pytest.mark.parametrize("dialect", ["service", "venice"])
async def test_r_auth_03_r_auth_04_r_auth_05_r_auth_06_r_auth_07_r_auth_08_the_sandbox_takes_our_sign_in(
    dialect: str, chain: Chain, request: pytest.FixtureRequest
) -> None:
    client = request.getfixturevalue("venice" if dialect == "venice" else "sandbox")
    async with harness(client, dialect, chain) as at:
        for _ in range(3):
            assert await at.balance() == 0
        with pytest.raises(Forbidden):
            await at.service.x402.balance("0x" + "1" * 40)
    assert [exchange.attempts for exchange in at.exchanges] == [1, 1, 1, 1]


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(seconds=-100), timedelta(days=40)])
async def test_a_clock_that_is_wrong_costs_one_more_attempt_and_then_none(ahead: timedelta, sandbox: Client) -> None:
    sandbox.turn_clock(ahead.total_seconds())
    async with harness(sandbox) as at:
        assert await at.balance() == 0
        assert await at.balance() == 0
        assert abs(at.auth.skew - ahead) < timedelta(seconds=3)
        payment = await at.payment()
        assert (await at.service.x402.settle(payment.header_value("v2"))).credited_usd == Decimal("7.25")
    assert [exchange.attempts for exchange in at.exchanges] == [2, 1, 1, 1]


async def test_r_wal_01_to_13_a_top_up_is_credited_once_and_then_spent(sandbox: Client) -> None:
    async with harness(sandbox) as at:
        question = ChatRequest(model="rialto-handbook", messages=(ChatMessage("user", "How do I stop an answer?"),))
        with pytest.raises(PaymentRequired) as caught:
            await at.service.chat.complete(question)
        assert caught.value.minimum == Decimal(5)
        payment = await at.payment()
        first = await at.service.x402.settle(payment.header_value("v2"))
        again = await at.service.x402.settle(payment.header_value("v2"))
        flat = await at.service.x402.settle(payment.header_value("flat"))
        assert first.payment_id == again.payment_id == flat.payment_id
        assert first.receipt is not None
        assert (first.receipt.payer, first.balance_usd) == (at.signer.address, Decimal("7.25"))
        assert await at.balance() == Decimal("7.25")
        assert (await at.service.chat.complete(question)).text
        info = at.exchanges[-1].info
        assert info is not None
        assert info.balance_remaining is not None
        assert info.balance_remaining < Decimal("7.25")
        page = await at.service.x402.transactions(at.signer.address)
        assert page.transactions[-1].kind == "TOP_UP"
        assert {each.kind for each in page.transactions[:-1]} == {"CHARGE"}
        assert sum(each.amount for each in page.transactions) == await at.balance()


async def test_terms_of_the_first_protocol_version_are_paid_too(sandbox: Client) -> None:
    sandbox.fault("terms_v1")
    async with harness(sandbox) as at:
        payment = await at.payment("5")
        assert payment.usual_form == "v1"
        assert (await at.service.x402.settle(payment.header_value("v1"))).credited_usd == Decimal(5)


@pytest.mark.parametrize("landed", [True, False])
async def test_a_settlement_that_takes_too_long_is_unknown_until_the_same_payment_is_sent_again(
    landed: bool, sandbox: Client
) -> None:
    sandbox.fault("settlement_timeout", times=1, landed=landed)
    async with harness(sandbox) as at:
        header = (await at.payment()).header_value("v2")
        with pytest.raises(OutcomeUnknown) as caught:
            await at.service.x402.settle(header)
        assert caught.value.code == "SETTLEMENT_TIMEOUT"
        assert await at.balance() == (Decimal("7.25") if landed else 0)
        assert (await at.service.x402.settle(header)).credited_usd == Decimal("7.25")
        assert await at.balance() == Decimal("7.25")


async def test_a_connection_that_dies_with_the_payment_debits_at_most_once(sandbox: Client) -> None:
    async with harness(sandbox) as at:
        header = (await at.payment()).header_value("v2")
        sandbox.fault("drop", times=1, path="/x402/top-up")
        with pytest.raises(OutcomeUnknown):
            await at.service.x402.settle(header)
        assert at.exchanges[-1].outcome == "unknown"
        await at.service.x402.settle(header)
        assert await at.balance() == Decimal("7.25")


async def test_refusals_have_their_own_errors(sandbox: Client) -> None:
    async with harness(sandbox) as at:
        header = (await at.payment()).header_value("v2")
        sandbox.fault("payment_in_progress", times=1)
        with pytest.raises(Conflict):
            await at.service.x402.settle(header)
        sandbox.fault("settlement_failed", times=1)
        with pytest.raises(PaymentRequired):
            await at.service.x402.settle(header)
        with pytest.raises(BadRequest):
            await at.service.x402.settle("bm90aGluZw==")
        assert await at.balance() == 0


async def test_r_auth_11_a_sign_in_that_was_used_before_is_refused_and_not_repeated(sandbox: Client) -> None:
    sandbox.fault("nonce_reused", times=1)
    async with harness(sandbox) as at:
        with pytest.raises(AuthenticationFailed):
            await at.balance()
        assert at.exchanges[-1].attempts == 1
        assert await at.balance() == 0


async def test_r_auth_13_where_no_wallet_is_taken_the_refusal_is_told(sandbox: Client) -> None:
    async with harness(sandbox) as at:
        with pytest.raises(AuthenticationFailed):
            await at.service.account.rate_limits()


async def test_r_auth_10_what_is_kept_of_a_top_up_holds_no_key(sandbox: Client) -> None:
    async with harness(sandbox) as at:
        await at.service.x402.settle((await at.payment()).header_value("v2"))
        assert isinstance(at.signer, EthAccountSigner)
        store = at.signer._read_key
        assert isinstance(store, Store)
        assert store.text[2:] not in repr([at.exchanges, at.auth, at.signer, at.service.__dict__])
        assert store.given
        assert not any(any(key._secret) for key in store.given)
