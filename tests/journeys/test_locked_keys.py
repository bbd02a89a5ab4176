"""A computer without a keyring: the first start asks once where keys are kept, every later one unlocks where one is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.settings.secrets.unlock import UnlockDialog
from app.ui.shell.welcome import WelcomePage
from tests.journeys.conftest import settled
from tests.kit.waiting import until

KEY = "locked-key-7Qk2mZ84pLxW93vT"
PASSPHRASE = "four quiet herons wade"
Start = Callable[..., Any]


def shown(window: QWidget) -> list[str]:
    """Every text on the screen, of the window and of what lies over it."""
    return [label.text() for label in window.findChildren(QLabel) if label.isVisible()]


def times(words: str, rialto: Any) -> int:
    return sum(text.count(words) for text in shown(rialto.window))


def requests(service: RunningSandbox) -> int:
    """How many the service has had, this one excepted."""
    key = {"Authorization": f"Bearer {KEY}"}
    return int(httpx.get(f"{service.origin}/sandbox/state", headers=key, trust_env=False).json()["requests"])


async def connect(rialto: Any, service: RunningSandbox) -> None:
    """The first start as a person does it: address, key, Enter, a passphrase file, its passphrase twice, Enter."""
    page = rialto.window.findChild(WelcomePage)
    await until(lambda: rialto.places.state.ask == "choose")
    page.form.address.setText(service.base_url)
    page.form.key.setFocus()
    QTest.keyClicks(page.form.key, KEY)
    assert page.question.isVisible()
    QTest.keyClick(page.form.key, Qt.Key.Key_Return)
    await until(lambda: rialto.accounts.state.form.waits)
    assert rialto.window.focusWidget() is page.question.in_file
    assert times("No system keyring was found on this computer", rialto) == 1  # one notice, not one for each who knows
    assert rialto.current_account.account is None
    page.question.in_file.click()
    assert rialto.window.focusWidget() is page.question.passphrase
    QTest.keyClicks(page.question.passphrase, PASSPHRASE)
    QTest.keyClicks(page.question.again, PASSPHRASE)
    QTest.keyClick(page.question.again, Qt.Key.Key_Return)
    await until(lambda: rialto.window.current_tab == "chat")  # nobody pressed "Check and connect" again
    await until(lambda: rialto.current_account.service is not None and rialto.current_account.account.kind == "api_key")


async def opened_dialog(rialto: Any) -> UnlockDialog:
    await until(lambda: rialto.window.findChild(UnlockDialog) is not None)
    dialog = rialto.window.findChild(UnlockDialog)
    assert isinstance(dialog, UnlockDialog)
    await until(dialog.isVisible)
    return dialog


@asynccontextmanager
async def started_locked(start: Start, folder: Path) -> AsyncIterator[tuple[Any, RunningSandbox, int]]:
    """The second start, its service, and how many requests that had before.

    The key is in a passphrase file that is locked; the models are known.
    """
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(folder / "service", resources(), api_key=KEY, options=options) as service:
        async with start() as rialto:
            await connect(rialto, service)
            await until(lambda: rialto.chat.head().can_send)
            await settled(rialto)  # its models are on the disk
        before = requests(service)
        async with start() as rialto:
            yield rialto, service, before


async def test_the_first_start_goes_on_by_itself_once_there_is_a_place_for_the_key(
    start: Start, tmp_path: Path
) -> None:
    with start_sandbox(tmp_path / "service", resources(), api_key=KEY, options=Options(local_ports={})) as service:
        async with start() as rialto:
            await connect(rialto, service)
            assert not any(page.isVisible() for page in rialto.window.findChildren(WelcomePage))


async def test_a_message_under_a_locked_key_asks_for_the_passphrase_there_and_is_then_sent(
    start: Start, tmp_path: Path
) -> None:
    async with started_locked(start, tmp_path) as (rialto, service, before):
        await until(lambda: rialto.current_account.is_locked)
        await until(lambda: rialto.chat.head().can_send)
        assert "locked" in rialto.window.status.chip.accessibleName()  # and its dot is not green
        assert rialto.window.status.chip._state == "locked"
        box = rialto.chat_page.main.composer.box
        box.setFocus()
        QTest.keyClicks(box, "How does Rialto keep my API key safe?")
        QTest.keyClick(box, Qt.Key.Key_Return)
        dialog = await opened_dialog(rialto)
        assert dialog.focusWidget() is dialog.passphrase
        assert requests(service) == before
        assert times("Your keys are locked", rialto) == 1
        assert rialto.window.current_tab == "chat"
        QTest.keyClicks(dialog.passphrase, "another one")
        QTest.keyClick(dialog.passphrase, Qt.Key.Key_Return)
        await until(lambda: "Wrong passphrase." in shown(dialog.parentWidget().window()))
        assert dialog.isVisible()
        QTest.keyClicks(dialog.passphrase, PASSPHRASE)  # the wrong one is selected
        QTest.keyClick(dialog.passphrase, Qt.Key.Key_Return)
        await until(lambda: any(row.state == "complete" and row.text for row in answers(rialto)))
        assert rialto.window.findChild(UnlockDialog) is None or not rialto.window.findChild(UnlockDialog).isVisible()
        assert rialto.window.current_tab == "chat"
        assert rialto.window.focusWidget() is box
        assert len(answers(rialto)) == 1  # no card of a refusal beside it
        assert times("locked", rialto) == 0
        await until(lambda: rialto.window.status.chip._state == "ok")


async def test_whoever_does_not_unlock_keeps_the_message_and_can_send_it_from_there(
    start: Start, tmp_path: Path
) -> None:
    async with started_locked(start, tmp_path) as (rialto, service, before):
        await until(lambda: rialto.current_account.is_locked and rialto.chat.head().can_send)
        rialto.chat_page.send("How does Rialto keep my API key safe?")
        dialog = await opened_dialog(rialto)
        dialog.reject()
        await until(lambda: any(row.problem is not None for row in answers(rialto)))
        row = next(row for row in answers(rialto) if row.problem is not None)
        assert (row.problem.what, row.problem.primary.text) == ("Not sent yet", "Unlock…")
        assert times("Your keys are locked", rialto) == 1  # in the banner
        assert requests(service) == before
        rialto.chat.message_actions.act(row.id, row.problem.primary.id)
        dialog = await opened_dialog(rialto)
        QTest.keyClicks(dialog.passphrase, PASSPHRASE)
        QTest.keyClick(dialog.passphrase, Qt.Key.Key_Return)
        await until(lambda: any(row.state == "complete" and row.text for row in answers(rialto)))


def answers(rialto: Any) -> list[Any]:
    return [row for row in rialto.chat_page.rows() if row.role == "assistant"]
