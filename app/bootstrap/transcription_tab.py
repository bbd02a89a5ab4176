"""The Transcribe tab: its presenter, its page, and what it hands to Chat and to Speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.transcription.page import TranscriptionPage
from app.ui.transcription.presenter import TranscriptionPresenter
from app.ui.transcription.session.upload_preparation import Folders

if TYPE_CHECKING:
    from pathlib import Path

    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces

QUESTION = tr("\n\nThis is the transcript “{title}”:\n\n{text}")


def make_transcription_tab(rialto: Rialto) -> TabPieces:
    """Build the tab and let it begin as soon as the database is open."""
    folders = Folders(rialto.paths.data / "recordings", rialto.paths.cache)
    presenter = TranscriptionPresenter(
        rialto.current_account,
        rialto.settings,
        rialto.tasks,
        folders,
        rialto.audio,
        rialto.device_watch,
        rialto.window.undo_stack,
    )
    yield None
    page = TranscriptionPage(rialto.theme, presenter, rialto.tasks, whole=False)
    yield page
    yield from page.build()
    yield None
    page.help_requested.connect(rialto.help)
    page.toast_requested.connect(rialto.toast)
    presenter.row_notice.connect(
        lambda sentence, row_id: rialto.toast(sentence, tr("Show"), lambda: _show(rialto, page, row_id))
    )
    page.chat_requested.connect(lambda title, text: ask_in_chat(rialto, title, text))
    page.speech_requested.connect(lambda title, text: speak(rialto, title, text))

    async def begin(database: Database) -> None:
        from app.storage.paid_call_intents import Intents

        await presenter.start(database, rialto.service_cache, Intents(database))

    rialto.when_open("transcription", begin)
    rialto.on_end(presenter.aclose)
    return page


def _show(rialto: Rialto, page: TranscriptionPage, row_id: str) -> None:
    rialto.window.show_tab("transcription")
    page.open_row(row_id)


def ask_in_chat(rialto: Rialto, title: str, text: str) -> None:
    """Open a new chat with the transcript in the box and the caret before it. Nothing is sent."""
    rialto.window.show_tab("chat")
    page, draft = rialto.chat_page, QUESTION.format(title=title, text=text)
    page.new_chat()
    page.main.composer.set_text(draft)
    rialto.chat.set_draft(draft)
    cursor = page.main.composer.box.textCursor()
    cursor.setPosition(0)
    page.main.composer.box.setTextCursor(cursor)


def speak(rialto: Rialto, title: str, text: str) -> None:
    """Put the transcript into a new clip of the Speech tab, under its title. Nothing is sent."""
    from app.ui.speech.page import SpeechPage

    rialto.window.show_tab("speech")
    page = rialto.window.tab("speech")
    if isinstance(page, SpeechPage):
        page.take_text(text, title)


def transcribe_file(rialto: Rialto, path: Path) -> None:
    """Show a file of another tab here, ready to be transcribed. Nothing is sent."""
    rialto.window.show_tab("transcription")
    page = rialto.window.tab("transcription")
    if isinstance(page, TranscriptionPage):
        page.presenter.add_files((path,))
