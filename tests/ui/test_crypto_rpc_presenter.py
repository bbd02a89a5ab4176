"""The Console's presenter against the Sandbox's real chains: what a call costs, before and after; nothing is lost."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from eth_account import Account as EthAccount

from app.core.tasks import TaskScope
from app.credentials.accounts import Account
from app.service.crypto_rpc import CryptoRpcResource, RpcItem, RpcOutcome, RpcResponse
from app.service.service import open_service
from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.call_words import KEPT_A_DAY
from app.ui.crypto_rpc.session.sending import other_hash
from app.wallet.transactions import read_transaction
from tests.kit.console import ConsolePresenterHarness, open_console_presenter
from tests.kit.waiting import entered
from tests.service.loopback import http, serving

KEY = "0x" + hashlib.sha256(b"Rialto Sandbox test account: alice").hexdigest()
OTHER = "0x3535353535353535353535353535353535353535"


@pytest.fixture
async def harness(tmp_path: Path, tasks: TaskScope) -> AsyncIterator[ConsolePresenterHarness]:
    async with open_console_presenter(tmp_path, tasks) as harness:
        yield harness


def call(method: str, *params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": list(params)}


async def test_a_call_has_its_price_before_and_its_cost_after(harness: ConsolePresenterHarness) -> None:
    view = harness.presenter.view()
    assert (view.credits, view.can_send, [row.method for row in view.rows]) == (20, True, ["eth_blockNumber"])
    assert view.low_usd < view.high_usd
    run = await harness.send()
    assert run is not None
    assert (run.state, run.results, run.errors) == ("answered", 1, 0)
    assert run.outcomes[0].credits == 20
    assert ("Charged", "20 cr", "") in run.facts
    assert any(name == "x-service-rpc-credits" for name, _ in run.headers)
    assert [entry.title for entry in harness.entries] == ["eth_blockNumber"]


async def test_stopped_as_the_response_comes_it_is_kept(
    harness: ConsolePresenterHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = entered(monkeypatch, RpcCalls, "answered")
    harness.presenter.send()
    await came.wait()
    assert harness.presenter.stop()
    await harness.tasks.idle()
    (kept,) = await RpcCalls(harness.database).recent()
    assert (kept.state, kept.credits) == ("answered", 20)


async def test_who_presses_stop_twice_has_a_request_of_unknown_end(
    harness: ConsolePresenterHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_values: object, **_more: object) -> None:
        left.set()
        await asyncio.Event().wait()

    left, ending = asyncio.Event(), entered(monkeypatch, RpcCalls, "unknown")
    monkeypatch.setattr(CryptoRpcResource, "send", never)
    harness.presenter.send()
    await left.wait()
    assert harness.presenter.stop()
    await ending.wait()
    harness.presenter.stop()
    await harness.tasks.idle()
    (kept,) = await RpcCalls(harness.database).recent()
    assert kept.state == "unknown"


async def test_r_rpc_32_a_batch_with_an_error_costs_five_for_that_call(harness: ConsolePresenterHarness) -> None:
    harness.write(json.dumps([call("eth_chainId"), call("eth_getBalance", "nonsense", "latest")]))
    assert harness.presenter.view().credits == 40
    run = await harness.send()
    assert run is not None
    assert [(outcome.is_error, outcome.credits) for outcome in run.outcomes] == [(False, 20), (True, 5)]
    assert ("Charged", "25 cr", "") in run.facts
    assert (harness.entries[0].title, harness.entries[0].badge) == ("2 calls in a batch", "1 error")


async def test_sending_again_asks_again(harness: ConsolePresenterHarness) -> None:
    first = await harness.send()
    key = harness.presenter.draft.key
    again = await harness.send()
    assert first is not None
    assert again is not None
    assert not again.replayed
    assert ("Charged", "20 cr", "") in again.facts
    assert harness.presenter.draft.key != key
    assert harness.presenter.view().key_note == KEPT_A_DAY
    rows = await harness.database.fetch("SELECT DISTINCT idempotency_key FROM rpc_calls")
    assert len(rows) == 2


async def test_an_old_request_is_sent_again_as_a_new_one(harness: ConsolePresenterHarness) -> None:
    await harness.send()
    harness.presenter.new_batch()
    harness.presenter.open_call(harness.entries[0].id)
    await harness.tasks.idle()
    again = await harness.send()
    assert again is not None
    assert not again.replayed


async def test_a_lost_answer_is_fetched_with_the_same_key_and_the_next_one_is_new(
    harness: ConsolePresenterHarness,
) -> None:
    first = await harness.send()
    assert first is not None
    await harness.database.execute("UPDATE rpc_calls SET state = 'unknown'")
    harness.presenter.open_call(first.id)
    await harness.tasks.idle()
    again = await harness.send()
    assert again is not None
    assert again.replayed
    third = await harness.send()
    assert third is not None
    assert not third.replayed


async def test_r_rpc_36_sending_the_same_again_under_a_typed_key_is_a_replay_that_costs_nothing(
    harness: ConsolePresenterHarness,
) -> None:
    harness.presenter.set_key("my-key")
    first = await harness.send()
    again = await harness.send()
    assert first is not None
    assert again is not None
    assert (again.replayed, again.outcomes) == (True, first.outcomes)
    assert ("Charged", "0 cr", "ok") in again.facts
    assert ("First run", "20 cr", "") in again.facts
    assert len(again.runs) == 2
    assert harness.entries[0].badge == "Replay"
    assert "Repeats are free" in harness.presenter.view().key_note


async def test_r_rpc_38_a_key_that_went_with_another_request_is_explained_before_sending(
    harness: ConsolePresenterHarness,
) -> None:
    harness.presenter.set_key("my-key")
    await harness.send()
    harness.write(json.dumps(call("eth_chainId")))
    await harness.tasks.idle()
    assert "another request" in harness.presenter.view().key_problem
    await harness.send()
    problem = harness.presenter.view().problem
    assert problem is not None
    assert "another request" in problem.what
    assert len(harness.entries) == 1
    harness.presenter.new_key()
    await harness.tasks.idle()
    assert harness.presenter.view().key_problem == ""
    await harness.send()
    assert len(harness.entries) == 2


async def test_r_rpc_13_every_refused_method_is_named_at_once_and_nothing_is_sent(
    harness: ConsolePresenterHarness,
) -> None:
    harness.write(json.dumps([call("eth_newFilter"), call("eth_blockNumber"), call("eth_sign")]))
    view = harness.presenter.view()
    assert [bool(row.refusal) for row in view.rows] == [True, False, True]
    assert not view.can_send
    assert await harness.send() is None
    assert harness.entries == ()


async def test_r_rpc_26_an_unknown_method_and_one_of_another_family_are_warned_of(
    harness: ConsolePresenterHarness,
) -> None:
    harness.write(json.dumps([call("eth_fooBar"), call("starknet_call")]))
    view = harness.presenter.view()
    assert view.rows[0].warning.startswith("Call 1: eth_fooBar is not in the service’s list, so the whole batch may")
    assert "not a method of Ethereum mainnet" in view.rows[1].warning
    assert view.can_send


async def test_r_rpc_39_r_rpc_40_a_signed_transaction_is_read_confirmed_sent_and_found_by_its_hash(
    harness: ConsolePresenterHarness,
) -> None:
    made = EthAccount.sign_transaction(
        {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "to": OTHER, "value": 10**18, "chainId": 8453}, KEY
    )
    raw = "0x" + made.raw_transaction.hex().removeprefix("0x")
    digest = "0x" + made.hash.hex().removeprefix("0x")
    harness.presenter.use_network("base-mainnet")
    harness.write(json.dumps(call("eth_sendRawTransaction", raw)))
    harness.agree = False
    assert await harness.send() is None
    facts = dict(harness.questions[0].facts)
    assert facts["The service logs"].startswith("hash, network, request ID and your account")
    assert (facts["To"], facts["Value"], facts["Chain ID"], facts["Hash"]) == (OTHER, "1 ether", "8453", digest)
    assert harness.questions[0].warnings == ()
    assert harness.entries == ()
    harness.agree = True
    run = await harness.send()
    assert run is not None
    assert run.outcomes[0].value == digest
    assert run.transactions == (("1", digest),)
    kept = await harness.database.fetch("SELECT items, words FROM rpc_calls")
    assert all(raw[2:40] not in str(value) for row in kept for value in row)


@pytest.mark.parametrize("alone", [True, False])
async def test_a_transaction_that_is_answered_under_another_id_is_unknown_and_looked_up_by_its_hash(
    harness: ConsolePresenterHarness, alone: bool
) -> None:
    made = EthAccount.sign_transaction(
        {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "to": OTHER, "value": 1, "chainId": 8453}, KEY
    )
    raw = call("eth_sendRawTransaction", "0x" + made.raw_transaction.hex().removeprefix("0x"))
    digest = "0x" + made.hash.hex().removeprefix("0x")
    odd: object = {"jsonrpc": "2.0", "id": 9, "result": digest}
    async with serving(http(200, odd if alone else [{"id": 1, "result": "0x2105"}, odd])) as odd_service:
        before = harness.current_account.service
        service = open_service(odd_service.base_url, "service", None, lambda _exchange: None)
        harness.current_account.use(harness.current_account.account, service)
        harness.presenter.use_network("base-mainnet")
        harness.write(json.dumps(raw if alone else [call("eth_chainId"), raw]))
        run = await harness.send()
        harness.current_account.use(harness.current_account.account, before)
        await service.aclose()
    assert run is not None
    assert (run.state, harness.entries[0].badge) == ("unknown", "Unknown")
    assert run.problem is not None
    assert run.problem.what == "It is not clear whether the transaction was sent"
    assert ("Hash", digest) in run.problem.details
    assert [action.id for action in run.problem.actions] == ["look-up", "again"]
    assert run.outcomes[-1].credits is None
    assert run.outcomes[-1].message == "It is not clear whether this transaction was sent."
    assert "about" in harness.entries[0].right
    assert digest.encode() in run.body
    if not alone:
        assert run.outcomes[0].value == "0x2105"


@pytest.mark.parametrize(("named", "told"), [("own", False), ("0x" + "ab" * 32, True), (None, True)])
def test_r_rpc_40_another_hash_than_the_bytes_have_is_told(named: str | None, told: bool) -> None:
    made = EthAccount.sign_transaction(
        {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "to": OTHER, "value": 1, "chainId": 8453}, KEY
    )
    sent = read_transaction("0x" + made.raw_transaction.hex().removeprefix("0x"))
    outcome = RpcOutcome(RpcItem("eth_sendRawTransaction"), sent.hash if named == "own" else named)
    answer = cast(RpcResponse, SimpleNamespace(outcomes=(outcome,), request_id="req-1"))
    problem = other_hash([CallRow(1, "eth_sendRawTransaction", [])], {1: sent}, answer)
    assert (problem is not None) is told
    assert problem is None or sent.hash in problem.meaning


async def test_a_transaction_for_another_chain_is_warned_of(harness: ConsolePresenterHarness) -> None:
    made = EthAccount.sign_transaction(
        {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "to": OTHER, "value": 1, "chainId": 8453}, KEY
    )
    harness.write(json.dumps(call("eth_sendRawTransaction", "0x" + made.raw_transaction.hex().removeprefix("0x"))))
    harness.agree = False
    await harness.send()
    assert "signed for chain 8453, but Ethereum mainnet is chain 1" in harness.questions[0].warnings[0]


async def test_what_is_no_signed_transaction_is_refused_before_it_is_paid_for(harness: ConsolePresenterHarness) -> None:
    harness.write(json.dumps(call("eth_sendRawTransaction", "0x1234")))
    assert await harness.send() is None
    problem = harness.presenter.view().problem
    assert problem is not None
    assert "Call 1 has no signed transaction" in problem.what
    assert harness.entries == ()


async def test_a_refusal_of_the_service_is_kept_with_its_status(harness: ConsolePresenterHarness) -> None:
    harness.presenter.use_network("nowhere-mainnet")
    run = await harness.send()
    assert run is not None
    assert (run.state, run.problem is not None) == ("failed", True)
    assert (harness.entries[0].badge, "not charged" in harness.entries[0].right) == ("400", True)


async def test_the_draft_is_there_after_a_restart_without_what_was_signed(harness: ConsolePresenterHarness) -> None:
    harness.presenter.use_network("base-mainnet")
    harness.write(
        json.dumps([call("eth_getBalance", "{{address}}", "latest"), call("eth_sendRawTransaction", "0xf86c")])
    )
    harness.presenter.edit(lambda draft: draft.variables.update(address=OTHER))
    harness.presenter.star_network("base-mainnet")
    presenter = await harness.restart()
    view = presenter.view()
    assert (view.network.slug, view.network.is_favorite) == ("base-mainnet", True)
    assert [row.params for row in view.rows] == ['["{{address}}", "latest"]', '["{{signed_transaction}}"]']
    assert view.missing == ("signed_transaction",)
    assert not view.can_send


async def test_a_request_on_its_way_when_the_program_ended_is_unknown_afterwards(
    harness: ConsolePresenterHarness,
) -> None:
    await harness.send()
    await harness.database.execute("UPDATE rpc_calls SET state = 'open'")
    seen: list[object] = []
    presenter = await harness.restart()
    presenter.calls_changed.connect(seen.append)
    presenter.sent.search("")
    await harness.tasks.idle()
    assert seen[-1][0].badge == "Unknown"  # type: ignore[index]  # a tuple of entries


async def test_the_list_is_published_once_at_the_start(harness: ConsolePresenterHarness) -> None:
    seen: list[object] = []
    harness.presenter.calls_changed.connect(seen.append)
    await harness.presenter.start(harness.database)
    await harness.tasks.idle()
    assert len(seen) == 1


async def test_an_old_request_is_opened_with_its_calls_and_its_answer(harness: ConsolePresenterHarness) -> None:
    harness.write(json.dumps(call("eth_chainId")))
    await harness.send()
    harness.presenter.new_batch()
    assert harness.presenter.view().rows[0].method == "eth_blockNumber"
    harness.presenter.open_call(harness.entries[0].id)
    await harness.tasks.idle()
    assert harness.presenter.view().rows[0].method == "eth_chainId"
    assert harness.presenter.run is not None
    assert harness.presenter.run.outcomes[0].value == "0x1"


async def test_trash_is_undone(harness: ConsolePresenterHarness) -> None:
    await harness.send()
    harness.presenter.sent.move_to_trash((harness.entries[0].id,))
    await harness.tasks.idle()
    assert harness.entries == ()
    harness.undo_stack.undo_last("crypto_rpc")
    await harness.tasks.idle()
    assert len(harness.entries) == 1


async def test_one_call_of_a_batch_is_sent_alone_under_a_key_of_its_own(harness: ConsolePresenterHarness) -> None:
    harness.write(json.dumps([call("eth_chainId"), call("eth_gasPrice")]))
    harness.presenter.send_alone(2)
    await harness.tasks.idle()
    assert harness.presenter.run is not None
    assert [outcome.method for outcome in harness.presenter.run.outcomes] == ["eth_gasPrice"]
    assert len(harness.presenter.view().rows) == 2


async def test_r_ep_07_the_services_networks_take_the_place_of_the_bundled_ones(
    harness: ConsolePresenterHarness,
) -> None:
    slugs = {row.slug for row in harness.presenter.networks()}
    assert {"ethereum-mainnet", "base-mainnet", "starknet-mainnet"} <= slugs
    assert next(row for row in harness.presenter.networks() if row.slug == "zksync-mainnet").credits == 30
    harness.current_account.use(harness.current_account.account, None)
    presenter = await harness.restart()
    assert {row.slug for row in presenter.networks()} == slugs
    assert not presenter.view().can_send


async def test_calls_of_another_account_say_whose_they_are(harness: ConsolePresenterHarness) -> None:
    await harness.send()
    (entry,) = harness.entries
    assert "Sandbox" not in entry.second
    harness.current_account.names = {"box": "Sandbox"}.__getitem__
    harness.current_account.use(Account("other", "Main account", "https://api.example.com/v1"), None)
    await harness.tasks.idle()
    (entry,) = harness.entries
    assert entry.second.endswith(" · Sandbox")
