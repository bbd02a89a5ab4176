"""Clients nobody here wrote, against `python -m app.sandbox`: `x402` tops up in both protocol versions, `openai`
chats with a sign-in header."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import httpx
import openai
import pytest
from eth_account import Account
from openai.types.chat import ChatCompletionUserMessageParam
from x402 import x402Client, x402ClientSync
from x402.http import x402HTTPClient, x402HTTPClientSync
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.evm.exact import ExactEvmScheme
from x402.mechanisms.evm.exact.v1.client import ExactEvmSchemeV1

from tests.sandbox.wallet_support import EvmWallet

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-this-test"
ASK: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "How do I stop an answer?"}]


@pytest.fixture(scope="module", params=["service", "venice"])
def origin(request: pytest.FixtureRequest) -> Iterator[str]:
    command = [sys.executable, "-m", "app.sandbox", "--api-key", KEY, "--speed", "0", "--no-local"]
    command += ["--dialect", request.param]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().removesuffix("/api/v1")
        process.terminate()
        assert process.wait(timeout=60) == 0


@pytest.fixture
def wallet(origin: str) -> EvmWallet:
    headers = {"Authorization": f"Bearer {KEY}"}
    httpx.post(f"{origin}/sandbox/reset", headers=headers, trust_env=False, timeout=60).raise_for_status()
    wallet = EvmWallet(byte=7, origin=origin, now=time.time())
    gift = {"address": wallet.address, "amount": "20"}
    httpx.post(f"{origin}/sandbox/faucet", json=gift, trust_env=False, timeout=60).raise_for_status()
    return wallet


def balance(origin: str, wallet: EvmWallet) -> Decimal:
    answer = httpx.get(
        f"{origin}/api/v1/x402/balance/{wallet.address}", headers=wallet.header(), trust_env=False, timeout=60
    )
    return Decimal(str(answer.raise_for_status().json()["data"]["balanceUsd"]))


def test_R_WAL_06_x402_tops_up_in_version_2(origin: str, wallet: EvmWallet) -> None:
    client = x402ClientSync().register("eip155:8453", ExactEvmScheme(Account.from_key(wallet.key)))
    paying = x402HTTPClientSync(client.set_spend_controls(False))
    url = f"{origin}/api/v1/x402/top-up"
    asked = httpx.post(url, trust_env=False, timeout=60)
    assert asked.status_code == 402
    headers, _ = paying.handle_402_response(dict(asked.headers), asked.content, url)
    assert set(headers) == {"PAYMENT-SIGNATURE"}
    paid = httpx.post(url, headers=headers, trust_env=False, timeout=60)
    assert paid.status_code == 200, paid.text
    settled = paying.get_payment_settle_response(lambda name: paid.headers.get(name))
    assert settled.success and settled.payer == wallet.address and settled.network == "eip155:8453"
    again = httpx.post(url, headers=headers, trust_env=False, timeout=60)
    assert again.json() == paid.json()
    assert balance(origin, wallet) == 5


def test_R_WAL_06_x402_tops_up_in_version_1(origin: str, wallet: EvmWallet) -> None:
    fault = f"{origin}/sandbox/faults/terms_v1"
    bearer = {"Authorization": f"Bearer {KEY}"}
    httpx.put(fault, json={"times": 1}, headers=bearer, trust_env=False, timeout=60).raise_for_status()
    client = x402ClientSync().register_v1("base", ExactEvmSchemeV1(Account.from_key(wallet.key)))
    paying = x402HTTPClientSync(client.set_spend_controls(False))
    url = f"{origin}/api/v1/x402/top-up"
    asked = httpx.post(url, trust_env=False, timeout=60)
    headers, _ = paying.handle_402_response(dict(asked.headers), asked.content, url)
    assert set(headers) == {"X-PAYMENT"}
    paid = httpx.post(url, headers=headers, trust_env=False, timeout=60)
    assert paid.status_code == 200, paid.text
    assert paying.get_payment_settle_response(lambda name: paid.headers.get(name)).success
    assert balance(origin, wallet) == 5


async def test_R_WAL_07_its_httpx_client_pays_by_itself(origin: str, wallet: EvmWallet) -> None:
    client = x402Client().register("eip155:8453", ExactEvmScheme(Account.from_key(wallet.key)))
    async with x402HttpxClient(x402HTTPClient(client.set_spend_controls(False)), trust_env=False, timeout=60) as http:
        answer = await http.post(f"{origin}/api/v1/x402/top-up")
    assert answer.status_code == 200, answer.text
    assert balance(origin, wallet) == 5


def test_R_WAL_08_openai_chats_with_a_sign_in_header(origin: str, wallet: EvmWallet) -> None:
    """A fresh header for every request, put there by an ordinary request hook; no key is sent."""

    def sign_in(request: httpx.Request) -> None:
        del request.headers["authorization"]
        request.headers.update(wallet.header())

    with (
        httpx.Client(event_hooks={"request": [sign_in]}, trust_env=False, timeout=60) as http,
        openai.OpenAI(base_url=f"{origin}/api/v1", api_key="none", http_client=http, max_retries=0) as client,
    ):
        with pytest.raises(openai.APIStatusError) as refused:
            client.chat.completions.create(model="rialto-handbook", messages=ASK)
        assert refused.value.status_code == 402
        bearer = {"Authorization": f"Bearer {KEY}"}
        address = f"{origin}/sandbox/wallets/{wallet.address}"
        httpx.put(address, json={"usd": "1"}, headers=bearer, trust_env=False, timeout=60).raise_for_status()
        raw = client.chat.completions.with_raw_response.create(model="rialto-handbook", messages=ASK)
        assert "Esc" in (raw.parse().choices[0].message.content or "")
        left = Decimal(raw.headers["x-balance-remaining"])
        assert 0 < left < 1
        stream = client.chat.completions.create(model="rialto-handbook", messages=ASK, stream=True)
        text = "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)
        assert "Esc" in text
        assert balance(origin, wallet) < left
