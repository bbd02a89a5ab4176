"""The JSON-RPC proxy, rule by rule."""

import asyncio
import json
from decimal import Decimal

import httpx
import pytest

from app.service.crypto_rpc import AUTO, SIGNED_PAYLOAD, RpcError, RpcId, RpcItem, ids_of
from app.service.errors import BadRequest, BadResponse, LimitExceeded, RateLimited
from app.service.exchange import curl_command
from app.service.rpc_methods import call_credits, estimate, family_of, refusal_of, tier_of
from app.ui.crypto_rpc.session.outcomes import outcomes_of
from tests.reported_inputs import reported
from tests.service.loopback import Watched, answering, http, serving

RAW = "0x02f8signedbytes"
COST = {"x_service_rpc_credits": "25", "x_service_rpc_cost_usd": "0.00001750", "x_request_id": "req-1"}


async def test_r_rpc_01_r_rpc_06_r_rpc_07_r_rpc_08_r_rpc_09_one_call() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": "0x1a"}
    async with Watched(handler=answering(answer, **COST)) as watched:
        made = await watched.service.crypto_rpc.call("base-mainnet", "eth_getBalance", ["0xabc", "latest"])
        assert (made.outcome.result, made.outcome.error) == ("0x1a", None)
        assert (made.credits, made.cost_usd, made.request_id, made.replayed) == (
            25,
            Decimal("0.0000175"),
            "req-1",
            False,
        )
        request = watched.requests[0]
        assert request.url.path == "/api/v1/crypto/rpc/base-mainnet"
        assert json.loads(request.content) == {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "eth_getBalance",
            "params": ["0xabc", "latest"],
        }
        assert "idempotency-key" not in request.headers
        assert (watched.exchange.cost_source, watched.exchange.units) == ("stated", {"calls": 1, "credits": 25})


async def test_r_rpc_08_params_may_be_named() -> None:
    async with Watched(handler=answering({"id": 1, "result": None})) as watched:
        made = await watched.service.crypto_rpc.call("starknet-mainnet", "starknet_call", {"block_id": "latest"})
        assert made.outcome.error is None  # a null result is a success
        assert json.loads(watched.requests[0].content)["params"] == {"block_id": "latest"}


async def test_r_rpc_10_a_batch_is_matched_by_id_not_by_place() -> None:
    answer = [
        {"id": 3, "result": "c"},
        {"id": 1, "result": "a"},
        {"id": 2, "error": {"code": -32602, "message": "invalid <b>params</b>", "data": {"x": 1}}},
        {"id": "1", "result": "odd"},
        {"id": True, "result": "odd"},
        "odd",
    ]
    async with Watched(handler=answering(answer, **COST)) as watched:
        rpc = watched.service.crypto_rpc
        items = [RpcItem("eth_call"), RpcItem("eth_getBalance"), RpcItem("eth_chainId"), RpcItem("eth_gasPrice")]
        made = await rpc.send(rpc.prepare("base-mainnet", items))
        assert [outcome.result for outcome in made.outcomes] == ["a", None, "c", None]
        assert made.outcomes[1].error == RpcError(-32602, "invalid params", {"x": 1})
        assert made.outcomes[3].error is not None
        assert [each["id"] for each in json.loads(watched.requests[0].content)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "result", "message"),
    [("string", None, "insufficient funds for transfer"), ("float", "0x10", "")],
)
async def test_an_id_may_come_back_as_text_or_with_a_fraction(name: str, result: object, message: str) -> None:
    answer = json.loads(reported(f"k22-answer-{name}-id.json"))
    for sent, method in ((answer, "eth_sendRawTransaction" if message else "eth_call"), ([answer], "eth_call")):
        async with Watched(handler=answering(sent)) as watched:
            rpc = watched.service.crypto_rpc
            items = [RpcItem(method, ["0x"])]
            made = await rpc.send(rpc.prepare("base-mainnet", items if isinstance(sent, dict) else items * 2))
        outcome = made.outcomes[0]
        assert (outcome.result, outcome.error.message if outcome.error else "") == (result, message)
        assert not outcome.unanswered
        (shown, *_) = outcomes_of("base-mainnet", [{"id": 1, "method": method}], sent)
        assert (shown.is_error, shown.message) == (bool(message), message)


@pytest.mark.parametrize("rpc_id", ["my-call", "", "007", 12, 0, -3, None])
async def test_r_rpc_09_a_call_has_the_id_that_its_caller_gave(rpc_id: str | int | None) -> None:
    async with Watched(handler=lambda request: echoing(request)) as watched:
        rpc = watched.service.crypto_rpc
        alone = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_sendRawTransaction", (RAW,), rpc_id)]))
        assert (alone.outcome.result, alone.outcome.unanswered) == (json.dumps(rpc_id), False)
        items = [RpcItem("eth_call"), RpcItem("eth_chainId", (), rpc_id), RpcItem("eth_gasPrice")]
        batch = await rpc.send(rpc.prepare("base-mainnet", items))
        assert [each.result for each in batch.outcomes] == ["1", json.dumps(rpc_id), "3"]


def test_r_rpc_10_a_number_never_takes_the_id_that_another_call_has() -> None:
    assert ids_of([AUTO, 1, AUTO, 4, AUTO]) == (6, 1, 3, 4, 5)


@pytest.mark.parametrize(("first", "second"), [("x", "x"), (1, "1"), (None, None)])
async def test_r_rpc_10_two_calls_of_a_batch_cannot_have_the_same_id(first: RpcId, second: RpcId) -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded, match="Two calls have the ID"):
            watched.service.crypto_rpc.prepare(
                "base-mainnet", [RpcItem("eth_call", (), first), RpcItem("eth_call", (), second)]
            )


def echoing(request: httpx.Request) -> httpx.Response:
    """Answer each call with the JSON of its own id, the last call first."""
    asked = json.loads(request.content)
    answers = [
        {"id": each["id"], "result": json.dumps(each["id"])} for each in (asked if type(asked) is list else [asked])
    ]
    return httpx.Response(200, json=answers[::-1] if type(asked) is list else answers[0])


async def test_an_error_without_an_id_is_for_the_calls_without_an_answer() -> None:
    answer = [*json.loads(reported("k22-batch-null-id.json")), {"id": 2, "result": "0x1"}]
    async with Watched(handler=answering(answer)) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_call"), RpcItem("eth_chainId")]))
    first, second = made.outcomes
    assert first.error is not None
    assert (first.error.message, first.unanswered, second.result) == ("batch limit 1 exceeded", True, "0x1")
    items = [{"id": 1, "method": "eth_call"}, {"id": 2, "method": "eth_chainId"}]
    shown = outcomes_of("base-mainnet", items, answer)
    assert [(each.message, each.credits is None) for each in shown] == [("batch limit 1 exceeded", True), ("", False)]
    (sent,) = outcomes_of("base-mainnet", [{"id": 1, "method": "eth_sendRawTransaction"}], answer[:1])
    assert sent.message == "It is not clear whether this transaction was sent. batch limit 1 exceeded"


async def test_a_node_may_refuse_a_batch_as_a_whole() -> None:
    async with Watched(handler=answering({"id": None, "error": {"code": -32600, "message": "no batches"}})) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_call")] * 2))
        assert [outcome.error and outcome.error.code for outcome in made.outcomes] == [-32600, -32600]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"id": 1}, "neither a result"),
        ({"id": 1, "error": "plain words"}, "plain words"),
        ({"id": 1, "error": {"code": "x"}}, "refused"),
    ],
)
async def test_odd_answers_of_a_node_are_outcomes(answer: object, message: str) -> None:
    async with Watched(handler=answering(answer)) as watched:
        made = await watched.service.crypto_rpc.call("base-mainnet", "eth_call")
        assert made.outcome.error is not None
        assert message in made.outcome.error.message


@pytest.mark.parametrize("answer", ["x", 5, None])
async def test_no_answer_at_all_is_a_bad_answer(answer: object) -> None:
    async with Watched(handler=answering(answer)) as watched:
        rpc = watched.service.crypto_rpc
        for items in ([RpcItem("eth_call")], [RpcItem("eth_call")] * 2):
            with pytest.raises(BadResponse):
                await rpc.send(rpc.prepare("base-mainnet", items))


async def test_r_rpc_32_without_a_cost_header_the_estimate_knows_about_errors() -> None:
    answer = [{"id": 1, "result": 1}, {"id": 2, "error": {"code": 1, "message": "x"}}]
    async with Watched(handler=answering(answer)) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_call")] * 2))
        assert (made.credits, made.cost_usd) == (None, None)
        assert (watched.exchange.cost_usd, watched.exchange.cost_source) == (25 * Decimal("7e-7"), "estimated")


async def test_r_rpc_33_r_lim_19_a_repetition_is_the_same_bytes_under_the_same_key_and_costs_nothing() -> None:
    replies = iter(
        [
            httpx.Response(500, json={"error": "upstream"}),
            httpx.Response(200, json={"id": 1, "result": "0xhash"}, headers={"x-service-rpc-cost-usd": "0.000014"}),
            httpx.Response(
                200,
                json={"id": 1, "result": "0xhash"},
                headers={
                    "x-service-rpc-cost-usd": "0.000014",
                    "x-service-rpc-credits": "20",
                    "idempotent-replayed": "true",
                },
            ),
        ]
    )
    async with Watched(handler=lambda request: next(replies)) as watched:
        rpc = watched.service.crypto_rpc
        operation = rpc.prepare("base-mainnet", [RpcItem("eth_sendRawTransaction", [RAW])])
        assert operation.changes_state
        first = await rpc.send(operation)
        again = await rpc.send(operation)
        assert (first.replayed, first.cost_usd) == (False, Decimal("0.000014"))
        assert (again.replayed, again.cost_usd, again.credits) == (True, Decimal(0), 0)
        assert len({request.content for request in watched.requests}) == 1
        assert {request.headers["idempotency-key"] for request in watched.requests} == {operation.idempotency_key}
        assert watched.exchanges[1].cost_usd == Decimal(0)


async def test_r_rpc_34_every_operation_that_changes_something_has_a_key_of_its_own() -> None:
    async with Watched(handler=answering({})) as watched:
        rpc = watched.service.crypto_rpc
        items = [RpcItem("eth_sendRawTransaction", [RAW])]
        keys = {
            rpc.prepare(network, items).idempotency_key
            for network in ("base-mainnet", "ethereum-mainnet")
            for _ in range(5)
        }
        assert len(keys) == 10
        assert None not in keys
        assert rpc.prepare("base-mainnet", [RpcItem("eth_call")]).idempotency_key is None


async def test_r_rpc_41_a_signed_transaction_is_in_no_record() -> None:
    async with Watched(handler=answering([{"id": 1, "result": 1}, {"id": 2, "result": 2}])) as watched:
        rpc = watched.service.crypto_rpc
        items = [RpcItem("eth_call", ["seen"]), RpcItem("eth_sendRawTransaction", [RAW])]
        await rpc.send(rpc.prepare("base-mainnet", items))
        assert RAW.encode() in watched.requests[0].content
        assert RAW not in repr(watched.exchange)
        copied = curl_command(watched.exchange.request)
        assert RAW not in copied
        assert SIGNED_PAYLOAD in copied
        assert "seen" in copied
        alone = rpc.prepare("base-mainnet", items[1:])
        assert RAW not in repr(alone.content.record)


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256, "a.b", "line\n"])
async def test_r_rpc_03_a_key_that_would_be_ignored_is_refused(key: str) -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded) as caught:
            watched.service.crypto_rpc.prepare("base-mainnet", [RpcItem("eth_call")], idempotency_key=key)
        assert caught.value.field == "Idempotency-Key"
        watched.service.crypto_rpc.prepare("base-mainnet", [RpcItem("eth_call")], idempotency_key="A-z_0" * 51)


async def test_r_rpc_05_r_lim_18_a_batch_holds_1_to_100_items() -> None:
    async with Watched(handler=answering({})) as watched:
        rpc = watched.service.crypto_rpc
        for count in (0, 101):
            with pytest.raises(LimitExceeded):
                rpc.prepare("base-mainnet", [RpcItem("eth_call")] * count)
        assert rpc.prepare("base-mainnet", [RpcItem("eth_call")] * 100).batch
        assert rpc.prepare("base-mainnet", [RpcItem("eth_call")], batch=True).batch
        for network, items, batch in (
            ("base-mainnet", [RpcItem("eth_call")] * 2, False),
            ("base-mainnet", [RpcItem(" ")], None),
            ("../balance", [RpcItem("eth_call")], None),
            ("", [RpcItem("eth_call")], None),
        ):
            with pytest.raises(LimitExceeded):
                rpc.prepare(network, items, batch=batch)


UNSUPPORTED = {
    "R-RPC-22": ("eth_subscribe", "eth_unsubscribe"),
    "R-RPC-23": (
        "eth_newFilter",
        "eth_getFilterChanges",
        "eth_getFilterLogs",
        "eth_uninstallFilter",
        "eth_newBlockFilter",
        "eth_newPendingTransactionFilter",
    ),
    "R-RPC-25": ("eth_sign", "eth_accounts", "eth_mining", "eth_hashrate", "eth_getWork", "eth_submitWork"),
    "public": ("accountSubscribe", "logsUnsubscribe", "getAssetsByOwner", "getConfirmedBlock"),
}


@pytest.mark.parametrize(
    "method", [pytest.param(method, id=f"{rule} {method}") for rule, names in UNSUPPORTED.items() for method in names]
)
async def test_r_rpc_22_r_rpc_23_r_rpc_25_a_refused_method_is_not_sent(method: str) -> None:
    assert refusal_of(method) is not None
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded):
            await watched.service.crypto_rpc.call("base-mainnet", method)
        assert watched.requests == []


async def test_r_rpc_11_r_rpc_12_r_rpc_13_all_offenders_of_a_batch_are_named_at_once() -> None:
    async with Watched(handler=answering({})) as watched:
        items = [RpcItem("eth_call"), RpcItem("eth_sign"), RpcItem("eth_newFilter"), RpcItem("eth_sign")]
        with pytest.raises(LimitExceeded) as caught:
            watched.service.crypto_rpc.prepare("base-mainnet", items)
        assert caught.value.limit == "eth_sign, eth_newFilter"


async def test_r_rpc_24_what_to_use_instead_of_a_filter_is_said() -> None:
    async with Watched(handler=answering({})) as watched:
        for method in UNSUPPORTED["R-RPC-23"]:
            with pytest.raises(LimitExceeded, match="Use eth_getLogs"):
                watched.service.crypto_rpc.prepare("base-mainnet", [RpcItem(method)])


@pytest.mark.parametrize(
    ("method", "tier"),
    [
        *((name, "standard") for name in ("eth_call", "eth_getBalance", "eth_blockNumber", "eth_sendRawTransaction")),
        *((name, "standard") for name in ("eth_getLogs", "net_version", "web3_clientVersion", "eth_sendUserOperation")),
        *((name, "standard") for name in ("zks_x", "linea_x", "bor_x", "starknet_x", "eth_chainId", "getBalance")),
        *((name, "advanced") for name in ("trace_block", "debug_x", "txpool_inspect", "txpool_status", "arbtrace_x")),
        *((name, "large") for name in ("trace_replayBlockTransactions", "trace_replayTransaction", "txpool_content")),
        *((name, "large") for name in ("arbtrace_replayTransaction", "getSupply")),
        *((name, "unknown") for name in ("eth_Call", "engine_x", "trace", "")),
    ],
)
def test_r_rpc_17_r_rpc_18_r_rpc_19_r_rpc_20_r_rpc_21_the_most_specific_tier_wins(method: str, tier: str) -> None:
    assert tier_of(method) == tier


def test_r_rpc_27_r_rpc_28_r_rpc_29_r_rpc_30_credits_are_base_times_multiplier() -> None:
    assert call_credits("ethereum-mainnet", "trace_replayTransaction") == 80
    assert call_credits("ethereum-mainnet", "trace_block") == 40
    assert call_credits("starknet-mainnet", "starknet_call") == 20
    assert call_credits("zksync-mainnet", "eth_call") == 30
    both = estimate("zksync-mainnet", ("eth_call", "eth_call"))
    assert (both.credits, both.low_usd, both.high_usd) == (60, Decimal("0.0000375"), Decimal("0.000042"))
    assert [family_of(name) for name in ("solana-devnet", "starknet-sepolia", "base-mainnet")] == [
        "solana",
        "starknet",
        "evm",
    ]


async def test_an_operation_knows_its_estimate() -> None:
    async with Watched(handler=answering({})) as watched:
        items = [RpcItem("eth_call"), RpcItem("trace_block")]
        assert watched.service.crypto_rpc.prepare("base-mainnet", items).estimate.credits == 60


async def test_r_ep_07_networks_are_listed_sorted() -> None:
    async with Watched(handler=answering({"networks": ["b", "a", 5]})) as watched:
        assert await watched.service.crypto_rpc.networks() == ("a", "b")
    for body in ({}, [], {"networks": "a"}):
        async with Watched(handler=answering(body)) as watched:
            with pytest.raises(BadResponse):
                await watched.service.crypto_rpc.networks()


async def test_r_rpc_42_r_lim_17_the_cap_that_was_reached_is_named() -> None:
    body = {"error": "Rate limit exceeded", "customMessage": "requests-per-minute cap of 100 exceeded"}
    async with Watched(handler=answering(body, 429, retry_after="300")) as watched:
        with pytest.raises(RateLimited) as caught:
            await watched.service.crypto_rpc.call("base-mainnet", "eth_call")
        assert caught.value.message == "requests-per-minute cap of 100 exceeded"


async def test_r_rpc_38_a_key_used_for_another_body_is_the_caller_s_error() -> None:
    async with Watched(handler=answering({"error": "Idempotency key reused"}, 400)) as watched:
        with pytest.raises(BadRequest):
            await watched.service.crypto_rpc.call("base-mainnet", "eth_call")
        assert len(watched.requests) == 1


async def test_calls_of_one_account_go_one_after_the_other() -> None:
    under_way = most = 0

    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.005)
            under_way -= 1
            return httpx.Response(200, json={"id": 1, "result": 1})

    async with Watched(handler=answering({})) as watched:
        watched.client._transport = Slow()
        await asyncio.gather(*(watched.service.crypto_rpc.call("base-mainnet", "eth_call") for _ in range(4)))
    assert most == 1


async def test_the_bytes_of_an_answer_and_its_headers_are_kept_as_they_came() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": "0x1a"}
    async with Watched(handler=answering(answer, **COST)) as watched:
        made = await watched.service.crypto_rpc.call("base-mainnet", "eth_chainId")
        assert json.loads(made.body) == answer
        assert ("x-service-rpc-credits", "25") in made.info.headers


async def test_a_large_answer_is_read_in_pieces_to_the_same_values() -> None:
    logs = [{"data": "0x" + "ab" * 100, "logIndex": hex(place)} for place in range(3000)]
    async with Watched(handler=answering({"jsonrpc": "2.0", "id": 1, "result": logs})) as watched:
        made = await watched.service.crypto_rpc.call("base-mainnet", "eth_getLogs", [{}])
        assert made.outcome.result == logs


async def test_a_large_answer_that_is_no_json_is_a_bad_answer_with_its_request_id() -> None:
    def broken(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"[" + b'{"id": 1},' * 60_000, headers={"X-Request-ID": "req-9"})

    async with Watched(handler=broken) as watched:
        with pytest.raises(BadResponse) as caught:
            await watched.service.crypto_rpc.call("base-mainnet", "eth_chainId")
        assert (caught.value.request_id, caught.value.status) == ("req-9", 200)


async def test_the_same_request_has_the_same_digest_and_another_network_another() -> None:
    async with Watched(handler=answering({})) as watched:
        rpc = watched.service.crypto_rpc
        one = rpc.prepare("base-mainnet", [RpcItem("eth_call", [{"to": "0x1"}])])
        same = rpc.prepare("base-mainnet", [RpcItem("eth_call", [{"to": "0x1"}])], idempotency_key="k")
        assert one.digest == same.digest
        assert one.digest != rpc.prepare("base-sepolia", [RpcItem("eth_call", [{"to": "0x1"}])]).digest
        assert one.digest != rpc.prepare("base-mainnet", [RpcItem("eth_call", [{"to": "0x2"}])]).digest


TRANSACTION = RpcItem("eth_sendRawTransaction", (RAW,))


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 7, "result": "0xab"},
        {"id": "1", "result": "0xab"},
        {"result": "0xab"},
        {"id": 7, "error": {"code": -32000, "message": "nonce too low"}},
        {"id": 1},
        {},
    ],
)
async def test_r_rpc_10_a_transaction_without_an_answer_of_its_own_may_have_been_sent(answer: object) -> None:
    async with serving(http(200, answer)) as service, Watched(service.base_url) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [TRANSACTION]))
        assert made.outcome.may_be_sent
        assert watched.exchange.outcome == "unknown"
        assert watched.exchange.units["credits"] >= 20
        assert watched.exchange.cost_source == "possible"
        assert watched.exchange.cost_usd
        assert len(service.received) == 1


@pytest.mark.parametrize(
    "answer", [{"id": 1, "result": "0xab"}, {"id": None, "error": {"code": -32700, "message": "?"}}]
)
async def test_a_transaction_that_is_answered_or_refused_is_not_unknown(answer: object) -> None:
    async with Watched(handler=answering(answer)) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [TRANSACTION]))
        assert not made.outcome.may_be_sent
        assert watched.exchange.outcome == "ok"


@pytest.mark.parametrize(
    "answer", [[{"id": 1, "result": "0x1"}], [{"id": 1, "result": "0x1"}, {"id": 9, "result": "0xab"}]]
)
async def test_a_transaction_that_a_batch_leaves_out_may_have_been_sent(answer: object) -> None:
    async with Watched(handler=answering(answer, **COST)) as watched:
        rpc = watched.service.crypto_rpc
        made = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_chainId"), TRANSACTION]))
        assert [outcome.may_be_sent for outcome in made.outcomes] == [False, True]
        assert watched.exchange.outcome == "unknown"
        assert watched.exchange.cost_source == "stated"


async def test_a_read_that_is_answered_under_another_id_is_not_answered() -> None:
    async with Watched(handler=answering({"id": 7, "result": "0xab"})) as watched:
        made = await watched.service.crypto_rpc.call("base-mainnet", "eth_chainId")
        assert made.outcome.result is None
        assert made.outcome.unanswered
        assert watched.exchange.outcome == "ok"
