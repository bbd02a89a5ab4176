"""viem and ethers as npm has them, unmodified: what they read, simulate and prove, and which errors they recognize."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.sandbox.chains.networks import DOLLARS, TEST_ACCOUNTS
from tests.sandbox.support import Client, running

NPM = [found] if (found := shutil.which("npm")) and shutil.which("node") else []
PACKAGES = ("viem@2", "ethers@6")
SCRIPT = r"""
import { createPublicClient, createWalletClient, http, parseAbi, parseEther, BaseError,
         InsufficientFundsError, ContractFunctionRevertedError } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { Contract, FetchRequest, JsonRpcProvider, Wallet } from "ethers";

const { SANDBOX_URL, SANDBOX_KEY, USDC, ALICE, EMPTY } = process.env;
const url = `${SANDBOX_URL}/crypto/rpc/base-mainnet`;
const Authorization = `Bearer ${SANDBOX_KEY}`;
const transport = http(url, { fetchOptions: { headers: { Authorization } } });
const alice = privateKeyToAccount(ALICE), empty = privateKeyToAccount(EMPTY);
const reader = createPublicClient({ chain: base, transport });
const writer = createWalletClient({ chain: base, transport, account: alice });
const abi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
  "function broken() view returns (uint256)",
  "error TooLittle(uint256 wanted)",
]);
const caught = async (promise) => { try { await promise; return null; } catch (error) { return error; } };
const named = (error, type) => error instanceof BaseError ? error.walk((one) => one instanceof type) : null;
const found = {};

const hash = await writer.sendTransaction({ to: empty.address, value: 0n, type: "eip2930",
  accessList: [{ address: USDC, storageKeys: [] }] });
found.viemSent = (await reader.waitForTransactionReceipt({ hash })).status;
const proof = await reader.getProof({ address: USDC, storageKeys: ["0x" + "3".padStart(64, "0")] });
found.viemProof = proof.accountProof.length > 0 && proof.storageProof[0].value > 0n;
const listed = await reader.createAccessList({ account: alice, to: USDC,
  data: "0x70a08231" + alice.address.slice(2).padStart(64, "0") });
found.viemAccessList = listed.accessList[0].storageKeys.length;
const simulated = await reader.simulateCalls({ account: alice.address, calls: [
  { to: USDC, abi, functionName: "transfer", args: [empty.address, 5n] },
  { to: USDC, abi, functionName: "balanceOf", args: [empty.address] },
] });
found.viemSimulated = simulated.results.map((one) => [one.status, String(one.result)]);
const stranger = "0x" + "12".repeat(20);
found.viemOverridden = String(await reader.readContract({ address: stranger, abi, functionName: "broken",
  stateOverride: [{ address: stranger, code: "0x602a60005260206000f3" }] }));
const poor = await caught(reader.estimateGas({ account: empty, to: alice.address, value: parseEther("1") }));
found.viemPoor = named(poor, InsufficientFundsError) !== null;
const reverted = await caught(reader.simulateContract({ account: empty, address: USDC, abi,
  functionName: "transfer", args: [alice.address, 10n ** 18n] }));
found.viemReverted = Boolean(named(reverted, ContractFunctionRevertedError)?.reason);
// reverts with TooLittle(7): selector, then a word
const code = "0x" + "7f" + "SELECTOR".padEnd(64, "0") + "600052" + "6007600452" + "60246000fd";
const { toFunctionSelector } = await import("viem");
const filled = code.replace("SELECTOR", toFunctionSelector("TooLittle(uint256)").slice(2));
const custom = await caught(reader.readContract({ address: stranger, abi, functionName: "broken",
  stateOverride: [{ address: stranger, code: filled }] }));
const data = named(custom, ContractFunctionRevertedError)?.data;
found.viemCustom = [data?.errorName, String(data?.args?.[0])];

const request = new FetchRequest(url);
request.setHeader("Authorization", Authorization);
const provider = new JsonRpcProvider(request, 8453, { staticNetwork: true, batchMaxCount: 1 });
const token = new Contract(USDC, ["function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)"], provider);
found.ethersBalance = String(await token.balanceOf(alice.address));
const wallet = new Wallet(ALICE, provider);
const sent = await token.connect(wallet).transfer(empty.address, 5n);
found.ethersSent = (await sent.wait()).logs.length;
found.ethersPoor = (await caught(new Wallet(EMPTY, provider).sendTransaction({ to: alice.address, value: 1n })))?.code;
const refused = await caught(token.connect(new Wallet(EMPTY, provider)).transfer.staticCall(alice.address, 10n ** 18n));
found.ethersReverted = [refused?.code, Boolean(refused?.reason)];
provider.destroy();
console.log(JSON.stringify(found));
"""


@pytest.fixture
def easy(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, no_limits=True) as client:
        yield client


@pytest.mark.parametrize("npm", NPM)
def test_viem_and_ethers_work_and_recognize_what_is_refused(npm: str, easy: Client, tmp_path: Path) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    (folder / "package.json").write_text('{"type": "module", "private": true}', encoding="utf-8")
    command = [npm, "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
    installed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if installed.returncode != 0:
        pytest.skip(f"npm has no package index here: {installed.stderr[-200:]}")
    (folder / "clients.js").write_text(SCRIPT, encoding="utf-8")
    environ = {
        **os.environ,
        "SANDBOX_URL": easy.running.base_url,
        "SANDBOX_KEY": easy.running.api_key,
        "USDC": DOLLARS["base-mainnet"],
        "ALICE": "0x" + TEST_ACCOUNTS[1].private_key.hex(),
        "EMPTY": "0x" + TEST_ACCOUNTS[3].private_key.hex(),
        "NO_PROXY": "127.0.0.1",
    }
    done = subprocess.run(["node", "clients.js"], cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found == {
        "viemSent": "success",
        "viemProof": True,
        "viemAccessList": 1,
        "viemSimulated": [["success", "true"], ["success", "5"]],
        "viemOverridden": "42",
        "viemPoor": True,
        "viemReverted": True,
        "viemCustom": ["TooLittle", "7"],
        "ethersBalance": str(10_000 * 10**6),
        "ethersSent": 1,
        "ethersPoor": "INSUFFICIENT_FUNDS",
        "ethersReverted": ["CALL_EXCEPTION", True],
    }
