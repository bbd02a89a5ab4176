"""How each voice of each model sounds here, and which languages each model's hint may name."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from app.sandbox.media.speech_engine import Delivery

# ISO 639-1 -> (English name, espeak-ng's name). A hint that is not here is ignored.
LANGUAGES = {
    "ar": ("Arabic", "ar"),
    "cs": ("Czech", "cs"),
    "da": ("Danish", "da"),
    "de": ("German", "de"),
    "el": ("Greek", "el"),
    "en": ("English", "en-us"),
    "es": ("Spanish", "es"),
    "fi": ("Finnish", "fi"),
    "fr": ("French", "fr"),
    "hi": ("Hindi", "hi"),
    "hu": ("Hungarian", "hu"),
    "it": ("Italian", "it"),
    "ja": ("Japanese", "ja"),
    "ko": ("Korean", "ko"),
    "nl": ("Dutch", "nl"),
    "pl": ("Polish", "pl"),
    "pt": ("Portuguese", "pt-br"),
    "ro": ("Romanian", "ro"),
    "ru": ("Russian", "ru"),
    "sv": ("Swedish", "sv"),
    "tr": ("Turkish", "tr"),
    "uk": ("Ukrainian", "uk"),
    "vi": ("Vietnamese", "vi"),
    "zh": ("Chinese", "cmn"),
}


@dataclass(frozen=True, slots=True)
class ModelSpeechRules:
    """What one model does with the parameters of a request. `hint`: the form of its language hint, or ""."""

    rate_hz: int = 24_000
    slowest: float = 1.0  # the range of `speed` it honors; 1 to 1: ignored
    fastest: float = 1.0
    hint: str = ""  # "names" (English), "codes" (en) or "locales" (English (US))


MANNERS = {
    "tts-kokoro": ModelSpeechRules(slowest=0.25, fastest=4.0),
    "tts-qwen3-0-6b": ModelSpeechRules(hint="names"),
    "tts-qwen3-1-7b": ModelSpeechRules(hint="names"),
    "tts-xai-v1": ModelSpeechRules(slowest=0.7, fastest=1.5, hint="codes"),
    "tts-elevenlabs-turbo-v2-5": ModelSpeechRules(slowest=0.7, fastest=1.2, hint="codes"),
    "tts-minimax-speech-02-hd": ModelSpeechRules(slowest=0.5, fastest=2.0, hint="names"),
    "tts-gemini-3-1-flash": ModelSpeechRules(hint="locales"),
    "tts-gradium-v1": ModelSpeechRules(rate_hz=48_000),
}


def manner(model_id: str) -> ModelSpeechRules:
    return MANNERS.get(model_id, ModelSpeechRules())


@cache
def _table(path: Path) -> dict[str, dict[str, list[object]]]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def delivery(data: Path, model_id: str, voice: str) -> Delivery:
    """Return how a listed voice sounds. `data` is the folder with voices.json."""
    language, variant, pitch, words_per_minute = _table(data / "voices.json")[model_id][voice]
    return Delivery(str(language), str(variant), int(str(pitch)), float(str(words_per_minute)))


def in_language(base: Delivery, model_id: str, hint: str | None) -> Delivery:
    """Return the delivery in the hinted language; unchanged when the model knows no such hint."""
    form = manner(model_id).hint
    if not hint or not form:
        return base
    wanted = hint.partition("(")[0].strip() if form == "locales" else hint
    for code, (name, spoken) in LANGUAGES.items():
        if wanted == (code if form == "codes" else name):
            british = form == "locales" and "(UK)" in hint
            return replace(base, language="en" if british and code == "en" else spoken)
    return base


_STYLES = (
    # words of a style prompt -> change of pitch, of words per minute, of liveliness
    (("whisper", "soft", "quiet", "calm", "gentle", "relaxed"), -4, -22, -15),
    (("slow", "patient", "solemn", "sad", "tired"), -6, -35, -15),
    (("fast", "quick", "hurried", "urgent", "breathless"), 3, 45, 5),
    (("happy", "excited", "cheerful", "energetic", "joyful", "lively"), 10, 18, 30),
    (("angry", "firm", "stern"), -5, 14, 20),
    (("deep", "low", "dark"), -16, -6, 0),
    (("high", "bright", "childlike"), 16, 6, 10),
    (("monotone", "flat", "robotic"), 0, 0, -50),
)


def in_style(base: Delivery, prompt: str) -> Delivery:
    """Return the delivery that a style prompt asks for, as far as single words of it are known."""
    words = prompt.lower()
    pitch, rate, liveliness = base.pitch, base.words_per_minute, base.liveliness
    for signs, higher, quicker, livelier in _STYLES:
        if any(sign in words for sign in signs):
            pitch, rate, liveliness = pitch + higher, rate + quicker, liveliness + livelier
    variant = "whisper" if "whisper" in words else base.variant
    return replace(
        base,
        variant=variant,
        pitch=min(max(pitch, 0), 99),
        words_per_minute=max(rate, 60.0),
        liveliness=min(max(liveliness, 0), 99),
    )
