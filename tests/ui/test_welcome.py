"""The first page: the Sandbox by Enter, an API key by a form, and honest words about what lives where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.core.secret_storage import SecretsState
from app.ui.kit.lists.plain_table import PlainTable
from app.ui.kit.widgets.search_field import SearchField
from app.ui.settings.accounts.form import AccountForm
from app.ui.settings.accounts.state import FormState
from app.ui.shell.welcome import WelcomePage
from tests.kit.shell import KEY, make_settings, refused
from tests.kit.waiting import until
from tests.kit.widgets import words
from tests.ui.test_shell_window import nameless


def hints(*buttons: Any) -> tuple[str, ...]:
    """The key printed on each button."""
    return tuple(button._hint for button in buttons)


@pytest.fixture
async def page(harness, settings_harness, tasks):
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, Path.home() / "rialto-data")
    harness.window.show_page(page)
    settings_harness.secrets.refresh()
    await tasks.idle()
    return page


async def test_the_sandbox_has_the_focus_and_enter_starts_it(harness, page):
    assert harness.window.focusWidget() is page.start
    chosen: list[bool] = []
    page.sandbox_chosen.connect(lambda: chosen.append(True))
    QTest.keyClick(page.start, Qt.Key.Key_Return)
    assert chosen == [True]


async def test_the_digits_go_to_the_three_ways(harness, page):
    QTest.keyClick(page.start, Qt.Key.Key_2)
    assert harness.window.focusWidget() is page.form.address
    QTest.keyClick(page.form.address, Qt.Key.Key_1)
    assert page.form.address.text() == "1"  # in a field a digit is a digit
    page.setFocus()
    QTest.keyClick(page.start, Qt.Key.Key_3)
    assert harness.window.focusWidget() is page.wallet_ways.button(0)
    QTest.keyClick(page.wallet_ways.button(0), Qt.Key.Key_1)
    assert harness.window.focusWidget() is page.start


async def test_r_auth_09_the_field_for_the_key_says_where_keys_are_made(page):
    assert page.form.key.toolTip() == "Create a key in your account’s API settings on the service’s website."
    assert page.form.key.accessibleDescription() == page.form.key.toolTip()


async def test_a_wallet_is_asked_for_in_the_way_that_was_chosen(page):
    wanted: list[str] = []
    page.wallet_requested.connect(wanted.append)
    page.set_up.click()
    QTest.keyClick(page.start, Qt.Key.Key_3)
    QTest.keyClick(page.wallet_ways.button(0), Qt.Key.Key_Down)
    QTest.keyClick(page.set_up, Qt.Key.Key_Space)
    page.wallet_ways.button(2).click()
    page.set_up.click()
    assert wanted == ["new", "import", "watch"]


async def test_on_a_bare_computer_a_wallet_waits_for_the_place_of_its_key(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    settings_harness.secrets.refresh()
    await tasks.idle()
    wanted: list[str] = []
    page.wallet_requested.connect(wanted.append)
    page.set_up.click()
    assert wanted == []
    assert page.question.isVisible()
    page.question.for_session.click()
    page.question.do.click()
    await tasks.idle()
    assert wanted == ["new"]
    assert not page.question.isVisible()


async def test_a_watched_address_needs_no_place_for_a_key(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    settings_harness.secrets.refresh()
    await tasks.idle()
    wanted: list[str] = []
    page.wallet_requested.connect(wanted.append)
    page.wallet_ways.button(2).click()
    page.set_up.click()
    assert wanted == ["watch"]


async def test_where_things_live_is_said_on_the_page(page):
    text = words(page)
    assert "System keyring:" in text
    assert "available, unlocked" in text
    assert "On this computer, in ~/rialto-data" in text
    assert "None. Rialto contacts only the address you enter." in text


async def test_a_good_key_ends_the_page(page, settings_harness, tasks):
    ended: list[bool] = []
    page.connected.connect(lambda: ended.append(True))
    page.form.address.setText("https://api.example.com/v1")
    page.form.key.setText(KEY)
    page.form.connect_button.click()
    await tasks.idle()
    assert ended == [True]
    assert settings_harness.book.active.base_url == "https://api.example.com/v1"
    assert page.form.key.text() == ""


async def test_a_refused_key_is_said_under_its_field_which_gets_the_focus(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, refused)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    page.form.address.setText("https://api.example.com/v1")
    page.form.key.setText(KEY)
    page.form.connect_button.click()
    await tasks.idle()
    assert "The service did not accept this key." in words(page)
    assert page.form.key.property("state") == "error"
    assert harness.window.focusWidget() is page.form.key
    QTest.keyClicks(page.form.key, "sk-right")
    assert "The service did not accept this key." not in words(page)
    assert page.form.key.text() == "sk-right", "what is entered next takes the place of the refused key"
    settings_harness.secrets.refresh()
    await tasks.idle()
    assert "The service did not accept this key." not in words(page), "a verdict about another key"


async def test_enter_is_printed_where_it_works_and_mending_a_field_moves_no_button(page, tasks):
    form, start = page.form, page.start
    address = form.address
    box = address.parentWidget()
    connect = form.connect_button
    assert hints(start, connect) == ("Enter", "")
    address.setFocus()
    assert hints(start, connect) == ("", "Enter")
    QTest.keyClick(address, Qt.Key.Key_Return)
    await tasks.idle()
    assert box.problem
    page.grab()
    before = connect.mapTo(page, QPoint(0, 0))
    QTest.keyClick(address, Qt.Key.Key_H)
    assert not box.problem
    page.grab()
    assert connect.mapTo(page, QPoint(0, 0)) == before
    start.setFocus()
    assert hints(start, connect) == ("Enter", "")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 640)])
async def test_however_long_the_error_the_button_stays_where_it_is(page, harness, size):
    harness.window.resize(*size)
    QApplication.processEvents()  # the window takes its size in steps
    form = page.form
    places = []
    long = "The certificate of this server is not trusted by this computer. Run the test in Settings, under Connection."
    for state in (
        FormState(),
        FormState(problems={"base_url": long}, can_save_unchecked=True),
        FormState(problems={"base_url": long[:63], "key": long[:63]}),
        FormState(sentence=long[:63], can_save_unchecked=True),
        FormState(),
    ):
        form.show_form(state, SecretsState())
        for _ in range(4):  # a layout asks the one around it, which does so in its turn
            QApplication.processEvents()
        places.append(form.connect_button.mapTo(page, QPoint()))
    assert places == [places[0]] * 5
    assert "Rialto keeps keys in the system keyring" in words(form), "the note is back when nothing is wrong"


async def test_the_key_is_dots_until_the_eye_is_pressed(page):
    page.form.key.setText(KEY)
    assert page.form.key.displayText() != KEY
    page.form.key.eye.click()
    assert page.form.key.displayText() == KEY
    assert page.form.key.eye.accessibleName() == "Hide"
    page.form.key.wipe()
    assert page.form.key.echoMode() == QLineEdit.EchoMode.Password


async def test_a_bare_computer_is_asked_where_to_keep_a_key_only_when_there_is_one(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    button = page.form.connect_button
    page.grab()
    before = button.mapTo(page, QPoint()).y()
    settings_harness.secrets.refresh()
    await tasks.idle()
    page.grab()
    assert button.mapTo(page, QPoint()).y() == before, (
        "the page moves under the pointer once the keyring is found missing"
    )
    assert "asks where to keep the key" in words(page)
    assert not page.question.isVisible()
    page.form.key.setText(KEY)
    assert page.question.isVisible()
    assert not page.question.do.isEnabled()  # nothing is chosen for the person
    page.question.for_session.click()
    page.question.for_session.setFocus()
    QTest.keyClick(page.question.for_session, Qt.Key.Key_Tab)
    assert harness.window.focusWidget() is page.question.do
    QTest.keyClick(page.question.do, Qt.Key.Key_Return)
    await tasks.idle()
    assert not page.question.isVisible()
    assert "this session only" in words(page)
    assert harness.window.focusWidget() is page.form.connect_button  # the way on, not the rail


async def test_a_passphrase_is_typed_twice_with_tab_between_and_enter_never_shows_it(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    settings_harness.secrets.refresh()
    await tasks.idle()
    page.form.key.setText(KEY)
    question = page.question
    question.in_file.click()
    assert harness.window.focusWidget() is question.passphrase
    QTest.keyClick(question.passphrase, Qt.Key.Key_Tab)
    assert harness.window.focusWidget() is question.again
    stops = []
    for _ in range(3):
        QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Tab)
        stops.append(harness.window.focusWidget())
    assert stops == [question.passphrase.eye, question.again.eye, question.do]
    question.again.eye.setFocus()
    QTest.keyClick(question.again.eye, Qt.Key.Key_Return)
    assert question.again.echoMode() == QLineEdit.EchoMode.Password


async def test_an_account_that_waits_for_a_place_is_not_added_once_its_form_was_changed(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    page.form.address.setText("https://api.example.com/v1")
    page.form.key.setText(KEY)
    page.form.connect_button.click()
    await tasks.idle()
    assert settings_harness.accounts.state.form.waits
    QTest.keyClick(page.form.key, Qt.Key.Key_X)
    settings_harness.secrets.keep_for_session()
    await tasks.idle()
    assert settings_harness.book.list() == ()
    page.form.connect_button.click()
    await tasks.idle()
    assert [account.base_url for account in settings_harness.book.list()] == ["https://api.example.com/v1"]


async def test_tab_reaches_everything_and_everything_has_a_name(harness, page):
    assert nameless(harness.window) == []
    seen = set()
    page.setFocus()
    for _ in range(40):
        QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Tab)
        seen.add(harness.window.focusWidget())
    wanted = {page.start, page.form.address, page.form.key, page.form.key.eye, page.form.connect_button, page.set_up}
    assert wanted <= seen


@pytest.mark.parametrize(("width", "height", "percent"), [(880, 560, 100), (1024, 640, 100), (1440, 900, 200)])
async def test_nothing_is_cut_off_at_the_sides(harness, page, width, height, percent):
    harness.theme.set_text_percent(percent)
    harness.window.resize(width, height)
    QApplication.processEvents()
    assert page._column_frame.width() <= page.width()
    for button in (page.start, page.form.connect_button, page.set_up):
        assert button.width() >= button.sizeHint().width()


MODELS = {
    "data": [
        {"id": "say", "type": "tts", "model_spec": {"name": "Say", "pricing": {"input": {"usd": 3.5}}}},
        {"id": "glm", "type": "text", "model_spec": {"name": "GLM", "pricing": {"input": {"usd": 1}}}},
        {"id": "oracle", "type": "decision", "model_spec": {"name": "Oracle"}},
    ]
}


def ask_for_models(form: AccountForm) -> None:
    assert form.models.isEnabled()
    form.address.setText("api.example.com")
    form.models.click()


async def test_models_and_prices_of_a_service_are_seen_without_a_key(harness, tasks, tmp_path):
    def service(request: httpx.Request) -> httpx.Response:
        at_the_path = request.url.path == "/api/v1/models"
        return httpx.Response(200, json=MODELS) if at_the_path else httpx.Response(404, text="<html>")

    settings_harness = make_settings(tmp_path / "bare", tasks, service)
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    ask_for_models(page.form)
    await until(lambda: QApplication.activeModalWidget() is not None)
    dialog = QApplication.activeModalWidget()
    table = dialog.findChild(PlainTable)
    assert dialog.windowTitle() == "Models at api.example.com"
    assert [tuple(line) for line in table.rows.lines] == [
        ("GLM", "Chat", "input: $1.00 per million tokens"),
        ("Say", "Speech", "input: $3.50 per million characters"),
        ("Oracle", "decision", ""),
    ]
    assert not any("authorization" in request.headers for request in settings_harness.asked)
    QTest.keyClicks(dialog.findChild(SearchField), "speech")
    assert [line[0] for line in table.rows.lines] == ["Say"]
    dialog.reject()
    await tasks.idle()
    assert not settings_harness.book.list()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(401, "lists its models only to those with a key"), (404, "not a compatible service")],
)
async def test_a_service_that_shows_no_models_says_so_at_the_form(harness, tasks, tmp_path, status, sentence):
    settings_harness = make_settings(tmp_path / "bare", tasks, lambda _: httpx.Response(status, json={"error": "x"}))
    page = WelcomePage(harness.theme, settings_harness.accounts, settings_harness.secrets, tmp_path)
    harness.window.show_page(page)
    ask_for_models(page.form)
    await tasks.idle()
    form = settings_harness.accounts.state.form
    assert sentence in f"{form.sentence} {form.problems}"
