"""What leaves the list is no longer looked at, and what is deleted for good leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES
NOTHING = ["No video selected", "Select a job to see it here."]


def read(video: VideoHarness) -> list[str]:
    """Everything that stands in the preview."""
    return video.inspector_texts()


async def two_videos(video: VideoHarness) -> tuple[str, str]:
    boat, dune = await video.queue("A boat at sea"), await video.queue("Dunes at noon")
    for job_id in (boat, dune):
        await video.reaches(job_id, "running")
    await video.controls.turn_clock(10)
    for job_id in (boat, dune):
        await video.reaches(job_id, "saved")
    return boat, dune


async def test_where_the_list_is_empty_nothing_is_looked_at(tmp_home: Path, theme: Theme, controls: Controls) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        boat, _ = await two_videos(video)
        video.presenter.select(boat)
        for empty in ("trash", "open"):
            video.show_filter(empty)
            assert read(video) == NOTHING and not video.player.film
            assert not video.more_button.isEnabled() and not video.request_label.isVisibleTo(video.window)
        video.show_filter("all")
        assert video.detail.id == boat, "what was looked at before"


async def test_when_the_trash_is_emptied_nothing_of_it_stays_to_be_seen(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        boat, dune = await two_videos(video)
        video.presenter.select(dune)
        video.list_view.setFocus()
        QTest.keyClick(video.list_view, Qt.Key.Key_Delete)
        await until(lambda: video.one(dune).trashed_at)
        assert video.detail.id == boat, "the one beside it is looked at"
        QTest.keyClick(video.list_view, Qt.Key.Key_Delete)
        await until(lambda: video.one(boat).trashed_at)
        video.show_filter("trash")
        video.page.expand()
        large = video.large_window
        assert large is not None and large.isVisible()
        videos = [video.film_of(video.one(job_id)) for job_id in (boat, dune)]
        video.press(video.empty_trash_button)
        await video.say_yes()
        await until(lambda: not video.presenter.job_store.all())
        assert read(video) == NOTHING and not video.player.film and not video.empty_trash_button.isVisible()
        assert not alive(large) or not large.isVisible(), "nor in a window of its own"
        assert not any(film.exists() for film in videos)
        assert video.nothing_text() == "The trash is empty"


async def test_one_that_is_deleted_for_good_makes_room_for_the_one_below(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        boat, dune = await two_videos(video)
        for job_id in (boat, dune):
            video.page.act("trash", job_id)
            await until(lambda job_id=job_id: video.one(job_id).trashed_at)  # type: ignore[misc]  # bound here
        video.show_filter("trash")
        video.presenter.select(dune)
        video.page.act("delete")
        await video.say_yes()
        await until(lambda: video.presenter.job_store.get(dune) is None)
        assert video.detail.id == boat
        video.page.act("restore")
        await until(lambda: video.one(boat).trashed_at is None)
        assert read(video) == NOTHING
