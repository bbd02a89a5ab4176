"""What can be done with clips: open, play, rename, star, throw away, bring back, speak again, compare, save."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from PySide6.QtCore import QObject, Signal

from app.audio.encoding import CannotWrite
from app.audio.formats import FORMATS, SPEECH_FORMATS, Format, can_encode
from app.core import time_format
from app.core.file_saving import SavedFile
from app.core.problems import Problem, describe
from app.core.spending_limits import call_group
from app.core.tasks import TaskScope
from app.core.trash import TrashEntry, TrashKind, move_rows, moved_text
from app.service.errors import ServiceError
from app.service.pricing import speech_cost
from app.service.speech_text import Span, parts
from app.storage.clips import Clip
from app.storage.errors import NoHistory, StorageError
from app.translation import tr
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.session.clip_library import DEFAULT_PATTERN, cost_words, delivery_words, name_of, same_file
from app.ui.speech.state import AuditionRow, SpeechHead
from app.ui.speech.voice_catalog import Key

MAX_AUDITION = 6
TOLD_AFTER_S = 1.0  # a shorter wait needs no word
AUDITION = "speech audition"
OPEN = "speech open"


class ClipActions(QObject):
    """Acts on clips for the page. `audition_changed` carries the rows of the grid, () when it is closed."""

    audition_changed = Signal(object)  # (AuditionRow, …)
    saved = Signal(str)  # a sentence

    def __init__(self, presenter: SpeechPresenter, tasks: TaskScope) -> None:
        super().__init__()
        self._presenter = presenter
        self._tasks = tasks
        self._audition: tuple[str, ...] = ()
        self._notes: dict[str, str] = {}
        self._working: set[str] = set()
        presenter.sound.changed.connect(self._publish_audition)
        presenter.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))

    # -- one clip -------------------------------------------------------------------------------------------------

    def open(self, clip_id: str, *, play: bool = False) -> None:
        """Show a clip's text and put its sound into the player, or go on with a draft."""
        self._presenter.open_draft(clip_id)
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is None:
            return
        self._presenter.replace_text(clip.text)
        self._presenter.set_head(SpeechHead(clip.title, clip.id))
        self._presenter.show_delivery_of(clip)
        self.load(clip, play=play)

    def load(self, clip: Clip, *, play: bool = False) -> None:
        """Put a clip's sound into the player; pressed again, play or pause it."""
        sound = self._presenter.sound
        if sound.view.clip_id == clip.id:
            if play:
                sound.toggle()
            return
        if self._presenter.is_speaking:
            return
        reading = self._presenter.make_reading(clip)
        sound.show(reading, title=clip.title)
        self._presenter.set_problem(None)
        self._tasks.replace(OPEN, reading.load)
        if play:
            sound.play()

    def play(self, clip_id: str) -> None:
        """Play a clip without touching what is being written."""
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is not None:
            self.load(clip, play=True)

    def rename(self, clip_id: str, title: str) -> None:
        if self._presenter.drafts.get(clip_id) is not None:
            self._presenter.rename_draft(clip_id, title)
        else:
            self._change(clip_id, title=title.strip() or tr("Clip"))

    def star(self, clip_id: str) -> None:
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is not None:
            self._change(clip_id, starred=not clip.starred)

    def _change(self, clip_id: str, **changes: object) -> None:
        self._tasks.start_unless_running(f"speech change {clip_id}", self._write_change, clip_id, changes)

    async def _write_change(self, clip_id: str, changes: dict[str, object]) -> None:
        presenter = self._presenter
        if presenter.clip_library is None:
            return
        clip = await presenter.clip_library.clips.change(clip_id, **changes)
        presenter.clip_library.put(clip)
        reading = presenter.sound.reading
        if reading is not None and reading.clip.id == clip_id:
            reading.clip = replace(reading.clip, title=clip.title, starred=clip.starred)
            presenter.sound.refresh()
        if presenter.head.clip_id == clip_id:
            presenter.set_head(SpeechHead(clip.title, clip.id))
        presenter.publish_clips()
        self._publish_audition()

    # -- the trash ------------------------------------------------------------------------------------------------

    def move_to_trash(self, clip_ids: Sequence[str]) -> None:
        self._presenter.remove_drafts(clip_ids)
        ids = tuple(each for each in clip_ids if self._presenter.drafts.get(each) is None)
        if ids:
            self._tasks.start_unless_running(f"speech trash {ids[0]}", self._move_to_trash, ids)

    async def _move_to_trash(self, ids: tuple[str, ...]) -> None:
        presenter = self._presenter
        clip_library = presenter.clip_library
        clips = [
            clip for clip_id in ids if clip_library is not None and (clip := clip_library.one(clip_id)) is not None
        ]
        if clip_library is None or not clips:
            return

        async def move(clip: Clip) -> None:
            if presenter.sound.view.clip_id == clip.id:
                if presenter.is_speaking:
                    presenter.stop()
                presenter.sound.show(None)
            await clip_library.clips.trash(clip.id)
            clip_library.drop(clip.id)
            if presenter.head.clip_id == clip.id:
                presenter.set_head(SpeechHead())

        moved, refusal = await move_rows(clips, move)
        presenter.publish_clips()
        self._publish_audition()
        if moved:
            text = moved_text([clip.title for clip in moved], "clips")
            await presenter.trash.moved((clip.id for clip in moved), text)
        if refusal is not None:
            raise refusal

    async def _trashed(self) -> Sequence[TrashEntry]:
        clip_library, now = self._presenter.clip_library, datetime.now(UTC)
        clips = await clip_library.clips.recent(trashed=True) if clip_library is not None else ()
        return [_trash_entry(clip, now) for clip in clips]

    async def _restore(self, ids: tuple[str, ...]) -> None:
        clip_library = self._presenter.clip_library
        if clip_library is None:
            raise NoHistory
        for clip_id in ids:
            await clip_library.clips.trash(clip_id, False)
        await clip_library.load()
        self._presenter.publish_clips()

    async def _delete(self, ids: tuple[str, ...]) -> None:
        clip_library = self._presenter.clip_library
        if clip_library is None:
            raise NoHistory
        for clip_id in ids:
            await asyncio.to_thread(clip_library.files.remove, clip_id)
            await clip_library.clips.remove(clip_id)

    # -- again, with another voice --------------------------------------------------------------------------------

    def again(self, clip_id: str, model_id: str, voice_id: str) -> bool:
        """Speak a clip's text with another voice; the clip stays, the new one stands beside it."""
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is None:
            return False
        self._presenter.replace_text(clip.text)
        self._presenter.use_voice(model_id, voice_id)
        return self._presenter.speak()

    # -- audition and comparison ----------------------------------------------------------------------------------

    def audition_price(self, text: str, voices: tuple[Key, ...]) -> Decimal | None:
        """What the line costs in all voices together; None when a price is not known."""
        total = Decimal(0)
        for model_id, _ in voices:
            model = self._presenter.voice_list.model(model_id)
            price = speech_cost(model.model_spec.pricing, len(text.strip())) if model is not None else None
            if price is None:
                return None
            total += price
        return total

    def audition(self, text: str, voices: tuple[Key, ...]) -> bool:
        """Speak one line in up to six voices, one after the other; every result is a clip."""
        line = text.strip()
        spans = parts(line)
        if len(spans) != 1 or not voices or self._presenter.clip_library is None or self._presenter.lacks_account():
            return False
        if fault := self._presenter.extra_fault:
            self._presenter.notice.emit(fault)
            return False
        if self._tasks.running(AUDITION):
            self._presenter.notice.emit(tr("The previous voices are still playing. Esc stops them."))
        return self._tasks.start_unless_running(AUDITION, self._hold_audition, line, spans, voices[:MAX_AUDITION])

    async def _hold_audition(self, line: str, spans: tuple[Span, ...], voices: tuple[Key, ...]) -> None:
        presenter = self._presenter
        if presenter.clip_library is None:
            raise NoHistory
        name = uuid4().hex
        planned = [
            await presenter.plan_clip(line, model_id, voice_id, spans, audition=name) for model_id, voice_id in voices
        ]
        self._audition = tuple(clip.id for clip in planned)
        self._working = set(self._audition)
        self._publish_audition()
        try:
            with call_group((self.audition_price(line, ((one.model, one.voice),)) for one in planned), "voices"):
                for clip in planned:
                    await self._speak_one(clip)
        finally:
            self._working.clear()
            presenter.publish_clips()
            self._publish_audition()

    async def _speak_one(self, clip: Clip) -> None:
        """One voice of an audition, not aloud; a voice that fails does not stop the others."""
        presenter = self._presenter
        if presenter.clip_library is None:
            raise NoHistory
        reading = presenter.make_reading(clip)
        try:
            assert presenter.service is not None
            await reading.read(presenter.service)
        except ServiceError as error:
            self._notes[clip.id] = describe(error, subject=tr("line")).what
        except StorageError as error:
            self._notes[clip.id] = error.sentence
        finally:
            presenter.calls.note(*reading.exchanges)
            presenter.clip_library.put(await presenter.clip_library.clips.one(clip.id))
            await asyncio.to_thread(reading.spool.close)
            self._working.discard(clip.id)
            self._publish_audition()

    def compare(self, clip_ids: tuple[str, ...]) -> None:
        """Put clips side by side."""
        self._audition = clip_ids[:MAX_AUDITION]
        self._publish_audition()

    def clips_like(self, clip_id: str) -> tuple[str, ...]:
        """Return the clips of the same text as one, newest first, that one included."""
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip_library is None or clip is None:
            return ()
        return tuple(one.id for one in clip_library.rows if one.text == clip.text)

    def close_audition(self) -> None:
        self._audition = ()
        self._tasks.cancel(AUDITION)
        self._publish_audition()

    @property
    def auditioned(self) -> tuple[str, ...]:
        return self._audition

    def _publish_audition(self) -> None:
        presenter = self._presenter
        if presenter.clip_library is None:
            return
        found = [presenter.clip_library.one(clip_id) for clip_id in self._audition]
        self.audition_changed.emit(tuple(self._row(clip) for clip in found if clip is not None))

    def _row(self, clip: Clip) -> AuditionRow:
        presenter = self._presenter
        model = presenter.voice_list.model(clip.model)
        return AuditionRow(
            clip_id=clip.id,
            title=clip.title,
            text=clip.text,
            delivery=delivery_words(clip),
            voice_name=clip.voice_name,
            model_name=model.name if model is not None else clip.model,
            voice=clip.voice,
            model=clip.model,
            length=time_format.length(clip.duration_s) if clip.duration_s else "",
            cost=cost_words((clip,)),
            state="working" if clip.id in self._working else clip.state,
            note=self._notes.get(clip.id, ""),
            starred=clip.starred,
            plays=presenter.sound.view.plays and presenter.sound.view.clip_id == clip.id,
        )

    def star_with_voice(self, clip_id: str) -> None:
        """Star a clip of an audition and make its voice the one in use."""
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is not None:
            if not clip.starred:
                self.star(clip_id)
            self._presenter.use_voice(clip.model, clip.voice)

    # -- saving ---------------------------------------------------------------------------------------------------

    def export_formats(self, clip_id: str) -> tuple[Format, ...]:
        """Return the formats in which it can be saved here, that of the clip first; () where there is no such clip."""
        clip_library = self._presenter.clip_library
        clip = clip_library.one(clip_id) if clip_library is not None else None
        if clip is None:
            return ()
        names = [name for name in SPEECH_FORMATS if name == clip.format or can_encode(name)]
        return tuple(FORMATS[name] for name in sorted(names, key=lambda name: name != clip.format))

    def proposed_name(self, clip_id: str, kind: str) -> str:
        """Return the file name a clip would get."""
        presenter = self._presenter
        clip = presenter.clip_library.one(clip_id) if presenter.clip_library is not None else None
        if clip is None:
            return ""
        model = presenter.voice_list.model(clip.model)
        name = model.name if model is not None else clip.model
        return name_of(presenter.pattern or DEFAULT_PATTERN, clip, name, kind)

    def export(self, clip_id: str, target: Path) -> None:
        """Save a clip as a file of the format that the name of `target` says."""
        suffix = target.suffix.lower()
        kind = next((name for name in SPEECH_FORMATS if FORMATS[name].suffix == suffix), "wav")
        if not self._tasks.start_unless_running("speech export", self._export, clip_id, target, kind):
            self._presenter.notice.emit(tr("The previous clip is still being saved. Try again in a moment."))

    async def file_to_hand_on(self, clip_id: str) -> Path | None:
        """Return the clip in the player as one file that is called like it, made in the clip's own folder."""
        presenter = self._presenter
        reading = presenter.sound.reading
        clip = presenter.clip_library.one(clip_id) if presenter.clip_library is not None else None
        if presenter.clip_library is None or clip is None or reading is None or reading.clip.id != clip_id:
            return None
        only = clip.parts[0] if len(clip.parts) == 1 and clip.parts[0].has_sound else None
        kind = only.kind if only is not None and only.kind != "pcm" else "flac"
        target = presenter.clip_library.files.of(clip_id) / name_of("{title}", clip, clip.model, kind)
        try:
            if only is not None and only.kind == kind:
                await asyncio.to_thread(same_file, presenter.clip_library.files.part(only), target)
            else:
                await presenter.clip_library.export(clip, reading.spool, target, kind, clip.model)
        except (CannotWrite, StorageError) as error:
            presenter.set_problem(Problem(error.sentence, tr("The clip itself is safe.")))
            return None
        return target

    async def _export(self, clip_id: str, target: Path, kind: str) -> None:
        presenter = self._presenter
        reading = presenter.sound.reading
        clip = presenter.clip_library.one(clip_id) if presenter.clip_library is not None else None
        if presenter.clip_library is None or clip is None:
            return
        spool = reading.spool if reading is not None and reading.clip.id == clip_id else None
        loaded = None
        if spool is None:
            loaded = presenter.make_reading(clip)
            await loaded.load()
            spool = loaded.spool
        model = presenter.voice_list.model(clip.model)
        later = asyncio.get_running_loop().call_later(
            TOLD_AFTER_S, presenter.notice.emit, tr("Saving {name}…", name=target.name)
        )
        try:
            await presenter.clip_library.export(
                clip, spool, target, kind, model.name if model is not None else clip.model
            )
        except CannotWrite as error:
            presenter.set_problem(Problem(error.sentence, tr("The clip itself is safe.")))
        else:
            self.saved.emit(tr("Saved as {name}", name=target.name))
            presenter.notice.emit(SavedFile(target))
        finally:
            later.cancel()
            if loaded is not None:
                await asyncio.to_thread(loaded.spool.close)


def _trash_entry(clip: Clip, now: datetime) -> TrashEntry:
    moment = clip.trashed_at or now
    length = f"{time_format.length(clip.duration_s)} · " if clip.duration_s else ""
    return TrashEntry(
        clip.id, clip.title or tr("Clip"), f"{length}{clip.voice_name} · {time_format.when(moment, now)}", moment
    )
