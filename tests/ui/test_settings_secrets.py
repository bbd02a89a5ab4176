"""Without a keychain the person chooses; nothing is chosen silently and nothing is written in plain text."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QDialog, QWidget

from app.core.secret_storage import ProxyLogin
from app.credentials.stores import StoreAbsent, StoreLocked
from app.service.errors import ConnectionFailed, CredentialUnavailable
from app.ui.kit.widgets.label import Label
from app.ui.settings.secrets.unlock import ChangePassphraseDialog
from app.ui.settings.this_computer import ThisComputer
from tests.kit.shell import KEY, make_settings
from tests.kit.waiting import until

PASSPHRASE = "four quiet herons wade"


@pytest.fixture
async def bare(tasks, tmp_path):
    """A computer without a keychain."""
    settings_harness = make_settings(tmp_path, tasks, missing=True)
    settings_harness.secrets.refresh()
    await tasks.idle()
    return settings_harness


async def test_a_keychain_is_used_without_a_question(settings_harness, tasks):
    settings_harness.secrets.refresh()
    await tasks.idle()
    state = settings_harness.secrets.state
    assert (state.kind, state.ask, state.short) == ("keyring", "", "available, unlocked")


async def test_without_a_keychain_a_choice_is_asked_for_and_nothing_is_kept(bare):
    assert bare.secrets.state.ask == "choose"
    with pytest.raises(StoreAbsent):
        await bare.secrets.write("a", KEY)


async def test_this_session_only_is_remembered_as_a_choice(bare, tasks):
    bare.secrets.keep_for_session()
    await tasks.idle()
    await bare.secrets.write("a", KEY)
    assert await bare.secrets.read("a") == KEY
    assert bare.store.value.secret_store == "session"
    assert bare.vault.data is None


async def test_a_passphrase_file_holds_no_plain_key(bare, tasks):
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE)
    await tasks.idle()
    await bare.secrets.write("a", KEY)
    assert bare.secrets.state.kind == "passphrase"
    assert KEY.encode() not in bare.vault.data


async def test_two_entries_that_differ_make_no_file(bare, tasks):
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE + "x")
    await tasks.idle()
    assert bare.secrets.state.problem == "The passphrases do not match."
    assert bare.vault.data is None


async def test_a_weak_passphrase_is_refused_in_words(bare, tasks):
    bare.secrets.keep_in_file("short", "short")
    await tasks.idle()
    assert bare.secrets.state.problem
    assert bare.vault.data is None


async def test_locking_asks_for_the_passphrase_again_and_a_wrong_one_is_named(bare, tasks):
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE)
    await tasks.idle()
    await bare.secrets.write("a", KEY)
    bare.secrets.lock()
    await tasks.idle()
    assert bare.secrets.state.ask == "passphrase"
    with pytest.raises(StoreLocked):
        await bare.secrets.read("a")
    bare.secrets.open_file("not the passphrase")
    await tasks.idle()
    assert "passphrase" in bare.secrets.state.problem
    bare.secrets.open_file(PASSPHRASE)
    await tasks.idle()
    assert await bare.secrets.read("a") == KEY


async def test_a_keychain_that_was_started_meanwhile_is_found(bare, tasks):
    bare.keychain.missing = False
    bare.secrets.refresh()
    await tasks.idle()
    assert bare.secrets.state.is_ready


async def test_ready_is_told_once_when_the_question_is_answered(bare, tasks):
    told: list[bool] = []
    bare.secrets.ready.connect(lambda: told.append(True))
    bare.secrets.refresh()
    await tasks.idle()
    bare.secrets.keep_for_session()
    await tasks.idle()
    bare.secrets.refresh()
    await tasks.idle()
    assert told == [True]


async def test_a_key_is_read_from_its_place_for_every_call_and_kept_nowhere(settings_harness):
    await settings_harness.secrets.write("a", KEY)
    assert await settings_harness.secrets.api_key("a") == KEY
    assert KEY not in repr(vars(settings_harness.secrets)) + repr(settings_harness.secrets.state)
    await settings_harness.secrets.write("a", KEY[::-1])
    assert await settings_harness.secrets.api_key("a") == KEY[::-1]
    await settings_harness.secrets.delete("a")
    assert await settings_harness.secrets.api_key("a") == ""


async def test_calls_are_told_that_keys_are_locked_in_words_of_their_own_layer(bare, tasks):
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE)
    await tasks.idle()
    await bare.secrets.write("a", KEY)
    await bare.secrets.keep_proxy_password(ProxyLogin("", 0, ""), KEY)
    assert await bare.secrets.proxy_password() == KEY
    bare.secrets.lock()
    await tasks.idle()
    for reading in (bare.secrets.api_key("a"), bare.secrets.proxy_password()):
        with pytest.raises(CredentialUnavailable) as told:
            await reading
        assert told.value.locked and told.value.surely_not_sent


async def test_a_proxy_gets_no_password_without_a_place_for_it(bare):
    with pytest.raises(ConnectionFailed) as told:
        await bare.secrets.proxy_password()
    assert (told.value.code, told.value.surely_not_sent) == ("proxy_password", True)


async def test_the_passphrase_is_changed_by_who_knows_it_and_each_problem_stands_at_its_field(
    bare, tasks, theme, qtbot
):
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE)
    await tasks.idle()
    await bare.secrets.write("a", KEY)
    before = bare.vault.data
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ChangePassphraseDialog(theme, window, bare.secrets)

    async def typed(old: str, new: str, again: str) -> dict[str, str]:
        for field, text in zip(dialog.fields.values(), (old, new, again), strict=True):
            field.setText(text)
        dialog.change.click()
        await tasks.idle()
        return {name: box.problem for name, box in dialog.boxes.items() if box.problem}

    new = "nine loud geese fly"
    assert await typed(PASSPHRASE, new, "nine loud geese") == {"again": "The passphrases do not match."}
    assert list(await typed(PASSPHRASE, "short", "short")) == ["new"]
    assert list(await typed("not the passphrase", new, new)) == ["old"]
    assert bare.vault.data == before
    assert await typed(PASSPHRASE, new, new) == {}
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert not any(field.text() for field in dialog.fields.values())

    assert await bare.secrets.read("a") == KEY
    bare.secrets.lock()
    await tasks.idle()
    bare.secrets.open_file(PASSPHRASE)
    await tasks.idle()
    assert bare.secrets.state.is_locked
    bare.secrets.open_file(new)
    await tasks.idle()
    assert await bare.secrets.read("a") == KEY


async def test_only_a_passphrase_file_that_is_open_offers_another_passphrase(bare, tasks, theme, qtbot):
    page = ThisComputer(theme, bare.settings, bare.secrets)
    qtbot.addWidget(page)
    assert page.change.isHidden()
    bare.secrets.keep_in_file(PASSPHRASE, PASSPHRASE)
    await tasks.idle()
    assert not page.change.isHidden()
    page.change.click()
    await until(lambda: page.findChildren(ChangePassphraseDialog))
    (dialog,) = page.findChildren(ChangePassphraseDialog)
    dialog.reject()
    await tasks.idle()
    bare.secrets.lock()
    await tasks.idle()
    assert page.change.isHidden()


async def test_a_missing_keyring_is_spoken_of_once(settings_harness, tasks, theme, qtbot):
    page = ThisComputer(theme, settings_harness.settings, settings_harness.secrets)
    qtbot.addWidget(page)

    def words():
        return [each.text() for each in page.findChildren(Label) if each.isVisibleTo(page) and "keyring" in each.text()]

    settings_harness.secrets.refresh()
    await tasks.idle()
    assert "If the system keyring is missing" in words()
    settings_harness.keychain.missing = True
    settings_harness.secrets.refresh()
    await tasks.idle()
    assert words() == ["No system keyring was found on this computer."]
