"""What leaves the list is no longer looked at, and what is deleted for good leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.ui.kit.qt_repairs.alive import alive
from app.ui.kit.theme import Theme
from tests.ui.video.desk import Controls
from tests.ui.video.room import NO_DEVICES, Room, open_room

pytestmark = NO_DEVICES
NOTHING = ["No video chosen", "Choose a job to see it here."]


def read(room: Room) -> list[str]:
    """Everything that stands in the preview."""
    return [label.text() for label in room.page.side.findChildren(QLabel) if label.isVisible() and label.text()]


async def two_films(room: Room) -> tuple[str, str]:
    boat, dune = await room.order("A boat at sea"), await room.order("Dunes at noon")
    for job_id in (boat, dune):
        await room.desk.reaches(job_id, "running")
    await room.desk.controls.turn_clock(10)
    for job_id in (boat, dune):
        await room.desk.reaches(job_id, "saved")
    return boat, dune


async def test_where_the_list_is_empty_nothing_is_looked_at(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        boat, _ = await two_films(room)
        room.desk.presenter.select(boat)
        for empty in ("trash", "open"):
            room.page.main.filter_chosen.emit(empty)
            assert read(room) == NOTHING and not room.page.side.player.film
            assert not room.page.side.more.isEnabled() and not room.page.side.request.sent.isVisibleTo(room.window)
        room.page.main.filter_chosen.emit("all")
        assert room.page.detail.id == boat, "what was looked at before"


async def test_when_the_trash_is_emptied_nothing_of_it_stays_to_be_seen(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        page, desk = room.page, room.desk
        boat, dune = await two_films(room)
        desk.presenter.select(dune)
        page.main.view.setFocus()
        QTest.keyClick(page.main.view, Qt.Key.Key_Delete)
        await desk.until(lambda: desk.one(dune).trashed_at)
        assert page.detail.id == boat, "the one beside it is looked at"
        QTest.keyClick(page.main.view, Qt.Key.Key_Delete)
        await desk.until(lambda: desk.one(boat).trashed_at)
        page.main.filter_chosen.emit("trash")
        page.expand()
        large = page._large
        assert large is not None and large.isVisible()
        films = [desk.presenter.book.film(desk.one(job_id)) for job_id in (boat, dune)]
        room.press(page.main.empty_trash)
        await room.say_yes()
        await desk.until(lambda: not desk.presenter.book.all())
        assert read(room) == NOTHING and not page.side.player.film and not page.main.empty_trash.isVisible()
        assert not alive(large) or not large.isVisible(), "nor in a window of its own"
        assert not any(film.exists() for film in films)
        assert page.main.nothing.title.text() == "The trash is empty"


async def test_one_that_is_deleted_for_good_makes_room_for_the_one_below(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        boat, dune = await two_films(room)
        for job_id in (boat, dune):
            room.page.act("trash", job_id)
            await room.desk.until(lambda job_id=job_id: room.desk.one(job_id).trashed_at)  # type: ignore[misc]  # bound here
        room.page.main.filter_chosen.emit("trash")
        room.desk.presenter.select(dune)
        room.page.act("delete")
        await room.say_yes()
        await room.desk.until(lambda: room.desk.presenter.book.get(dune) is None)
        assert room.page.detail.id == boat
        room.page.act("restore")
        await room.desk.until(lambda: room.desk.one(boat).trashed_at is None)
        assert read(room) == NOTHING
