"""A small disk that becomes full while work is under way: nothing breaks, nothing is lost, and room mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton

from app.bootstrap.rialto import Rialto
from app.storage.video_check import check_video
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.shell.crash_reports import CrashReport
from app.ui.video.presenter import VideoPresenter
from tests.audio.recorded import FakeBlocks, tone
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, console, images, speech, transcription, video
from tests.journeys.test_paid_for_and_refused import offer, on_its_way, saved_elsewhere
from tests.journeys.test_typing import box, written
from tests.journeys.test_wallet import control, in_the_sandbox
from tests.kit.waiting import until
from tests.read_only import SmallDisk, small_disk

Start = Callable[..., Any]
SIZE_MB = 48  # the Sandbox keeps its own books there, too
TABS = ("chat", "speech", "transcription", "images", "crypto_rpc")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Everything that the program keeps is on it."""
    home = tmp_path / "home"
    home.mkdir()
    with small_disk(home, SIZE_MB) as found:
        if found is None:
            pytest.skip("no file system can be mounted here")
        yield found


def crashes_of(rialto: Rialto) -> list[CrashReport]:
    """What is reported from now on; on a full disk no report stays."""
    found: list[CrashReport] = []
    rialto.crashes.crashed.connect(found.append)
    return found


async def receipts(rialto: Rialto, tab: str) -> int:
    assert rialto.database is not None
    return len(await rialto.database.fetch("SELECT 1 FROM receipts WHERE tab = ?", (tab,)))


def kept(rialto: Rialto, tab: str) -> Any:
    """What is there of the answer, as the tab shows it."""
    if tab == "chat":
        return rialto.chat_page.rows()[-1].text
    if tab == "speech":
        library = speech(rialto).presenter.clip_library
        assert library is not None
        clip = library.rows[0]
        files = [library.files.part(part).read_bytes() for part in clip.parts if part.file]
        return clip.state, round(clip.duration_s, 2), files
    if tab == "transcription":
        rows = transcription(rialto).presenter.rows
        row = next(iter(rows.values()))
        return row.state, row.problem, transcription(rialto).presenter.reading.document.text
    if tab == "images":
        library = images(rialto).presenter.library
        tile = images(rialto).gallery_state.tiles[0]
        path = library.path(tile.id)
        return tile.is_whole, path.read_bytes() if path is not None else b""
    run = console(rialto).presenter.run
    return run.body if run is not None else None


@pytest.mark.parametrize("tab", TABS)
async def test_what_came_while_the_disk_became_full_is_kept_with_one_press_once_there_is_room(
    start: Start, disk: SmallDisk, tmp_path: Path, tab: str
) -> None:
    async with start() as rialto:
        crashes = crashes_of(rialto)
        await in_the_sandbox(rialto)
        rialto.window.show_tab(tab)
        await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
        await settled(rialto)
        await control(rialto, "/faults/slow", "PUT", seconds=4)
        PAID_ACTIONS[tab].begin(rialto)
        while not await on_its_way(rialto, tab):
            pass
        disk.fill()
        await until(lambda: offer(rialto) is not None)
        await settled(rialto)
        offer(rialto).findChild(LinkButton, "again").click()  # type: ignore[union-attr]  # it is there
        await until(lambda: not rialto.tasks.running("save again"))
        assert offer(rialto) is not None  # still full
        disk.make_room()
        offer(rialto).findChild(LinkButton, "again").click()  # type: ignore[union-attr]  # as above
        await until(lambda: offer(rialto) is None)
        await settled(rialto)
        await control(rialto, "/faults", "DELETE")
        await rialto.account_services.switch.read_limits()  # any call: its receipt takes along those that wait
        await settled(rialto)
        shown = kept(rialto, tab)
        assert shown, tab
        assert crashes == []
        assert await receipts(rialto, tab) >= 1
    async with start() as rialto:
        rialto.window.show_tab(tab)
        await settled(rialto)
        assert rialto.left_open == ()
        if tab == "crypto_rpc":
            entry = (await console(rialto).presenter.sent.calls.recent())[0]
            assert entry.state == "answered"
            await console(rialto).presenter.runs.show(entry.id)
        if tab == "transcription":
            page = transcription(rialto)
            page.open_row(next(iter(page.presenter.rows)))
            await until(lambda: page.presenter.reading.document.text)
        if tab == "chat":
            await until(lambda: len(rialto.chat_page.rows()) == 2)
        if tab == "images":
            await until(lambda: images(rialto).gallery_state.tiles)
        assert kept(rialto, tab) == shown
        if tab in ("speech", "transcription"):
            assert shown[0] in ("complete", "done"), shown[:2]


async def test_a_recording_ends_where_the_disk_is_full_and_is_sent_once_there_is_room(
    start: Start, disk: SmallDisk
) -> None:
    blocks = FakeBlocks()
    async with start() as rialto:
        crashes = crashes_of(rialto)
        await in_the_sandbox(rialto)
        rialto.window.show_tab("transcription")
        presenter = transcription(rialto).presenter
        await until(lambda: presenter.transcripts is not None)
        await settled(rialto)
        presenter.recording._open_blocks = lambda _choice: blocks
        presenter.recorder.record()
        await until(lambda: presenter.recorder.is_recording)
        blocks.say(tone(440, 2.0))
        await until(lambda: presenter.recording.seconds >= 2.0)
        disk.fill()
        blocks.say(tone(440, 20.0))
        await until(lambda: not presenter.recorder.is_recording)
        await settled(rialto)
        assert crashes == []
        head = presenter.head()
        assert head.view == "sound", head
        seconds = presenter.open_row.duration_s
        assert seconds is not None and seconds >= 2.0
        disk.make_room()
        transcription(rialto).main_action()
        await until(lambda: presenter.open_row.state == "done")
        await settled(rialto)
        text = presenter.reading.document.text
    async with start() as rialto:
        rialto.window.show_tab("transcription")
        presenter = transcription(rialto).presenter
        await until(lambda: presenter.transcripts is not None and presenter.rows)
        row = next(iter(presenter.rows.values()))
        assert row.state == "done" and row.duration_s == pytest.approx(seconds, abs=0.1)
        assert crashes == [] and text


async def test_what_is_typed_on_a_full_disk_stays_and_is_there_after_a_restart_once_there_is_room(
    start: Start, disk: SmallDisk, tmp_path: Path
) -> None:
    async with start() as rialto:
        crashes = crashes_of(rialto)
        await in_the_sandbox(rialto)
        for tab in ("speech", "images", "video", "chat"):
            rialto.window.show_tab(tab)
            await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
        await settled(rialto)
        disk.fill()
        box(rialto).insertPlainText("What is the tide?")
        speech(rialto).main.editor.setPlainText("The tide turns.")
        images(rialto).form.prompt.setPlainText("A harbour")
        video(rialto).form.prompt.setPlainText("A lighthouse")
        await settled(rialto)
        assert crashes == []
        assert written(rialto) == "What is the tide?"
        disk.make_room()
    async with start() as rialto:
        await until(lambda: written(rialto) == "What is the tide?")
        for tab in ("speech", "images", "video"):
            rialto.window.show_tab(tab)
        await until(lambda: speech(rialto).main.editor.toPlainText() == "The tide turns.")
        await until(lambda: images(rialto).form.prompt.toPlainText() == "A harbour")
        await until(lambda: video(rialto).form.prompt.toPlainText() == "A lighthouse")


async def test_what_a_full_disk_refused_can_be_saved_on_another_disk(
    start: Start, disk: SmallDisk, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "another disk"
    elsewhere.mkdir()
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("chat")
        await PAID_ACTIONS["chat"].prepare(rialto, tmp_path)
        await settled(rialto)
        await control(rialto, "/faults/slow", "PUT", seconds=4)
        PAID_ACTIONS["chat"].begin(rialto)
        while not await on_its_way(rialto, "chat"):
            pass
        disk.fill()
        path = await saved_elsewhere(rialto, elsewhere)
        assert path.read_text() == rialto.chat_page.rows()[-1].text
        disk.make_room()
        await control(rialto, "/faults", "DELETE")
        await settled(rialto)


async def filled_in_video(rialto: Rialto, folder: Path) -> VideoPresenter:
    """Fill in a video whose copy at the service is deleted afterwards."""
    rialto.window.show_tab("video")
    await PAID_ACTIONS["video"].prepare(rialto, folder)
    presenter = video(rialto).presenter
    presenter.form.set(clean_after=True)
    await until(lambda: video(rialto).form.queue.isEnabled() and presenter.form.form.clean_after)
    await until(lambda: not rialto.tasks.running("video draft"))
    return presenter


async def press_try_again(rialto: Rialto) -> None:
    """Press the button of the card that says why the video could not be saved."""

    def button() -> QAbstractButton | None:
        cards = [card for card in video(rialto).side.findChildren(ErrorCard) if card.isVisibleTo(video(rialto).side)]
        buttons = [each for card in cards for each in card.findChildren(QAbstractButton)]
        return next((each for each in buttons if each.text() == "Try again"), None)

    await until(button)
    button().click()  # type: ignore[union-attr]  # it is there


async def asked(rialto: Rialto, path: str) -> int:
    """How often the service was asked for `path`."""
    return sum(line["path"].endswith(path) for line in (await control(rialto, "/log"))["data"])


@pytest.mark.parametrize("refused", ["the video", "the answer to the order"])
async def test_a_paid_video_that_the_disk_refuses_is_fetched_with_one_press_once_there_is_room(
    start: Start, disk: SmallDisk, tmp_path: Path, refused: str
) -> None:
    async with start() as rialto:
        crashes = crashes_of(rialto)
        await in_the_sandbox(rialto)
        presenter = await filled_in_video(rialto, tmp_path)
        await control(rialto, "/faults/slow", "PUT", seconds=4)
        PAID_ACTIONS["video"].begin(rialto)
        while not await on_its_way(rialto, "video"):
            pass
        if refused == "the video":
            await until(lambda: PAID_ACTIONS["video"].done(rialto))
        disk.fill()
        notices: list[str] = []
        presenter.job_notice.connect(lambda sentence, _job_id: notices.append(sentence))
        await until(lambda: PAID_ACTIONS["video"].done(rialto))
        await control(rialto, "/faults", "DELETE")
        job_id = presenter.job_store.all()[0].id
        assert bool(video(rialto).running_work()) == (refused != "the video")
        await control(rialto, "/clock", "PUT", offset_s=60)
        await until(lambda: any("could not be saved here" in each for each in notices), lambda: str(notices))
        count = len(notices)
        await press_try_again(rialto)
        await until(lambda: len(notices) > count)  # still full
        presenter.select(job_id)
        problem = presenter.detail().problem
        assert problem is not None and "The service has its copy" in problem.meaning
        assert await asked(rialto, "/video/complete") == 0
        disk.make_room()
        await press_try_again(rialto)
        await until(lambda: presenter.job_store.all()[0].state == "cleaned")
        assert presenter.detail().problem is None
        assert video(rialto).running_work() == ()
        await settled(rialto)
        assert await asked(rialto, "/video/queue") == 1
        assert crashes == []
    async with start() as rialto:
        rialto.window.show_tab("video")
        presenter = video(rialto).presenter
        await until(lambda: presenter.job_store.all())
        (job,) = presenter.job_store.all()
        assert job.state == "cleaned" and job.queue_id
        assert check_video(presenter.job_store.film(job)).duration_s == 3.0
        assert rialto.left_open == ()
