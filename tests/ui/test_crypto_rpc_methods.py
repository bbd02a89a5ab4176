"""The methods: every one of the lists is there with its price and help, and every refused one with its reason."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sandbox.accounts.faucet import FAUCET_ADDRESS
from app.sandbox.accounts.x402_terms import PLAY_ASSET
from app.storage.paths import resources
from app.ui.crypto_rpc.session.log_ranges import BlockRange, LogSearch, cut, is_too_wide
from app.ui.crypto_rpc.session.methods import (
    ANY_ADDRESS,
    SANDBOX_ACCOUNT,
    SANDBOX_CONTRACT,
    MethodCatalog,
    sandbox_example,
    search,
)
from app.ui.crypto_rpc.session.value_meaning import reading_of

DATA = resources() / "data"
LISTS = json.loads((DATA / "rpc_methods.json").read_text())
CATALOG = MethodCatalog.read(DATA)
NETWORK = {"evm": "ethereum-mainnet", "starknet": "starknet-mainnet", "solana": "solana-mainnet"}


@pytest.mark.parametrize("family", LISTS["families"])
def test_every_listed_method_has_help_and_a_price(family: str) -> None:
    offered = {method.name: method for method in CATALOG.offered(NETWORK[family])}
    for tier, names in LISTS["families"][family].items():
        for name in names:
            if not name.endswith("*"):
                assert offered[name].tier == tier
                assert offered[name].help
                assert offered[name].refusal == ""
    assert all(method.help and method.credits for method in offered.values())


def test_wildcards_bring_in_what_has_help_and_the_most_specific_price_wins() -> None:
    offered = {method.name: method for method in CATALOG.offered("ethereum-mainnet")}
    assert (offered["trace_transaction"].tier, offered["trace_transaction"].credits) == ("advanced", 40)
    assert (offered["trace_replayTransaction"].tier, offered["trace_replayTransaction"].credits) == ("large", 80)
    assert (offered["zks_estimateFee"].tier, offered["zks_estimateFee"].credits) == ("standard", 20)
    assert CATALOG.info("zksync-mainnet", "eth_call").credits == 30


def test_r_rpc_22_23_25_every_method_that_is_never_offered_says_why() -> None:
    refused = {method.name: method.refusal for method in CATALOG.refused("base-mainnet")}
    assert set(refused) == {name for names in LISTS["never"].values() for name in names}
    assert all(refused.values())
    assert "eth_getLogs" in refused["eth_newFilter"]


def test_r_rpc_26_an_unknown_method_is_allowed_and_known_to_be_unknown() -> None:
    assert not CATALOG.is_known("base-mainnet", "eth_fooBar")
    assert CATALOG.info("base-mainnet", "eth_fooBar").credits == 20
    assert CATALOG.is_known("base-mainnet", "debug_somethingNew")


def test_a_method_of_another_family_does_not_fit() -> None:
    assert not CATALOG.fits("starknet-mainnet", "eth_call")
    assert not CATALOG.fits("ethereum-mainnet", "getBalance")
    assert CATALOG.fits("ethereum-mainnet", "eth_fooBar")


def test_an_example_has_every_needed_parameter() -> None:
    assert CATALOG.info("base-mainnet", "eth_getBalance").example[1] == "latest"
    assert len(CATALOG.info("base-mainnet", "eth_call").example) == 2  # the overrides are optional
    assert CATALOG.info("base-mainnet", "eth_call").only_reads
    assert not CATALOG.info("base-mainnet", "eth_sendRawTransaction").only_reads


def test_the_sandbox_has_what_its_examples_name() -> None:
    assert (SANDBOX_CONTRACT, SANDBOX_ACCOUNT) == (PLAY_ASSET, FAUCET_ADDRESS)
    called = sandbox_example("eth_call", CATALOG.info("base-mainnet", "eth_call").example)
    assert called == [{"to": PLAY_ASSET, "data": "0x18160ddd"}, "latest"]
    logs = sandbox_example("eth_getLogs", CATALOG.info("base-mainnet", "eth_getLogs").example)
    assert logs == [{"fromBlock": "0x0", "toBlock": "latest", "address": PLAY_ASSET, "topics": []}]
    for name in ("eth_getCode", "eth_getStorageAt", "eth_getBalance", "debug_traceCall"):
        example = CATALOG.info("base-mainnet", name).example
        assert ANY_ADDRESS in str(example) and ANY_ADDRESS not in str(sandbox_example(name, example))


def test_without_a_text_used_methods_come_first_then_the_usual_ones_and_no_dear_one_is_on_top() -> None:
    offered = CATALOG.offered("ethereum-mainnet")
    assert [method.name for method in search(offered, "")][:3] == ["eth_call", "eth_getBalance", "eth_getLogs"]
    used = ("trace_replayTransaction", "eth_gasPrice", "eth_chainId")
    found = [method.name for method in search(offered, "", used)]
    assert found[:4] == ["eth_gasPrice", "eth_chainId", "trace_replayTransaction", "eth_call"]
    assert len(found) == len(offered)
    for network in ("solana-mainnet", "starknet-mainnet", "base-mainnet"):
        offered = CATALOG.offered(network)
        assert search(offered, "")[0].credits == min(method.credits for method in offered)


def test_searching_looks_at_names_first_and_then_at_help() -> None:
    found = [method.name for method in search(CATALOG.offered("ethereum-mainnet"), "logs")]
    assert found[0] == "eth_getLogs"
    assert "debug_traceBlockByNumber" in found
    assert search(CATALOG.offered("ethereum-mainnet"), "nothing like it") == ()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("eth_getBalance", "0xde0b6b3a7640000", "1 ether"),
        ("value", "0x5", "5 wei"),
        ("gasPrice", "0x3b9aca00", "1 gwei"),
        ("gasUsed", "0x2b1f4", "176,628"),
        ("timestamp", "0x65920080", "2024-01-01 00:00:00 UTC"),
        ("timestamp", "0x" + "f" * 20, "1,208,925,819,614,629,174,706,175"),
        ("result", "0x" + "5c" * 32, ""),
        ("to", "0x" + "11" * 20, ""),
        ("input", "0x68656c6c6f", "“hello”"),
        (
            "eth_call",
            "0x" + (32).to_bytes(32, "big").hex() + (5).to_bytes(32, "big").hex() + b"Tiger".hex() + "00" * 27,
            "“Tiger”",
        ),
        ("data", "0x1b5b324a", ""),
        ("x", "0x", ""),
        ("x", "0xzz", ""),
        ("x", 5, ""),
    ],
)
def test_a_value_is_said_in_words(name: str, value: object, words: str) -> None:
    assert reading_of(name, value) == words


@given(st.text(max_size=20), st.binary(max_size=200))
def test_no_value_is_too_odd_to_be_read(name: str, data: bytes) -> None:
    assert isinstance(reading_of(name, "0x" + data.hex()), str)


@given(st.integers(0, 10**6), st.integers(1, 5000), st.integers(1, 700))
def test_a_wide_search_is_cut_without_gap_or_overlap(first: int, blocks: int, most: int) -> None:
    parts = cut(BlockRange(first, first + blocks - 1), most)
    assert parts[0].first == first
    assert parts[-1].last == first + blocks - 1
    assert all(one.last + 1 == other.first for one, other in itertools.pairwise(parts))
    assert all(1 <= part.blocks <= most for part in parts)


@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 60))
def test_a_node_that_refuses_wide_ranges_is_asked_for_every_block_once(blocks: int, allowed: int, start: int) -> None:
    work = LogSearch(BlockRange(0, blocks - 1), most_blocks=start, most_calls=10_000)
    answered: list[int] = []
    while not work.is_over:
        asked = work.next_range()
        if asked.blocks > allowed:
            assert work.refused(asked)
        else:
            answered += range(asked.first, asked.last + 1)
    assert answered == list(range(blocks))
    assert work.is_complete


def test_a_search_stops_at_its_budget_and_knows_where() -> None:
    work = LogSearch(BlockRange(0, 99), most_blocks=10, most_calls=3)
    while not work.is_over:
        work.next_range()
    assert (work.is_complete, work.next_block, work.calls_left) == (False, 30, 0)
    with pytest.raises(LookupError):
        work.next_range()


def test_a_single_block_that_is_too_wide_ends_the_cutting() -> None:
    work = LogSearch(BlockRange(7, 7), most_blocks=10, most_calls=3)
    assert not work.refused(work.next_range())
    assert work.next_block == 7


@pytest.mark.parametrize(
    "message",
    [
        "query returned more than 10000 results",
        "block range is too wide",
        "exceed maximum block range: 5000",
        "Log response size exceeded",
        "eth_getLogs is limited to a 10,000 range",
    ],
)
def test_a_refusal_for_width_is_recognised(message: str) -> None:
    assert is_too_wide(message)
    assert not is_too_wide("invalid params")
