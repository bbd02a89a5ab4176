"""The receipt of a film: what it was quoted at, for how much film, how long it took, and whether it was charged."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.ui.kit.theme import Theme
from app.ui.video.inspector import PREVIEW, REQUEST
from tests.ui.video.desk import Controls
from tests.ui.video.room import NO_DEVICES, Room, open_room

pytestmark = NO_DEVICES


def line(room: Room) -> str:
    receipt = room.page.side.receipt
    return receipt.text() if receipt.isVisible() else ""


def fact(room: Room, name: str) -> str:
    """What stands beside a name in the preview."""
    found = [label.text() for label in room.page.side.findChildren(QLabel) if label.isVisible()]
    return found[found.index(name) + 1]


async def test_a_film_has_its_receipt_with_price_length_time_and_request_and_it_opens_the_request(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        job_id = await room.order()
        assert line(room) == "", "nothing before it is known to be queued"
        await room.desk.reaches(job_id, "running")
        asked = room.desk.one(job_id)
        await room.desk.until(lambda: line(room))
        assert line(room) == f"$0.15 quoted · 3 s of film · req {asked.request_id[:12]} · play money"
        job = await room.desk.done(job_id)
        assert line(room).startswith("$0.15 quoted · 3 s of film · took ")
        assert fact(room, "Cost") == "$0.15 quoted, play money"
        assert fact(room, "Request id") == job.request_id and fact(room, "Queue id") == job.queue_id
        assert room.page.side.tabs.bar.currentIndex() == PREVIEW
        QTest.mouseClick(room.page.side.receipt, Qt.MouseButton.LeftButton)
        assert room.page.side.tabs.bar.currentIndex() == REQUEST
        assert job.request_id in room.page.side.request.answer.text()


async def test_what_was_given_back_and_what_was_never_charged_is_on_the_receipt(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        stopped = await room.order("a boat sandbox-violation")
        await room.desk.reaches(stopped, "running")
        await controls.turn_clock(10)
        await room.desk.reaches(stopped, "failed")
        assert "given back" in line(room) and "not given back" not in line(room)
        refused = await room.order("a boat sandbox-refused")
        await room.desk.reaches(refused, "failed")
        await room.desk.until(lambda: line(room) == "Nothing was charged")
        await controls.fault("drop", path="/video/queue", times=1)
        lost = await room.order("a boat that is lost")
        await room.desk.reaches(lost, "unknown")
        await room.desk.until(lambda: line(room) == "$0.15 perhaps · nobody knows")
