"""What a wallet may call, what it pays, what it sees of itself: rules R-AUTH, R-WAL, R-HDR-32, R-ERR-15."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from app.sandbox.accounts.wallet_account import balance
from app.sandbox.accounts.wallet_address import Wallet, checksummed, from_base58, read_wallet, to_base58
from app.sandbox.accounts.wallets import Visit, wallets_of
from app.sandbox.chains.networks import TEST_ACCOUNTS
from app.sandbox.http.call import Call
from app.sandbox.http.connections import Request
from app.sandbox.http.routes import ROUTES, Route
from app.sandbox.site import Site
from app.sandbox.world import Clock, Settings, World
from tests.sandbox.support import Client
from tests.sandbox.wallet_support import EvmWallet, SolanaWallet, WalletClient, unpacked, v2

ACCOUNT = "/x402/balance/{}"
KEY_ONLY = [route for route in ROUTES if any(part in ("characters", "api_keys", "billing") for part in route.path)]


def url_of(route: Route) -> str:
    return "/" + "/".join("any" if part.startswith("{") else part for part in route.path)


def test_R_AUTH_08_the_first_sign_in_makes_the_ledger(wallet: WalletClient) -> None:
    assert wallet.known()["signed_in"] is False
    answer = wallet.get(ACCOUNT.format(wallet.wallet.address))
    assert answer.json()["data"]["balanceUsd"] == 0
    assert wallet.known() == {
        "address": wallet.wallet.address,
        "signed_in": True,
        "usd": "0",
        "usdc": "0.000000",
        "in_flight": 0,
    }


def test_a_header_that_was_refused_makes_no_ledger(wallet: WalletClient) -> None:
    assert wallet.chat(wallet.wallet.header(signature="0x" + "11" * 65)).status_code == 401
    assert wallet.known()["signed_in"] is False


@pytest.mark.parametrize("route", KEY_ONLY, ids=url_of)
def test_R_AUTH_13_a_wallet_is_401_where_only_keys_are_taken(wallet: WalletClient, route: Route) -> None:
    wallet.credit("5")
    address = wallet.sandbox.running.origin + url_of(route)
    key = {"Authorization": f"Bearer {wallet.sandbox.running.api_key}"}
    for headers in (wallet.wallet.header(), {**key, **wallet.wallet.header()}):
        answer = wallet.http.request(route.methods[0], address, headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"error": "Authentication failed"})


def test_R_AUTH_13_the_list_of_those_is_not_empty() -> None:
    assert len(KEY_ONLY) >= 10


def test_public_calls_take_a_right_sign_in_and_refuse_a_wrong_one(wallet: WalletClient) -> None:
    assert wallet.get("/models").status_code == 200  # below the floor
    assert wallet.get("/models", {"X-Sign-In-With-X": "e30="}).status_code == 401


def test_controls_are_not_opened_by_a_wallet(wallet: WalletClient) -> None:
    answer = wallet.http.get(f"{wallet.sandbox.running.origin}/sandbox/state", headers=wallet.wallet.header())
    assert answer.status_code == 401


@pytest.mark.parametrize("stream", [False, True])
def test_R_WAL_13_R_HDR_32_R_CHAT_18_every_inference_answer_tells_what_remains(
    wallet: WalletClient, stream: bool
) -> None:
    wallet.credit("4.23")
    answer = wallet.chat(stream=stream)
    assert answer.status_code == 200
    remaining = answer.headers["X-Balance-Remaining"]
    left = Decimal(wallet.known()["usd"])
    assert left < Decimal("4.23")
    if stream:  # its headers left before its cost was known
        assert remaining == "4.230000"
        assert wallet.chat().headers["x-service-balance-usd"] == str(left)
    else:
        assert Decimal(remaining) == left.quantize(Decimal("0.000001"), "ROUND_FLOOR")
        assert len(remaining.partition(".")[2]) == 6


def test_R_WAL_13_failed_answers_tell_it_too_and_keys_never_hear_it(wallet: WalletClient) -> None:
    wallet.credit("4.23")
    answer = wallet.chat(model="no-such-model")
    assert (answer.status_code, answer.headers["X-Balance-Remaining"]) == (404, "4.230000")
    assert "X-Balance-Remaining" not in wallet.sandbox.chat_raw().headers
    assert "X-Balance-Remaining" not in wallet.get("/models").headers


def test_R_WAL_08_calls_are_charged_to_the_wallet(wallet: WalletClient) -> None:
    wallet.credit("1")
    cost = Decimal(str(wallet.chat().json()["cost"]["usd"]))
    assert abs(Decimal("1") - cost - Decimal(wallet.known()["usd"])) < Decimal("1e-12")
    assert wallet.sandbox.balance() == "100"


@pytest.mark.parametrize(("usd", "status"), [("0.099999", 402), ("0.1", 200)])
def test_R_WAL_11_the_floor_is_ten_cents(wallet: WalletClient, usd: str, status: int) -> None:
    wallet.credit(usd)
    assert wallet.chat().status_code == status


def test_R_WAL_12_the_402_carries_instructions_and_a_challenge(wallet: WalletClient) -> None:
    wallet.credit("0.04")
    answer = wallet.chat()
    body = answer.json()
    assert (answer.status_code, answer.headers["X-Balance-Remaining"]) == (402, "0.040000")
    assert (body["error"], body["code"], body["reason"]) == (
        "Payment required",
        "PAYMENT_REQUIRED",
        "insufficient_balance",
    )
    assert (body["currentBalanceUsd"], body["minimumBalanceUsd"]) == (0.04, 0.1)
    assert (body["suggestedTopUpUsd"], body["minimumTopUpUsd"]) == (10, 5)
    assert (body["supportedTokens"], body["supportedChains"]) == (["USDC"], ["base", "solana"])
    steps = body["topUpInstructions"]
    assert {"step1", "step2", "step3", "receiverWallet"} < set(steps)
    assert (steps["tokenDecimals"], steps["network"], steps["minimumAmountUsd"]) == (6, "base", 5)
    header = unpacked(answer.headers["PAYMENT-REQUIRED"])
    assert header["x402Version"] == 2 and header["accepts"][0]["amount"] == "10000000"
    assert header["accepts"][1]["network"] == "solana"


def test_R_WAL_12_the_challenge_can_be_signed_as_it_stands(wallet: WalletClient) -> None:
    challenge = wallet.chat().json()["siwxChallenge"]
    info = challenge["info"]
    assert [chain["type"] for chain in challenge["supportedChains"]] == ["eip191", "ed25519"]
    text = wallet.wallet.text(
        **{
            "domain": info["domain"],
            "statement": info["statement"],
            "URI": info["uri"],
            "Nonce": info["nonce"],
            "Issued At": info["issuedAt"],
            "Expiration Time": info["expirationTime"],
        }
    )
    wallet.credit("1")
    assert wallet.chat(wallet.wallet.header(text)).status_code == 200


def test_the_402_comes_before_anything_is_looked_at(wallet: WalletClient) -> None:
    """R-ERR-15: so it holds for every paid endpoint, transcription and video among them."""
    paid = [route for route in ROUTES if route.path[:2] == ("api", "v1") and route.credentials == "any"]
    closed = [route for route in paid if not route.public]
    assert len(closed) >= 4
    for route in closed:
        address = wallet.sandbox.running.origin + url_of(route)
        answer = wallet.http.request(route.methods[0], address, headers=wallet.wallet.header())
        assert (answer.status_code, answer.json().get("code")) == (402, "PAYMENT_REQUIRED"), url_of(route)
        wallet.sandbox.control("/reset", method="POST")  # or the block after too many failures comes between


def test_wallets_have_a_guard_of_their_own_against_too_many_failures(wallet: WalletClient) -> None:
    statuses = [wallet.chat().status_code for _ in range(22)]
    assert statuses == [402] * 21 + [429]
    assert wallet.sandbox.chat_raw().status_code == 200
    other = EvmWallet(byte=5, origin=wallet.wallet.origin)
    assert wallet.chat(other.header()).status_code == 402


def test_five_requests_at_once_and_not_six(wallet: WalletClient) -> None:
    wallet.credit("5")
    wallet.sandbox.fault("slow", seconds=1.5, times=5, path="chat")
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(wallet.chat().status_code)) for _ in range(5)]
    for thread in threads:
        thread.start()
    while wallet.known()["in_flight"] < 5:
        assert any(thread.is_alive() for thread in threads)
    refused = wallet.chat()
    assert (refused.status_code, refused.json()["code"]) == (429, "X402_CONCURRENCY_LIMIT")
    own = ACCOUNT.format(wallet.wallet.address)
    assert wallet.get(own).status_code == 200  # not inference
    other = EvmWallet(byte=5, origin=wallet.wallet.origin)
    wallet.credit("5", other)
    assert wallet.chat(other.header()).status_code == 200
    for thread in threads:
        thread.join()
    assert statuses == [200] * 5
    assert wallet.known()["in_flight"] == 0
    assert wallet.chat().status_code == 200


def test_a_stream_counts_until_its_last_byte_or_until_it_breaks(wallet: WalletClient) -> None:
    wallet.credit("5")
    wallet.sandbox.control("/settings", {"tokens_per_second": 1})  # it lasts until it is left
    body = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop?"}], "stream": True}
    address = f"{wallet.sandbox.running.base_url}/chat/completions"
    with wallet.http.stream("POST", address, json=body, headers=wallet.wallet.header()) as answer:
        next(answer.iter_bytes())
        assert wallet.known()["in_flight"] == 1
    wallet.sandbox.control("/settings", {"tokens_per_second": 0})
    wallet.sandbox.fault("cut", after=20, times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        wallet.chat(stream=True)
    wallet.sandbox.fault("drop", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        wallet.chat()
    until = time.monotonic() + 60
    while wallet.known()["in_flight"] and time.monotonic() < until:
        time.sleep(0.01)
    assert wallet.known()["in_flight"] == 0


def test_R_WAL_10_the_balance_is_the_wallets_own_to_see(wallet: WalletClient) -> None:
    wallet.credit("4.23")
    answer = wallet.get(ACCOUNT.format(wallet.wallet.address))
    assert answer.status_code == 200 and "X-Balance-Remaining" not in answer.headers
    assert answer.json() == {
        "success": True,
        "data": {
            "walletAddress": wallet.wallet.address,
            "balanceUsd": 4.23,
            "canConsume": True,
            "minimumTopUpUsd": 5,
            "suggestedTopUpUsd": 10,
        },
    }
    lower = wallet.get(ACCOUNT.format(wallet.wallet.address.lower()))
    assert lower.json()["data"]["walletAddress"] == wallet.wallet.address
    wallet.credit("0.09")
    assert wallet.get(ACCOUNT.format(wallet.wallet.address)).json()["data"]["canConsume"] is False
    assert "diemBalanceUsd" not in wallet.get(ACCOUNT.format(wallet.wallet.address)).json()["data"]


@pytest.mark.parametrize("path", [ACCOUNT, "/x402/transactions/{}"])
def test_R_EP_09_R_WAL_10_another_wallet_403_no_wallet_400_no_sign_in_401(wallet: WalletClient, path: str) -> None:
    own = path.format(wallet.wallet.address)
    assert wallet.get(path.format(EvmWallet(byte=5).address)).status_code == 403
    assert wallet.get(path.format("0x12")).status_code == 400
    assert wallet.get(own, {}).status_code == 401
    bad = wallet.get(own, {"X-Sign-In-With-X": "e30="})
    assert (bad.status_code, bad.json()) == (401, {"error": "Invalid Sign-in-with-x signature"})
    assert wallet.get(own, {"Authorization": "Bearer wrong"}).status_code == 401


def test_R_WAL_10_the_other_wallet_kind_sees_its_balance_in_its_own_case(wallet: WalletClient) -> None:
    solana = SolanaWallet(origin=wallet.wallet.origin)
    wallet.credit("2", solana)
    answer = wallet.get(ACCOUNT.format(solana.address), solana.header())
    assert (answer.status_code, answer.json()["data"]["walletAddress"]) == (200, solana.address)
    assert wallet.get(ACCOUNT.format(solana.address.lower()), solana.header()).status_code in (400, 403)


def test_R_AUTH_01_a_key_reads_balances_in_the_service_dialect_only(
    wallet: WalletClient, venice_wallet: WalletClient
) -> None:
    for client, status in ((wallet, 200), (venice_wallet, 401)):
        headers = {"Authorization": f"Bearer {client.sandbox.running.api_key}"}
        assert client.get(ACCOUNT.format(client.wallet.address), headers).status_code == status


def test_thirty_balances_and_twenty_lists_a_minute(wallet: WalletClient) -> None:
    for path, allowed in ((ACCOUNT, 30), ("/x402/transactions/{}", 20)):
        answers = [wallet.get(path.format(wallet.wallet.address)) for _ in range(allowed + 1)]
        assert [answer.status_code for answer in answers] == [200] * allowed + [429]
        assert answers[0].headers["x-ratelimit-limit-requests"] == str(allowed)
        assert int(answers[-1].headers["retry-after"]) == 60


def test_transactions_are_newest_first_and_add_up(wallet: WalletClient) -> None:
    wallet.fund()
    payment = wallet.wallet.pays()
    assert wallet.top_up(v2(payment)).status_code == 200
    for _ in range(2):
        assert wallet.chat().status_code == 200
    path = f"/x402/transactions/{wallet.wallet.address}"
    data = wallet.get(path).json()["data"]
    lines: list[dict[str, Any]] = data["transactions"]
    assert [line["type"] for line in lines] == ["CHARGE"] * 4 + ["TOP_UP"]
    assert data["currentBalance"] == pytest.approx(float(wallet.known()["usd"]))
    assert data["pagination"] == {"limit": 50, "offset": 0, "hasMore": False}
    assert (lines[-1]["amount"], lines[-1]["balanceAfter"]) == (5, 5)
    for newer, older in itertools.pairwise(lines):
        assert newer["balanceAfter"] == pytest.approx(older["balanceAfter"] + newer["amount"], abs=1e-12)
    assert lines[0]["modelId"] == "rialto-handbook" and lines[0]["createdAt"] == "2026-11-25T12:00:00.000Z"
    assert len({line["id"] for line in lines}) == 5
    page = wallet.get(f"{path}?limit=2&offset=2").json()["data"]
    assert page["transactions"] == lines[2:4]
    assert page["pagination"] == {"limit": 2, "offset": 2, "hasMore": True}


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=ten", "offset=-1", "offset=1.5"])
def test_pages_outside_their_range_are_refused(wallet: WalletClient, query: str) -> None:
    answer = wallet.get(f"/x402/transactions/{wallet.wallet.address}?{query}")
    assert (answer.status_code, set(answer.json()["details"])) == (400, {"_errors", query.partition("=")[0]})


def test_a_refund_is_told_from_a_top_up(wallet: WalletClient) -> None:
    from app.sandbox.accounts.wallet_account import _line
    from app.sandbox.world import Charge

    charge = Charge(0.0, "reel-refund", Decimal(1), Decimal(-1), Decimal(1), "ray", "reel")
    assert _line(1, charge, Decimal(2))["type"] == "REFUND"


def test_in_the_service_dialect_no_credential_is_401(wallet: WalletClient) -> None:
    assert wallet.chat({}).status_code == 401


def test_in_the_venice_dialect_no_credential_is_402_with_ways_in(venice_wallet: WalletClient) -> None:
    answer = venice_wallet.chat({})
    body = answer.json()
    assert (answer.status_code, body["x402Version"]) == (402, 2)
    assert body["resource"]["url"].endswith("/api/v1/chat/completions")
    assert [entry["amount"] for entry in body["accepts"]] == ["10000000", "10000000"]
    assert [entry["network"] for entry in body["accepts"]] == ["eip155:8453", "solana"]
    assert set(body["extensions"]["sign-in-with-x"]) == {"info", "supportedChains"}
    assert set(body["authOptions"]["apiKey"]) == {"header", "getKey", "docs"}
    assert set(body["authOptions"]["x402Wallet"]) == {"header", "legacyHeader", "topUp", "docs"}
    header = unpacked(answer.headers["PAYMENT-REQUIRED"])
    assert header["accepts"] == body["accepts"] and "authOptions" not in header
    own = venice_wallet.get(ACCOUNT.format(venice_wallet.wallet.address), {})
    assert (own.status_code, own.json()["accepts"]) == (402, [])
    for headers in ({"Authorization": "Bearer wrong"}, {"SIGN-IN-WITH-X": "e30="}):
        assert venice_wallet.chat(headers).status_code == 401
    assert venice_wallet.get("/characters", {}).status_code == 401
    assert venice_wallet.http.get(f"{venice_wallet.sandbox.running.origin}/sandbox/state").status_code == 401
    assert venice_wallet.get("/models", {}).status_code == 200


@pytest.mark.parametrize("name", ["X-402-Payment", "PAYMENT-SIGNATURE", "x-payment"])
def test_a_payment_elsewhere_is_refused(wallet: WalletClient, name: str) -> None:
    wallet.credit("5")
    for headers in ({**wallet.wallet.header(), name: "e30="}, {name: "e30="}):
        answer = wallet.chat(headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "PAYMENT_HEADER_NOT_ACCEPTED")
    assert wallet.known()["usd"] == "5"


def test_the_faucet_gives_play_money_to_anybody(wallet: WalletClient) -> None:
    address = f"{wallet.sandbox.running.origin}/sandbox/faucet"
    gift = wallet.http.post(address, json={"address": wallet.wallet.address.lower()}).json()
    assert (gift["address"], gift["amount"], gift["usdc"]) == (wallet.wallet.address, "100", "100.000000")
    more = wallet.http.post(address, json={"address": wallet.wallet.address, "amount": 0.5}).json()
    assert more["usdc"] == "100.500000"
    assert (gift["ether"], more["ether"]) == ("1.000000000000000000", "2.000000000000000000"), (
        "for gas, in the same call"
    )
    least = wallet.http.post(address, json={"address": wallet.wallet.address, "amount": "1", "ether": "0"}).json()
    assert least["ether"] == more["ether"]
    assert wallet.known()["usd"] == "0"  # play money is not credit yet


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("address", {}),
        ("address", {"address": "0x12"}),
        ("address", {"address": SolanaWallet().address + "1"}),
        ("amount", {"address": EvmWallet().address, "amount": 0}),
        ("amount", {"address": EvmWallet().address, "amount": "10000.000001"}),
        ("amount", {"address": EvmWallet().address, "amount": "0.0000001"}),
        ("amount", {"address": EvmWallet().address, "amount": "much"}),
        ("amount", {"address": EvmWallet().address, "amount": "NaN"}),
        ("amount", {"address": EvmWallet().address, "amount": True}),
        ("amount", {"address": EvmWallet().address, "amount": "1e300"}),
        ("ether", {"address": EvmWallet().address, "ether": "100.1"}),
        ("ether", {"address": EvmWallet().address, "ether": "-1"}),
        ("ether", {"address": EvmWallet().address, "ether": "1e-19"}),
    ],
)
def test_the_faucet_refuses_what_it_cannot_give(wallet: WalletClient, field: str, body: dict[str, Any]) -> None:
    answer = wallet.http.post(f"{wallet.sandbox.running.origin}/sandbox/faucet", json=body)
    assert answer.status_code == 400 and field in answer.json()["details"]


def test_the_faucet_wallet_is_published_and_its_key_is_its_own(sandbox: Client, bare: httpx.Client) -> None:
    from eth_account import Account

    body = bare.get(f"{sandbox.running.origin}/sandbox/faucet").json()
    own = body["wallet"]
    assert Account.from_key(own["private_key"]).address == own["address"]
    assert own["address"] == TEST_ACCOUNTS[0].address  # one faucet for chains and top-ups
    assert own["usdc"] == "1000000000.000000"
    assert (body["token"]["network"], body["token"]["decimals"]) == ("eip155:8453", 6)


def test_reset_forgets_wallets_and_their_money(wallet: WalletClient) -> None:
    wallet.fund()
    wallet.credit("5")
    headers = wallet.wallet.header()
    assert wallet.chat(headers).status_code == 200
    wallet.sandbox.control("/reset", method="POST")
    known = wallet.known()
    assert (known["signed_in"], known["usd"], known["usdc"]) == (False, "0", "0.000000")
    assert wallet.chat(headers).status_code == 402  # its nonce is forgotten, too


def test_a_control_of_no_wallet_is_404_and_wrong_amounts_are_400(wallet: WalletClient) -> None:
    origin = wallet.sandbox.running.origin
    assert wallet.sandbox.http.get(f"{origin}/sandbox/wallets/nobody").status_code == 404
    wrong = wallet.sandbox.http.put(f"{origin}/sandbox/wallets/{wallet.wallet.address}", json={"usd": "x"})
    assert wrong.json()["details"]["usd"]["_errors"]
    same = wallet.sandbox.control(f"/wallets/{wallet.wallet.address}", {})
    assert same["signed_in"] is False


def test_daily_credits_count_for_the_floor_and_are_shown(wallet: WalletClient) -> None:
    world = World("key", Settings(), Clock(lambda: 0.0))
    caller = wallets_of(world).caller(Wallet("evm", wallet.wallet.address))
    caller.ledger.balance_diem = Decimal("0.10")
    visit = Visit(caller)
    site = Site(world, "http://127.0.0.1:1", Path(), Path(), {})
    call = Call(Request("GET", "/", (), {}), site, "ray", {"address": caller.address}, caller)
    visit.admit(call)
    assert caller.in_flight == 1
    body = json.loads(cast(bytes, asyncio.run(balance(call)).body))
    assert (body["data"]["balanceUsd"], body["data"]["diemBalanceUsd"], body["data"]["canConsume"]) == (0, 0.1, True)


def test_R_AUTH_10_the_log_names_no_header(wallet: WalletClient) -> None:
    wallet.credit("5")
    headers = wallet.wallet.header()
    wallet.chat(headers)
    log = str(wallet.sandbox.control("/log", method="GET"))
    assert "/chat/completions" in log and headers["X-Sign-In-With-X"][:40] not in log


def test_addresses_are_read_strictly_and_written_in_one_way() -> None:
    for known in ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"):
        assert checksummed(known.lower()) == known
        assert read_wallet(known.upper().replace("0X", "0x")) == read_wallet(known)
    assert read_wallet("0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed") is None
    assert read_wallet("11111111111111111111111111111112") is not None
    assert read_wallet("1111111111111111111111111111111") is None
    assert read_wallet("z" * 44) is None  # 33 bytes
    for raw in (b"", b"\0", b"\0\0\x01", bytes(range(32))):
        assert from_base58(to_base58(raw)) == raw
    assert from_base58("0") is None and from_base58("1" * 257) is None
