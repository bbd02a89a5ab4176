"""Projects as somebody uses them who has a keyboard and nothing else, in the Sandbox, up to the limit and past it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from app.storage.receipts import Receipts
from app.ui.chat.project_dialog import ProjectDialog
from app.ui.chat.state import ProjectKey
from app.ui.kit.widgets.dialogs import Dialog
from tests.journeys.conftest import settled
from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until


async def back_in(window: QWidget) -> None:
    """A dialog has closed: the window has the keyboard again, as a window system would give it."""
    await until(lambda: not any(isinstance(one, Dialog) and one.isVisible() for one in QApplication.topLevelWidgets()))
    window.activateWindow()
    await until(lambda: QApplication.activeWindow() is window)


async def test_a_project_is_made_filled_limited_and_removed_by_keys_alone(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, projects = talk.hands, talk.presenter.projects
        await talk.begin()
        await talk.ask(QUESTION)
        chat = talk.presenter.opened.chat_id

        # made, and the open chat moved into it
        await hands.command("New project")
        await hands.dialog(Dialog, lambda one: one.findChild(QLineEdit) is not None)
        await hands.type("Bridges")
        await hands.press("Return")
        await until(lambda: [each.name for each in projects.all] == ["Bridges"])
        project = projects.all[0].id
        await back_in(rialto.window)
        await hands.press("Ctrl+Shift+O")
        await until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        await hands.press("Return")
        await until(lambda: talk.presenter.opened.project_id == project)
        await until(lambda: talk.chat_rows.shown_keys() == [ProjectKey(project), chat])
        await hands.undo("chat")
        await until(lambda: talk.presenter.opened.project_id is None)
        await hands.press("Ctrl+Shift+O", "Return")
        await until(lambda: talk.presenter.opened.project_id == project)

        # instructions and a limit that nothing fits in
        await hands.press("Ctrl+Shift+Y")
        dialog = await hands.dialog(ProjectDialog)
        assert isinstance(dialog, ProjectDialog)
        await hands.tab_to(dialog.instructions)
        await hands.type("Answer in one sentence.")
        await hands.tab_to(dialog.limit)
        await hands.type("0.000001")
        await hands.press("Return")
        await until(lambda: projects.all[0].limit_usd == Decimal("0.000001"))
        await back_in(rialto.window)
        count = len(talk.rows)
        await hands.press("Ctrl+L")
        await hands.type("And where are my chats?")
        await hands.press("Return")
        await until(lambda: len(talk.rows) == count + 2 and talk.rows[-1].problem is not None)
        assert "project limit" in talk.rows[-1].problem.what
        button = talk.rows[-1].problem.primary
        assert button is not None and button.id == f"limits:project {project}"

        # its button opens the page, where the limit is lifted; then it is answered, and the receipt names the project
        talk.act_on_row(talk.rows[-1].id, button.id)
        dialog = await hands.dialog(ProjectDialog)
        assert isinstance(dialog, ProjectDialog)
        await hands.tab_to(dialog.limit)
        await hands.press("Ctrl+A", "Delete", "Return")
        await until(lambda: projects.all[0].limit_usd is None)
        await back_in(rialto.window)
        await hands.press("Ctrl+R")
        await talk.answered()
        await settled(rialto)
        message = talk.presenter.opened.thread.last_of("assistant")
        assert message is not None and message.cost_usd
        receipt = await Receipts(rialto.database).for_exchange(message.exchange_id or "")
        assert receipt is not None and receipt.project_id == project
        real, play = await projects.spent(project)
        assert (real.usd, play.usd) == (Decimal(0), receipt.cost_usd)

        # folded, removed and brought back from the list
        view = talk.chat_list.view
        view.setFocus()
        view.show_current(ProjectKey(project))
        await hands.press("Left")
        await until(lambda: talk.chat_rows.shown_keys() == [ProjectKey(project)])
        await hands.press("Delete")
        await until(lambda: talk.chat_rows.shown_keys() == [chat])
        await hands.undo("chat")
        await until(lambda: talk.chat_rows.shown_keys() == [ProjectKey(project)])
    async with start() as again:
        await until(lambda: again.chat.opened.chat_id == chat)
        assert [(each.name, each.folded) for each in again.chat.projects.all] == [("Bridges", True)]
        assert again.chat.opened.sent_options.system_prompt == "Answer in one sentence."
