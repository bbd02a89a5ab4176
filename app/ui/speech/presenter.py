"""The presenter of the Speech tab: text, voice, price and clips. QtCore only."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from app.core.calling_presenter import CallingPresenter
from app.core.draft_autosave import DraftAutosave, with_kept
from app.core.extra_json import extra_json_fault
from app.core.leaving_models import FormModel
from app.core.model_lists import add_model, list_models, replaced_in
from app.core.other_model import OtherModel, look_up_model
from app.core.problems import ActionSpec, Problem, describe, for_account
from app.core.trash import Trash
from app.core.typed_text import TextDraft, TextDrafts
from app.core.undo import UndoCommand
from app.service.errors import BadRequest, ServiceError
from app.service.pricing import speech_cost
from app.service.speech import VOICE_PREFIX
from app.service.speech_text import MAX_CHARS, Span, parts, sentences
from app.storage.clips import Clip, ClipFiles, ClipStore, title_of
from app.storage.errors import Again, NoHistory, StorageError
from app.storage.form_drafts import FormDraftStore
from app.storage.paid_call_intents import Intents
from app.storage.voices import Voices
from app.translation import tr, tr_n
from app.ui.kit.lists.rows import LazyRows, build_rows
from app.ui.speech.session.clip_library import (
    ClipLibrary,
    clip_row,
    comparison_row,
    draft_row,
    title_words,
    voice_words,
)
from app.ui.speech.session.cost_meter import AT_ONCE, meter_of
from app.ui.speech.session.session_calls import SessionCalls
from app.ui.speech.session.speech_player import SpeechPlayer
from app.ui.speech.session.synthesis import Grow, SpeechSynthesis
from app.ui.speech.session.voice_list import VoiceList
from app.ui.speech.speech_options import (
    OWN_FIELDS,
    SpeechOptions,
    SpeechOptionsView,
    sent_options,
    speech_options_from,
    speech_options_of,
    view_of,
)
from app.ui.speech.state import Choice, ClipRow, Meter, SpeechHead

NOT_YET = tr("The clip list is still loading. Try again in a moment.")

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.service.models import Model
    from app.storage.database import Database
    from app.storage.service_cache import ServiceCache
    from app.ui.speech.voice_catalog import Key, VoiceTable


SPEAK = "speech speak"


class SpeechPresenter(CallingPresenter):
    """What the page shows, signal by signal. `start` hands it the database; without one nothing can be spoken."""

    text_replaced = Signal(str)
    replacing = Signal()  # the text is about to be replaced: what was typed a moment ago is told now
    head_changed = Signal(object)  # SpeechHead
    meter_changed = Signal(object)  # Meter
    choice_changed = Signal(object)  # Choice
    voices_changed = Signal()
    speech_options_changed = Signal(object)  # SpeechOptionsView
    clips_changed = Signal(object, object)  # the rows of the list, and by id in which of them a clip is
    problem_changed = Signal(object)  # Problem or None
    calls_changed = Signal(object)  # (ShownCall, …) of the clip in the player
    busy_changed = Signal()
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

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
        self.trash.failed.connect(self.notice.emit)
        self.voice_list = VoiceList(table, folder / "voice-samples")
        self.clip_library: ClipLibrary | None = None
        self.voices: Voices | None = None
        self.intents: Intents | None = None
        self._service_cache: ServiceCache | None = None
        self.text = ""
        self.speech_options = SpeechOptions()
        self.choice = Choice()
        self.head = SpeechHead()
        self.meter = Meter(why_not=tr("Type something to speak."))
        self.problem: Problem | None = None
        self.lacks_models = False  # the problem is that of their list
        self.pattern = ""
        self.ready = asyncio.Event()
        self.calls = SessionCalls()
        self._autosave = DraftAutosave(tasks, "speech draft")
        self.save_soon = self._autosave.save_soon
        self.drafts = TextDrafts(self.save_soon)
        self._undo_stack = undo_stack
        self._wanted: Key = ("", "")  # the voice that was chosen or spoken with last, whether it exists now or not
        self._listed: Key = ("", "")  # the same, of those that are no cloned ones
        self._speaking = ""  # the clip that is being asked for
        self._seen = ("", False)
        self._told_calls_of: Clip | None = None
        current_account.account_changed.connect(self._account_changed)
        self.leaving.add_user(FormModel(tr("Speech"), lambda: self.choice.model, self.use_model))
        sound.changed.connect(self._sound_changed)

    # -- models ---------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model | None:
        return self.voice_list.model(self.choice.model)

    def _account_changed(self) -> None:
        self.voice_list.use_account(self.account_id)
        self.settle_choice()
        self.publish_clips()
        self.refresh_models()

    def refresh_models(self) -> None:
        """Ask the service which voices it has."""
        if self._current_account.service is not None and self.voices is not None:
            self._tasks.replace("speech models", self._read_models)
        else:
            self._tasks.cancel("speech models")

    async def _read_models(self) -> None:
        is_saved = await self.voice_list.load_saved(self._service_cache, self.account_id, self.leaving)
        if is_saved:
            self.settle_choice()
        problem: Problem | None = None
        try:
            models = await list_models(self._current_account, self._service_cache, "tts", background=True)
        except ServiceError as error:
            models = ()  # the names are in the bundled table, the prices of last time on the disk
            problem = None if is_saved or not self.voice_list.is_offline else describe(error, subject="")
        self._set_models_problem(problem)
        if models is not None:
            self.voice_list.set_models(models)
            self.settle_choice()

    def _set_models_problem(self, problem: Problem | None) -> None:
        """Show why no voices were listed; a problem of something else stays."""
        if problem is not None or self.lacks_models:
            self.set_problem(problem)
        self.lacks_models = problem is not None

    # -- text -----------------------------------------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """What the person typed; priced a moment later, saved at the next pause."""
        if text == self.text:
            return
        self.text = text
        self.save_soon(text=self.text)
        if self.drafts.open_id:
            self.drafts.edit(text)
            self._show_draft()
        clip = self._open_clip()
        if clip is not None and clip.text != self.text:
            self.set_head(SpeechHead())  # it is another text now; the clip stays in the player
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
        """Empty the editor. A text that was not spoken yet becomes a row of the list."""
        if self.sound.reading is not None and not self.is_speaking:
            self.sound.show(None)
        self.replace_text("")

    def replace_text(self, text: str, *, title: str = "") -> None:
        """Put another text into the editor: a file, a transcript. `title` is what its first clip will be called.

        The text that is replaced becomes a draft, unless a clip was made of it.
        """
        self.replacing.emit()
        if self.drafts.open_id or not self._is_spoken(self.text):
            self.drafts.leave(self.text, self.head.title)
        self._take_text(text, SpeechHead(title))

    def _take_text(self, text: str, head: SpeechHead) -> None:
        self.text = text
        self.save_soon(text=self.text)
        self.text_replaced.emit(self.text)
        self.set_head(head)
        self.publish_clips()
        self._measure_text()

    def _is_spoken(self, text: str) -> bool:
        return self.clip_library is not None and any(clip.text == text for clip in self.clip_library.rows)

    # -- drafts ---------------------------------------------------------------------------------------------------

    def open_draft(self, draft_id: str) -> None:
        """Put a text that was left unspoken back into the editor."""
        draft = self.drafts.get(draft_id)
        if draft is None or draft_id == self.drafts.open_id:
            return
        self.new_clip()
        self.drafts.open(draft_id)
        self._take_text(draft.text, SpeechHead(draft.title or title_of(draft.text), draft_id=draft_id))

    def _show_draft(self) -> None:
        """Show the title of the draft in the editor, which is its first line unless it has one."""
        draft = self.drafts.get(self.drafts.open_id)
        if draft is not None:
            self.set_head(SpeechHead(draft.title or title_of(draft.text), draft_id=draft.id))

    def rename_draft(self, draft_id: str, title: str) -> None:
        self.drafts.rename(draft_id, title.strip())
        self._show_draft()
        self.publish_clips()

    def remove_drafts(self, ids: Sequence[str]) -> None:
        """Delete drafts, with Undo. What is in the editor goes with its row."""
        was_open = self.drafts.open_id
        removed = self.drafts.remove(ids)
        if not removed:
            return
        if was_open in ids:
            self._take_text("", SpeechHead())
        self.publish_clips()

        def undo(_ids: object) -> None:
            self.drafts.restore(removed)
            self.publish_clips()

        titles = [draft.title or title_of(draft.text) for draft in removed]
        text = tr_n("Draft “{title}” deleted", "{n} drafts deleted", len(titles), title=titles[0])
        self._undo_stack.push(UndoCommand("speech", text, undo, ()))

    # -- voice and knobs ------------------------------------------------------------------------------------------

    def use_voice(self, model_id: str, voice_id: str) -> None:
        """Speak with a voice; one of another model brings its model along and says so."""
        before = self.choice
        self._wanted = (model_id, voice_id)
        self.settle_choice()
        self.keep_choice()
        self.set_problem(None)
        if before.model and before.model != self.choice.model:
            note = tr(
                "{voice_name} belongs to {model_name}, so Rialto switched to that model.",
                voice_name=self.choice.voice_name,
                model_name=self.choice.model_name,
            )
            self.notice.emit(note)

    def use_model(self, model_id: str) -> None:
        """Speak with a model's own usual voice."""
        model = self.voice_list.model(model_id)
        if model is not None:
            self._wanted = (model_id, self.voice_list.default_voice(model))
            self.settle_choice()
            self.keep_choice()
            self.set_problem(None)

    async def look_up_model(self, text: str) -> OtherModel:
        """Ask the service for a model by its id. Raises `NotAModel`."""
        return await look_up_model(self._current_account, text, "tts")

    async def use_other_model(self, other: OtherModel) -> None:
        """Speak with a model that the list need not have, with the voices that its record names (R-TTS-23)."""
        await add_model(self._service_cache, self.account_id, "tts", other.model)
        self.voice_list.set_models(replaced_in(self.voice_list.models, other.model))
        self.use_model(other.model.id)

    def show_delivery_of(self, clip: Clip) -> None:
        """Choose the voice and the options that a clip was spoken with: it is open now.

        The voice is the one on screen, so it is also the one at the next start; the options are not stored.
        """
        self.speech_options = speech_options_of(clip.options, self.speech_options, self.voice_list.model(clip.model))
        self._wanted = (clip.model, clip.voice)
        self.settle_choice()
        self.save_soon(model=self.choice.model, voice=self.choice.voice)

    def keep_choice(self) -> None:
        """Make the voice in use the wanted one, whatever voices are listed later. Called before it speaks, too."""
        self._wanted = (self.choice.model, self.choice.voice)
        self.save_soon(model=self.choice.model, voice=self.choice.voice)
        voice = self.voice_list.find(*self._wanted)
        if voice is not None and not voice.own_id:
            self._listed = voice.key
            self.save_soon(listed=list(voice.key))

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
        self.publish_clips()

    def set_speech_option(self, name: str, value: object) -> None:
        """Set one of the fields of `SpeechOptions`."""
        self.speech_options = replace(self.speech_options, **{name: value})  # type: ignore[arg-type]  # the page names our own fields
        self.save_soon(knobs=self.speech_options.to_json())
        self.speech_options_changed.emit(self.speech_options_view())
        self._measure_text()

    def speech_options_view(self) -> SpeechOptionsView:
        return view_of(self.speech_options, self.model)

    @property
    def extra_fault(self) -> str:
        """What is wrong with the extra JSON; nothing new is spoken with it."""
        return extra_json_fault(self.speech_options.extra_json, OWN_FIELDS)

    def lacks_account(self) -> bool:
        """Whether nothing can be asked for; then the page says so."""
        if self.service is None:
            self.set_problem(Problem(tr("No account"), tr("Choose the Sandbox or add a key in Settings.")))
        return self.service is None

    def set_problem(self, problem: Problem | None) -> None:
        if problem is not None:
            problem = for_account(problem, self._current_account.account)
        if problem != self.problem:
            self.problem, self.lacks_models = problem, False
            self.problem_changed.emit(problem)

    @property
    def is_speaking(self) -> bool:
        """True while a clip is being asked for."""
        return bool(self._speaking)

    # -- what the page is told ------------------------------------------------------------------------------------

    def _open_clip(self) -> Clip | None:
        return self.clip_library.one(self.head.clip_id) if self.clip_library is not None and self.head.clip_id else None

    def set_head(self, head: SpeechHead) -> None:
        if head != self.head:
            self.head = head
            self.head_changed.emit(head)
            self.publish_clips()

    def _sound_changed(self) -> None:
        reading = self.sound.reading
        self._publish_calls(reading)
        if reading is None or self.clip_library is None:
            return
        known = self.clip_library.one(reading.clip.id)
        seen = (reading.clip.id, self.sound.view.plays)
        if known is not None and (known != reading.clip or seen != self._seen):
            self._seen = seen
            self.clip_library.put(reading.clip)
            self.publish_clips()

    def _publish_calls(self, reading: SpeechSynthesis | None) -> None:
        clip = reading.clip if reading is not None else None
        if clip is not self._told_calls_of:
            self._told_calls_of = clip
            self.calls.note(*(reading.exchanges if reading is not None else ()))
            self.calls_changed.emit(self.calls.views_of(clip))

    def publish_clips(self) -> None:
        if self.clip_library is None:
            return
        now, view = datetime.now(UTC), self.sound.view

        def row_of(clip: Clip) -> ClipRow:
            return clip_row(
                clip,
                self.voice_list,
                now,
                mark=self._current_account.mark_of(clip.account_id),
                working=clip.id == self._speaking,
                plays=view.plays and clip.id == view.clip_id,
            )

        def row(item: TextDraft | tuple[Clip, ...]) -> ClipRow:
            if isinstance(item, TextDraft):
                return draft_row(item)
            rows = tuple(build_rows(item, row_of))
            return rows[0] if len(item) == 1 else comparison_row(rows[0], item, rows)

        def texts(items: Sequence[TextDraft | tuple[Clip, ...]]) -> list[str]:
            mark_of, known = self._current_account.mark_of, dict[tuple[str, ...], str]()  # a few voices' words

            def words(clip: Clip) -> str:
                key = clip.model, clip.voice, clip.voice_name, clip.account_id
                if key not in known:
                    known[key] = voice_words(clip, self.voice_list, mark_of(clip.account_id))
                return f"{title_words(clip)}\n{known[key]}"

            return [
                (
                    f"{item.title}\n{item.text}" if isinstance(item, TextDraft) else "\n".join(map(words, item))
                ).casefold()
                for item in items
            ]

        clips, places = self.clip_library.by_row()
        drafts, items = self.drafts.rows, list[TextDraft | tuple[Clip, ...]](clips)
        if drafts:
            items[:0] = drafts
            places = {key: place + len(drafts) for key, place in places.items()}
            places |= {draft.id: place for place, draft in enumerate(drafts)}
        self.clips_changed.emit(LazyRows(items, row, texts), places)

    def speaking_titles(self) -> tuple[str, ...]:
        """What is being spoken now."""
        clip = self.clip_library.one(self._speaking) if self.clip_library is not None and self._speaking else None
        return (title_words(clip),) if clip is not None else ()

    # -- beginning and end ----------------------------------------------------------------------------------------

    async def start(self, database: Database, service_cache: ServiceCache | None = None) -> None:
        """Take the open database: clips, voices, what was being written. Raises `StorageError`."""
        self._service_cache = service_cache
        self.voices, self.intents = Voices(database), Intents(database)
        self.clip_library = ClipLibrary(ClipStore(database), ClipFiles(self.folder / "speech"))
        await asyncio.to_thread(self.sound.sweep)
        broken = await self.clip_library.clips.mark_broken_off()
        await self.clip_library.load()
        for clip_id in broken:
            await self.clip_library.measure(clip_id)
        self.voice_list.account_id = self.account_id
        await self.voice_list.load(self.voices)
        await self.voice_list.load_saved(service_cache, self.account_id, self.leaving)
        self._restore_draft(await self._autosave.open(FormDraftStore(database, "speech")))
        self.settle_choice()
        if broken:
            what = tr_n("A clip was", "{n} clips were", len(broken))
            words = tr(
                "{what} being generated when Rialto quit. The audio received so far is saved. Open it to continue.",
                what=what,
            )
            self.notice.emit(words)
        for intent in await self.intents.pending("speech"):  # the clips themselves show what is missing of them
            if intent.state == "unknown":
                await self.intents.acknowledge(intent.id)
        self.refresh_models()
        self.sound.read_outputs()
        self.ready.set()

    async def aclose(self) -> None:
        """Save what is being written and give the loudspeaker back."""
        await self._autosave.save()
        await asyncio.to_thread(self.sound.close)

    def _restore_draft(self, kept: dict[str, Any]) -> None:
        self.replacing.emit()
        if typed := self.text:
            self.text = with_kept(typed, str(kept.get("text") or ""), "\n\n")
            self.save_soon(text=self.text)
        else:
            self.text = str(kept.get("text") or "")
        self.drafts.load(kept)
        self.drafts.edit(self.text)
        self._show_draft()
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
        why_not = self._meter_of(()).why_not if self.clip_library is not None else NOT_YET
        if self.lacks_account() or why_not:
            if why_not:
                self.notice.emit(why_not)  # the key was pressed: the button rests
            return False
        self.keep_choice()
        return self._tasks.start_unless_running(SPEAK, self._speak, aloud)

    async def _speak(self, aloud: bool) -> None:
        text, choice = self.text, self.choice
        spans = parts(text) if len(text) <= AT_ONCE else await asyncio.to_thread(parts, text)
        draft_id = self.drafts.open_id
        draft = self.drafts.get(draft_id)
        title = draft.title if draft is not None else "" if self.head.clip_id else self.head.title
        clip = await self.plan_clip(text, choice.model, choice.voice, spans, title=title)
        self.drafts.remove((draft_id,))
        self.set_head(SpeechHead(clip.title, clip.id))
        await self.read(clip, aloud=aloud)

    async def plan_clip(
        self, text: str, model_id: str, voice_id: str, spans: tuple[Span, ...], *, title: str = "", audition: str = ""
    ) -> Clip:
        """Plan a clip on the disk, with the knobs as they are."""
        if self.clip_library is None or self.voices is None:
            raise NoHistory
        model, voice = self.voice_list.model(model_id), self.voice_list.find(model_id, voice_id)
        options = sent_options(self.speech_options, model)
        clip = await self.clip_library.clips.add(
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
        self.clip_library.put(clip)
        await self.voices.used(model_id, voice_id)
        self.voice_list.mark((model_id, voice_id), used_at=datetime.now(UTC))
        self.voices_changed.emit()
        return clip

    async def read(self, clip: Clip, *, aloud: bool, grow: Grow | None = None) -> None:
        """Put a clip into the player, ask for what is missing of it, keep what comes."""
        at_s = self.sound.player.position_s if self.sound.view.clip_id == clip.id else 0.0
        reading = self.make_reading(clip)
        self.sound.show(reading, at_s=at_s)
        if aloud:
            self.sound.warm_up()
            self.sound.play()
        self.set_problem(None)
        self._speaking = clip.id
        self.busy_changed.emit()
        self.publish_clips()
        try:
            if any(part.has_sound for part in clip.parts):
                await reading.load(to_go_on=True)
            service = self._current_account.service
            if service is not None:
                await reading.read(service, grow)
        except ServiceError as error:
            self.set_problem(words_for(error, reading.clip, self.voice_list))
        except StorageError as error:
            self.set_problem(Problem(error.sentence, tr("The audio received so far is saved.")))
            if error.unsaved:
                error.keep_again_with(partial(self._kept_again, reading))
                self._tasks.report(error)
        finally:
            if self.clip_library is not None:
                self.clip_library.put(reading.clip)
            self._speaking = ""
            self.sound.refresh()
            self.publish_clips()
            self.busy_changed.emit()

    async def _kept_again(self, reading: SpeechSynthesis, again: Again) -> None:
        """Keep what the disk refused of a clip, and show the clip as it is now. Raises `StorageError`."""
        await again()
        if self.clip_library is not None:
            self.clip_library.put(reading.clip)
        self.set_problem(None)
        self.publish_clips()

    def make_reading(self, clip: Clip) -> SpeechSynthesis:
        if self.clip_library is None or self.intents is None:
            raise NoHistory
        model = self.voice_list.model(clip.model)
        return SpeechSynthesis(
            clip,
            self.sound.new_spool(),
            clips=self.clip_library.clips,
            files=self.clip_library.files,
            intents=self.intents,
            price=partial(speech_cost, model.model_spec.pricing if model is not None else None),
            charged=not self._current_account.is_sandbox,
        )

    def go_on(self, clip_id: str) -> bool:
        """Ask for the parts of a clip that are missing; the ones that are here stay."""
        clip = self.clip_library.one(clip_id) if self.clip_library is not None else None
        if clip is None or self.lacks_account():
            return False
        plays = self.sound.player.wants_to_play
        return self._tasks.start_unless_running(SPEAK, self._go_on, clip.id, plays)

    async def _go_on(self, clip_id: str, aloud: bool) -> None:
        if self.clip_library is None:
            raise NoHistory
        await self.read(await self.clip_library.clips.one(clip_id), aloud=aloud)

    def stop(self) -> bool:
        """Ask for nothing more and be silent; what came is kept."""
        was_heard = self.sound.silence()
        return self._tasks.cancel(SPEAK) or was_heard


MOST_CHARS = 130  # of what the service says about a voice that it does not know


def words_for(error: ServiceError, clip: Clip, voice_list: VoiceList) -> Problem:
    """What went wrong, with the way on: the part alone again, or another voice."""
    count = sum(part.state != "complete" for part in clip.parts)
    kept = tr("Everything before it is saved.") if count < len(clip.parts) else ""
    problem = describe(error, subject=tr("text"), charged=kept)
    if isinstance(error, BadRequest) and _is_about_the_voice(error) and clip.voice.startswith(VOICE_PREFIX):
        return problem._replace(
            what=tr("The service no longer has the cloned voice {name}", name=clip.voice_name),
            meaning=tr(
                "Cloned voices are kept for about a week, for the model that made them. Nothing was charged. {kept}",
                kept=kept,
            ),
            primary=ActionSpec(f"clone-again:{clip.voice}", tr("Clone it again")),
            alternative=ActionSpec("choose-voice", tr("Choose a voice")),
        )
    if isinstance(error, BadRequest) and _is_about_the_voice(error):
        model = voice_list.model(clip.model)
        name = model.name if model is not None else clip.model
        return problem._replace(
            what=tr("{model} has no voice {name}", model=name, name=clip.voice_name),
            meaning=tr("{shortened} Nothing was charged.", shortened=shortened(error.message)),
            primary=ActionSpec("model-voice", tr("Use {name}’s default voice", name=name)),
            alternative=ActionSpec("choose-voice", tr("Choose a voice")),
        )
    if problem.primary is None or problem.primary.id in ("retry", "continue"):
        failed = next((part for part in clip.parts if part.state != "complete"), None)
        words = (
            tr("Request part {number} again", number=failed.number)
            if failed and len(clip.parts) > 1
            else tr("Try again")
        )
        problem = problem._replace(primary=ActionSpec("go-on", words))
    return problem


def shortened(message: str) -> str:
    """Return the beginning of a message, cut behind a comma: the whole list of voices is among the details."""
    if len(message) <= MOST_CHARS:
        return message
    return f"{message[:MOST_CHARS].rpartition(',')[0] or message[:MOST_CHARS]}, …"


def _is_about_the_voice(error: BadRequest) -> bool:
    return any(item.path.split(".")[0] == "voice" for item in error.fields) or "voice" in error.message.casefold()
