"""What was refused for lack of credits, in each tab, as something that can be done once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto


def what_was_refused(rialto: Rialto, tab: str) -> Callable[[], object] | None:
    """Return what asks again for the thing that is shown in `tab` now; None where nothing is waiting.

    It names that thing itself, so that it is right whatever is looked at meanwhile.
    """
    makers: dict[str, Callable[[Rialto], Callable[[], object]]] = {
        "chat": _chat,
        "speech": _speech,
        "transcription": _transcription,
        "images": _images,
        "video": _video,
        "crypto_rpc": _crypto_rpc,
    }
    return makers[tab](rialto) if tab in makers else None


def _chat(rialto: Rialto) -> Callable[[], object]:
    presenter = rialto.chat
    message_id = presenter.opened.thread.head_id
    return lambda: presenter.act(message_id, "retry") if message_id else None


def _speech(rialto: Rialto) -> Callable[[], object]:
    from app.ui.speech.page import SpeechPage

    page = rialto.window.tab("speech")
    assert isinstance(page, SpeechPage)
    take_id = page.presenter.sound.view.take_id
    return lambda: None if page.presenter.go_on(take_id) else page.speak()


def _transcription(rialto: Rialto) -> Callable[[], object]:
    from app.ui.transcription.page import TranscriptionPage

    page = rialto.window.tab("transcription")
    assert isinstance(page, TranscriptionPage)
    row = page.presenter.open_row
    return lambda: page.presenter.transcribe(row.id) if row is not None else None


def _images(rialto: Rialto) -> Callable[[], object]:
    from app.ui.images.page import ImagesPage

    page = rialto.window.tab("images")
    assert isinstance(page, ImagesPage)
    form = page.presenter.form
    return lambda: page.presenter.make(form)


def _video(rialto: Rialto) -> Callable[[], object]:
    from app.ui.video.page import VideoPage

    page = rialto.window.tab("video")
    assert isinstance(page, VideoPage)
    job_id = page.detail.id
    return lambda: page.presenter.do("send", job_id)


def _crypto_rpc(rialto: Rialto) -> Callable[[], object]:
    from app.ui.crypto_rpc.page import CryptoRpcPage

    page = rialto.window.tab("crypto_rpc")
    assert isinstance(page, CryptoRpcPage)
    return page.send
