"""The crypto JSON-RPC proxy: rules R-RPC, over chains that really run."""

import json
from typing import Any

import httpx
import pytest
from eth_account import Account

from app.sandbox import installed_engines
from app.sandbox.chains import rpc_memory
from app.sandbox.chains.networks import DOLLARS, TEST_ACCOUNTS
from app.sandbox.chains.rpc_memory import RpcMemory
from tests.sandbox.support import RESOURCES, Client

BASE = "base-mainnet"
ALICE, BOB = (Account.from_key(one.private_key) for one in TEST_ACCOUNTS[1:3])
USDC = DOLLARS[BASE]
GWEI = 10**9
METHODS = json.loads((RESOURCES / "data" / "rpc_methods.json").read_text(encoding="utf-8"))


def item(method: str, *params: Any, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": list(params)}


def send(sandbox: Client, body: Any, network: str = BASE, key: str | None = None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return sandbox.post(f"/crypto/rpc/{network}", body, headers=headers)


def result(sandbox: Client, method: str, *params: Any, network: str = BASE) -> Any:
    answer = send(sandbox, item(method, *params), network)
    assert answer.status_code == 200, answer.text
    assert "error" not in answer.json(), answer.text
    return answer.json()["result"]


def refusal(sandbox: Client, method: str, *params: Any, network: str = BASE) -> dict[str, Any]:
    answer = send(sandbox, item(method, *params), network)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["error"])


def credits(answer: httpx.Response) -> int:
    return int(answer.headers["X-Service-RPC-Credits"])


def signed(nonce: int, to: str = BOB.address, value: int = 1, chain_id: int = 8453, **more: Any) -> str:
    fields = {"type": 2, "maxFeePerGas": 20 * GWEI, "maxPriorityFeePerGas": GWEI, "gas": 100_000, "data": "0x"}
    raw = ALICE.sign_transaction({**fields, "nonce": nonce, "to": to, "value": value, "chainId": chain_id, **more})
    return "0x" + bytes(raw.raw_transaction).hex()


def word(value: int | str) -> str:
    return (value[2:].lower() if isinstance(value, str) else f"{value:x}").rjust(64, "0")


def transfer(amount: int, to: str = BOB.address) -> str:
    return "0xa9059cbb" + word(to) + word(amount)


def balance_of(owner: str) -> dict[str, str]:
    return {"to": USDC, "data": "0x70a08231" + word(owner)}


def test_R_EP_07_the_networks_are_listed_in_order_without_a_credential(sandbox: Client, bare: httpx.Client) -> None:
    answer = bare.get(f"{sandbox.running.base_url}/crypto/rpc/networks")
    networks = answer.json()["networks"]
    assert set(answer.json()) == {"networks"}
    assert networks == sorted(networks) and len(networks) == 27
    assert {"base-mainnet", "ethereum-mainnet", "zksync-mainnet", "starknet-mainnet"} <= set(networks)


def test_R_GEN_12_every_evm_network_answers_with_its_own_chain_id(sandbox: Client) -> None:
    ids = {slug: row[1] for slug, row in METHODS["networks"].items() if row[0] == "evm"}
    found = {slug: int(result(sandbox, "eth_chainId", network=slug), 16) for slug in ids}
    assert {slug: number for slug, number in found.items() if ids[slug]} == {s: n for s, n in ids.items() if n}
    assert len(set(found.values())) == len(found)


def test_R_RPC_01_an_unknown_network_is_400(sandbox: Client) -> None:
    answer = send(sandbox, item("eth_chainId"), "base-moonnet")
    assert answer.status_code == 400 and "base-moonnet" in answer.text


def test_R_EP_06_R_RPC_04_R_RPC_14_an_object_for_one_item_and_an_array_for_a_batch(sandbox: Client) -> None:
    assert isinstance(send(sandbox, item("eth_chainId")).json(), dict)
    batch = send(sandbox, [item("eth_chainId", id=7), item("eth_blockNumber", id=8)]).json()
    assert [(one["id"], one["result"]) for one in batch] == [(7, "0x2105"), (8, "0x5")]
    assert isinstance(send(sandbox, [item("eth_chainId")]).json(), list)


def test_R_RPC_05_R_LIM_18_at_most_100_items_and_at_least_one(sandbox: Client) -> None:
    assert send(sandbox, [item("eth_chainId", id=n) for n in range(100)]).status_code == 200
    assert send(sandbox, [item("eth_chainId", id=n) for n in range(101)]).status_code == 400
    assert send(sandbox, []).status_code == 400


def test_R_RPC_06_R_RPC_07_R_RPC_08_R_RPC_11_every_item_is_checked_by_itself(sandbox: Client) -> None:
    wrong = [
        item("eth_chainId"),
        {"jsonrpc": "1.0", "id": 1, "method": "eth_chainId"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": {}, "method": 7, "params": "latest"},
        "eth_chainId",
    ]
    answer = send(sandbox, wrong)
    details = answer.json()["details"]
    assert answer.status_code == 400 and set(details) == {"_errors", "1", "2", "3", "4"}
    assert details["1"]["jsonrpc"]["_errors"] and details["2"]["method"]["_errors"] == ["Required"]
    assert set(details["3"]) == {"_errors", "id", "method", "params"}
    single = send(sandbox, {"id": 1, "method": "eth_chainId"}).json()["details"]
    assert single["jsonrpc"]["_errors"] == ["Required"]
    as_object = {"jsonrpc": "2.0", "id": 1, "method": "starknet_getBlockWithTxHashes", "params": {"block_id": "latest"}}
    assert send(sandbox, as_object, "starknet-mainnet").json()["result"]["status"] == "ACCEPTED_ON_L2"


@pytest.mark.parametrize("id", [1, 0, -3, 1.5, "a", "", None])
def test_R_RPC_09_ids_come_back_unchanged(sandbox: Client, id: object) -> None:
    assert send(sandbox, item("eth_chainId", id=id)).json()["id"] == id


def test_R_RPC_10_answers_come_in_another_order_under_a_switch(sandbox: Client) -> None:
    sandbox.fault("shuffle_batch", times=1)
    batch = [item("eth_chainId", id=n) for n in range(3)]
    assert [one["id"] for one in send(sandbox, batch).json()] == [1, 2, 0]
    assert [one["id"] for one in send(sandbox, batch).json()] == [0, 1, 2]


def test_R_RPC_12_R_RPC_13_R_ERR_06_one_unsupported_method_rejects_the_batch_and_all_are_named(sandbox: Client) -> None:
    raw = signed(0)
    batch = [item("eth_sendRawTransaction", raw), item("eth_sign"), item("eth_newFilter"), item("eth_made_up")]
    answer = send(sandbox, batch)
    assert answer.status_code == 400
    assert answer.json()["error"] == "Unsupported RPC method(s): eth_sign, eth_newFilter, eth_made_up"
    assert len(answer.json()["details"]["_errors"]) == 3
    assert "X-Service-RPC-Credits" not in answer.headers and sandbox.balance() == "100"
    assert result(sandbox, "eth_getTransactionCount", ALICE.address, "latest") == "0x0", "nothing was executed"


@pytest.mark.parametrize(
    ("rule", "method"),
    [("R-RPC-22", name) for name in METHODS["never"]["subscription"]]
    + [("R-RPC-23", name) for name in METHODS["never"]["filter"]]
    + [("R-RPC-25", name) for name in METHODS["never"]["keys"]]
    + [("R-RPC-26", name) for name in ("personal_sign", "eth_Call", "starknet_chainId", "getSlot", "")],
)
def test_R_RPC_22_R_RPC_23_R_RPC_25_R_RPC_26_R_ERR_07_methods_that_are_refused(
    sandbox: Client, rule: str, method: str
) -> None:
    assert send(sandbox, item(method)).status_code == 400, rule


def test_R_RPC_24_the_refusal_of_a_filter_names_the_alternative(sandbox: Client) -> None:
    assert "use eth_getLogs" in send(sandbox, item("eth_newFilter")).text
    assert "HTTP only" in send(sandbox, item("eth_subscribe")).text


def test_R_HDR_30_R_RPC_15_R_RPC_16_the_content_type_and_the_three_headers(sandbox: Client, venice: Client) -> None:
    answer = send(sandbox, item("eth_chainId"))
    assert answer.headers["content-type"] == "application/json"
    assert (answer.headers["X-Service-RPC-Credits"], answer.headers["X-Service-RPC-Cost-USD"]) == ("20", "0.00001400")
    assert len(answer.headers["X-Request-ID"]) == 32
    assert "X-Venice-RPC-Credits" in send(venice, item("eth_chainId")).headers


@pytest.mark.parametrize(
    ("rule", "method", "params", "network", "expected"),
    [
        ("R-RPC-17", "eth_getBalance", [ALICE.address, "latest"], BASE, 20),
        ("R-RPC-17", "eth_blockNumber", [], BASE, 20),
        ("R-RPC-17", "net_version", [], BASE, 20),
        ("R-RPC-17", "web3_clientVersion", [], BASE, 20),
        ("R-RPC-17", "eth_getLogs", [{}], BASE, 20),
        ("R-RPC-18", "eth_supportedEntryPoints", [], BASE, 20),
        ("R-RPC-19", "zks_L1ChainId", [], "zksync-mainnet", 30),
        ("R-RPC-19", "bor_getCurrentValidators", [], "polygon-mainnet", 20),
        ("R-RPC-19", "starknet_blockNumber", [], "starknet-sepolia", 20),
        ("R-RPC-20", "txpool_status", [], BASE, 40),
        ("R-RPC-20", "txpool_inspect", [], BASE, 40),
        ("R-RPC-20", "trace_block", ["latest"], BASE, 40),
        ("R-RPC-20", "arbtrace_block", ["latest"], "arbitrum-mainnet", 40),
        ("R-RPC-20", "debug_traceCall", [{"to": BOB.address}, "latest"], BASE, 40),
        ("R-RPC-21", "txpool_content", [], BASE, 80),
        ("R-RPC-21", "trace_replayBlockTransactions", ["latest", ["trace"]], BASE, 80),
        ("R-RPC-21", "arbtrace_replayBlockTransactions", ["latest", ["trace"]], "arbitrum-mainnet", 80),
        ("R-RPC-21", "trace_replayBlockTransactions", ["latest", ["trace"]], "zksync-mainnet", 120),
        ("R-RPC-28", "eth_chainId", [], "ethereum-mainnet", 20),
        ("R-RPC-28", "starknet_chainId", [], "starknet-mainnet", 20),
        ("R-RPC-27", "trace_block", ["latest"], "zksync-mainnet", 60),
        ("R-RPC-29", "eth_chainId", [], "zksync-sepolia", 30),
        ("R-RPC-29", "getSlot", [], "solana-mainnet", 30),
        ("R-RPC-29", "getSupply", [], "solana-mainnet", 120),
    ],
)
def test_credits_are_base_times_tier(
    sandbox: Client, rule: str, method: str, params: list[Any], network: str, expected: int
) -> None:
    answer = send(sandbox, item(method, *params), network)
    assert "result" in answer.json(), answer.text
    assert credits(answer) == expected, rule


def test_R_RPC_30_R_RPC_31_R_RPC_32_an_error_costs_5_credits_and_the_header_is_exact(sandbox: Client) -> None:
    batch = [item("eth_blockNumber", id=1), item("eth_getBalance", "nonsense", "latest", id=2)]
    answer = send(sandbox, batch)
    assert answer.json()[1]["error"]["code"] == -32602
    assert (credits(answer), answer.headers["X-Service-RPC-Cost-USD"]) == (25, "0.00001750")
    assert sandbox.balance() == "99.9999825"
    large = send(sandbox, item("trace_replayTransaction", "0x" + "00" * 32, ["trace"]))
    assert "error" in large.json() and credits(large) == 5
    assert refusal(sandbox, "debug_somethingElse")["code"] == -32601


def test_R_RPC_35_R_RPC_36_R_HDR_31_the_same_key_and_body_bring_the_same_answer_and_say_so(sandbox: Client) -> None:
    body = item("eth_blockNumber")
    first, again = (send(sandbox, body, key="a-1") for _ in range(2))
    assert "Idempotent-Replayed" not in first.headers and again.headers["Idempotent-Replayed"] == "true"
    assert again.content == first.content


def test_R_RPC_37_a_replay_reaches_no_chain_and_costs_nothing(sandbox: Client) -> None:
    body = item("eth_sendRawTransaction", signed(0))
    send(sandbox, body, key="a-1")
    paid = sandbox.balance()
    assert "result" in send(sandbox, body, key="a-1").json() and sandbox.balance() == paid
    assert result(sandbox, "eth_blockNumber") == "0x6"
    assert "error" in send(sandbox, body, key="a-2").json(), "sent a second time, the chain refuses it"


def test_R_RPC_33_R_LIM_19_a_key_is_remembered_for_24_hours(sandbox: Client) -> None:
    body = item("eth_sendRawTransaction", signed(0))
    send(sandbox, body, key="a-1")
    sandbox.turn_clock(86_399)
    assert send(sandbox, body, key="a-1").headers["Idempotent-Replayed"] == "true"
    sandbox.turn_clock(86_400)
    late = send(sandbox, body, key="a-1")
    assert "Idempotent-Replayed" not in late.headers
    assert late.json()["error"]["message"] == "already known"


def test_R_RPC_34_the_key_does_not_know_the_network_but_it_knows_the_caller(sandbox: Client) -> None:
    body = item("eth_chainId")
    assert send(sandbox, body, BASE, "k").json()["result"] == "0x2105"
    assert send(sandbox, body, "ethereum-mainnet", "k").json()["result"] == "0x2105"
    sandbox.control("/settings", {"any_key": True})
    other = sandbox.post(
        "/crypto/rpc/ethereum-mainnet", body, headers={"Idempotency-Key": "k", "Authorization": "Bearer another"}
    )
    assert other.json()["result"] == "0x1"


def test_R_RPC_38_R_ERR_08_another_body_under_the_same_key_is_400(sandbox: Client) -> None:
    send(sandbox, item("eth_chainId"), key="k")
    answer = send(sandbox, item("eth_blockNumber"), key="k")
    assert answer.status_code == 400 and "different body" in answer.json()["error"]


@pytest.mark.parametrize("key", ["", "a b", "k" * 256, "schlüssel".encode("latin-1").decode("latin-1"), "a/b"])
def test_R_RPC_02_R_RPC_03_a_malformed_key_counts_as_none(sandbox: Client, key: str) -> None:
    url = f"{sandbox.running.base_url}/crypto/rpc/{BASE}"
    for method in ("eth_chainId", "eth_blockNumber"):
        answer = sandbox.http.post(url, json=item(method), headers=[(b"Idempotency-Key", key.encode("latin-1"))])
        assert answer.status_code == 200 and "Idempotent-Replayed" not in answer.headers
    assert send(sandbox, item("eth_chainId"), key="k" * 255).status_code == 200


def test_R_RPC_39_R_RPC_40_R_RPC_41_sent_transactions_are_logged_by_hash_without_the_payload(sandbox: Client) -> None:
    raw = signed(0)
    answer = send(sandbox, item("eth_sendRawTransaction", raw))
    log = sandbox.control("/rpc_audit", method="GET")["data"]
    assert [line["hash"] for line in log] == [answer.json()["result"]]
    assert log[0]["hash"] == "0x" + keccak(raw).hex()
    assert (log[0]["network"], log[0]["request_id"]) == (BASE, answer.headers["X-Request-ID"])
    assert log[0]["caller"] and raw[2:] not in json.dumps(log)
    send(sandbox, item("eth_sendRawTransaction", signed(0, value=2)))  # refused by the node: its nonce is used
    assert len(sandbox.control("/rpc_audit", method="GET")["data"]) == 2


def keccak(raw: str) -> bytes:
    from eth_utils.crypto import keccak as of

    return bytes(of(hexstr=raw))


def test_R_RPC_42_R_RPC_44_R_RPC_46_R_LIM_15_R_LIM_17_the_101st_request_of_a_minute_is_429_naming_the_cap(
    sandbox: Client,
) -> None:
    answers = [send(sandbox, item("eth_chainId")) for _ in range(101)]
    assert [answer.status_code for answer in answers] == [200] * 100 + [429]
    assert answers[0].headers["X-RateLimit-Limit"] == "100" and answers[0].headers["X-RateLimit-Remaining"] == "99"
    assert answers[-1].json()["customMessage"] == "requests-per-minute cap of 100 exceeded"
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"
    assert int(answers[-1].headers["X-RateLimit-Reset"]) == 1_795_608_060
    assert "X-Service-RPC-Credits" not in answers[-1].headers
    sandbox.turn_clock(60)
    assert send(sandbox, item("eth_chainId")).status_code == 200
    sandbox.control("/settings", {"staff": True})
    assert send(sandbox, item("eth_chainId")).headers["X-RateLimit-Limit"] == "1000"


def test_R_RPC_45_R_LIM_16_credits_are_capped_over_24_hours(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (rpc_memory.PAID.credits_per_day, rpc_memory.STAFF.credits_per_day) == (10**7, 10**8)
    from app.sandbox.chains import crypto_rpc

    monkeypatch.setattr(crypto_rpc, "PAID", rpc_memory.Caps(100, 100))
    assert [send(sandbox, item("eth_chainId")).status_code for _ in range(6)] == [200] * 5 + [429]
    assert "credits-per-24-hours cap of 100" in send(sandbox, item("eth_chainId")).json()["customMessage"]
    sandbox.turn_clock(86_400)
    assert send(sandbox, item("eth_chainId")).status_code == 200


def test_credits_leave_the_window_one_by_one() -> None:
    memory = RpcMemory({})
    memory.spent.extend([(0.0, 10), (100.0, 5)])
    assert [memory.credits_today(now) for now in (100.0, 86_399.0, 86_400.0, 86_500.0)] == [15, 15, 5, 0]


def test_R_RPC_43_the_balance_must_cover_the_full_tier(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "0.00002"})
    assert send(sandbox, item("txpool_status")).status_code == 402
    assert send(sandbox, item("eth_chainId")).status_code == 200


def test_R_RPC_47_the_endpoint_wants_a_credential(sandbox: Client, bare: httpx.Client) -> None:
    url = f"{sandbox.running.base_url}/crypto/rpc/{BASE}"
    assert bare.post(url, json=item("eth_chainId")).status_code == 401


def test_bodies_that_are_no_json_are_refused(sandbox: Client) -> None:
    url = f"{sandbox.running.base_url}/crypto/rpc/{BASE}"
    assert sandbox.http.post(url, content=b"{", headers={"content-type": "application/json"}).status_code == 400
    assert sandbox.http.post(url, content=b"{}", headers={"content-type": "text/plain"}).status_code == 415


def test_without_the_engine_evm_networks_are_501(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "eth" else real(name))
    answer = send(sandbox, item("eth_chainId"))
    assert answer.status_code == 501 and "py-evm" in answer.json()["error"]
    assert result(sandbox, "starknet_chainId", network="starknet-mainnet") == "0x534e5f4d41494e"
