"""Prompts and presets: kept in the database, used on the open chat, carried in files. QtCore only."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.storage.errors import StorageError
from app.storage.files import write_atomically
from app.storage.presets import Kind, NotPresets, Preset, Presets, to_file
from app.ui.chat.options import ChatOptions
from app.ui.chat.state import CharacterHead

if TYPE_CHECKING:
    from app.ui.chat.presenter_open import OpenChat

MAX_FILE_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class PresetRow:
    """One row of the library: its name, and what it would set in a few words."""

    id: str
    kind: Kind
    name: str
    detail: str


class PresetShelf(QObject):
    """`changed` carries every row; `told` one sentence for a toast, with an undo for what was removed."""

    changed = Signal(object)  # tuple[PresetRow, ...]
    told = Signal(str, bool)  # sentence, whether it can be undone

    def __init__(
        self,
        opened: OpenChat,
        run: Callable[..., None],
        use_options: Callable[[ChatOptions], None],
        use_model: Callable[[str], None],
        use_character: Callable[[CharacterHead | None], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open = opened
        self._run = run
        self._use_options = use_options
        self._use_model = use_model
        self._use_character = use_character
        self._presets: Presets | None = None
        self._all: tuple[Preset, ...] = ()
        self._removed: Preset | None = None

    async def start(self, presets: Presets) -> None:
        self._presets = presets
        await self._reread()

    def rows(self, kind: Kind | None = None) -> tuple[PresetRow, ...]:
        """Everything by name, of one kind or of both."""
        return tuple(
            PresetRow(each.id, each.kind, each.name, detail_of(each))
            for each in self._all
            if kind is None or each.kind == kind
        )

    # Using

    def use(self, preset_id: str) -> None:
        """Take a prompt or a preset into the open chat."""
        preset = next((each for each in self._all if each.id == preset_id), None)
        if preset is None:
            return
        if preset.kind == "prompt":
            from dataclasses import replace

            self._use_options(replace(self._open.options, system_prompt=str(preset.body.get("text") or "")))
            return
        stored = preset.body.get("options")
        character = preset.body.get("character")
        if isinstance(character, dict) and isinstance(character.get("slug"), str):
            self._use_character(_character_of(character))
        elif self._open.character is not None:
            self._use_character(None)
        self._use_options(ChatOptions.from_dict(stored if isinstance(stored, dict) else {}))
        model = preset.body.get("model")
        if isinstance(model, str) and model:
            self._use_model(model)

    # Changing

    def save(self, kind: Kind, name: str) -> None:
        """Keep the open chat's prompt, or all that it asks for, under a name; the same name replaces."""
        self._run(self._save, kind, name)

    async def _save(self, kind: Kind, name: str) -> None:
        if self._presets is None:
            return
        await self._presets.save(kind, name, self._body_of(kind))
        await self._reread()
        self.told.emit(f"Saved “{name}”", False)

    def _body_of(self, kind: Kind) -> dict[str, Any]:
        opened = self._open
        if kind == "prompt":
            return {"text": opened.options.system_prompt}
        body: dict[str, Any] = {"model": opened.model_id, "options": opened.options.to_dict()}
        if opened.character is not None:
            card = opened.character
            body["character"] = {
                "slug": card.slug,
                "name": card.name,
                "description": card.description,
                "model_id": card.model_id,
            }
        return body

    def rename(self, preset_id: str, name: str) -> None:
        self._run(self._rename, preset_id, name)

    async def _rename(self, preset_id: str, name: str) -> None:
        if self._presets is not None:
            try:
                await self._presets.rename(preset_id, name)
            except StorageError as error:
                self.told.emit(error.sentence, False)
            await self._reread()

    def remove(self, preset_id: str) -> None:
        """Take one out of the library; `undo` brings it back."""
        self._run(self._remove, preset_id)

    async def _remove(self, preset_id: str) -> None:
        preset = next((each for each in self._all if each.id == preset_id), None)
        if self._presets is None or preset is None:
            return
        await self._presets.remove(preset_id)
        self._removed = preset
        await self._reread()
        self.told.emit(f"Removed “{preset.name}”", True)

    def undo(self) -> None:
        """Bring back what was removed last."""
        if self._removed is not None:
            preset, self._removed = self._removed, None
            self._run(self._bring_back, preset)

    async def _bring_back(self, preset: Preset) -> None:
        if self._presets is not None:
            await self._presets.save(preset.kind, preset.name, preset.body)
            await self._reread()

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
            self.told.emit(error.sentence, False)
        else:
            self.told.emit(f"Saved {path.name}", False)

    def take_file(self, path: Path) -> None:
        """Take the prompts and presets of a file in, beside what is there."""
        self._run(self._take_file, path)

    async def _take_file(self, path: Path) -> None:
        import asyncio  # not before the window is painted

        if self._presets is None:
            return
        try:
            body = await asyncio.to_thread(_read, path)
            count = await self._presets.add_all(body)
        except StorageError as error:
            self.told.emit(error.sentence, False)
            return
        await self._reread()
        self.told.emit(f"Took in {count} from {path.name}", False)

    async def _reread(self) -> None:
        assert self._presets is not None
        self._all = await self._presets.all()
        self.changed.emit(self.rows())


def detail_of(preset: Preset) -> str:
    """What it would set, in a few words."""
    if preset.kind == "prompt":
        return " ".join(str(preset.body.get("text") or "").split())[:160]
    stored = preset.body.get("options")
    options = ChatOptions.from_dict(stored if isinstance(stored, dict) else {})
    character = preset.body.get("character")
    parts = [str(preset.body.get("model") or "")]
    parts += [str(character.get("name") or character.get("slug"))] if isinstance(character, dict) else []
    parts += [f"web {options.web_search}"] if options.web_search != "off" else []
    parts += [f"temperature {options.temperature:g}"] if options.temperature is not None else []
    parts += ["no thinking"] if not options.thinking else []
    parts += ["own prompt"] if options.system_prompt.strip() else []
    return ", ".join(part for part in parts if part)


def _character_of(card: dict[str, Any]) -> CharacterHead:
    texts = {name: str(card.get(name) or "") for name in ("slug", "name", "description", "model_id")}
    return CharacterHead(texts["slug"], texts["name"] or texts["slug"], texts["description"], 0.0, 0, texts["model_id"])


def _read(path: Path) -> object:
    """Return what a file holds. Raises `NotPresets`."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise NotPresets("This file is too large for prompts and presets.")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise NotPresets("This file holds no prompts or presets of Rialto.") from None
