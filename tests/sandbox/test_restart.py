"""A Sandbox that keeps its state: what was there before it ended, or was killed, is there when it starts again."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account

from app.sandbox.chains.networks import TEST_ACCOUNTS
from app.sandbox.store import FILE_NAME, Store, StoreInUse
from tests.sandbox.support import NOON, Client, running
from tests.sandbox.test_video import PRIVATE, played, queued, retrieve
from tests.sandbox.test_voices import handle_of, sample, say
from tests.sandbox.wallet_support import EvmWallet, WalletClient, v2

ROOT = Path(__file__).resolve().parents[2]
ALICE = Account.from_key(TEST_ACCOUNTS[1].private_key)
SOME_ADDRESS = "0x" + "12" * 20


def kept(folder: Path, **options: Any) -> Any:
    """The next Sandbox in this folder, with a key of its own."""
    return running(folder, keep=True, **options)


def rpc(sandbox: Client, method: str, *params: object, key: str = "") -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
    headers = {"Idempotency-Key": key} if key else {}
    answer = sandbox.post("/crypto/rpc/base-mainnet", body, headers=headers)
    return {**answer.json(), "replayed": "Idempotent-Replayed" in answer.headers}


def transfer(nonce: int) -> str:
    fees = {"gas": 21_000, "maxFeePerGas": 5 * 10**9, "maxPriorityFeePerGas": 10**9}
    transaction = {"to": SOME_ADDRESS, "value": 7, "nonce": nonce, "chainId": 8453, **fees}
    return "0x" + bytes(ALICE.sign_transaction(transaction).raw_transaction).hex()


def test_money_bookings_and_keys_are_there_again(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        sandbox.control("/balance", {"usd": "50", "diem": "0.000001"})
        sandbox.chat()
        made = sandbox.post("/api_keys", {"apiKeyType": "INFERENCE", "description": "Night work"}).json()["data"]
        before = [sandbox.get(path).json() for path in ("/billing/balance", "/billing/usage-history")]
        account = sandbox.get("/api_keys").json()["data"][0]["id"]
        since = sandbox.control("/watch", method="GET")["books_since"]
    with kept(tmp_path, clock=lambda: NOON + 3600) as sandbox:
        assert [sandbox.get(path).json() for path in ("/billing/balance", "/billing/usage-history")] == before
        assert len(before[1]["data"]) >= 3
        rows = sandbox.get("/api_keys").json()["data"]
        assert (rows[0]["id"], rows[1]["description"]) == (account, "Night work")
        assert sandbox.control("/watch", method="GET")["books_since"] == since
        theirs = {"authorization": f"Bearer {made['apiKey']}"}
        asked = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}
        assert sandbox.post("/chat/completions", asked, headers=theirs).status_code == 200
        assert sandbox.get("/billing/balance", headers=theirs).status_code == 401, "it is no admin key"
        assert len(sandbox.get("/billing/usage-history").json()["data"]) > len(before[1]["data"])


def test_a_queued_video_is_made_and_a_private_download_goes_on(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        queue_id = queued(sandbox)
        address = sandbox.post(
            "/video/queue", {"model": PRIVATE, "prompt": "a boat at sunset", "duration": "3s"}
        ).json()["download_url"]
        sandbox.turn_clock(60)
        first = sandbox.http.get(address)
    path = address.partition("/downloads/")[2]
    with kept(tmp_path) as sandbox:
        assert sandbox.control("/state", method="GET")["clock_offset_s"] == 60
        assert played(retrieve(sandbox, queue_id).content)[0] == pytest.approx(3, abs=0.2)
        headers = {"Range": "bytes=100-", "If-Range": first.headers["etag"]}
        rest = sandbox.http.get(f"{sandbox.running.origin}/downloads/{path}", headers=headers)
        assert rest.status_code == 206 and rest.content == first.content[100:]


def test_a_video_that_was_refused_is_refunded_once_over_restarts(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        queue_id = queued(sandbox, "sandbox-violation")
        sandbox.turn_clock(60)
        assert retrieve(sandbox, queue_id).status_code == 422
        balance = sandbox.balance()
    with kept(tmp_path) as sandbox:
        assert retrieve(sandbox, queue_id).status_code == 422
        assert sandbox.balance() == balance


def test_a_cloned_voice_speaks(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        handle = handle_of(sandbox, sample())
        spoken = say(sandbox, handle).content
    with kept(tmp_path) as sandbox:
        assert say(sandbox, handle).content == spoken


def test_a_chain_has_its_blocks_and_a_sent_transaction_is_not_sent_twice(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        sent = rpc(sandbox, "eth_sendRawTransaction", transfer(0), key="a-1")
        rpc(sandbox, "eth_sendRawTransaction", transfer(2))  # waits for the one between
        sandbox.turn_clock(40)
        before = {
            name: rpc(sandbox, name, *params)["result"]
            for name, params in {
                "eth_getTransactionReceipt": [sent["result"]],
                "eth_getBlockByNumber": ["latest", True],
                "eth_getBalance": [SOME_ADDRESS, "latest"],
                "eth_getLogs": [{"fromBlock": "0x0"}],
                "eth_gasPrice": [],
            }.items()
        }
        log = sandbox.control("/rpc_audit", method="GET")
    with kept(tmp_path) as sandbox:
        again = rpc(sandbox, "eth_sendRawTransaction", transfer(0), key="a-1")
        assert again["replayed"] and again["result"] == sent["result"]
        assert sandbox.control("/rpc_audit", method="GET") == log
        assert (
            rpc(sandbox, "eth_getTransactionReceipt", sent["result"])["result"] == before["eth_getTransactionReceipt"]
        )
        assert rpc(sandbox, "eth_getBlockByNumber", "latest", True)["result"] == before["eth_getBlockByNumber"]
        assert rpc(sandbox, "eth_getBalance", SOME_ADDRESS, "latest")["result"] == before["eth_getBalance"] == "0x7"
        assert rpc(sandbox, "eth_getLogs", {"fromBlock": "0x0"})["result"] == before["eth_getLogs"]
        assert rpc(sandbox, "eth_gasPrice")["result"] == before["eth_gasPrice"]
        assert "already known" in str(rpc(sandbox, "eth_sendRawTransaction", transfer(0)))
        rpc(sandbox, "eth_sendRawTransaction", transfer(1))
        assert rpc(sandbox, "eth_getTransactionCount", ALICE.address, "latest")["result"] == "0x3"


def test_a_wallet_has_its_credits_and_its_payment_and_sign_in_stay_used(tmp_path: Path, bare: httpx.Client) -> None:
    with kept(tmp_path) as sandbox:
        wallet = WalletClient(sandbox, bare, EvmWallet(origin=sandbox.running.origin))
        wallet.fund()
        payment = v2(wallet.wallet.pays())
        paid = wallet.top_up(payment)
        assert paid.status_code == 200
        sign_in = wallet.wallet.header()
        address = f"/x402/balance/{wallet.wallet.address}"
        assert wallet.chat(sign_in).status_code == 200
        credit = wallet.get(address).json()["data"]["balanceUsd"]
        port = int(sandbox.running.origin.rpartition(":")[2])
    with kept(tmp_path, port=port) as sandbox:
        wallet = WalletClient(sandbox, bare, EvmWallet(origin=sandbox.running.origin))
        assert wallet.top_up(payment).content == paid.content
        assert wallet.chat(sign_in).json()["code"] == "X402_SIGN_IN_NONCE_REUSED"
        assert wallet.get(address).json()["data"]["balanceUsd"] == credit < 5
        assert wallet.known()["usdc"] == "95.000000"


def test_a_reset_forgets_it_for_good(tmp_path: Path) -> None:
    with kept(tmp_path) as sandbox:
        sandbox.chat()
        rpc(sandbox, "eth_sendRawTransaction", transfer(0))
        sandbox.control("/reset")
    with kept(tmp_path) as sandbox:
        assert (sandbox.balance(), sandbox.get("/billing/usage-history").json()["data"]) == ("100", [])
        assert rpc(sandbox, "eth_getTransactionCount", ALICE.address, "latest")["result"] == "0x0"


def test_without_being_told_to_nothing_is_kept(tmp_path: Path) -> None:
    with running(tmp_path) as sandbox:
        sandbox.chat()
    assert list(tmp_path.iterdir()) == []
    with running(tmp_path) as sandbox:
        assert sandbox.balance() == "100"


@contextmanager
def child_process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The Sandbox as the window runs it: a process of its own."""
    command = [sys.executable, "-m", "app", "--serve-sandbox", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write('{"api_key": "my-key"}\n')
        process.stdin.flush()
        base_url = json.loads(process.stdout.readline())["base_url"]
        headers = {"authorization": "Bearer my-key"}
        with httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False) as http:
            yield process, http
        process.stdin.close()
        process.wait(timeout=60)


def test_the_window_s_sandbox_comes_up_without_modules_that_no_answer_needs_yet(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "app", "--serve-sandbox", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, input='{"api_key": "my-key"}\n', capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"asyncio", "h11", "app.sandbox.http.middleware"} <= loaded and "base_url" in done.stdout
    assert loaded.isdisjoint({"email.utils", "importlib.metadata"})


def test_what_was_answered_survives_the_kill_of_the_window_s_sandbox(tmp_path: Path) -> None:
    with child_process(tmp_path) as (process, http):
        order = {"model": "rialto-reel-text-to-video", "prompt": "a boat", "duration": "3s"}
        job = http.post("/video/queue", json=order).json()
        balance = http.get("/billing/balance").json()["balances"]["usd"]
        process.kill()
        process.wait(timeout=60)
    assert balance < 100
    with child_process(tmp_path) as (_, http):
        assert http.get("/billing/balance").json()["balances"]["usd"] == balance
        assert http.post("/video/retrieve", json=job).status_code == 200


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all " * 500)
    with kept(tmp_path) as sandbox:
        sandbox.chat()
    assert (tmp_path / f"{FILE_NAME}.damaged").read_bytes().startswith(b"no database")
    with kept(tmp_path) as sandbox:
        assert float(sandbox.balance()) < 100


def test_a_file_of_another_format_is_set_aside(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        database.execute("PRAGMA user_version = 99")
    with kept(tmp_path) as sandbox:
        assert sandbox.balance() == "100"
    assert (tmp_path / f"{FILE_NAME}.damaged").exists()


def test_two_sandboxes_never_write_into_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sandbox.store.BUSY_S", 0.1)
    store = Store(tmp_path)
    with pytest.raises(StoreInUse):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


def test_a_reset_gives_the_disk_its_room_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("films", "a", bytes(5_000_000))
    store.clear()
    assert store.get("films", "a", bytes) is None
    store.close()
    assert (tmp_path / FILE_NAME).stat().st_size < 100_000


def test_a_disk_that_takes_no_more_is_told_and_the_sandbox_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    database = store._database
    assert database is not None
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")
    store.put("a", "b", b"x" * 100_000)
    store.commit()
    assert store.get("a", "b", bytes) is None
    store.put("a", "c", 1)
    store.close()
    assert capfd.readouterr().err.count("nothing is saved from now on") == 1
