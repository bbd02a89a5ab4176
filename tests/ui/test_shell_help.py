"""Help opens the handbook at the page about the place, and only known links lead anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QFont, QTextCursor

from app.ui.shell.help_sheet import HelpSheet, page_for, read_pages


@pytest.fixture
def pages(tmp_path: Path):
    (tmp_path / "02-chat.md").write_text("# Chat\n\n<!-- also: talk -->\n\nWrite here.\n", encoding="utf-8")
    (tmp_path / "01-first-steps.md").write_text("# First steps\n\nBegin.\n", encoding="utf-8")
    return read_pages(tmp_path)


def test_pages_come_in_order_and_without_their_comments(pages) -> None:
    assert [(page.topic, page.title) for page in pages] == [("first-steps", "First steps"), ("chat", "Chat")]
    assert "also:" not in pages[1].markdown


def test_a_place_has_its_page_and_an_unknown_one_the_first(pages) -> None:
    assert page_for(pages, "chat").title == "Chat"
    assert page_for(pages, "video").title == "First steps"
    assert page_for((), "chat") is None


async def test_the_real_handbook_opens_at_the_tab_that_is_shown(harness):
    harness.window.open_help()
    sheet = harness.window.overlays._help
    assert sheet.browser.toPlainText().startswith("Chat")
    sheet._follow(QUrl("09-secrets.md"))
    assert sheet.places.current == "09-secrets.md"
    harness.window.open_help()
    assert not sheet.isVisible()


async def test_only_web_links_leave_the_handbook(harness, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    harness.window.open_help()
    sheet = harness.window.overlays._help
    for link in ("file:///etc/passwd", "javascript:alert(1)", "https://example.org/"):
        sheet._follow(QUrl(link))
    assert opened == ["https://example.org/"]


async def test_every_page_is_in_the_weights_there_are_and_no_title_is_cut(harness):
    harness.window.resize(1440, 900)
    harness.window.open_help()
    (sheet,) = harness.window.findChildren(HelpSheet)
    heavy = QFont.Weight.DemiBold.value
    for page in sheet.pages:
        sheet.show_heading(page.topic, "")
        document = sheet.browser.document()
        cursor = QTextCursor(document)
        while cursor.movePosition(QTextCursor.MoveOperation.NextCharacter):
            assert cursor.charFormat().fontWeight() <= heavy, (page.title, cursor.block().text())
    metrics = sheet.places.fontMetrics()
    longest = max(metrics.horizontalAdvance(page.title) for page in sheet.pages)
    assert longest + harness.theme.px(12) * 2 <= sheet.places.viewport().width()
