"""One paid call of each tab, begun as a person begins it, and how to see that it was done."""

from __future__ import annotations

import wave
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.bootstrap.rialto import Rialto
from app.core.problems import Problem
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.images.page import ImagesPage
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.speech.page import SpeechPage
from app.ui.transcription.page import TranscriptionPage
from app.ui.video.page import VideoPage
from tests.kit.waiting import until


@dataclass(frozen=True)
class PaidAction:
    """`prepare` fills in, `begin` presses the button that costs, `done` tells whether what was paid for is here."""

    prepare: Callable[[Rialto, Path], Awaitable[None]]
    begin: Callable[[Rialto], object]
    done: Callable[[Rialto], object]


def speech(rialto: Rialto) -> SpeechPage:
    page = rialto.window.tab("speech")
    assert isinstance(page, SpeechPage)
    return page


def transcription(rialto: Rialto) -> TranscriptionPage:
    page = rialto.window.tab("transcription")
    assert isinstance(page, TranscriptionPage)
    return page


def images(rialto: Rialto) -> ImagesPage:
    page = rialto.window.tab("images")
    assert isinstance(page, ImagesPage)
    return page


def video(rialto: Rialto) -> VideoPage:
    page = rialto.window.tab("video")
    assert isinstance(page, VideoPage)
    return page


def console(rialto: Rialto) -> CryptoRpcPage:
    page = rialto.window.tab("crypto_rpc")
    assert isinstance(page, CryptoRpcPage)
    return page


async def _chat(rialto: Rialto, _folder: Path) -> None:
    await until(lambda: rialto.chat.head().can_send)


async def _speech(rialto: Rialto, _folder: Path) -> None:
    page = speech(rialto)
    await until(lambda: page.presenter.ready.is_set() and page.presenter.model is not None)
    page.main.editor.setPlainText("One short line.")
    await until(lambda: page.presenter.text == "One short line." and not page.presenter.meter.why_not)


async def _transcription(rialto: Rialto, folder: Path) -> None:
    sound = folder / "tone.wav"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes((np.sin(np.arange(16_000) / 10) * 9_000).astype(np.int16).tobytes())
    page = transcription(rialto)
    await until(lambda: page.presenter.transcripts is not None)
    page.presenter.add_files([sound])
    await until(lambda: page.presenter.head().view == "sound" and page.presenter.head().can_send)


async def _images(rialto: Rialto, _folder: Path) -> None:
    page = images(rialto)
    await until(lambda: page.presenter.styles and page.form.model.count())
    page.form.prompt.setPlainText("A harbor at dawn")
    await until(lambda: page.form.make.isEnabled())


async def _video(rialto: Rialto, _folder: Path) -> None:
    page = video(rialto)
    await until(lambda: page.presenter.form.model(page.presenter.form.form.model) is not None)
    page.form.prompt.setPlainText("A harbor at dawn")
    await until(lambda: page.presenter.form.exact and page.form.queue.isEnabled())


async def _console(rialto: Rialto, _folder: Path) -> None:
    page = console(rialto)
    await until(lambda: page.presenter.methods is not None and page.presenter.view().can_send)


def _transcribed(rialto: Rialto) -> bool:
    row = transcription(rialto).presenter.open_row
    return row is not None and row.state == "done"


def _answered(rialto: Rialto) -> bool:
    thread = rialto.chat.opened.thread
    message = thread.get(thread.head_id)
    return message is not None and message.role == "assistant" and message.state == "complete"


def _spoken(rialto: Rialto) -> bool:
    page = speech(rialto)
    if page.running_work():  # the window asks before it closes over it
        return False
    clip_library = page.presenter.clip_library
    return clip_library is not None and any(clip.state == "complete" for clip in clip_library.rows)


def _called(rialto: Rialto) -> bool:
    run = console(rialto).presenter.run
    return run is not None and run.results > 0


def _ask(rialto: Rialto) -> None:
    rialto.chat.send("How do I stop an answer?")


PAID_ACTIONS = {
    "chat": PaidAction(_chat, _ask, _answered),
    "speech": PaidAction(_speech, lambda rialto: speech(rialto).speak(aloud=False), _spoken),
    "transcription": PaidAction(_transcription, lambda rialto: transcription(rialto).main_action(), _transcribed),
    "images": PaidAction(
        _images, lambda rialto: images(rialto).make(), lambda r: any(t.is_whole for t in images(r).gallery_state.tiles)
    ),
    "video": PaidAction(
        _video,
        lambda rialto: video(rialto).queue(),
        lambda r: any(j.queue_id for j in video(r).presenter.job_store.all()),
    ),
    "crypto_rpc": PaidAction(_console, lambda rialto: console(rialto).send(), _called),
}


def problem_of(rialto: Rialto, tab: str) -> Problem | None:
    """What the tab says went wrong, as its error card on the screen shows it."""
    if tab == "chat":
        conversation = rialto.chat.conversation
        rows = conversation.rows() if conversation is not None else ()
        return rows[-1].problem if rows else None
    if tab == "video":
        page = video(rialto)
        newest = max(page.presenter.job_store.all(), key=lambda job: job.created_at, default=None)
        if newest is None:
            return None
        page.presenter.select(newest.id)
        return page.detail.problem
    cards = rialto.window.findChildren(ErrorCard)
    return next((card.problem for card in cards if card.isVisible()), None)
