"""System prompts, presets and scenes that the person named, and the file in which they travel to another computer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.errors import NotStored, StorageError
from app.storage.values import json_text, micros_of, moment_of, object_of, read_text, text_of
from app.translation import tr

Kind = Literal["prompt", "preset", "scene"]
KINDS: tuple[Kind, ...] = ("prompt", "preset", "scene")
TRASHED = "trashed "  # before the kind of what is in the trash
FORMAT, VERSION = "rialto-presets", 1
MAX_NAME_CHARS = 80
MAX_IMPORTED = 500


class NotPresets(StorageError):
    pass


class NameTaken(StorageError):
    pass


@dataclass(frozen=True, slots=True)
class Preset:
    """A prompt's body is `{"text": …}`, and so is a scene's: what an image or a video is made from.

    A preset's has `model`, `character` and `options`.
    """

    id: str
    kind: Kind
    name: str
    body: dict[str, Any] = field(default_factory=dict)


class Presets:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def database(self) -> Database:
        """For what is remembered beside them."""
        return self._database

    async def all(self) -> tuple[Preset, ...]:
        """Return everything by kind and name."""
        rows = await self._database.fetch("SELECT id, kind, name, body FROM presets ORDER BY kind, name COLLATE NOCASE")
        return tuple(
            Preset(str(row[0]), row[1], read_text(row[2]), object_of(row[3])) for row in rows if row[1] in KINDS
        )

    async def save(self, kind: Kind, name: str, body: Mapping[str, Any]) -> str:
        """Keep `body` under a name, in the place of what had that name before; return its id."""
        name = clean_name(name)
        now = micros_of(self._database.now())
        await self._database.execute(
            "INSERT INTO presets (id, kind, name, body, changed_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at",
            [new_id(), kind, name, json_text(body), now],
        )
        row = await self._database.fetch_one("SELECT id FROM presets WHERE kind = ? AND name = ?", [kind, name])
        return str(row[0]) if row is not None else ""

    async def rename(self, preset_id: str, name: str) -> None:
        """Raises `NameTaken` when another one of the kind is called that."""
        name = clean_name(name)
        taken = await self._database.fetch_one(
            "SELECT 1 FROM presets WHERE name = ? AND id <> ? AND kind = (SELECT kind FROM presets WHERE id = ?)",
            [name, preset_id, preset_id],
        )
        if taken is not None:
            raise NameTaken(tr("There is already a preset called “{name}”.", name=name))
        changed = await self._database.execute("UPDATE presets SET name = ? WHERE id = ?", [name, preset_id])
        if not changed:
            raise NotStored(tr("This preset no longer exists."))

    # The trash: another kind, and the id before the name, which leaves the name to others.

    async def trash(self, preset_id: str) -> None:
        await self._database.execute(
            "UPDATE presets SET kind = ? || kind, name = id || ':' || name, changed_at = ?"
            " WHERE id = ? AND kind IN (?, ?, ?)",
            [TRASHED, micros_of(self._database.now()), preset_id, *KINDS],
        )

    async def trashed(self) -> tuple[tuple[Preset, datetime], ...]:
        """Return what is in the trash and since when."""
        rows = await self._database.fetch(
            "SELECT id, kind, name, body, changed_at FROM presets WHERE substr(kind, 1, ?) = ?", [len(TRASHED), TRASHED]
        )
        return tuple(
            (
                Preset(str(row[0]), kind, read_text(row[2]).partition(":")[2], object_of(row[3])),
                moment_of(row[4]),
            )
            for row in rows
            if (kind := read_text(row[1]).removeprefix(TRASHED)) in KINDS
        )

    async def restore(self, preset_id: str) -> None:
        """Put it back under its name; with a number behind it where that was given away meanwhile."""
        preset = next((each for each, _ in await self.trashed() if each.id == preset_id), None)
        if preset is None:
            return
        name = _free_name(preset.kind, preset.name, {(each.kind, each.name) for each in await self.all()})
        await self._database.execute(
            "UPDATE presets SET kind = ?, name = ? WHERE id = ?", [preset.kind, name, preset_id]
        )

    async def delete(self, preset_id: str) -> None:
        """Delete it for good."""
        await self._database.execute("DELETE FROM presets WHERE id = ?", [preset_id])

    async def add_all(self, body: object) -> int:
        """Keep what a file holds (decoded JSON) and return how many that were; a taken name gets a number.

        All of it is kept or none. Raises `NotPresets`.
        """
        entries = read_file(body)
        known = {(preset.kind, preset.name) for preset in await self.all()}
        now = micros_of(self._database.now())
        rows = []
        for kind, name, content in entries:
            free = _free_name(kind, name, known)
            known.add((kind, free))
            rows.append([new_id(), kind, free, json_text(content), now])
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "INSERT INTO presets (id, kind, name, body, changed_at) VALUES (?, ?, ?, ?, ?)", rows
            )
        return len(rows)


def _free_name(kind: Kind, name: str, known: Collection[tuple[Kind, str]]) -> str:
    """Return the name, numbered when another one of the kind is called that."""
    free, number = name, 2
    while (kind, free) in known:
        free, number = f"{name[: MAX_NAME_CHARS - 5]} {number}", number + 1
    return free


def to_file(presets: tuple[Preset, ...]) -> dict[str, Any]:
    """Return what is written into a file: names and contents, nothing of this computer and no secret."""
    entries = [{"kind": each.kind, "name": each.name, "body": each.body} for each in presets]
    return {"format": FORMAT, "version": VERSION, "presets": entries}


def read_file(body: object) -> list[tuple[Kind, str, dict[str, Any]]]:
    """Return kind, name and content of every entry that can be used. Raises `NotPresets` when there is none."""
    entries = body.get("presets") if isinstance(body, Mapping) and body.get("format") == FORMAT else None
    if not isinstance(entries, list):
        raise NotPresets(tr("This file contains no Rialto prompts or presets."))
    found: list[tuple[Kind, str, dict[str, Any]]] = []
    for entry in entries[:MAX_IMPORTED]:
        kind = entry.get("kind") if isinstance(entry, Mapping) else None
        content = entry.get("body") if isinstance(entry, Mapping) else None
        if kind in KINDS and isinstance(content, Mapping) and text_of(entry.get("name")).strip():
            found.append((kind, clean_name(text_of(entry["name"])), dict(content)))
    if not found:
        raise NotPresets(tr("This file contains no Rialto prompts or presets."))
    return found


def clean_name(name: str) -> str:
    """Return the name on one line and not too long; "Untitled" for an empty one."""
    return " ".join(text_of(name).split())[:MAX_NAME_CHARS] or tr("Untitled")
