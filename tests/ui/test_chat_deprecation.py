"""Models that are about to go: said once over the box, with what the replacement changes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.service.models import Model
from app.ui.chat.models.deprecation_strip import ChangesDialog
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
        assert strip.words.text() == "Plain retires Feb 1, 2027. Next will replace it."
        run(shown, "chat.changes")
        dialog = await dialog_of(shown, ChangesDialog)
        every = next(button for button in dialog.findChildren(Button) if "Use in all 2" in button.text())
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
        assert shown.deprecations == [("Plain retires Feb 1, 2027. New chats use it.", "")]
    async with open_chat(theme, tmp_home, fake=models()) as again:
        await again.say("Three")
        assert again.deprecations == []
    later = {**ENDS, "removesAt": "2027-03-01T00:00:00Z"}
    moved = FakeService(models=[model_body(deprecation=later), NEXT])
    async with open_chat(theme, tmp_home, fake=moved) as moved_page:
        await moved_page.say("Four")
        sentences = [sentence for sentence, _ in moved_page.deprecations]
        assert sentences == ["Plain retires Mar 1, 2027. 2 chats use it."]


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
