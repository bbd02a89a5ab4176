"""Every voice that can be chosen: from the models the service lists, from the bundled table when it cannot be asked.

A voice is known by its model and its identifier together: `leo` of one model is not `leo` of another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from app.service.models import Model
from app.service.wire import read_model
from app.translation import tr
from app.ui.kit.lists.search_terms import SearchTerms

Key = tuple[str, str]  # model id, voice id

# The first letter of a Kokoro identifier is its language, the second f or m.
KOKORO = "tts-kokoro"
USUAL_VOICE = "af_sky"  # of Kokoro, and of nobody else
_KOKORO_LANGUAGES = {
    "a": tr("English (US)"),
    "b": tr("English (UK)"),
    "z": tr("Chinese"),
    "f": tr("French"),
    "h": tr("Hindi"),
    "i": tr("Italian"),
    "j": tr("Japanese"),
    "p": tr("Portuguese"),
    "e": tr("Spanish"),
}
_LANGUAGES = {
    "en-us": tr("English (US)"),
    "en": tr("English (UK)"),
    "cmn": tr("Chinese"),
    "fr": tr("French"),
    "hi": tr("Hindi"),
    "it": tr("Italian"),
    "ja": tr("Japanese"),
    "ko": tr("Korean"),
    "de": tr("German"),
    "pt-br": tr("Portuguese"),
    "es": tr("Spanish"),
}
_FEMALE_TIMBRES = frozenset({"f2", "f3", "f4", "f5", "linda", "steph", "anika"})
RECENT = 5
FAVORITES, USED, OWN = tr("Favorites"), tr("Recently used"), tr("My voices")


@dataclass(frozen=True, slots=True)
class Voice:
    """One voice of one model. `gender` is "F", "M" or "" when nobody says; `language` as people write it, or ""."""

    model: str
    model_name: str
    id: str
    name: str
    language: str = ""
    gender: str = ""
    favourite: bool = False
    used_at: datetime | None = None
    sample: str = ""  # the file of its sample, "" when it was never listened to
    own_id: str = ""  # for a cloned voice: its row on the shelf
    note: str = ""  # "expires in 3 days"

    @property
    def key(self) -> Key:
        return (self.model, self.id)


@dataclass(frozen=True, slots=True)
class VoiceFilter:
    """What of the voices is shown. `language` is "English" for both kinds, or "English (UK)"; "" is any."""

    text: str = ""
    model: str = ""
    language: str = ""
    gender: str = ""
    favourites: bool = False
    used: bool = False  # those that have spoken here

    @property
    def is_on(self) -> bool:
        return self != VoiceFilter()

    def lets(self, voice: Voice) -> bool:
        return (
            SearchTerms(self.text).are_in(voice.name, voice.id, voice.model_name, voice.language)
            and (not self.model or voice.model == self.model)
            and (
                not self.language or voice.language == self.language or voice.language.startswith(f"{self.language} (")
            )
            and (not self.gender or voice.gender == self.gender)
            and (not self.favourites or voice.favourite)
            and (not self.used or voice.used_at is not None)
        )


@dataclass(frozen=True, slots=True)
class VoiceGroup:
    title: str
    voices: tuple[Voice, ...]


class VoiceTable:
    """The bundled table: names when offline, and what identifiers alone do not say."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: Mapping[str, Mapping[str, Sequence[object]]] | None = None

    @property
    def rows(self) -> Mapping[str, Mapping[str, Sequence[object]]]:
        if self._rows is None:
            try:
                self._rows = json.loads(self._path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                self._rows = {}
        assert self._rows is not None
        return self._rows

    def models(self) -> tuple[Model, ...]:
        """Return a record of each bundled model, with its voices and nothing about prices."""
        return tuple(
            read_model(
                Model,
                {"id": model_id, "type": "tts", "model_spec": {"name": model_name(model_id), "voices": list(voices)}},
            )
            for model_id, voices in self.rows.items()
        )

    def facts(self, model_id: str, voice_id: str) -> tuple[str, str]:
        """Return language and gender, "" for what is not known."""
        if model_id == KOKORO and re.fullmatch(r"[a-z][fm]_.+", voice_id):
            return _KOKORO_LANGUAGES.get(voice_id[0], ""), voice_id[1].upper()
        row = self.rows.get(model_id, {}).get(voice_id)
        if not row or len(row) < 2:
            return "", ""
        return _LANGUAGES.get(str(row[0]), ""), "F" if row[1] in _FEMALE_TIMBRES else "M"


def model_name(model_id: str) -> str:
    """Return a name for a model that only its id is known of: "Kokoro", "Qwen3 0 6b"."""
    return " ".join(word.capitalize() for word in model_id.removeprefix("tts-").split("-"))


def voice_name(model_id: str, voice_id: str) -> str:
    """Return how a voice is called: "Emma" for `bf_emma`, "Wise Woman" for `WiseWoman`."""
    plain = voice_id.split("_", 1)[1] if model_id == KOKORO and "_" in voice_id else voice_id
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).replace("_", " ")
    return words[:1].upper() + words[1:]


def voices_of(models: Iterable[Model], table: VoiceTable) -> tuple[Voice, ...]:
    """Return every voice of every speech model, in the service's order."""
    found = []
    for model in models:
        for voice_id in model.model_spec.voices:
            language, gender = table.facts(model.id, voice_id)
            name = voice_name(model.id, voice_id)
            found.append(Voice(model.id, model.name, voice_id, name, language, gender))
    return tuple(found)


def grouped(voices: Iterable[Voice], chosen: VoiceFilter, current_model: str) -> tuple[VoiceGroup, ...]:
    """Return what the filter lets through: favorites, used lately, one's own, then model by model, the current first.

    A voice stands in one group only.
    """
    shown = [voice for voice in voices if chosen.lets(voice)]
    groups: list[VoiceGroup] = []
    placed: set[Key] = set()

    def add(title: str, rows: Iterable[Voice]) -> None:
        fresh = tuple(row for row in rows if row.key not in placed)
        placed.update(row.key for row in fresh)
        if fresh:
            groups.append(VoiceGroup(title, fresh))

    add(OWN, (row for row in shown if row.own_id))
    add(FAVORITES, (row for row in shown if row.favourite))
    used = sorted((row for row in shown if row.used_at is not None), key=lambda row: str(row.used_at), reverse=True)
    add(USED, used if chosen.used else used[:RECENT])
    by_model: dict[str, list[Voice]] = {}
    for row in shown:
        by_model.setdefault(row.model, []).append(row)
    for model in sorted(by_model, key=lambda one: one != current_model):
        rows = by_model[model]
        title = (
            tr("{model_name}, current model", model_name=rows[0].model_name)
            if model == current_model
            else rows[0].model_name
        )
        add(title, rows)
    return tuple(groups)


def languages(voices: Iterable[Voice]) -> tuple[str, ...]:
    """Return what the language filter offers: "English" before "English (UK)", by name."""
    found: set[str] = set()
    for voice in voices:
        if voice.language:
            found.add(voice.language)
            found.add(voice.language.split(" (")[0])
    return tuple(sorted(found))


def marked(voice: Voice, *, favourite: bool, used_at: datetime | None, sample: str) -> Voice:
    return replace(voice, favourite=favourite, used_at=used_at, sample=sample)
