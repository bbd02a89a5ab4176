"""Which voices there are, which is in use, and how one sounds: the picker, favorites, samples and the shelf."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.decoding import holds_sound
from app.audio.formats import suffix_of
from app.core.model_lists import saved_models
from app.core.paid_call import paid_call
from app.service.models import Model
from app.service.pricing import speech_cost
from app.service.speech import SpeechRequest
from app.storage.atomic_files import write_atomically
from app.storage.voices import ClonedVoice, VoiceMark, Voices
from app.ui.speech.session.synthesis import not_sound
from app.ui.speech.voice_catalog import (
    USUAL_VOICE,
    Key,
    Voice,
    VoiceFilter,
    VoiceGroup,
    VoiceTable,
    grouped,
    marked,
    voices_of,
)

if TYPE_CHECKING:
    from app.core.leaving_models import LeavingModels
    from app.service.service import Service
    from app.storage.paid_call_intents import Intents
    from app.storage.service_cache import ServiceCache

SAMPLE_TEXTS = {
    "English": "The tide turns at noon, and the ferry leaves on time.",
    "Chinese": "潮水在中午转向，渡船准时出发。",
    "French": "La marée tourne à midi et le bac part à l’heure.",
    "Hindi": "दोपहर में ज्वार बदलता है और नाव समय पर चलती है।",
    "Italian": "La marea cambia a mezzogiorno e il traghetto parte in orario.",
    "Japanese": "潮は正午に変わり、船は時間どおりに出ます。",
    "Korean": "정오에 물때가 바뀌고 배는 제시간에 떠납니다.",
    "German": "Um zwölf wechselt die Flut, und die Fähre fährt pünktlich ab.",
    "Portuguese": "A maré muda ao meio-dia e o barco sai na hora.",
    "Spanish": "La marea cambia al mediodía y el barco sale a tiempo.",
}


class VoiceList:
    """The voices of the account in use, with what the person did with them. Plain; the presenter tells the page."""

    def __init__(self, table: VoiceTable, samples: Path) -> None:
        self._table = table
        self._samples = samples
        self.models: tuple[Model, ...] = table.models()
        self.is_offline = True  # the names are the bundled ones
        self.marks: dict[Key, VoiceMark] = {}
        self.account_id = ""  # of the account in use
        self.has_account: Callable[[str], bool] = lambda _account_id: True  # whether it was not removed
        self.cloned: tuple[ClonedVoice, ...] = ()  # of every account
        self.filter = VoiceFilter()
        self._listed: tuple[Voice, ...] | None = None  # those of the models, without marks
        self._all: tuple[Voice, ...] | None = None

    # -- what there is --------------------------------------------------------------------------------------------

    def model(self, model_id: str) -> Model | None:
        return next((model for model in self.models if model.id == model_id), None)

    def set_models(self, models: tuple[Model, ...]) -> None:
        """Take the service's own list; an empty one changes nothing."""
        speaking = tuple(model for model in models if model.model_spec.voices or model.type == "tts")
        if speaking:
            self._take(speaking, is_offline=False)

    def use_account(self, account_id: str) -> None:
        """Another account is in use: it has other models, and cloned voices of its own."""
        self.account_id = account_id
        self._take(self._table.models(), is_offline=True)

    def _take(self, models: tuple[Model, ...], *, is_offline: bool) -> None:
        self.models, self.is_offline, self._listed, self._all = models, is_offline, None, None

    async def load_saved(
        self, service_cache: ServiceCache | None, account_id: str, leaving: LeavingModels | None = None
    ) -> bool:
        """Take the list that this account was given last, so that prices are known with no network; False for none."""
        saved, _ = await saved_models(service_cache, account_id, "tts", leaving)
        if not saved or not self.is_offline:
            return False
        self.set_models(saved)
        self.is_offline = True
        return True

    async def load(self, voices: Voices) -> None:
        """Read marks and the shelf. Raises `StorageError`."""
        self.marks, self.cloned, self._all = await voices.marks(), await voices.cloned(), None

    def all(self) -> tuple[Voice, ...]:
        if self._listed is None:
            self._listed = voices_of(self.models, self._table)
        if self._all is None:
            own = tuple(self._own(one) for one in self.own() if not one.has_expired(datetime.now(UTC)))
            self._all = tuple(self._marked(voice) for voice in (*own, *self._listed))
        return self._all

    def own(self) -> tuple[ClonedVoice, ...]:
        """The cloned voices of the account in use, newest first: the service knows them under no other one.

        With them those of removed accounts, as if they had never been made: their samples can be cloned again.
        """
        return tuple(
            one if one.account_id == self.account_id else replace(one, handle="", cloned_at=None, expires_at=None)
            for one in self.cloned
            if one.account_id == self.account_id or not self.has_account(one.account_id)
        )

    def last_listed(self) -> Key:
        """The listed voice that spoke last, ("", "") for none: what is spoken with once a cloned voice is gone."""
        used = [voice for voice in self.all() if not voice.own_id and voice.used_at is not None]
        return max(used, key=lambda voice: str(voice.used_at)).key if used else ("", "")

    def _own(self, one: ClonedVoice) -> Voice:
        model = self.model(one.model)
        name = model.name if model is not None else one.model
        return Voice(one.model, name, one.handle, one.name, own_id=one.id)

    def _marked(self, voice: Voice) -> Voice:
        mark = self.marks.get(voice.key)
        if mark is None:
            return voice
        return marked(voice, favourite=mark.favourite, used_at=mark.used_at, sample=mark.sample)

    def find(self, model_id: str, voice_id: str) -> Voice | None:
        return next((voice for voice in self.all() if voice.key == (model_id, voice_id)), None)

    def default_voice(self, model: Model) -> str:
        """What a model speaks with unasked. The bundled names do not say, and a service need not."""
        spec = model.model_spec
        return spec.default_voice or (USUAL_VOICE if USUAL_VOICE in spec.voices else next(iter(spec.voices), ""))

    def groups(self, current_model: str) -> tuple[VoiceGroup, ...]:
        return grouped(self.all(), self.filter, current_model)

    # -- favorites and use ---------------------------------------------------------------------------------------

    def mark(self, key: Key, **changes: object) -> None:
        """Change what is known of a voice, here; the caller writes it down."""
        before = self.marks.get(key) or VoiceMark(*key)
        self.marks[key] = replace(before, **changes)  # type: ignore[arg-type]  # the callers name its fields
        self._all = None

    def set_cloned(self, cloned: tuple[ClonedVoice, ...]) -> None:
        self.cloned, self._all = cloned, None

    # -- samples --------------------------------------------------------------------------------------------------

    def sample_text(self, voice: Voice) -> str:
        return SAMPLE_TEXTS.get(voice.language.split(" (")[0], SAMPLE_TEXTS["English"])

    def sample_price(self, voice: Voice) -> Decimal | None:
        """What listening costs, once; 0 when the sample is here."""
        if voice.sample:
            return Decimal(0)
        model = self.model(voice.model)
        return speech_cost(model.model_spec.pricing, len(self.sample_text(voice))) if model is not None else None

    def sample_path(self, voice: Voice) -> Path | None:
        return self._samples / voice.sample if voice.sample else None

    async def fetch_sample(
        self, voice: Voice, service: Service, intents: Intents, voices: Voices, account_id: str
    ) -> Path:
        """Ask for a sample and keep it for good. Raises `ServiceError` and `StorageError`."""
        model = self.model(voice.model)
        pricing = model.model_spec.pricing if model is not None else None
        request = SpeechRequest(self.sample_text(voice), voice.model, voice.id)
        async with paid_call(intents, "speech", account_id, {"sample": True, **request.to_body()}) as paid:
            await paid.sent()
            sound = await service.speech.synthesize(request, price=lambda count: speech_cost(pricing, count))
            safe = "".join(char if char.isalnum() else "-" for char in f"{voice.model}-{voice.id}")[:120]
            name = f"{safe}{suffix_of(sound.format)}"
            path = self._samples / name
            await asyncio.to_thread(write_atomically, path, sound.data)
            if not await asyncio.to_thread(holds_sound, path, sound.format):
                await asyncio.to_thread(path.unlink)
                raise not_sound(sound.exchange)
            await voices.sampled(voice.model, voice.id, name)
            await paid.answered(name, sound.exchange.id)
        self.mark(voice.key, sample=name)
        return path
