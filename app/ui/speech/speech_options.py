"""The options of a voice, and which of them a model supports; ignored ones stay visible with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from app.core.extra_json import parse_extra_json, write_extra_json
from app.service.models import Model
from app.service.speech import FORMATS, LANGUAGE_CHARS, MAX_STYLE_CHARS, SPEEDS, SpeechTraits, traits_of
from app.translation import listed, tr

LANGUAGE_NAMES: Mapping[str, str] = {
    "ar": tr("Arabic"),
    "cs": tr("Czech"),
    "da": tr("Danish"),
    "de": tr("German"),
    "el": tr("Greek"),
    "en": tr("English"),
    "es": tr("Spanish"),
    "fi": tr("Finnish"),
    "fr": tr("French"),
    "hi": tr("Hindi"),
    "hu": tr("Hungarian"),
    "it": tr("Italian"),
    "ja": tr("Japanese"),
    "ko": tr("Korean"),
    "nl": tr("Dutch"),
    "pl": tr("Polish"),
    "pt": tr("Portuguese"),
    "ro": tr("Romanian"),
    "ru": tr("Russian"),
    "sv": tr("Swedish"),
    "tr": tr("Turkish"),
    "uk": tr("Ukrainian"),
    "vi": tr("Vietnamese"),
    "zh": tr("Chinese"),
}
OWN_FIELDS: Mapping[str, str] = {  # wire names that extra JSON cannot set, with the field that does
    "model": tr("Model"),
    "voice": tr("Voice"),
    "input": tr("Text"),
    "prompt": tr("Style prompt"),
    "speed": tr("Speed"),
    "temperature": tr("Temperature"),
    "top_p": tr("Top-p"),
    "language": tr("Language"),
    "response_format": tr("Format"),
    "streaming": tr("Stream"),
}
FORMAT_TITLES: Mapping[str, str] = {"opus": "Opus"}  # the others are their names in capitals
_LOCALES = (tr("English (US)"), tr("English (UK)"))


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """What the person set. None leaves it to the model; `language` is a code of `LANGUAGE_NAMES`, "" to detect."""

    style: str = ""
    speed: float = 1.0
    temperature: float | None = None
    top_p: float | None = None
    language: str = ""
    format: str = ""  # "" is the model's own
    stream: bool = True
    extra_json: str = ""  # further parameters as typed, an object

    def to_json(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


def speech_options_from(value: object) -> SpeechOptions:
    """Return the knobs that were saved; anything odd in them is as if it were not there."""
    if not isinstance(value, Mapping):
        return SpeechOptions()
    language, written = str(value.get("language") or ""), str(value.get("format") or "")
    return SpeechOptions(
        style=str(value.get("style") or "")[:MAX_STYLE_CHARS],
        speed=_number(value.get("speed"), SPEEDS) or 1.0,
        temperature=_number(value.get("temperature"), (0.0, 2.0)),
        top_p=_number(value.get("top_p"), (0.0, 1.0)),
        language=language if language in LANGUAGE_NAMES else "",
        format=written if written in FORMATS else "",
        stream=value.get("stream") is not False,
        extra_json=str(value.get("extra_json") or ""),
    )


def _number(value: object, bounds: tuple[float, float]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if bounds[0] <= value <= bounds[1] else None


@dataclass(frozen=True, slots=True)
class SpeechOptionsView:
    """How the knobs look for one model. A sentence says why a knob is off; "" means that it works."""

    speech_options: SpeechOptions
    formats: tuple[str, ...]
    default_format: str
    speeds: tuple[float, float]
    no_style: str = ""
    no_speed: str = ""
    no_temperature: str = ""
    no_top_p: str = ""
    no_language: str = ""
    speed_note: str = ""
    ignored: str = ""  # all of the above in one sentence

    @property
    def format(self) -> str:
        """What is asked for."""
        return self.speech_options.format if self.speech_options.format in self.formats else self.default_format


def formats_of(model: Model | None) -> tuple[tuple[str, ...], str]:
    """Return what a model writes, and what it writes unasked."""
    if model is None or not model.model_spec.supported_formats:
        return ("mp3", "wav") if model is None else ("mp3",), "mp3"
    offered = tuple(name for name in model.model_spec.supported_formats if name in FORMATS)
    default = model.model_spec.default_format
    return offered or ("mp3",), default if default in offered else (offered or ("mp3",))[0]


def view_of(speech_options: SpeechOptions, model: Model | None) -> SpeechOptionsView:
    """Return what a model makes of the knobs (R-TTS-11, -17, -19)."""
    traits = traits_of(model) if model is not None else SpeechTraits()
    name = model.name if model is not None else tr("This model")
    formats, default = formats_of(model)
    speeds = traits.speeds or (1.0, 1.0)
    low, high = speeds

    def off(works: bool, what: str) -> str:
        return "" if works else tr("{name} does not use {what}, so it is not sent.", name=name, what=what)

    reasons = {
        tr("style prompt"): off(traits.style, tr("a style prompt")),
        tr("speed"): off(traits.speeds is not None, tr("a speed")),
        tr("temperature"): off(traits.temperature, tr("temperature")),
        tr("top-p"): off(traits.top_p, tr("top-p")),
        tr("language"): off(traits.language_form != "none", tr("a language hint")),
    }
    no_style, no_speed, no_temperature, no_top_p, no_language = reasons.values()
    names = [title for title, reason in reasons.items() if reason]
    return SpeechOptionsView(
        speech_options=speech_options,
        formats=formats,
        default_format=default,
        speeds=SPEEDS,
        no_style=no_style,
        no_speed=no_speed,
        no_temperature=no_temperature,
        no_top_p=no_top_p,
        no_language=no_language,
        ignored=tr("{name} ignores {names}.", name=name, names=listed(names)) if names else "",
        speed_note=tr("{name} allows {low} to {high}.", name=name, low=f"{low:g}", high=f"{high:g}")
        if traits.speeds and traits.speeds != SPEEDS and not low <= speech_options.speed <= high
        else "",
    )


def language_choices(model: Model | None) -> tuple[tuple[str, str], ...]:
    """Return (code, name) pairs of the hints a model knows; the code is what `SpeechOptions.language` holds."""
    return tuple(sorted(LANGUAGE_NAMES.items(), key=lambda pair: pair[1]))


def sent_options(speech_options: SpeechOptions, model: Model | None) -> dict[str, Any]:
    """Return only what the model honors, in the words of `SpeechRequest`; nothing that it ignores is sent."""
    view, traits = view_of(speech_options, model), traits_of(model) if model is not None else SpeechTraits()
    options: dict[str, Any] = {"format": view.format, "streaming": speech_options.stream}
    if not view.no_style and speech_options.style.strip():
        options["style"] = speech_options.style.strip()
    if not view.no_speed and speech_options.speed != 1.0:
        options["speed"] = speech_options.speed
    if not view.no_temperature and speech_options.temperature is not None:
        options["temperature"] = speech_options.temperature
    if not view.no_top_p and speech_options.top_p is not None:
        options["top_p"] = speech_options.top_p
    hint = language_hint(speech_options.language, traits.language_form)
    if hint is not None:
        options["language"] = hint
    extra, _ = parse_extra_json(speech_options.extra_json, OWN_FIELDS)
    if extra:
        options["extra"] = extra
    return options


def speech_options_of(options: Mapping[str, Any], now: SpeechOptions, model: Model | None) -> SpeechOptions:
    """Return the knobs that a clip was spoken with, from what was sent for it.

    What its model ignores was not sent: those knobs stay as they are `now`.
    """
    view, traits = view_of(now, model), traits_of(model) if model is not None else SpeechTraits()
    sent = dict(options)
    if view.no_style:
        sent["style"] = now.style
    if view.no_speed:
        sent["speed"] = now.speed
    if view.no_temperature:
        sent["temperature"] = now.temperature
    if view.no_top_p:
        sent["top_p"] = now.top_p
    hint = sent.get("language")
    codes = (code for code in LANGUAGE_NAMES if hint and language_hint(code, traits.language_form) == hint)
    sent["language"] = now.language if view.no_language else next(codes, "")
    sent["stream"] = sent.get("streaming")
    sent["extra_json"] = write_extra_json(sent.get("extra"))
    return speech_options_from(sent)


def language_hint(code: str, form: str) -> str | None:
    """Return the hint in the form a model knows (R-TTS-05), None to leave it out (R-TTS-04)."""
    name = LANGUAGE_NAMES.get(code)
    if name is None or form == "none":
        return None
    hint = {"codes": code, "locales": _LOCALES[0] if code == "en" else name}.get(form, name)
    shortest, longest = LANGUAGE_CHARS
    return hint if shortest <= len(hint) <= longest else None
