"""What moves by itself while an answer is written is painted alone: nothing behind it, nothing beside it.

What stays as it was is not painted at all.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractButton, QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.ui.chat.composer.composer import ComposerFrame
from app.ui.chat.composer.input_box import MessageBox
from app.ui.chat.sidebar.chat_list import ChatListPane
from app.ui.chat.state import ChatEntry
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from tests.kit.chat import open_chat
from tests.kit.message_view import answer, question, settle
from tests.kit.paints import Paints


def chat(number: int, *, writing: bool = False) -> ChatEntry:
    return ChatEntry(f"chat {number}", f"Chat {number}", "Bench", "", "Today", writing=writing)


def test_a_ring_that_turns_in_the_list_of_chats_is_painted_alone(qtbot: QtBot, theme: Theme) -> None:
    theme.configure(mode="light", text_percent=100, reduced_motion=False)
    pane = ChatListPane(theme)
    qtbot.addWidget(pane)
    pane.resize(280, 600)
    pane.complete()
    pane.show_entries([chat(0, writing=True), *(chat(number) for number in range(1, 9))])
    pane.show()
    viewport = pane.view.viewport()
    paints = Paints(viewport, pane.view, pane)
    qtbot.waitUntil(lambda: bool(paints.rects[viewport]), timeout=60_000)
    QApplication.processEvents()
    paints.clear()
    qtbot.waitUntil(lambda: len(paints.rects[viewport]) >= 3, timeout=60_000)
    assert not paints.rects[pane] and not paints.rects[pane.view]
    assert max(rect.width() * rect.height() for rect in paints.rects[viewport]) < 24 * 24


def test_the_bar_of_a_conversation_moves_without_what_is_behind_it(qtbot: QtBot, theme: Theme) -> None:
    behind = QWidget()
    qtbot.addWidget(behind)
    view = MessageView(theme)
    QVBoxLayout(behind).addWidget(view)
    behind.resize(700, 400)
    view.set_messages([question(), answer("", state="streaming")])
    behind.show()
    view.append_text("a", "A paragraph that is there already.\n\n" * 40)
    settle(view)
    QApplication.processEvents()
    bar = view.verticalScrollBar()
    paints = Paints(bar, view, behind)
    for _ in range(5):
        view.append_text("a", "One more paragraph below all the others.\n\n" * 5)
        settle(view)
        QApplication.processEvents()
    assert paints.rects[bar]
    assert not paints.rects[view] and not paints.rects[behind]


def test_a_caret_blinks_without_what_is_behind_it(qtbot: QtBot, theme: Theme) -> None:
    frame = ComposerFrame(theme)
    qtbot.addWidget(frame)
    box = MessageBox(theme, frame)
    box.complete()
    QVBoxLayout(frame).addWidget(box)
    frame.resize(500, 80)
    frame.show()
    QApplication.processEvents()
    viewport = box.viewport()
    paints = Paints(viewport, box, frame)
    for on in (False, True):
        paints.clear()
        viewport.update(QRect(2, 2, 2, 12))
        qtbot.waitUntil(lambda: bool(paints.rects[viewport]), timeout=60_000)
        assert not paints.rects[box] and not paints.rects[frame]
        ground = theme.color("accent_tint" if on else "surface")
        assert viewport.grab().toImage().pixelColor(viewport.width() - 2, 2) == ground
        frame.set_target(not on)
        qtbot.waitUntil(lambda: len(paints.rects[viewport]) > 1, timeout=60_000)
        QApplication.processEvents()


async def test_an_open_chat_that_is_told_again_is_not_painted_again(tmp_home: Path, theme: Theme) -> None:
    async with open_chat(theme, tmp_home) as chat:
        await chat.say("Hello there")
        chat.side.complete()
        chat.presenter.publish_head()
        await chat.settle()
        kinds = (Label, QAbstractButton)
        paints = Paints(*(each for kind in kinds for each in chat.window.findChildren(kind) if each.isVisible()))
        assert len(paints.rects) > 20
        chat.presenter.publish_head()
        QApplication.processEvents()
        assert [widget for widget, rects in paints.rects.items() if rects] == []
