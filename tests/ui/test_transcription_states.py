"""What the transcribe tab says of itself: a recording in the status bar, marks close together, resting keys."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.audio import recording
from app.sandbox.server import RunningSandbox
from app.ui.kit.tab import LiveWork
from app.ui.kit.theme import Theme
from app.ui.transcription.batch_view import COLUMNS
from app.ui.transcription.level_meter import LevelMeter
from app.ui.transcription.live_wave import PER_SECOND, LiveWave
from app.ui.transcription.state import Entry, Mark, Tick
from tests.audio.recorded import tone
from tests.kit.transcription import open_transcription, open_transcription_presenter
from tests.kit.waiting import until
from tests.ui.test_transcription_page import spoken_file
from tests.ui.test_transcription_window import sandbox

__all__ = ["sandbox"]


async def test_a_recording_is_told_of_while_another_transcript_is_looked_at_and_while_it_pauses(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)
    async with open_transcription(tmp_home, theme) as tab:
        other = await tab.seed()
        row_id = await tab.record(tone(440, 1.2), stop=False)
        tab.page.open_row(other)
        await until(lambda: tab.shown == "result")
        told: list[str] = []
        tab.page.changed.connect(lambda: told.extend(tab.page.running_work()))
        tab.blocks[-1].say(tone(440, 1.0))
        await until(lambda: "Recording 00:02" in told)
        assert isinstance(tab.page.running_work()[0], LiveWork)
        tab.page.open_row(row_id)
        tab.presenter.recorder.pause_recording()
        await until(lambda: told[-1] == "Recording paused at 00:02")
        row = tab.row_of(row_id)
        assert isinstance(row, Entry)
        assert (row.right, row.second_line) == ("0:02", "Paused"), "its row in the list is told too"
        assert not isinstance(tab.page.running_work()[0], LiveWork)
        tab.presenter.recorder.stop_recording(transcribe=False)
        await tab.done()
        assert tab.page.running_work() == []


def painted(wave: LiveWave, seconds: float) -> list[tuple[str, float, float]]:
    """The tags after that many seconds, each with where its top and its left end are."""
    wave.show_tick(Tick("recording", seconds, peak_count=round(seconds * PER_SECOND)))
    wave.render(QPixmap(wave.size()))
    boxes = [box for box, _ in wave.tags]
    for place, box in enumerate(boxes):
        assert not any(box.intersects(other) for other in boxes[place + 1 :]), [words for _, words in wave.tags]
    return [(words, box.top(), box.left()) for box, words in wave.tags]


def test_tags_of_marks_that_are_close_together_never_overlap_and_keep_their_rows(qtbot: QtBot, theme: Theme) -> None:
    wave = LiveWave(theme)
    qtbot.addWidget(wave)
    wave.resize(760, 280)
    marks = (Mark(3.0, "Lock built 1871"), Mark(3.4, "Lock keeper"), Mark(4.0, ""), Mark(14.0, "The ferry"))
    wave.show_marks(marks)
    first = painted(wave, 4.0)
    assert [words for words, *_ in first] == ["Lock built 1871", "Lock keeper", "0:04"]
    assert len({top for _, top, _ in first}) == 3
    rows: dict[str, set[float]] = {}
    for tenth in range(40, 300):
        for words, top, _ in painted(wave, tenth / 10):
            rows.setdefault(words, set()).add(top)
    assert {words: len(tops) for words, tops in rows.items()} == dict.fromkeys(rows, 1), "no tag jumps as it moves"
    assert rows["The ferry"] == rows["Lock built 1871"], "where there is room the top row is taken again"


def test_more_marks_than_there_are_rows_keep_their_lines_and_long_words_are_shortened(
    qtbot: QtBot, theme: Theme
) -> None:
    wave = LiveWave(theme)
    qtbot.addWidget(wave)
    wave.resize(760, 280)
    wave.show_marks([Mark(2 + place / 10, "What was said about the weir upstream " * 3) for place in range(30)])
    shown = painted(wave, 6.0)
    assert 3 <= len(shown) < 30
    assert all(words.endswith("…") for words, *_ in shown)


async def test_a_segment_is_written_in_without_hiding_the_next_one(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        await tab.seed()
        view = tab.transcript_view
        await until(lambda: len(view.document.segments) > 1)
        view.setFocus()
        view.begin_edit()
        editor = view.editor
        below = view.word_rects((1, 0))[0]
        assert editor.geometry().bottom() < below.top()
        one = editor.height()
        QTest.keyClicks(editor, "many more words than a line of it holds " * 6)
        await until(lambda: editor.height() > one)
        assert not editor.verticalScrollBar().isVisible()
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        assert editor.isHidden()


async def test_the_table_gives_its_room_to_the_names_where_there_is_little(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        await tab.add(spoken_file(tmp_home, "a.wav"), spoken_file(tmp_home, "b.wav"))
        table = tab.batch_table
        await until(table.isVisible)
        assert not table.isColumnHidden(COLUMNS.index("Type"))
        theme.set_text_percent(200)
        try:
            assert table.isColumnHidden(COLUMNS.index("Type"))
        finally:
            theme.set_text_percent(100)


async def test_a_key_whose_button_rests_says_why(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        tab.drop(spoken_file(tmp_home))
        await until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        spoken_file(tmp_home).unlink()
        tab.presenter._looked.clear()
        tab.page.open_row(tab.shown_head.id or "")
        await until(lambda: not main.sound.send.isEnabled())
        tab.run("transcription.main")
        assert "note.wav" in tab.toasts.pop()
        tab.run("transcription.table")
        tab.run("transcription.main")
        assert tab.toasts.pop() == "The table has no files."


@pytest.mark.parametrize("percent", [100, 200])
def test_the_level_meter_keeps_room_for_its_scale_under_the_style_sheet(
    theme: Theme, qtbot: QtBot, percent: int
) -> None:
    theme.configure(mode="light", text_percent=percent)
    meter = LevelMeter(theme)
    qtbot.addWidget(meter)
    meter.show()
    assert meter.height() == meter.sizeHint().height()


async def test_a_refused_list_of_models_shows_its_reason_and_a_way_out(tmp_home: Path) -> None:
    refused = True

    def answer(_request: httpx.Request) -> httpx.Response:
        body = {"object": "list", "data": [{"id": "whisper", "type": "asr", "model_spec": {}}]}
        return httpx.Response(401, json={"error": "revoked"}) if refused else httpx.Response(200, json=body)

    async with open_transcription_presenter(tmp_home, transport=httpx.MockTransport(answer)) as tab:
        await until(lambda: tab.presenter.head().problem is not None)
        head = tab.presenter.head()
        assert head.problem is not None
        assert head.problem.what == "The service did not accept your API key"
        assert head.why_not == "The service did not accept your API key."
        refused = False
        tab.presenter.act("retry")
        await until(lambda: tab.presenter.head().problem is None)
