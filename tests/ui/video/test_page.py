"""The video tab through its own panes: fill in, queue, watch, keep, delete; by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.core import money
from app.storage.film_check import check_film
from app.ui.kit.theme import Theme
from app.ui.video.page import VideoPage
from tests.ui.video.desk import PICTURE_MODEL, PROMPT, TEXT_MODEL, Controls
from tests.ui.video.room import NO_DEVICES, open_room

pytestmark = NO_DEVICES


def titles(page: VideoPage) -> list[str]:
    """What stands in the list of jobs."""
    rows = page.main.view.rows
    return [str(rows.index(place, 0).data()) for place in range(rows.rowCount())]


async def test_a_video_is_filled_in_queued_fetched_played_and_cleaned_up(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        page, desk = room.page, room.desk
        job_id = await room.order("A small sailboat")
        await desk.until(lambda: page.form.queue.text().startswith("Queue for $"))  # the quote is asked for anew
        await desk.reaches(job_id, "running")
        assert page.badge() == 1 and page.main.running.text() == "1 running"
        await desk.done(job_id)
        assert page.badge() == 0
        assert any("is ready" in sentence and action == f"video-show:{job_id}" for sentence, action, _ in room.toasts)
        player = page.side.player
        await desk.until(lambda: player.duration_ms and not player.picture_box.picture.isNull())
        assert abs(player.duration_ms - 3000) < 150 and not player.plays, "nothing sounds by itself"
        room.run("video.loop")  # a computer with much to do shows few of the film's three seconds
        room.press(player.play)
        await desk.until(lambda: player.plays and player.frames_shown > 3)
        room.press(player.play)
        await desk.until(lambda: not player.plays)
        assert page.side.remote.text() == "The service still has a copy"
        room.press(page.side.delete)
        await room.say_yes()
        await desk.reaches(job_id, "cleaned")
        assert page.side.remote.text() == "The service has no copy" and not page.side.delete.isVisible()


async def test_the_player_seeks_steps_and_loops_by_its_keys(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        job_id = await room.order()
        await room.done(job_id)
        player = room.page.side.player
        await room.desk.until(lambda: player.duration_ms and not player.picture_box.picture.isNull())
        player.play.setFocus()
        first = player.picture_box.picture.copy()
        for _ in range(30):
            QTest.keyClick(player.play, Qt.Key.Key_Period)
        assert player.position_ms == pytest.approx(30 * 1000 / 24, abs=2)
        await room.desk.until(lambda: player.picture_box.picture != first)
        QTest.keyClick(player.play, Qt.Key.Key_Comma)
        assert player.position_ms == pytest.approx(29 * 1000 / 24, abs=2)
        QTest.keyClick(player.play, Qt.Key.Key_L)
        assert player.position_ms == player.duration_ms
        QTest.keyClick(player.play, Qt.Key.Key_J)
        assert player.position_ms == 0
        room.run("video.loop")
        assert player.loop.isChecked()


async def test_posters_are_made_once_and_kept_beside_the_films(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        job_id = await room.order()
        job = await room.done(job_id)
        poster = room.desk.presenter.book.poster(job)
        await room.desk.until(poster.exists)
        await room.desk.until(lambda: not QImage(str(poster)).isNull())
        assert QImage(str(poster)).size().width() == 640


async def test_the_form_follows_what_the_model_takes_and_names_the_limit(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        form, desk = room.page.form, room.desk
        await desk.until(lambda: desk.presenter.form.model(TEXT_MODEL))
        assert not form.start.isVisible()
        form.prompt.setPlainText("x" * 2_501)
        assert not form.queue.isEnabled()
        assert form.price_note.text() == "The prompt is 1 character over the limit of 2,500."
        form.prompt.setPlainText(PROMPT)
        desk.presenter.form.set(model=PICTURE_MODEL)
        assert form.start.isVisible() and "choose one" in form.price_note.text() and not form.queue.isEnabled()
        picture = tmp_home / "start.png"
        image = QImage(64, 36, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.red)
        image.save(str(picture))
        form.start.chosen.emit(str(picture))
        await desk.until(form.queue.isEnabled)
        room.press(form.queue)
        await desk.until(lambda: desk.jobs)
        picture.unlink()  # what goes along was copied when it was ordered
        await desk.reaches(desk.job.id, "running")
        call = next(each for each in desk.exchanges if each.request.path.endswith("/video/queue"))
        assert str(dict(call.request.body)["image_url"]).startswith("data:image/png;base64,")  # type: ignore[call-overload]
        job = await desk.done(desk.job.id)
        assert check_film(desk.presenter.book.film(job)).duration_s > 0


async def test_every_change_is_quoted_and_an_old_price_cannot_be_paid(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        form, desk = room.page.form, room.desk
        await desk.until(lambda: desk.presenter.form.model(TEXT_MODEL))
        form.prompt.setPlainText(PROMPT)
        prices = []
        for duration, audio in (("5s", True), ("8s", True), ("8s", False)):
            desk.presenter.form.set(duration=duration, audio=audio)
            assert not form.queue.isEnabled(), "not before its price is known"
            await desk.until(form.queue.isEnabled)
            prices.append(desk.presenter.form.price)
        assert prices[0] is not None and prices[1] is not None and prices[2] is not None
        assert prices[0] < prices[2] < prices[1]
        assert await controls.paid_jobs() == 0


async def test_the_library_is_searched_filtered_and_its_trash_undone_and_emptied(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        page, desk = room.page, room.desk
        boat, dune = await room.order("A boat at sea"), await room.order("Dunes at noon")
        await desk.until(lambda: {job.state for job in desk.jobs} == {"running"})
        await controls.turn_clock(10)
        await desk.reaches(boat, "saved")
        await desk.reaches(dune, "saved")
        page.filter_field()
        QTest.keyClicks(page.main.search, "dunes")
        await desk.until(lambda: titles(page) == ["Dunes at noon"])
        assert page.handle_escape()
        await desk.until(lambda: len(titles(page)) == 2)
        desk.presenter.select(boat)
        page.main.view.setFocus()
        QTest.keyClick(page.main.view, Qt.Key.Key_Delete)
        await desk.until(lambda: desk.one(boat).trashed_at)
        assert page.main.view.rows.shown_keys() == [dune]
        desk.undo_stack.undo_last("video")
        await desk.until(lambda: desk.one(boat).trashed_at is None)
        room.run("video.trash")
        await desk.until(lambda: desk.one(boat).trashed_at)
        film = desk.presenter.book.film(desk.one(boat))
        size = money.size(film.stat().st_size)
        assert page.main.usage.text() == f"1 video, {money.size(desk.one(dune).size_bytes)} · trash {size}"
        page.main.filter_chosen.emit("trash")
        room.press(page.main.empty_trash)
        await room.say_yes()
        await desk.until(lambda: desk.presenter.book.get(boat) is None)
        assert not film.exists()


async def test_a_film_is_saved_copied_and_used_again(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        page, desk = room.page, room.desk
        job_id = await room.order("Fog over firs")
        job = await room.done(job_id)
        dialog = page.save_copy()
        assert dialog is not None
        dialog.fileSelected.emit(str(tmp_home / "copy.mp4"))
        dialog.close()
        await desk.until((tmp_home / "copy.mp4").exists)
        await desk.until(lambda: any("Saved as copy.mp4" in toast[0] for toast in room.toasts))
        page.copy_film()
        urls = QGuiApplication.clipboard().mimeData().urls()
        assert [url.toLocalFile() for url in urls] == [str(desk.presenter.book.film(job))]
        room.run("video.new")
        assert page.form.prompt.toPlainText() == ""
        room.press(page.side.buttons["use"])
        assert page.form.prompt.toPlainText() == "Fog over firs"
        room.run("video.request")
        assert "POST /video/queue" in page.side.request.sent.text()


async def test_what_is_filled_in_survives_a_restart(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        await room.desk.until(lambda: room.desk.presenter.form.model(TEXT_MODEL))
        QTest.keyClicks(room.page.form.prompt, "half a thought")
    async with open_room(tmp_home, theme, controls) as room:
        assert room.page.form.prompt.toPlainText() == "half a thought"


async def test_every_part_has_a_name_and_the_whole_tab_works_without_a_mouse(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        job_id = await room.order()
        await room.done(job_id)
        nameless = [
            type(widget).__name__
            for pane in (room.page.form, room.page.main, room.page.side)
            for widget in pane.findChildren(QWidget)
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not isinstance(widget, QLabel)
            and not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
        ]
        assert nameless == []
        row = room.page.main.view.rows.index(0, 0)
        assert "Ready" in row.data(int(Qt.ItemDataRole.AccessibleTextRole))
        menu = room.page._open_menu(job_id, QPoint(10, 10))
        assert menu is not None
        words = [action.text() for action in menu.actions()]
        assert "Use again" in words and "Move to trash" in words
        menu.close()
