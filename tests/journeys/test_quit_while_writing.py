"""Quitting in the middle of an answer: what came is kept, and its chat and the status bar agree about its cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from decimal import Decimal

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.bootstrap.rialto import Rialto
from app.ui.kit.widgets.dialogs import Dialog
from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.journeys.test_wallet import control
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]


async def test_an_answer_cut_by_quitting_costs_the_same_everywhere(start: Start) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("chat")
        talk = Talk(rialto)
        await control(rialto, "/settings", "PUT", tokens_per_second=8)
        rialto.chat.send(QUESTION)
        await until(lambda: talk.rows and talk.rows[-1].state == "streaming" and len(talk.rows[-1].text) > 40)
        rialto.window.close()
        dialog = await talk.hands.dialog(Dialog)
        leave = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Quit")
        QTest.mouseClick(leave, Qt.MouseButton.LeftButton)
        await until(lambda: not rialto.window.isVisible())
    async with start() as rialto:
        talk = Talk(rialto)
        await until(lambda: talk.rows and talk.rows[-1].role == "assistant")
        assert talk.rows[-1].state == "interrupted"
        cost = rialto.chat.opened.thread.last_of("assistant").cost_usd
        assert cost > Decimal(0)
        await until(lambda: rialto.current_account.spent_today == cost, lambda: str(rialto.current_account.spent_today))
