"""What is kept under names: saved, renamed, removed, carried in files. QtCore only.

Each tab that has such a library makes one for itself; they share the table, so each reads it anew before it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.file_saving import SavedFile
from app.core.trash import TrashEntry, TrashKind, moved_text
from app.core.undo import UndoCommand
from app.files import TooLarge, read_regular
from app.storage.atomic_files import write_atomically
from app.storage.errors import StorageError
from app.storage.presets import Kind, NotPresets, Preset, Presets, to_file
from app.translation import tr

if TYPE_CHECKING:
    from app.core.undo import UndoStack

MAX_FILE_BYTES = 5_000_000
MAX_DETAIL_CHARS = 160
_KIND_WORDS = {"prompt": tr("Prompt"), "preset": tr("Preset"), "scene": tr("Image and video prompt")}


@dataclass(frozen=True, slots=True)
class PresetRow:
    """One row of the library: its name, and what it would set in a few words."""

    id: str
    kind: Kind
    name: str
    detail: str


class PresetLibrary(QObject):
    """`changed` carries every row, `notice` a sentence for a toast."""

    changed = Signal(object)  # tuple[PresetRow, ...]
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(
        self, tab: str, run: Callable[..., None], undo_stack: UndoStack, parent: QObject | None = None
    ) -> None:
        """`run` starts work that belongs to the tab: a coroutine function and its arguments."""
        super().__init__(parent)
        self._tab = tab
        self._run = run
        self._undo_stack = undo_stack
        self._presets: Presets | None = None
        self._all: tuple[Preset, ...] = ()

    async def start(self, presets: Presets) -> None:
        self._presets = presets
        await self._reread()

    def refresh(self) -> None:
        """Read anew what another tab may have changed."""
        if self._presets is not None:
            self._run(self._reread)

    def rows(self, kind: Kind | None = None) -> tuple[PresetRow, ...]:
        """Everything by name, of one kind or of all."""
        return tuple(
            PresetRow(each.id, each.kind, each.name, self.detail_of(each))
            for each in self._all
            if kind is None or each.kind == kind
        )

    def one(self, preset_id: str) -> Preset | None:
        return next((each for each in self._all if each.id == preset_id), None)

    def body_of(self, preset_id: str) -> Mapping[str, Any] | None:
        preset = self.one(preset_id)
        return preset.body if preset is not None else None

    async def change_body(self, preset_id: str, **changes: Any) -> None:
        """Set values of one that is still there, under its own name. Raises `StorageError`."""
        preset = self.one(preset_id)
        if self._presets is not None and preset is not None:
            await self._presets.save(preset.kind, preset.name, {**preset.body, **changes})
            await self._reread()

    def detail_of(self, preset: Preset) -> str:
        """What it would set, in a few words."""
        return " ".join(str(preset.body.get("text") or "").split())[:MAX_DETAIL_CHARS]

    # Changing

    def keep(self, kind: Kind, name: str, body: Mapping[str, Any]) -> None:
        """Keep something under a name; the same name replaces."""
        self._run(self._keep, kind, name, dict(body))

    async def _keep(self, kind: Kind, name: str, body: dict[str, Any]) -> None:
        if self._presets is None:
            return
        await self._presets.save(kind, name, body)
        await self._reread()
        self.notice.emit(tr("Saved “{name}”", name=name))

    def rename(self, preset_id: str, name: str) -> None:
        self._run(self._rename, preset_id, name)

    async def _rename(self, preset_id: str, name: str) -> None:
        if self._presets is not None:
            try:
                await self._presets.rename(preset_id, name)
            except StorageError as error:
                self.notice.emit(error.sentence)
            await self._reread()

    def remove(self, preset_id: str) -> None:
        """Move one to the trash."""
        self._run(self._remove, preset_id)

    async def _remove(self, preset_id: str) -> None:
        preset = self.one(preset_id)
        if self._presets is None or preset is None:
            return
        await self._presets.trash(preset_id)
        await self._reread()
        text = moved_text((preset.name,), "presets")
        self._undo_stack.push(UndoCommand(self._tab, text, self._restore, (preset.id,)))

    def undo(self) -> None:
        """Undo what was done last in the tab."""
        self._undo_stack.undo_last(self._tab)

    async def _restore(self, ids: tuple[str, ...]) -> None:
        """Put presets back; nothing that has their name now is overwritten."""
        assert self._presets is not None
        for preset_id in ids:
            await self._presets.restore(preset_id)
        await self._reread()

    @property
    def trash_kind(self) -> TrashKind:
        """What was removed here and in the libraries of other tabs, for the trash of one of them."""
        return TrashKind(self._trashed, self._restore, self._delete)

    async def _trashed(self) -> list[TrashEntry]:
        now = datetime.now(UTC)
        found = await self._presets.trashed() if self._presets is not None else ()
        return [
            TrashEntry(preset.id, preset.name, f"{_KIND_WORDS[preset.kind]} · {time_format.when(moment, now)}", moment)
            for preset, moment in found
        ]

    async def _delete(self, ids: tuple[str, ...]) -> None:
        assert self._presets is not None
        for preset_id in ids:
            await self._presets.delete(preset_id)

    # Files

    def export(self, path: Path) -> None:
        """Write everything into a file: names and contents, no key and no chat."""
        self._run(self._export, path)

    async def _export(self, path: Path) -> None:
        import asyncio  # not before the window is painted

        text = json.dumps(to_file(self._all), ensure_ascii=False, indent=2)
        try:
            await asyncio.to_thread(write_atomically, path, text.encode(), 0o644)
        except StorageError as error:
            self.notice.emit(error.sentence)
        else:
            self.notice.emit(SavedFile(path))

    def import_file(self, path: Path) -> None:
        """Take the prompts and presets of a file in, beside what is there."""
        self._run(self._import_file, path)

    async def _import_file(self, path: Path) -> None:
        import asyncio  # not before the window is painted

        if self._presets is None:
            return
        try:
            body = await asyncio.to_thread(_read, path)
            count = await self._presets.add_all(body)
        except StorageError as error:
            self.notice.emit(error.sentence)
            return
        await self._reread()
        self.notice.emit(tr("Imported {count} from {name}", count=count, name=path.name))

    async def _reread(self) -> None:
        assert self._presets is not None
        self._all = await self._presets.all()
        self.changed.emit(self.rows())


def _read(path: Path) -> object:
    """Return what a file holds. Raises `NotPresets`."""
    try:
        return json.loads(read_regular(path, MAX_FILE_BYTES))
    except TooLarge:
        raise NotPresets(tr("This file is too large for prompts and presets.")) from None
    except (OSError, ValueError, RecursionError):
        raise NotPresets(tr("This file contains no Rialto prompts or presets.")) from None
