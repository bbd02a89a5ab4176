"""Puts the speech tab together, and lets the chat speak through it."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from app.storage.paths import resources
from app.ui.speech.page import SpeechPage
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.session.clip_actions import ClipActions
from app.ui.speech.session.read_aloud import ReadAloud
from app.ui.speech.session.speech_player import SpeechPlayer
from app.ui.speech.session.voice_cloning import VoiceCloning
from app.ui.speech.voice_catalog import VoiceTable

if TYPE_CHECKING:
    from pathlib import Path

    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces

FOLLOW_S = 0.2


def make_speech_tab(rialto: Rialto) -> TabPieces:
    """Make the tab and begin as soon as the database is open."""
    cache = rialto.paths.cache / "speech"
    sound = SpeechPlayer(rialto.audio, rialto.tasks, cache, rialto.device_watch)
    table = VoiceTable(resources() / "data" / "voices.json")
    yield None
    presenter = SpeechPresenter(
        rialto.current_account, rialto.tasks, sound, table, rialto.paths.data, rialto.window.undo_stack
    )
    presenter.voice_list.has_account = lambda account_id: rialto.account_services.accounts.get(account_id) is not None
    yield None
    clip_actions = ClipActions(presenter, rialto.tasks)
    clones = VoiceCloning(presenter, rialto.audio, rialto.tasks, rialto.paths.cache / "voices")
    page = SpeechPage(rialto.theme, presenter, clip_actions, clones, rialto.tasks, whole=False)
    yield page
    yield from page.build()
    yield None
    page.aloud = ReadAloud(presenter, rialto.tasks)
    page.aloud.notice.connect(rialto.toast)
    rialto.window.silencers.append(page.silence)
    _follow_answers(rialto, page.aloud)
    page.help_requested.connect(rialto.help)
    page.transcribe_requested.connect(lambda path: _transcribe(rialto, path))
    page.toast_requested.connect(rialto.toast)

    async def begin(database: Database) -> None:
        await presenter.start(database, rialto.service_cache)
        page.voices.show_all()

    async def end() -> None:
        page.main.editor.flush()
        await presenter.aclose()
        await clones.aclose()

    rialto.when_open("speech", begin)
    rialto.on_end(end)
    return page


async def read_answer(rialto: Rialto, row_id: str) -> None:
    """Read an answer of the chat aloud, or fall silent when it is being read."""
    page = rialto.window.tab("speech")
    assert isinstance(page, SpeechPage) and page.aloud is not None
    await page.presenter.ready.wait()
    text, is_whole = _answer(rialto, row_id)
    page.aloud.toggle(row_id, text, is_whole=is_whole)


def _answer(rialto: Rialto, row_id: str) -> tuple[str, bool]:
    try:
        row = rialto.chat_page.main.view.row(row_id)
    except KeyError:
        return "", True
    return row.text, row.state != "streaming"


def _follow_answers(rialto: Rialto, aloud: ReadAloud) -> None:
    """Hand on what of the answer that is being read has been written since, a few times a second."""
    conversation = rialto.chat.conversation
    told_at = [0.0]

    def arrived(row_id: str, _text: str) -> None:
        if row_id == aloud.source and monotonic() - told_at[0] > FOLLOW_S:
            told_at[0] = monotonic()
            aloud.feed(row_id, _answer(rialto, row_id)[0])

    def ended(row_id: str) -> None:
        if row_id == aloud.source:
            aloud.feed(row_id, _answer(rialto, row_id)[0], is_whole=True)

    def connect() -> None:
        assert rialto.chat.conversation is not None
        rialto.chat.conversation.text_arrived.connect(arrived)
        rialto.chat.conversation.stream_ended.connect(ended)

    if conversation is not None:
        connect()
    else:
        rialto.chat.started.connect(connect)


def _transcribe(rialto: Rialto, path: Path) -> None:
    from app.bootstrap.transcription_tab import transcribe_file

    transcribe_file(rialto, path)
