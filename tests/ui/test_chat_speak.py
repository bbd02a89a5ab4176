"""Reading an answer aloud while it is still being written: its button comes with the first whole sentence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.ui.kit.theme import Theme
from tests.kit.chat import FakeService, held, open_chat
from tests.kit.waiting import until


@pytest.mark.parametrize(
    ("begun", "can_be_read"),
    [
        ("The first half of a", False),
        ("The first sentence. And", True),
        ("# A title\n\nThen", True),
        ("这是一句话。", True),
    ],
)
async def test_the_button_comes_with_the_first_sentence(
    theme: Theme, tmp_home: Path, begun: str, can_be_read: bool
) -> None:
    gate = asyncio.Event()
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[held(gate, begun, " and the rest.")])) as shown:
        QTest.keyClicks(shown.message_box, "Why?")
        QTest.keyClick(shown.message_box, Qt.Key.Key_Return)
        await until(lambda: shown.text_of(-1) == begun if shown.rows else False)
        conversation = shown.presenter.conversation
        assert conversation is not None
        conversation._publish_receipt()  # what the timer of the receipt does a moment later
        row = shown.page.rows()[-1]
        assert (row.state, row.shown_actions) == ("streaming", ("speak",) if can_be_read else ())
        gate.set()
        await shown.settle()
        assert shown.page.rows()[-1].shown_actions == ("copy", "speak", "retry", "branch", "more")


async def test_it_is_pressed_by_the_keyboard_alone_while_the_answer_comes(theme: Theme, tmp_home: Path) -> None:
    gate = asyncio.Event()
    fake = FakeService(answers=[held(gate, "The first sentence. ", "The second.")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        pressed: list[tuple[str, str]] = []
        view = shown.view
        view.action.connect(lambda row_id, action: pressed.append((view.row(row_id).state, action)))
        QTest.keyClicks(shown.message_box, "Why?")
        QTest.keyClick(shown.message_box, Qt.Key.Key_Return)
        await until(lambda: bool(shown.rows) and shown.page.rows()[-1].shown_actions == ("speak",))
        QApplication.processEvents()
        shown.window.activateWindow()
        view.setFocus()
        for _ in range(12):
            QTest.keyClick(view, Qt.Key.Key_Tab)
            if shown.focused_control() == "speak":
                break
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert pressed == [("streaming", "speak")]
        gate.set()
        await shown.settle()
