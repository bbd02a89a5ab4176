"""The list of clips makes the rows that are looked at, however many clips there are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytestqt.qtbot import QtBot

from app.ui.kit.lists.rows import LazyRows
from app.ui.kit.theme import Theme
from app.ui.speech.clip_list import ClipListPane
from app.ui.speech.state import ClipRow

CLIPS = 2_000


@pytest.fixture
def built() -> list[int]:
    return []


@pytest.fixture
def pane(qtbot: QtBot, theme: Theme, built: list[int]) -> ClipListPane:
    def row(number: int) -> ClipRow:
        built.append(number)
        clips = tuple(ClipRow(f"{number}{end}", "Clip", "Anna", "", "", "Today") for end in "ab") if number == 7 else ()
        return ClipRow(str(number), f"Clip {number}", "Anna", "", "", "Today", clips=clips)

    def texts(numbers: Sequence[int]) -> list[str]:
        return [f"clip {number}\nanna" for number in numbers]

    places = {str(number): number for number in range(CLIPS)} | {"7a": 7, "7b": 7}
    pane = ClipListPane(theme)
    qtbot.addWidget(pane)
    pane.show_rows(LazyRows(range(CLIPS), row, texts), places, CLIPS + 1, 0)
    return pane


def test_a_page_of_rows_is_made_for_thousands_of_clips(pane: ClipListPane, built: list[int]) -> None:
    assert len(built) <= pane.view.rows.page + 1
    assert "2,001 clips" in pane.foot.words.text()


def test_a_clip_is_found_by_its_id_or_in_its_comparison(pane: ClipListPane, built: list[int]) -> None:
    built.clear()
    assert pane.row_with("1500") == "1500"
    assert pane.row_with("7b") == "7"
    assert pane.row_with("gone") == "gone"
    clip, other = pane.row("7b"), pane.row("1500")
    assert clip is not None and clip.id == "7b"
    assert other is not None and other.title == "Clip 1500"
    assert pane.row("gone") is None
    assert len(built) <= 8


def test_a_filter_makes_only_what_it_finds(pane: ClipListPane, built: list[int]) -> None:
    built.clear()
    pane.filter.setText("CLIP 1999")
    pane.filter.search_changed.emit("CLIP 1999")
    assert pane.view.rows.shown_keys() == ["1999"]
    assert built == [1999]
