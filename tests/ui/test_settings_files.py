"""Settings: models, spending limits, files and folders, notifications."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QRadioButton

from app.credentials.accounts import new_account
from app.service.models import Model
from app.storage.settings import SettingsStore
from tests.kit.settings import change_settings
from tests.kit.widgets import words


async def test_a_limit_is_kept_and_what_is_no_amount_is_said_at_its_field(settings_harness, settings, tasks):
    settings.show_section("spending")
    page = settings.page("spending")
    day = page.fields["hard day"]
    QTest.keyClicks(day, "2.50")
    QTest.keyClick(day, Qt.Key.Key_Return)
    await tasks.idle()
    assert SettingsStore(settings_harness.paths.settings).value.budgets == {"hard day": "2.50"}
    call = page.fields["soft call"]
    QTest.keyClicks(call, "much")
    QTest.keyClick(call, Qt.Key.Key_Return)
    assert call.property("state") == "error"
    assert "Enter an amount in USD, such as 1.50." in words(page)
    call.selectAll()
    QTest.keyClick(call, Qt.Key.Key_Delete)
    QTest.keyClick(call, Qt.Key.Key_Return)
    assert "Enter an amount in USD" not in words(page)
    assert page.fields["hard day"].text() == "$2.50"
    await tasks.idle()


async def test_files_are_listed_with_their_folders_and_removal_is_only_asked_for(settings_harness, settings, tasks):
    (settings_harness.paths.data / "recordings").mkdir(parents=True)
    (settings_harness.paths.data / "recordings" / "a.wav").write_bytes(bytes(3_000_000))
    wanted: list[bool] = []
    settings.removal_requested.connect(lambda: wanted.append(True))
    settings.show_section("files")
    await tasks.idle()
    page = settings.page("files")
    text = words(page)
    assert "Recordings" in text
    assert "3 MB" in text
    assert str(settings_harness.paths.data / "recordings") in text
    page.remove.click()
    assert wanted == [True]
    assert (settings_harness.paths.data / "recordings" / "a.wav").exists()
    await tasks.idle()


async def test_notifications_can_be_tried_and_say_why_there_are_none(settings_harness, settings, tasks):
    shown: list[tuple[str, str]] = []

    async def notify(title: str, text: str) -> str:
        shown.append((title, text))
        return "This desktop does not show notifications."

    settings_harness.settings.notify = notify
    settings.show_section("notifications")
    page = settings.page("notifications")
    assert page.tell.isChecked()
    page.tell.click()
    page.try_it.click()
    await tasks.idle()
    assert not settings_harness.store.value.notify
    assert shown[0][0] == "Rialto"
    assert "This desktop does not show notifications." in words(page)
    await tasks.idle()


MODELS = tuple(
    Model.model_validate({"id": name.lower(), "type": "text", "model_spec": {"name": name}}) for name in ("One", "Two")
)


async def test_the_model_of_new_chats_is_chosen_for_each_account(settings_harness, settings, tasks):
    account = new_account("Main", "https://api.example.com/v1")
    settings_harness.current_account.use(account, None)
    settings_harness.current_account.set_numbers(models=MODELS)
    settings.show_section("models")
    page = settings.page("models")
    assert "For Main." in words(page)
    page.default.setFocus()
    QTest.keyClick(page.default, Qt.Key.Key_End)
    await tasks.idle()
    assert SettingsStore(settings_harness.paths.settings).value.default_model == {account.id: "two"}
    QTest.keyClick(page.default, Qt.Key.Key_Home)
    await tasks.idle()
    assert SettingsStore(settings_harness.paths.settings).value.default_model == {}


async def test_what_new_chats_begin_with_is_chosen_and_taken_back(settings_harness, settings, tasks):
    settings.show_section("models")
    page = settings.page("models")
    page.prompt.setFocus()
    QTest.keyClicks(page.prompt, "Answer tersely.")
    next(each for each in page.web.findChildren(QRadioButton) if each.text() == "On").click()
    page.thinking.click()
    page.temperature.setFocus()
    page.temperature.lineEdit().selectAll()
    QTest.keyClicks(page.temperature, "0")
    QTest.keyClick(page.temperature, Qt.Key.Key_Return)
    page.reply_limit.stepUp()
    await tasks.idle()
    chosen = {"system_prompt": "Answer tersely.", "web_search": "on", "thinking": False}
    assert SettingsStore(settings_harness.paths.settings).value.chat_defaults == {
        **chosen,
        "temperature": 0.0,
        "reply_limit": 256,
    }
    QTest.keyClick(page.temperature, Qt.Key.Key_Down)
    page.reply_limit.stepDown()
    page.thinking.click()
    page.prompt.selectAll()
    QTest.keyClick(page.prompt, Qt.Key.Key_Delete)
    await tasks.idle()
    assert page.temperature.text() == "Model default"
    assert SettingsStore(settings_harness.paths.settings).value.chat_defaults == {"web_search": "on"}


async def test_a_favourite_is_removed_from_the_list(settings_harness, settings, tasks):
    change_settings(settings_harness.store, favourite_models=("two", "gone"))
    settings_harness.current_account.use(new_account("Main", "https://api.example.com/v1"), None)
    settings_harness.current_account.set_numbers(models=MODELS)
    settings.show_section("models")
    page = settings.page("models")
    text = words(page)
    assert "Two" in text
    assert "gone" in text
    button = next(each for each in page.findChildren(QPushButton) if "Two" in each.accessibleName())
    QTest.keyClick(button, Qt.Key.Key_Space)
    await tasks.idle()
    assert SettingsStore(settings_harness.paths.settings).value.favourite_models == ("gone",)
    assert "Two" not in words(page)
