"""The page of a project: what is set there reaches the request, new chats and the gate for money."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.core.spending_limits import Question, SpendingLimits, spending_in
from app.core.tabs import tab_of
from app.service.calls import Call
from app.service.errors import SpendingLimit
from app.service.retry import CallKind
from app.storage.database import Database
from app.storage.projects.project_store import Projects
from app.storage.receipts import Receipts
from app.ui.chat.project_dialog import ProjectChoices, ProjectDialog
from app.ui.chat.session.chat_options import ChatOptions
from app.ui.chat.state import CharacterHead, ProjectForm
from app.ui.kit.theme import Theme
from tests.kit.chat import ACCOUNT, ChatHarness, open_chat, open_chat_presenter
from tests.kit.waiting import until
from tests.storage.conftest import Clock
from tests.storage.test_receipts import receipt as receipt_values
from tests.ui.test_chat_projects import made, undo

SPEAKER = CharacterHead("bridge-builder", "Bridge builder", "Builds bridges", 4.5, 7, "")


async def dialog_of(shown: ChatHarness) -> ProjectDialog:
    await until(lambda: any(isinstance(each, ProjectDialog) for each in QApplication.topLevelWidgets()))
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, ProjectDialog))


async def test_instructions_stand_before_the_chats_own_prompt_and_are_on_the_request_page(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        project = await made(shown, "Thesis")
        shown.presenter.projects.change(project, instructions="Cite every source.")
        await shown.settle()
        shown.page.new_chat(project)
        shown.presenter.set_option("system_prompt", "Be brief.")
        await shown.settle()
        note = next(each for each in shown.parameters.findChildren(QLabel) if "Thesis" in each.text())
        assert note.text() == "The instructions of “Thesis” are sent before this."
        assert shown.parameters.prompt.toPlainText() == "Be brief."
        await shown.say("Which bridge is older?")
        sent = shown.fake.requests[-1]["messages"]
        assert sent[0] == {"role": "system", "content": "Cite every source.\n\nBe brief."}
        seen: list[Any] = []
        assert shown.presenter.conversation is not None
        shown.presenter.conversation.request_changed.connect(seen.append)
        shown.presenter.show_request()
        await shown.settle()
        assert seen[-1].record.body["messages"][0]["content"] == "Cite every source.\n\nBe brief."

        # a chat elsewhere has none of it, a chat that is moved there has it with its next message
        shown.page.new_chat()
        await shown.say("And here?")
        assert [each["role"] for each in shown.fake.requests[-1]["messages"]] == ["user"]
        tokens = shown.presenter.opened.branch_tokens()
        shown.presenter.projects.move([shown.presenter.opened.chat_id or ""], project)
        await shown.settle()
        assert shown.presenter.opened.branch_tokens() > tokens
        await shown.say("And now?")
        assert shown.fake.requests[-1]["messages"][0] == {"role": "system", "content": "Cite every source."}

        # removed with the project
        shown.presenter.projects.remove([project])
        await shown.settle()
        await shown.say("And without?")
        assert shown.fake.requests[-1]["messages"][0]["role"] == "user"


async def test_what_the_page_of_a_project_says_is_kept_and_undone_in_one(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        project = await made(shown, "Thesis")
        await shown.say("A question")
        shown.presenter.projects.move([shown.presenter.opened.chat_id or ""], project)
        shown.presenter.set_option("temperature", 0.3)
        await shown.settle()
        shown.page.controller.edit_project()  # of the open chat
        dialog = await dialog_of(shown)
        texts = {each.text() for each in dialog.findChildren(QLabel)}
        assert {"Chats", "Messages", "Spent", "1", "2"} <= texts
        dialog.name.setText("Dissertation")
        dialog.color.setCurrentIndex(dialog.color.findData("blue"))
        dialog.instructions.setPlainText("Cite.")
        dialog.parameters.setCurrentIndex(dialog.parameters.findText("Same as the open chat"))
        dialog.limit.setText("lots")
        dialog.save.click()
        assert dialog.isVisible() and "such as 2.50" in dialog.limit_problem.text()
        dialog.limit.setText("$2.50")
        dialog.name.setText(" ")
        dialog.save.click()
        assert dialog.isVisible() and dialog.problem.text() == "Enter a name."
        assert dialog.limit_problem.text() == ""
        dialog.name.setText("Dissertation")
        dialog.save.click()
        await shown.settle()
        (kept,) = shown.presenter.projects.all
        assert (kept.name, kept.color, kept.instructions, kept.limit_usd) == (
            *("Dissertation", "blue", "Cite."),
            Decimal("2.50"),
        )
        assert kept.options["parameters"]["temperature"] == 0.3
        await undo(shown)
        (back,) = shown.presenter.projects.all
        assert (back.name, back.color, back.instructions, back.limit_usd, back.options) == ("Thesis", "", "", None, {})


def test_the_page_shows_and_gives_back_what_it_was_given(theme: Theme, qtbot: Any) -> None:
    form = ProjectForm("Thesis", "teal", "Cite.", "gone-model", SPEAKER, {"temperature": 0.2}, "2.50")
    choices = ProjectChoices([("m", "Model M")], [SPEAKER], [("Same as the open chat", {})])
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ProjectDialog(theme, window, form, choices, ())
    assert dialog.form == form
    assert [dialog.character.itemText(place) for place in range(dialog.character.count())] == [
        "No character",
        "Bridge builder",
    ]
    dialog.model.setCurrentIndex(dialog.model.findData("m"))
    dialog.character.setCurrentIndex(0)
    dialog.parameters.setCurrentIndex(0)
    dialog.limit.setText("")
    assert dialog.form == ProjectForm("Thesis", "teal", "Cite.", "m")


async def test_new_chats_begin_with_the_projects_model_character_and_parameters(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as chat:
        project = await made(chat, "Thesis")
        usual = chat.presenter.opened.options
        model = chat.presenter.account_models.models()[-1].id
        options = ChatOptions(temperature=0.2, thinking=False).to_dict()
        chat.presenter.projects.keep(project, ProjectForm("Thesis", model=model, character=SPEAKER, parameters=options))
        await chat.tasks.idle()
        chat.presenter.new_chat(project_id=project)
        opened = chat.presenter.opened
        assert (opened.model_id, opened.character, opened.options) == (
            model,
            SPEAKER,
            ChatOptions(temperature=0.2, thinking=False),
        )
        await chat.say("A question")
        stored = await chat.history.chat(opened.chat_id or "")
        assert (stored.project_id, stored.model, stored.character_slug) == (project, model, "bridge-builder")
        chat.presenter.new_chat()
        assert (chat.presenter.opened.options, chat.presenter.opened.character) == (usual, None)


def call(usd: str | None) -> Call:
    return Call("POST", "/chat/completions", CallKind.PAID, "chat", expected_usd=None if usd is None else Decimal(usd))


async def test_the_gate_holds_a_project_to_its_limit_whatever_the_day(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "rialto.db")
    projects, receipts = Projects(database), Receipts(database)
    questions: list[Question] = []

    async def ask(question: Question) -> bool:
        questions.append(question)
        return True

    budget = SpendingLimits(dict, lambda: (), ask, tab_of)
    budget.start(receipts)
    one, other = await projects.create("One"), await projects.create("Other")
    await projects.change(one.id, limit_usd=Decimal("1.00"))
    await receipts.add(receipt_values(1, Clock(), cost_usd=Decimal("0.70"), project_id=one.id))  # of another year

    with spending_in(other.id):
        await budget.check(ACCOUNT, call("9"), "elsewhere")
    with spending_in(one.id):
        await budget.check(ACCOUNT, call("0.20"), "fits")
        assert budget.project_of("fits") == one.id
        with pytest.raises(SpendingLimit) as refused:
            await budget.check(ACCOUNT, call("0.20"), "too much with the one under way")
        assert refused.value.scope == f"project {one.id}"
        assert str(refused.value) == (
            "This would exceed your project limit of $1.00. This request may cost $0.20. "
            "This project has spent $0.90. Nothing was sent."
        )
        await budget.check(ACCOUNT, call(None), "of unknown price, while there is room")
        await projects.change(one.id, limit_usd=Decimal("0.90"))
        with pytest.raises(SpendingLimit, match="reached"):
            await budget.check(ACCOUNT, call(None), "of unknown price, without room")
        await projects.change(one.id, limit_usd=None)
        await budget.check(ACCOUNT, call("9"), "no limit")
    await budget.check(ACCOUNT, call("9"), "in none")
    assert budget.project_of("in none") == ""
    assert questions == []
    await database.close()
