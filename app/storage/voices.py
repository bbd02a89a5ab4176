"""Cloned voices with their samples, and which voices were marked as favorites or used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.table import Table
from app.storage.values import micros_of
from app.translation import tr


@dataclass(frozen=True, slots=True)
class ClonedVoice:
    """A voice of one's own. `handle` is "" until the service gave one; it belongs to `model` and `account_id`."""

    id: str
    account_id: str
    model: str
    handle: str
    name: str
    sample: str  # a file name in the folder of samples
    sample_s: float
    consent_at: datetime
    created_at: datetime
    cloned_at: datetime | None = None
    used_at: datetime | None = None
    expires_at: datetime | None = None
    trashed_at: datetime | None = None

    def has_expired(self, now: datetime) -> bool:
        return not self.handle or (self.expires_at is not None and self.expires_at <= now)


@dataclass(frozen=True, slots=True)
class VoiceMark:
    """What a person did with one voice of one model. `sample` is a file name, "" when it was never listened to."""

    model: str
    voice: str
    favourite: bool = False
    used_at: datetime | None = None
    sample: str = ""


_CLONED = Table("cloned_voices", ClonedVoice, tr("This voice no longer exists."))
_MARKS = Table("voice_marks", VoiceMark)


class Voices:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- cloned ---------------------------------------------------------------------------------------------------

    async def add(
        self, *, account_id: str, model: str, name: str, sample: str, sample_s: float, id: str = ""
    ) -> ClonedVoice:
        """Keep a sample with its consent, before it is uploaded."""
        voice_id, now = id or new_id(), self._database.now()
        await _CLONED.insert(
            self._database,
            id=voice_id,
            account_id=account_id,
            model=model,
            name=name,
            sample=sample,
            sample_s=sample_s,
            consent_at=now,
            created_at=now,
        )
        return await self.one(voice_id)

    async def one(self, voice_id: str) -> ClonedVoice:
        return await _CLONED.one(self._database, voice_id)

    async def cloned(self, *, trashed: bool = False) -> tuple[ClonedVoice, ...]:
        """Return the shelf, newest first; or what of it is in the trash."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        return await _CLONED.select(self._database, f"WHERE {where} ORDER BY seq DESC")

    async def took(self, voice_id: str, account_id: str, handle: str, expires_at: datetime | None) -> ClonedVoice:
        """The service gave an account a handle: the voice is this account's from now on."""
        now = self._database.now()
        await _CLONED.change(
            self._database, voice_id, account_id=account_id, handle=handle, cloned_at=now, expires_at=expires_at
        )
        return await self.one(voice_id)

    async def rename(self, voice_id: str, name: str) -> ClonedVoice:
        await _CLONED.change(self._database, voice_id, name=name)
        return await self.one(voice_id)

    async def trash(self, voice_id: str, trashed: bool = True) -> ClonedVoice:
        await _CLONED.change(self._database, voice_id, trashed_at=self._database.now() if trashed else None)
        return await self.one(voice_id)

    async def remove(self, voice_id: str) -> None:
        """Delete a voice for good; its sample is the caller's."""
        await self._database.execute("DELETE FROM cloned_voices WHERE id = ?", [voice_id])

    # -- marks ----------------------------------------------------------------------------------------------------

    async def marks(self) -> dict[tuple[str, str], VoiceMark]:
        """Return what is known by (model, voice)."""
        return {(mark.model, mark.voice): mark for mark in await _MARKS.select(self._database)}

    async def set_favorite(self, model: str, voice: str, favourite: bool) -> None:
        await self._mark(model, voice, "favourite", int(favourite))

    async def used(self, model: str, voice: str) -> None:
        """Note that a voice spoke just now; one of our own is kept alive by it as well."""
        now = micros_of(self._database.now())
        await self._mark(model, voice, "used_at", now)
        await self._database.execute("UPDATE cloned_voices SET used_at = ? WHERE handle = ?", [now, voice])

    async def sampled(self, model: str, voice: str, sample: str) -> None:
        """Note the file of a voice's sample: it is paid for once."""
        await self._mark(model, voice, "sample", sample)

    async def _mark(self, model: str, voice: str, column: str, value: object) -> None:
        await self._database.execute(
            f"INSERT INTO voice_marks (model, voice, {column}) VALUES (?, ?, ?)"
            f" ON CONFLICT (model, voice) DO UPDATE SET {column} = excluded.{column}",
            [model, voice, value],
        )
