"""Messages that mean harm, or are merely enormous: drawn within moments, and nothing is fetched, run or opened."""

import socket
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QApplication

from app.ui.conversation.rows import MessageRow, RowAttachment, RowSource
from app.ui.kit.theme import Theme
from tests.kit.message_view import answer, controls, question, settle, shown, visible_text
from tests.ui.hostile_messages import HOSTILE


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme()


@pytest.fixture(autouse=True)
def _nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> object:
        raise AssertionError(f"something was to be fetched or opened: {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(QDesktopServices, "openUrl", refuse)
    monkeypatch.setattr(QTextDocument, "loadResource", refuse)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_is_drawn_and_reaches_nothing(theme: Theme, name: str) -> None:
    view = shown(theme, [question("Show me"), answer(HOSTILE[name], citations=True)])
    settle(view)
    view.grab()
    view.scroll_to_start()
    settle(view)
    view.grab()
    for _ in range(5):
        view.scroll_px(700)
        settle(view)
    view.grab()
    for _, control, _ in controls(view):
        if control.action[0] == "link":
            assert QUrl(control.action[1]).scheme() in ("http", "https", "mailto")


@pytest.mark.parametrize(
    "name",
    [
        *("one line of 2 MB", "10,000 rows", "a fence without end", "300 nested quotes", "stars"),
        *("dollars", "formulas without end", "a carried picture of 2 MB"),
    ],
)
def test_a_hostile_message_streams_without_holding_the_window_up(theme: Theme, name: str) -> None:
    view = shown(theme, [answer(state="streaming", citations=True)])
    text = HOSTILE[name][:200_000]
    slowest = 0.0
    for at in range(0, len(text), 20_000):
        view.append_text("a", text[at : at + 20_000])
        for _ in range(6):
            begun = time.thread_time()
            view.stream.flush()
            slowest = max(slowest, time.thread_time() - begun)
            QApplication.processEvents()
    assert slowest < 0.25  # of the processor, many times a frame: another program may have it meanwhile


def test_the_same_text_from_a_person_is_shown_as_typed(theme: Theme) -> None:
    text = "<b>not bold</b> **not bold either** ![x](http://evil.example/p.png)"
    view = shown(theme, [question(text)])
    assert visible_text(view) == text
    for name in ("one line of 2 MB", "null and controls", "lone surrogates", "zalgo"):
        shown(theme, [question(HOSTILE[name])]).grab()


def test_sources_and_names_are_text_too(theme: Theme) -> None:
    evil = RowSource("<img src=http://evil.example/t.png>", "http://[broken", "<b>snippet</b>")
    view = shown(theme, [answer("Fact.[REF]0[/REF]", citations=True, sources=(evil,))])
    view.grab()
    assert evil.host == ""


def test_what_was_attached_is_text_too_and_its_bytes_are_not_believed(theme: Theme, tmp_path: Path) -> None:
    fake = tmp_path / "picture"
    fake.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'><image href='http://evil.example/x'/></svg>")
    name = "<img src=http://evil.example/t.png>\u202egnp.exe"
    attached = (
        RowAttachment("image", name, "1 KB", str(fake), 640, 480),
        RowAttachment("pdf", "x" * 500, "1 KB", ""),
    )
    view = shown(theme, [MessageRow("q", "user", "look", attachments=attached)])
    for _ in range(3):
        settle(view)
        view.grab()
    files = [control for _, control, _ in controls(view) if control.id.startswith("file")]
    assert [file.action for file in files] == [("attachment", "0"), ("none",)], "what is not here cannot be pressed"
    assert files[0].name == f"Image {name}, 1 KB"
