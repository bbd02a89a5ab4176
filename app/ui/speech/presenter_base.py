"""What is written, which voice says it and what it costs: the half of the speech tab that spends nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.core.calling_presenter import CallingPresenter
from app.core.draft_memory import DraftMemory
from app.core.model_lists import list_models
from app.core.problems import Problem
from app.core.trash import Trash
from app.service.errors import ServiceError
from app.service.speech import VOICE_PREFIX
from app.service.speech_text import MAX_CHARS, Span, parts, sentences
from app.storage.intents import Intents
from app.storage.takes import Take
from app.storage.voices import Voices
from app.ui.kit.lists.rows import build_rows
from app.ui.speech.presenter_calls import SessionCalls
from app.ui.speech.presenter_meter import AT_ONCE, meter_of
from app.ui.speech.presenter_player import SpeechPlayer
from app.ui.speech.presenter_synthesis import SpeechSynthesis
from app.ui.speech.presenter_take_library import TakeLibrary, take_row
from app.ui.speech.presenter_voices import VoiceList
from app.ui.speech.speech_options import SpeechOptions, SpeechOptionsView, speech_options_of, view_of
from app.ui.speech.state import Choice, DeskHead, Meter

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.service.models import Model
    from app.storage.catalogue import Catalogue
    from app.ui.speech.voice_catalog import Key, VoiceTable

SPEAK = "speech speak"


class SpeechBase(CallingPresenter):
    """The state of the tab and what changes it without a call that costs anything."""

    text_replaced = Signal(str)
    replacing = Signal()  # the text is about to be replaced: what was typed a moment ago is told now
    head_changed = Signal(object)  # DeskHead
    meter_changed = Signal(object)  # Meter
    choice_changed = Signal(object)  # Choice
    voices_changed = Signal()
    speech_options_changed = Signal(object)  # SpeechOptionsView
    takes_changed = Signal(object)  # (ClipRow, …)
    problem_changed = Signal(object)  # Problem or None
    calls_changed = Signal(object)  # (CallView, …) of the take in the player
    busy_changed = Signal()
    notice = Signal(str, str, str)  # sentence, action id or "", its words

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        sound: SpeechPlayer,
        table: VoiceTable,
        folder: Path,
        undo_stack: UndoStack,
    ) -> None:
        """`folder` is the person's own data folder."""
        super().__init__(current_account)
        self._tasks = tasks
        self.sound = sound
        self.folder = folder
        self.trash = Trash("speech", tasks, undo_stack)
        self.trash.failed.connect(lambda sentence: self.notice.emit(sentence, "", ""))
        self.voice_list = VoiceList(table, folder / "voice-samples")
        self.take_library: TakeLibrary | None = None
        self.voices: Voices | None = None
        self.intents: Intents | None = None
        self._catalogue: Catalogue | None = None
        self.text = ""
        self.speech_options = SpeechOptions()
        self.choice = Choice()
        self.head = DeskHead()
        self.meter = Meter(why_not="There is nothing to say.")
        self.problem: Problem | None = None
        self.pattern = ""
        self.ready = asyncio.Event()
        self.calls = SessionCalls()
        self._memory = DraftMemory(tasks, "speech desk")
        self.keep = self._memory.keep
        self._wanted: Key = ("", "")  # the voice that was chosen or spoken with last, whether it exists now or not
        self._listed: Key = ("", "")  # the same, of those that are no cloned ones
        self._speaking = ""  # the take that is being asked for
        self._seen = ("", False)
        self._told_calls_of: Take | None = None
        current_account.account_changed.connect(self._account_changed)
        sound.changed.connect(self._sound_changed)

    # -- models ---------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model | None:
        return self.voice_list.model(self.choice.model)

    def _account_changed(self) -> None:
        self.voice_list.use_account(self.account_id)
        self.settle_choice()
        self.refresh_models()

    def refresh_models(self) -> None:
        """Ask the service which voices it has."""
        if self._current_account.service is not None and self.voices is not None:
            self._tasks.replace("speech models", self._read_models)
        else:
            self._tasks.cancel("speech models")

    async def _read_models(self) -> None:
        if await self.voice_list.load_saved(self._catalogue, self.account_id):
            self.settle_choice()
        try:
            models = await list_models(self._current_account, self._catalogue, "tts", background=True)
        except ServiceError:
            models = ()  # the names are in the bundled table, the prices of last time on the disk
        if models is not None:
            self.voice_list.set_models(models)
            self.settle_choice()

    # -- text -----------------------------------------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """What the person typed; priced a moment later, saved at the next pause."""
        if text == self.text:
            return
        self.text = text
        self.keep(text=self.text)
        take = self._open_take()
        if take is not None and take.text != self.text:
            self.set_head(DeskHead())  # it is another text now; the take stays in the player
        self._measure_text()

    def _measure_text(self) -> None:
        if len(self.text) > AT_ONCE:
            self._tasks.replace("speech meter", self._measure_long)
        else:
            self._set_meter(parts(self.text))

    async def _measure_long(self) -> None:
        await asyncio.sleep(0.05)
        self._set_meter(await asyncio.to_thread(parts, self.text))

    def _set_meter(self, spans: tuple[Span, ...]) -> None:
        self.meter = self._meter_of(spans)
        self.meter_changed.emit(self.meter)

    def _meter_of(self, spans: tuple[Span, ...]) -> Meter:
        has_voice = bool(self.choice.voice)
        return meter_of(self.text, spans, has_voice=has_voice, speech_options=self.speech_options, model=self.model)

    def first_sentence(self) -> str:
        """What an audition says when nothing is selected."""
        head = self.text[: 2 * MAX_CHARS]
        return next((span.of(head) for span in sentences(head)), "")

    def new_clip(self) -> None:
        """An empty editor; a text that was not spoken yet stays on the disk until the next one is typed."""
        if self.sound.reading is not None and not self.is_speaking:
            self.sound.show(None)
        self.set_head(DeskHead())
        self.replace_text("")

    def replace_text(self, text: str, *, title: str = "") -> None:
        """Put another text into the editor: a file, a transcript. `title` is what its first take will be called."""
        self.text = text
        self.keep(text=self.text)
        self.text_replaced.emit(self.text)
        if title:
            self.set_head(DeskHead(title))
        self._measure_text()

    # -- voice and knobs ------------------------------------------------------------------------------------------

    def use_voice(self, model_id: str, voice_id: str) -> None:
        """Speak with a voice; one of another model brings its model along and says so."""
        before = self.choice
        self._wanted = (model_id, voice_id)
        self.settle_choice()
        self.keep_choice()
        self.set_problem(None)
        if before.model and before.model != self.choice.model:
            note = f"{self.choice.voice_name} belongs to {self.choice.model_name}, so the model was changed to it."
            self.notice.emit(note, "", "")

    def use_model(self, model_id: str) -> None:
        """Speak with a model's own usual voice."""
        model = self.voice_list.model(model_id)
        if model is not None:
            self._wanted = (model_id, self.voice_list.default_voice(model))
            self.settle_choice()
            self.keep_choice()
            self.set_problem(None)

    def show_delivery_of(self, take: Take) -> None:
        """Choose the voice and the knobs a take was spoken with: it is open now. Nothing is remembered of it."""
        self.speech_options = speech_options_of(take.options, self.speech_options, self.voice_list.model(take.model))
        self._wanted = (take.model, take.voice)
        self.settle_choice()

    def keep_choice(self) -> None:
        """Make the voice in use the wanted one, whatever voices are listed later. Called before it speaks, too."""
        self._wanted = (self.choice.model, self.choice.voice)
        self.keep(model=self.choice.model, voice=self.choice.voice)
        voice = self.voice_list.find(*self._wanted)
        if voice is not None and not voice.own_id:
            self._listed = voice.key
            self.keep(listed=list(voice.key))

    def settle_choice(self) -> None:
        """Find out which voice is in use, and tell: the wanted one where it exists, else its model's own.

        But a cloned voice that is gone leaves its model, too, which may cost many times more than what was spoken with
        before: then it is the listed voice that was chosen last, or that spoke last.
        """
        voice_list, (model_id, voice_id) = self.voice_list, self._wanted
        if voice_id.startswith(VOICE_PREFIX) and voice_list.find(model_id, voice_id) is None:
            model_id, voice_id = (
                self._listed if voice_list.find(*self._listed) is not None else voice_list.last_listed()
            )
        model = voice_list.model(model_id) or (voice_list.models[0] if voice_list.models else None)
        if model is None:
            self.choice = Choice()
        else:
            voice = voice_list.find(model.id, voice_id) if model.id == model_id else None
            chosen = voice_id if voice is not None else voice_list.default_voice(model)
            found = voice or voice_list.find(model.id, chosen)
            self.choice = Choice(model.id, model.name, chosen, found.name if found is not None else chosen)
        self.voices_changed.emit()
        self.choice_changed.emit(self.choice)  # after the voices: the chosen one is scrolled to
        self.speech_options_changed.emit(self.speech_options_view())
        self._measure_text()
        self.publish_takes()

    def set_speech_option(self, name: str, value: object) -> None:
        """Set one of the fields of `SpeechOptions`."""
        self.speech_options = replace(self.speech_options, **{name: value})  # type: ignore[arg-type]  # the page names our own fields
        self.keep(knobs=self.speech_options.to_json())
        self.speech_options_changed.emit(self.speech_options_view())
        self._measure_text()

    def speech_options_view(self) -> SpeechOptionsView:
        return view_of(self.speech_options, self.model)

    def lacks_account(self) -> bool:
        """Whether nothing can be asked for; then the page says so."""
        if self.service is None:
            self.set_problem(Problem("There is no account", "Choose the Sandbox or add a key in Settings."))
        return self.service is None

    def set_problem(self, problem: Problem | None) -> None:
        if problem != self.problem:
            self.problem = problem
            self.problem_changed.emit(problem)

    @property
    def is_speaking(self) -> bool:
        """True while a take is being asked for."""
        return bool(self._speaking)

    # -- what the page is told ------------------------------------------------------------------------------------

    def _open_take(self) -> Take | None:
        return self.take_library.one(self.head.take_id) if self.take_library is not None and self.head.take_id else None

    def set_head(self, head: DeskHead) -> None:
        if head != self.head:
            self.head = head
            self.head_changed.emit(head)
            self.publish_takes()

    def _sound_changed(self) -> None:
        reading = self.sound.reading
        self._publish_calls(reading)
        if reading is None or self.take_library is None:
            return
        known = self.take_library.one(reading.take.id)
        seen = (reading.take.id, self.sound.view.plays)
        if known is not None and (known != reading.take or seen != self._seen):
            self._seen = seen
            self.take_library.put(reading.take)
            self.publish_takes()

    def _publish_calls(self, reading: SpeechSynthesis | None) -> None:
        take = reading.take if reading is not None else None
        if take is not self._told_calls_of:
            self._told_calls_of = take
            self.calls.note(*(reading.exchanges if reading is not None else ()))
            self.calls_changed.emit(self.calls.views_of(take))

    def publish_takes(self) -> None:
        if self.take_library is None:
            return
        now, view = datetime.now(UTC), self.sound.view
        self.takes_changed.emit(
            tuple(
                build_rows(
                    self.take_library.rows,
                    lambda take: take_row(
                        take,
                        self.voice_list,
                        now,
                        working=take.id == self._speaking,
                        plays=view.plays and take.id == view.take_id,
                    ),
                )
            )
        )
