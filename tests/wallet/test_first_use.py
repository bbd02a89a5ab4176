"""Signing is loaded by the first signature and by nothing else: it takes over half a second."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("eth_account", "eth_keyfile", "eth_utils", "coincurve", "Crypto", "cryptography", "x402", "web3")
WALLET = ", ".join(
    f"app.wallet.{path.stem}" for path in sorted((ROOT / "app" / "wallet").glob("*.py")) if path.stem != "__init__"
)
USE = """
import asyncio
from app.wallet.signer import EthAccountSigner, PrivateKey
from app.wallet.sign_in import site_of
from app.wallet.networks import KNOWN_TOKENS
PrivateKey.generate("evm")
site_of("https://service.test/api/v1", domain=None, uri=None, statement="Sign in")
"""


def loaded_by(program: str) -> list[str]:
    code = f"{program}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split()


@pytest.mark.parametrize(
    "program",
    [
        f"import {WALLET}",
        "import app.service.x402, app.service.wallet_auth, app.service.service",
        "import app.bootstrap",
        USE,
    ],
    ids=["wallet", "service", "program", "use without signing"],
)
def test_nothing_before_the_first_signature_loads_what_signs(program: str) -> None:
    assert loaded_by(program) == []


@pytest.mark.parametrize(
    "program",
    [
        "asyncio.run(address_of(PrivateKey.generate('evm')))",
        "asyncio.run(warm_up())",
        "asyncio.run(new_phrase())",
        "[asyncio.run(asyncio.wait_for(warm_up(), 60)) for _ in range(2)]",
    ],
)
def test_loading_it_leaves_the_recursion_limit_as_it_was(program: str) -> None:
    """With the limit that one of its libraries sets, an answer of 100,000 brackets ends the program."""
    code = f"""
import asyncio, json, sys
from app.wallet.keys import new_phrase
from app.wallet.signer import PrivateKey, address_of, warm_up
before = sys.getrecursionlimit()
{program}
assert "py_ecc" in sys.modules
assert sys.getrecursionlimit() == before
try:
    json.loads("[" * 100_000)
except RecursionError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["refused"]


def test_eth_account_comes_in_by_one_door() -> None:
    for path in sorted((ROOT / "app" / "wallet").glob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for at, line in enumerate(lines):
            if line.startswith((" ", "\t")) and line.strip().startswith(("from eth_account", "import eth_account")):
                block = [each.strip() for each in lines[max(0, at - 2) : at]]
                assert "load_eth_account()" in block or "if TYPE_CHECKING:" in lines[max(0, at - 3) : at], (
                    f"{path}:{at + 1}"
                )


def test_the_first_signature_loads_it_and_this_test_can_see_that() -> None:
    program = """
import asyncio
from app.wallet.signer import PrivateKey, address_of
asyncio.run(address_of(PrivateKey.generate("evm")))
"""
    assert "eth_account" in loaded_by(program)
