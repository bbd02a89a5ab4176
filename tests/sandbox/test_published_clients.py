"""Clients as npm and PyPI have them, unmodified: each needs the address and the key, as it would of a real service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account

from app.sandbox.chains.networks import DOLLARS, EVERY_LOG, TEST_ACCOUNTS
from tests.sandbox import client_packages
from tests.sandbox.client_packages import CLIENTS
from tests.sandbox.support import RESOURCES, Client, running

WALLETS = [Account.from_key(bytes([number]) * 32) for number in (41, 42, 43, 44)]
SAYS: dict[str, dict[str, Any]] = {
    "evm_chains.js": {
        "viemSent": "success",
        "viemProof": True,
        "viemAccessList": 1,
        "viemSimulated": [["success", "true"], ["success", "5"]],
        "viemOverridden": "42",
        "viemGathered": ["10000000000", "10000000000", 1],
        "viemDecoded": [True, "far"],
        "viemPoor": True,
        "viemReverted": True,
        "viemCustom": ["TooLittle", "7"],
        "ethersBalance": str(10_000 * 10**6),
        "ethersSent": 1,
        "ethersPoor": "INSUFFICIENT_FUNDS",
        "ethersReverted": ["CALL_EXCEPTION", True],
        "ethersCustom": ["TooLittle", "7"],
    },
    "ai_sdk.js": {
        "text": [True, "stop", True],
        "stream": [True, True, True],
        "object": True,
        "tool": ["Oslo", True],
        "embeddings": [True, True],
        "refused": [True, 401],
    },
    "openai_node.js": {
        **dict.fromkeys(("text", "stream", "parsed", "models", "embedding", "heard", "refused"), True),
        "speech": "RIFF",
    },
    "wallets.js": {
        **{name: [200, 5] for name in ("x402_fetch_2", "x402_axios", "x402_svm", "x402_fetch_1")},
        "venice": [True, True, True, True],
    },
    "litellm_client.py": {
        "text": True,
        "stream": True,
        "tool": ["get_weather", {"city": "Oslo"}],
        "object": True,
        "embeddings": [True, True],
        "refused": 401,
    },
    "langchain_client.py": {
        "text": [True, True],
        "stream": True,
        "tool": ["get_weather", {"city": "Oslo"}],
        "json_schema": True,
        "function_calling": True,
        "embeddings": [True, True],
        "refused": 401,
    },
    "instructor_client.py": {"TOOLS": True, "JSON_SCHEMA": True},
    "pydantic_ai_client.py": {"text": True, "stream": True, "object": True, "tool": [True, ["Oslo"]], "refused": 401},
    "llm_client.py": {"text": True, "object": ["age", "name"]},
}


def said(command: list[str], sandbox: Client, folder: Path, **more: str) -> object:
    """Run a client with the two variables that every one of them needs, and return the JSON that it prints last."""
    told = {"SANDBOX_URL": sandbox.running.base_url, "SANDBOX_KEY": sandbox.running.api_key, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **told, **more}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def easy(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Client]:
    with running(tmp_path, no_limits=True, clock=None, **getattr(request, "param", {})) as client:
        yield client


@pytest.mark.timeout(900)  # of which all but a few seconds are the first installation
@pytest.mark.parametrize("node", client_packages.NODE)
@pytest.mark.parametrize(
    ("easy", "script"),
    # The wallets trust the real token alone, which is named in this dialect.
    [({"dialect": "venice"} if name == "wallets.js" else {}, name) for name in SAYS if name.endswith(".js")],
    indirect=["easy"],
    ids=[name for name in SAYS if name.endswith(".js")],
)
def test_a_client_from_npm_works_as_it_is(easy: Client, script: str, node: str) -> None:
    folder = client_packages.from_npm()
    shutil.copy(CLIENTS / script, folder)
    for wallet in WALLETS:
        gift = {"address": wallet.address, "amount": "50"}
        httpx.post(f"{easy.running.origin}/sandbox/faucet", json=gift, trust_env=False, timeout=60).raise_for_status()
    more = {
        "USDC": DOLLARS["base-mainnet"],
        "EVERY_LOG": EVERY_LOG,
        "EVERY_LOG_SOURCE": str(RESOURCES / "data" / "contracts" / "every_log.sol"),
        "ALICE": "0x" + TEST_ACCOUNTS[1].private_key.hex(),
        "BOB": "0x" + TEST_ACCOUNTS[2].private_key.hex(),
        "EMPTY": "0x" + TEST_ACCOUNTS[3].private_key.hex(),
        "WALLETS": " ".join("0x" + bytes(wallet.key).hex() for wallet in WALLETS),
    }
    assert said([node, script], easy, folder, **more) == SAYS[script]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", [name for name in SAYS if name.endswith(".py")])
def test_a_client_from_pypi_works_as_it_is(easy: Client, script: str, tmp_path: Path) -> None:
    python = client_packages.from_pypi()
    # The one asks another host for prices, the other keeps its settings there.
    more = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LLM_USER_PATH": str(tmp_path / "llm"), "PYTHONPATH": ""}
    assert said([str(python), str(CLIENTS / script)], easy, tmp_path, **more) == SAYS[script]
