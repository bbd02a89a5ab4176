"""Tooltips show what strangers wrote letter by letter, in any length."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument

from app.ui.kit.plain_tooltip import MOST_TIP_CHARS, plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label


@pytest.mark.parametrize(
    "text",
    [
        "<img src=file:///x>",
        "a < b",
        "<b>x</b> " + "W" * 5_000,
        "one\ntwo <i>",
        "&lt;b&gt;",
        "C:\\Users\\<x>",
        "🦜" * 9,
    ],
)
def test_a_tip_reads_as_it_was_written(text: str) -> None:
    tip, document = plain_tip(text), QTextDocument()
    if tip.startswith("<p "):
        document.setHtml(tip)
    else:
        document.setPlainText(tip)
    shown = document.toPlainText().replace("\u200b", "")
    assert shown == (text if len(text) <= MOST_TIP_CHARS else text[:MOST_TIP_CHARS] + "…")


def test_a_short_tip_of_words_stays_as_it_is() -> None:
    assert plain_tip("Saved on this computer") == "Saved on this computer"
    assert plain_tip("") == ""


def test_an_endless_word_does_not_widen_a_tip() -> None:
    assert max(map(len, plain_tip("W" * 5_000).replace("<p style='", "").split("\u200b"))) < 120


def test_a_tip_is_not_read_backwards() -> None:
    assert plain_tip("ev\u202egpj.exe") == "ev\ufffdgpj.exe"


def test_a_cut_label_shows_its_text_as_a_plain_tip(theme: Theme) -> None:
    label = Label(theme, "<img src=file:///x>" * 9, elide=True)
    label.resize(40, 20)
    label.show()
    assert "<img" not in label.toolTip()
