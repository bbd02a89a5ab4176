"""Models that are about to go: said once over the box, with what the replacement changes."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.service.models import Model
from app.ui.chat.models.changes_dialog import ChangesDialog
from app.ui.chat.session.model_changes import changes
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from tests.kit.chat import FakeService, model_body, open_chat
from tests.ui.test_chat_desk import dialog_of, press, run

ENDS = {"date": "2027-02-01T00:00:00Z", "removesAt": "2027-02-01T00:00:00Z", "replacementModelId": "next"}
NEXT = model_body(
    "next",
    "Next",
    availableContextTokens=131_072,
    pricing={"input": {"usd": 0.5, "diem": 0.5}, "output": {"usd": 6.0, "diem": 6.0}},
    capabilities={"supportsVision": True, "supportsWebSearch": False},
    privacy="anonymized",
)


def models() -> FakeService:
    return FakeService(models=[model_body(deprecation=ENDS), NEXT])


def test_what_a_replacement_changes_is_told_in_words() -> None:
    old, new = Model.model_validate(model_body()), Model.model_validate(NEXT)
    assert changes(old, new) == (
        "Its context is larger: 131K tokens instead of 32K.",
        "Input costs less: $0.50 per million tokens instead of $1.00.",
        "Output costs more: $6.00 per million tokens instead of $4.00.",
        "It adds images.",
        "It loses web search.",
        "Its requests are anonymous.",
    )
    assert changes(old, old) == ()


async def test_a_model_that_goes_is_named_and_replaced_in_every_chat_by_key(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        await shown.say("One")
        shown.page.new_chat()
        await shown.settle()
        await shown.say("Two")
        strip = shown.deprecation_strip
        assert strip.isVisible()
        assert strip.words.text() == "Plain retires Feb 1, 2027. Next will replace it. In use: 2 chats, new chats."
        run(shown, "chat.changes")
        dialog = await dialog_of(shown, ChangesDialog)
        every = next(button for button in dialog.findChildren(Button) if button.text() == "Use everywhere")
        QTest.keyClick(every, Qt.Key.Key_Space)
        await shown.settle()
        assert {chat.model for chat in await shown.history.chats()} == {"next"}
        assert not strip.isVisible()
        await shown.say("Three")
        assert shown.fake.requests[-1]["model"] == "next"


async def test_the_picker_names_what_comes_instead_and_is_worked_by_key(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        press(shown, "Ctrl+Shift+M")
        picker = shown.page.picker
        assert picker is not None
        QTest.keyClicks(picker.search, "plain")
        assert picker._note.text() == "Replacement: Next"
        for _ in range(5):
            QTest.keyClick(picker.search, Qt.Key.Key_Backspace)
        QTest.keyClicks(picker.search, "next")
        assert picker._note.text() == ""
        QTest.keyClick(picker.search, Qt.Key.Key_Return)
        await shown.settle()
        assert shown.presenter.opened.model_id == "next"


async def test_a_toast_names_the_model_once_for_good(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        await shown.say("One")
        shown.page.new_chat()
        await shown.say("Two")
        assert shown.deprecations == [("Plain retires Feb 1, 2027. In use: new chats.", "")]
    async with open_chat(theme, tmp_home, fake=models()) as again:
        await again.say("Three")
        assert again.deprecations == []
    later = {**ENDS, "removesAt": "2027-03-01T00:00:00Z"}
    moved = FakeService(models=[model_body(deprecation=later), NEXT])
    async with open_chat(theme, tmp_home, fake=moved) as moved_page:
        await moved_page.say("Four")
        sentences = [sentence for sentence, _ in moved_page.deprecations]
        assert sentences == ["Plain retires Mar 1, 2027. In use: 2 chats, new chats."]


async def test_the_toast_leads_to_a_chat_that_uses_the_model(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as before:
        await before.say("One")
        chat_id = before.presenter.opened.chat_id
        before.page.new_chat()
        await before.settle()
        before.presenter.use_model("other", for_new_chats=True)
        await before.settle()
        await before.say("Two")
    leaving = FakeService(models=[model_body(deprecation=ENDS), NEXT, model_body("other", "Other")])
    async with open_chat(theme, tmp_home, fake=leaving) as shown:
        assert [found for _, found in shown.deprecations] == [chat_id]
        shown.page.open_chat(chat_id or "")
        await shown.settle()
        assert shown.deprecation_strip.isVisible()


async def test_what_was_read_is_not_said_again(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        await shown.say("One")
        shown.deprecation_strip.close_button.click()
        await shown.say("Two")
        assert not shown.deprecation_strip.isVisible()


async def test_a_replacement_that_is_not_listed_leads_to_the_list(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(models=[model_body(deprecation={**ENDS, "replacementModelId": "gone"})])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("One")
        strip = shown.deprecation_strip
        assert strip.choose.isVisible() and not strip.changes.isVisible()


async def test_a_warning_of_a_response_alone_is_shown_also_where_the_list_is_silent(
    theme: Theme, tmp_home: Path
) -> None:
    """R-HDR-19 R-HDR-20 R-VER-05."""
    headers = {
        "content-type": "application/json",
        "x-service-model-id": "plain",
        "x-service-model-deprecation-warning": "plain will be removed",
        "x-service-model-deprecation-date": "2027-02-01",
    }
    body = {"model": "plain", "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    fake = FakeService(answers=[httpx.Response(200, headers=headers, json=body)])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        assert not shown.deprecation_strip.isVisible()
        await shown.say("One")
        strip = shown.deprecation_strip
        assert strip.isVisible()
        assert strip.words.text() == "Plain retires Feb 1, 2027. In use: 1 chat, new chats."
        assert strip.choose.isVisible() and not strip.everywhere.isVisible()
        assert shown.deprecations == [("Plain retires Feb 1, 2027. In use: 1 chat, new chats.", "")]
        shown.presenter.refresh_models()  # a list that does not know of it takes nothing back
        await shown.settle()
        assert strip.isVisible()


async def test_chats_presets_projects_and_new_chats_take_the_replacement_and_give_it_back(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        await shown.say("One")
        presenter = shown.presenter
        presenter.projects.create("Harbor", ())
        await shown.settle()
        project_id = presenter.library.projects.all[0].id
        await presenter.library.projects.set_model(project_id, "plain")
        presenter.presets.keep("preset", "Mine", {"model": "plain", "options": {}})
        await shown.settle()
        presenter.publish_all()
        await shown.settle()
        strip = shown.deprecation_strip
        assert strip.words.text().endswith("In use: 1 chat, 1 project, 1 preset, new chats.")
        strip.everywhere.click()
        await shown.settle()
        preset = presenter.presets.rows("preset")[0].id
        assert {chat.model for chat in await shown.history.chats()} == {"next"}
        assert presenter.library.projects.one(project_id).model == "next"
        assert presenter.presets.one(preset).body["model"] == "next"
        assert presenter.account_models.default_id() == "next"
        assert not strip.isVisible()
        assert shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert {chat.model for chat in await shown.history.chats()} == {"plain"}
        assert presenter.library.projects.one(project_id).model == "plain"
        assert presenter.presets.one(presenter.presets.rows("preset")[0].id).body["model"] == "plain"
        assert presenter.account_models.default_id() == "plain"
        assert strip.isVisible()


async def test_the_picker_can_show_only_the_models_that_leave(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        press(shown, "Ctrl+Shift+M")
        picker = shown.page.picker
        assert picker is not None
        assert picker.model.matches() == 2
        picker.pills["Leaving soon"].click()
        assert picker.model.matches() == 1
        assert picker.model.name_of("plain") == "Plain"


@pytest.mark.parametrize("date", ["", "soon", "2027-13-45", "99999-01-01", "2027-02-01T00:00:00+99:00", "x" * 5_000])
async def test_an_odd_date_is_soon(theme: Theme, tmp_home: Path, date: str) -> None:
    leaving = {"date": date, "removesAt": date, "replacementModelId": "next"}
    fake = FakeService(models=[model_body(deprecation=leaving), NEXT])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("One")
        assert shown.deprecation_strip.words.text().startswith("Plain retires soon. Next will replace it.")
