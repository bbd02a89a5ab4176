"""What a JSON-RPC method costs, and which ones the proxy refuses: known before anything is sent.

A refused method rejects its whole batch and counts as a failure, so every item is looked at first. Methods nobody
listed may work or not: they are estimated as standard and reported as unknown.
Source: service specification, crypto JSON-RPC proxy, tiers and unsupported methods (R-RPC-17..29).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from app.translation import tr

Tier = Literal["standard", "advanced", "large", "unknown"]
Family = Literal["evm", "starknet", "solana"]

MULTIPLIERS: dict[Tier, int] = {"standard": 1, "advanced": 2, "large": 4, "unknown": 1}
BASE_CREDITS = 20
ROLLUP_BASE_CREDITS = 30  # the zero-knowledge rollup, and Solana where it is served
ERROR_CREDITS = 5  # an item answered with a JSON-RPC error, whatever its tier
USD_PER_CREDIT = (Decimal("6.25e-7"), Decimal("7e-7"))  # both are documented; the cost header is exact

# Calls that change something: sent only under an idempotency key.
STATE_CHANGING = frozenset({"eth_sendRawTransaction", "eth_sendUserOperation", "sendTransaction"})

_SUBSCRIPTIONS = frozenset({"eth_subscribe", "eth_unsubscribe"})
_FILTERS = frozenset(
    {
        "eth_newFilter",
        "eth_getFilterChanges",
        "eth_getFilterLogs",
        "eth_uninstallFilter",
        "eth_newBlockFilter",
        "eth_newPendingTransactionFilter",
    }
)
_KEYS_AND_MINING = frozenset(
    {"eth_sign", "eth_accounts", "eth_mining", "eth_hashrate", "eth_getWork", "eth_submitWork"}
)

_LARGE = frozenset(
    {"trace_replayBlockTransactions", "trace_replayTransaction", "txpool_content", "getLargestAccounts", "getSupply"}
)
_LARGE_BEGINNINGS = ("arbtrace_replay",)
_ADVANCED = frozenset({"txpool_inspect", "txpool_status"})
_ADVANCED_BEGINNINGS = ("trace_", "debug_", "arbtrace_")
_STANDARD_BEGINNINGS = ("zks_", "linea_", "bor_", "starknet_")
_STANDARD = frozenset(
    f"{space}_{name}"
    for space, names in {
        "eth": (
            "blobBaseFee blockNumber call chainId createAccessList estimateGas estimateUserOperationGas feeHistory "
            "gasPrice getBalance getBlockByHash getBlockByNumber getBlockReceipts getBlockTransactionCountByHash "
            "getBlockTransactionCountByNumber getCode getLogs getProof getStorageAt getTransactionByBlockHashAndIndex "
            "getTransactionByBlockNumberAndIndex getTransactionByHash getTransactionCount getTransactionReceipt "
            "getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex getUncleCountByBlockHash "
            "getUncleCountByBlockNumber getUserOperationByHash getUserOperationReceipt maxPriorityFeePerGas "
            "protocolVersion sendRawTransaction sendUserOperation simulateV1 supportedEntryPoints syncing"
        ),
        "net": "listening peerCount version",
        "web3": "clientVersion sha3",
        "pimlico": "getUserOperationGasPrice getUserOperationStatus",
    }.items()
    for name in names.split()
)
_SOLANA_NAMES = """
    getAccountInfo getBalance getBlock getBlockHeight getBlockTime getEpochInfo getFeeForMessage getGenesisHash
    getHealth getLatestBlockhash getMinimumBalanceForRentExemption getMultipleAccounts getProgramAccounts
    getSignatureStatuses getSignaturesForAddress getSlot getTokenAccountBalance getTokenAccountsByOwner
    getTokenSupply getTransaction getTransactionCount getVersion isBlockhashValid sendTransaction
    simulateTransaction
"""
_SOLANA = frozenset(_SOLANA_NAMES.split())


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some calls will cost if all go well. `low_usd` and `high_usd` because two prices are documented."""

    credits: int

    @property
    def low_usd(self) -> Decimal:
        return self.credits * USD_PER_CREDIT[0]

    @property
    def high_usd(self) -> Decimal:
        return self.credits * USD_PER_CREDIT[1]


def tier_of(method: str) -> Tier:
    """The price tier; the most specific rule wins, so `trace_replayTransaction` is large though `trace_*` is not."""
    if method in _LARGE or method.startswith(_LARGE_BEGINNINGS):
        return "large"
    if method in _ADVANCED or method.startswith(_ADVANCED_BEGINNINGS):
        return "advanced"
    if method in _STANDARD or method in _SOLANA or method.startswith(_STANDARD_BEGINNINGS):
        return "standard"
    return "unknown"


def refusal_of(method: str) -> str | None:
    """Why the proxy will refuse `method`, with what to use instead; None when it is not known to."""
    if method in _SUBSCRIPTIONS or method.endswith(("Subscribe", "Unsubscribe")):
        return tr(
            "{method} needs a permanent connection, but the service answers single calls only. Poll instead.",
            method=method,
        )
    if method in _FILTERS:
        return tr(
            "{method} needs a filter on the node, which the service does not support. Use eth_getLogs.", method=method
        )
    if method in _KEYS_AND_MINING:
        return tr("{method} needs keys or mining, which these nodes do not have.", method=method)
    if method.startswith(("getAsset", "getConfirmed")):
        return tr("{method} is not supported.", method=method)
    return None


def family_of(network: str) -> Family:
    chain = network.partition("-")[0]
    if chain == "solana":
        return "solana"
    return "starknet" if chain == "starknet" else "evm"


def call_credits(network: str, method: str) -> int:
    """Credits of one call that succeeds: base credits of the network times the method's multiplier.

    Example: 20 × 4 = 80 for `trace_replayTransaction` on most networks. A call that ends in a JSON-RPC error costs
    `ERROR_CREDITS` instead; only the answer's header knows, so show this as an estimate.
    """
    chain = network.partition("-")[0]
    base = ROLLUP_BASE_CREDITS if chain in ("zksync", "solana") else BASE_CREDITS
    return base * MULTIPLIERS[tier_of(method)]


def most_credits(network: str, methods: tuple[str, ...]) -> int:
    """Return the credits of some calls if each is of the dearest tier: no call costs more."""
    base = sum(call_credits(network, each) // MULTIPLIERS[tier_of(each)] for each in methods)
    return base * max(MULTIPLIERS.values())


def estimate(network: str, methods: tuple[str, ...]) -> Estimate:
    return Estimate(sum(call_credits(network, method) for method in methods))
