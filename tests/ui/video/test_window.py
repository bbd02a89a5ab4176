"""What a person does with a job in the window, by its buttons: cancel, reorder, order again, and lies that are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.storage.film_check import check_film
from app.ui.kit.theme import Theme
from tests.ui.video.desk import PROMPT, Controls
from tests.ui.video.room import NO_DEVICES, Room, open_room
from tests.ui.video.test_page import titles

pytestmark = NO_DEVICES


def read(room: Room) -> str:
    """Everything that stands in the preview."""
    return "\n".join(label.text() for label in room.page.side.findChildren(QLabel) if label.isVisible())


async def test_waiting_jobs_are_reordered_and_cancelled_by_their_buttons(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        page, desk = room.page, room.desk
        for number in range(4):
            await desk.order(f"place {number}")
        first, second = await room.order("first"), await room.order("second")
        assert page.badge() == 6 and "It can still be cancelled" in read(room)
        assert page.side.buttons["up"].isVisible()
        room.press(page.side.buttons["up"])
        await desk.until(lambda: titles(page)[:2] == ["first", "second"])
        page.main.selected.emit(first)
        await desk.until(lambda: page.detail.id == first)
        room.press(page.side.buttons["cancel"])
        await desk.reaches(first, "cancelled")
        await desk.until(lambda: page.badge() == 5 and "Nothing was charged" in read(room))
        assert not page.side.buttons["cancel"].isVisible()
        await controls.turn_clock(10)
        await desk.reaches(second, "running", "saved")
        assert await controls.paid_jobs() == 5, "what was cancelled was never sent"


async def test_the_same_is_ordered_once_more_after_a_yes_at_its_price(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        first = await room.order()
        await room.done(first)
        room.page.act("again")
        await room.say_yes()
        await room.desk.until(lambda: len(room.desk.jobs) == 2)
        again = room.desk.job
        assert again.prompt == PROMPT and again.quote_usd == room.desk.one(first).quote_usd
        await room.desk.reaches(again.id, "running")
        assert await controls.paid_jobs() == 2


async def test_the_switch_lets_the_service_delete_its_copy_once_the_file_is_whole_and_says_why_so(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        form = room.page.form
        assert not form.delete.isChecked(), "off by default"
        assert "Only after the file is checked on this computer" in form.delete_note.text()
        form.delete.setFocus()
        QTest.keyClick(form.delete, Qt.Key.Key_Space)
        job_id = await room.order()
        await room.desk.reaches(job_id, "running")
        await controls.turn_clock(10)
        await room.desk.reaches(job_id, "cleaned")
        await room.desk.until(lambda: room.page.side.remote.text() == "The service has no copy")
        for exchange in room.desk.exchanges:
            body = exchange.request.body
            assert not (isinstance(body, dict) and body.get("delete_media_on_completion"))


@pytest.mark.parametrize(
    ("fault", "values"),
    [
        ("lie", {"kind": "html"}),
        ("answer", {"status": 503}),
        ("cut", {"after": 20_000, "kind": "length"}),  # half a film that claims to be whole
        ("cut", {"after": 0, "kind": "length"}),  # nothing at all
    ],
    ids=["html", "busy", "truncated", "empty"],
)
async def test_R_VID_02_what_is_no_film_is_never_done_in_the_window_and_its_copy_stays(
    fault: str, values: dict[str, object], tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        room.desk.presenter.form.set(clean_after=True)
        job_id = await room.order()
        await room.desk.reaches(job_id, "running")
        await controls.fault(fault, path="/video/retrieve", **values)
        asked = len(await controls.calls("/video/retrieve"))
        await controls.turn_clock(10)
        async with asyncio.timeout(30):
            while len(await controls.calls("/video/retrieve")) < asked + 2:
                await asyncio.sleep(0.02)
        assert room.desk.state(job_id) in ("running", "ready") and room.page.detail.film == ""
        assert "Saved on this computer" not in read(room)
        assert await controls.calls("/video/complete") == []
        if fault == "cut":
            await room.desk.until(lambda: "no whole film" in read(room))
        await controls.reset_faults()

        def cleaned() -> bool:
            if room.desk.one(job_id).held:  # the last lie may still have been on its way
                room.page.act("fetch", job_id)
            return room.desk.state(job_id) == "cleaned"

        await room.desk.until(cleaned)
        assert check_film(room.desk.presenter.book.film(room.desk.one(job_id))).duration_s == 3.0
        assert await controls.paid_jobs() == 1
