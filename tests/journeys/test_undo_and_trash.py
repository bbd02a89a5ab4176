"""Every list of every tab: Delete, Ctrl+Z, the palette's Undo, the notice, the trash, restored from and emptied."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from app.bootstrap.rialto import Rialto
from app.storage.chat_store import ChatStore
from app.storage.clips import ClipStore
from app.storage.database import Database
from app.storage.images import Images
from app.storage.paths import Paths
from app.storage.rpc_calls import RpcCalls
from app.storage.transcripts import Transcripts
from app.storage.video_jobs import VideoJobs
from app.storage.voices import Voices
from app.ui.crypto_rpc.call_rows import CollectionKey
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.widgets.dialogs import Dialog
from tests.journeys.conftest import settled
from tests.journeys.keyboard import Keyboard
from tests.journeys.paying_tabs import images, video
from tests.journeys.talk import in_the_sandbox
from tests.journeys.test_refusing_disk import READ_ONLY, allow, notices, refuse
from tests.kit.waiting import until
from tests.read_only import read_only, vanished

COLLECTION = {
    "format": "rialto-collection",
    "version": 1,
    "name": "Team",
    "variables": {},
    "requests": [{"name": "Gas", "network": "ethereum-mainnet", "items": [{"method": "eth_gasPrice"}]}],
}


async def fill(home: Path) -> None:
    """Put two rows into every list, as an earlier run left them; the last of each is the one that is deleted."""
    paths = Paths.below(home)
    paths.make()
    folder = paths.data / "collections"
    folder.mkdir(parents=True)
    (folder / "team.json").write_text(json.dumps(COLLECTION))
    database = await Database.open(paths.database, backups=paths.backups)
    now = datetime.now(UTC)
    images = Images(database)
    for number in (1, 2):
        await ChatStore(database).create_chat(title=f"Chat {number}")
        await ClipStore(database).add(
            text="A line.",
            title=f"Clip {number}",
            account_id="box",
            model="tts-kokoro",
            voice="bf_emma",
            voice_name="Emma",
            format="mp3",
            options={},
            spans=[(0, 7)],
        )
        await Transcripts(database).add(title=f"Talk {number}", origin="file", sound_path="/a", state="recorded")
        image = images.planned("generate", f"call {number}", now, title=f"Image {number}", state="failed")
        await images.add([image])
        job = await VideoJobs(database).add(
            account_id="box",
            model="m",
            model_name="M",
            prompt=f"Film {number}",
            form={},
            file="",
            quote_usd=None,
            clean_after=False,
            charged=False,
        )
        await VideoJobs(database).change(job.id, state="cancelled")
        call = await RpcCalls(database).begin(
            "box", "ethereum-mainnet", '[{"method": "eth_chainId", "params": []}]', at=now, digest=str(number)
        )
        await RpcCalls(database).failed(call.id, "Not sent", status=None)
    await database.close()


@dataclass(frozen=True)
class List:
    """One list: `view` of a page, the keys in it, and what the trash of its tab holds."""

    tab: str
    view: Callable[[Any], QAbstractItemView]
    keys: Callable[[Any], list[Any]]

    def trashed(self, page: Any) -> list[Any]:
        if self.tab == "images":
            return list(page.presenter.library.trashed)
        if self.tab == "video":
            return [job.id for job in page.presenter.job_store.trash()]
        return [entry.id for entry in page.presenter.trash.entries]


def rows_of(page: Any, kind: type = str) -> list[Any]:
    view: GroupedView = page.list.view
    return [key for key in view.rows.shown_keys() if isinstance(key, kind)]


LISTS = {
    "chats": List("chat", lambda page: page.list.view, rows_of),
    "clips": List("speech", lambda page: page.list.view, rows_of),
    "transcripts": List("transcription", lambda page: page.list.view, rows_of),
    "calls": List("crypto_rpc", lambda page: page.list.view, rows_of),
    "collections": List("crypto_rpc", lambda page: page.list.view, lambda page: rows_of(page, CollectionKey)),
    "images": List(
        "images", lambda page: page.gallery.view, lambda page: [tile.id for tile in page.gallery_state.tiles]
    ),
    "videos": List("video", lambda page: page.main.view, lambda page: page.main.view.rows.shown_keys()),
}


def go_to(one: List, page: Any, key: Any) -> None:
    view = one.view(page)
    if not view.isVisible():
        view.window().toggle_list()  # it is folded in a narrow window
    view.setFocus()
    if one.tab == "images":
        page.gallery.select(key)
    else:
        assert isinstance(view, GroupedView)
        view.show_current(key)
    assert view.hasFocus()


async def test_what_is_deleted_in_any_list_is_undone_restored_and_deleted_for_good(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        for name, one in LISTS.items():
            rialto.window.show_tab(one.tab)
            page = rialto.window.tab(one.tab)
            await until(lambda one=one, page=page: one.keys(page))  # type: ignore[misc]  # those of this turn
            await walk(rialto, hands, name, one, page)


def menu_at(view: QAbstractItemView, reason: QContextMenuEvent.Reason) -> dict[str, tuple[str, bool]]:
    """The menu of the current row, by mouse or by key: its entries, with their keys and whether they have a sign."""
    at = view.visualRect(view.currentIndex()).center()
    QApplication.sendEvent(view.viewport(), QContextMenuEvent(reason, at, view.viewport().mapToGlobal(at)))
    (menu,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible()]
    found = {each.text(): (each.shortcut().toString(), not each.icon().isNull()) for each in menu.actions()}
    menu.close()
    return {words: entry for words, entry in found.items() if words}


async def test_a_row_of_any_list_has_one_menu_and_several_have_what_applies_to_all(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        for name, one in LISTS.items():
            rialto.window.show_tab(one.tab)
            page = rialto.window.tab(one.tab)
            await until(lambda one=one, page=page: one.keys(page))  # type: ignore[misc]  # those of this turn
            await settled(rialto)
            await hands.begin()
            go_to(one, page, one.keys(page)[-1])
            await settled(rialto)
            by_mouse = menu_at(one.view(page), QContextMenuEvent.Reason.Mouse)
            assert menu_at(one.view(page), QContextMenuEvent.Reason.Keyboard) == by_mouse, name
            assert [words for words, (_, has_sign) in by_mouse.items() if not has_sign] == [], name
            assert list(by_mouse.items())[-1] == ("Move to trash", ("Del", True)), name
            if name == "collections":
                continue
            await hands.begin()
            go_to(one, page, one.keys(page)[-1])
            await hands.press("Ctrl+A")
            several = menu_at(one.view(page), QContextMenuEvent.Reason.Mouse)
            words, (key, _) = list(several.items())[-1]
            assert re.fullmatch(r"Move \d+ \w+ to trash", words) and key == "Del", name
            assert not {"Open", "Rename", "Rename…"} & several.keys(), name


async def walk(rialto: Rialto, hands: Keyboard, name: str, one: List, page: Any) -> None:
    before = one.keys(page)
    gone = before[-1]
    toasts = rialto.window.overlays.toasts

    async def is_deleted() -> None:
        await until(lambda: gone not in one.keys(page) and len(one.trashed(page)) == 1)
        await until(lambda: rialto.window.undo_stack.can_undo(one.tab))
        assert any("moved to trash" in toast.accessibleName() for toast in toasts.toasts), name

    async def is_back() -> None:
        await until(lambda: one.keys(page) == before and not one.trashed(page))
        await until(lambda: not any("moved to trash" in toast.accessibleName() for toast in toasts.toasts))
        await until(lambda: not rialto.window.undo_stack.can_undo(one.tab))  # rows are shown a turn earlier

    async def delete() -> None:
        await hands.begin()
        go_to(one, page, gone)
        await hands.press("Delete")
        await is_deleted()

    await delete()
    await hands.press("Ctrl+Z")
    await is_back()

    go_to(one, page, gone)
    await hands.press("Ctrl+A", "Delete")
    await until(lambda: not one.keys(page) and len(one.trashed(page)) > 1)
    await settled(rialto)
    while rialto.window.undo_stack.can_undo(one.tab):  # calls and collections are deleted one after the other
        await hands.press("Ctrl+Z")
    await is_back()

    await delete()
    await hands.command("undo: ")
    await is_back()

    await delete()
    toasts.toasts[-1].findChild(QWidget, "undo").click()  # type: ignore[attr-defined]  # a button
    await is_back()

    await delete()
    await hands.command("Open trash")
    if one.tab in ("images", "video"):
        await is_restored_from_the_filter(hands, one, page)
    else:
        await until(lambda: page.list.trash_pane is not None)
        trash = page.list.trash_pane
        await until(lambda: trash.view.hasFocus() and trash.model.shown_keys())
        await hands.tab_to(trash.restore)
        await hands.press("Space")
        await is_back()
        await hands.press("Escape")
        await until(one.view(page).hasFocus)
    await is_back()

    await delete()
    await hands.command("Open trash")
    empty = {"images": lambda: page.gallery.empty_trash, "video": lambda: page.main.empty_trash}
    button = empty[one.tab]() if one.tab in empty else page.list.trash_pane.empty
    await until(button.isVisible)
    await until(button.isEnabled)
    await hands.tab_to(button)
    await hands.press("Space")
    asked = await hands.dialog(Dialog)
    await hands.push(asked, "Delete permanently")
    await until(lambda: not one.trashed(page) and gone not in one.keys(page))
    assert not rialto.window.undo_stack.can_undo(one.tab), name
    if one.tab not in empty:
        await hands.begin()
        await until(page.list.trash_pane.back.hasFocus)  # the list is empty
        await hands.press("Ctrl+F")
        await until(page.list.filter.hasFocus)


async def test_an_undo_that_the_disk_refuses_is_said_once_and_can_be_undone_once_there_is_room(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        toasts = rialto.window.overlays.toasts
        undo_stack = rialto.window.undo_stack

        async def is_refused_and_then_done(name: str, tab: str, is_back: Callable[[], object]) -> None:
            await until(lambda: undo_stack.can_undo(tab), name)
            await settled(rialto)
            await refuse(rialto, READ_ONLY)
            with read_only(rialto.paths.data / "collections"):
                rialto.window.undo()
                await settled(rialto)
                assert undo_stack.can_undo(tab) and not is_back(), name
                assert len(notices(rialto)) == 1, name
                assert sum(toast.findChild(QWidget, "undo") is not None for toast in toasts.toasts) == 1, name
                if tab not in ("images", "video"):  # from the trash, as well
                    trash = rialto.window.tab(tab).presenter.trash
                    trash.restore([entry.id for entry in trash.entries])
                    await settled(rialto)
                    assert undo_stack.can_undo(tab), name
            await allow(rialto)
            rialto.window.undo()
            await until(is_back, name)
            await settled(rialto)
            assert not undo_stack.can_undo(tab), name

        for name, one in LISTS.items():
            rialto.window.show_tab(one.tab)
            page = rialto.window.tab(one.tab)
            await until(lambda one=one, page=page: one.keys(page))  # type: ignore[misc]  # those of this turn
            before = one.keys(page)
            go_to(one, page, before[-1])
            QTest.keyClick(one.view(page), Qt.Key.Key_Delete)
            await is_refused_and_then_done(
                name,
                one.tab,
                lambda one=one, page=page, before=before: one.keys(page) == before,  # type: ignore[misc]  # as above
            )
        for tab, library in (
            ("chat", rialto.chat.presets),
            ("images", images(rialto).presenter.prompts),
            ("video", video(rialto).presenter.prompts),
        ):
            rialto.window.show_tab(tab)
            kind: Any = "prompt" if tab == "chat" else "scene"
            library.keep(kind, tab, {"text": "Be terse."})
            await until(lambda library=library, kind=kind: library.rows(kind))  # type: ignore[misc]  # as above
            row = library.rows(kind)[-1]
            library.remove(row.id)
            await is_refused_and_then_done(
                f"a prompt of {tab}",
                tab,
                lambda library=library, row=row: library.one(row.id) is not None,  # type: ignore[misc]  # as above
            )


async def refuse_a_second_row(rialto: Rialto, table: str) -> None:
    """From now on SQLite finds its disk full as soon as one row of `table` is in the trash."""
    await refuse(rialto, "ATTACH ':memory:' AS small")
    await refuse(rialto, "CREATE TABLE small.more (value)")
    await refuse(rialto, "PRAGMA small.max_page_count = 2")
    await refuse(
        rialto,
        f"CREATE TEMP TRIGGER second BEFORE UPDATE ON main.{table}"
        f" WHEN EXISTS (SELECT 1 FROM {table} WHERE trashed_at IS NOT NULL)"
        " BEGIN INSERT INTO more VALUES (zeroblob(100000)); END",
    )


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("chats", "chats"),
        ("clips", "clips"),
        ("transcripts", "transcripts"),
        ("images", "images"),
        ("videos", "video_jobs"),
    ],
)
async def test_rows_that_went_before_the_disk_refused_the_next_can_be_brought_back(
    start: Callable[..., Any], tmp_path: Path, name: str, table: str
) -> None:
    one = LISTS[name]
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab(one.tab)
        page = rialto.window.tab(one.tab)
        await until(lambda: len(one.keys(page)) == 2)
        before = one.keys(page)
        go_to(one, page, before[-1])
        await settled(rialto)
        await refuse_a_second_row(rialto, table)
        QTest.keyClick(one.view(page), Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(one.view(page), Qt.Key.Key_Delete)
        undo_stack, toasts = rialto.window.undo_stack, rialto.window.overlays.toasts
        await until(lambda: undo_stack.can_undo(one.tab))
        await settled(rialto)
        assert len(one.keys(page)) == 1
        told = [toast.accessibleName() for toast in toasts.toasts]
        if one.tab in ("chat", "transcription"):  # on the page itself
            told.append(str(page.presenter.head().problem))
        assert "disk is full" in " ".join(told), told
        await refuse(rialto, "DROP TRIGGER second")
        assert undo_stack.undo_last(one.tab)
        await until(lambda: one.keys(page) == before)
        await settled(rialto)


async def test_a_collection_whose_folder_is_away_is_undone_once_it_is_there_again(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    one = LISTS["collections"]
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab(one.tab)
        page = rialto.window.tab(one.tab)
        await until(lambda: one.keys(page))
        before = one.keys(page)
        go_to(one, page, before[-1])
        QTest.keyClick(one.view(page), Qt.Key.Key_Delete)
        undo_stack = rialto.window.undo_stack
        await until(lambda: undo_stack.can_undo(one.tab))
        await settled(rialto)
        with vanished(rialto.paths.data / "collections"):
            rialto.window.undo()
            await settled(rialto)
            assert undo_stack.can_undo(one.tab)
            assert "The folder does not exist" in " ".join(notices(rialto))
        rialto.window.undo()
        await until(lambda: one.keys(page) == before)
        await settled(rialto)
        assert not undo_stack.can_undo(one.tab)


async def is_restored_from_the_filter(hands: Keyboard, one: List, page: Any) -> None:
    if one.tab == "images":
        await until(lambda: page.gallery_state.scope == "trash" and page.gallery_state.tiles)
        page.gallery.select(page.gallery_state.tiles[0].id)
        await hands.tab_to(page.side.image.back)
        await hands.press("Space")
        page.gallery.show_scope("")
    else:
        await until(lambda: page.presenter.which == "trash")
        page.act("restore", one.trashed(page)[0])
        await until(lambda: not one.trashed(page))
        page.presenter.show("all")


async def test_a_cloned_voice_is_deleted_undone_restored_and_deleted_for_good(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    await fill(tmp_path / "home")
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account = rialto.current_account.account
        assert account is not None and rialto.database is not None
        samples = rialto.paths.data / "voices"
        samples.mkdir(exist_ok=True)
        (samples / "mine.wav").write_bytes(b"sound")
        await Voices(rialto.database).add(
            account_id=account.id, model="tts-chatterbox-hd", name="Mine", sample="mine.wav", sample_s=6.0
        )
        hands = Keyboard(rialto.window)
        await hands.begin()
        rialto.window.show_tab("speech")
        page: Any = rialto.window.tab("speech")
        page.open_own_voices()
        cards = page.side.cloned_voices
        await until(lambda: cards.cards)
        await hands.tab_to(cards.cards[0].play)
        await hands.press("Delete")
        await until(lambda: not cards.cards and rialto.window.undo_stack.can_undo("speech"))
        assert cards.clone.hasFocus(), "the keyboard stays beside where the voice was"
        await hands.press("Ctrl+Z")
        await until(lambda: cards.cards)
        cards.cards[0].trash.click()
        await until(lambda: not cards.cards and page.presenter.trash.entries)
        page.open_trash()
        trash = page.list.trash_pane
        await until(lambda: trash.view.current_key)
        trash.empty.click()
        await hands.push(await hands.dialog(Dialog), "Delete permanently")
        await until(lambda: not page.presenter.trash.entries)
        await until(lambda: not (samples / "mine.wav").exists())


async def test_a_saved_prompt_that_was_removed_is_in_the_trash_of_chat_also_after_a_restart(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        library: Any = rialto.chat.presets
        library.keep("prompt", "Terse", {"text": "Be terse."})
        await until(lambda: library.rows("prompt"))
        library.remove(library.rows("prompt")[0].id)
        await until(lambda: not library.rows("prompt") and rialto.window.undo_stack.can_undo("chat"))
    async with start() as rialto:
        await until(lambda: rialto.chat.presets is not None)
        library = rialto.chat.presets
        rialto.chat.trash.show()
        await until(lambda: rialto.chat.trash.entries)
        (entry,) = rialto.chat.trash.entries
        assert entry.title == "Terse" and entry.second_line.startswith("Prompt · ")
        rialto.chat.trash.restore((entry.id,))
        await until(lambda: [row.name for row in library.rows("prompt")] == ["Terse"])
        await until(lambda: not rialto.chat.trash.entries)


@pytest.mark.parametrize("tab", ["chat", "speech", "transcription", "images", "video", "crypto_rpc"])
async def test_ctrl_z_belongs_to_no_action_but_the_windows_undo(start: Callable[..., Any], tab: str) -> None:
    async with start() as rialto:
        rialto.window.show_tab(tab)
        keys = [entry for entry in rialto.window.registry.entries() if entry.shortcut == "Ctrl+Z"]
        assert [entry.id for entry in keys] == ["window.undo"]
