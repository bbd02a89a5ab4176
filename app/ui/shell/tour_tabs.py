"""The tour's third act: one real piece of work in every tab beside the chat, all of it in the Sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.formats import format_number
from app.translation import tr
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.images.page import ImagesPage
from app.ui.shell.tour_guide import StepFailed
from app.ui.speech.page import SpeechPage
from app.ui.transcription.page import TranscriptionPage
from app.ui.video.page import VideoPage
from app.ui.wallet.page import WalletPage

if TYPE_CHECKING:
    from pathlib import Path

    from app.storage.clips import Clip
    from app.storage.images import StoredImage
    from app.storage.video_jobs import VideoJob
    from app.ui.crypto_rpc.state import RunView
    from app.ui.shell.tour_guide import TourGuide

SAYING = tr("The train leaves the station at seven. I would like a cup of coffee and a piece of bread.")
FILM_OF = "A night train crosses a viaduct, the valley below in fog"
PICTURE_OF = "Travel poster of a harbor with a lighthouse, flat shapes, low sun"
CALLS = """[
  {"method": "eth_blockNumber", "params": []},
  {"method": "eth_getBalance", "params": ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "latest"]},
  {"method": "eth_getBlockByNumber", "params": ["latest", false]},
  {"method": "trace_replayTransaction", "params": ["0x0000000000000000000000000000000000000000000000000000000000000001", ["trace"]]}
]"""  # noqa: E501 - the calls are sent as they stand


async def act(guide: TourGuide) -> None:
    """Order a video; while it is made speak, transcribe what was spoken and draw; then see it, and call a chain."""
    window = guide.window
    await guide.until(
        tr("the Sandbox"), lambda: window.current_account.is_sandbox and window.current_account.service is not None
    )
    await order_video(guide)
    clip, path = await speak(guide)
    saw = tr(
        "{voice_name} said {count} characters in {duration_s} s of audio.",
        voice_name=clip.voice_name,
        count=len(SAYING),
        duration_s=format_number(clip.duration_s, 1),
    )
    await guide.picture("speech", saw)
    try:
        right, heard = await transcribe(guide, path)
    except EngineMissing as missing:
        saw = tr("Transcribe names what is missing here. {what}", what=str(missing))
    else:
        saw = tr("Transcribe heard {heard} words, {right} of them correctly.", heard=heard, right=right)
    await guide.picture("transcript", saw)
    image = await draw(guide)
    await guide.picture(
        "images",
        tr(
            "{model_name} generated an image of {width} × {height} pixels. The file names its model.",
            model_name=image.model_name or image.model,
            width=image.width,
            height=image.height,
        ),
    )
    job = await show_video_of(guide)
    await guide.picture(
        "video",
        tr(
            "A video of {duration_s} s arrived in the meantime. It was checked and saved.",
            duration_s=format_number(job.duration_s, 0),
        ),
    )
    run = await call_chain(guide)
    saw = tr(
        "The blockchain answered {results} of {count} calls. {errors} failed and cost less.",
        results=run.results,
        count=len(run.outcomes),
        errors=run.errors,
    )
    await guide.picture("console", saw)
    window.show_tab("wallet")
    page = window.tab("wallet")
    assert isinstance(page, WalletPage)
    latest = page.main.overview.latest
    await guide.until(tr("the ledger"), lambda: page.receipts.row(0) is not None and latest.rows.rowCount() > 0)
    await guide.picture("wallet", tr("The wallet shows what every tab has spent, and which limits are left."))


async def order_video(guide: TourGuide) -> None:
    """Describe a video and order it for the price on the button."""
    guide.window.show_tab("video")
    page = guide.window.tab("video")
    assert isinstance(page, VideoPage)
    await guide.until(tr("a video model"), lambda: page.form.model.currentData())
    prompt = page.main_input()
    prompt.setFocus()
    QTest.keyClicks(prompt, FILM_OF)
    await guide.until(tr("the video’s price"), lambda: page.form.queue.isEnabled())
    guide.press(prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await guide.until(tr("the order"), lambda: page.presenter.job_store.all())


async def show_video_of(guide: TourGuide) -> VideoJob:
    """Come back when the video is there; return its job."""
    guide.window.show_tab("video")
    page = guide.window.tab("video")
    assert isinstance(page, VideoPage)
    job_store = page.presenter.job_store
    await guide.until(tr("the video"), lambda: any(job.has_video for job in job_store.all()))
    job = next(job for job in job_store.all() if job.has_video)
    await guide.until(tr("the video’s image"), job_store.poster(job).exists)
    return job


async def speak(guide: TourGuide) -> tuple[Clip, Path]:
    """Type a text and have it spoken; return the clip and the file of its sound."""
    guide.window.show_tab("speech")
    page = guide.window.tab("speech")
    assert isinstance(page, SpeechPage)
    presenter = page.presenter
    await guide.until("voices", lambda: presenter.clip_library is not None and presenter.model is not None)
    editor = page.main_input()
    assert editor is not None
    editor.setFocus()
    QTest.keyClicks(editor, SAYING)
    await guide.until(tr("the text’s price"), lambda: presenter.text == SAYING and not presenter.meter.why_not)
    page.speak(aloud=False)
    await guide.until(tr("the clip"), lambda: _spoken(page) is not None)
    editor.clearFocus()  # a key led there, and the picture is of the clip
    clip, reading = _spoken(page), presenter.sound.reading
    if clip is None or reading is None:
        raise StepFailed(tr("the clip is not in the player"))
    return clip, reading.path_of(reading.clip.parts[0])


def _spoken(page: SpeechPage) -> Clip | None:
    clip_library = page.presenter.clip_library
    return (
        next((clip for clip in clip_library.rows if clip.state == "complete"), None)
        if clip_library is not None
        else None
    )


class EngineMissing(Exception):
    """The Sandbox has no engine for this here: some have no release for each Python."""


async def transcribe(guide: TourGuide, path: Path) -> tuple[int, int]:
    """Transcribe a clip; return how many words were right, and how many there are. Raises `EngineMissing`."""
    guide.window.show_tab("transcription")
    page = guide.window.tab("transcription")
    assert isinstance(page, TranscriptionPage)
    presenter = page.presenter
    await guide.until(tr("the transcription engine"), lambda: presenter.transcripts is not None)
    presenter.add_files([path])
    await guide.until(tr("the clip in place"), lambda: presenter.head().view == "sound" and presenter.head().can_send)
    page.main_action()
    await guide.until(
        tr("the transcript"),
        lambda: presenter.head().problem or (presenter.head().view == "result" and page.plain_text()),
    )
    problem = presenter.head().problem
    if problem is not None:
        exchange = presenter.head().exchange
        is_missing = exchange is not None and exchange.status == 501
        raise EngineMissing(problem.meaning) if is_missing else StepFailed(str(problem))
    words = page.plain_text().split()
    said = SAYING.lower().replace(".", "").split()
    return sum(word.strip(".,").lower() in said for word in words), len(words)


async def draw(guide: TourGuide) -> StoredImage:
    """Describe an image and wait until its file is there."""
    guide.window.show_tab("images")
    page = guide.window.tab("images")
    assert isinstance(page, ImagesPage)
    library = page.presenter.library
    await guide.until(tr("an image model"), lambda: page.form.model.currentData())
    prompt = page.main_input()
    prompt.setFocus()
    QTest.keyClicks(prompt, PICTURE_OF)
    await guide.until(tr("the price"), lambda: page.form.make.isEnabled())
    page.make()
    await guide.until(tr("the image"), lambda: any(image.state == "saved" for image in library.rows.values()))
    return next(image for image in library.rows.values() if image.state == "saved")


async def call_chain(guide: TourGuide) -> RunView:
    """Send a batch whose last call fails, as its transaction does not exist."""
    guide.window.show_tab("crypto_rpc")
    page = guide.window.tab("crypto_rpc")
    assert isinstance(page, CryptoRpcPage)
    presenter = page.presenter
    await guide.until(tr("the methods"), lambda: presenter.methods is not None and presenter.view().can_send)
    presenter.edit(lambda draft: draft.set_text(CALLS))
    guide.press(page.main.request.params, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await guide.until(tr("the answers"), lambda: presenter.run is not None and presenter.run.outcomes)
    assert presenter.run is not None
    return presenter.run
