"""Cloned voices with their samples, and which voices were marked as favorites or used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.storage.conversations import new_id
from app.storage.database import Database, Row
from app.storage.errors import NotStored
from app.storage.values import micros_of, moment_of, moment_or_none, read_text, seconds_of, text_of

_CLONE = (
    "id, account_id, model, handle, name, sample, sample_s, consent_at, created_at, cloned_at, used_at, expires_at,"
    " trashed_at"
)


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


class Voices:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- cloned ---------------------------------------------------------------------------------------------------

    async def add(
        self, *, account_id: str, model: str, name: str, sample: str, sample_s: float, id: str = ""
    ) -> ClonedVoice:
        """Keep a sample with its consent, before it is uploaded."""
        voice_id, now = id or new_id(), micros_of(self._database.now())
        await self._database.execute(
            "INSERT INTO cloned_voices (id, account_id, model, name, sample, sample_s, consent_at, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [voice_id, account_id, model, text_of(name), sample, sample_s, now, now],
        )
        return await self.one(voice_id)

    async def one(self, voice_id: str) -> ClonedVoice:
        row = await self._database.fetch_one(f"SELECT {_CLONE} FROM cloned_voices WHERE id = ?", [voice_id])
        if row is None:
            raise NotStored("This voice is no longer there.")
        return _clone_from_row(row)

    async def cloned(self, *, trashed: bool = False) -> tuple[ClonedVoice, ...]:
        """Return the shelf, newest first; or what of it is in the trash."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        rows = await self._database.fetch(f"SELECT {_CLONE} FROM cloned_voices WHERE {where} ORDER BY seq DESC")
        return tuple(map(_clone_from_row, rows))

    async def took(self, voice_id: str, account_id: str, handle: str, expires_at: datetime | None) -> ClonedVoice:
        """The service gave an account a handle: the voice is this account's from now on."""
        now = micros_of(self._database.now())
        await self._database.execute(
            "UPDATE cloned_voices SET account_id = ?, handle = ?, cloned_at = ?, expires_at = ? WHERE id = ?",
            [account_id, text_of(handle), now, None if expires_at is None else micros_of(expires_at), voice_id],
        )
        return await self.one(voice_id)

    async def rename(self, voice_id: str, name: str) -> ClonedVoice:
        await self._database.execute("UPDATE cloned_voices SET name = ? WHERE id = ?", [text_of(name), voice_id])
        return await self.one(voice_id)

    async def trash(self, voice_id: str, trashed: bool = True) -> ClonedVoice:
        moment = micros_of(self._database.now()) if trashed else None
        await self._database.execute("UPDATE cloned_voices SET trashed_at = ? WHERE id = ?", [moment, voice_id])
        return await self.one(voice_id)

    async def remove(self, voice_id: str) -> None:
        """Delete a voice for good; its sample is the caller's."""
        await self._database.execute("DELETE FROM cloned_voices WHERE id = ?", [voice_id])

    # -- marks ----------------------------------------------------------------------------------------------------

    async def marks(self) -> dict[tuple[str, str], VoiceMark]:
        """Return what is known by (model, voice)."""
        rows = await self._database.fetch("SELECT model, voice, favourite, used_at, sample FROM voice_marks")
        return {
            (str(row[0]), str(row[1])): VoiceMark(
                str(row[0]), str(row[1]), bool(row[2]), moment_or_none(row[3]), read_text(row[4])
            )
            for row in rows
        }

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


def _clone_from_row(row: Row) -> ClonedVoice:
    return ClonedVoice(
        id=str(row[0]),
        account_id=read_text(row[1]),
        model=read_text(row[2]),
        handle=read_text(row[3]),
        name=read_text(row[4]),
        sample=read_text(row[5]),
        sample_s=seconds_of(row[6]) or 0.0,
        consent_at=moment_of(row[7]),
        created_at=moment_of(row[8]),
        cloned_at=moment_or_none(row[9]),
        used_at=moment_or_none(row[10]),
        expires_at=moment_or_none(row[11]),
        trashed_at=moment_or_none(row[12]),
    )
