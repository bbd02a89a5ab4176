"""The transcribe tab through its own window: record, drop, send, hear, edit, export, by mouse and by keyboard alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QWidget

from app.audio.devices import SystemDevice
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.kit.tab import LiveWork, Zones
from app.ui.kit.theme import Theme
from app.ui.transcription.page import TranscriptionPage
from app.ui.transcription.state import Entry
from tests.audio.recorded import tone
from tests.sandbox.test_transcription import samples
from tests.ui.transcription_desk import Desk, open_desk

TEXT = "I would like a cup of coffee."


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@dataclass
class Room:
    """A desk with its page in a window."""

    desk: Desk
    page: TranscriptionPage
    window: QWidget
    toasts: list[str]

    def press(self, button: QWidget) -> None:
        assert button.isVisible(), button.accessibleName()
        assert button.isEnabled(), button.accessibleName()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def run(self, action_id: str) -> None:
        action = next(each for each in self.page.actions() if each.id == action_id)
        assert action.enabled(), action_id
        action.run()


@asynccontextmanager
async def open_room(home: Path, theme: Theme, sandbox: RunningSandbox | None = None) -> AsyncIterator[Room]:
    windows: list[QWidget] = []
    try:
        async with open_desk(home, sandbox) as desk:
            page = TranscriptionPage(theme, desk.presenter, desk.tasks)
            window = QWidget()
            windows.append(window)
            row = QHBoxLayout(window)
            for pane in (page.list_pane(), page.canvas(), page.inspector()):
                row.addWidget(pane, 3 if pane is page.canvas() else 1)
            window.resize(1440, 900)
            window.show()
            window.activateWindow()
            page.set_zones(Zones())
            toasts: list[str] = []
            page.toast_wanted.connect(lambda sentence, *_: toasts.append(sentence))
            yield Room(desk, page, window, toasts)
    finally:
        for window in windows:  # after the presenter, which tells it things to the end
            window.hide()
            window.deleteLater()


def spoken() -> np.ndarray:
    return np.asarray(samples(TEXT), np.float32) / 32768


def spoken_file(folder: Path, name: str = "note.wav") -> Path:
    soundfile.write(folder / name, spoken(), 16_000)
    return folder / name


def drop(room: Room, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(50, 50),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    room.page.main.dropEvent(event)


async def test_record_pause_mark_stop_and_transcribe_by_its_buttons(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        assert main.view == "empty"
        room.press(main.start.record)
        await desk.until(lambda: main.view == "recording")
        desk.blocks[-1].say(spoken())
        wanted = len(spoken()) / 16_000
        await desk.until(lambda: desk.presenter.recording.seconds >= wanted - 0.001)
        await desk.until(lambda: main.recording.clock.text() != "00:00")
        assert "of 25 MB" in main.recording.used.text()
        assert main.recording.promise.text().startswith("Nothing is sent until you choose")
        assert "Estimate so far about $0.000" in main.recording.estimate.text()
        room.press(main.recording.mark)
        assert room.page.side.options.marks_group.isVisible()
        room.press(main.recording.pause)
        await desk.until(lambda: main.recording.pause.text() == "Go on")
        room.press(main.recording.pause)
        (work,) = room.page.running_work()
        assert isinstance(work, LiveWork)
        assert work.startswith("Recording 00:0")
        room.press(main.recording.stop)
        await desk.until(lambda: main.view == "result")
        await desk.until(lambda: "coffee" in room.page.plain_text().casefold())
        assert "play money" in main.result.receipt.text()
        assert room.page.running_work() == []


async def test_the_recording_is_worked_by_keys_alone(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, main = room.desk, room.page.main
        room.run("transcription.record")
        await desk.until(lambda: main.view == "recording")
        await desk.until(lambda: QApplication.focusWidget() is main.recording.pause)
        desk.blocks[-1].say(tone(440, 1.0))
        await desk.until(lambda: desk.presenter.recording.seconds >= 1.0)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        assert desk.presenter.recording.phase == "paused"
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_M)
        assert len(room.page.head.marks) == 1
        room.run("transcription.record")  # the same key stops, and sends nothing
        await desk.until(lambda: main.view == "sound")
        assert room.page.head.sound.duration_s == pytest.approx(1.0, abs=0.03)


async def test_silence_and_clipping_are_said_beside_the_meter(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, view = room.desk, room.page.main.recording
        room.page.presenter.record()
        await desk.until(lambda: room.page.main.view == "recording")
        desk.blocks[-1].say(np.zeros(16_000 * 5, np.float32))
        await desk.until(lambda: view.warning.isVisible())
        assert "muted" in view.warning.text()
        desk.blocks[-1].say(np.sign(tone(440, 0.5)))
        await desk.until(lambda: "Too loud" in view.warning.text())
        assert view.meter.value() > 90


async def test_a_dropped_file_shows_its_price_and_is_sent_by_ctrl_enter(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        drop(room, spoken_file(tmp_home))
        await desk.until(lambda: main.view == "sound" and main.sound.send.isEnabled())
        assert "WAV" in main.sound.facts.text()
        assert main.sound.price.text().startswith("Estimate about $0.000")
        room.run("transcription.main")
        await desk.until(lambda: main.view == "result")
        assert room.page.side.tabs.bar.currentIndex() == 0
        headroom = room.page.status_headroom()
        assert headroom is not None
        assert (headroom.of, headroom.requests_limit) == ("Audio", 60)
        assert room.page.badge() == 0


async def test_a_refused_request_keeps_the_sound_and_try_again_is_one_press(
    tmp_home: Path, theme: Theme, sandbox: RunningSandbox
) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        await desk.fault("answer", status=402, times=1, path="/audio/transcriptions")
        await desk.add(spoken_file(tmp_home))
        room.press(main.sound.send)
        await desk.done()
        assert main.sound.error.isVisible()
        assert "credits" in main.sound.error.what.text()
        assert main.sound.send.isEnabled()
        room.press(main.sound.send)
        await desk.until(lambda: main.view == "result")


async def test_over_25_mb_the_button_waits_for_a_choice(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, sound = room.desk, room.page.main.sound
        path = spoken_file(tmp_home)
        with path.open("ab") as file:
            file.truncate(27_000_000)
        await desk.add(path)
        assert sound.large.isVisible()
        assert "27 MB is more than the 25 MB" in sound.large_words.text()
        assert not sound.send.isEnabled()
        sound.squeeze.click()
        await desk.done()
        assert sound.send.isEnabled()
        assert room.page.head.treatment == "compress"
        sound.split.click()
        await desk.done()
        assert room.page.head.treatment == "split"
        room.press(sound.forget)
        await desk.done()
        assert not sound.send.isEnabled()
        other = spoken_file(tmp_home, "borderline.wav")
        with other.open("ab") as file:
            file.truncate(25_500_000)
        await desk.add(other)
        assert "may be refused" in sound.large_words.text()
        assert sound.send.isEnabled()


async def test_words_are_clicked_heard_followed_and_found(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, result = room.desk, room.page.main.result
        await desk.seed()
        await desk.until(lambda: result.player.play.isEnabled())
        view = result.view
        word = view.document.segments[0].words[2]
        rect = view.word_rects((0, 2))[0]
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
        heard: list[float] = []
        desk.presenter.playing.position_changed.connect(heard.append)
        await desk.until(lambda: view.spoken is not None and view.spoken >= (0, 2))
        assert next(at for at in heard if at) >= word.start - 0.1
        await desk.until(lambda: not desk.presenter.playing.plays)
        QTest.keyClicks(result.search, "the")
        await desk.until(lambda: " of " in result.count.text())
        room.press(result.next)
        assert result.count.text().endswith(f"of {len(result._found)}")
        for mode in ("words", "text", "segments"):
            view.set_mode(mode)
            QApplication.processEvents()
            assert view.mode == mode
            assert view.word_rects((0, 2))


async def test_a_segment_is_edited_split_nudged_and_merged_by_keys(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, view = room.desk, room.page.main.result.view
        await desk.seed()
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
            room.desk.undo_stack.undo_last("transcription")
        assert view.document == before
        assert view.accessibleDescription()


async def test_the_export_is_previewed_saved_copied_and_handed_on(
    tmp_home: Path, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, export = room.desk, room.page.side.export
        await desk.seed()
        assert export.preview.toPlainText().startswith("1\n00:00:0")
        assert export.place.text().startswith("cue 1 of ")
        QTest.mouseClick(export.cards["vtt"], Qt.MouseButton.LeftButton)
        assert export.save.text() == "Save as WebVTT…"
        export.line_chars.setValue(12)
        assert all(len(line) <= 29 for line in export.preview.toPlainText().splitlines())
        dialogs: list[QFileDialog] = []
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
        room.press(export.save)
        dialogs[0].fileSelected.emit(str(tmp_home / "out.vtt"))
        await desk.done()
        assert (tmp_home / "out.vtt").read_text(encoding="utf-8").startswith("WEBVTT\n")
        assert room.toasts[-1] == "Saved as out.vtt"
        room.press(export.copy)
        assert QGuiApplication.clipboard().text().startswith("WEBVTT")
        handed: list[tuple[str, str]] = []
        room.page.chat_wanted.connect(lambda *words: handed.append(words))
        room.page.speech_wanted.connect(lambda *words: handed.append(words))
        room.press(export.chat)
        room.press(export.speech)
        assert [title for title, _ in handed] == ["note", "note"]
        assert handed[0][1] == room.page.plain_text()
        dialogs[0].deleteLater()


async def test_the_table_of_files_runs_and_its_rows_open(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        desk, main = room.desk, room.page.main
        drop(room, spoken_file(tmp_home, "a.wav"), spoken_file(tmp_home, "b.flac"))
        await desk.until(lambda: main.view == "batch" and len(main.batch.model.rows) == 2)
        assert "Estimate for the rest about $" in main.batch.more.text()
        room.press(main.batch.start)
        await desk.until(lambda: main.batch.words.text().startswith("2 of 2"))
        main.batch.table.selectRow(1)
        QTest.keyClick(main.batch.table, Qt.Key.Key_Return)
        await desk.until(lambda: main.view == "result")
        assert room.page.head.title == "b"


async def test_the_model_says_what_it_ignores(tmp_home: Path, theme: Theme, sandbox: RunningSandbox) -> None:
    async with open_room(tmp_home, theme, sandbox) as room:
        options = room.page.side.options
        menu = room.page.main.header.open_models()
        names = [action.data() for action in menu.actions()]
        assert len(names) == 5
        assert all("a minute" in action.text() for action in menu.actions())
        next(action for action in menu.actions() if "parakeet" in action.data()).trigger()
        menu.close()
        assert "Ignored by this model" in options.language_row.note.text()
        assert not options.language.isEnabled()
        room.page.presenter.set_option("model", "openai/whisper-large-v3")
        assert options.language.isEnabled()
        assert options.language_row.note.text() == "Whisper large v3 uses this as a hint."
        options.answer._segments["text"].click()
        assert not options.times.isEnabled()


async def test_microphones_come_and_go_in_the_list(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        options = room.page.side.options
        assert [options.input.itemText(n) for n in range(options.input.count())] == [
            "System default",
            "Built-in, 2 channels",
            "USB microphone, 2 channels",
        ]
        options.input.setCurrentIndex(2)
        options.input.activated.emit(2)
        assert room.desk.presenter.recording.kept.device_id == "id-USB microphone"
        await room.desk.plug("Built-in")
        assert "not plugged in" in options.input_row.note.text()
        await room.desk.plug("Built-in", "USB microphone")
        assert options.input.currentText() == "USB microphone, 2 channels"
        for channels, words in ((1, "USB microphone, mono"), (0, "USB microphone")):
            room.desk.host.inputs = [SystemDevice("id-USB microphone", "USB microphone", "input", channels, True)]
            room.desk.watch.changed.emit()
            await room.desk.done()
            assert options.input.currentText() == words
            assert not options.channel_row.isVisibleTo(options), "there is nothing to choose"


async def test_the_list_is_searched_renamed_trashed_and_brought_back(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk, pane = room.desk, room.page.list
        await desk.seed()

        def shown() -> list[Entry]:
            rows = (pane.view.rows.row_of(key) for key in pane.view.rows.shown_keys())
            return [row for row in rows if isinstance(row, Entry)]

        QTest.keyClicks(pane.filter, "coffee")
        await desk.until(lambda: shown() and "coffee" in shown()[0].second_line)
        pane.filter.setText("nothing like it")
        await desk.until(lambda: not shown())
        pane.filter.clear()
        await desk.until(lambda: len(shown()) == 1)
        pane.view.setFocus()
        QTest.keyClick(pane.view, Qt.Key.Key_Down)
        QTest.keyClick(pane.view, Qt.Key.Key_F2)
        header = room.page.main.header
        header.edit.setText("Breakfast")
        QTest.keyClick(header.edit, Qt.Key.Key_Return)
        await desk.done()
        assert shown()[0].title == "Breakfast"
        QTest.keyClick(pane.view, Qt.Key.Key_Delete)
        await desk.done()
        assert shown() == []
        assert room.page.main.view == "empty"
        desk.undo_stack.undo_last("transcription")
        await desk.until(lambda: room.page.main.view == "result")


async def test_every_widget_has_a_name_in_every_view(tmp_home: Path, theme: Theme) -> None:
    async with open_room(tmp_home, theme) as room:
        desk = room.desk
        nameless: set[str] = set()

        def walk() -> None:
            for widget in room.window.findChildren(QWidget):
                if not widget.isVisible() or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
                    continue
                told = QAccessible.queryAccessibleInterface(widget)
                if told is not None and not told.text(QAccessible.Text.Name) and not _inside_named(widget):
                    nameless.add(f"{room.page.main.view}: {type(widget).__name__}")

        walk()
        room.page.presenter.record()
        await desk.until(lambda: room.page.main.view == "recording")
        room.page.presenter.mark()
        walk()
        desk.blocks[-1].say(spoken())
        await desk.until(lambda: desk.presenter.recording.seconds > 1)
        room.page.presenter.stop_recording(transcribe=False)
        await desk.done()
        walk()
        await desk.seed()
        walk()
        for place in range(4):
            room.page.side.show_page(place)
            walk()
        room.page.presenter.show_batch()
        walk()
        assert nameless == set()


def _inside_named(widget: QWidget) -> bool:
    """A part of a compound control, such as the line of a number field or a scroll area's viewport."""
    parent = widget.parentWidget()
    return parent is not None and bool(parent.accessibleName())
