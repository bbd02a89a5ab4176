"""A question to documents, in the Sandbox: what is shown before it is sent is what the Request page says was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QUrl

from app.service.http.base64_text import text_in
from app.ui.chat.session.chat_documents import place_words
from tests.journeys.conftest import settled
from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until


def sent_files(body: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Name and text of every file of a request."""
    parts = [part for each in body["messages"] if isinstance(each["content"], list) for part in each["content"]]
    files = [part["file"] for part in parts if part["type"] == "file"]
    return [(each["filename"], text_in(each["file_data"])) for each in files]


async def test_the_request_page_shows_the_passages_that_were_seen_neither_more_nor_less(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        talk = Talk(rialto)
        hands, attaching, documents = talk.hands, talk.presenter.attaching, talk.presenter.documents
        await talk.begin()
        await hands.command("Project with Rialto")
        await until(lambda: talk.presenter.opened.project_id is not None)
        project = talk.presenter.opened.project_id
        await until(lambda: documents.progress(project).state == "idle")
        await hands.press("Ctrl+L")
        await hands.type(QUESTION)
        await hands.press("Return")
        await until(lambda: len(talk.composer.strip.chips) > 2)
        await settled(rialto)
        assert not talk.rows
        attaching.remove(attaching.views()[1].key)
        await settled(rialto)
        seen = [view.name for view in attaching.views()]
        found, _ = await documents.find(project, QUESTION)
        texts = {place_words(each): each.text for each in found}
        assert len(seen) == len(found) - 1

        await hands.press("Return")
        await talk.answered()
        talk.presenter.show_request()
        page = talk.request_pane
        await until(lambda: page.record is not None)
        written = [f"## Passage {number}: {name}\n\n{texts[name]}" for number, name in enumerate(seen, 1)]
        assert sent_files(page.record.body) == [("Passages.txt", "\n\n".join(written))]
        page.body.anchorClicked.emit(QUrl("fold:/messages"))
        shown = page.body.toPlainText()
        assert all(json.dumps(texts[name], ensure_ascii=False)[1:100] in shown for name in seen)
        (out,) = texts.keys() - set(seen)
        assert out not in shown
        assert texts[out][:60] not in shown
