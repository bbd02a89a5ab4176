"""Prompts and presets of chats: used on the open chat, and made of it. QtCore only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.core.blanks import CLIPBOARD, DATE, Blank, blanks_in, with_blanks_filled
from app.core.preset_library import PresetLibrary
from app.storage.form_drafts import FormDraftStore
from app.storage.presets import Kind, Preset, Presets
from app.translation import tr
from app.ui.chat.session.chat_options import ChatOptions
from app.ui.chat.state import CharacterHead

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.core.undo import UndoStack
    from app.ui.chat.session.open_chat import OpenChat


class ChatPresets(PresetLibrary):
    """The library as the chat tab uses it."""

    def __init__(
        self,
        opened: OpenChat,
        run: Callable[..., None],
        undo_stack: UndoStack,
        use_options: Callable[[ChatOptions], None],
        use_model: Callable[[str], None],
        use_character: Callable[[CharacterHead | None], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__("chat", run, undo_stack, parent)
        self._open = opened
        self._use_options = use_options
        self._use_model = use_model
        self._use_character = use_character
        self._filled: FormDraftStore | None = None  # by blank: what was filled in last

    async def start(self, presets: Presets) -> None:
        await super().start(presets)
        self._filled = FormDraftStore(presets.database, "prompts")

    def blanks_of(self, preset_id: str) -> tuple[Blank, ...]:
        """What has to be filled in before a prompt can be used."""
        preset = self.one(preset_id)
        return blanks_in(_prompt_of(preset)) if preset is not None and preset.kind == "prompt" else ()

    async def values_of(self, blanks: Sequence[Blank], clipboard: str, today: str) -> dict[str, str]:
        """What blanks begin with: today, what was copied, and what was filled in last. Raises `StorageError`."""
        kept = await self._filled.read() if self._filled is not None else {}
        known = {name: text for name, text in kept.items() if isinstance(text, str)}
        known |= {DATE: today, CLIPBOARD: clipboard}
        return {blank.name: known[blank.name] for blank in blanks if blank.name in known}

    async def use_filled(self, preset_id: str, values: Mapping[str, str]) -> None:
        """Take a prompt with its blanks filled in, and remember what was typed, but for a private chat."""
        preset = self.one(preset_id)
        if preset is None:
            return
        text = with_blanks_filled(_prompt_of(preset), values)
        self._use_options(self._open.options._replace(system_prompt=text))
        if self._filled is not None and not self._open.private:
            await self._filled.save({name: text for name, text in values.items() if name not in (DATE, CLIPBOARD)})

    def using_model(self, model_id: str) -> tuple[str, ...]:
        """The presets that set this model."""
        return tuple(row.id for row in self.rows("preset") if (self.body_of(row.id) or {}).get("model") == model_id)

    async def set_model(self, preset_ids: Sequence[str], model_id: str) -> None:
        """Let presets set another model; those that are gone are left out. Raises `StorageError`."""
        for preset_id in preset_ids:
            await self.change_body(preset_id, model=model_id)

    def use(self, preset_id: str) -> None:
        """Take a prompt or a preset into the open chat."""
        preset = self.one(preset_id)
        if preset is None:
            return
        if preset.kind == "prompt":
            self._use_options(self._open.options._replace(system_prompt=_prompt_of(preset)))
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

    def parameters(self) -> list[tuple[str, dict[str, Any]]]:
        """The names of presets, and the options that each would set."""
        found = [(each.name, each.body.get("options")) for each in self._all if each.kind == "preset"]
        return [(name, options if isinstance(options, dict) else {}) for name, options in found]

    def save(self, kind: Kind, name: str) -> None:
        """Keep the open chat's prompt, or all that it asks for, under a name; the same name replaces."""
        self.keep(kind, name, self._body_of(kind))

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

    def detail_of(self, preset: Preset) -> str:
        return _words_of(preset) if preset.kind == "preset" else super().detail_of(preset)


def _prompt_of(preset: Preset) -> str:
    return str(preset.body.get("text") or "")


def _words_of(preset: Preset) -> str:
    """What a preset would set, in a few words."""
    stored = preset.body.get("options")
    options = ChatOptions.from_dict(stored if isinstance(stored, dict) else {})
    character = preset.body.get("character")
    parts = [str(preset.body.get("model") or "")]
    parts += [str(character.get("name") or character.get("slug"))] if isinstance(character, dict) else []
    parts += [tr("web {web_search}", web_search=options.web_search)] if options.web_search != "off" else []
    parts += (
        [tr("temperature {temperature}", temperature=f"{options.temperature:g}")]
        if options.temperature is not None
        else []
    )
    parts += [tr("no reasoning")] if not options.thinking else []
    parts += [tr("custom prompt")] if options.system_prompt.strip() else []
    return ", ".join(part for part in parts if part)


def _character_of(card: dict[str, Any]) -> CharacterHead:
    texts = {name: str(card.get(name) or "") for name in ("slug", "name", "description", "model_id")}
    return CharacterHead(texts["slug"], texts["name"] or texts["slug"], texts["description"], 0.0, 0, texts["model_id"])
