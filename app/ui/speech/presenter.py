"""The speech tab: what is written, which voice says it, what it costs, and what became of it. QtCore only."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.service.errors import ServiceError
from app.service.pricing import speech_cost
from app.service.speech_text import Span, parts, sentences
from app.storage.errors import StorageError
from app.storage.intents import Intents
from app.storage.takes import Take, TakeFiles, Takes, title_of
from app.storage.voices import Voices
from app.ui.shared.problems import Problem
from app.ui.speech.knobs import Knobs, KnobView, knobs_from, sent_options, view_of
from app.ui.speech.presenter_clips import ClipShelf, clip_row
from app.ui.speech.presenter_problems import words_for
from app.ui.speech.presenter_reading import Grow, Reading
from app.ui.speech.presenter_sound import SoundDesk
from app.ui.speech.presenter_voices import CATALOGUE_KEY, CATALOGUE_KIND, VoiceShelf
from app.ui.speech.state import Choice, DeskHead, Meter

if TYPE_CHECKING:
    from app.service.models import Model
    from app.service.service import Service
    from app.storage.catalogue import Catalogue
    from app.storage.database import Database
    from app.ui.shared.caller import Caller
    from app.ui.shared.tasks import TaskScope
    from app.ui.speech.voice_book import VoiceTable

CHARS_PER_S = 14.5
SAVE_AFTER_S = 0.4
LONGEST_TEXT = 500_000  # characters, about nine hours
SPEAK = "speech speak"


class SpeechPresenter(QObject):
    """What the page shows, signal by signal. `start` hands it the database; without one nothing can be spoken."""

    text_replaced = Signal(str)
    head_changed = Signal(object)  # DeskHead
    meter_changed = Signal(object)  # Meter
    choice_changed = Signal(object)  # Choice
    voices_changed = Signal()
    knobs_changed = Signal(object)  # KnobView
    clips_changed = Signal(object)  # (ClipRow, …)
    problem_changed = Signal(object)  # Problem or None
    request_changed = Signal(object)  # Exchange or None
    busy_changed = Signal()
    notice = Signal(str, str, str)  # sentence, action id or "", its words

    def __init__(
        self,
        caller: Caller,
        tasks: TaskScope,
        sound: SoundDesk,
        table: VoiceTable,
        folder: Path,
    ) -> None:
        """`folder` is the person's own data folder."""
        super().__init__()
        self._caller = caller
        self._tasks = tasks
        self.sound = sound
        self.folder = folder
        self.shelf = VoiceShelf(table, folder / "voice-samples")
        self.clips: ClipShelf | None = None
        self.voices: Voices | None = None
        self.intents: Intents | None = None
        self._catalogue: Catalogue | None = None
        self.text = ""
        self.knobs = Knobs()
        self.choice = Choice()
        self.head = DeskHead()
        self.meter = Meter(why_not="There is nothing to say.")
        self.problem: Problem | None = None
        self.pattern = ""
        self.ready = asyncio.Event()
        self._unsaved: dict[str, Any] = {}
        self._speaking = ""  # the take that is being asked for
        self._seen = ("", False)
        caller.account_changed.connect(self._account_changed)
        sound.changed.connect(self._sound_changed)

    # -- beginning and end ----------------------------------------------------------------------------------------

    async def start(self, database: Database, catalogue: Catalogue | None = None) -> None:
        """Take the open database: takes, voices, what was being written. Raises `StorageError`."""
        self._catalogue = catalogue
        self.voices, self.intents = Voices(database), Intents(database)
        self.clips = ClipShelf(Takes(database), TakeFiles(self.folder / "speech"))
        await asyncio.to_thread(self.sound.sweep)
        broken = await self.clips.takes.mark_broken_off()
        await self.clips.load()
        for take_id in broken:
            await self.clips.measure(take_id)
        await self.shelf.load(self.voices)
        await self.shelf.load_saved(catalogue, self.account_id)
        self._take_desk(await self.voices.desk())
        self._tell_all()
        if broken:
            what = "A clip was" if len(broken) == 1 else f"{len(broken)} clips were"
            words = f"{what} being spoken when Rialto ended. What had arrived is kept; open it to go on."
            self.notice.emit(words, "", "")
        for intent in await self.intents.pending("speech"):  # the takes themselves show what is missing of them
            if intent.state == "unknown":
                await self.intents.tell(intent.id)
        self.refresh_models()
        self.sound.read_outputs()
        self.ready.set()

    async def aclose(self) -> None:
        """Save what is being written and give the loudspeaker back."""
        await self._save_desk_now()
        await asyncio.to_thread(self.sound.close)

    def _take_desk(self, kept: dict[str, Any]) -> None:
        self.text = str(kept.get("text") or "") if not self.text else self.text
        self.knobs = knobs_from(kept.get("knobs"))
        self.pattern = str(kept.get("pattern") or "")
        model, voice = str(kept.get("model") or ""), str(kept.get("voice") or "")
        self.choose(model, voice)
        volume = kept.get("volume")
        if isinstance(volume, int | float):
            self.sound.set_volume(float(volume))
        if isinstance(kept.get("output"), str):
            self.sound.set_output(str(kept["output"]))
        self.text_replaced.emit(self.text)

    def keep(self, **values: Any) -> None:
        """Save some of the desk a moment later, at the next pause."""
        self._unsaved.update(values)
        self._tasks.replace("speech desk", self._save_desk)

    async def _save_desk(self) -> None:
        await asyncio.sleep(SAVE_AFTER_S)
        await self._save_desk_now()

    async def _save_desk_now(self) -> None:
        if self.voices is not None and self._unsaved:
            values, self._unsaved = self._unsaved, {}
            try:
                await self.voices.keep_desk(values)
            except BaseException:  # a newer keystroke came in between: what was not written waits for the next pause
                self._unsaved = {**values, **self._unsaved}
                raise

    # -- models ---------------------------------------------------------------------------------------------------

    @property
    def account_id(self) -> str:
        return self._caller.account.id if self._caller.account is not None else ""

    @property
    def in_sandbox(self) -> bool:
        return self._caller.is_sandbox

    @property
    def service(self) -> Service | None:
        return self._caller.service

    @property
    def model(self) -> Model | None:
        return self.shelf.model(self.choice.model)

    def _account_changed(self) -> None:
        self.shelf.forget_models()
        self.refresh_models()

    def refresh_models(self) -> None:
        """Ask the service which voices it has."""
        if self._caller.service is not None and self.voices is not None:
            self._tasks.replace("speech models", self._read_models)

    async def _read_models(self) -> None:
        service = self._caller.service
        if service is None:
            return
        await self.shelf.load_saved(self._catalogue, self.account_id)
        try:
            models = await service.models.list("tts", background=True)
        except ServiceError:
            models = ()  # the names are in the bundled table, the prices of last time on the disk
        self.shelf.take_models(models)
        if models and self._catalogue is not None:
            rows = [model.model_dump(mode="json", by_alias=True) for model in models]
            await self._catalogue.save(self.account_id, CATALOGUE_KIND, CATALOGUE_KEY, rows)
        self.choose(self.choice.model, self.choice.voice)
        self._tell_all()

    # -- text -----------------------------------------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """What the person typed; priced a moment later, saved at the next pause."""
        if text == self.text:
            return
        self.text = text[:LONGEST_TEXT]
        self.keep(text=self.text)
        take = self._open_take()
        if take is not None and take.text != self.text:
            self.set_head(DeskHead())  # it is another text now; the take stays in the player
        self._measure_text()

    def _measure_text(self) -> None:
        if len(self.text) > 20_000:
            self._tasks.replace("speech meter", self._measure_long)
        else:
            self._set_meter(parts(self.text))

    async def _measure_long(self) -> None:
        await asyncio.sleep(0.05)
        self._set_meter(await asyncio.to_thread(parts, self.text))

    def _set_meter(self, spans: tuple[Span, ...]) -> None:
        characters = sum(len(span) for span in spans)
        model = self.model
        price = speech_cost(model.model_spec.pricing, characters) if model is not None else None
        why_not = ""
        if not any(char.isalnum() for char in self.text):
            why_not = "There is nothing to say."
        elif not self.choice.voice:
            why_not = "Choose a voice first."
        speed = self.knobs.speed if model is None or not view_of(self.knobs, model).no_speed else 1.0
        self.meter = Meter(characters, spans, characters / (CHARS_PER_S * speed), price, why_not)
        self.meter_changed.emit(self.meter)

    def first_sentence(self) -> str:
        """What an audition says when nothing is selected."""
        return next((span.of(self.text) for span in sentences(self.text)), "")

    def new_clip(self) -> None:
        """An empty editor; a text that was not spoken yet stays on the disk until the next one is typed."""
        if self.sound.reading is not None and not self.is_speaking:
            self.sound.show(None)
        self.set_head(DeskHead())
        self.replace_text("")

    def replace_text(self, text: str) -> None:
        """Put another text into the editor: a file, a chat's answer."""
        self.text = text[:LONGEST_TEXT]
        self.keep(text=self.text)
        self.text_replaced.emit(self.text)
        self._measure_text()

    # -- voice and knobs ------------------------------------------------------------------------------------------

    def use_voice(self, model_id: str, voice_id: str) -> None:
        """Speak with a voice; one of another model brings its model along and says so."""
        before = self.choice
        self.choose(model_id, voice_id)
        if before.model and before.model != self.choice.model:
            note = f"{self.choice.voice_name} belongs to {self.choice.model_name}, so the model was changed to it."
            self.choice = replace(self.choice, note=note)
            self.notice.emit(note, "", "")
        self.keep(model=self.choice.model, voice=self.choice.voice)
        self.set_problem(None)
        self._tell_all()

    def use_model(self, model_id: str) -> None:
        """Speak with a model's own usual voice."""
        model = self.shelf.model(model_id)
        if model is not None:
            self.choose(model_id, self.shelf.default_voice(model))
            self.keep(model=self.choice.model, voice=self.choice.voice)
            self.set_problem(None)
            self._tell_all()

    def choose(self, model_id: str, voice_id: str) -> None:
        """The wanted model and voice where they exist, else the first model's own voice."""
        model = self.shelf.model(model_id) or (self.shelf.models[0] if self.shelf.models else None)
        if model is None:
            self.choice = Choice()
            return
        voice = self.shelf.find(model.id, voice_id) if model.id == model_id else None
        chosen = voice_id if voice is not None else self.shelf.default_voice(model)
        found = voice or self.shelf.find(model.id, chosen)
        self.choice = Choice(model.id, model.name, chosen, found.name if found is not None else chosen)

    def set_knob(self, name: str, value: object) -> None:
        """Set one of the fields of `Knobs`."""
        self.knobs = replace(self.knobs, **{name: value})  # type: ignore[arg-type]  # the page names our own fields
        self.keep(knobs=self.knobs.to_json())
        self.knobs_changed.emit(self.knob_view())
        self._measure_text()

    def knob_view(self) -> KnobView:
        return view_of(self.knobs, self.model)

    # -- speaking -------------------------------------------------------------------------------------------------

    @property
    def is_speaking(self) -> bool:
        """True while a take is being asked for."""
        return bool(self._speaking)

    def speak(self, *, aloud: bool = True) -> bool:
        """Ask for the text in the editor; `aloud` plays it from its first sound. False when that is not possible."""
        self._set_meter(parts(self.text))
        if self.meter.why_not or self._caller.service is None or self.clips is None:
            if self._caller.service is None:
                self.set_problem(Problem("There is no account", "Choose the Sandbox or add a key in Settings."))
            return False
        return self._tasks.start(SPEAK, self._speak, aloud)

    async def _speak(self, aloud: bool) -> None:
        take = await self.new_take(self.text, self.choice.model, self.choice.voice, self.meter.parts)
        self.set_head(DeskHead(take.title, take.id))
        await self.read(take, aloud=aloud)

    async def new_take(
        self, text: str, model_id: str, voice_id: str, spans: tuple[Span, ...], *, title: str = "", audition: str = ""
    ) -> Take:
        """Plan a take on the disk, with the knobs as they are."""
        assert self.clips is not None and self.voices is not None
        model, voice = self.shelf.model(model_id), self.shelf.find(model_id, voice_id)
        options = sent_options(self.knobs, model)
        take = await self.clips.takes.add(
            text=text,
            title=title or title_of(text),
            account_id=self.account_id,
            model=model_id,
            voice=voice_id,
            voice_name=voice.name if voice is not None else voice_id,
            format=str(options["format"]),
            options=options,
            spans=[(span.start, span.end) for span in spans],
            audition=audition,
        )
        self.clips.put(take)
        await self.voices.used(model_id, voice_id)
        self.shelf.mark((model_id, voice_id), used_at=datetime.now(UTC))
        self.voices_changed.emit()
        return take

    async def read(self, take: Take, *, aloud: bool, grow: Grow | None = None) -> None:
        """Put a take into the player, ask for what is missing of it, keep what comes."""
        at_s = self.sound.player.position_s if self.sound.view.take_id == take.id else 0.0
        reading = self.make_reading(take)
        self.sound.show(reading, at_s=at_s)
        if aloud:
            self.sound.warm_up()
            self.sound.play()
        self.set_problem(None)
        self._speaking = take.id
        self.busy_changed.emit()
        self.tell_clips()
        try:
            if any(part.has_sound for part in take.parts):
                await reading.load(to_go_on=True)
            service = self._caller.service
            if service is not None:
                await reading.read(service, self.shelf.model(take.model), grow)
        except ServiceError as error:
            self.set_problem(words_for(error, reading.take, self.shelf))
        except StorageError as error:
            self.set_problem(Problem(error.sentence, "What had arrived is kept."))
        finally:
            if self.clips is not None:
                self.clips.put(reading.take)
            self._speaking = ""
            self.request_changed.emit(reading.exchange)
            self.sound.refresh()
            self.tell_clips()
            self.busy_changed.emit()

    def make_reading(self, take: Take) -> Reading:
        assert self.clips is not None and self.intents is not None
        return Reading(
            take,
            self.sound.new_spool(),
            takes=self.clips.takes,
            files=self.clips.files,
            intents=self.intents,
            charged=not self._caller.is_sandbox,
        )

    def go_on(self, take_id: str) -> bool:
        """Ask for the parts of a take that are missing; the ones that are here stay."""
        take = self.clips.one(take_id) if self.clips is not None else None
        if take is None or self._caller.service is None:
            return False
        plays = self.sound.player.wants_to_play
        return self._tasks.start(SPEAK, self._go_on, take.id, plays)

    async def _go_on(self, take_id: str, aloud: bool) -> None:
        assert self.clips is not None
        await self.read(await self.clips.takes.one(take_id), aloud=aloud)

    def stop(self) -> bool:
        """Ask for nothing more and be silent; what came is kept."""
        was_heard = self.sound.silence()
        return self._tasks.cancel(SPEAK) or was_heard

    def set_problem(self, problem: Problem | None) -> None:
        if problem != self.problem:
            self.problem = problem
            self.problem_changed.emit(problem)

    # -- what the page is told ------------------------------------------------------------------------------------

    def _open_take(self) -> Take | None:
        return self.clips.one(self.head.take_id) if self.clips is not None and self.head.take_id else None

    def set_head(self, head: DeskHead) -> None:
        if head != self.head:
            self.head = head
            self.head_changed.emit(head)
            self.tell_clips()

    def _sound_changed(self) -> None:
        reading = self.sound.reading
        if reading is None or self.clips is None:
            return
        known = self.clips.one(reading.take.id)
        seen = (reading.take.id, self.sound.view.plays)
        if known is not None and (known != reading.take or seen != self._seen):
            self._seen = seen
            self.clips.put(reading.take)
            self.tell_clips()

    def tell_clips(self) -> None:
        if self.clips is None:
            return
        now, view = datetime.now(UTC), self.sound.view
        self.clips_changed.emit(
            tuple(
                clip_row(
                    take,
                    self.shelf,
                    now,
                    working=take.id == self._speaking,
                    plays=view.plays and take.id == view.take_id,
                )
                for take in self.clips.rows
            )
        )

    def _tell_all(self) -> None:
        self.voices_changed.emit()
        self.choice_changed.emit(self.choice)  # after the voices: the chosen one is scrolled to
        self.knobs_changed.emit(self.knob_view())
        self._measure_text()
        self.tell_clips()
