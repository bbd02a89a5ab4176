"""Sealed chats through the service layer: the honest way in both dialects, and each lie that a service could tell."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from app.sealed.checks import Check, Outcome
from app.sealed.evidence import read_evidence
from app.sealed.receipt import ReceiptOutcome
from app.service.chat import OPENED_AT_ONCE
from app.service.chat_types import ChatMessage, ChatRequest, ContentPart, ServiceParameters, TextDelta
from app.service.errors import EvidenceRefused, LimitExceeded, SealBroken, ServerFailed, StreamCut
from app.service.rate_limiter import TEE_PER_MINUTE
from app.service.sealed.body import clear_texts, forbidden_in, sealed_body
from app.service.sealed.resource import Attestation, SealedResource, SealedSession
from tests.kit.sealed import HISTORY, MODEL, SECRETS, SealedHarness, ended_stream
from tests.kit.service import with_key
from tests.service.loopback import Watched, answering, http, serving

DIALECTS = ("service", "venice")
CHAT = "/api/v1/chat/completions"


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[SealedHarness]:
    async with with_key(tmp_path) as at:
        yield SealedHarness(at)


@pytest.fixture(params=DIALECTS)
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SealedHarness]:
    async with with_key(tmp_path, request.param) as at:
        yield SealedHarness(at)


def assert_nothing_leaked(chat: SealedHarness) -> None:
    """No word of any message in all that the relay saw, that was logged, or that was recorded here."""
    everything = chat.everything
    for text in SECRETS:
        for word in text.split():
            assert len(word) < 5 or word not in everything, word


def calls_of(chat: SealedHarness) -> list[str]:
    return [line["path"] for line in chat.at.sandbox.control("/log", method="GET")["data"]]


# The honest way


@pytest.mark.parametrize("model", [MODEL, "rialto-sealed-gateway"])
async def test_r_tee_09_and_r_tee_11_a_sealed_chat_is_answered_and_nothing_of_it_is_on_the_wire(
    either: SealedHarness, model: str
) -> None:
    text = await either.ask(model=model)
    assert "Esc" in text and bool(either.reasoning) == (model == MODEL)
    seen = either.seen
    assert seen["clear"] == [] and seen["requests"] == 1
    sent = json.loads(seen["body"])
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert sent["stream"] is True
    assert_nothing_leaked(either)
    for line in text.splitlines():
        assert line[:40] == "" or line[:40] not in either.everything


async def test_r_tee_09_a_sealed_request_has_three_headers_in_its_dialects_names(either: SealedHarness) -> None:
    await either.ask()
    dialect = either.at.service.client.dialect.name
    headers = {name: text for name, text in either.seen["headers"].items() if "-tee-" in name}
    session = either.session
    assert session is not None
    assert headers == {
        f"x-{dialect}-tee-client-pub-key": session.key.public.hex(),
        f"x-{dialect}-tee-model-pub-key": session.attestation.verdict.key.hex(),
        f"x-{dialect}-tee-signing-algo": "ecdsa",
    }
    extension = json.loads(either.seen["body"])[f"{dialect}_parameters"]
    assert extension == {"include_venice_system_prompt": False}


async def test_r_tee_15_a_receipt_over_our_bytes_is_bound(either: SealedHarness) -> None:
    await either.ask()
    assert (await either.receipt()).outcome is ReceiptOutcome.BOUND
    assert either.stream is not None
    _, saved = await either.resource.receipt(either.stream)
    assert saved.sent == either.stream.answer.sent and isinstance(saved.body, dict)
    evidence = either.stream.session.attestation.evidence((saved,))
    verdict = evidence.verify()
    assert [receipt.outcome for _, receipt in evidence.check_receipts(verdict)] == [ReceiptOutcome.BOUND]


async def test_r_tee_15_a_missing_receipt_is_said_after_three_tries() -> None:
    async with Watched(handler=answering({"error": "Chat id not found or expired"}, 404)) as watched:
        receipt, saved = await watched.service.sealed.receipt(ended_stream(watched.service))
    assert (receipt.outcome, saved.body) == (ReceiptOutcome.NONE, None)
    assert watched.slept == [2.0, 2.0] and len(watched.requests) == 3


async def test_the_charge_of_a_sealed_answer_is_recorded_like_any_other(chat: SealedHarness) -> None:
    await chat.ask()
    exchange = next(each for each in reversed(chat.at.exchanges) if each.resource == "chat")
    assert exchange.outcome == "ok" and exchange.cost_usd and exchange.units["completion_tokens"] > 0
    assert exchange.info is not None and exchange.info.tee and exchange.info.tee_provider == "rialto-sandbox"


async def test_r_tee_01_flags_say_what_a_model_can(chat: SealedHarness) -> None:
    models = {model.id: model.capabilities for model in await chat.at.service.models.list()}
    said = {name: (each.supports_tee_attestation, each.supports_e2ee) for name, each in models.items()}
    assert said["rialto-sealed"] == (True, True)
    assert said["rialto-enclave"] == (True, False)
    assert said["rialto-handbook"] == (False, False)


async def test_r_tee_06_and_r_tee_17_no_other_host_is_asked_without_consent(chat: SealedHarness) -> None:
    attestation = await chat.attest(lists=False)
    assert not attestation.verdict.is_full and not attestation.verdict.refused
    assert {each.request.path for each in chat.at.exchanges} == {"/tee/attestation"}
    full = await chat.attest()
    assert full.verdict.is_full
    asked = [each.request for each in chat.at.exchanges if each.request.path.startswith("http")]
    assert len(asked) == 4 and not any(request.authenticated for request in asked)
    await chat.attest()
    assert len([each for each in chat.at.exchanges if each.request.path.startswith("http")]) == 4  # kept


async def test_r_tee_06_lists_that_cannot_be_had_leave_their_check_open(chat: SealedHarness) -> None:
    chat.lists = replace(chat.lists, base="http://127.0.0.1:1")
    attestation = await chat.attest()
    (line,) = (check for check in attestation.verdict.checks if check.id == "firmware")
    assert line.outcome is Outcome.NOT_CHECKED and "sent no lists" in line.reason
    assert attestation.asked["intel"][0] == "127.0.0.1:1"  # it has heard of us all the same


GPU_LIES = [
    ("nonce", "a different nonce"),
    ("signature", "not signed by a key"),
    ("verdict", "does not accept the evidence"),
    ("expired", "not valid now"),
    ("other_gpu", "other graphics processors"),
    ("debug", "debug mode"),
]


def gpu_line(attestation: Attestation) -> Check:
    (line,) = (check for check in attestation.verdict.checks if check.id == "gpu")
    return line


async def test_r_tee_17_and_r_tee_18_nvidia_is_asked_only_with_consent(chat: SealedHarness) -> None:
    line = gpu_line(await chat.attest())
    assert line.outcome is Outcome.NOT_CHECKED and "were not asked" in line.reason
    assert not any("attest/gpu" in each.request.path for each in chat.at.exchanges)
    attestation = await chat.attest(nvidia=True)
    line = gpu_line(attestation)
    assert (line.outcome, line.value) == (Outcome.NOTED, "1 × Sandbox, not NVIDIA")
    asked = next(each.request for each in chat.at.exchanges if "attest/gpu" in each.request.path)
    assert not asked.authenticated and isinstance(asked.body, dict)
    assert set(asked.body) == {"nonce", "arch", "evidence_list"} and asked.body["nonce"] == attestation.nonce.hex()
    here = chat.resource.host  # the Sandbox is Intel and NVIDIA as well
    assert attestation.asked == {"intel": (here,), "nvidia": (here,)}
    again = read_evidence(attestation.evidence().to_bytes())
    assert again.verify().checks == attestation.verdict.checks and again.asked == attestation.asked


@pytest.mark.parametrize(("kind", "words"), GPU_LIES)
async def test_r_tee_18_a_lie_about_the_graphics_processor_refuses_the_enclave(
    chat: SealedHarness, kind: str, words: str
) -> None:
    chat.lie("nvidia", kind=kind)
    with pytest.raises(EvidenceRefused, match=words) as refused:
        await chat.attest(nvidia=True)
    assert refused.value.attestation.verdict.failed.id == "gpu"
    saved = read_evidence(refused.value.attestation.evidence().to_bytes())
    assert saved.verify().failed == refused.value.attestation.verdict.failed


@pytest.mark.parametrize(
    "reply",
    [
        http(302, location="http://127.0.0.1:1/elsewhere"),
        http(503),
        http(400, {"error": "what is this"}),
        http(200, b"\xff"),
    ],
)
async def test_r_tee_17_where_nvidia_says_nothing_that_is_said_and_its_host_is_listed(
    chat: SealedHarness, reply: bytes
) -> None:
    async with serving(reply) as host:
        chat.nvidia = host.base_url
        attestation = await chat.attest(nvidia=True)
        assert [each.method for each in host.received] == ["POST"] and "authorization" not in host.received[0].headers
    line = gpu_line(attestation)
    assert line.outcome is Outcome.NOT_CHECKED and "did not check it" in line.reason
    assert attestation.asked["nvidia"] == (urlsplit(chat.nvidia).netloc,) and attestation.nvidia is None
    assert gpu_line(await chat.attest(nvidia=True)) == line  # now nobody listens there


async def test_r_tee_17_a_gateway_without_graphics_processors_is_no_reason_to_ask(chat: SealedHarness) -> None:
    attestation = await chat.attest("rialto-sealed-gateway", nvidia=True)
    assert "nvidia" not in attestation.asked and gpu_line(attestation).outcome is Outcome.NOT_CHECKED


async def test_r_tee_17_evidence_for_intels_root_is_not_accepted_with_another_issuers_answer(
    chat: SealedHarness,
) -> None:
    attestation = await chat.attest(nvidia=True)
    root = replace(attestation.verdict.root, is_intel=True)
    refused = replace(attestation.evidence(), root=root).verify()
    assert refused.failed is not None and "a different issuer" in refused.failed.reason


async def test_no_credentials_go_with_questions_about_enclaves(chat: SealedHarness) -> None:
    await chat.ask()
    await chat.receipt()
    about = [each.request for each in chat.at.exchanges if each.resource == "sealed"]
    assert len(about) >= 6 and not any(request.authenticated for request in about)


# Lies 1 to 19: the evidence is refused, and nothing is sent

REFUSED: tuple[tuple[int, str, dict[str, object], str], ...] = (
    (1, "other_nonce", {}, "nonce"),
    (2, "old_quote", {}, "report_data_nonce"),
    (3, "other_key", {}, "report_data_key"),
    (4, "other_address", {}, "signing_address"),
    (5, "other_model", {}, "model"),
    (6, "debug", {}, "debug"),
    (7, "flipped_byte", {"kind": "body"}, "quote_signature"),
    (7, "flipped_byte", {"kind": "signature"}, "quote_signature"),
    (7, "flipped_byte", {"kind": "qe"}, "qe_signature"),
    (8, "other_root", {}, "root"),
    (9, "firmware", {"kind": "out_of_date"}, "firmware"),
    (9, "firmware", {"kind": "revoked"}, "firmware"),
    (10, "lists_expired", {}, "firmware"),
    (10, "revoked", {}, "firmware"),
    (11, "quote_type", {"kind": "sgx"}, "tee_type"),
    (11, "quote_type", {"kind": "version"}, "version"),
    (12, "server_nonce", {}, "nonce_source"),
    (13, "two_keys", {}, "key"),
    (14, "report_data", {}, "report_data_zero"),
    (15, "event_log", {}, "event_log"),
    (16, "gpu", {"kind": "nonce"}, "gpu"),
    (18, "no_quote", {}, "quote"),
    (19, "claims", {}, "claims"),
)


@pytest.mark.parametrize(("number", "name", "values", "check"), REFUSED)
async def test_r_tee_03_to_r_tee_07_a_lie_about_the_enclave_is_refused_and_nothing_is_sent(
    chat: SealedHarness, number: int, name: str, values: dict[str, object], check: str
) -> None:
    chat.lie(name, **values)
    with pytest.raises(EvidenceRefused) as refused:
        await chat.ask()
    attestation = refused.value.attestation
    assert attestation is not None and attestation.verdict.failed is not None
    assert attestation.verdict.failed.id == check
    assert refused.value.message == attestation.verdict.failed.reason and refused.value.surely_not_sent
    assert refused.value.message.endswith(".") and refused.value.message.count(". ") <= 1
    assert CHAT not in calls_of(chat) and chat.session is None
    assert_nothing_leaked(chat)


async def test_r_tee_06_lists_that_have_expired_are_fetched_once_more(chat: SealedHarness) -> None:
    chat.lie("lists_expired", times=1)
    assert (await chat.attest()).verdict.is_full


async def test_r_tee_18_lie_16_no_evidence_of_a_graphics_processor_is_said(chat: SealedHarness) -> None:
    chat.lie("gpu", kind="empty")
    (line,) = (check for check in (await chat.attest()).verdict.checks if check.id == "gpu")
    assert line.outcome is Outcome.NOT_CHECKED and "no evidence" in line.reason


async def test_r_tee_08_lie_17_other_measurements_are_a_warning(chat: SealedHarness) -> None:
    first = dict((await chat.attest()).verdict.measurements)
    chat.lie("measurements")
    changed = (await chat.attest(known=first)).verdict
    assert not changed.refused and changed.checks[-1].id == "measurements_changed"
    assert "RTMR3, MRCONFIGID" in changed.checks[-1].reason


# Lies 20 to 26 and 28: the answer ends, and nothing of the broken piece is shown

BROKEN: tuple[tuple[int, str, dict[str, object], str, bool], ...] = (  # whether something good came before
    (20, "clear_first", {}, "clear", False),
    (21, "clear_middle", {}, "clear", True),
    (22, "clear_reasoning", {}, "clear", False),
    (23, "bad_chunk", {"kind": "cut"}, "damaged", True),
    (23, "bad_chunk", {"kind": "odd"}, "damaged", True),
    (23, "bad_chunk", {"kind": "other_key"}, "damaged", True),
    (25, "no_header", {}, "unsealed", False),
    (26, "plain_json", {}, "unsealed", False),
    (28, "stale_key", {"kind": "stream"}, "stale", True),
    (28, "stale_key", {"kind": "history"}, "history", False),
)


@pytest.mark.parametrize(("number", "name", "values", "reason", "began"), BROKEN)
async def test_r_tee_11_r_tee_12_and_r_tee_14_a_broken_seal_ends_the_answer(
    chat: SealedHarness, number: int, name: str, values: dict[str, object], reason: str, began: bool
) -> None:
    honest = await chat.ask()
    reasoning = chat.reasoning
    chat.lie(name, **values)
    with pytest.raises(SealBroken) as broken:
        await chat.ask()
    assert broken.value.reason == reason and broken.value.message.endswith(".")
    assert bool(chat.text) == began and honest.startswith(chat.text) and reasoning.startswith(chat.reasoning)
    assert len(chat.text) < len(honest) / 2
    for event in chat.seen["answer"].split("\n\n"):
        for piece in json.loads(event[6:]).get("choices", ()) if event.startswith("data: {") else ():
            for clear in (piece["delta"].get("content"), piece["delta"].get("reasoning_content")):
                if clear and len(clear) < 100:  # what came in the clear
                    assert not (chat.text + chat.reasoning).endswith(clear)
    assert chat.session is not None and chat.session.key.is_wiped
    assert calls_of(chat).count(CHAT) == 2, "one honest, one that broke: nothing was sent again"
    assert_nothing_leaked(chat)


async def test_r_tee_14_a_new_key_is_checked_before_anything_is_sent_to_it(chat: SealedHarness) -> None:
    chat.lie("stale_key", kind="stream", times=1)
    with pytest.raises(SealBroken):
        await chat.ask()
    assert "Esc" in await chat.ask()
    assert calls_of(chat).count("/api/v1/tee/attestation") == 2


async def test_r_tee_12_earlier_turns_that_are_refused_sealed_go_packed_and_still_sealed(chat: SealedHarness) -> None:
    chat.lie("stale_key", kind="history")
    with pytest.raises(SealBroken) as broken:
        await chat.ask()
    assert broken.value.reason == "history"
    assert await chat.ask(packed=True)
    roles = [message["role"] for message in json.loads(chat.seen["body"])["messages"]]
    assert roles == ["system", "user"] and chat.seen["clear"] == []
    assert_nothing_leaked(chat)


@pytest.mark.parametrize("kind", ["blank", "dropped"])
async def test_r_tee_15_lie_24_only_the_receipt_shows_a_lost_piece(chat: SealedHarness, kind: str) -> None:
    honest = await chat.ask()
    chat.lie("lost_chunk", kind=kind)
    assert len(await chat.ask()) < len(honest)
    assert (await chat.receipt()).outcome is ReceiptOutcome.SIGNED


@pytest.mark.parametrize(("kind", "outcome"), [("other_text", "signed"), ("other_key", "foreign")])
async def test_r_tee_15_lie_27_a_receipt_for_something_else_is_no_proof(
    chat: SealedHarness, kind: str, outcome: str
) -> None:
    await chat.ask()
    chat.lie("receipt", kind=kind)
    assert (await chat.receipt()).outcome == outcome


async def test_r_tee_15_only_the_receipt_shows_that_the_service_put_its_own_key_in_place_of_ours(
    chat: SealedHarness,
) -> None:
    """Nothing binds the client's key to the request: a limit of the mode, which SECURITY.md states."""
    chat.lie("resealed")
    assert "Esc" in await chat.ask()
    assert (await chat.receipt()).outcome is ReceiptOutcome.SIGNED


def test_every_lie_has_its_test() -> None:
    tested = {row[0] for row in REFUSED} | {row[0] for row in BROKEN} | {16, 17, 24, 27}
    assert tested == set(range(1, 29))


# What is not sent


FORBIDDEN: dict[str, ChatRequest] = {
    field: ChatRequest(MODEL, HISTORY, **values)
    for field, values in {
        "enable_web_search": {"parameters": ServiceParameters(enable_web_search="auto")},
        "enable_web_scraping": {"parameters": ServiceParameters(enable_web_scraping=True)},
        "enable_x_search": {"parameters": ServiceParameters(enable_x_search=True)},
        "character_slug": {"parameters": ServiceParameters(character_slug="ada")},
        "tools": {"tools": ({"type": "function"},)},
        "response_format": {"response_format": {"type": "json_object"}},
        "stop": {"stop": ("quince",)},
        "reasoning_effort": {"reasoning_effort": "low"},
        "extra": {"extra": {"note": "quince"}},
        "parameters": {"parameters": ServiceParameters(disable_thinking=True)},
    }.items()
}  # type: ignore[arg-type] # names of real fields
FORBIDDEN["model"] = ChatRequest(f"{MODEL}:enable_web_search=on", HISTORY)
FORBIDDEN["messages"] = ChatRequest(MODEL, (ChatMessage("user", (ContentPart.of_text("quince"),)),))


@pytest.mark.parametrize("field", FORBIDDEN)
async def test_r_tee_10_what_cannot_be_sealed_is_refused_with_its_reason(chat: SealedHarness, field: str) -> None:
    session = SealedSession(await chat.attest())
    request = FORBIDDEN[field]
    (forbidden,) = forbidden_in(request)
    assert forbidden.field == field and forbidden.reason.endswith(".")
    with pytest.raises(LimitExceeded) as refused:
        sealed_body(request, session.attestation.verdict.key, "service_parameters")
    assert refused.value.field == field
    if field != "model":
        with pytest.raises(LimitExceeded):
            chat.resource.stream(request, session)
    assert CHAT not in calls_of(chat)


async def test_r_tee_10_a_plain_question_has_nothing_that_forbids_sealing() -> None:
    assert forbidden_in(ChatRequest(MODEL, HISTORY, temperature=0.2, max_completion_tokens=10, seed=4)) == ()


async def test_r_tee_09_the_last_check_counts_every_clear_text(chat: SealedHarness) -> None:
    session = SealedSession(await chat.attest())
    body: dict[str, Any] = sealed_body(ChatRequest(MODEL, HISTORY), session.attestation.verdict.key, "x")
    assert clear_texts(body, "x") == 0
    for change in (
        {"messages": [{"role": "user", "content": "quince"}]},
        {"messages": [{**body["messages"][0], "reasoning_content": "quince"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "quince"}]}]},
        {"messages": ["quince"]},
        {"stop": ["quince"]},
        {"x": {"character_slug": "quince"}},
    ):
        assert clear_texts({**body, **change}, "x") > 0, change


async def test_r_tee_09_what_was_not_sealed_for_any_reason_is_not_sent(
    chat: SealedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SealedSession(await chat.attest())
    monkeypatch.setattr("app.service.sealed.body.seal", lambda text, key: text)
    with pytest.raises(LimitExceeded, match="4 of its texts were not sealed"):
        chat.resource.stream(ChatRequest(MODEL, HISTORY), session)
    assert_nothing_leaked(chat)


async def test_empty_turns_and_reasoning_of_earlier_answers_are_never_sent(chat: SealedHarness) -> None:
    thought = ChatMessage("assistant", "Quince.", {"reasoning_content": "pomegranate"})
    await chat.ask(ChatMessage("user", SECRETS[0]), thought, ChatMessage("assistant", ""), ChatMessage("user", "More"))
    sent = json.loads(chat.seen["body"])["messages"]
    assert [set(message) for message in sent] == [{"role", "content"}] * 4 and sent[2]["content"] == ""
    assert "pomegranate" not in chat.everything


# Sessions


async def test_r_tee_02_every_question_has_a_nonce_of_its_own_also_when_asked_again() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params["nonce"])
        return httpx.Response(502, json={"error": "The enclave is not reachable"})

    async with Watched(handler=answer) as watched:
        with pytest.raises(ServerFailed):
            await watched.service.sealed.attest("m")
    assert len(set(asked)) == len(asked) == 3 and all(len(bytes.fromhex(each)) == 32 for each in asked)
    assert TEE_PER_MINUTE == 10


async def test_r_tee_05_the_sandboxs_evidence_is_not_accepted_for_a_real_account(chat: SealedHarness) -> None:
    with pytest.raises(EvidenceRefused, match="Intel SGX Root CA"):
        await chat.resource.attest(MODEL)


async def test_a_session_is_bound_to_its_model_and_its_time(chat: SealedHarness) -> None:
    session = SealedSession(await chat.attest())
    host = chat.resource.host
    assert session.is_usable(MODEL, host, chat.now)
    assert not session.is_usable("another", host, chat.now)
    assert not session.is_usable(MODEL, "elsewhere", chat.now)
    assert not session.is_usable(MODEL, host, chat.now + timedelta(minutes=30))
    assert not session.is_usable(MODEL, host, chat.now - timedelta(seconds=1))
    session.wipe()
    assert not session.is_usable(MODEL, host, chat.now)
    with pytest.raises(LimitExceeded, match="checked again"):
        chat.resource.stream(ChatRequest(MODEL, HISTORY), session)


async def test_r_tee_16_no_record_and_no_text_of_a_session_holds_its_secret(chat: SealedHarness) -> None:
    from app.sealed.envelope import SecretKey

    secret = b"\x5a" * 32
    chat.session = SealedSession(await chat.attest(), SecretKey(secret))
    await chat.ask()
    assert secret.hex() not in chat.everything and secret.hex() not in repr(chat.session)
    assert repr(chat.session) == "SealedSession('rialto-sealed')"


async def test_a_model_that_cannot_be_sealed_says_so_and_is_not_asked_openly(chat: SealedHarness) -> None:
    with pytest.raises(SealBroken) as refused:
        await chat.ask(model="rialto-enclave")
    assert refused.value.reason == "refused" and calls_of(chat).count(CHAT) == 1
    assert_nothing_leaked(chat)


@pytest.mark.parametrize("fault", ["no_done", "cut"])
async def test_a_sealed_answer_without_its_end_is_incomplete(chat: SealedHarness, fault: str) -> None:
    chat.at.sandbox.fault(fault, after=700)
    with pytest.raises(StreamCut) as cut:
        await chat.ask()
    assert not isinstance(cut.value, SealBroken) and chat.text


def sealed_to(chat: SealedHarness, text: str) -> str:
    from app.sandbox.sealed.enclave import seal

    assert chat.session is not None
    return seal(text, chat.session.key.public)


@pytest.mark.parametrize(
    ("delta", "shown", "reason"),
    [
        (lambda s: {"content": s("Good")}, "Good", ""),
        (lambda s: {"content": s("Good"), "role": "assistant", "tool_calls": [{"id": "x"}]}, "Good", ""),
        (lambda s: {"content": " \n"}, " \n", ""),
        (lambda s: {"content": None, "refusal": s("No.")}, "No.", ""),
        (lambda s: {"content": s("Good").upper()}, "Good", ""),
        (lambda s: {"content": "Hello"}, "", "clear"),
        (lambda s: {"content": [{"type": "text", "text": "Hello"}]}, "", "clear"),
        (lambda s: {"content": 4}, "", "clear"),
        (lambda s: {"refusal": "No."}, "", "clear"),
        (lambda s: {"reasoning": "Hm"}, "", "clear"),
        (lambda s: {"content": "0x" + s("Good")}, "", "clear"),
        (lambda s: {"content": "ab" * 100}, "", "damaged"),
        (lambda s: {"content": s("Good") + "00"}, "", "damaged"),
    ],
)
async def test_r_tee_11_each_kind_of_piece_is_opened_or_ends_the_answer(
    chat: SealedHarness, delta: Callable[[Callable[[str], str]], dict[str, object]], shown: str, reason: str
) -> None:
    """One chunk at a time against a relay that says anything."""
    session = chat.session = SealedSession(await chat.attest())
    content = {"id": "c", "choices": [{"index": 0, "delta": delta(lambda text: sealed_to(chat, text))}]}
    finish = {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    body = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in (content, finish)) + b"data: [DONE]\n\n"

    def answer(request: httpx.Request) -> httpx.Response:
        head = {"content-type": "text/event-stream", "x-service-tee": "true"}
        return httpx.Response(200, content=body, headers=head)

    async with Watched(handler=answer) as watched:
        resource = SealedResource(watched.service.client, now=lambda: chat.now)
        attestation = replace(session.attestation, host=resource.host)
        chat.resource, chat.session = resource, SealedSession(attestation, session.key)
        if not reason:
            assert await chat.ask() == shown
        else:
            with pytest.raises(SealBroken) as broken:
                await chat.ask()
            assert (broken.value.reason, chat.text) == (reason, "")


async def test_a_burst_of_envelopes_never_holds_the_loop_for_all_of_them(chat: SealedHarness) -> None:
    """What comes in one read after a pause of the network is opened a few pieces at a time."""
    session = chat.session = SealedSession(await chat.attest())
    pieces = [
        {"id": "c", "choices": [{"index": 0, "delta": {"content": sealed_to(chat, f"{n} ")}}]} for n in range(500)
    ]
    pieces.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in pieces) + b"data: [DONE]\n\n"

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body, headers={"content-type": "text/event-stream", "x-service-tee": "true"})

    async with Watched(handler=answer) as watched:
        resource = SealedResource(watched.service.client, now=lambda: chat.now)
        session = SealedSession(replace(session.attestation, host=resource.host), session.key)
        opened: list[int] = []
        async with resource.stream(ChatRequest(MODEL, HISTORY), session) as stream:
            async for events in stream:
                opened.append(sum(len(event.text.split()) for event in events if isinstance(event, TextDelta)))
    assert sum(opened) == 500 and max(opened) <= OPENED_AT_ONCE
    assert stream.answer.received == hashlib.sha256(body).digest()


async def test_stopping_a_sealed_answer_closes_it(chat: SealedHarness) -> None:
    chat.session = SealedSession(await chat.attest())
    stream = chat.resource.stream(ChatRequest(MODEL, HISTORY), chat.session)
    async with stream:
        async for _ in stream:
            break
    await asyncio.sleep(0)
    assert stream.exchange.outcome == "stopped" and not chat.session.key.is_wiped
