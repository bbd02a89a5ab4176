"""Everything on the Wallet tab with the keyboard alone: no click, no call of a presenter, does what a key should."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app.ui.kit.widgets.buttons import Button
from app.wallet.keys import encrypt_key_file, read_private_key
from app.wallet.signer import EthAccountSigner, PrivateKey
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness, phrase_words, wanted_words
from tests.ui.wallet.keyboard import CTRL, Keyboard

# The phrase of BIP-39's own first test vector, and where BIP-44 leads from it: published, so nobody's.
PHRASE = " ".join(["abandon"] * 11 + ["about"])
ADDRESS = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
PASSWORD = "a long enough password"
ENTER, SPACE, DOWN, RIGHT, ESCAPE = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Space,
    Qt.Key.Key_Down,
    Qt.Key.Key_Right,
    Qt.Key.Key_Escape,
)


@pytest.fixture
def keyboard(wallet: WalletHarness) -> Iterator[Keyboard]:
    keyboard = Keyboard(wallet)
    yield keyboard
    keyboard.window.hide()


async def file_dialog(wallet: WalletHarness, path: Path) -> None:
    """Type a path into the system's dialog."""

    def found() -> QFileDialog | None:
        dialog = QApplication.activeModalWidget()
        return dialog if isinstance(dialog, QFileDialog) else None

    await until(found)
    dialog = found()
    assert dialog is not None
    name = dialog.findChild(QLineEdit, "fileNameEdit")
    assert name is not None
    name.setFocus()
    name.setText(str(path))
    dialog.accept()


async def add(wallet: WalletHarness, keyboard: Keyboard, way: int) -> object:
    """Open the dialog and turn to one of the ways to come by a wallet."""
    await keyboard.push(wallet.new_button)
    dialog = await keyboard.dialog(lambda: wallet.dialog)
    await keyboard.to(dialog.way)
    for _ in range(way):
        keyboard.press(RIGHT)
    return dialog


def spoken_name(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


async def test_a_new_wallet_is_made_and_its_backup_confirmed(wallet: WalletHarness, keyboard: Keyboard) -> None:
    dialog = await add(wallet, keyboard, 0)
    await keyboard.push(dialog.keep)
    await until(lambda: dialog.phrase.text())
    words = phrase_words(dialog)
    await keyboard.push(dialog.keep)
    await until(lambda: dialog.answers[0].isVisible())
    for place, field in wanted_words(dialog):
        await keyboard.write(field, words[place])
    await keyboard.push(dialog.keep)
    await until(lambda: len(wallet.book.list()) == 2)
    await wallet.tasks.idle()
    assert wallet.book.list()[1].kind == "wallet"


async def test_the_words_of_a_new_wallet_are_read_and_what_is_wrong_with_them_is_said(
    wallet: WalletHarness, keyboard: Keyboard, heard: list[str]
) -> None:
    dialog = await add(wallet, keyboard, 0)
    await keyboard.push(dialog.keep)
    await until(lambda: dialog.phrase.hasFocus())
    words = phrase_words(dialog)
    assert len(words) == 12
    assert spoken_name(dialog.phrase) == " ".join(f"{place}. {word}" for place, word in enumerate(words, 1))
    keyboard.press(ENTER)
    await until(lambda: dialog.answers[0].hasFocus())
    assert not dialog.phrase.isVisible()
    keyboard.press(ENTER)
    await until(lambda: dialog.problem.text())
    assert heard[-1] == spoken_name(dialog.problem) == dialog.problem.text()
    (first, field), (second, other) = wanted_words(dialog)
    await keyboard.write(field, words[first])
    await keyboard.write(other, words[second] + "x")
    focused: list[QWidget] = []
    QApplication.instance().focusChanged.connect(lambda _old, new: focused.append(new))
    await keyboard.push(dialog.keep)
    await until(lambda: other.hasFocus())
    assert other.accessibleDescription() == dialog.problem.text() and not field.accessibleDescription()
    assert set(focused[focused.index(dialog.keep) + 1 :]) <= {None, other}, "and no other control on the way"
    keyboard.press(ESCAPE)
    await until(lambda: wallet.dialog is None)


@pytest.mark.parametrize("kind", ["phrase", "key", "file"])
async def test_a_wallet_is_imported_from_a_phrase_a_key_and_a_key_file(
    wallet: WalletHarness, keyboard: Keyboard, tmp_path: Path, kind: str
) -> None:
    secret = "0x" + "11" * 32
    address = ADDRESS if kind == "phrase" else "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
    dialog = await add(wallet, keyboard, 2 if kind == "file" else 1)
    if kind == "file":
        path = tmp_path / "key.json"
        with read_private_key(secret, "evm") as key:
            path.write_bytes(await encrypt_key_file(key, PASSWORD))
        await keyboard.push(dialog.file)
        await file_dialog(wallet, path)
        await keyboard.dialog(lambda: wallet.dialog)
        await keyboard.write(dialog.password, "Wrong password")
        await keyboard.push(dialog.keep)
        await until(lambda: "Wrong password" in dialog.problem.text())
        await keyboard.write(dialog.password, PASSWORD)
    else:
        await keyboard.write(dialog.secret, PHRASE if kind == "phrase" else secret)
    await until(dialog.keep.isEnabled)
    await keyboard.push(dialog.keep)
    await until(lambda: len(wallet.book.list()) == 2)
    await wallet.tasks.idle()
    assert wallet.book.list()[1].address == address


async def test_a_watched_wallet_shows_what_is_to_be_signed_and_takes_the_signature(
    wallet: WalletHarness, keyboard: Keyboard
) -> None:
    owner = await wallet.faucet_wallet()
    kept = await wallet.place.read(owner.id)
    assert kept is not None
    wallet.book.remove(owner.id)

    async def read_key() -> PrivateKey:
        return read_private_key(kept, "evm")

    elsewhere = EthAccountSigner(owner.address, read_key)
    dialog = await add(wallet, keyboard, 3)
    await keyboard.write(dialog.address, owner.address)
    await keyboard.push(dialog.keep)
    await until(lambda: len(wallet.book.list()) == 2)
    await until(lambda: wallet.dialog is None)
    wallet.ask_elsewhere = wallet.page.dialogs.ask_elsewhere
    account = wallet.book.list()[1]
    links = wallet.card_of(account.id).findChildren(Button)
    await keyboard.push(next(each for each in links if each.text() == "Refresh balance"))
    dialog = await keyboard.dialog(lambda: wallet.dialog)
    text = dialog.findChild(QPlainTextEdit).toPlainText()
    assert owner.address in text
    await keyboard.write(dialog.findChild(QLineEdit), await elsewhere.sign_text(text))
    await keyboard.push(next(each for each in dialog.findChildren(Button) if each.text() == "Use signature"))
    await until(lambda: (card := wallet.presenter.card(account.id)) is not None and card.usd is not None)
    await wallet.tasks.idle()


async def test_a_top_up_is_chosen_read_signed_and_paid(
    wallet: WalletHarness, keyboard: Keyboard, heard: list[str]
) -> None:
    account = await wallet.faucet_wallet()
    wallet.presenter.reload()
    view = wallet.card_of(account.id)
    await keyboard.push(next(each for each in view.findChildren(Button) if each.text() == "Top up…"))
    dialog = await keyboard.dialog(lambda: wallet.top_up_dialog)
    await keyboard.write(dialog.amount, "7.25")
    for step, modifier in (
        ("payment", Qt.KeyboardModifier.NoModifier),
        ("review", Qt.KeyboardModifier.NoModifier),
        ("done", CTRL),
    ):
        await until(lambda: dialog.go.isEnabled() and QApplication.focusWidget() is not None)
        assert QApplication.focusWidget() is not dialog.go  # Enter alone must never sign
        assert dialog.go.isDefault() == (step != "done")
        keyboard.press(ENTER, modifier)
        await until(lambda step=step: wallet.top_up.step == step or wallet.top_up.problem)
        assert wallet.top_up.step == step, wallet.top_up.problem
        if step == "review":
            assert any("checks passed" in said for said in heard), heard
            (said,) = [each for each in heard if "checks passed" in each]
            assert said.startswith("7.25 USDC to 0x") and "The offer expires in" in said
            rows = sorted(wallet.top_up.rows, key=lambda row: ("domain", "message", "hash").index(row.group))
            named = {spoken_name(label).partition(":")[0]: label for label in dialog.sheet.findChildren(QLabel)}
            await keyboard.to(named[rows[0].name])
            for row in rows:  # what is signed is read field by field
                assert spoken_name(QApplication.focusWidget()).startswith(f"{row.name}: {row.value}")
                keyboard.press(DOWN)
    await until(dialog.leave.isDefault)
    assert any(said.startswith("The top-up arrived. $7.25 was credited") for said in heard)
    keyboard.press(ENTER)  # closes what has nothing left to sign
    await until(lambda: wallet.top_up_dialog is None)
    await wallet.tasks.idle()
    assert Decimal((await wallet.wallet_state(account))["usd"]) == Decimal("7.25")


async def test_limits_and_the_level_of_the_warning_are_typed(wallet: WalletHarness, keyboard: Keyboard) -> None:
    fields = wallet.limit_fields
    for field, text in ((fields.soft, "1"), (fields.hard, "10"), (fields.low, "200"), (fields.top_up, "25")):
        await keyboard.write(field.field, text)
        keyboard.press(ENTER)
    await keyboard.to(fields.scope)
    keyboard.press(DOWN)
    await keyboard.write(fields.hard.field, "0.5")
    await keyboard.to(fields.lock)
    await wallet.tasks.idle()
    own = f"low {wallet.sandbox_account.id}"
    kept = wallet.settings.value.budgets
    assert kept == {"soft day": "1", "hard day": "10", own: "200", "hard top-up": "25", "hard call": "0.5"}
    await keyboard.push(wallet.refresh_button)
    await until(lambda: any("below the $200.00" in sentence for sentence, *_ in wallet.toasts))
    await wallet.tasks.idle()


async def test_receipts_are_filtered_exported_compared_and_signatures_read(
    wallet: WalletHarness, keyboard: Keyboard, tmp_path: Path
) -> None:
    await keyboard.page("receipts")
    fields = wallet.filter_fields
    await keyboard.to(fields["free"])
    keyboard.press(DOWN)
    await until(lambda: wallet.receipts.filter.free == "all")
    await until(lambda: wallet.receipts.totals.count)
    await keyboard.to(wallet.receipts_table)
    await keyboard.push(wallet.export_button)
    await file_dialog(wallet, tmp_path / "book.json")
    await until(lambda: (tmp_path / "book.json").exists())
    assert json.loads((tmp_path / "book.json").read_text())["receipts"]
    await keyboard.page("compare")
    await keyboard.push(wallet.compare_button)
    await until(lambda: wallet.verdict_text() and not wallet.tasks.running("wallet compare"))
    await keyboard.page("signed")
    assert not wallet.signed_document.isVisible(), "nothing was signed: a sentence says so"
    await wallet.tasks.idle()


async def test_a_key_is_made_shown_once_and_revoked(wallet: WalletHarness, keyboard: Keyboard) -> None:
    view = wallet.key_page
    await keyboard.page("key")
    await until(lambda: len(wallet.key_lines()) == 1)
    await keyboard.push(view.new)
    dialog = await keyboard.dialog(lambda: wallet.key_dialog)
    await keyboard.write(dialog.name, "Night work")
    await keyboard.write(dialog.expires, "2001-01-01")
    assert not dialog.make.isEnabled()
    await keyboard.write(dialog.expires, "2031-01-31")
    await keyboard.push(dialog.make)
    await until(lambda: wallet.key_dialog not in (None, dialog))
    shown = await keyboard.dialog(lambda: wallet.key_dialog)
    assert "can show it again" in " ".join(
        label.text() for label in shown.findChildren(object) if hasattr(label, "text")
    )
    keyboard.press(ESCAPE)
    await until(lambda: len(wallet.key_lines()) == 2 and wallet.key_dialog is None)
    assert wallet.key_lines()[1][0] == "Night work"
    await keyboard.to(view.keys)
    keyboard.press(DOWN)
    keyboard.press(DOWN)
    await keyboard.push(view.edit)
    dialog = await keyboard.dialog(lambda: wallet.key_dialog)
    await keyboard.write(dialog.usd, "a lot")
    assert not dialog.make.isEnabled()
    await keyboard.write(dialog.usd, "2.50")
    await keyboard.push(dialog.make)
    await until(lambda: wallet.key_dialog is None and wallet.key_lines()[1][5] == "$0.00 of $2.50 per day")
    await keyboard.to(view.keys)
    keyboard.press(DOWN)
    keyboard.press(DOWN)
    await keyboard.push(view.revoke)
    await until(lambda: QApplication.activeModalWidget() is not None)
    question = await keyboard.dialog(QApplication.activeModalWidget)
    await keyboard.push(next(each for each in question.findChildren(Button) if each.text() == "Revoke"))
    await until(lambda: len(wallet.key_lines()) == 1)
    await until(lambda: any("revoked" in sentence for sentence, *_ in wallet.toasts))
    for part in ("limits", "hits"):
        await keyboard.to(view.part)
        keyboard.press(RIGHT)
        assert view.part.current == part
    await wallet.tasks.idle()


async def test_a_wallet_is_used_locked_unlocked_shown_and_exported(
    wallet: WalletHarness, keyboard: Keyboard, tmp_path: Path
) -> None:
    account = await wallet.faucet_wallet()
    wallet.presenter.reload()
    used: list[str] = []
    wallet.page.use_requested.connect(used.append)

    def named(name: str) -> Callable[[], QWidget | None]:
        def find() -> QWidget | None:
            widgets = wallet.card_of(account.id).findChildren(QWidget)
            return next((each for each in widgets if name in each.accessibleName() and not each.isHidden()), None)

        return find

    await keyboard.push(named("Use: Pocket wallet"))
    assert used == [account.id]
    await keyboard.push(named("Lock: Pocket wallet"))
    assert wallet.keys.is_locked
    await keyboard.push(named("Unlock: Pocket wallet"))
    assert not wallet.keys.is_locked
    await keyboard.push(named("Show the full address and QR code"))
    await keyboard.dialog(lambda: wallet.dialog)
    keyboard.press(ESCAPE)
    await until(lambda: wallet.dialog is None)
    await keyboard.push(named("Export key…: Pocket wallet"))
    dialog = await keyboard.dialog(lambda: wallet.dialog)
    for field in (dialog.password, dialog.again):
        await keyboard.write(field, PASSWORD)
    await keyboard.push(dialog.save)
    await file_dialog(wallet, tmp_path / "key.json")
    await wallet.tasks.idle()
    assert json.loads((tmp_path / "key.json").read_text())["version"] == 3
