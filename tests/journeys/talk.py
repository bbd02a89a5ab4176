"""What journeys begin with, and a chat as somebody holds it who has a keyboard and nothing else."""

from __future__ import annotations

from typing import Any

from app.bootstrap.rialto import Rialto
from tests.journeys.keyboard import Keyboard
from tests.kit.chat import ChatWidgets
from tests.kit.settings import change_settings
from tests.kit.waiting import until

QUESTION = "Where does Rialto keep my API key?"


async def in_the_sandbox(rialto: Rialto) -> None:
    change_settings(rialto.settings, welcome_done=True)
    rialto.accounts.use(rialto.account_services.sandbox_account().id)
    await until(lambda: rialto.current_account.service is not None and rialto.chat.head().model_id)


class Talk(ChatWidgets):
    """The chat page as a person sees it, and hands on the keyboard."""

    def __init__(self, rialto: Rialto) -> None:
        self.page = rialto.chat_page
        self.presenter = rialto.chat
        self.hands = Keyboard(rialto.window)

    @property
    def rows(self) -> tuple[Any, ...]:
        return self.page.rows()

    async def begin(self) -> None:
        await self.hands.begin()
        await self.hands.press("Ctrl+1", "Ctrl+L")
        await until(self.message_box.hasFocus)

    async def ask(self, text: str) -> None:
        """Type, send, and wait for the whole answer."""
        before = len(self.rows)
        await self.hands.press("Ctrl+L")
        await self.hands.type(text)
        await self.hands.press("Return")
        await until(lambda: len(self.rows) != before or self.is_writing)
        await self.answered()

    @property
    def is_writing(self) -> bool:
        return self.presenter.head().writing

    async def answered(self) -> None:
        await until(lambda: self.rows and self.rows[-1].role == "assistant" and self.rows[-1].state == "complete")

    async def walk_to(self, control: str, row_id: str) -> None:
        """Go with Tab to something that can be pressed in one message, and press it."""
        view = self.view
        await self.hands.tab_to(view, "Shift+Tab")
        view.scroll_to_start()
        for _ in range(150):
            spot = view.picture.focused
            if spot is not None and spot.control == control and spot.row_id == row_id:
                await self.hands.press("Return")
                return
            await self.hands.press("Tab")
        raise AssertionError(f"{control} cannot be reached by Tab")
