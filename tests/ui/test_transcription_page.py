"""The transcribe tab through its own window: record, drop, send, hear, edit, export, by mouse and by keyboard alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.audio.devices import SystemDevice
from app.core.problems import ActionSpec, Problem
from app.credentials.accounts import Account
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.kit.tab import LiveWork
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.kit.widgets.buttons import Button
from app.ui.transcription.session.editing import search
from app.ui.transcription.sound_view import SoundView
from app.ui.transcription.state import Entry, Head, Sound, Work
from app.ui.transcription.transcript_view import HEAR_AFTER_MS
from tests.audio.recorded import tone
from tests.kit.transcription import (
    open_transcription,
)
from tests.kit.waiting import until
from tests.kit.widgets import press
from tests.sandbox.test_transcription import samples

pytestmark = pytest.mark.usefixtures("heard_once")
TEXT = "I would like a cup of coffee."


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


def spoken() -> np.ndarray:
    return np.asarray(samples(TEXT), np.float32) / 32768


def spoken_file(folder: Path, name: str = "note.wav") -> Path:
    soundfile.write(folder / name, spoken(), 16_000)
    return folder / name


async def test_record_pause_mark_stop_and_transcribe_by_its_buttons(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        assert main.view == "empty"
        tab.press(main.start.record)
        await until(lambda: main.view == "recording")
        tab.blocks[-1].say(spoken())
        wanted = len(spoken()) / 16_000
        await until(lambda: tab.presenter.recording.seconds >= wanted - 0.001)
        await until(lambda: main.recording.clock.text() != "00:00")
        assert "of 25 MB" in main.recording.used.text()
        assert main.recording.promise.text().startswith("Nothing is sent until you choose")
        assert "So far about $0.000" in main.recording.estimate.text()
        tab.press(main.recording.mark)
        assert tab.options.marks_group.isVisible()
        tab.press(main.recording.pause)
        await until(lambda: main.recording.pause.text() == "Continue")
        tab.press(main.recording.pause)
        (work,) = tab.page.running_work()
        assert isinstance(work, LiveWork)
        assert work.startswith("Recording 00:0")
        tab.press(main.recording.stop)
        await until(lambda: main.view == "result")
        await until(lambda: "coffee" in tab.plain_text().casefold())
        assert main.sound.beta.text().endswith("expect wrong words.")
        assert "play money" in main.result.receipt.text()
        assert tab.page.running_work() == []


async def test_the_recording_is_worked_by_keys_alone(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        main = tab.page.main
        tab.run("transcription.record")
        await until(lambda: main.view == "recording")
        await until(lambda: QApplication.focusWidget() is main.recording.pause)
        tab.blocks[-1].say(tone(440, 1.0))
        await until(lambda: tab.presenter.recording.seconds >= 1.0)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        assert tab.presenter.recording.phase == "paused"
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_M)
        assert len(tab.shown_head.marks) == 1
        tab.run("transcription.record")  # the same key stops, and sends nothing
        await until(lambda: main.view == "sound")
        assert tab.shown_head.sound.duration_s == pytest.approx(1.0, abs=0.03)


async def test_silence_and_clipping_are_said_beside_the_meter(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        view = tab.recording_pane
        tab.presenter.recorder.record()
        await until(lambda: tab.shown == "recording")
        tab.blocks[-1].say(np.zeros(16_000 * 5, np.float32))
        await until(lambda: view.warning.isVisible())
        assert "muted" in view.warning.text()
        tab.blocks[-1].say(np.sign(tone(440, 0.5)))
        await until(lambda: "Too loud" in view.warning.text())
        assert view.meter.value() > 90


async def test_a_dropped_file_shows_its_price_and_is_sent_by_ctrl_enter(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox, heard: list[str]
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        tab.drop(spoken_file(tmp_home))
        await until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        assert "WAV" in main.sound.facts.text()
        assert main.sound.price.text().startswith("Estimate $0.000")
        tab.run("transcription.main")
        await until(lambda: main.view == "result")
        assert tab.inspector_tab() == 0
        (said,) = (words for words in heard if words.startswith("Transcript ready."))
        assert "words" in said
        assert "req " not in said
        headroom = tab.page.status_headroom()
        assert headroom is not None
        assert (headroom.of, headroom.requests_limit) == ("Audio", 60)
        assert tab.page.badge() == 0


async def test_a_refused_request_keeps_the_sound_and_try_again_is_one_press(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        await tab.fault("answer", status=402, times=1, path="/audio/transcriptions")
        await tab.add(spoken_file(tmp_home))
        tab.press(main.sound.send)
        await tab.done()
        assert main.sound.error.isVisible()
        assert "credits" in main.sound.error.what.text()
        assert main.sound.send.isEnabled()
        tab.press(main.sound.send)
        await until(lambda: main.view == "result")


async def test_over_25_mb_flac_is_the_choice_until_another_is_made(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        sound = tab.sound_pane
        path = spoken_file(tmp_home)
        with path.open("ab") as file:
            file.truncate(27_000_000)
        await tab.add(path)
        assert sound.large.isVisible()
        assert "27 MB is over the service’s limit of 25 MB" in sound.large_words.text()
        assert sound.flac.isChecked() and sound.send.isEnabled() and not sound.forget.isVisible()
        sound.squeeze.click()
        await tab.done()
        assert sound.send.isEnabled()
        assert tab.shown_head.treatment == "compress"
        sound.split.click()
        await tab.done()
        assert tab.shown_head.treatment == "split"
        other = spoken_file(tmp_home, "borderline.wav")
        with other.open("ab") as file:
            file.truncate(25_500_000)
        await tab.add(other)
        assert "may be refused" in sound.large_words.text()
        assert sound.send.isEnabled()
        assert not any(button.isChecked() for button in sound.choices.buttons())
        sound.flac.click()
        await tab.done()
        tab.press(sound.forget)
        await tab.done()
        assert tab.shown_head.treatment == "", "sent as it is"


async def test_words_are_clicked_heard_followed_and_found(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        result = tab.result_pane
        await tab.seed()
        await until(lambda: result.player.play.isEnabled())
        view = result.view
        word = view.document.segments[0].words[2]
        rect = view.word_rects((0, 2))[0]
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
        heard: list[float] = []
        tab.presenter.playing.position_changed.connect(heard.append)
        await until(lambda: view.spoken is not None and view.spoken >= (0, 2))
        assert next(at for at in heard if at) >= word.start - 0.1
        await until(lambda: not tab.presenter.playing.plays)
        QTest.keyClicks(result.search, "the")
        await until(lambda: " of " in result.count.text())
        tab.press(result.next)
        assert result.count.text().endswith(f"of {len(result._found)}")
        for mode in ("words", "text", "segments"):
            view.set_mode(mode)
            QApplication.processEvents()
            assert view.mode == mode
            assert view.word_rects((0, 2))


async def test_words_are_found_and_replaced_one_by_one_or_all_and_that_is_undone(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        result, view = tab.result_pane, tab.transcript_view
        await tab.seed()
        before = view.document
        word = before.segments[0].words[0].text
        assert not result.replacement.isVisible()
        tab.page.find_and_replace()
        assert result.replacement.isVisible() and result.search.hasFocus()
        QTest.keyClicks(result.search, "o")
        await until(lambda: " of " in result.count.text())
        found = len(search(before, "o"))
        assert found > 2
        QTest.keyClicks(result.replacement, "oo")
        QTest.keyClick(result.replacement, Qt.Key.Key_Return)
        assert len(search(view.document, "o")) == found + 1
        assert result.count.text() == f"3 of {found + 1}", "it goes on behind what was replaced"
        tab.undo_stack.undo_last("transcription")
        assert view.document == before
        tab.press(result.replace_all)
        assert result.count.text() == f"{found} replaced"
        assert view.document.text == before.text.replace("o", "oo").replace("O", "oo")
        assert [each.start for each in view.document.segments] == [each.start for each in before.segments]
        tab.undo_stack.undo_last("transcription")
        assert view.document == before, "all of them are one edit"
        result.search.setText(word)
        result.replacement.setText("")  # and at once, before the search field has told what was typed
        tab.press(result.replace_all)
        left = view.document.text
        assert word.casefold() not in left.casefold()


async def test_a_double_click_edits_and_is_not_heard(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        await tab.seed()
        await until(lambda: tab.result_pane.player.play.isEnabled())
        view = tab.transcript_view
        heard: list[float] = []
        view.listen_requested.connect(heard.append)
        at = view.word_rects((0, 2))[0].center().toPoint()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert view.editor.isVisible()
        QTest.qWait(2 * HEAR_AFTER_MS)
        assert heard == [] and not tab.presenter.playing.plays
        QTest.keyClick(view.editor, Qt.Key.Key_Escape)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
        await until(lambda: heard == [view.document.word((0, 2)).start])


def test_a_page_that_works_says_for_how_long_and_has_one_main_button(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = SoundView(theme)
    head = Head("sound", "1", can_send=True, sound=Sound("talk.wav", "WAV", 4_000_000, 50.0))
    view.show_head(head)
    view.show()
    assert "Nothing is sent until" in view.beta.text() and not view.findChild(Ticker).timer.isActive()
    view.show_head(replace(head, work=Work("uploading", words="Uploading")))
    assert "Nothing is sent" not in view.beta.text()
    ticker = view.findChild(Ticker)
    assert ticker.timer.isActive()
    now = time.monotonic()
    monkeypatch.setattr("app.ui.transcription.sound_view.time.monotonic", lambda: now + 12.5)
    ticker.timer.timeout.emit()
    assert view.working.text() == "Uploading · 0:12"
    failed = Problem("It was stopped.", primary=ActionSpec("retry", "Try again"))
    view.show_head(replace(head, problem=failed))
    assert not ticker.timer.isActive()
    QApplication.processEvents()
    kinds = {button.text(): button.kind for button in view.findChildren(Button) if button.isVisible()}
    assert kinds["Try again"] == "primary" and kinds["Transcribe"] == ""
    view.close()


async def test_a_segment_is_edited_split_nudged_and_merged_by_keys(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        view = tab.transcript_view
        await tab.seed()
        view.setFocus()
        before = view.document
        QTest.keyClick(view, Qt.Key.Key_F2)
        assert view.editor.isVisible()
        view.editor.setPlainText(before.segments[0].text.replace("coffee", "tea"))
        QTest.keyClick(view.editor, Qt.Key.Key_Return)
        assert not view.editor.isVisible()
        assert len(view.document.places) == len(before.places)
        assert view.document.starts == before.starts
        QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(view, Qt.Key.Key_S)
        assert len(view.document.segments) == len(before.segments) + 1
        start = view.document.segments[1].start
        view.go_to(1)
        view.chosen = None
        QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
        assert view.document.segments[1].start == pytest.approx(start + 0.1, abs=0.011)
        QTest.keyClick(view, Qt.Key.Key_Backspace)
        assert len(view.document.segments) == len(before.segments)
        for _ in range(4):
            tab.undo_stack.undo_last("transcription")
        assert view.document == before


async def test_the_export_is_previewed_saved_copied_and_handed_on(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        export = tab.export
        await tab.seed()
        assert export.preview.toPlainText().startswith("1\n00:00:0")
        assert export.place.text().startswith("cue 1 of ")
        QTest.mouseClick(export.cards["vtt"], Qt.MouseButton.LeftButton)
        export.line_chars.setValue(12)
        assert all(len(line) <= 29 for line in export.preview.toPlainText().splitlines())
        dialogs: list[QFileDialog] = []
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
        tab.press(export.save)
        dialogs[0].fileSelected.emit(str(tmp_home / "out.vtt"))
        await tab.done()
        assert (tmp_home / "out.vtt").read_text(encoding="utf-8").startswith("WEBVTT\n")
        assert tab.toasts[-1] == "Saved as out.vtt"
        tab.press(export.copy)
        assert QGuiApplication.clipboard().text().startswith("WEBVTT")
        handed: list[tuple[str, str]] = []
        tab.page.chat_requested.connect(lambda *words: handed.append(words))
        tab.page.speech_requested.connect(lambda *words: handed.append(words))
        tab.press(export.chat)
        tab.press(export.speech)
        assert [title for title, _ in handed] == ["note", "note"]
        assert handed[0][1] == tab.plain_text()
        dialogs[0].deleteLater()


async def test_the_export_preview_follows_a_new_title(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        await tab.seed()
        QTest.mouseClick(tab.export.cards["md"], Qt.MouseButton.LeftButton)
        assert tab.export.preview.toPlainText().startswith("# note")
        tab.page.presenter.rename(tab.shown_head.id or "", "Ferry")
        await tab.done()
        assert tab.export.preview.toPlainText().startswith("# Ferry")


async def test_the_table_of_files_runs_and_its_rows_open(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        main = tab.page.main
        tab.drop(spoken_file(tmp_home, "a.wav"), spoken_file(tmp_home, "b.flac"))
        await until(lambda: main.view == "batch" and len(main.batch.model.rows) == 2)
        assert "audio, about $" in main.batch.more.text()
        tab.press(main.batch.start)
        await until(lambda: main.batch.words.text().startswith("2 of 2"))
        main.batch.table.selectRow(1)
        QTest.keyClick(main.batch.table, Qt.Key.Key_Return)
        await until(lambda: main.view == "result")
        assert tab.shown_head.title == "b"


async def test_the_model_says_what_it_ignores(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_transcription(tmp_home, theme, sandbox) as tab:
        options = tab.options
        menu = tab.header.open_models()
        models = [action for action in menu.actions() if action.data()]
        assert len(models) == 5 and menu.actions()[-1].text() == "Other model…"
        assert all("per minute" in action.text() for action in models)
        next(action for action in models if "parakeet" in action.data()).trigger()
        menu.close()
        assert "Not used" in options.language_row.note.text()
        assert not options.language.isEnabled()
        tab.presenter.set_option("model", "openai/whisper-large-v3")
        assert options.language.isEnabled()
        assert options.language_row.note.text() == "Whisper large v3 uses this as a hint."
        press(options.answer, "Plain text")
        assert not options.times.isEnabled()


async def test_without_a_microphone_choosing_a_file_comes_first(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        start = tab.page.main.start
        tab.page.new_recording()
        await until(start.record.hasFocus)
        await tab.plug()
        assert (start.record.kind, start.files.kind, start.without.isVisible()) == ("", "primary", True)
        assert start.files.hasFocus(), "the keyboard was on the main button"
        await tab.plug("Built-in")
        assert (start.record.kind, start.files.kind, start.without.isVisible()) == ("primary", "", False)
        assert start.record.hasFocus()


async def test_microphones_come_and_go_in_the_list(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        options = tab.options
        assert [options.input.itemText(n) for n in range(options.input.count())] == [
            "System default",
            "Built-in, 2 channels",
            "USB microphone, 2 channels",
        ]
        options.input.setCurrentIndex(2)
        options.input.activated.emit(2)
        assert tab.presenter.recording.kept.device_id == "id-USB microphone"
        await tab.plug("Built-in")
        assert "Not connected" in options.input_row.note.text()
        await tab.plug("Built-in", "USB microphone")
        assert options.input.currentText() == "USB microphone, 2 channels"
        for channels, words in ((1, "USB microphone, mono"), (0, "USB microphone")):
            tab.host.inputs = [SystemDevice("id-USB microphone", "USB microphone", "input", channels, True)]
            tab.watch.changed.emit()
            await tab.done()
            assert options.input.currentText() == words
            assert not options.channel_row.isVisibleTo(options), "there is nothing to choose"


async def test_the_list_is_searched_renamed_trashed_and_brought_back(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        pane = tab.list_pane
        await tab.seed()

        def shown() -> list[Entry]:
            rows = (pane.view.rows.row_of(key) for key in pane.view.rows.shown_keys())
            return [row for row in rows if isinstance(row, Entry)]

        QTest.keyClicks(pane.filter, "coffee")
        await until(lambda: shown() and "coffee" in shown()[0].second_line)
        pane.filter.setText("nothing like it")
        await until(lambda: not shown())
        pane.filter.clear()
        await until(lambda: len(shown()) == 1)
        pane.view.setFocus()
        QTest.keyClick(pane.view, Qt.Key.Key_Down)
        QTest.keyClick(pane.view, Qt.Key.Key_F2)
        header = tab.header
        header.edit.setText("Breakfast")
        QTest.keyClick(header.edit, Qt.Key.Key_Return)
        await tab.done()
        assert shown()[0].title == "Breakfast"
        QTest.keyClick(pane.view, Qt.Key.Key_Delete)
        await tab.done()
        assert shown() == []
        assert tab.shown == "empty"
        tab.undo_stack.undo_last("transcription")
        await until(lambda: tab.shown == "result")


async def test_every_widget_has_a_name_in_every_view(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        nameless: set[str] = set()

        def walk() -> None:
            for widget in tab.window.findChildren(QWidget):
                if not widget.isVisible() or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
                    continue
                told = QAccessible.queryAccessibleInterface(widget)
                if told is not None and not told.text(QAccessible.Text.Name) and not _inside_named(widget):
                    nameless.add(f"{tab.shown}: {type(widget).__name__}")

        walk()
        tab.presenter.recorder.record()
        await until(lambda: tab.shown == "recording")
        tab.presenter.mark()
        walk()
        tab.blocks[-1].say(spoken())
        await until(lambda: tab.presenter.recording.seconds > 1)
        tab.presenter.recorder.stop_recording(transcribe=False)
        await tab.done()
        walk()
        await tab.seed()
        walk()
        for place in range(4):
            tab.show_side(place)
            walk()
        tab.presenter.show_batch()
        walk()
        assert nameless == set()


def _inside_named(widget: QWidget) -> bool:
    """A part of a compound control, such as the line of a number field or a scroll area's viewport."""
    parent = widget.parentWidget()
    return parent is not None and bool(parent.accessibleName())


async def test_transcripts_of_another_account_say_whose_they_are(tmp_home: Path, theme: Theme) -> None:
    async with open_transcription(tmp_home, theme) as tab:
        row_id, presenter = await tab.seed(), tab.presenter
        presenter.rows[row_id] = replace(presenter.rows[row_id], account_id="box")
        told: list[tuple[Entry, ...]] = []
        presenter.entries_changed.connect(told.append)
        tab.current_account.names = {"box": "Sandbox"}.__getitem__
        tab.current_account.use(Account("other", "Main account", "https://api.example.com/v1"), None)
        (entry,) = told[0]
        assert entry.second_line.endswith("Sandbox")
        await tab.done()
