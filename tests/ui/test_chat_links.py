"""Links and images of an answer, by the keyboard alone: nothing opens or loads unasked, the true target is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.links import true_target
from tests.kit.chat import ChatHarness, FakeService, open_chat, whole
from tests.ui.test_chat_desk import dialog_of, walk_to


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser would have been given."""
    addresses: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: addresses.append(url.toString()))
    return addresses


async def ask_about_link(shown: ChatHarness) -> Dialog:
    """Walk with Tab to the first link of the answer and press Enter."""
    view = shown.view
    shown.window.activateWindow()
    view.setFocus()
    for _ in range(40):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        spot = view.picture.focused
        if spot is not None and spot.control.startswith("span"):
            break
    QTest.keyClick(view, Qt.Key.Key_Return)
    dialog = await dialog_of(shown, Dialog)
    assert isinstance(dialog, Dialog)
    return dialog


def words_of(dialog: Dialog) -> str:
    return "\n".join(label.text() for label in dialog.findChildren(QLabel))


@pytest.mark.parametrize(
    ("markdown", "target"),
    [
        ("See [the bank](https://evil.example/login).", "https://evil.example/login"),
        ("See [apple](https://аpple.example/).", "https://xn--pple-43d.example/"),
        ("![a cat](https://pictures.example/spy.png?who=you)", "https://pictures.example/spy.png?who=you"),
        ("Write to <mailto:ada@example.org>.", "mailto:ada@example.org"),
    ],
)
async def test_a_link_shows_its_true_target_and_opens_only_when_told(
    theme: Theme, tmp_home: Path, opened: list[str], markdown: str, target: str
) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole(markdown)])) as shown:
        await shown.say("Where?")
        assert opened == []
        dialog = await ask_about_link(shown)
        assert target in words_of(dialog)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await shown.settle()
        assert opened == []
        dialog = await ask_about_link(shown)
        walk_to(dialog, lambda widget: getattr(widget, "text", str)() == "Open")
        QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Return)
        await shown.settle()
        assert opened == [QUrl(target).toString()]


async def test_no_settings_file_opens_a_link_without_the_question(
    theme: Theme, tmp_home: Path, opened: list[str]
) -> None:
    """An earlier version had a setting for it, which is not read any more."""
    (tmp_home / "settings.json").write_text('{"confirm_links": false}')
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("[here](https://example.org/)")])) as shown:
        assert shown.settings.value.unknown == {}
        await shown.say("Where?")
        assert "https://example.org/" in words_of(await ask_about_link(shown))
        assert opened == []


async def test_the_address_is_copied_without_being_opened(theme: Theme, tmp_home: Path, opened: list[str]) -> None:
    answer = whole("[here](https://example.org/a%20b)")
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[answer])) as shown:
        await shown.say("Where?")
        dialog = await ask_about_link(shown)
        walk_to(dialog, lambda widget: getattr(widget, "text", str)() == "Copy")
        QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Space)
        await shown.settle()
        assert QGuiApplication.clipboard().text() == "https://example.org/a%20b"
        assert opened == []


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "smb://host/x"])
async def test_addresses_of_other_kinds_are_never_opened(
    theme: Theme, tmp_home: Path, opened: list[str], address: str
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        shown.page.links.ask(address)
        dialog = await dialog_of(shown, Dialog)
        assert isinstance(dialog, Dialog)
        assert "does not open this kind of address" in words_of(dialog)
        assert all(getattr(each, "text", str)() != "Open" for each in dialog.findChildren(QLabel))
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await shown.settle()
        assert opened == []


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("mailto:you@example.org?subject=Hi&attach=/etc/passwd&body=x", "mailto:you@example.org?subject=Hi&body=x"),
        (
            "MAILTO:you@example.org?Attachment=%2Fetc%2Fpasswd&CC=b@example.org",
            "mailto:you@example.org?CC=b@example.org",
        ),
        ("mailto:you@example.org?attach=x#y", "mailto:you@example.org"),
        ("https://example.org/?attach=x", "https://example.org/?attach=x"),
    ],
)
def test_a_mail_address_attaches_nothing(address: str, target: str) -> None:
    assert true_target(address) == target
