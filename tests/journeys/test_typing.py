"""No key is ever lost, however fast: the real window over the real store, typed into without a pause."""

from __future__ import annotations

import asyncio
import ctypes
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.storage.form_drafts import FormDraftStore
from tests.journeys.conftest import settled
from tests.kit.waiting import until

Start = Callable[..., Any]
Pause = Callable[[], Awaitable[None]]


async def none() -> None:
    """All keys in one go: nothing of the program runs between two of them."""


async def breath() -> None:
    """The loop turns once between two keys."""
    await asyncio.sleep(0)


def _sleep_with_the_interpreter() -> None:
    """For as long as Python lets a thread compute that others wait for; a `PyDLL` does not release the interpreter."""
    if sys.platform == "win32":
        ctypes.PyDLL("kernel32").Sleep(round(sys.getswitchinterval() * 1e3))
    else:
        ctypes.PyDLL(None).usleep(round(sys.getswitchinterval() * 1e6))


@contextmanager
def load() -> Iterator[None]:
    """Threads that want the interpreter all the time, without using a processor that other tests need. Starts and ends
    of the program are without it: they would take three times as long, and tell nothing about keys."""
    ended = threading.Event()

    def hold() -> None:
        while not ended.is_set():
            _sleep_with_the_interpreter()

    threads = [threading.Thread(target=hold, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


async def type_into(field: QWidget, text: str, pause: Pause = none) -> None:
    for letter in text:
        QTest.keyClicks(field, letter)
        await pause()


def box(rialto: Any) -> QWidget:
    field = rialto.chat_page.main.composer.box
    assert isinstance(field, QWidget)
    return field


def written(rialto: Any) -> str:
    return str(rialto.chat_page.main.composer.text())


async def enter_sandbox(rialto: Any) -> None:
    rialto._begin(rialto.account_services.sandbox_account().id)
    await until(lambda: rialto.chat.head().can_send)


async def drafts(rialto: Any) -> dict[str, str]:
    """The drafts as they are on the disk, by chat, once the pause after the last key is over."""
    await settled(rialto)
    await until(lambda: not rialto.chat.drafts.timer.isActive())
    await settled(rialto)
    return {chat.id: chat.draft for chat in await rialto.chat._history.chats()}


@pytest.mark.parametrize("pause", [none, breath])
async def test_what_is_typed_at_once_into_a_new_chat_is_all_there(start: Start, pause: Pause) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        with load():
            for number in range(6):
                rialto.window.registry.run("chat.new")
                await type_into(box(rialto), f"question {number}", pause)
                assert written(rialto) == f"question {number}"
        assert sorted((await drafts(rialto)).values()) == [f"question {number}" for number in range(6)]
        assert written(rialto) == "question 5"
    async with start() as rialto:  # and after a restart
        await until(lambda: written(rialto) == "question 5")
        assert sorted((await drafts(rialto)).values()) == [f"question {number}" for number in range(6)]


@pytest.mark.parametrize("pause", [none, breath])
async def test_keys_typed_while_another_chat_opens_go_into_it_and_none_is_lost(start: Start, pause: Pause) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        for name in ("one ", "two "):
            rialto.window.registry.run("chat.new")
            await type_into(box(rialto), name)
        chats = {draft.strip(): chat_id for chat_id, draft in (await drafts(rialto)).items()}
        with load():
            for _ in range(4):
                for name, letters in (("one", "abc"), ("two", "xyz")):
                    rialto.chat_page.open_chat(chats[name])
                    await type_into(box(rialto), letters, pause)
                    await until(lambda name=name: rialto.chat.opened.chat_id == chats[name])
        found = await drafts(rialto)
        assert found == {chats["one"]: "one " + "abc" * 4, chats["two"]: "two " + "xyz" * 4}


async def test_a_walk_through_chats_with_no_pause_at_all_loses_nothing(start: Start) -> None:
    """New chats, other chats, another account, one into the trash and back: each letter ends up in some draft."""
    async with start() as rialto:
        await enter_sandbox(rialto)
        typed: Counter[str] = Counter()
        letters = iter("abcdefghijklmnopqrstuvwxyz" * 40)

        async def some() -> None:
            for _ in range(3):
                letter = next(letters)
                typed[letter] += 1
                await type_into(box(rialto), letter, breath)

        sandbox = rialto.account_services.sandbox_account().id
        with load():
            for turn in range(5):
                rialto.window.registry.run("chat.new")
                await some()
                ids = list(rialto.chat.library._chats)
                if ids:
                    rialto.chat_page.open_chat(ids[turn % len(ids)])
                await some()
                rialto.accounts.use(sandbox)
                await some()
                if turn == 3:
                    await until(lambda: rialto.chat.opened.chat_id is not None)
                    thrown = rialto.chat.opened.chat_id
                    rialto.chat.move_to_trash((thrown,))
                    await some()
                    await until(lambda thrown=thrown: rialto.chat.library.get(thrown) is None)
                    rialto.chat.trash.restore((thrown,))
                    await some()
        await settled(rialto)
        found = Counter("".join((await drafts(rialto)).values()))
        assert typed - found == Counter()  # a letter typed into a chat on its way to the trash may be in two


async def test_keys_typed_while_a_message_is_being_stored_stay_in_the_box(start: Start) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        await type_into(box(rialto), "How do I stop an answer?")
        rialto.chat_page.send(written(rialto))
        await type_into(box(rialto), "and then", breath)
        await until(lambda: any(row.role == "user" for row in rialto.chat_page.rows()))
        await until(lambda: written(rialto) == "and then")
        (user,) = (row for row in rialto.chat_page.rows() if row.role == "user")
        assert user.text == "How do I stop an answer?"
        assert "and then" in (await drafts(rialto)).values()


async def test_keys_typed_before_the_history_is_open_are_kept_new_chat_or_not(start: Start) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        await type_into(box(rialto), "from yesterday")

    def early(rialto: Any) -> None:
        loaded.enter_context(load())
        QTest.keyClicks(box(rialto), "first")
        rialto.window.registry.run("chat.new")
        QTest.keyClicks(box(rialto), "second")

    with ExitStack() as loaded:
        async with start(painted=early) as rialto:
            await type_into(box(rialto), " and more", breath)
            await settled(rialto)
            assert written(rialto) == "second and more"
            loaded.close()
            assert sorted((await drafts(rialto)).values()) == ["first", "from yesterday", "second and more"]


async def test_the_last_keys_before_the_window_closes_are_there_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        write = rialto.settings.file.save

        def slowly(data: bytes) -> None:
            time.sleep(0.3)
            write(data)

        monkeypatch.setattr(rialto.settings.file, "save", slowly)
        rialto.window.registry.run("chat.new")
        await type_into(box(rialto), "not even a pause")
    async with start() as rialto:
        await until(lambda: written(rialto) == "not even a pause")


FIELDS: dict[str, Callable[[Any], QWidget]] = {
    "speech": lambda page: page.main.editor,
    "images": lambda page: page.form.prompt,
    "video": lambda page: page.form.prompt,
}


@pytest.mark.parametrize("tab", FIELDS)
async def test_keys_typed_into_another_tab_before_the_disk_is_open_join_what_was_kept(start: Start, tab: str) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.window.show_tab(tab)
        await settled(rialto)
        await type_into(FIELDS[tab](rialto.window.tab(tab)), "kept before")
        await asyncio.sleep(0)

    def early(rialto: Any) -> None:
        loaded.enter_context(load())
        rialto.window.show_tab(tab)
        QTest.keyClicks(FIELDS[tab](rialto.window.tab(tab)), "typed")

    with ExitStack() as loaded:
        async with start(painted=early) as rialto:
            field = FIELDS[tab](rialto.window.tab(tab))
            for letter in " at once":
                QTest.keyClicks(field, letter)
                await breath()
            await settled(rialto)
            loaded.close()
            text = field.toPlainText()  # type: ignore[attr-defined]
            assert text.startswith("typed at once") and text.endswith("kept before"), text
    async with start() as rialto:
        rialto.window.show_tab(tab)
        await settled(rialto)
        assert FIELDS[tab](rialto.window.tab(tab)).toPlainText() == text  # type: ignore[attr-defined]


@pytest.mark.parametrize("pause_s", [0.0, 0.7])  # shorter and longer than the pause after which keys are saved
@pytest.mark.parametrize("tab", FIELDS)
async def test_keys_typed_while_a_tab_reads_what_it_kept_join_that_though_it_is_closed_at_once(
    start: Start, monkeypatch: pytest.MonkeyPatch, tab: str, pause_s: float
) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.window.show_tab(tab)
        await settled(rialto)
        await type_into(FIELDS[tab](rialto.window.tab(tab)), "kept before")
    read = FormDraftStore.read

    async def slowly(drafts: FormDraftStore) -> dict[str, Any]:
        await asyncio.sleep(1.0)
        return await read(drafts)

    with monkeypatch.context() as slow:
        slow.setattr(FormDraftStore, "read", slowly)
        async with start() as rialto:
            rialto.window.show_tab(tab)
            await until(lambda: rialto.tasks.running(f"open {tab}"))
            await type_into(FIELDS[tab](rialto.window.tab(tab)), "typed")
            await asyncio.sleep(pause_s)
    async with start() as rialto:
        rialto.window.show_tab(tab)
        await settled(rialto)
        text = FIELDS[tab](rialto.window.tab(tab)).toPlainText()  # type: ignore[attr-defined]
        assert text.startswith("typed") and text.endswith("kept before"), text


EDITORS: dict[str, Callable[[Any], QWidget]] = {
    "params": lambda request: request.params,
    "text": lambda request: request.text,
    "method": lambda request: request.method,
}
KEPT = '[{"jsonrpc": "2.0", "method": "eth_chainId"}, {"jsonrpc": "2.0", "method": "eth_gasPrice"}]'


async def typed_into_the_console(start: Start, editor: str, typed: str) -> tuple[list[str], str, str]:
    """Write a request; restart, and type into an editor at once. Return methods, parameters and text afterwards."""
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.window.show_tab("crypto_rpc")
        await settled(rialto)
        rialto.window.tab("crypto_rpc").presenter.paste(KEPT, replacing=True)

    def early(rialto: Any) -> None:
        loaded.enter_context(load())
        rialto.window.show_tab("crypto_rpc")
        page = rialto.window.tab("crypto_rpc")
        page.presenter.set_mode("json" if editor == "text" else "rows")
        field = EDITORS[editor](page.main.request)
        field.setFocus()
        field.selectAll()  # type: ignore[attr-defined]
        QTest.keyClicks(field, typed[:4])

    with ExitStack() as loaded:
        async with start(painted=early) as rialto:
            request = rialto.window.tab("crypto_rpc").main.request
            for letter in typed[4:]:
                QTest.keyClicks(EDITORS[editor](request), letter)
                await breath()
            await settled(rialto)
            loaded.close()
            if editor == "method":
                assert request.method.text() == typed
                QTest.keyClick(request.method, Qt.Key.Key_Return)
    async with start() as rialto:  # and all of it is on the disk
        rialto.window.show_tab("crypto_rpc")
        await settled(rialto)
        page = rialto.window.tab("crypto_rpc")
        methods = [row.method for row in page.presenter.draft.rows]
        return methods, page.main.request.params.toPlainText(), page.main.request.text.toPlainText()


async def test_parameters_typed_before_the_disk_is_open_join_the_request_that_was_kept(start: Start) -> None:
    methods, params, _ = await typed_into_the_console(start, "params", '["0xab", tr')
    assert methods == ["eth_blockNumber", "eth_chainId", "eth_gasPrice"]
    assert params == '["0xab", tr'  # half written over a restart as well


async def test_a_request_typed_as_json_before_the_disk_is_open_joins_the_one_that_was_kept(start: Start) -> None:
    _, _, text = await typed_into_the_console(start, "text", '{"method": "eth_syn')
    assert text.startswith('{"method": "eth_syn\n') and "eth_chainId" in text and "eth_gasPrice" in text


async def test_the_name_of_a_method_typed_before_the_disk_is_open_stays_in_its_field(start: Start) -> None:
    methods, _, _ = await typed_into_the_console(start, "method", "eth_syncing")
    assert methods == ["eth_syncing", "eth_chainId", "eth_gasPrice"]


async def test_a_change_of_account_takes_no_key_from_any_tab(start: Start) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        sandbox = rialto.account_services.sandbox_account().id
        for tab, field_of in FIELDS.items():
            rialto.window.show_tab(tab)
            await settled(rialto)
            field = field_of(rialto.window.tab(tab))
            for _ in range(3):
                rialto.accounts.use(sandbox)
                await type_into(field, "abc", breath)
            await settled(rialto)
            assert field.toPlainText() == "abc" * 3, tab  # type: ignore[attr-defined]
