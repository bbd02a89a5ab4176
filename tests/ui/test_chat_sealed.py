"""Sealed chats through the window: the four states of the lock, the 28 lies of a service, and what the seal forbids."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QWidget

from app.sandbox.server import RunningSandbox
from app.sealed.__main__ import NOT_INTEL, main
from app.storage.chat_rows import Chat
from app.ui.chat.seal_dialog import CheckLine, SealDialog
from app.ui.chat.session.chat_options import sealed_controls
from app.ui.chat.session.inspector_state import RequestView
from app.ui.chat.session.message_actions import USE_MODEL
from app.ui.chat.session.seal import SealStatus, lock_of
from app.ui.kit.theme import Theme
from tests.kit.chat import (
    ChatHarness,
    FakeService,
    SandboxChatHarness,
    dropped,
    model_body,
    open_chat,
    open_sandbox_chat,
    seal_sheet,
)
from tests.kit.sandbox import controls_of
from tests.kit.sealed import MODEL
from tests.kit.waiting import until
from tests.service.test_sealed import BROKEN, GPU_LIES, REFUSED

QUESTION = "How do I stop an answer, dear pomegranate?"
SECOND = "And how do I continue it, dear quince?"
CHAT = "/chat/completions"
ENCLAVE_ONLY, PLAIN = "rialto-enclave", "rialto-handbook"


@pytest.fixture
async def chat(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> AsyncIterator[SandboxChatHarness]:
    """A new chat with a model that can be sealed, and is not yet."""
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as shown:
        await shown.settle()
        yield shown


async def seal(chat: SandboxChatHarness) -> None:
    """Press the lock beside Send."""
    chat.composer.lock.click()
    await chat.settle()


async def lie(chat: SandboxChatHarness, name: str, **values: object) -> None:
    await chat.fault(f"sealed_{name}", **values)


def lock_words(chat: SandboxChatHarness | ChatHarness) -> str:
    """What the lock in the header says; the one beside Send says the same."""
    words: str = chat.header.lock.accessibleName()
    assert chat.composer.lock.accessibleName() == words
    return words


def failure(chat: SandboxChatHarness) -> tuple[str, tuple[str, ...]]:
    """What stands where the last answer would, and the buttons under it."""
    row = chat.rows[-1]
    if row.problem is None:
        return row.state_text, ()
    buttons = (row.problem.primary, row.problem.alternative)
    return row.problem.meaning, tuple(each.id for each in buttons if each is not None)


async def answered(chat: SandboxChatHarness) -> int:
    """How many chat requests reached the Sandbox."""
    return len(await controls_of(chat.sandbox).calls(CHAT))


async def seen(chat: SandboxChatHarness) -> dict[str, Any]:
    """What the relay saw of the last sealed request."""
    found: dict[str, Any] = await controls_of(chat.sandbox).send("/sealed/seen")
    return found


async def assert_nothing_leaked(chat: SandboxChatHarness, *words: str) -> None:
    """No word of the messages in anything that the Sandbox heard or logged."""
    controls = controls_of(chat.sandbox)
    log = (await controls.send("/log"))["data"]
    heard = repr([await controls.send(f"/log/{line['request_id']}") for line in log]) + repr(await seen(chat))
    for word in words or ("pomegranate", "quince"):
        assert word not in heard


def words_of(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


def receipt_words(chat: SandboxChatHarness) -> list[str]:
    return [run.text for run in chat.rows[-1].receipt]


# The honest way, and the four states


async def test_r_tee_09_a_sealed_chat_is_answered_and_its_words_are_nowhere_on_the_wire(
    chat: SandboxChatHarness,
) -> None:
    await seal(chat)
    for text in (QUESTION, SECOND):
        await chat.type(text)
        assert chat.rows[-1].state == "complete" and chat.rows[-1].text
    assert (await seen(chat))["clear"] == [] and await answered(chat) == 2
    assert chat.composer_text() == ""
    await assert_nothing_leaked(chat)
    words = receipt_words(chat)
    assert words[words.index("Sealed") + 1] == "receipt matches"


async def test_r_tee_09_a_projects_instructions_and_every_way_to_ask_again_go_sealed(chat: SandboxChatHarness) -> None:
    presenter = chat.presenter
    presenter.projects.create("House", ())
    await chat.settle()
    (project,) = (each.id for each in presenter.projects.all if each.name == "House")
    presenter.projects.change(project, instructions="Name the pomegranate.")
    await chat.settle()
    chat.page.new_chat(project)
    presenter.use_model(MODEL)
    await seal(chat)

    async def asked(*roles: str) -> None:
        await chat.settle()
        last = await seen(chat)
        assert [each["role"] for each in json.loads(last["body"])["messages"]] == ["system", *roles]
        assert last["clear"] == [] and chat.rows[-1].state == "complete" and chat.rows[-1].problem is None

    await chat.type(QUESTION)
    await asked("user")
    first = chat.rows[-1].id
    chat.act_on_row(first, "retry")
    await asked("user")
    chat.presenter.begin_edit(chat.rows[0].id)
    await chat.type(" Or else?")
    await asked("user")
    await lie(chat, "clear_middle", times=1)
    await chat.type(SECOND)
    assert chat.rows[-1].state == "interrupted" and chat.rows[-1].text
    chat.act_on_row(chat.rows[-1].id, "continue")
    await asked("user", "assistant", "user", "assistant", "user")
    chat.act_on_row(chat.rows[1].id, "branch")
    await chat.settle()
    assert presenter.opened.sealed and not presenter.is_private(presenter.opened.chat_id)
    await chat.type(SECOND)
    await asked("user", "assistant", "user")
    presenter.message_moves.put(chat.rows[0].id, "", move=False)
    await chat.settle()
    assert presenter.library is not None
    chats = presenter.library.recent("", 10)
    assert len(chats) >= 3 and all(each.options.get("sealed") is True for each in chats)
    await assert_nothing_leaked(chat, "pomegranate", "quince")


async def test_r_tee_09_and_r_tee_11_the_other_api_style_has_headers_of_its_own(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    controls = controls_of(swift_sandbox)
    await controls.send("/settings", "PUT", dialect="venice")
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL, "venice") as chat:
        await chat.settle()
        await seal(chat)
        await chat.type(QUESTION)
        assert chat.rows[-1].state == "complete" and lock_words(chat) == "Sealed"
        assert "receipt matches" in receipt_words(chat)
        request = (await controls.calls(CHAT))[-1]["request_id"]
        headers = dict((await controls.send(f"/log/{request}"))["request"]["headers"])
        assert {name for name in headers if "-tee-" in name} == {
            f"x-venice-tee-{name}" for name in ("client-pub-key", "model-pub-key", "signing-algo")
        }
        for name, began in (("no_header", False), ("clear_middle", True)):
            await controls.reset_faults()
            await lie(chat, name)
            await chat.type(SECOND)
            assert bool(chat.rows[-1].text) == began and lock_words(chat) == "Seal refused"
        assert (await seen(chat))["clear"] == []
        await assert_nothing_leaked(chat)


@pytest.mark.parametrize("kind", ["ordinary", "private", "sealed"])
async def test_of_a_line_with_a_slash_only_a_characters_name_is_searched_and_only_in_an_open_chat(
    chat: SandboxChatHarness, kind: str
) -> None:
    if kind == "sealed":
        await seal(chat)
    elif kind == "private":
        chat.presenter.drafts.timer.blockSignals(True)  # this history keeps no private chats
        chat.page.new_private_chat()
    await chat.type("/pomegranate", send=False)
    await chat.type("/quince is leaking", send=False)
    controls = controls_of(chat.sandbox)
    searches = await controls.calls("/characters")
    details = [await controls.send(f"/log/{line['request_id']}") for line in searches]
    assert [dict(each["query"])["search"] for each in details] == (["pomegranate"] if kind == "ordinary" else [])
    chat.presenter.set_draft("")


async def test_a_name_behind_a_slash_is_not_searched_when_the_lock_is_pressed_in_the_pause(
    chat: SandboxChatHarness,
) -> None:
    QTest.keyClicks(chat.message_box, "/pomegranate")
    await seal(chat)
    assert chat.presenter.opened.sealed
    await assert_nothing_leaked(chat)


@pytest.mark.parametrize("on", [True, False])
async def test_the_lock_pressed_while_the_chat_gets_its_row_is_in_the_row(
    chat: SandboxChatHarness, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    presenter, create = chat.presenter, chat.history.create_chat
    made, gate = asyncio.Event(), asyncio.Event()

    async def slow(**values: Any) -> Chat:
        row = await create(**values)
        made.set()
        await gate.wait()
        return row

    monkeypatch.setattr(chat.history, "create_chat", slow)
    presenter.set_draft("pomegranate")
    if on:
        presenter.do(presenter.drafts.keep)
        await made.wait()
    chat.composer.lock.click()  # which also makes the row
    if not on:
        await made.wait()
        chat.composer.lock.click()
    assert presenter.opened.chat_id is None
    gate.set()
    await chat.settle()
    assert presenter.opened.sealed == on and presenter.library is not None
    (row,) = presenter.library.recent("", 10)
    assert row.options.get("sealed", False) == on


async def test_a_chat_with_a_sealed_answer_opens_sealed_whatever_its_row_says(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(QUESTION)
    chat_id = chat.presenter.opened.chat_id
    assert chat_id is not None and chat.presenter.library is not None
    await chat.presenter.library.change(chat_id, options={})
    chat.presenter.new_chat()
    chat.page.open_chat(chat_id)
    await chat.settle()
    assert chat.presenter.opened.chat_id == chat_id and chat.presenter.opened.sealed


async def test_keys_that_an_account_left_behind_are_not_taken_by_the_next_one(
    chat: SandboxChatHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    presenter, service = chat.presenter, chat.presenter.current_account.service
    assert service is not None
    attest, checked, gate = service.sealed.attest, asyncio.Event(), asyncio.Event()

    async def slow(*args: Any, **values: Any) -> Any:
        attestation = await attest(*args, **values)
        checked.set()
        await gate.wait()
        return attestation

    monkeypatch.setattr(service.sealed, "attest", slow)
    chat.composer.lock.click()
    await checked.wait()
    presenter.seals.wipe_all()  # what another account does
    gate.set()
    await chat.settle()
    assert presenter.opened.sealed and presenter.seals.status(presenter.opened.chat_id) == SealStatus()


async def test_passages_are_not_looked_up_any_more_once_the_lock_is_pressed(chat: SandboxChatHarness) -> None:
    presenter, asked = chat.presenter, asyncio.Event()
    ended: list[str] = []

    async def finding() -> None:
        try:
            asked.set()
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    chat.tasks.start_unless_running("passages", finding)
    await asked.wait()
    await seal(chat)
    assert presenter.opened.sealed and ended == ["cancelled"]


@pytest.mark.parametrize("action", ["retry", "continue", f"{USE_MODEL}{ENCLAVE_ONLY}"])
async def test_nothing_is_asked_again_of_a_model_that_cannot_be_sealed(chat: SandboxChatHarness, action: str) -> None:
    await seal(chat)
    await chat.type(QUESTION)
    said: list[object] = []
    chat.presenter.notice.connect(said.append)
    if not action.startswith(USE_MODEL):
        chat.presenter.use_model(ENCLAVE_ONLY)
    chat.act_on_row(chat.rows[-1].id, action)
    await chat.settle()
    assert await answered(chat) == 1 and any("cannot be sealed" in str(each) for each in said)


async def test_the_lock_is_sealed_once_the_enclave_was_checked(chat: SandboxChatHarness) -> None:
    await seal(chat)
    assert lock_words(chat) == "Sealed" and chat.composer.lock.isChecked()
    assert "proves nothing about hardware" in chat.header.lock.toolTip()  # the Sandbox only plays an enclave
    real = lock_of(chat.presenter.opened.model, SealStatus(MODEL), is_on=True, has_character=False, in_sandbox=False)
    assert "encrypted for the model’s enclave" in real.detail and "only the enclave" not in real.detail.lower()


async def test_a_model_that_can_be_sealed_and_is_not_says_so_beside_send(chat: SandboxChatHarness) -> None:
    assert lock_words(chat) == "Enclave, not sealed" and chat.composer.lock.text() == "Enclave, not sealed"
    assert chat.composer.lock.isEnabled() and not chat.composer.lock.isChecked()
    assert "the service can read your messages on the way" in chat.composer.lock.toolTip()


@pytest.mark.parametrize(("model", "words"), [(ENCLAVE_ONLY, "Enclave, not sealed"), (PLAIN, "Not sealed")])
async def test_r_tee_01_a_model_that_cannot_be_sealed_cannot_be_switched_and_says_why(
    chat: SandboxChatHarness, model: str, words: str
) -> None:
    chat.presenter.use_model(model)
    assert lock_words(chat) == words
    assert not chat.composer.lock.isEnabled() and "cannot be sealed" in chat.composer.lock.toolTip()
    chat.presenter.seal_actions.set_sealed(True)
    assert not chat.presenter.opened.sealed


async def test_an_unsealed_chat_is_sent_as_ever(chat: SandboxChatHarness) -> None:
    await chat.type("Hello")
    assert chat.rows[-1].state == "complete" and (await seen(chat))["requests"] == 0
    assert not any(line["path"].startswith("/api/v1/tee") for line in await controls_of(chat.sandbox).calls(""))


async def test_the_seal_is_kept_with_the_chat_and_checked_again_after_a_restart(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await seal(chat)
        await chat.type(QUESTION)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as again:
        await again.settle()
        assert again.presenter.opened.sealed and lock_words(again) in ("Not sealed yet", "Sealed")
        assert "receipt matches" in receipt_words(again)
        await again.type(SECOND)
        assert again.rows[-1].state == "complete" and lock_words(again) == "Sealed"
        await assert_nothing_leaked(again)
        again.page.new_chat()
        assert not again.presenter.opened.sealed


async def test_no_preset_and_no_default_seals_or_unseals_a_chat(chat: SandboxChatHarness) -> None:
    await seal(chat)
    presets = chat.presenter.presets
    assert presets is not None
    presets.save("preset", "Mine")
    await chat.settle()
    row = next(row for row in presets.rows("preset") if row.name == "Mine")
    preset = presets.one(row.id)
    assert preset is not None and set(preset.body["options"]) == {"web_search"}
    chat.page.new_chat()
    presets.use(row.id)
    assert not chat.presenter.opened.sealed
    await chat.settle()


async def test_r_tee_13_a_chat_in_which_something_was_said_stays_what_it_is(chat: SandboxChatHarness) -> None:
    await chat.type("Hello, open world")
    open_chat_id = chat.presenter.opened.chat_id
    await chat.type(QUESTION, send=False)
    await seal(chat)
    assert chat.presenter.opened.sealed and chat.presenter.opened.chat_id != open_chat_id
    assert (chat.composer_text(), len(chat.rows), chat.presenter.opened.model_id) == (QUESTION, 0, MODEL)
    await chat.type("")
    sealed_id = chat.presenter.opened.chat_id
    assert chat.rows[-1].state == "complete" and (await seen(chat))["clear"] == []
    await seal(chat)
    assert not chat.presenter.opened.sealed and chat.presenter.opened.chat_id != sealed_id and not chat.rows
    chat.page.open_chat(sealed_id or "")
    await chat.settle()
    assert chat.presenter.opened.sealed
    await assert_nothing_leaked(chat)


async def test_r_tee_13_what_an_undo_brings_back_is_never_in_a_chat_of_the_other_kind(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(QUESTION)
    sealed_id = chat.presenter.opened.chat_id
    chat.presenter.message_actions.act(chat.rows[0].id, "delete")
    await chat.settle()
    assert not chat.rows
    await seal(chat)
    assert not chat.presenter.opened.sealed and chat.presenter.opened.chat_id != sealed_id
    assert chat.undo_stack.undo_last("chat")
    await chat.settle()
    await chat.type(SECOND)
    chat.page.open_chat(sealed_id or "")
    await chat.settle()
    assert chat.presenter.opened.sealed and chat.rows[0].text == QUESTION
    await assert_nothing_leaked(chat, "pomegranate")


async def test_r_tee_13_the_lock_takes_no_seal_from_what_is_being_sent(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(QUESTION, send=False)
    chat.presenter.send(QUESTION)
    chat.presenter.seal_actions.set_sealed(False)
    await chat.settle()
    assert not chat.presenter.opened.sealed and not chat.rows and chat.composer_text() == QUESTION
    assert await answered(chat) == 0
    await assert_nothing_leaked(chat)


async def test_a_sealed_chat_whose_model_cannot_be_sealed_is_not_sent_at_all(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(QUESTION, send=False)
    chat.presenter.use_model(PLAIN)
    await chat.type("")
    assert not chat.composer.send.isEnabled() and "cannot be sealed" in chat.composer.send.toolTip()
    assert lock_words(chat) == "Not sealed yet"  # what was checked is another model's enclave
    assert chat.composer_text() == QUESTION and await answered(chat) == 0
    chat.presenter.use_model("rialto-sealed-gateway")
    await chat.type("")
    assert chat.rows[-1].state == "complete" and lock_words(chat) == "Sealed"
    await assert_nothing_leaked(chat)


# Lies 1 to 19: the evidence is refused


@pytest.mark.parametrize(("number", "name", "values", "check"), REFUSED)
async def test_r_tee_03_to_r_tee_07_a_lie_about_the_enclave_is_refused_and_nothing_is_sent(
    chat: SandboxChatHarness, number: int, name: str, values: dict[str, object], check: str
) -> None:
    await lie(chat, name, **values)
    await seal(chat)
    await chat.type(QUESTION)
    failed = chat.presenter.seals.check_of(chat.presenter.opened.chat_id).attestation.verdict.failed
    assert failed.id == check
    assert lock_words(chat) == "Seal refused" and failed.reason in chat.header.lock.toolTip()
    sentence, buttons = failure(chat)
    assert sentence.startswith(failed.reason) and buttons == ("retry", "seal")
    assert chat.composer_text() == QUESTION and "is back here" in words_of(chat.page.main.editing)
    assert await answered(chat) == 0 and chat.presenter.opened.thread.all()[-1].cost_usd is None
    await assert_nothing_leaked(chat)


async def test_after_a_refusal_the_message_in_the_box_is_sent_once(chat: SandboxChatHarness) -> None:
    await lie(chat, "debug")
    await seal(chat)
    await chat.type(QUESTION)
    await controls_of(chat.sandbox).reset_faults()
    chat.act_on_row(chat.rows[-1].id, "retry")
    await chat.settle()
    assert chat.rows[-1].state == "complete" and chat.composer_text() == "" and len(chat.rows) == 2
    assert await answered(chat) == 1 and lock_words(chat) == "Sealed"


async def test_a_message_that_was_refused_is_changed_in_the_box_and_sent_from_there(chat: SandboxChatHarness) -> None:
    await lie(chat, "claims")
    await seal(chat)
    await chat.type(QUESTION)
    await controls_of(chat.sandbox).reset_faults()
    await chat.type(" Briefly.")
    assert [row.text for row in chat.rows if row.role == "user"] == [f"{QUESTION} Briefly."]
    assert chat.rows[-1].state == "complete" and chat.rows[0].places == 2


async def test_what_is_in_the_box_by_then_is_not_replaced(chat: SandboxChatHarness) -> None:
    await lie(chat, "debug")
    await seal(chat)
    await chat.type(QUESTION)
    chat.presenter.cancel_edit()
    await chat.type("Another thought", send=False)
    chat.act_on_row(chat.rows[-1].id, "retry")
    await chat.settle()
    assert chat.composer_text() == "Another thought" and chat.rows[0].text == QUESTION


async def test_lie_16_no_evidence_of_a_graphics_processor_is_no_refusal(chat: SandboxChatHarness) -> None:
    await lie(chat, "gpu", kind="empty")
    await seal(chat)
    await chat.type(QUESTION)
    assert lock_words(chat) == "Sealed" and chat.rows[-1].state == "complete"


@pytest.mark.parametrize(("kind", "words"), GPU_LIES)
async def test_r_tee_18_an_answer_of_nvidias_that_does_not_hold_refuses_the_enclave(
    chat: SandboxChatHarness, kind: str, words: str
) -> None:
    await lie(chat, "nvidia", kind=kind)
    await seal(chat)
    await chat.type(QUESTION)
    sentence, buttons = failure(chat)
    assert words in sentence and buttons == ("retry", "seal") and lock_words(chat) == "Seal refused"
    assert chat.composer_text() == QUESTION and await answered(chat) == 0
    await assert_nothing_leaked(chat)


async def test_r_tee_08_lie_17_another_program_in_the_enclave_is_asked_about(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await seal(chat)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await lie(chat, "measurements")
        await seal(chat)
        await chat.type(QUESTION)
        sentence, buttons = failure(chat)
        assert "RTMR3, MRCONFIGID" in sentence and buttons == ("accept-enclave", "seal")
        assert await answered(chat) == 0 and chat.composer_text() == QUESTION
        assert lock_words(chat) == "Seal refused"
        chat.act_on_row(chat.rows[-1].id, "accept-enclave")
        await chat.settle()
        assert chat.rows[-1].state == "complete" and lock_words(chat) == "Sealed" and chat.composer_text() == ""
        await assert_nothing_leaked(chat)


# Lies 20 to 28: the answer ends


@pytest.mark.parametrize(("number", "name", "values", "reason", "began"), BROKEN)
async def test_r_tee_11_r_tee_12_and_r_tee_14_a_broken_seal_ends_the_answer(
    chat: SandboxChatHarness, number: int, name: str, values: dict[str, object], reason: str, began: bool
) -> None:
    await seal(chat)
    await chat.type(SECOND)
    honest = chat.rows[-1].text
    await lie(chat, name, **values)
    await chat.type(QUESTION)
    row = chat.rows[-1]
    assert bool(row.text) == began
    assert row.state == ("interrupted" if row.text or row.reasoning else "failed")
    assert len(row.text) < len(honest) / 2
    sentence, buttons = failure(chat)
    refusal = chat.presenter.seals.check_of(chat.presenter.opened.chat_id).refusal
    assert refusal and sentence.startswith(refusal) and lock_words(chat) == "Seal refused"
    assert refusal in chat.header.lock.toolTip()
    offered = "send-packed" if reason == "history" else "retry"
    assert buttons == ((offered, "seal") if row.state == "failed" else ())
    assert ("Seal broken" in receipt_words(chat)) == bool(receipt_words(chat)) and "Sealed" not in receipt_words(chat)
    assert chat.composer_text() == QUESTION
    assert await answered(chat) == 2, "one honest, one that broke: nothing was sent again"
    assert (await seen(chat))["clear"] == []
    await assert_nothing_leaked(chat)
    for text in clear_pieces((await seen(chat))["answer"]):
        assert not row.text.endswith(text) and not row.reasoning.endswith(text)


def clear_pieces(answer: str) -> list[str]:
    """The texts of an answer that came in the clear."""
    found = []
    for event in answer.split("\n\n"):
        for piece in json.loads(event[6:]).get("choices", ()) if event.startswith("data: {") else ():
            found += [piece["delta"].get(name) or "" for name in ("content", "reasoning_content")]
    return [text for text in found if text and len(text) < 100]


async def test_r_tee_15_what_follows_a_broken_seal_does_not_mend_it(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await lie(chat, "clear_middle", times=1)
    await chat.type(QUESTION)
    assert chat.rows[-1].state == "interrupted" and chat.composer_text() == QUESTION
    chat.act_on_row(chat.rows[-1].id, "continue")
    await chat.settle()
    assert chat.rows[-1].state == "complete"
    assert "Seal broken" in receipt_words(chat) and "receipt matches" not in receipt_words(chat)
    assert chat.composer_text() == "", "it would be asked and paid once more"


async def test_r_tee_15_the_receipt_of_a_second_call_is_not_taken_for_that_of_a_whole_answer(
    chat: SandboxChatHarness,
) -> None:
    await seal(chat)
    assert chat.presenter.conversation is not None
    stopping = chat.presenter.conversation.text_arrived.connect(lambda *_: chat.presenter.stop())
    await chat.type(QUESTION)
    assert chat.rows[-1].state == "stopped" and "Sealed" in receipt_words(chat)
    chat.presenter.conversation.text_arrived.disconnect(stopping)
    chat.act_on_row(chat.rows[-1].id, "continue")
    await chat.settle()
    assert chat.rows[-1].state == "complete" and "Sealed" in receipt_words(chat)
    assert not any("receipt" in words for words in receipt_words(chat))


async def test_r_tee_14_a_new_key_is_checked_before_the_message_is_sent_again(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await lie(chat, "stale_key", kind="stream", times=1)
    await chat.type(QUESTION)
    assert lock_words(chat) == "Seal refused"
    chat.act_on_row(chat.rows[-1].id, "retry")
    await chat.settle()
    assert chat.rows[-1].state == "complete" and lock_words(chat) == "Sealed"
    assert len(await controls_of(chat.sandbox).calls("/tee/attestation")) == 2


async def test_r_tee_12_earlier_turns_that_are_refused_go_in_one_message_when_the_person_says_so(
    chat: SandboxChatHarness,
) -> None:
    await seal(chat)
    await chat.type(SECOND)
    await lie(chat, "stale_key", kind="history")
    await chat.type(QUESTION)
    chat.act_on_row(chat.rows[-1].id, "send-packed")
    await chat.settle()
    assert chat.rows[-1].state == "complete" and chat.composer_text() == ""
    assert (await seen(chat))["clear"] == [] and '"assistant"' not in (await seen(chat))["body"]
    await assert_nothing_leaked(chat)


@pytest.mark.parametrize("kind", ["blank", "dropped"])
async def test_r_tee_15_lie_24_a_lost_piece_shows_in_the_receipt(chat: SandboxChatHarness, kind: str) -> None:
    await seal(chat)
    await lie(chat, "lost_chunk", kind=kind)
    await chat.type(QUESTION)
    assert "signed by the enclave, not comparable" in receipt_words(chat)


async def test_r_tee_15_a_service_that_put_its_own_key_in_place_of_ours_shows_in_the_receipt(
    chat: SandboxChatHarness,
) -> None:
    await seal(chat)
    await lie(chat, "resealed")
    await chat.type(QUESTION)
    assert chat.rows[-1].state == "complete" and "signed by the enclave, not comparable" in receipt_words(chat)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("other_text", "signed by the enclave, not comparable"), ("other_key", "receipt signed by another key")],
)
async def test_r_tee_15_lie_27_a_receipt_for_something_else_is_not_taken_for_one(
    chat: SandboxChatHarness, kind: str, words: str
) -> None:
    await seal(chat)
    await lie(chat, "receipt", kind=kind)
    await chat.type(QUESTION)
    assert words in receipt_words(chat) and "receipt matches" not in receipt_words(chat)


def test_every_lie_has_its_test_through_the_window() -> None:
    assert {row[0] for row in REFUSED} | {row[0] for row in BROKEN} | {16, 17, 24, 27} == set(range(1, 29))


# What was checked


def said(sheet: SealDialog) -> str:
    """Every text of the sheet, with what a screen reader hears."""
    texts = [label.text() for label in sheet.findChildren(QLabel)]
    return "\n".join((*texts, *(each.accessibleName() for each in sheet.findChildren(QWidget))))


async def test_the_sheet_shows_each_check_with_its_value_and_what_was_not_checked(chat: SandboxChatHarness) -> None:
    await seal(chat)
    sheet = await seal_sheet(chat)
    verdict = chat.presenter.seals.check_of(chat.presenter.opened.chat_id).attestation.verdict
    text = said(sheet)
    for check in verdict.checks:
        assert check.title in text and check.value in text and check.reason in text, check
    assert "Note: Graphics processor" in text and "nothing proves that the enclave uses it" in text
    assert "Passed: Model key" in text and verdict.key.hex() in text
    for name, value in verdict.measurements.items():
        assert name.upper() in text and value in text
    assert "First seen" in text and "not at Intel" in text
    assert f"127.0.0.1:{chat.sandbox.base_url.split(':')[2].split('/')[0]}" in text
    assert "no check can prove that" in text
    lines = sheet.findChildren(CheckLine)
    for check in verdict.checks:
        names = [line.accessibleName() for line in lines if check.title in line.accessibleName()]
        assert any(check.value in name and check.reason in name for name in names), check
    lines[0].setFocus()
    for line in lines[1:]:
        was = QApplication.focusWidget()
        QTest.keyClick(was, Qt.Key.Key_Down)
        if line.parentWidget() is was.parentWidget():
            assert line.hasFocus() and not line.visibleRegion().isEmpty(), "read one by one, each scrolled to"
    sheet.accept()
    await chat.settle()


async def test_the_sheet_names_the_check_that_refused_the_enclave(chat: SandboxChatHarness) -> None:
    await lie(chat, "debug")
    await seal(chat)
    sheet = await seal_sheet(chat)
    failed = chat.presenter.seals.check_of(chat.presenter.opened.chat_id).attestation.verdict.failed
    assert f"Failed: {failed.title}" in said(sheet) and failed.reason in said(sheet)
    await controls_of(chat.sandbox).reset_faults()
    sheet.check.click()
    await until(lambda: "Passed: Model key" in said(sheet))
    assert "Failed" not in said(sheet) and lock_words(chat) == "Sealed"
    sheet.accept()
    await chat.settle()


async def test_the_sheet_names_what_broke_the_seal_of_an_answer(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await lie(chat, "clear_first")
    await chat.type(QUESTION)
    sheet = await seal_sheet(chat)
    assert "Failed: Last answer" in said(sheet) and "came in the clear" in said(sheet)
    sheet.accept()
    await chat.settle()


async def test_r_tee_08_the_sheet_shows_what_changed_since_first_seen(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await seal(chat)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await lie(chat, "measurements")
        await seal(chat)
        sheet = await seal_sheet(chat)
        assert "MRCONFIGID, first seen" in said(sheet) and "RTMR3, first seen" in said(sheet)
        assert "RTMR0, first seen" not in said(sheet)
        sheet.accept()
        await chat.settle()


@pytest.mark.parametrize(("model", "sentence"), [(MODEL, "can be sealed"), (PLAIN, "The service can read this chat")])
async def test_the_sheet_of_a_chat_without_a_seal_says_that_nothing_was_checked(
    chat: SandboxChatHarness, model: str, sentence: str
) -> None:
    chat.presenter.use_model(model)
    sheet = await seal_sheet(chat)
    assert sentence in said(sheet) and "Nothing was checked." in said(sheet)
    assert not sheet.save.isEnabled() and not sheet.check.isVisible()
    sheet.accept()
    await chat.settle()


async def test_saved_evidence_is_accepted_by_the_command_also_after_a_restart(
    theme: Theme, tmp_home: Path, tmp_path: Path, swift_sandbox: RunningSandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        await seal(chat)
        await chat.type(QUESTION)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as chat:
        await chat.settle()
        chat.presenter.seals.wipe_all()
        sheet = await seal_sheet(chat)
        sheet.checks.setCurrentIndex(sheet.checks.count() - 1)  # the session of the answer
        sheet.save.click()
        await until(lambda: bool(chat.canvas.findChildren(QFileDialog)))
        file = tmp_path / "evidence.json"
        (dialog,) = chat.canvas.findChildren(QFileDialog)
        assert dialog.selectedFiles()[0].endswith(" evidence.json")
        dialog.fileSelected.emit(str(file))
        await until(file.exists)
        assert main(["verify", str(file)]) == NOT_INTEL
        told = capsys.readouterr().out
        assert "The receipt matches what was sent and received." in told and "not at Intel" in told
        assert "pomegranate" not in file.read_text()
        dialog.reject()
        sheet.accept()
        await chat.settle()


@pytest.mark.parametrize("name", ["intel", "nvidia"])
async def test_r_tee_17_other_hosts_are_asked_once_the_person_says_so(chat: SandboxChatHarness, name: str) -> None:
    await seal(chat)
    sheet = await seal_sheet(chat)
    service = chat.presenter.current_account.service
    assert service is not None
    asked: list[object] = []
    attest = service.sealed.attest

    async def noted(model: str, **given: Any) -> Any:
        asked.append(model)
        return await attest(model, **given)

    service.sealed.attest = noted  # type: ignore[method-assign]
    switch = getattr(sheet, name)
    assert not switch.isChecked() and chat.presenter.seal_actions.asks == (False, False)
    switch.click()
    await until(lambda: asked == [MODEL])
    assert chat.presenter.seal_actions.asks == (name == "intel", name == "nvidia")
    switch.click()
    await until(lambda: asked == [MODEL, MODEL])
    assert chat.presenter.seal_actions.asks == (False, False)
    sheet.accept()
    await chat.settle()


# The Request page


async def shown_request(chat: SandboxChatHarness) -> RequestView:
    """The Request page of the newest answer."""
    views: list[RequestView] = []
    conversation = chat.presenter.conversation
    assert conversation is not None
    conversation.request_changed.connect(views.append)
    chat.page.open_request()
    await chat.settle()
    return views[-1]


async def test_the_request_page_shows_what_was_written_beside_what_the_service_saw(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, MODEL) as chat:
        await chat.settle()
        chat.presenter.set_option("system_prompt", "You are terse.")
        await seal(chat)
        await chat.type(SECOND)
        first = chat.rows[-1].text
        await chat.type(QUESTION)
        view = await shown_request(chat)
        sent = json.loads((await seen(chat))["body"])["messages"]
        assert [(turn.role, turn.written) for turn in view.sealed] == [
            ("system", "You are terse."),
            ("user", SECOND),
            ("assistant", first),
            ("user", QUESTION),
        ]
        for turn, envelope in zip(view.sealed, sent, strict=True):
            assert turn.seen.partition("…")[0] == envelope["content"][:96]
        texts = [label.text() for label in chat.request_pane.findChildren(QLabel)]
        assert QUESTION in texts and view.sealed[-1].seen in texts
        assert view.record is not None and "pomegranate" not in repr(view.record)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as again:
        await again.settle()
        assert (await shown_request(again)).sealed == view.sealed


async def test_an_open_request_has_nothing_side_by_side(chat: SandboxChatHarness) -> None:
    await chat.type("Hello")
    assert (await shown_request(chat)).sealed == ()


async def test_turns_that_went_in_one_message_stand_beside_it(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(SECOND)
    await lie(chat, "stale_key", kind="history")
    await chat.type(QUESTION)
    chat.act_on_row(chat.rows[-1].id, "send-packed")
    await chat.settle()
    (turn,) = (await shown_request(chat)).sealed
    assert turn.role == "user" and SECOND in turn.written and turn.written.endswith(QUESTION)


# What the seal forbids


async def test_r_tee_10_what_the_seal_forbids_is_off_in_the_open_and_comes_back(chat: SandboxChatHarness) -> None:
    presenter = chat.presenter
    chat.side.show_page(0)
    chat.side.complete()
    for name, value in (("web_search", "on"), ("read_links", True), ("stop", ("END",)), ("extra_json", "{}")):
        presenter.set_option(name, value)
    presenter.set_option("system_prompt", "You are terse.")
    await seal(chat)
    composer, parameters = chat.composer, chat.parameters
    assert composer.web.current == "off" and not composer.web.isEnabled()
    for control in (composer.web, composer.citations, composer.thinking, composer.links, composer.attach):
        assert not control.isEnabled() and "sealed" in control.toolTip(), control
    more = parameters.more
    for control in (
        parameters.web,
        parameters.structure,
        parameters.service_prompt,
        more.stop,
        more.extra.box,
        more.cache,
    ):
        assert not control.isEnabled() and "sealed" in control.accessibleDescription(), control
    await chat.type(QUESTION)
    assert chat.rows[-1].state == "complete" and (await seen(chat))["clear"] == []
    assert [each["role"] for each in json.loads((await seen(chat))["body"])["messages"]] == ["system", "user"]
    presenter.new_chat()
    assert composer.attach.isEnabled() and composer.attach.toolTip().startswith("Attach files")


def test_r_tee_10_a_control_that_is_new_is_off_in_a_sealed_chat_as_well() -> None:
    """Looking up documents, for one, would send the question to a model that embeds it."""
    assert [control for control in sealed_controls() if control.usable or not control.why] == []


async def test_r_tee_10_nothing_is_attached_compared_or_read_aloud(chat: SandboxChatHarness, tmp_path: Path) -> None:
    await seal(chat)
    file = tmp_path / "note.txt"
    file.write_text("pomegranate")
    told: list[object] = []
    chat.page.toast_requested.connect(told.append)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    dropped(chat.canvas, mime)
    await chat.settle()
    assert not chat.presenter.opened.attachments and "Paste text into the message instead" in str(told)
    await chat.type(QUESTION)
    row = chat.row(chat.rows[-1].id)
    assert row.no_speech and "sent in the clear" in row.no_speech
    enabled = {action.id: action.enabled() for action in chat.page.actions()}
    for name in ("attach", "compare", "structure", "speak", "web"):
        assert not enabled[f"chat.{name}"], name
    chat.presenter.compare("hello", (MODEL, PLAIN))
    await chat.settle()
    assert await answered(chat) == 1 and "each model needs its own seal" in str(told)


async def test_r_tee_10_a_character_begins_a_chat_of_its_own(chat: SandboxChatHarness) -> None:
    from app.ui.chat.state import CharacterHead

    await seal(chat)
    chat.presenter.use_character(CharacterHead("ada", "Ada"))
    assert not chat.presenter.opened.sealed and chat.presenter.opened.character is not None
    chat.presenter.use_model(MODEL)
    assert not chat.composer.lock.isEnabled() and "Remove the character" in chat.composer.lock.toolTip()
    await chat.settle()


async def test_a_screen_reader_hears_each_change_of_the_lock(chat: SandboxChatHarness, heard: list[str]) -> None:
    await seal(chat)
    assert "Sealed" in heard
    await lie(chat, "debug")
    chat.presenter.seal_actions.recheck()
    await chat.settle()
    assert any(said.startswith("Seal refused. The enclave runs in debug mode") for said in heard)


async def test_a_copy_of_a_sealed_chat_is_sealed(chat: SandboxChatHarness) -> None:
    await seal(chat)
    await chat.type(QUESTION)
    first = chat.presenter.opened.chat_id
    chat.presenter.duplicate(first or "")
    await chat.settle()
    assert chat.presenter.opened.chat_id != first and chat.presenter.opened.sealed
    await chat.type(SECOND)
    assert chat.rows[-1].state == "complete"
    await assert_nothing_leaked(chat)


# Keys


async def test_another_model_chosen_while_an_answer_comes_does_not_break_its_seal(chat: SandboxChatHarness) -> None:
    await seal(chat)
    session = chat.presenter.seals.check_of(chat.presenter.opened.chat_id)
    chat.presenter.send(QUESTION)
    await until(lambda: chat.presenter.head().writing)
    chat.presenter.use_model("rialto-sealed-gateway")
    await chat.settle()
    assert chat.rows[-1].state == "complete" and session.attestation is not None
    await chat.type(SECOND)
    assert chat.rows[-1].state == "complete"
    await assert_nothing_leaked(chat)


async def test_r_tee_16_keys_are_wiped_when_the_chat_goes_and_when_the_account_changes(
    chat: SandboxChatHarness,
) -> None:
    await seal(chat)
    chat_id = chat.presenter.opened.chat_id
    assert chat.presenter.seals.status(chat_id).checked_model
    chat.presenter.current_account.account_changed.emit()
    assert not chat.presenter.seals.status(chat_id).checked_model and lock_words(chat) == "Not sealed yet"
    await chat.type(QUESTION)
    assert chat.presenter.seals.status(chat_id).checked_model
    chat.page.trash()
    await chat.settle()
    assert not chat.presenter.seals.status(chat_id).checked_model


async def test_r_tee_16_keys_that_an_answer_comes_under_are_wiped_when_it_has_ended(chat: SandboxChatHarness) -> None:
    await seal(chat)
    sessions, chat_id = await chat.presenter.seals.sessions(), chat.presenter.opened.chat_id or ""
    key = sessions.held(chat_id).key
    conversation, wiped = chat.presenter.conversation, []
    assert conversation is not None

    def other_account(*_: str) -> None:
        if not wiped:
            chat.presenter.current_account.account_changed.emit()
            wiped.append(key.is_wiped)

    conversation.text_arrived.connect(other_account)
    await chat.type(QUESTION)
    assert chat.rows[-1].state == "complete" and "Sealed" in receipt_words(chat)
    assert wiped == [False] and key.is_wiped
    assert lock_words(chat) == "Not sealed yet"


async def test_where_nothing_can_seal_a_chat_it_is_refused_and_not_sent(theme: Theme, tmp_home: Path) -> None:
    sealable = {"supportsTeeAttestation": True, "supportsE2EE": True}
    fake = FakeService(models=[model_body(capabilities=sealable)])
    async with open_chat(theme, tmp_home, fake=fake) as chat:
        chat.composer.lock.click()
        await chat.settle()
        await chat.say(QUESTION)
        assert fake.requests == [] and chat.composer_text() == QUESTION
