"""The transcribe tab: its panes, and the wires between widgets and presenter. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.core import money
from app.core.current_account import RateLimitRemaining
from app.core.tabs import TABS
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.file_dialogs import ask_for_files, ask_for_folder, ask_to_save
from app.ui.kit.forms.other_model_dialog import ask_other_model
from app.ui.kit.leaving_strip import LeavingWatch
from app.ui.kit.tab import LiveWork, PaletteItem, TabAction, Zones
from app.ui.transcription.canvas import Canvas
from app.ui.transcription.inspector import OPTIONS, REQUEST, Inspector
from app.ui.transcription.list_pane import TranscriptListPane
from app.ui.transcription.page_actions import transcription_actions, transcription_palette_items
from app.ui.transcription.session.exporting import full_clock, length_words
from app.ui.transcription.state import (
    Batch,
    Entry,
    ExportChoice,
    Head,
    ModelChoice,
    Options,
    Tick,
    TranscriptState,
    why_not_sent,
)

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.kit.sound.player_bar import PlayerBar
    from app.ui.kit.theme import Theme
    from app.ui.transcription.presenter import TranscriptionPresenter

INFO = TABS["transcription"]
FILE_FILTER = tr("Audio (*.wav *.wave *.flac *.m4a *.aac *.mp4 *.mp3 *.ogg *.oga *.webm);;All files (*)")


class TranscriptionPage(QObject):
    """A `TabPage`. Other features are reached by signals, which the composition root connects."""

    changed = Signal()
    help_requested = Signal(str)  # an action id that another part of the window carries out
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written
    chat_requested = Signal(str, str)  # title and text of a transcript
    speech_requested = Signal(str, str)

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self, theme: Theme, presenter: TranscriptionPresenter, tasks: TaskScope, *, whole: bool = True
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._tasks = tasks
        self.presenter = presenter
        self._entries: Sequence[Entry] = ()
        self._head = Head()
        self._told: tuple[str, int] = ("", 0)  # of a recording: what it does, and its seconds
        self.zones = Zones()
        self.toggle_list: Callable[[], None] = _nothing
        self.toggle_inspector: Callable[[], None] = _nothing
        self.list = TranscriptListPane(theme)
        self.main = Canvas(theme, whole=False)
        self.side = Inspector(theme, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        yield from self.main.build()
        yield from self.side.build()
        presenter = self.presenter
        yield
        self._connect_presenter()
        self._connect_list()
        self._connect_canvas()
        yield
        self._connect_player()
        self._connect_side()
        yield
        self._show_head(presenter.head())
        yield
        self._show_options(presenter.options, presenter.account_models.choices())
        self._show_inputs(presenter.recording.inputs())
        self.side.export.show_choice(presenter.exports.choice)
        self.main.batch.show_batch(presenter.batch_queue.view())

    # Wires

    def _connect_presenter(self) -> None:
        presenter = self.presenter
        presenter.entries_changed.connect(self._show_entries)
        presenter.head_changed.connect(self._show_head)
        presenter.options_changed.connect(self._show_options)
        presenter.batch_changed.connect(self.main.batch.show_batch)
        presenter.batch_changed.connect(self._show_table_button)
        presenter.exports.changed.connect(self._show_export)
        presenter.footer_changed.connect(self.list.show_footer)
        LeavingWatch(
            self.main.leaving,
            "transcription",
            presenter.current_account,
            lambda: presenter.options.model,
            lambda model_id: presenter.account_models.get(model_id) is not None,
            presenter.options_changed,
        )
        self.main.leaving.choose_requested.connect(lambda: self.main.header.open_models())
        presenter.notice.connect(self.toast_requested)
        presenter.help_requested.connect(self.help_requested)
        presenter.busy_changed.connect(self.changed)
        presenter.recording.inputs_changed.connect(self._show_inputs)
        presenter.recording.ticked.connect(self._show_tick)
        presenter.reading.changed.connect(self._show_reading)

    def _connect_list(self) -> None:
        pane, presenter = self.list, self.presenter
        pane.record_requested.connect(presenter.close_row)
        pane.files_requested.connect(self.choose_files)
        pane.table_requested.connect(presenter.show_batch)
        pane.open_requested.connect(self.open_row)
        pane.rename_requested.connect(self._rename)
        pane.trash_requested.connect(presenter.move_to_trash)
        pane.offer_trash(presenter.trash, self._tasks, pane.foot.trash, tr("Back to transcripts"))
        pane.search_requested.connect(presenter.search)

    def _connect_canvas(self) -> None:
        main, presenter = self.main, self.presenter
        header = main.header
        header.renamed.connect(lambda title: presenter.rename(self._head.id or "", title))
        header.model_chosen.connect(lambda model: presenter.set_option("model", model))
        header.again_requested.connect(presenter.transcribe_again)
        header.other_requested.connect(
            lambda again: self._tasks.start_unless_running("transcription other model", self._ask_other_model, again)
        )
        header.copy_requested.connect(self.copy_text)
        header.new_requested.connect(presenter.close_row)
        header.list_requested.connect(lambda: self.toggle_list())
        header.inspector_requested.connect(lambda: self.toggle_inspector())
        main.files_dropped.connect(presenter.add_files)
        main.pause_pressed.connect(presenter.recorder.pause_recording)
        main.mark_pressed.connect(presenter.mark)
        main.start.record_requested.connect(presenter.recorder.record)
        main.start.files_requested.connect(self.choose_files)
        main.start.folder_requested.connect(self.choose_folder)
        main.start.test_requested.connect(presenter.recorder.test_microphone)
        main.start.action.connect(presenter.act)
        main.recording.stop_requested.connect(lambda: presenter.recorder.stop_recording(transcribe=True))
        main.recording.save_requested.connect(lambda: presenter.recorder.stop_recording(transcribe=False))
        main.recording.pause_requested.connect(presenter.recorder.pause_recording)
        main.recording.mark_requested.connect(presenter.mark)
        main.recording.discard_requested.connect(presenter.recorder.discard_recording)
        main.sound.transcribe_requested.connect(presenter.transcribe)
        main.sound.cancel_requested.connect(presenter.cancel)
        main.sound.treatment_requested.connect(lambda words: presenter.set_treatment(self._head.id or "", words))
        main.sound.action.connect(presenter.act)
        main.sound.copy_requested.connect(self.save_sound)
        main.batch.start_requested.connect(presenter.batch_queue.start)
        main.batch.pause_requested.connect(presenter.batch_queue.pause)
        main.batch.add_requested.connect(self.choose_files)
        main.batch.clear_requested.connect(presenter.batch_queue.clear_done)
        main.batch.open_requested.connect(self.open_row)
        main.batch.drop_requested.connect(presenter.batch_queue.drop)

    def _connect_player(self) -> None:
        playing, result = self.presenter.playing, self.main.result
        view, reading = result.view, self.presenter.reading
        for bar in self._bars():
            bar.play_pressed.connect(playing.toggle)
            bar.seek_requested.connect(playing.seek)
            bar.skip_requested.connect(playing.skip)
            bar.speed_chosen.connect(playing.set_speed)
            bar.volume_chosen.connect(playing.set_volume)
            bar.output_chosen.connect(playing.set_output)
            bar.outputs_requested.connect(lambda: self._tasks.replace("outputs", self._read_outputs))
        playing.position_changed.connect(self._show_position)
        playing.changed.connect(self._show_playing)
        view.listen_requested.connect(lambda seconds: playing.seek(seconds, play=True))
        view.edited.connect(reading.edit)
        view.edit_begun.connect(playing.pause)
        result.replace_requested.connect(reading.replace)
        view.nudge_requested.connect(reading.nudge)
        view.split_requested.connect(reading.split)
        view.merge_requested.connect(reading.merge)
        result.receipt_requested.connect(self.open_request)
        self._show_playing()

    def _bars(self) -> tuple[PlayerBar, PlayerBar]:
        """Of what is still to be sent, and of a transcript; one of them is in sight."""
        return self.main.sound.player, self.main.result.player

    def _connect_side(self) -> None:
        presenter, options, export = self.presenter, self.side.options, self.side.export
        options.microphone_chosen.connect(presenter.recorder.choose_microphone)
        options.channel_chosen.connect(presenter.recorder.choose_channel)
        options.gain_changed.connect(self._set_gain)
        options.test_requested.connect(presenter.recorder.test_microphone)
        options.option_changed.connect(presenter.set_option)
        presenter.sending_soon.connect(options.more.extra.flush)
        options.mark_renamed.connect(presenter.rename_mark)
        options.mark_removed.connect(presenter.remove_mark)
        export.changed.connect(presenter.exports.choose)
        export.save_requested.connect(self.save_export)
        export.copy_requested.connect(self.copy_export)
        export.chat_requested.connect(lambda: self.chat_requested.emit(self._head.title, self.plain_text()))
        export.speech_requested.connect(lambda: self.speech_requested.emit(self._head.title, self.plain_text()))
        self.side.request.copied.connect(self.toast_requested.emit)

    # What the presenter tells

    def _show_entries(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.list.show_entries(entries)
        self.changed.emit()

    def _show_head(self, head: Head) -> None:
        renamed = head.id is not None and head.id == self._head.id and head.title != self._head.title
        self._head = head
        self.list.show_open_row(head.id)
        self.main.show_head(head)
        self.side.show_head(head)
        if renamed:
            self._show_preview()
        self.changed.emit()

    def _show_options(self, options: Options, models: Sequence[ModelChoice]) -> None:
        self.main.header.show_models(models, options.model)
        self.main.recording.record_as = options.record_as
        self.side.options.show_options(options, self.presenter.model())

    def _show_inputs(self, inputs: object) -> None:
        self.main.start.show_inputs(inputs)  # type: ignore[arg-type]  # the signal carries `Inputs`
        self.side.options.show_inputs(inputs)  # type: ignore[arg-type]
        self.main.header.inspector_button.update()

    def _show_tick(self, tick: Tick) -> None:
        self.main.start.show_tick(tick)
        if self.main.view == "recording":
            self.main.recording.show_tick(tick)
        second = int(tick.seconds)
        if (tick.phase, second) == self._told:
            return
        self._told = (tick.phase, second)
        self.list.show_recording(tick)
        if self.main.view == "recording":
            price = self.presenter.price_of_seconds(tick.seconds)
            words = tr(
                "{length_words} with {name}",
                length_words=length_words(max(1, second)),
                name=self.presenter.model().name,
            )
            self.main.recording.show_estimate(money.about(price) if price is not None else "", words)
        if self.presenter.recorder.is_recording:
            self.changed.emit()  # also while another row is looked at

    def _show_reading(self, reading: TranscriptState) -> None:
        self.main.result.show_reading(reading)
        self._show_preview()

    def _show_export(self, choice: ExportChoice) -> None:
        self.side.export.show_choice(choice)
        self._show_preview()

    def _show_preview(self) -> None:
        presenter = self.presenter
        at = presenter.playing.player.position_s
        self.side.export.show_preview(presenter.exports.preview(at))

    def _show_position(self, seconds: float) -> None:
        view = self.main.result.view
        before = view.spoken
        self.main.sound.player.set_position(seconds)
        self.main.result.show_position(seconds)
        moved = view.spoken is not None and (before is None or before[0] != view.spoken[0])
        if moved and self.presenter.exports.choice.kind in ("srt", "vtt"):
            self._show_preview()

    def _show_playing(self) -> None:
        playing = self.presenter.playing
        for bar in self._bars():
            bar.set_plays(playing.plays)
            bar.set_speed(playing.player.speed)
            bar.set_volume(playing.player.volume)
            if playing.problem:
                bar.set_status(playing.problem)

    async def _read_outputs(self) -> None:
        outputs, problem = await self.presenter.playing.outputs()
        for bar in self._bars():
            bar.set_outputs(outputs, self.presenter.playing.player.device_id, problem)

    def _show_table_button(self, batch: Batch) -> None:
        self.list.table.setVisible(bool(batch.rows))

    async def _ask_other_model(self, again: bool) -> None:
        other = await ask_other_model(self._theme, self.main, self.presenter.account_models.look_up)
        if other is not None:
            await self.presenter.use_other_model(other.model, again=again)

    # What the person does

    def open_row(self, row_id: str) -> None:
        """Show a row; the list closes where it slides over the canvas."""
        self.presenter.open(row_id)
        if self.zones.list_overlay and self.zones.list_open:
            self.toggle_list()

    def step(self, by: int) -> None:
        row_id = self.list.neighbor(by)
        if row_id is not None:
            self.presenter.open(row_id)

    def _rename(self, row_id: str) -> None:
        if row_id != self._head.id:
            self.presenter.open(row_id)
        self.main.header.begin_rename()

    def rename(self) -> None:
        """F2: edit the segment when the transcript has the focus, else the title."""
        view = self.main.result.view
        if self.main.view == "result" and view.hasFocus():
            view.begin_edit()
        else:
            self.main.header.begin_rename()

    def new_recording(self) -> None:
        """Ctrl+N: the empty page; on it, and while nothing records, its main button has the focus."""
        self.presenter.close_row()
        self.main.start.main.setFocus()

    def toggle_recording(self) -> None:
        """Ctrl+Shift+R: begin, or stop and keep. Nothing is sent by this key."""
        if self.presenter.recorder.is_recording:
            self.presenter.recorder.stop_recording(transcribe=False)
        else:
            self.presenter.recorder.record()

    def main_action(self) -> None:
        """Ctrl+Enter: what the large button of the canvas does."""
        buttons = {
            "recording": self.main.recording.stop,
            "sound": self.main.sound.send,
            "batch": self.main.batch.start,
            "empty": self.main.start.main,
        }
        button = buttons.get(self.main.view)
        if button is not None and button.isEnabled():
            button.click()
        else:
            self.say_why_not()

    def try_again(self) -> None:
        """Ctrl+R: send the open sound once more."""
        if self.main.sound.send.isEnabled():
            self.presenter.retry()
        else:
            self.say_why_not()

    def say_why_not(self) -> None:
        """A key whose button rests says why."""
        words = why_not_sent(self._head, self.presenter.batch_queue.view())
        if words:
            self.toast_requested.emit(words)

    def trash(self) -> None:
        if self._head.id is not None:
            self.presenter.move_to_trash((self._head.id,))

    def open_trash(self) -> None:
        """Show the trash in place of the list."""
        self.list.open_trash()
        if not self.zones.list_open:
            self.toggle_list()

    def choose_files(self) -> None:
        ask_for_files(self.main, tr("Files to transcribe"), self.presenter.add_files, FILE_FILTER)

    def choose_folder(self) -> None:
        ask_for_folder(self.main, tr("Folder to transcribe"), lambda folder: self.presenter.add_files((folder,)))

    def save_export(self) -> None:
        name = f"{self._head.title or 'transcript'}.{self.presenter.exports.choice.kind}"
        ask_to_save(self.main, tr("Save transcript"), name, self.presenter.exports.save)

    def save_sound(self) -> None:
        """A copy of the recording; the tab keeps its own."""
        name = f"{self._head.title or 'transcript'}.wav"
        ask_to_save(self.main, tr("Save recording"), name, self.presenter.exports.save_sound)

    def copy_export(self) -> None:
        QGuiApplication.clipboard().setText(self.presenter.exports.text())
        self.toast_requested.emit(tr("Copied"))

    def plain_text(self) -> str:
        return self.presenter.reading.document.text

    def copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self.plain_text())
        self.toast_requested.emit(tr("Text copied"))

    def open_request(self) -> None:
        self.side.show_page(REQUEST)
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def open_options(self) -> None:
        self.side.show_page(OPTIONS)
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def _set_gain(self, gain_db: float) -> None:
        self.presenter.recorder.set_gain(gain_db)
        self._show_inputs(self.presenter.recording.inputs())

    def find_and_replace(self) -> None:
        self.main.result.open_replace()

    def find_next(self, by: int) -> None:
        if self.main.view == "result":
            self.main.result.step(by)

    # TabPage

    def list_pane(self) -> QWidget:
        return self.list

    def canvas(self) -> QWidget:
        return self.main

    def inspector(self) -> QWidget:
        return self.side

    def main_input(self) -> QWidget:
        return self.main.main_input()

    def filter_field(self) -> QWidget:
        """Ctrl+F: find in the transcript that has the focus, else search the list."""
        focused = QApplication.focusWidget()
        if self.main.view == "result" and focused is not None and self.main.result.isAncestorOf(focused):
            return self.main.result.search
        return self.list.filter_field()

    def actions(self) -> Sequence[TabAction]:
        return transcription_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return transcription_palette_items(self, self._entries, text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        """Sound has a limit of its own: what the last answer said of it."""
        exchange = self.presenter.last_exchange
        return RateLimitRemaining.told(exchange.info if exchange is not None else None, tr("Audio"))

    def running_work(self) -> Sequence[str]:
        work: list[str] = []
        recording = self.presenter.recording
        if self.presenter.recorder.is_recording and recording.phase == "paused":
            work.append(tr("Recording paused at {time}", time=full_clock(recording.seconds)))
        elif self.presenter.recorder.is_recording:
            work.append(LiveWork(tr("Recording {time}", time=full_clock(recording.seconds))))
        work += [tr("Transcribing “{title}”", title=title) for title in self.presenter.sending_titles()]
        return work

    def badge(self) -> int:
        return len(self.presenter.sending_titles())

    def retry_refused(self) -> Callable[[], object] | None:
        row = self.presenter.open_row
        return lambda: self.presenter.transcribe(row.id) if row is not None else None

    def handle_escape(self) -> bool:
        """Silence, then stop an upload; a recording is never ended by Esc."""
        return self.presenter.recorder.end_test() or self.presenter.playing.stop() or self.presenter.cancel()

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.main.header.set_places(
            narrow=zones.list_overlay, list_button=not zones.list_beside, inspector_open=zones.inspector_open
        )

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.toggle_list = toggle_list
        self.toggle_inspector = toggle_inspector

    def activated(self) -> None:
        """Devices may have changed while another tab was shown."""
        if self.presenter.transcripts is not None:
            self.presenter.recorder.refresh_microphones()

    @property
    def head(self) -> Head:
        return self._head


def _nothing() -> None:
    """Stands in until the window connects its panes."""
