"""Help, Test Rialto: the table grows as it is printed, the verdict is the exit code, and closing ends the process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.shell.self_test_dialog import SelfTestDialog
from tests.kit.waiting import until
from tests.ui.test_shell_window import nameless


def opened(harness, tasks, script: str) -> SelfTestDialog:
    dialog = SelfTestDialog(harness.theme, harness.window, [sys.executable, "-u", "-c", script])

    async def show() -> None:
        await dialog.answer()

    tasks.start_unless_running("self-test", show)
    return dialog


@pytest.mark.parametrize(("code", "words"), [(0, "Everything works."), (1, "Something does not work.")])
async def test_the_table_is_shown_and_the_exit_code_is_the_verdict(harness, tasks, qtbot, code, words):
    dialog = opened(harness, tasks, f"print('Fonts  ok  Inter'); print('Tab ä  ok'); raise SystemExit({code})")
    await until(lambda: dialog.end.text() == "Close")
    assert dialog.table.toPlainText() == "Fonts  ok  Inter\nTab ä  ok\n"
    assert dialog.said.text().startswith(words)
    assert nameless(dialog) == []
    dialog.copy.click()
    assert dialog.copy.text() == "Copied"
    dialog.end.click()
    await tasks.idle()


async def test_leaving_ends_what_was_started(harness, tasks, qtbot):
    dialog = opened(harness, tasks, "import os, time; print(os.getpid()); time.sleep(600)")
    await until(lambda: bool(dialog.table.toPlainText().strip()))
    number = int(dialog.table.toPlainText())
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await tasks.idle()
    await until(lambda: not is_running(number))


async def test_a_program_that_cannot_be_started_is_a_part_that_does_not_work(harness, tasks, qtbot):
    dialog = SelfTestDialog(harness.theme, harness.window, [str(Path(sys.executable).with_name("no-such-program"))])
    tasks.start_unless_running("self-test", dialog.answer)
    await until(lambda: dialog.end.text() == "Close")
    assert dialog.said.text().startswith("Something does not work.")
    dialog.end.click()
    await tasks.idle()


async def test_help_has_it_and_leads_to_the_licences(harness):
    ids = {entry.id for entry in harness.window.registry.entries() if entry.action.menu == "help"}
    assert {"window.self_test", "window.about"} <= ids


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
