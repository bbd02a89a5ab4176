"""Collections in the left pane, by keyboard alone: opened, unfolded, renamed, removed and brought back."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.core.tasks import TaskScope
from app.storage.rpc_collections import Collection, RpcCollections, SavedRequest
from app.ui.crypto_rpc.call_rows import CollectionKey, CollectionRow, SavedRow
from app.ui.kit.theme import Theme
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.waiting import until

OWNER = "0x" + "35" * 20
FILE = "team.json"


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    requests = (
        SavedRequest("Balance of the team", "base-mainnet", ({"method": "eth_getBalance", "params": ["{{owner}}"]},)),
        SavedRequest("Gas", "polygon-mainnet", ({"method": "eth_gasPrice", "params": []},), batch=True),
    )
    RpcCollections(tmp_path / "collections").save(Collection("Team", requests, {"owner": OWNER}, FILE))
    (tmp_path / "collections" / "broken.json").write_text("{")
    async with open_console(tmp_path, tasks, theme) as window:
        window.page.activated()
        await window.settle()
        yield window


def rows(window: ConsoleHarness) -> list[object]:
    model = window.list_rows
    return [model.row(model.index(place, 0)) for place in range(model.rowCount())]


def go_to(window: ConsoleHarness, key: CollectionKey) -> None:
    window.list_view.setFocus()
    window.list_view.setCurrentIndex(window.list_rows.index_of(key))


def press_key(window: ConsoleHarness, key: Qt.Key) -> None:
    QTest.keyClick(window.list_view, key)


def on_disk(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "collections" / FILE).read_text())
    return found


async def test_a_collection_is_unfolded_and_a_request_of_it_opened(window: ConsoleHarness) -> None:
    assert [row.title for row in rows(window) if isinstance(row, CollectionRow)] == ["Team", "broken.json"]
    assert not any(isinstance(row, SavedRow) for row in rows(window))
    go_to(window, CollectionKey(FILE))
    press_key(window, Qt.Key.Key_Right)
    assert [row.title for row in rows(window) if isinstance(row, SavedRow)] == ["Balance of the team", "Gas"]
    press_key(window, Qt.Key.Key_Down)
    press_key(window, Qt.Key.Key_Return)
    await window.settle()
    draft = window.draft
    assert (draft.network, draft.rows[0].method, draft.missing()) == ("base-mainnet", "eth_getBalance", ())
    assert draft.filled()[0].params == [OWNER]
    go_to(window, CollectionKey(FILE, 1))
    press_key(window, Qt.Key.Key_Left)
    assert window.list_view.current_key == CollectionKey(FILE)
    assert not any(isinstance(row, SavedRow) for row in rows(window))


async def test_a_file_that_is_no_collection_says_so(window: ConsoleHarness) -> None:
    broken = next(row for row in rows(window) if isinstance(row, CollectionRow) and row.trouble)
    assert "Cannot be read" in broken.spoken
    go_to(window, broken.id)
    press_key(window, Qt.Key.Key_F2)
    await window.settle()
    assert not window.dialogs()


async def test_the_filter_finds_what_is_saved(window: ConsoleHarness) -> None:
    window.list.filter.setFocus()
    QTest.keyClicks(window.list.filter, "polygon")
    QTest.keyClick(window.list.filter, Qt.Key.Key_Return)
    await window.settle()
    assert [row.title for row in rows(window) if isinstance(row, SavedRow)] == ["Gas"]


async def test_a_collection_is_renamed_in_its_file(window: ConsoleHarness, tmp_path: Path) -> None:
    go_to(window, CollectionKey(FILE))
    press_key(window, Qt.Key.Key_F2)
    dialog = await window.dialog()
    line = dialog.findChildren(QLineEdit)[0]
    line.selectAll()
    QTest.keyClicks(line, "Ours")
    press(dialog, "Save")
    await window.settle()
    assert on_disk(tmp_path)["name"] == "Ours"
    assert [row.title for row in rows(window) if isinstance(row, CollectionRow)][:1] == ["Ours"]


async def test_what_is_removed_comes_back(window: ConsoleHarness, tmp_path: Path) -> None:
    go_to(window, CollectionKey(FILE))
    press_key(window, Qt.Key.Key_Right)
    go_to(window, CollectionKey(FILE, 0))
    press_key(window, Qt.Key.Key_Delete)
    await window.settle()
    assert [each["name"] for each in on_disk(tmp_path)["requests"]] == ["Gas"]  # type: ignore[attr-defined]  # a list
    window.undo()
    await window.settle()
    assert len(on_disk(tmp_path)["requests"]) == 2  # type: ignore[arg-type]  # a list
    go_to(window, CollectionKey(FILE))
    press_key(window, Qt.Key.Key_Delete)
    await window.settle()
    assert not (tmp_path / "collections" / FILE).exists()
    window.undo()
    await window.settle()
    assert on_disk(tmp_path)["variables"] == {"owner": OWNER}


async def test_calls_that_are_saved_stand_in_the_list_at_once(window: ConsoleHarness, tmp_path: Path) -> None:
    window.type_json(call("eth_chainId"))
    QTest.keyClick(window.list.folder, Qt.Key.Key_Space)
    for words in ("Team", "Which chain"):
        dialog = await window.dialog()
        line = dialog.findChildren(QLineEdit)[0]
        line.selectAll()
        QTest.keyClicks(line, words)
        press(dialog, "Save")
        await until(lambda dialog=dialog: not dialog.isVisible())  # type: ignore[misc]  # the dialog of this turn
    await window.settle()
    assert [row.title for row in rows(window) if isinstance(row, SavedRow)][-1] == "Which chain"
    assert len(on_disk(tmp_path)["requests"]) == 3  # type: ignore[arg-type]  # a list
