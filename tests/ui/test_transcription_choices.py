"""What is chosen on the pages at the right: which channel is recorded and how loud, and all six kinds of file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
import webvtt
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.audio import recording
from app.ui.kit.theme import Theme
from app.ui.transcription.session.exporting import FORMATS
from tests.audio.recorded import pitch_hz, tone
from tests.kit.transcription import open_transcription
from tests.kit.waiting import until
from tests.ui.test_transcript_document import read_srt


async def test_the_channel_and_the_gain_that_are_chosen_are_what_is_recorded(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "GONE_AFTER_S", 600.0)  # silence here is no microphone that was pulled out
    async with open_transcription(tmp_home, theme) as tab:
        options = tab.options
        options.input.setFocus()
        QTest.keyClick(options.input, Qt.Key.Key_Down)
        assert options.input.currentText() == "Built-in, 2 channels"
        assert [options.channel.itemText(row) for row in range(3)] == ["All, mixed to mono", "Left", "Right"]
        options.channel.setFocus()
        QTest.keyClicks(options.channel, "R")
        assert options.channel.currentText() == "Right"
        options.gain.number.setFocus()
        options.gain.number.selectAll()
        QTest.keyClicks(options.gain.number, "6")
        QTest.keyClick(options.gain.number, Qt.Key.Key_Return)
        assert options.gain_row.value.text() == "+6 dB"
        both = np.stack((tone(440, 1.0) * 0.2, tone(880, 1.0) * 0.2), axis=1).reshape(-1)  # left, right, left, …
        tab.run("transcription.record")
        await until(lambda: tab.shown == "recording")
        tab.blocks[-1].say(both)
        await until(lambda: tab.presenter.recording.seconds >= 0.999)
        tab.run("transcription.record")
        await until(lambda: tab.shown == "sound")
        (path,) = tab.presenter.folders.recordings.glob("*.wav")
        samples, rate_hz = soundfile.read(path)
        assert samples.ndim == 1
        assert pitch_hz(samples, rate_hz) == pytest.approx(880, abs=5), "the right one alone"
        told = float(np.sqrt(np.mean(samples**2)) / np.sqrt(np.mean((tone(880, 1.0) * 0.2) ** 2)))
        assert told == pytest.approx(10 ** (6 / 20), rel=0.02), "and twice as loud"


def is_whole(kind: str, text: str, plain: str) -> bool:
    """Whether a reader that is not Rialto's finds every word in it."""
    words = plain.split()
    if kind == "srt":
        return " ".join(said for *_, said in read_srt(text)).split() == words
    if kind == "vtt":
        return " ".join(caption.text for caption in webvtt.from_string(text)).split() == words
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        return len(rows) == len(words)
    if kind == "json":
        return " ".join(json.loads(text)["text"].split()) == " ".join(words)
    return set(words) <= set(text.split())


async def test_each_kind_of_file_is_previewed_and_saved_with_every_word(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        export = tab.export
        await tab.seed()
        dialogs: list[QFileDialog] = []
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
        for kind in FORMATS:
            QTest.mouseClick(export.cards[kind], Qt.MouseButton.LeftButton)
            path = tmp_home / f"out.{kind}"
            tab.press(export.save)
            dialogs[-1].fileSelected.emit(str(path))
            await tab.done()
            text = path.read_text(encoding="utf-8-sig")
            assert is_whole(kind, text, tab.plain_text()), kind
            shown = export.preview.toPlainText().strip()
            assert shown and shown.splitlines()[0] in text, kind
        for dialog in dialogs:
            dialog.deleteLater()
