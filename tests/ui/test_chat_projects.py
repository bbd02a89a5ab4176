"""Projects in the list of chats: made, folded, ordered, moved into by hand and by key, searched, removed, undone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDrag, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from app.ui.chat import export_dialog
from app.ui.chat.state import ProjectEntry, ProjectKey
from app.ui.kit.lists.grouped_list import Heading
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.chat import ChatHarness, ChatPresenterHarness, open_chat, open_chat_presenter
from tests.kit.waiting import until


async def with_chats(harness: ChatPresenterHarness, *titles: str) -> list[str]:
    """Stored chats with these titles, the last one newest; their ids."""
    library = harness.presenter.library
    assert library is not None
    return [(await library.create(title=title)).id for title in titles]


async def made(harness: ChatPresenterHarness, name: str, *chat_ids: str) -> str:
    """A project with these chats; its id."""
    harness.presenter.projects.create(name, chat_ids)
    await harness.tasks.idle()
    return next(each.id for each in harness.presenter.projects.all if each.name == name)


def titles(shown: ChatHarness) -> list[str]:
    """The rows of the list from above, headings in brackets, folded projects with a plus."""
    model = shown.chat_rows
    rows = [model.row(model.index(place, 0)) for place in range(model.rowCount())]
    return [
        f"[{row.title}]" if isinstance(row, Heading) else f"{row.title}{'+' * getattr(row, 'folded', False)}"
        for row in rows
    ]


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}


async def settle(shown: ChatHarness) -> None:
    await shown.settle()
    shown.presenter.publish_list()


async def undo(harness: ChatPresenterHarness) -> None:
    assert harness.undo_stack.undo_last("chat")
    await harness.tasks.idle()


async def test_projects_stand_above_the_other_chats_and_fold(theme: Theme, tmp_home: Path, heard: list[str]) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, two, _three = await with_chats(shown, "One", "Two", "Three")
        project = await made(shown, "Thesis", one, two)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "Thesis", "Two", "One", "[Today]", "Three"]
        assert shown.chat_rows.row_of(ProjectKey(project)).spoken == "Thesis, project, 2 chats, expanded"
        assert shown.chat_list.foot.words.text() == "3 chats"

        view = shown.chat_list.view
        view.setFocus()
        view.show_current(one)
        QTest.keyClick(view, Qt.Key.Key_Left)
        assert view.current_key == ProjectKey(project)
        QTest.keyClick(view, Qt.Key.Key_Left)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "Thesis+", "[Today]", "Three"]
        assert (await shown.presenter.projects.store.one(project)).folded
        QTest.keyClick(view, Qt.Key.Key_Right)
        await settle(shown)
        assert titles(shown)[:3] == ["[Projects]", "Thesis", "Two"]
        QTest.keyClick(view, Qt.Key.Key_Return)
        await settle(shown)
        assert titles(shown)[1] == "Thesis+"
        place = view.visualRect(shown.chat_rows.index_of(ProjectKey(project))).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        await settle(shown)
        assert titles(shown)[1] == "Thesis"
        assert [each for each in heard if each in ("collapsed", "expanded")] == ["collapsed", "expanded"] * 2


async def test_a_filter_looks_into_folded_and_archived_projects(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        ids = await with_chats(shown, "Bridge", "Tower", "Bridges outside")
        project = await made(shown, "Thesis", *ids[:2])
        shown.presenter.projects.archive(project, True)
        await settle(shown)
        assert titles(shown) == ["Archived projects+", "[Today]", "Bridges outside"]
        shown.chat_list.view.chosen.emit(ProjectKey(""))
        assert titles(shown) == ["Archived projects", "Thesis+", "[Today]", "Bridges outside"]
        shown.chat_list.filter.setText("bridge")
        await until(lambda: titles(shown) == ["Thesis", "Bridge", "[Today]", "Bridges outside"])
        shown.chat_list.filter.setText("thes")
        await until(lambda: titles(shown) == ["Thesis", "Tower", "Bridge"])
        shown.chat_list.filter.setText("nowhere")
        await until(lambda: titles(shown) == [])
        shown.chat_list.filter.setText("")
        await until(lambda: titles(shown)[:1] == ["Archived projects"])
        await undo(shown)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "Thesis", "Tower", "Bridge", "[Today]", "Bridges outside"]


async def test_several_chats_are_moved_by_their_menu_and_come_back(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, two, three = await with_chats(shown, "One", "Two", "Three")
        project = await made(shown, "A & B")
        await settle(shown)
        view = shown.chat_list.view
        select = QItemSelectionModel.SelectionFlag.Select
        for each in (one, three):
            view.selectionModel().select(shown.chat_rows.index_of(each), select)
        menu = shown.page.open_menu_of(one, QPoint(5, 5))
        (move,) = [each for each in menu.findChildren(QMenu) if each.title() == "Move to project"]
        assert list(entries(move)) == ["A && B", "New project…", "No project"]
        assert not entries(move)["No project"].isEnabled()
        entries(move)["A && B"].trigger()
        menu.close()
        await settle(shown)
        assert titles(shown) == ["[Projects]", "A & B", "Three", "One", "[Today]", "Two"]
        assert {chat.id: chat.project_id for chat in await shown.history.chats()} == {
            one: project,
            two: None,
            three: project,
        }
        assert shown.undo_stack.newest("chat")[0].text == "2 chats moved to “A & B”"
        await undo(shown)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "A & B", "[Today]", "Three", "Two", "One"]


async def test_the_open_chat_is_moved_by_key_into_a_project_made_for_it(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Which bridges are there?")
        chat = shown.presenter.opened.chat_id
        shown.page.controller.open_move_menu()
        menu = next(each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible())
        entries(menu)["New project…"].trigger()
        menu.close()
        await until(lambda: any(isinstance(each, Dialog) for each in QApplication.topLevelWidgets()))
        dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, Dialog) and each.isVisible())
        field = dialog.findChild(QLineEdit)
        assert isinstance(field, QLineEdit)
        field.setText("Bridges")
        dialog.accept()
        await settle(shown)
        (project,) = shown.presenter.projects.all
        assert (project.name, shown.presenter.opened.project_id) == ("Bridges", project.id)
        assert shown.presenter.library is not None
        assert [each.id for each in shown.presenter.library.in_project(project.id)] == [chat]
        await undo(shown)
        assert shown.presenter.projects.all == ()
        assert shown.presenter.opened.project_id is None
        assert [each.name for each in await shown.presenter.projects.store.all(trashed=True)] == ["Bridges"]


async def test_projects_are_ordered_by_key_and_keep_their_order(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        for name in ("A", "B", "C"):
            await made(shown, name)
        await settle(shown)
        view = shown.chat_list.view
        last = shown.presenter.projects.all[-1].id
        view.show_current(ProjectKey(last))
        view.setFocus()
        moves = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
        for _ in range(3):  # the third time it is the first already
            QTest.keyClick(view, Qt.Key.Key_Up, moves)
            await settle(shown)
        assert titles(shown) == ["[Projects]", "C", "A", "B"]
        assert view.current_key == ProjectKey(last)
        await undo(shown)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "A", "C", "B"]
        QTest.keyClick(view, Qt.Key.Key_Down, moves)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "A", "B", "C"]


async def test_a_project_is_removed_by_delete_its_chats_stay_and_undo_brings_it_back(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, _two = await with_chats(shown, "One", "Two")
        project = await made(shown, "Thesis", one)
        await settle(shown)
        view = shown.chat_list.view
        view.show_current(ProjectKey(project))
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_Delete)
        await settle(shown)
        assert titles(shown) == ["[Today]", "Two", "One"]
        await undo(shown)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "Thesis", "One", "[Today]", "Two"]
        shown.presenter.projects.remove((project,))
        await settle(shown)
        (entry,) = shown.presenter.trash.entries
        assert (entry.title, entry.second_line.split(" · ")[0]) == ("Thesis", "Project")
        shown.presenter.trash.delete((project,))
        await settle(shown)
        assert titles(shown) == ["[Today]", "Two", "One"]
        assert (await shown.history.chat(one)).project_id is None
        assert shown.presenter.library is not None
        found = shown.presenter.library.get(one)
        assert found is not None and found.project_id is None


async def test_name_and_color_are_changed_by_the_menu_and_undone(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        project = await made(shown, "Thesis")
        menu = shown.page.open_menu_of(ProjectKey(project), QPoint(5, 5))
        assert list(entries(menu)) == [
            *("New chat here", "Search in this project", "Hide chats", "Project settings…"),
            *("Documents…", "Rename", "Color"),
            *("Move up", "Move down", "Archive", "Export…", "Remove project"),
        ]
        (colors,) = menu.findChildren(QMenu)
        entries(colors)["Teal"].trigger()
        menu.close()
        await settle(shown)
        assert shown.presenter.projects.all[0].color == "teal"
        shown.presenter.projects.change(project, name="Dissertation")
        await settle(shown)
        for name, color in (("Thesis", "teal"), ("Thesis", "")):
            await undo(shown)
            assert [(each.name, each.color) for each in shown.presenter.projects.all] == [(name, color)]
        assert shown.page.open_menu_of(ProjectKey(""), QPoint(5, 5)) is None


async def test_a_search_can_be_kept_inside_a_project(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, two = await with_chats(shown, "A bridge", "Another bridge")
        shown.page.controller.open_search()
        assert not shown.search_dialog.where.isVisible()
        project = await made(shown, "Thesis", one)
        shown.page.controller.open_search(project)
        shown.search_dialog.field.setText("bridge")
        await until(lambda: shown.search_dialog.model.rowCount() == 1)
        assert shown.search_dialog.model.row(shown.search_dialog.model.index(0, 0)).chat_id == one
        shown.search_dialog.where.setCurrentIndex(0)
        await until(lambda: shown.search_dialog.model.rowCount() == 2)
        found = [shown.search_dialog.model.row(shown.search_dialog.model.index(row, 0)).chat_id for row in (0, 1)]
        assert set(found) == {one, two}


async def test_the_next_chat_passes_over_projects(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, two, three = await with_chats(shown, "One", "Two", "Three")
        for name, chat_id in (("A", three), ("B", two)):
            await made(shown, name, chat_id)
        await made(shown, "C")
        shown.presenter.open_chat(three)
        await settle(shown)
        assert titles(shown) == ["[Projects]", "A", "Three", "B", "Two", "C", "[Today]", "One"]
        assert shown.chat_list.neighbor(1) == two
        assert shown.chat_list.neighbor(-1) == three
        shown.presenter.open_chat(two)
        await settle(shown)
        assert (shown.chat_list.neighbor(-1), shown.chat_list.neighbor(1)) == (three, one)


async def test_projects_and_their_chats_are_there_after_a_restart(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as before:
        (one,) = await with_chats(before, "One")
        project = await made(before, "Thesis", one)
        before.presenter.projects.fold(project, True)
        await before.tasks.idle()
    async with open_chat_presenter(tmp_home) as after:
        (section,) = after.told["entries_changed"][-1][1]
        assert isinstance(section.head, ProjectEntry)
        assert (section.head.title, section.head.folded, [each.title for each in section.chats]) == (
            "Thesis",
            True,
            ["One"],
        )
        after.presenter.new_chat(project_id=project)
        after.presenter.set_draft("a draft")
        await until(lambda: after.presenter.opened.chat_id is not None)
        await after.tasks.idle()
        assert (await after.history.chat(after.presenter.opened.chat_id or "")).project_id == project


def drag(shown: ChatHarness, monkeypatch: pytest.MonkeyPatch, way: Sequence[QPoint]) -> list[bool]:
    """Drag what is selected along these places and drop it at the last; whether each was accepted."""
    viewport = shown.chat_list.view.viewport()
    agreed: list[bool] = []

    def carry(drag: QDrag, _action: Qt.DropAction) -> Qt.DropAction:
        data, move = drag.mimeData(), Qt.DropAction.MoveAction
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        events: list[QDropEvent] = [QDragEnterEvent(way[0], move, data, left, none)]
        events += [QDragMoveEvent(at, move, data, left, none) for at in way]
        events.append(QDropEvent(QPointF(way[-1]), move, data, left, none))
        for event in events:
            QApplication.sendEvent(viewport, event)
            agreed.append(event.isAccepted())
        return move

    monkeypatch.setattr(QDrag, "exec", carry)
    shown.chat_list.view.startDrag(Qt.DropAction.MoveAction)
    return agreed


async def test_chats_are_dragged_into_a_project_and_out_and_projects_to_another_place(
    theme: Theme, tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        one, two, three = await with_chats(shown, "One", "Two", "Three")
        first = await made(shown, "A", one)
        await made(shown, "B")
        await settle(shown)
        view, model = shown.chat_list.view, shown.chat_rows

        def place(key: object, share: float = 0.5) -> QPoint:
            rect = view.visualRect(model.index_of(key))
            return QPoint(rect.center().x(), rect.top() + round(rect.height() * share))

        # two chats, onto a chat that is in the project
        view.show_current(three)
        view.selectionModel().select(model.index_of(two), QItemSelectionModel.SelectionFlag.Select)
        assert all(drag(shown, monkeypatch, [place(ProjectKey(first)), place(one)]))
        await until(lambda: titles(shown) == ["[Projects]", "A", "Three", "Two", "One", "B"])
        await undo(shown)
        await until(lambda: titles(shown) == ["[Projects]", "A", "One", "B", "[Today]", "Three", "Two"])

        # one out of it, onto another chat
        view.show_current(one)
        drag(shown, monkeypatch, [place(two)])
        await until(lambda: titles(shown) == ["[Projects]", "A", "B", "[Today]", "Three", "Two", "One"])

        # a project below another, then above it
        view.show_current(ProjectKey(first))
        other = shown.presenter.projects.all[1].id
        drag(shown, monkeypatch, [place(ProjectKey(other), 0.9)])
        await until(lambda: titles(shown)[:3] == ["[Projects]", "B", "A"])
        view.show_current(ProjectKey(first))
        drag(shown, monkeypatch, [place(ProjectKey(other), 0.1)])
        await until(lambda: titles(shown)[:3] == ["[Projects]", "A", "B"])
        drag(shown, monkeypatch, [place(three)])  # projects stay among projects
        await shown.tasks.idle()
        assert titles(shown)[:3] == ["[Projects]", "A", "B"]


async def test_files_dragged_over_the_list_are_left_to_the_pane(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await with_chats(shown, "One")
        await settle(shown)
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(tmp_home / "chats.json"))])
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        event = QDragEnterEvent(QPoint(40, 40), Qt.DropAction.CopyAction, data, left, none)
        shown.chat_list.view.dragEnterEvent(event)
        assert not event.isAccepted()


async def test_a_project_is_exported_by_its_menu_imported_by_a_drop_and_the_import_undone(
    theme: Theme, tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Which bridge is older?")
        chat = shown.presenter.opened.chat_id or ""
        project = await made(shown, "Thesis: II/III", chat)
        shown.presenter.projects.change(project, instructions="Cite.", color="teal")
        await shown.settle()
        asked: list[str] = []

        def choose(_parent: object, _title: str, name: str, then: Any, **_more: object) -> None:
            asked.append(name)
            then(tmp_home / name)

        monkeypatch.setattr(export_dialog, "ask_to_save", choose)
        menu = shown.page.open_menu_of(ProjectKey(project), QPoint(5, 5))
        entries(menu)["Export…"].trigger()
        menu.close()
        await shown.settle()
        assert asked == ["Thesis II III.json"]
        assert shown.page.controller.import_dropped([tmp_home / asked[0]])
        await shown.settle()
        first, second = shown.presenter.projects.all
        assert (second.name, second.instructions, second.color) == (first.name, "Cite.", "teal")
        assert shown.presenter.library is not None
        (copy,) = shown.presenter.library.in_project(second.id)
        assert shown.presenter.opened.chat_id == copy.id != chat
        assert next(row.text for row in shown.rows) == "Which bridge is older?"
        assert shown.toasts[-1] == ("Project “Thesis: II/III” imported",)
        await undo(shown)
        assert [each.id for each in shown.presenter.projects.all] == [project]
        assert copy.id not in {each.id for each in await shown.history.chats()}
        assert shown.presenter.opened.chat_id is None


async def test_chats_stand_in_order_however_projects_come_and_go(tmp_home: Path) -> None:
    """One project more or less, or several at once; pinned chats and chats of one moment among them."""
    async with open_chat_presenter(tmp_home) as chat:
        library, projects = chat.presenter.library, chat.presenter.projects
        assert library is not None
        ids = await with_chats(chat, *(f"Chat {number}" for number in range(24)))
        for number, name in enumerate("ABCDEF"):
            await made(chat, name, *ids[number::7])
        await library.change(ids[3], pinned=True)
        every = [each.id for each in projects.all]
        chats = [found for each in ids if (found := library.get(each)) is not None]
        library.moved({chat.id: chat.project_id for chat in chats})
        for each in chats[5:9]:
            library.put(replace(each, updated_at=chats[0].updated_at))
        chosen = random.Random(7)
        for _ in range(40):
            shown = [each for each in every if chosen.random() < 0.6]
            library.show_projects(shown)
            groups = {each: library.in_project(each) for each in ("", *every)}
            for project_id, group in groups.items():
                ranks = [(one.pinned, one.updated_at) for one in group]
                assert ranks == sorted(ranks, reverse=True)
                inside = {one.id for one in chats if one.project_id == project_id}
                outside = {one.id for one in chats if one.project_id not in shown}
                wanted = outside if project_id == "" else inside if project_id in shown else set()
                assert {one.id for one in group} == wanted
        library.moved(dict.fromkeys(ids))  # every one is found in its place
        assert len(library.in_project("")) == len(ids)
