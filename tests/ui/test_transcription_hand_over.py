"""What Transcribe hands to Chat: a transcript in the box, the caret before it, and nothing sent."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from app.bootstrap.transcription_tab import ask_in_chat
from app.ui.chat.page import ChatPage
from app.ui.kit.theme import Theme
from tests.kit.chat import open_chat_presenter


async def test_a_transcript_lands_in_the_box_of_a_new_chat_and_is_not_sent(tmp_home: Path, theme: Theme) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        page = ChatPage(theme, harness.presenter, harness.tasks)
        shown: list[str] = []
        rialto = SimpleNamespace(window=SimpleNamespace(show_tab=shown.append), chat_page=page, chat=harness.presenter)
        ask_in_chat(rialto, "Lock keeper", "So this house came with the job.")  # type: ignore[arg-type]  # what it uses
        await harness.tasks.idle()
        composer = page.main.composer
        box = composer.box
        assert shown == ["chat"]
        assert box.toPlainText().endswith("This is the transcript “Lock keeper”:\n\nSo this house came with the job.")
        assert box.textCursor().position() == 0
        assert harness.presenter.opened.draft == box.toPlainText()
        assert harness.fake.requests == []
        for pane in (page.list_pane(), page.canvas(), page.inspector()):
            pane.deleteLater()
