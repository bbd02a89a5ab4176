"""The takes: every result kept, listed by day, renamed, starred, thrown away and brought back, saved as a file."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.encoding import AudioTags, write_take
from app.audio.formats import format_title, suffix_of
from app.core import money, time_format
from app.storage.errors import unavailable
from app.storage.file_names import file_name
from app.storage.takes import Take, TakeFiles, Takes
from app.translation import tr, tr_n
from app.ui.speech.state import TakeRow

if TYPE_CHECKING:
    from app.audio.spool import Spool
    from app.ui.speech.session.voice_list import VoiceList

DEFAULT_PATTERN = "{title} - {voice}"
PATTERN_WORDS = ("title", "voice", "model", "date", "time", "id")
_NUMBERS = {"speed": "speed", "temperature": "temperature", "top_p": "top-p"}


def name_of(pattern: str, take: Take, model_name: str, kind: str) -> str:
    """Return the name a clip is saved under: words in braces are filled in, what no disk takes is left out."""
    at = take.created_at.astimezone()
    words = {
        "title": take.title.rstrip(".… ") or tr("Clip"),
        "voice": take.voice_name or take.voice,
        "model": model_name,
        "date": f"{at:%Y-%m-%d}",
        "time": f"{at:%H.%M}",
        "id": take.id[:8],
    }
    name = pattern or DEFAULT_PATTERN
    for word, value in words.items():
        name = name.replace(f"{{{word}}}", value)
    return file_name(name, suffix_of(kind), otherwise=tr("Clip"))


def title_words(take: Take) -> str:
    return take.title or tr("Clip")


def voice_words(take: Take, voice_list: VoiceList, mark: str) -> str:
    """Return the second line of a take; `mark` names its account where that is not the one in use."""
    model = voice_list.model(take.model)
    name = model.name if model is not None else take.model
    is_cloned = take.voice.startswith("vv_")
    voice = tr("Cloned: {name}", name=take.voice_name) if is_cloned else take.voice_name or take.voice
    return " · ".join(words for words in (voice, name, mark) if words)


def take_row(
    take: Take, voice_list: VoiceList, now: datetime, *, mark: str = "", working: bool = False, plays: bool = False
) -> TakeRow:
    """Return a take as the list shows it; `mark` as in `voice_words`."""
    return TakeRow(
        id=take.id,
        title=title_words(take),
        second_line=voice_words(take, voice_list, mark),
        length=time_format.position(take.duration_s) if take.duration_s else "",
        cost=cost_words((take,)),
        group=time_format.day_group(take.created_at, now),
        starred=take.starred,
        working=working,
        is_partial=not working and take.state in ("cut", "failed", "planned", "sending"),
        plays=plays,
    )


def takes_by_row(takes: Sequence[Take]) -> list[tuple[Take, ...]]:
    """Return the takes of each row of the list: one, or those of a voice comparison in the order they were spoken.

    `takes` come newest first; a comparison has the place of its newest.
    """
    rows: dict[str, list[Take]] = {}
    for take in takes:
        rows.setdefault(take.audition or take.id, []).append(take)
    return [tuple(reversed(row)) for row in rows.values()]


def places_of(rows: Sequence[tuple[Take, ...]]) -> dict[str, int]:
    """Return which row, from 0, a take is in, by its id; a comparison by its own."""
    return {each: place for place, row in enumerate(rows) for take in row for each in (take.id, take.audition) if each}


def comparison_row(first: TakeRow, takes: tuple[Take, ...], clips: tuple[TakeRow, ...]) -> TakeRow:
    """Return the one row of a voice comparison; `clips` are the rows its takes would have by themselves."""
    voices = ", ".join(take.voice_name or take.voice for take in takes)
    return replace(
        first,
        id=takes[0].audition if takes else first.id,
        second_line=tr_n("{n} voice: {voices}", "{n} voices: {voices}", len(takes), voices=voices),
        length="",
        cost=cost_words(takes),
        starred=any(clip.starred for clip in clips),
        working=any(clip.working for clip in clips),
        is_partial=False,
        plays=any(clip.plays for clip in clips),
        clips=clips,
    )


def cost_words(takes: tuple[Take, ...]) -> str:
    """Return what takes cost as far as anybody can say: "about $0.0186", "≤ $0.0186", "" when no price is known."""
    costs = [take.cost_usd for take in takes if take.cost_usd is not None]
    if not costs:
        return ""
    cost = sum(costs, Decimal(0))
    sources = {part.cost_source for take in takes for part in take.parts if part.cost_usd is not None}
    if "at most" in sources:
        return money.at_most(cost)
    return money.money(cost) if sources == {"stated"} else money.about(cost)


def delivery_words(take: Take) -> str:
    """Return how a take was asked for: "MP3 · speed 1.25 · temperature 0.9 · English · “calm”"."""
    options = take.options
    words = [format_title(take.format)]
    words += [f"{name} {options[key]:g}" for key, name in _NUMBERS.items() if isinstance(options.get(key), int | float)]
    if options.get("language"):
        words.append(str(options["language"]))
    if options.get("style"):
        words.append(f"“{options['style']}”")
    return " · ".join(words)


class TakeLibrary:
    """The takes on screen. Raises `StorageError` from whatever touches the disk."""

    def __init__(self, takes: Takes, files: TakeFiles) -> None:
        self.takes = takes
        self.files = files
        self.rows: tuple[Take, ...] = ()

    async def load(self) -> None:
        self.rows = await self.takes.recent()

    async def measure(self, take_id: str) -> None:
        """After a kill: what the file of a cut part holds is what was kept of it."""
        take = await self.takes.one(take_id)
        for part in take.parts:
            if part.state == "cut":
                size = await asyncio.to_thread(_size_of, self.files.part(part)) if part.file else 0
                await self.takes.save_part(replace(part, size_bytes=size, state="cut" if size else "failed"))
        self.put(await self.takes.one(take_id))

    def one(self, take_id: str) -> Take | None:
        return next((take for take in self.rows if take.id == take_id), None)

    def put(self, take: Take) -> None:
        """Take a changed or new take into the list, in its place."""
        if self.one(take.id) is None:
            self.rows = (take, *self.rows)
        else:
            self.rows = tuple(take if one.id == take.id else one for one in self.rows)

    def drop(self, take_id: str) -> None:
        self.rows = tuple(take for take in self.rows if take.id != take_id)

    def size_bytes(self) -> int:
        return sum(take.size_bytes for take in self.rows)

    async def export(self, take: Take, spool: Spool, target: Path, kind: str, model_name: str) -> None:
        """Write a clip: the very bytes where one part was made in that format, else the joined sound, encoded anew."""
        tags = AudioTags(
            title=take.title,
            artist=f"{take.voice_name} ({model_name})",
            date=f"{take.created_at.astimezone():%Y-%m-%d}",
            comment=f"Spoken by {model_name} with the voice {take.voice}",
        )
        only = take.parts[0] if len(take.parts) == 1 else None
        source = self.files.part(only) if only is not None and only.kind == kind and only.has_sound else None
        await asyncio.to_thread(write_take, target, kind, spool, tags, source)


def same_file(source: Path, target: Path) -> None:
    """Let `target` be the same bytes under another name, without a second copy where the disk allows it.

    Raises `StorageUnavailable`. For a worker thread.
    """
    try:
        target.unlink(missing_ok=True)
        try:
            os.link(source, target)
        except OSError:  # a disk that knows no links
            shutil.copyfile(source, target)
    except OSError as error:
        raise unavailable(error, target, tr("Exporting the clip")) from error


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
