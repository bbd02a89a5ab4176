"""The speech tab: its panes, and the wires between widgets and presenters. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core import money
from app.core.tabs import TABS
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.forms.other_model_dialog import OTHER_MODEL, ask_other_model
from app.ui.kit.leaving_strip import LeavingWatch
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.widgets.dialogs import ask_text, confirm
from app.ui.kit.widgets.menu import Menu
from app.ui.speech.canvas import LONG_NOTE, SpeechCanvas
from app.ui.speech.clip_list import ClipListPane
from app.ui.speech.inspector import OWN, REQUEST, VOICE, SpeechInspector
from app.ui.speech.page_actions import speech_actions, speech_palette_items
from app.ui.speech.state import AuditionRow, ClipRow
from app.ui.speech.voice_controller import VoiceController

if TYPE_CHECKING:
    from app.core.current_account import RateLimitRemaining
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme
    from app.ui.speech.presenter import SpeechPresenter
    from app.ui.speech.session.clip_actions import ClipActions
    from app.ui.speech.session.read_aloud import ReadAloud
    from app.ui.speech.session.voice_cloning import VoiceCloning

INFO = TABS["speech"]


class SpeechPage(QObject):
    """A `TabPage`. Other features are reached by signals, which the composition root connects."""

    changed = Signal()
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written
    help_requested = Signal(str)
    transcribe_requested = Signal(Path)  # the file of a clip

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self,
        theme: Theme,
        presenter: SpeechPresenter,
        clip_actions: ClipActions,
        clones: VoiceCloning,
        tasks: TaskScope,
        *,
        whole: bool = True,
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self.tasks = tasks
        self.presenter = presenter
        self.clip_actions = clip_actions
        self.clones = clones
        self.aloud: ReadAloud | None = None  # reads the chat's answers; set by whoever joins the two
        self.zones = Zones()
        self._toggle_list: Callable[[], None] = lambda: None
        self._toggle_inspector: Callable[[], None] = lambda: None
        self._rows: Sequence[ClipRow] = ()
        self.list = ClipListPane(theme)
        self.main = SpeechCanvas(theme, whole=False)
        self.side = SpeechInspector(theme, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        yield from self.main.build()
        yield from self.side.build()
        self.voices = VoiceController(self, self._theme)
        yield
        self._connect_presenter()
        self._connect_list()
        self._connect_canvas()
        yield
        self._show_presenter()
        yield
        self.voices.show_all()
        self.presenter.publish_clips()

    # -- wires ----------------------------------------------------------------------------------------------------

    def _connect_presenter(self) -> None:
        presenter, main = self.presenter, self.main
        presenter.replacing.connect(main.editor.flush)
        presenter.text_replaced.connect(main.editor.set_text)
        presenter.head_changed.connect(main.show_head)
        presenter.head_changed.connect(lambda head: self.list.show_open(head.row_id))
        presenter.meter_changed.connect(main.speak_bar.show_meter)
        presenter.meter_changed.connect(lambda meter: main.editor.show_parts(meter.parts))
        presenter.clips_changed.connect(self._show_clips)
        presenter.problem_changed.connect(main.show_problem)
        LeavingWatch(
            main.leaving,
            "speech",
            presenter.current_account,
            lambda: presenter.choice.model,
            lambda model_id: presenter.voice_list.model(model_id) is not None,
            presenter.choice_changed,
        )
        main.leaving.choose_requested.connect(lambda: self.open_model_menu())
        presenter.calls_changed.connect(self.side.request.show_calls)
        self.side.request.copied.connect(self.toast_requested.emit)
        presenter.notice.connect(self.toast_requested)
        presenter.busy_changed.connect(self._show_busy)
        sound = presenter.sound
        sound.changed.connect(self._show_sound)
        sound.moved.connect(main.player.set_position)
        sound.sentence_changed.connect(self._show_sentence)
        sound.outputs_changed.connect(
            lambda outputs, problem: main.player.set_outputs(outputs, sound.view.output, problem)
        )
        self.clip_actions.audition_changed.connect(self._show_audition)

    def _connect_list(self) -> None:
        pane, clip_actions = self.list, self.clip_actions
        pane.new_requested.connect(self.new_clip)
        pane.open_requested.connect(self.open_clip)
        pane.play_requested.connect(clip_actions.play)
        pane.rename_requested.connect(
            lambda clip_id: self.tasks.start_unless_running("speech rename", self._ask_name, clip_id)
        )
        pane.star_requested.connect(clip_actions.star)
        pane.trash_requested.connect(clip_actions.move_to_trash)
        pane.offer_trash(self.presenter.trash, self.tasks, pane.foot.trash, tr("Back to clips"))
        pane.again_requested.connect(self.speak_again)
        pane.save_requested.connect(self.save_clip)
        pane.continue_requested.connect(self.presenter.go_on)
        pane.compare_requested.connect(clip_actions.compare)
        pane.player_key.connect(self.main.player.handle_key)

    def _connect_canvas(self) -> None:
        main, presenter, sound = self.main, self.presenter, self.presenter.sound
        main.renamed.connect(lambda title: self.clip_actions.rename(presenter.head.row_id, title))
        main.list_requested.connect(lambda: self._toggle_list())
        main.inspector_requested.connect(lambda: self._toggle_inspector())
        main.model.clicked.connect(self.open_model_menu)
        main.audition.clicked.connect(self.voices.ask_audition)
        main.open_file.clicked.connect(self.open_text_file)
        main.editor.edited.connect(presenter.set_text)
        main.editor.sentence_requested.connect(sound.play_sentence_at)
        main.editor.file_dropped.connect(self.read_text_file)
        main.editor.refused.connect(lambda: self.toast_requested.emit(f"{LONG_NOTE.lead} {LONG_NOTE.text}"))
        main.speak_bar.speak_requested.connect(lambda: self.speak())
        main.speak_bar.file_requested.connect(lambda: self.speak(aloud=False))
        main.speak_bar.stop_requested.connect(presenter.stop)
        main.problem_action.connect(self._help)
        main.continue_requested.connect(lambda: presenter.go_on(sound.view.clip_id))
        main.save.clicked.connect(lambda: self.save_clip(sound.view.clip_id))
        main.transcribe.clicked.connect(self._transcribe)
        player = main.player
        player.play_pressed.connect(sound.toggle)
        player.seek_requested.connect(sound.seek)
        player.skip_requested.connect(sound.skip)
        player.segment_requested.connect(sound.skip_sentence)
        player.speed_chosen.connect(sound.set_speed)
        player.volume_chosen.connect(self._set_volume)
        player.outputs_requested.connect(sound.read_outputs)
        player.output_chosen.connect(self._set_output)
        view = main.audition_view
        view.play_requested.connect(self.clip_actions.play)
        view.star_requested.connect(self.clip_actions.star)
        view.menu_requested.connect(lambda clip_id, place: self.list.menu_of(clip_id).popup(place))
        view.use_requested.connect(self.clip_actions.star_with_voice)
        view.closed.connect(self.clip_actions.close_audition)

    # -- what the presenter tells ---------------------------------------------------------------------------------

    def _show_presenter(self) -> None:
        presenter = self.presenter
        self.main.editor.set_text(presenter.text)
        self.main.show_head(presenter.head)
        self.main.speak_bar.show_meter(presenter.meter)
        self.main.show_problem(presenter.problem)
        self._show_sound()

    def _show_clips(self, rows: Sequence[ClipRow], places: Mapping[str, int]) -> None:
        self._rows = rows
        clip_library = self.presenter.clip_library
        number, size = (len(clip_library.rows), clip_library.size_bytes()) if clip_library is not None else (0, 0)
        self.list.show_rows(rows, places, number, size)
        self.changed.emit()

    def _show_busy(self) -> None:
        self.main.speak_bar.show_speaking(self.presenter.is_speaking)
        self.main.show_player(self.presenter.sound.view, is_speaking=self.presenter.is_speaking)
        self.main.speak_bar.show_meter(self.presenter.meter)
        self.changed.emit()

    def _show_sound(self) -> None:
        sound = self.presenter.sound
        self.main.show_player(sound.view, is_speaking=self.presenter.is_speaking)
        self.main.player.waveform.set_sound(sound.peaks(), sound.view.known_s, sound.view.whole_s, sound.seams())
        self.main.player.set_position(sound.player.position_s)
        if self.main.speak_bar.is_speaking != self.presenter.is_speaking:
            self._show_busy()

    def _show_sentence(self, span: object) -> None:
        reading = self.presenter.sound.reading
        same = reading is not None and reading.clip.text == self.presenter.text
        self.main.editor.show_spoken(span if same else None)  # type: ignore[arg-type]  # a Span or None

    def _show_audition(self, rows: Sequence[AuditionRow]) -> None:
        self.main.show_audition(bool(rows))
        if rows:
            self.main.audition_view.show_rows(rows)
        compared = {self.list.row_with(row.clip_id) for row in rows}
        self.list.show_open(compared.pop() if len(compared) == 1 else self.presenter.head.row_id)

    # -- what the person does -------------------------------------------------------------------------------------

    def speak(self, *, aloud: bool = True) -> None:
        """Send what is written, with what was typed a moment ago."""
        self.main.editor.flush()
        self.side.delivery.flush()
        if self.presenter.is_speaking:
            return
        self.main.editor.follow()
        self.presenter.speak(aloud=aloud)
        self._show_busy()

    def new_clip(self) -> None:
        self.clip_actions.close_audition()
        self.presenter.new_clip()
        self.main.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def take_text(self, text: str, title: str = "") -> None:
        """Begin a new clip with a text of another tab. Nothing is sent."""
        self.new_clip()
        self.presenter.replace_text(text, title=title)

    def open_clip(self, clip_id: str) -> None:
        """Show a clip or a comparison; the list closes where it slides over the canvas."""
        row = self.list.row(clip_id)
        if row is not None and row.clips:
            self.clip_actions.compare(tuple(clip.id for clip in row.clips))
        else:
            self.clip_actions.close_audition()
            self.clip_actions.open(clip_id)
        if self.zones.list_overlay and self.zones.list_open:
            self._toggle_list()

    def step(self, by: int) -> None:
        clip_id = self.list.neighbor(by)
        if clip_id:
            self.open_clip(clip_id)

    def speak_again(self, clip_id: str) -> None:
        """The clip's text with the voice that is chosen now."""
        choice = self.presenter.choice
        self.clip_actions.again(clip_id, choice.model, choice.voice)

    def star(self) -> None:
        """The clip that is open, or the voice that the list of voices is at while the keyboard is there."""
        voices = self.side.picker.view
        if voices.hasFocus() and voices.current_key is not None:
            self.clones.set_favorite(*self.side.picker.key_of(voices.current_key))
        else:
            self.clip_actions.star(self.presenter.head.clip_id)

    def compare_selected(self) -> None:
        """Put the clips that are selected in the list side by side; without a selection those of the same text."""
        chosen = self.list.selected()
        self.clip_actions.compare(
            chosen if len(chosen) > 1 else self.clip_actions.clips_like(self.presenter.head.clip_id)
        )

    def open_trash(self) -> None:
        """Show the clips and voices in the trash in place of the list."""
        self.list.open_trash()
        if not self.zones.list_open:
            self._toggle_list()

    def rename(self) -> None:
        chosen = self.list.selected() if self.list.view.hasFocus() else ()
        if len(chosen) == 1 and chosen[0] != self.presenter.head.row_id:
            self.list.rename_requested.emit(chosen[0])
        elif self.presenter.head.row_id:
            self.main.begin_rename()

    async def _ask_name(self, clip_id: str) -> None:
        row = self.list.row(clip_id)
        title = await ask_text(
            self._theme,
            self.main,
            tr("Rename clip"),
            tr("Title"),
            value=row.title if row is not None else "",
            max_chars=80,
        )
        if title is not None and row is not None:
            for clip in row.clips or (row,):
                self.clip_actions.rename(clip.id, title)

    def open_text_file(self) -> None:
        ask_for_file(self.main, tr("Open a text file"), self.read_text_file, tr("Text (*.txt *.md);;All files (*)"))

    def read_text_file(self, path: Path) -> None:
        self.tasks.replace("speech file", self.voices.read_file, path)

    def save_clip(self, clip_id: str) -> None:
        """Choose name, place and format."""
        if clip_id:
            self.voices.ask_save(clip_id)

    def open_model_menu(self) -> Menu:
        """Every model of the service; the one in use is ticked."""
        menu = Menu(self._theme, self.main)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for model in self.presenter.voice_list.models:
            action = menu.add(model.name)
            action.setCheckable(True)
            action.setChecked(model.id == self.presenter.choice.model)
            action.setData(model.id)
            price = model.price_input
            if price is not None:
                action.setToolTip(plain_tip(tr("{price} per million characters", price=money.money(price))))
        menu.triggered.connect(lambda action: self.presenter.use_model(str(action.data())) if action.data() else None)
        menu.addSeparator()
        menu.add(OTHER_MODEL).triggered.connect(
            lambda: self.tasks.start_unless_running("speech other model", self._ask_other_model)
        )
        menu.popup(self.main.model.mapToGlobal(self.main.model.rect().bottomLeft()))
        return menu

    async def _ask_other_model(self) -> None:
        other = await ask_other_model(self._theme, self.main, self.presenter.look_up_model)
        if other is not None:
            await self.presenter.use_other_model(other)

    def open_voices(self) -> None:
        self._open_side(VOICE)
        self.side.picker.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_own_voices(self) -> None:
        self._open_side(OWN)

    def open_request(self) -> None:
        self._open_side(REQUEST)

    def _open_side(self, page: int) -> None:
        self.side.show_page(page)
        if not self.zones.inspector_open:
            self._toggle_inspector()

    def _set_volume(self, volume: float) -> None:
        self.presenter.sound.set_volume(volume)
        self.presenter.save_soon(volume=volume)

    def _set_output(self, device_id: str) -> None:
        self.presenter.sound.set_output(device_id)
        self.presenter.save_soon(output=device_id)
        sound = self.presenter.sound
        self.main.player.set_outputs(sound.outputs, device_id)

    def _transcribe(self) -> None:
        reading = self.presenter.sound.reading
        if reading is not None:
            self.tasks.replace("speech hand on", self.voices.hand_on, reading.clip.id)

    def _help(self, action: str) -> None:
        """Buttons of error cards."""
        presenter = self.presenter
        if action == "retry" and presenter.lacks_models:
            presenter.refresh_models()
        elif action in ("retry", "go-on", "resume"):
            if not presenter.go_on(presenter.sound.view.clip_id):
                self.speak()
        elif action == "model-voice":
            presenter.use_model(presenter.choice.model)
        elif action in ("choose-voice", "choose-model"):
            self.open_voices()
        elif action.startswith("clone-again:"):
            if not self.clones.clone_anew(action.partition(":")[2]):
                self.open_own_voices()
        elif action == "stop":
            presenter.set_problem(None)
        else:
            self.help_requested.emit(action)

    async def confirm_price(self, title: str, text: str, action: str) -> bool:
        """Ask before money is spent on something that is no plain Speak."""
        return await confirm(self._theme, self.main, title, text, action=action)

    # -- TabPage --------------------------------------------------------------------------------------------------

    def list_pane(self) -> QWidget:
        return self.list

    def canvas(self) -> QWidget:
        return self.main

    def inspector(self) -> QWidget:
        return self.side

    def main_input(self) -> QWidget:
        return self.main.editor

    def filter_field(self) -> QWidget:
        return self.list.filter_field()

    def actions(self) -> Sequence[TabAction]:
        return speech_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return speech_palette_items(self, self._rows, text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        return None

    def running_work(self) -> Sequence[str]:
        return [tr("Generating “{title}”", title=title) for title in self.presenter.speaking_titles()]

    def badge(self) -> int:
        return int(self.presenter.is_speaking)

    def retry_refused(self) -> Callable[[], object] | None:
        clip_id = self.presenter.sound.view.clip_id
        return lambda: None if self.presenter.go_on(clip_id) else self.speak()

    def silence(self) -> bool:
        """Let nothing of ours be heard; False when nothing was. Of an answer read aloud no more is asked for."""
        if self.aloud is not None and self.aloud.stop():
            return True
        return self.presenter.sound.silence() or self.voices.silence()

    def handle_escape(self) -> bool:
        """Silence first, then the clip that is being asked for, then the audition."""
        if self.silence():
            return True
        if self.presenter.is_speaking:
            return self.presenter.stop()
        if self.clip_actions.auditioned:
            self.clip_actions.close_audition()
            return True
        return False

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.main.set_zones(zones)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self._toggle_list, self._toggle_inspector = toggle_list, toggle_inspector

    def activated(self) -> None:
        self.presenter.sound.read_outputs()
