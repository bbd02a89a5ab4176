"""The clips: every result kept, listed by day, renamed, starred, thrown away and brought back, saved as a file."""

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

from app.audio.encoding import AudioTags, write_clip
from app.audio.formats import format_title, suffix_of
from app.core import money, time_format
from app.storage.clips import Clip, ClipFiles, ClipStore, title_of
from app.storage.errors import unavailable
from app.storage.file_names import file_name
from app.translation import tr, tr_n
from app.ui.speech.state import ClipRow

if TYPE_CHECKING:
    from app.audio.spool import Spool
    from app.core.typed_text import TextDraft
    from app.ui.speech.session.voice_list import VoiceList

DEFAULT_PATTERN = "{title} - {voice}"
PATTERN_WORDS = ("title", "voice", "model", "date", "time", "id")
_NUMBERS = {"speed": "speed", "temperature": "temperature", "top_p": "top-p"}


def name_of(pattern: str, clip: Clip, model_name: str, kind: str) -> str:
    """Return the name a clip is saved under: words in braces are filled in, what no disk takes is left out."""
    at = clip.created_at.astimezone()
    words = {
        "title": clip.title.rstrip(".…,;:–- ") or tr("Clip"),
        "voice": clip.voice_name or clip.voice,
        "model": model_name,
        "date": f"{at:%Y-%m-%d}",
        "time": f"{at:%H.%M}",
        "id": clip.id[:8],
    }
    name = pattern or DEFAULT_PATTERN
    for word, value in words.items():
        name = name.replace(f"{{{word}}}", value)
    return file_name(name, suffix_of(kind), otherwise=tr("Clip"))


def title_words(clip: Clip) -> str:
    return clip.title or tr("Clip")


def voice_words(clip: Clip, voice_list: VoiceList, mark: str) -> str:
    """Return the second line of a clip; `mark` names its account where that is not the one in use."""
    model = voice_list.model(clip.model)
    name = model.name if model is not None else clip.model
    is_cloned = clip.voice.startswith("vv_")
    voice = tr("Cloned: {name}", name=clip.voice_name) if is_cloned else clip.voice_name or clip.voice
    return " · ".join(words for words in (voice, name, mark) if words)


def clip_row(
    clip: Clip, voice_list: VoiceList, now: datetime, *, mark: str = "", working: bool = False, plays: bool = False
) -> ClipRow:
    """Return a clip as the list shows it; `mark` as in `voice_words`."""
    return ClipRow(
        id=clip.id,
        title=title_words(clip),
        second_line=voice_words(clip, voice_list, mark),
        length=time_format.length(clip.duration_s) if clip.duration_s else "",
        cost=cost_words((clip,)),
        group=time_format.day_group(clip.created_at, now),
        starred=clip.starred,
        working=working,
        is_partial=not working and clip.state in ("cut", "failed", "planned", "sending"),
        plays=plays,
    )


def draft_row(draft: TextDraft) -> ClipRow:
    """Return a text that was not spoken yet as the list shows it, above all clips."""
    return ClipRow(
        id=draft.id,
        title=draft.title or title_of(draft.text) or tr("New clip"),
        second_line=tr_n("Draft · {n} character", "Draft · {n} characters", len(draft.text)),
        length="",
        cost="",
        group=tr("Drafts"),
        is_draft=True,
    )


def clips_by_row(clips: Sequence[Clip]) -> list[tuple[Clip, ...]]:
    """Return the clips of each row of the list: one, or those of a voice comparison in the order they were spoken.

    `clips` come newest first; a comparison has the place of its newest.
    """
    rows: dict[str, list[Clip]] = {}
    for clip in clips:
        rows.setdefault(clip.audition or clip.id, []).append(clip)
    return [tuple(reversed(row)) for row in rows.values()]


def places_of(rows: Sequence[tuple[Clip, ...]]) -> dict[str, int]:
    """Return which row, from 0, a clip is in, by its id; a comparison by its own."""
    return {each: place for place, row in enumerate(rows) for clip in row for each in (clip.id, clip.audition) if each}


def comparison_row(first: ClipRow, clips: tuple[Clip, ...], rows: tuple[ClipRow, ...]) -> ClipRow:
    """Return the one row of a voice comparison; `rows` are those its clips would have by themselves."""
    voices = ", ".join(clip.voice_name or clip.voice for clip in clips)
    return replace(
        first,
        id=clips[0].audition if clips else first.id,
        second_line=tr_n("{n} voice: {voices}", "{n} voices: {voices}", len(clips), voices=voices),
        length="",
        cost=cost_words(clips),
        starred=any(row.starred for row in rows),
        working=any(row.working for row in rows),
        is_partial=False,
        plays=any(row.plays for row in rows),
        clips=rows,
    )


def cost_words(clips: tuple[Clip, ...]) -> str:
    """Return what clips cost as far as anybody can say: "about $0.0186", "≤ $0.0186", "" when no price is known."""
    costs = [clip.cost_usd for clip in clips if clip.cost_usd is not None]
    if not costs:
        return ""
    cost = sum(costs, Decimal(0))
    sources = {part.cost_source for clip in clips for part in clip.parts if part.cost_usd is not None}
    if "at most" in sources:
        return money.at_most(cost)
    return money.money(cost) if sources == {"stated"} else money.about(cost)


def delivery_words(clip: Clip) -> str:
    """Return how a clip was asked for: "MP3 · speed 1.25 · temperature 0.9 · English · “calm”"."""
    options = clip.options
    words = [format_title(clip.format)]
    words += [f"{name} {options[key]:g}" for key, name in _NUMBERS.items() if isinstance(options.get(key), int | float)]
    if options.get("language"):
        words.append(str(options["language"]))
    if options.get("style"):
        words.append(f"“{options['style']}”")
    return " · ".join(words)


class ClipLibrary:
    """The clips on screen. Raises `StorageError` from whatever touches the disk."""

    def __init__(self, clips: ClipStore, files: ClipFiles) -> None:
        self.clips = clips
        self.files = files
        self.rows: tuple[Clip, ...] = ()
        self._by_row: tuple[tuple[Clip, ...], list[tuple[Clip, ...]], dict[str, int]] = ((), [], {})

    def by_row(self) -> tuple[list[tuple[Clip, ...]], dict[str, int]]:
        """Return the clips of each row and which row, from 0, a clip is in; found out once for each state of them."""
        if self._by_row[0] is not self.rows:
            rows = clips_by_row(self.rows)
            self._by_row = self.rows, rows, places_of(rows)
        return self._by_row[1:]

    async def load(self) -> None:
        self.rows = await self.clips.recent()

    async def measure(self, clip_id: str) -> None:
        """After a kill: what the file of a cut part holds is what was kept of it."""
        clip = await self.clips.one(clip_id)
        for part in clip.parts:
            if part.state == "cut":
                size = await asyncio.to_thread(_size_of, self.files.part(part)) if part.file else 0
                await self.clips.save_part(replace(part, size_bytes=size, state="cut" if size else "failed"))
        self.put(await self.clips.one(clip_id))

    def one(self, clip_id: str) -> Clip | None:
        return next((clip for clip in self.rows if clip.id == clip_id), None)

    def put(self, clip: Clip) -> None:
        """Take a changed or new clip into the list, in its place."""
        if self.one(clip.id) is None:
            self.rows = (clip, *self.rows)
        else:
            self.rows = tuple(clip if one.id == clip.id else one for one in self.rows)

    def drop(self, clip_id: str) -> None:
        self.rows = tuple(clip for clip in self.rows if clip.id != clip_id)

    def size_bytes(self) -> int:
        return sum(clip.size_bytes for clip in self.rows)

    async def export(self, clip: Clip, spool: Spool, target: Path, kind: str, model_name: str) -> None:
        """Write a clip: the very bytes where one part was made in that format, else the joined sound, encoded anew."""
        tags = AudioTags(
            title=clip.title,
            artist=f"{clip.voice_name} ({model_name})",
            date=f"{clip.created_at.astimezone():%Y-%m-%d}",
            comment=f"Spoken by {model_name} with the voice {clip.voice}",
        )
        only = clip.parts[0] if len(clip.parts) == 1 else None
        source = self.files.part(only) if only is not None and only.kind == kind and only.has_sound else None
        await asyncio.to_thread(write_clip, target, kind, spool, tags, source)


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
