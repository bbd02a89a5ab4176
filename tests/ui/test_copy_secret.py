"""A secret on the clipboard: marked, so that histories leave it out, and gone after a while."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.ui.kit import copy_secret
from tests.kit.waiting import until

SECRET = "sk-for-a-paste-0123456789"


async def test_clipboard_managers_are_asked_to_leave_it_out(qapp: QApplication) -> None:
    copy_secret.copy_secret(SECRET)
    data = QGuiApplication.clipboard().mimeData()
    assert data.text() == SECRET
    assert bytes(data.data("x-kde-passwordManagerHint").data()) == b"secret"
    windows = [each for each in data.formats() if each.startswith("application/x-qt-windows-mime")]
    assert sorted(each.partition('"')[2].strip('"') for each in windows) == [
        "CanIncludeInClipboardHistory",
        "CanUploadToCloudClipboard",
        "ExcludeClipboardContentFromMonitorProcessing",
    ]


@pytest.mark.parametrize("replaced", [False, True])
async def test_it_is_gone_after_a_while_and_what_was_copied_since_stays(
    replaced: bool, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_secret, "CLEARED_AFTER_S", 0)
    clipboard = QGuiApplication.clipboard()
    copy_secret.copy_secret(SECRET)
    if replaced:
        clipboard.setText("a recipe")
    clearing = [each for each in qapp.children() if type(each).__name__ == "_Clearing"]
    await until(lambda: not [each for each in qapp.children() if type(each).__name__ == "_Clearing"])
    assert clearing
    assert clipboard.text() == ("a recipe" if replaced else "")


async def test_it_is_gone_when_the_program_ends(qapp: QApplication) -> None:
    copy_secret.copy_secret(SECRET)
    qapp.aboutToQuit.emit()
    assert QGuiApplication.clipboard().text() == ""
