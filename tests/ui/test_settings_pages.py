"""Settings: every section draws what is true, and a press reaches the one who can do it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.storage.receipts import Receipt
from app.storage.settings import SettingsStore
from app.ui.kit.widgets.label import Label
from app.ui.settings.key_list import ROW, SAID
from app.ui.settings.rows import SettingRow
from app.ui.settings.sections import SECTIONS, sections_for
from tests.kit.shell import KEY
from tests.kit.waiting import until
from tests.kit.widgets import words
from tests.ui.test_settings_accounts import add
from tests.ui.test_shell_window import nameless, open_dialog, press, wait_for_dialog

LEFT = Qt.MouseButton.LeftButton


def test_a_word_leads_to_its_section():
    assert [section.key for section in sections_for("dark")] == ["appearance"]
    assert [section.key for section in sections_for("shortcut")] == ["keyboard"]
    assert [section.key for section in sections_for("Let it fail")] == ["sandbox"]
    assert sections_for("") == SECTIONS
    assert sections_for("qqqq") == ()


async def test_every_section_opens_and_everything_in_it_has_a_name(harness, settings, tasks):
    for key in [section.key for section in SECTIONS]:
        settings.show_section(key)
        await tasks.idle()
        assert nameless(harness.window) == [], key
    await tasks.idle()


async def test_filtering_lists_and_opens_what_fits(settings, tasks):
    settings.filter.setText("font")
    QTest.keyClick(settings.filter, Qt.Key.Key_Return)
    assert settings.places.model().rowCount() == 2
    assert settings.places.current == "appearance"
    settings.filter.setText("qqqq")
    QTest.keyClick(settings.filter, Qt.Key.Key_Return)
    assert "No results for “qqqq”." in words(settings.list_pane())
    await tasks.idle()


async def test_down_and_enter_lead_from_the_search_to_what_it_found(harness, settings, tasks):
    settings.filter.setFocus()
    settings.filter.setText("font")
    QTest.keyClick(settings.filter, Qt.Key.Key_Down)
    assert harness.window.focusWidget() is settings.filter
    QTest.keyClick(settings.filter, Qt.Key.Key_Up)
    QTest.keyClick(settings.filter, Qt.Key.Key_Return)
    assert harness.window.focusWidget() is settings.places
    assert settings.places.current == "appearance"
    settings.filter.setFocus()
    settings.filter.setText("qqqq")
    QTest.keyClick(settings.filter, Qt.Key.Key_Down)
    assert harness.window.focusWidget() is settings.filter
    await tasks.idle()


async def test_arrows_in_the_list_open_sections(harness, settings, tasks):
    settings.places.setFocus()
    QTest.keyClick(settings.places, Qt.Key.Key_Down)
    assert settings._header.title.text() == "Connection"
    await tasks.idle()


async def test_the_open_section_has_a_ring_only_for_the_keyboard(harness, settings, tasks):
    places = settings.places

    def edge():
        rect = places.visualRect(places.currentIndex())
        return places.viewport().grab().toImage().pixelColor(rect.center().x(), rect.top() + 1).name()

    below = places.model().index(places.currentIndex().row() + 1, 0)
    window = harness.window
    send = partial(QApplication.sendEvent, window.windowHandle())
    spot = QPointF(places.viewport().mapTo(window, places.visualRect(below).center()))
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):  # QTest would turn Qt's loop here
        send(QMouseEvent(kind, spot, window.mapToGlobal(spot), LEFT, LEFT, Qt.KeyboardModifier.NoModifier))
    assert places.hasFocus()
    assert edge() == harness.theme.color("accent_tint").name()
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        send(QKeyEvent(kind, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier))
    assert edge() == harness.theme.color("accent").name()
    await tasks.idle()


async def test_the_palette_finds_single_settings(harness, settings, tasks):
    harness.window.show_tab("chat")
    harness.window.open_palette()
    palette = harness.window.overlays.palette
    QTest.keyClicks(palette.field, "text size")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert harness.window.current_tab == "settings"
    assert settings.places.current == "appearance"
    await tasks.idle()


# Appearance


async def test_looks_change_at_once_and_are_written_down(harness, settings_harness, settings, tasks):
    settings.show_section("appearance")
    page = settings.page("appearance")
    page.theme_choice._segments["dark"].click()
    page.system_font.click()
    page.reduce_motion.click()
    text, quiet = harness.theme.color("text"), harness.theme.color("text2")
    assert text != quiet
    page.high_contrast.click()
    await tasks.idle()
    assert (harness.theme.mode, harness.theme.reduced_motion) == ("dark", True)
    assert harness.theme.color("text2") == harness.theme.color("text") and harness.theme.high_contrast
    page.text_size.number.setValue(150)
    await until(lambda: harness.theme.text_percent == 150)
    await tasks.idle()
    kept = SettingsStore(settings_harness.paths.settings).value
    assert (kept.theme, kept.text_percent, kept.system_font, kept.reduced_motion) == ("dark", 150, True, True)
    assert kept.high_contrast
    await tasks.idle()


@pytest.mark.parametrize(("chosen", "seconds"), [("30", 30), ("", None)])
async def test_notices_stay_as_long_as_was_chosen(harness, settings_harness, settings, tasks, chosen, seconds):
    settings.show_section("notifications")
    settings.page("notifications").stay._segments[chosen].click()
    await tasks.idle()
    toasts = harness.window.overlays.toasts
    harness.window.settings_store.remember(notice_seconds=chosen)
    toast = toasts.show_toast("Saved")
    assert (toast.stay_s, toast.stays) == (seconds, seconds is None)
    assert SettingsStore(settings_harness.paths.settings).value.notice_seconds == chosen


# Keyboard


def row_of(page, action_id):
    return page.list.rows.index_of(action_id)


async def test_a_key_is_changed_by_pressing_it(harness, settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    page.list.setFocus()
    page.list.setCurrentIndex(row_of(page, "chat.new"))
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert harness.window.registry.entry("chat.new").shortcut == "Ctrl+J"
    assert row_of(page, "chat.new").data(Qt.ItemDataRole.AccessibleTextRole) == "New chat, Ctrl J, changed"
    QTest.keyClick(page.list, Qt.Key.Key_Delete)
    assert harness.window.registry.entry("chat.new").shortcut == "Ctrl+N"
    await tasks.idle()


async def test_a_press_on_a_key_waits_for_another_one(harness, settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    index = row_of(page, "window.palette")
    spot = page.list._delegate.parts(page.list.visualRect(index), index.data(ROW)).key.center()
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_F7)
    assert harness.window.registry.entry("window.palette").shortcut == "F7"
    await tasks.idle()


async def test_a_taken_key_is_refused_by_name_and_does_not_run_its_action(harness, settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    page.list.start_capture("chat.new")
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert "Commands…" in row_of(page, "chat.new").data(SAID)[0]
    assert harness.window.overlays._palette is None
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Escape)
    assert row_of(page, "chat.new").data(SAID)[0] == ""
    assert harness.window.registry.entry("chat.new").shortcut == "Ctrl+N"
    await tasks.idle()


async def test_backspace_takes_a_key_away_and_reset_brings_all_back(harness, settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    page.list.start_capture("window.list")
    QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Backspace)
    assert row_of(page, "window.list").data(Qt.ItemDataRole.AccessibleTextRole) == "List, no shortcut, changed"
    assert page.reset.isEnabled()
    page.reset.click()
    assert harness.window.registry.entry("window.list").shortcut == "Ctrl+B"
    await tasks.idle()


async def test_leaving_the_field_leaves_the_key_as_it_was(harness, settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    harness.window.activateWindow()
    await until(harness.window.isActiveWindow)
    page.list.start_capture("window.list")
    page.filter.setFocus()
    await until(lambda: row_of(page, "window.list").data(SAID)[0] == "")
    assert harness.window.focusWidget() is page.filter
    assert harness.window.registry.entry("window.list").shortcut == "Ctrl+B"
    await tasks.idle()


async def test_keys_are_found_by_action_and_by_key(settings, tasks):
    settings.show_section("keyboard")
    page = settings.page("keyboard")
    page.filter.setText("ctrl b")
    QTest.keyClick(page.filter, Qt.Key.Key_Return)
    assert page.list.rows.shown() == ("window.list",)
    page.filter.setText("larger")
    QTest.keyClick(page.filter, Qt.Key.Key_Return)
    assert page.list.rows.shown() == ("window.text_larger",)
    await tasks.idle()


# Privacy and data


async def test_images_from_other_sites_are_off_until_allowed(settings_harness, settings, tasks):
    settings.show_section("privacy")
    page = settings.page("privacy")
    assert not page.pictures.isChecked()
    page.pictures.click()
    await tasks.idle()
    assert settings_harness.store.value.load_remote_pictures
    await tasks.idle()


async def test_characters_for_adults_are_shown_when_they_are_asked_for(settings_harness, settings, tasks):
    settings.show_section("privacy")
    page = settings.page("privacy")
    assert not page.adult.isChecked()
    QTest.keyClick(page.adult, Qt.Key.Key_Space)
    await tasks.idle()
    assert settings_harness.store.value.show_adult


def receipt(account_id: str, endpoint: str = "GET /models") -> Receipt:
    return Receipt("r", datetime.now(UTC), account_id, "chat", endpoint, duration_s=0.084, outcome="ok")


async def test_what_left_this_computer_is_listed_by_host(settings_harness, settings, tasks):
    await add(settings_harness, tasks)
    settings.show_section("privacy")
    assert "Nothing yet" in words(settings.page("privacy"))
    for _ in range(3):
        settings_harness.calls.note(receipt(settings_harness.book.active_id))
    settings_harness.calls.note(receipt("the sandbox"))
    text = words(settings.page("privacy"))
    assert "api.example.com" in text
    assert "3 requests" in text
    assert "On this computer. Nothing leaves it." in text
    await tasks.idle()


async def test_r_tee_17_a_host_that_is_no_accounts_own_is_listed_by_its_name(settings_harness, settings, tasks):
    await add(settings_harness, tasks)
    settings.show_section("privacy")
    account_id = settings_harness.book.active_id
    for path in ("tdx/certification/v4/tcb", "tdx/certification/v4/qe/identity"):
        address = f"https://api.trustedservices.intel.com/{path}"
        settings_harness.calls.note(receipt(account_id, f"GET {address}"))
    settings_harness.calls.note(receipt("the sandbox", "GET http://127.0.0.1:4000/tdx/certification/v4/tcb"))
    text = words(settings.page("privacy"))
    assert "api.trustedservices.intel.com" in text and "2 requests" in text and "api.example.com" not in text
    assert "Asked about an enclave’s processors." in text and "On this computer. Nothing leaves it." in text
    assert settings_harness.calls.last_answer(account_id) is None
    await tasks.idle()


@pytest.mark.parametrize("name", ["intel", "nvidia"])
async def test_r_tee_17_others_are_asked_about_enclaves_only_when_that_is_switched_on(
    settings_harness, settings, tasks, name
):
    settings.show_section("privacy")
    switch = getattr(settings.page("privacy"), name)
    asks = {"intel": "ask_intel", "nvidia": "ask_nvidia"}
    assert not switch.isChecked() and not any(getattr(settings_harness.store.value, each) for each in asks.values())
    QTest.keyClick(switch, Qt.Key.Key_Space)
    await tasks.idle()
    for each, setting in asks.items():
        assert getattr(settings_harness.store.value, setting) == (each == name)


async def test_people_who_share_a_key_are_told_apart_by_a_random_id_only_when_that_is_switched_on(
    settings_harness, settings, tasks
):
    settings.show_section("privacy")
    switch = settings.page("privacy").apart
    assert not switch.isChecked() and settings_harness.store.value.anon_user_id == ""
    QTest.keyClick(switch, Qt.Key.Key_Space)
    await tasks.idle()
    assert len(settings_harness.store.value.anon_user_id) == 32
    QTest.keyClick(switch, Qt.Key.Key_Space)
    await tasks.idle()
    assert settings_harness.store.value.anon_user_id == ""


async def test_the_room_that_data_takes_is_measured(settings_harness, settings, tasks):
    settings_harness.paths.database.write_bytes(bytes(2_000_000))
    settings_harness.settings.measure_data()
    await tasks.idle()
    assert "2 MB" in words(settings.inspector())
    await tasks.idle()


# Sandbox


async def test_a_sandbox_that_does_not_start_says_why(settings_harness, settings, tasks):
    settings_harness.sandbox.refuses = "no free port"
    settings.show_section("sandbox")
    page = settings.page("sandbox").current
    page.start_stop.click()
    await tasks.idle()
    assert "no free port" in words(page)
    assert page.start_stop.text() == "Start"
    await tasks.idle()


async def test_the_sandbox_in_use_is_not_stopped_under_the_chat(settings_harness, settings, tasks):
    from app.credentials.accounts import Account

    await settings_harness.sandbox.start()
    settings_harness.current_account.use(Account("s", "Sandbox", "http://127.0.0.1", kind="sandbox"), None)
    settings.show_section("sandbox")
    page = settings.page("sandbox").current
    assert not page.start_stop.isEnabled()
    assert "Switch accounts" in page.start_stop.toolTip()
    await tasks.idle()


# Accounts


async def test_adding_an_account_in_settings_uses_it(harness, settings_harness, settings, tasks):
    harness.window.registry.run("settings.add_account")
    page = settings.page("accounts")
    assert harness.window.focusWidget() is page.form.address
    page.form.name.setText("Main account")
    page.form.address.setText("https://api.example.com/v1")
    page.form.key.setText(KEY)
    page.form.connect_button.click()
    await tasks.idle()
    assert [row._name.text() for row in page.rows.values()] == ["Main account"]
    assert not page.form.isVisible()
    assert "ends in 9f2c" in words(page.table)
    assert KEY not in words(page)
    await tasks.idle()
    assert all(cell.hasHeightForWidth() for cell in page.table.findChildren(Label)), "words wrap rather than be cut"


async def test_the_row_of_an_account_tests_renames_and_removes(harness, settings_harness, settings, tasks):
    await add(settings_harness, tasks, name="Main account")
    page = settings.page("accounts")
    settings.show_section("accounts")
    row = page.rows[settings_harness.book.active_id]
    row.do.click()
    await tasks.idle()
    assert "Key accepted" in words(row)
    menu = row.open_menu()
    next(item for item in menu.actions() if item.text() == "Rename…").trigger()
    await wait_for_dialog(harness.window)
    dialog = open_dialog(harness.window)
    field = dialog.findChildren(type(page.form.name))[0]
    field.setText("Other name")
    press(dialog, "Save")
    await tasks.idle()
    assert settings_harness.book.active.name == "Other name"
    row.wanted.emit(settings_harness.book.active_id, "remove")
    await tasks.idle()
    toast = harness.window.overlays.toasts.toasts[-1]
    assert "Other name was removed" in toast.accessibleName()
    toast.action.emit("undo")
    await tasks.idle()
    assert settings_harness.book.active.name == "Other name"
    row = page.rows[settings_harness.book.active_id]
    row.wanted.emit(settings_harness.book.active_id, "remove")
    await tasks.idle()
    assert [command.text for command in harness.window.undo_stack.newest()] == ["Other name was removed"]
    harness.window.undo_stack.undo_last("settings")
    await tasks.idle()
    assert settings_harness.book.active.name == "Other name"
    await tasks.idle()


async def test_replacing_a_key_asks_in_a_dialog_and_keeps_nothing_on_cancel(harness, settings_harness, settings, tasks):
    await add(settings_harness, tasks)
    page = settings.page("accounts")
    settings.show_section("accounts")
    page.table.wanted.emit(settings_harness.book.active_id, "replace-key")
    await wait_for_dialog(harness.window)
    dialog = open_dialog(harness.window)
    dialog.findChildren(type(page.form.key))[0].setText("sk-test-another-key-1234")
    press(dialog, "Cancel")
    await tasks.idle()
    assert list(settings_harness.keychain.items.values()) == [KEY]
    page.table.wanted.emit(settings_harness.book.active_id, "replace-key")
    await wait_for_dialog(harness.window)
    dialog = open_dialog(harness.window)
    dialog.findChildren(type(page.form.key))[0].setText("sk-test-another-key-1234")
    press(dialog, "Replace key")
    await tasks.idle()
    assert list(settings_harness.keychain.items.values()) == ["sk-test-another-key-1234"]
    await tasks.idle()


async def test_esc_in_the_form_throws_the_typed_key_away(harness, settings, tasks):
    page = settings.page("accounts")
    settings.show_section("accounts")
    page.open_form()
    page.form.key.setText(KEY)
    QTest.keyClick(page.form.key, Qt.Key.Key_Escape)
    assert page.form.key.text() == ""
    assert not page.form.isVisible()
    await tasks.idle()


async def test_every_receipt_of_an_account_says_when_its_key_was_used(settings_harness, settings, tasks):
    await add(settings_harness, tasks)
    settings.show_section("accounts")
    settings_harness.calls.note(receipt(settings_harness.book.active_id, "POST /chat/completions"))
    row = settings_harness.accounts.state.accounts[0]
    settings_harness.accounts.refresh()
    assert settings_harness.accounts.state.secrets[0].last_used == "just now"
    settings_harness.calls.note(receipt(settings_harness.book.active_id))
    assert settings_harness.calls.last_answer(row.id).latency_ms == 84
    await tasks.idle()


async def test_about_names_the_version_and_copies_it(settings, tasks):
    settings.show_section("about")
    page = settings.page("about")
    assert "1.2.3" in words(page)
    page.copy.click()
    assert QApplication.clipboard().text().startswith("Rialto 1.2.3")
    await tasks.idle()


async def test_a_place_for_keys_that_is_gone_is_said_in_a_banner_that_leads_to_the_choice(
    harness, settings, settings_harness, tasks
):
    await add(settings_harness, tasks, name="Main account")
    harness.window.watch_secrets(settings_harness.secrets)
    harness.current_account.use(settings_harness.book.active, None)
    banner = harness.window.overlays.banner
    assert not banner.isVisible()
    settings_harness.keychain.missing = True
    settings_harness.secrets.refresh()
    await tasks.idle()
    assert "Rialto needs a place to keep the key for Main account." in banner.banner.accessibleName()
    harness.window.show_tab("chat")
    banner.banner.action.emit("open")
    assert (harness.window.current_tab, settings.places.current) == ("settings", "accounts")
    await tasks.idle()


async def test_where_keys_are_kept_is_asked_only_when_there_is_a_key_to_keep(
    harness, settings, settings_harness, tasks
):
    settings_harness.keychain.missing = True
    settings_harness.secrets.refresh()
    settings.show_section("accounts")
    await tasks.idle()
    page = settings.page("accounts")
    assert not page.question.isVisible()
    page.open_form()
    assert page.question.isVisible()
    await tasks.idle()


def test_a_wide_control_stands_below_words_that_would_wrap_beside_it(theme, qtbot):
    field = QLineEdit()
    row = SettingRow(theme, "Model for new chats", field, meaning="Each account has its own.")
    qtbot.addWidget(row)
    field.setFixedWidth(400)
    row.resize(900, 200)
    row.show()
    assert field.x() > row.title.geometry().right()
    row.resize(520, 200)
    row.layout().activate()
    assert field.y() > row.meaning.geometry().bottom()
    assert row.title.height() < 2 * row.title.fontMetrics().height()
    row.set_meaning("")
    row.title.set_text("Seed")
    row.resize(530, 200)
    row.layout().activate()
    assert field.x() > row.title.geometry().right()
