"""The speech tab: what is written, which voice says it, what it costs, and what became of it. QtCore only."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from app.core.draft_memory import with_kept
from app.core.problems import ActionSpec, Problem, describe
from app.service.errors import BadRequest, ServiceError
from app.service.pricing import speech_cost
from app.service.speech import VOICE_PREFIX
from app.service.speech_text import Span, parts
from app.storage.errors import StorageError
from app.storage.intents import Intents
from app.storage.tab_drafts import TabDraft
from app.storage.takes import Take, TakeFiles, Takes, title_of
from app.storage.voices import Voices
from app.ui.speech.presenter_base import SPEAK, SpeechBase
from app.ui.speech.presenter_meter import AT_ONCE
from app.ui.speech.presenter_synthesis import Grow, SpeechSynthesis
from app.ui.speech.presenter_take_library import TakeLibrary
from app.ui.speech.presenter_voices import VoiceList
from app.ui.speech.speech_options import sent_options, speech_options_from
from app.ui.speech.state import DeskHead

NOT_YET = "The list of clips is not open yet. Try again in a moment."

if TYPE_CHECKING:
    from app.storage.catalogue import Catalogue
    from app.storage.database import Database


class SpeechPresenter(SpeechBase):
    """What the page shows, signal by signal. `start` hands it the database; without one nothing can be spoken."""

    # -- beginning and end ----------------------------------------------------------------------------------------

    async def start(self, database: Database, catalogue: Catalogue | None = None) -> None:
        """Take the open database: takes, voices, what was being written. Raises `StorageError`."""
        self._catalogue = catalogue
        self.voices, self.intents = Voices(database), Intents(database)
        self._memory.drafts = TabDraft(database, "speech")
        self.take_library = TakeLibrary(Takes(database), TakeFiles(self.folder / "speech"))
        await asyncio.to_thread(self.sound.sweep)
        broken = await self.take_library.takes.mark_broken_off()
        await self.take_library.load()
        for take_id in broken:
            await self.take_library.measure(take_id)
        self.voice_list.account_id = self.account_id
        await self.voice_list.load(self.voices)
        await self.voice_list.load_saved(catalogue, self.account_id)
        self._restore_draft(await self._memory.drafts.read())
        self.settle_choice()
        if broken:
            what = "A clip was" if len(broken) == 1 else f"{len(broken)} clips were"
            words = f"{what} being spoken when Rialto ended. What had arrived is kept; open it to go on."
            self.notice.emit(words, "", "")
        for intent in await self.intents.pending("speech"):  # the takes themselves show what is missing of them
            if intent.state == "unknown":
                await self.intents.acknowledge(intent.id)
        self.refresh_models()
        self.sound.read_outputs()
        self.ready.set()

    async def aclose(self) -> None:
        """Save what is being written and give the loudspeaker back."""
        await self._memory.save()
        await asyncio.to_thread(self.sound.close)

    def _restore_draft(self, kept: dict[str, Any]) -> None:
        self.replacing.emit()
        if typed := self.text:
            self.text = with_kept(typed, str(kept.get("text") or ""), "\n\n")
            self.keep(text=self.text)
        else:
            self.text = str(kept.get("text") or "")
        self.speech_options = speech_options_from(kept.get("knobs"))
        self.pattern = str(kept.get("pattern") or "")
        model, voice = str(kept.get("model") or ""), str(kept.get("voice") or "")
        listed = kept.get("listed")
        if self._wanted == ("", ""):  # nothing was chosen while the disk was being opened
            self._wanted = (model, voice)
            if isinstance(listed, list) and len(listed) == 2:
                self._listed = (str(listed[0]), str(listed[1]))
        volume = kept.get("volume")
        if isinstance(volume, int | float):
            self.sound.set_volume(float(volume))
        if isinstance(kept.get("output"), str):
            self.sound.set_output(str(kept["output"]))
        self.text_replaced.emit(self.text)

    # -- speaking -------------------------------------------------------------------------------------------------

    def speak(self, *, aloud: bool = True) -> bool:
        """Ask for the text in the editor; `aloud` plays it from its first sound. False when that is not possible."""
        why_not = self._meter_of(()).why_not if self.take_library is not None else NOT_YET
        if self.lacks_account() or why_not:
            if why_not:
                self.notice.emit(why_not, "", "")  # the key was pressed: the button rests
            return False
        self.keep_choice()
        return self._tasks.start(SPEAK, self._speak, aloud)

    async def _speak(self, aloud: bool) -> None:
        text, choice = self.text, self.choice
        spans = parts(text) if len(text) <= AT_ONCE else await asyncio.to_thread(parts, text)
        title = "" if self.head.take_id else self.head.title
        take = await self.new_take(text, choice.model, choice.voice, spans, title=title)
        self.set_head(DeskHead(take.title, take.id))
        await self.read(take, aloud=aloud)

    async def new_take(
        self, text: str, model_id: str, voice_id: str, spans: tuple[Span, ...], *, title: str = "", audition: str = ""
    ) -> Take:
        """Plan a take on the disk, with the knobs as they are."""
        assert self.take_library is not None and self.voices is not None
        model, voice = self.voice_list.model(model_id), self.voice_list.find(model_id, voice_id)
        options = sent_options(self.speech_options, model)
        take = await self.take_library.takes.add(
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
        self.take_library.put(take)
        await self.voices.used(model_id, voice_id)
        self.voice_list.mark((model_id, voice_id), used_at=datetime.now(UTC))
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
        self.publish_takes()
        try:
            if any(part.has_sound for part in take.parts):
                await reading.load(to_go_on=True)
            service = self._current_account.service
            if service is not None:
                await reading.read(service, grow)
        except ServiceError as error:
            self.set_problem(words_for(error, reading.take, self.voice_list))
        except StorageError as error:
            self.set_problem(Problem(error.sentence, "What had arrived is kept."))
            if error.unsaved:
                self._tasks.report(error)
        finally:
            if self.take_library is not None:
                self.take_library.put(reading.take)
            self._speaking = ""
            self.sound.refresh()
            self.publish_takes()
            self.busy_changed.emit()

    def make_reading(self, take: Take) -> SpeechSynthesis:
        assert self.take_library is not None and self.intents is not None
        model = self.voice_list.model(take.model)
        return SpeechSynthesis(
            take,
            self.sound.new_spool(),
            takes=self.take_library.takes,
            files=self.take_library.files,
            intents=self.intents,
            price=partial(speech_cost, model.model_spec.pricing if model is not None else None),
            charged=not self._current_account.is_sandbox,
        )

    def go_on(self, take_id: str) -> bool:
        """Ask for the parts of a take that are missing; the ones that are here stay."""
        take = self.take_library.one(take_id) if self.take_library is not None else None
        if take is None or self.lacks_account():
            return False
        plays = self.sound.player.wants_to_play
        return self._tasks.start(SPEAK, self._go_on, take.id, plays)

    async def _go_on(self, take_id: str, aloud: bool) -> None:
        assert self.take_library is not None
        await self.read(await self.take_library.takes.one(take_id), aloud=aloud)

    def stop(self) -> bool:
        """Ask for nothing more and be silent; what came is kept."""
        was_heard = self.sound.silence()
        return self._tasks.cancel(SPEAK) or was_heard


MOST_CHARS = 130  # of what the service says about a voice that it does not know


def words_for(error: ServiceError, take: Take, voice_list: VoiceList) -> Problem:
    """What went wrong, with the way on: the part alone again, or another voice."""
    count = sum(part.state != "complete" for part in take.parts)
    kept = "Everything before it is kept." if count < len(take.parts) else ""
    problem = describe(error, subject="text", charged=kept)
    if isinstance(error, BadRequest) and _is_about_the_voice(error) and take.voice.startswith(VOICE_PREFIX):
        return replace(
            problem,
            what=f"The service does not know the cloned voice {take.voice_name} any more",
            meaning=f"It keeps such a voice for about a week, for the model that made it. Nothing was charged. {kept}",
            primary=ActionSpec(f"clone-again:{take.voice}", "Clone it again"),
            alternative=ActionSpec("choose-voice", "Choose a voice"),
        )
    if isinstance(error, BadRequest) and _is_about_the_voice(error):
        model = voice_list.model(take.model)
        name = model.name if model is not None else take.model
        return replace(
            problem,
            what=f"{name} does not know the voice {take.voice_name}",
            meaning=f"{shortened(error.message)} Nothing was charged.",
            primary=ActionSpec("model-voice", f"Use {name}’s own voice"),
            alternative=ActionSpec("choose-voice", "Choose a voice"),
        )
    if problem.primary is None or problem.primary.id in ("retry", "continue"):
        failed = next((part for part in take.parts if part.state != "complete"), None)
        words = f"Ask for part {failed.number} again" if failed and len(take.parts) > 1 else "Ask again"
        problem = replace(problem, primary=ActionSpec("go-on", words))
    return problem


def shortened(message: str) -> str:
    """Return the beginning of a message, cut behind a comma: the whole list of voices is among the details."""
    if len(message) <= MOST_CHARS:
        return message
    return f"{message[:MOST_CHARS].rpartition(',')[0] or message[:MOST_CHARS]}, …"


def _is_about_the_voice(error: BadRequest) -> bool:
    return any(item.path.split(".")[0] == "voice" for item in error.fields) or "voice" in error.message.casefold()
