"""Quitting asks first where it would lose keys that no keyring keeps."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QPushButton

from app.credentials.accounts import new_account
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from tests.kit.waiting import until


async def add_account(rialto: Any) -> None:
    account = rialto.account_services.accounts.add(new_account("Elsewhere", "https://service.example/v1"))
    await rialto.places.write(account.id, "a-key-of-elsewhere")


async def question(window: Any) -> Dialog:
    """Wait for the dialog that is shown."""

    def shown() -> list[Dialog]:
        return [dialog for dialog in window.findChildren(Dialog) if dialog.isVisible()]

    await until(lambda: bool(shown()))
    return shown()[0]


def press(dialog: Dialog, text: str) -> None:
    next(button for button in dialog.findChildren(QPushButton) if button.text() == text).click()


async def test_quitting_with_keys_in_memory_asks_first(start: Callable[[], Any]) -> None:
    async with start() as rialto:
        window = rialto.window
        await until(lambda: rialto.places.state.kind or rialto.places.state.sentence)
        rialto.places.keep_for_session()
        await until(lambda: rialto.places.state.kind == "session" and rialto.places.state.is_ready)
        assert not any(each.is_open() for each in window.closing_questions), "the Sandbox makes its own key again"
        await add_account(rialto)
        window.close()
        dialog = await question(window)
        assert any("The key of Elsewhere is only in memory" in label.text() for label in dialog.findChildren(Label))
        press(dialog, "Keep running")
        await until(lambda: "ask to close" not in window.tasks.names)
        assert window.isVisible()
        window.close()
        press(await question(window), "Quit and forget the key")
        await until(lambda: not window.isVisible())


async def test_quitting_with_keys_in_a_file_asks_nothing(start: Callable[[], Any]) -> None:
    async with start() as rialto:
        await until(lambda: rialto.places.state.kind or rialto.places.state.sentence)
        rialto.places.keep_in_file("a long passphrase of four words", "a long passphrase of four words")
        await until(lambda: rialto.places.state.kind == "passphrase" and rialto.places.state.is_ready)
        await add_account(rialto)
        assert not any(each.is_open() for each in rialto.window.closing_questions)
