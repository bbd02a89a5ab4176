"""Sound, videos and chains for wallets: taken with a sign-in, refused below the floor, charged, told what is left."""

import uuid
from decimal import Decimal
from typing import Any

import httpx
import numpy as np
import pytest

from app.sandbox.media.sound import encode
from tests.sandbox.support import Client
from tests.sandbox.wallet_support import WalletClient

SPEECH = {"model": "tts-kokoro", "input": "High water at six."}
VIDEO = {"model": "rialto-reel-text-to-video", "queue_id": str(uuid.UUID(int=7))}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}
SILENCE = encode(np.zeros(16_000, np.int16), 16_000, "wav")
FORM = {"files": {"file": ("a.wav", SILENCE)}, "data": {"model": "stt-xai-v1"}}

CALLS: dict[str, tuple[str, dict[str, Any], int]] = {
    "R-TTS-01": ("/audio/speech", {"json": SPEECH}, 200),
    "R-STT-01": ("/audio/transcriptions", FORM, 422),
    "R-VID-09": ("/video/complete", {"json": VIDEO}, 200),
    "R-RPC-47": ("/crypto/rpc/base-mainnet", {"json": CALL}, 200),
    "R-GEN-14": ("/embeddings", {"json": {"model": "text-embedding-bge-m3", "input": "tide"}}, 200),
}


def ask(wallet: WalletClient, rule: str) -> httpx.Response:
    path, body, _ = CALLS[rule]
    return wallet.http.post(wallet.sandbox.running.base_url + path, headers=wallet.wallet.header(), **body)


@pytest.mark.parametrize("rule", CALLS)
def test_R_TTS_01_R_STT_01_R_VID_09_R_RPC_47_a_wallet_is_taken(wallet: WalletClient, rule: str) -> None:
    wallet.credit("5")
    answer = ask(wallet, rule)
    assert answer.status_code == CALLS[rule][2], f"{rule}: {answer.text}"
    assert Decimal(answer.headers["X-Balance-Remaining"]) <= 5


@pytest.mark.parametrize("rule", CALLS)
def test_R_STT_19_R_VID_08_R_RPC_43_R_ERR_15_below_the_floor_is_402(wallet: WalletClient, rule: str) -> None:
    wallet.credit("0.09")
    answer = ask(wallet, rule)
    assert (answer.status_code, answer.json()["code"]) == (402, "PAYMENT_REQUIRED"), rule


def test_R_HDR_32_what_a_call_costs_is_missing_from_the_balance(wallet: WalletClient) -> None:
    wallet.credit("5")
    assert ask(wallet, "R-RPC-47").headers["X-Balance-Remaining"] == "4.999986"
    assert ask(wallet, "R-TTS-01").headers["X-Balance-Remaining"] == "4.999923"


@pytest.mark.parametrize(
    ("path", "body", "status", "names"),
    [
        ("/video/complete", {"json": {"model": VIDEO["model"]}}, 400, {"error", "details"}),
        ("/audio/transcriptions", {"files": {"other": b""}}, 400, {"error", "details"}),
        ("/audio/transcriptions", FORM, 422, {"error"}),
        ("/audio/transcriptions", {**FORM, "data": {"model": "none"}}, 404, {"error"}),
    ],
)
def test_R_NS_12_the_first_error_is_a_tree_and_the_rest_are_plain(
    sandbox: Client, path: str, body: dict[str, Any], status: int, names: set[str]
) -> None:
    answer = sandbox.http.post(sandbox.running.base_url + path, **body)
    assert (answer.status_code, set(answer.json())) == (status, names)
