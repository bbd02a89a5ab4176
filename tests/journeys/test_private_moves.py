"""Messages of a private chat stay in memory: another chat takes none of them, and it takes none of another's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.ui.chat.session.message_moves import FROM_PRIVATE, TO_PRIVATE
from tests.journeys.conftest import settled
from tests.journeys.test_private_chat import QUESTION, ask, files_with
from tests.journeys.test_typing import enter_sandbox

Start = Callable[..., Any]


async def test_messages_go_from_a_private_chat_to_a_private_one_alone(start: Start, tmp_path: Any) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        await ask(rialto, "An ordinary question")
        ordinary = rialto.chat.opened.chat_id
        rialto.window.registry.run("chat.new_private")
        await ask(rialto, QUESTION)
        private, row_id = rialto.chat.opened.chat_id, rialto.chat_page.rows()[0].id
        moves = rialto.chat.message_moves
        assert {each.id: each.why_not for each in moves.targets("")} == {"": "", ordinary: FROM_PRIVATE}
        notices: list[str] = []
        rialto.chat.notice.connect(notices.append)
        moves.put(row_id, ordinary, move=False)
        await settled(rialto)
        assert notices == [FROM_PRIVATE]
        moves.put(row_id, "", move=False)
        await settled(rialto)
        (copy,) = set(rialto.chat.unsaved_private()) - {private}
        rialto.chat.open_chat(copy)
        await settled(rialto)
        assert rialto.chat_page.rows()[0].text == QUESTION
        rialto.chat.open_chat(ordinary)
        await settled(rialto)
        assert {each.why_not for each in moves.targets("")} == {"", TO_PRIVATE}
        assert files_with(tmp_path, "pomegranate") == []
        await rialto.chat.discard_private((private, copy))
