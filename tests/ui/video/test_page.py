"""The video tab through its own panes: fill in, queue, watch, keep, delete; by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtMultimedia import QMediaPlayer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.core import number_format
from app.storage.video_check import check_video
from app.ui.kit.theme import Theme
from app.ui.video import job_delegate
from app.ui.video.jobs_pane import EXAMPLE, JobsPane
from app.ui.video.posters import Posters
from app.ui.video.state import JobRow, Jobs
from tests.kit.sandbox import Controls
from tests.kit.video import IMAGE_MODEL, NO_DEVICES, PROMPT, TEXT_MODEL, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES


def titles(video: VideoHarness) -> list[str]:
    """What stands in the list of jobs."""
    rows = video.list_view.rows
    return [str(rows.index(place, 0).data()) for place in range(rows.rowCount())]


async def test_a_video_is_filled_in_queued_fetched_played_and_cleaned_up(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue("A small sailboat")
        await until(lambda: video.queue_button.text().startswith("Queue for $"))  # the quote is asked for anew
        await video.reaches(job_id, "running")
        assert video.page.badge() == 1 and video.running_text() == "1 running"
        await video.done(job_id)
        assert video.page.badge() == 0
        assert any("is ready" in toast[0] and toast[1:] == (job_id,) for toast in video.toasts)
        player = video.player
        await until(lambda: player.duration_ms and not player.image_box.picture.isNull())
        assert abs(player.duration_ms - 3000) < 150 and not player.plays, "nothing sounds by itself"
        video.run("video.loop")  # a computer with much to do shows few of the video's three seconds
        video.press(player.play)
        await until(lambda: player.plays and player.frames_shown > 3)
        video.press(player.play)
        await until(lambda: not player.plays)
        assert video.remote_text() == "The service still has a copy"
        video.press(video.delete_button)
        await video.say_yes()
        await video.reaches(job_id, "cleaned")
        assert video.remote_text() == "The service no longer has a copy" and not video.delete_button.isVisible()


async def test_the_player_seeks_steps_and_loops_by_its_keys(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await video.done(job_id)
        player = video.player
        await until(lambda: player.duration_ms and not player.image_box.picture.isNull())
        player.play.setFocus()
        first = player.image_box.picture.copy()
        for _ in range(30):
            QTest.keyClick(player.play, Qt.Key.Key_Period)
        assert player.position_ms == pytest.approx(30 * 1000 / 24, abs=2)
        await until(lambda: player.image_box.picture != first)
        QTest.keyClick(player.play, Qt.Key.Key_Comma)
        assert player.position_ms == pytest.approx(29 * 1000 / 24, abs=2)
        QTest.keyClick(player.play, Qt.Key.Key_L)
        assert player.position_ms == player.duration_ms
        QTest.keyClick(player.play, Qt.Key.Key_J)
        assert player.position_ms == 0
        video.run("video.loop")
        assert player.loop.isChecked()


async def test_the_file_of_a_video_is_opened_once_it_is_played_or_sought(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        poster = video.presenter.job_store.poster(await video.done(job_id))
        await until(lambda: not QImage(str(poster)).isNull())
    async with open_video(tmp_home, theme, controls) as video:
        player = video.player
        await until(lambda: not player.image_box.picture.isNull())
        first = player.image_box.picture.copy()
        assert player.findChild(QMediaPlayer) is None and player.time.text() == "0:00 / 0:03"
        QTest.keyClick(player.play, Qt.Key.Key_Period)
        QTest.keyClick(player.play, Qt.Key.Key_L)
        assert player.position_ms == player.duration_ms == 3000
        QTest.keyClick(player.play, Qt.Key.Key_Comma)
        await until(lambda: player.image_box.picture != first)
        assert player.position_ms == pytest.approx(3000 - 1000 / 24, abs=2) and not player.plays
    async with open_video(tmp_home, theme, controls) as video:
        player = video.player
        await until(lambda: not player.image_box.picture.isNull())
        video.press(player.play)
        assert player.plays
        await until(lambda: player.frames_shown > 3)
        video.page.silence()
        await until(lambda: not player.plays)
        player.show_video("")
        assert player.image_box.picture.isNull()


async def test_posters_are_made_once_and_kept_beside_the_videos(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        job = await video.done(job_id)
        poster = video.presenter.job_store.poster(job)
        await until(poster.exists)
        await until(lambda: not QImage(str(poster)).isNull())
        assert QImage(str(poster)).size().width() == 640


async def test_the_form_follows_what_the_model_takes_and_names_the_limit(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        form = video.page.form
        await until(lambda: video.presenter.form.model(TEXT_MODEL))
        assert not form.start.isVisible()
        form.prompt.setPlainText("x" * 2_501)
        assert not form.queue.isEnabled()
        assert form.price_note.text() == "The prompt is 1 character over the limit of 2,500."
        form.prompt.setPlainText(PROMPT)
        video.presenter.form.set(model=IMAGE_MODEL)
        assert form.start.isVisible() and "Choose one" in form.price_note.text() and not form.queue.isEnabled()
        picture = tmp_home / "start.png"
        image = QImage(64, 36, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.red)
        image.save(str(picture))
        form.start.chosen.emit(str(picture))
        await until(form.queue.isEnabled)
        video.press(form.queue)
        await until(lambda: video.jobs)
        picture.unlink()  # what goes along was copied when it was ordered
        await video.reaches(video.job.id, "running")
        call = next(each for each in video.exchanges if each.request.path.endswith("/video/queue"))
        assert str(dict(call.request.body)["image_url"]).startswith("data:image/png;base64,")  # type: ignore[call-overload]
        job = await video.done(video.job.id)
        assert check_video(video.film_of(job)).duration_s > 0


async def test_every_change_is_quoted_and_an_old_price_cannot_be_paid(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        form = video.page.form
        await until(lambda: video.presenter.form.model(TEXT_MODEL))
        form.prompt.setPlainText(PROMPT)
        prices = []
        for duration, audio in (("5s", True), ("8s", True), ("8s", False)):
            video.presenter.form.set(duration=duration, audio=audio)
            assert not form.queue.isEnabled(), "not before its price is known"
            await until(form.queue.isEnabled)
            prices.append(video.presenter.form.price)
        assert prices[0] is not None and prices[1] is not None and prices[2] is not None
        assert prices[0] < prices[2] < prices[1]
        assert await controls.paid("/video/queue") == 0


async def test_the_library_is_searched_filtered_and_its_trash_undone_and_emptied(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        boat, dune = await video.queue("A boat at sea"), await video.queue("Dunes at noon")
        await until(lambda: {job.state for job in video.jobs} == {"running"})
        await controls.turn_clock(10)
        await video.reaches(boat, "saved")
        await video.reaches(dune, "saved")
        video.page.filter_field()
        QTest.keyClicks(video.search_field, "dunes")
        await until(lambda: titles(video) == ["Dunes at noon"])
        assert video.page.handle_escape()
        await until(lambda: len(titles(video)) == 2)
        video.presenter.select(boat)
        video.list_view.setFocus()
        QTest.keyClick(video.list_view, Qt.Key.Key_Delete)
        await until(lambda: video.one(boat).trashed_at)
        assert video.shown_ids() == [dune]
        video.undo_stack.undo_last("video")
        await until(lambda: video.one(boat).trashed_at is None)
        video.run("video.trash")
        await until(lambda: video.one(boat).trashed_at)
        film = video.film_of(video.one(boat))
        size = number_format.size(film.stat().st_size)
        assert video.usage_text() == f"1 video, {number_format.size(video.one(dune).size_bytes)} · trash {size}"
        video.show_filter("trash")
        video.press(video.empty_trash_button)
        await video.say_yes()
        await until(lambda: video.presenter.job_store.get(boat) is None)
        assert not film.exists()


async def test_a_video_is_saved_copied_and_used_again(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue("Fog over firs")
        job = await video.done(job_id)
        video.page.save_copy()
        (dialog,) = video.page.main.findChildren(QFileDialog)
        dialog.fileSelected.emit(str(tmp_home / "copy.mp4"))
        dialog.close()
        await until((tmp_home / "copy.mp4").exists)
        await until(lambda: any("Saved as copy.mp4" in toast[0] for toast in video.toasts))
        video.page.copy_video()
        urls = QGuiApplication.clipboard().mimeData().urls()
        assert [url.toLocalFile() for url in urls] == [str(video.film_of(job))]
        video.run("video.new")
        assert video.prompt_text() == ""
        video.press(video.buttons["use"])
        assert video.prompt_text() == "Fog over firs"
        assert video.request_text() == "", "written when it is looked at"
        video.run("video.request")
        assert "POST /video/queue" in video.request_text()


async def test_what_is_filled_in_survives_a_restart(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        await until(lambda: video.presenter.form.model(TEXT_MODEL))
        QTest.keyClicks(video.prompt_field, "half a thought")
    async with open_video(tmp_home, theme, controls) as video:
        assert video.prompt_text() == "half a thought"


async def test_every_part_has_a_name_and_the_whole_tab_works_without_a_mouse(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        job_id = await video.queue()
        await video.done(job_id)
        nameless = [
            type(widget).__name__
            for pane in (video.page.form, video.page.main, video.page.side)
            for widget in pane.findChildren(QWidget)
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not isinstance(widget, QLabel)
            and not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
        ]
        assert nameless == []
        row = video.list_view.rows.index(0, 0)
        assert "Ready" in row.data(int(Qt.ItemDataRole.AccessibleTextRole))
        menu = video.open_menu(job_id, QPoint(10, 10))
        assert menu is not None
        words = [action.text() for action in menu.actions()]
        assert "Reuse settings" in words and "Move to trash" in words
        menu.close()


async def test_an_example_has_the_caret_behind_it_and_no_video_is_no_number(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        main, prompt = video.page.main, video.page.form.prompt
        await until(lambda: main.usage.text() == "No videos")
        main.empty.action.emit("example")
        assert prompt.toPlainText() == EXAMPLE
        assert prompt.textCursor().position() == len(EXAMPLE)


def test_there_is_no_talk_of_no_videos_before_the_disk_was_read(theme: Theme) -> None:
    pane = JobsPane(theme)
    pane.show_jobs(Jobs())
    assert pane.places.currentWidget() is not pane.empty
    pane.show_jobs(Jobs(loaded=True))
    assert pane.places.currentWidget() is pane.empty


def test_the_job_before_one_that_is_not_shown_yet_is_the_one_above_it(theme: Theme) -> None:
    pane = JobsPane(theme)
    rows = [JobRow(str(number), "A small sailboat", "", "done", "", "", "video", "") for number in range(500)]
    pane.show_jobs(Jobs(rows=rows, selected="400", loaded=True))
    assert (pane.neighbor(-1), pane.neighbor(1)) == ("399", "401")


def test_a_poster_that_comes_is_painted_without_the_words_beside_it(
    qtbot: QtBot, window: QWidget, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []
    monkeypatch.setattr(Posters, "get", lambda _posters, film, _size: painted.append(film))
    monkeypatch.setattr(job_delegate, "paint_badge", lambda *about: painted.append(about[3]))
    pane = JobsPane(theme, window)
    rows = [JobRow(str(n), "A sailboat", "", "saved", f"badge {n}", "ok", "", "", f"{n}.mp4") for n in range(3)]
    pane.show_jobs(Jobs(rows=rows, selected="0", loaded=True))
    pane.resize(700, 500)
    pane.show()
    qtbot.waitUntil(lambda: painted[-1:] == ["badge 2"])
    QApplication.processEvents()
    painted.clear()
    pane.posters.made.emit("1.mp4")
    qtbot.waitUntil(lambda: bool(painted))
    assert painted == ["1.mp4"]
