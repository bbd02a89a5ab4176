"""What can be done with takes: open, play, rename, star, throw away, bring back, speak again, compare, save."""

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
from app.storage.errors import StorageError
from app.storage.takes import Take
from app.translation import tr
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.session.take_library import DEFAULT_PATTERN, cost_words, delivery_words, name_of, same_file
from app.ui.speech.state import AuditionRow, SpeechHead
from app.ui.speech.voice_catalog import Key

MAX_AUDITION = 6
TOLD_AFTER_S = 1.0  # a shorter wait needs no word
AUDITION = "speech audition"
OPEN = "speech open"


class TakeActions(QObject):
    """Acts on takes for the page. `audition_changed` carries the rows of the grid, () when it is closed."""

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

    # -- one take -------------------------------------------------------------------------------------------------

    def open(self, take_id: str, *, play: bool = False) -> None:
        """Show a take's text and put its sound into the player."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is None:
            return
        self._presenter.replace_text(take.text)
        self._presenter.set_head(SpeechHead(take.title, take.id))
        self._presenter.show_delivery_of(take)
        self.load(take, play=play)

    def load(self, take: Take, *, play: bool = False) -> None:
        """Put a take's sound into the player; pressed again, play or pause it."""
        sound = self._presenter.sound
        if sound.view.take_id == take.id:
            if play:
                sound.toggle()
            return
        if self._presenter.is_speaking:
            return
        reading = self._presenter.make_reading(take)
        sound.show(reading, title=take.title)
        self._presenter.set_problem(None)
        self._tasks.replace(OPEN, reading.load)
        if play:
            sound.play()

    def play(self, take_id: str) -> None:
        """Play a take without touching what is being written."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is not None:
            self.load(take, play=True)

    def rename(self, take_id: str, title: str) -> None:
        self._change(take_id, title=title.strip() or tr("Clip"))

    def star(self, take_id: str) -> None:
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is not None:
            self._change(take_id, starred=not take.starred)

    def _change(self, take_id: str, **changes: object) -> None:
        self._tasks.start_unless_running(f"speech change {take_id}", self._write_change, take_id, changes)

    async def _write_change(self, take_id: str, changes: dict[str, object]) -> None:
        presenter = self._presenter
        if presenter.take_library is None:
            return
        take = await presenter.take_library.takes.change(take_id, **changes)
        presenter.take_library.put(take)
        reading = presenter.sound.reading
        if reading is not None and reading.take.id == take_id:
            reading.take = replace(reading.take, title=take.title, starred=take.starred)
            presenter.sound.refresh()
        if presenter.head.take_id == take_id:
            presenter.set_head(SpeechHead(take.title, take.id))
        presenter.publish_takes()
        self._publish_audition()

    # -- the trash ------------------------------------------------------------------------------------------------

    def move_to_trash(self, take_ids: Sequence[str]) -> None:
        ids = tuple(take_ids)
        if ids:
            self._tasks.start_unless_running(f"speech trash {ids[0]}", self._move_to_trash, ids)

    async def _move_to_trash(self, ids: tuple[str, ...]) -> None:
        presenter = self._presenter
        take_library = presenter.take_library
        takes = [
            take for take_id in ids if take_library is not None and (take := take_library.one(take_id)) is not None
        ]
        if take_library is None or not takes:
            return

        async def move(take: Take) -> None:
            if presenter.sound.view.take_id == take.id:
                if presenter.is_speaking:
                    presenter.stop()
                presenter.sound.show(None)
            await take_library.takes.trash(take.id)
            take_library.drop(take.id)
            if presenter.head.take_id == take.id:
                presenter.set_head(SpeechHead())

        moved, refusal = await move_rows(takes, move)
        presenter.publish_takes()
        self._publish_audition()
        if moved:
            text = moved_text([take.title for take in moved], "clips")
            await presenter.trash.moved((take.id for take in moved), text)
        if refusal is not None:
            raise refusal

    async def _trashed(self) -> Sequence[TrashEntry]:
        take_library, now = self._presenter.take_library, datetime.now(UTC)
        takes = await take_library.takes.recent(trashed=True) if take_library is not None else ()
        return [_trash_entry(take, now) for take in takes]

    async def _restore(self, ids: tuple[str, ...]) -> None:
        take_library = self._presenter.take_library
        assert take_library is not None
        for take_id in ids:
            await take_library.takes.trash(take_id, False)
        await take_library.load()
        self._presenter.publish_takes()

    async def _delete(self, ids: tuple[str, ...]) -> None:
        take_library = self._presenter.take_library
        assert take_library is not None
        for take_id in ids:
            await asyncio.to_thread(take_library.files.remove, take_id)
            await take_library.takes.remove(take_id)

    # -- again, with another voice --------------------------------------------------------------------------------

    def again(self, take_id: str, model_id: str, voice_id: str) -> bool:
        """Speak a take's text with another voice; the take stays, the new one stands beside it."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is None:
            return False
        self._presenter.replace_text(take.text)
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
        """Speak one line in up to six voices, one after the other; every result is a take."""
        line = text.strip()
        spans = parts(line)
        if len(spans) != 1 or not voices or self._presenter.take_library is None or self._presenter.lacks_account():
            return False
        if self._tasks.running(AUDITION):
            self._presenter.notice.emit(tr("The previous voices are still playing. Esc stops them."))
        return self._tasks.start_unless_running(AUDITION, self._hold_audition, line, spans, voices[:MAX_AUDITION])

    async def _hold_audition(self, line: str, spans: tuple[Span, ...], voices: tuple[Key, ...]) -> None:
        presenter = self._presenter
        assert presenter.take_library is not None
        name = uuid4().hex
        planned = [
            await presenter.new_take(line, model_id, voice_id, spans, audition=name) for model_id, voice_id in voices
        ]
        self._audition = tuple(take.id for take in planned)
        self._working = set(self._audition)
        self._publish_audition()
        try:
            with call_group((self.audition_price(line, ((one.model, one.voice),)) for one in planned), "voices"):
                for take in planned:
                    await self._speak_one(take)
        finally:
            self._working.clear()
            presenter.publish_takes()
            self._publish_audition()

    async def _speak_one(self, take: Take) -> None:
        """One voice of an audition, not aloud; a voice that fails does not stop the others."""
        presenter = self._presenter
        assert presenter.take_library is not None
        reading = presenter.make_reading(take)
        try:
            assert presenter.service is not None
            await reading.read(presenter.service)
        except ServiceError as error:
            self._notes[take.id] = describe(error, subject=tr("line")).what
        except StorageError as error:
            self._notes[take.id] = error.sentence
        finally:
            presenter.calls.note(*reading.exchanges)
            presenter.take_library.put(await presenter.take_library.takes.one(take.id))
            await asyncio.to_thread(reading.spool.close)
            self._working.discard(take.id)
            self._publish_audition()

    def compare(self, take_ids: tuple[str, ...]) -> None:
        """Put takes side by side."""
        self._audition = take_ids[:MAX_AUDITION]
        self._publish_audition()

    def takes_like(self, take_id: str) -> tuple[str, ...]:
        """Return the takes of the same text as one, newest first, that one included."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take_library is None or take is None:
            return ()
        return tuple(one.id for one in take_library.rows if one.text == take.text)

    def close_audition(self) -> None:
        self._audition = ()
        self._tasks.cancel(AUDITION)
        self._publish_audition()

    @property
    def auditioned(self) -> tuple[str, ...]:
        return self._audition

    def _publish_audition(self) -> None:
        presenter = self._presenter
        if presenter.take_library is None:
            return
        found = [presenter.take_library.one(take_id) for take_id in self._audition]
        self.audition_changed.emit(tuple(self._row(take) for take in found if take is not None))

    def _row(self, take: Take) -> AuditionRow:
        presenter = self._presenter
        model = presenter.voice_list.model(take.model)
        return AuditionRow(
            take_id=take.id,
            title=take.title,
            text=take.text,
            delivery=delivery_words(take),
            voice_name=take.voice_name,
            model_name=model.name if model is not None else take.model,
            voice=take.voice,
            model=take.model,
            length=time_format.position(take.duration_s) if take.duration_s else "",
            cost=cost_words((take,)),
            state="working" if take.id in self._working else take.state,
            note=self._notes.get(take.id, ""),
            starred=take.starred,
            plays=presenter.sound.view.plays and presenter.sound.view.take_id == take.id,
        )

    def star_with_voice(self, take_id: str) -> None:
        """Star a take of an audition and make its voice the one in use."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is not None:
            if not take.starred:
                self.star(take_id)
            self._presenter.use_voice(take.model, take.voice)

    # -- saving ---------------------------------------------------------------------------------------------------

    def export_formats(self, take_id: str) -> tuple[Format, ...]:
        """Return the formats in which it can be saved here, that of the clip first; () where there is no such clip."""
        take_library = self._presenter.take_library
        take = take_library.one(take_id) if take_library is not None else None
        if take is None:
            return ()
        names = [name for name in SPEECH_FORMATS if name == take.format or can_encode(name)]
        return tuple(FORMATS[name] for name in sorted(names, key=lambda name: name != take.format))

    def proposed_name(self, take_id: str, kind: str) -> str:
        """Return the file name a take would get."""
        presenter = self._presenter
        take = presenter.take_library.one(take_id) if presenter.take_library is not None else None
        if take is None:
            return ""
        model = presenter.voice_list.model(take.model)
        name = model.name if model is not None else take.model
        return name_of(presenter.pattern or DEFAULT_PATTERN, take, name, kind)

    def export(self, take_id: str, target: Path) -> None:
        """Save a clip as a file of the format that the name of `target` says."""
        suffix = target.suffix.lower()
        kind = next((name for name in SPEECH_FORMATS if FORMATS[name].suffix == suffix), "wav")
        if not self._tasks.start_unless_running("speech export", self._export, take_id, target, kind):
            self._presenter.notice.emit(tr("The previous clip is still being saved. Try again in a moment."))

    async def file_to_hand_on(self, take_id: str) -> Path | None:
        """Return the clip in the player as one file that is called like it, made in the take's own folder."""
        presenter = self._presenter
        reading = presenter.sound.reading
        take = presenter.take_library.one(take_id) if presenter.take_library is not None else None
        if presenter.take_library is None or take is None or reading is None or reading.take.id != take_id:
            return None
        only = take.parts[0] if len(take.parts) == 1 and take.parts[0].has_sound else None
        kind = only.kind if only is not None and only.kind != "pcm" else "flac"
        target = presenter.take_library.files.of(take_id) / name_of("{title}", take, take.model, kind)
        try:
            if only is not None and only.kind == kind:
                await asyncio.to_thread(same_file, presenter.take_library.files.part(only), target)
            else:
                await presenter.take_library.export(take, reading.spool, target, kind, take.model)
        except (CannotWrite, StorageError) as error:
            presenter.set_problem(Problem(error.sentence, tr("The clip itself is safe.")))
            return None
        return target

    async def _export(self, take_id: str, target: Path, kind: str) -> None:
        presenter = self._presenter
        reading = presenter.sound.reading
        take = presenter.take_library.one(take_id) if presenter.take_library is not None else None
        if presenter.take_library is None or take is None:
            return
        spool = reading.spool if reading is not None and reading.take.id == take_id else None
        loaded = None
        if spool is None:
            loaded = presenter.make_reading(take)
            await loaded.load()
            spool = loaded.spool
        model = presenter.voice_list.model(take.model)
        later = asyncio.get_running_loop().call_later(
            TOLD_AFTER_S, presenter.notice.emit, tr("Saving {name}…", name=target.name)
        )
        try:
            await presenter.take_library.export(
                take, spool, target, kind, model.name if model is not None else take.model
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


def _trash_entry(take: Take, now: datetime) -> TrashEntry:
    moment = take.trashed_at or now
    length = f"{time_format.position(take.duration_s)} · " if take.duration_s else ""
    return TrashEntry(
        take.id, take.title or tr("Clip"), f"{length}{take.voice_name} · {time_format.when(moment, now)}", moment
    )
