"""`POST /audio/speech`: text to sound, whole or sentence by sentence."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.http.call import Call
from app.sandbox.http.connections import HangUp, Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.installed_engines import need
from app.sandbox.media.media_models import SPEECH, MediaModel
from app.sandbox.media.voices import cloned

if TYPE_CHECKING:
    from app.sandbox.media.speaking import Speaking
    from app.sandbox.media.speech_engine import Delivery

FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
MAX_TEXT_CHARS = 4096
MAX_PROMPT_CHARS = 500
MAX_VOICE_CHARS = 512
# OpenAI's names -> Kokoro's
DEFAULT_VOICES = {
    "alloy": "af_alloy",
    "ash": "am_michael",
    "ballad": "bm_george",
    "cedar": "am_liam",
    "coral": "af_bella",
    "echo": "am_echo",
    "fable": "bm_fable",
    "marin": "af_heart",
    "nova": "af_nova",
    "onyx": "am_onyx",
    "sage": "af_sarah",
    "shimmer": "af_sky",
    "verse": "am_fenrir",
}
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|\n+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    text: str
    model: str
    voice: str | None
    format: str | None
    speed: float
    streaming: bool
    language: str | None
    prompt: str
    temperature: float | None
    top_p: float | None


def parse(body: Json, *, flat_list: bool = False) -> SpeechRequest:
    """Return the request. Raises `HttpError` 400 with the tree of every invalid field; unknown fields are ignored."""
    check = Checker(flat_list=flat_list)
    text = check.text(("input",), body.get("input"), longest=MAX_TEXT_CHARS)
    if body.get("input") is None:
        check.complain(("input",), REQUIRED)
    elif text is not None and not text.strip():
        check.complain(("input",), "String must contain at least 1 character(s)")
    model = check.text(("model",), body.get("model"))
    if body.get("model") is None:
        check.complain(("model",), REQUIRED)
    language = check.text(("language",), body.get("language"), longest=32)
    if language is not None and len(language) < 2:
        check.complain(("language",), "String must contain at least 2 character(s)")
    speed = check.number(("speed",), body.get("speed"), 0.25, 4.0)
    request = SpeechRequest(
        text=text or "",
        model=model or "",
        voice=check.text(("voice",), body.get("voice"), longest=MAX_VOICE_CHARS),
        format=check.choice(("response_format",), body.get("response_format"), FORMATS),
        speed=1.0 if speed is None else speed,
        streaming=bool(check.boolean(("streaming",), body.get("streaming"))),
        language=language,
        prompt=check.text(("prompt",), body.get("prompt"), longest=MAX_PROMPT_CHARS) or "",
        temperature=check.number(("temperature",), body.get("temperature"), 0, 2),
        top_p=check.number(("top_p",), body.get("top_p"), 0, 1),
    )
    check.finish()
    return request


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order; what holds nothing to say is left out."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


async def speak(call: Call) -> Response:
    request = parse(call.json_object(), flat_list=call.names.issues_in_errors)
    model = find_model(call, request.model, "tts")
    need("speech")
    voice_format = _format(call, request, model)
    delivery = _delivery(call, request, model)
    if not any(char.isalnum() for char in request.text):
        _refuse(call, "input", "There is nothing in this text that can be spoken")
    refuse_unpaid(call)
    from app.sandbox.media.sound import CONTENT_TYPES
    from app.sandbox.media.speaking import Speaking

    speaking = Speaking(model.id, delivery, _varied(request, model), request.speed, voice_format)
    headers = {"Content-Type": CONTENT_TYPES[voice_format]}
    if request.streaming:
        charge(call, f"{model.id}-characters", len(request.text), model.price_usd)
        cut = call.world.faults.take_fault("cut", call.request.path)
        return Response(200, headers, _streamed(speaking, sentences(request.text), cut))
    data = await asyncio.to_thread(speaking.whole, sentences(request.text))
    charge(call, f"{model.id}-characters", len(request.text), model.price_usd)
    return Response(200, headers, data)


async def _streamed(speaking: Speaking, parts: list[str], cut: Json | None) -> AsyncIterator[bytes]:
    """Yield one piece per sentence. The armed fault `cut` ends the connection within the first piece."""
    for part in parts:
        piece = await asyncio.to_thread(speaking.sentence, part)
        if cut is not None and piece:
            yield piece[: int(cut.get("after", len(piece) // 2)) or 1]
            raise HangUp
        if piece:
            yield piece
    rest = await asyncio.to_thread(speaking.finish)
    if rest:
        yield rest


def _refuse(call: Call, name: str, message: str) -> None:
    check = Checker(flat_list=call.names.issues_in_errors)
    check.complain((name,), message)
    check.finish()


def _format(call: Call, request: SpeechRequest, model: MediaModel) -> str:
    supported = model.facts["supported_formats"]
    wanted = request.format or str(model.facts["default_format"])
    if wanted not in supported:
        if wanted in SPEECH[model.id][3].split():
            need("aac")  # the real model writes it: say what is missing here
        _refuse(call, "response_format", f"{model.id} does not write {wanted}; it writes {', '.join(supported)}")
    return wanted


def _delivery(call: Call, request: SpeechRequest, model: MediaModel) -> Delivery:
    """Return how the voice sounds. Raises `HttpError` 400 naming the valid voices."""
    from app.sandbox.media import voice_table

    voice = request.voice or str(model.facts["default_voice"])
    if voice.startswith("vv_"):
        base = cloned(call, voice, model)
    elif (voice := _default_voice(call, voice, model)) in model.facts["voices"]:
        base = voice_table.delivery(call.site.data_files, model.id, voice)
    else:
        names = ", ".join(model.facts["voices"])
        text = f"The voice {voice} does not fit the model {model.id}. Try using a supported voice: {names}"
        details = {"_errors": [], "voice": {"_errors": [text]}}
        raise HttpError(400, {"error": text, "details": details})
    base = voice_table.in_language(base, model.id, request.language)
    return voice_table.in_style(base, request.prompt) if model.facts["supportsPromptParam"] else base


def _default_voice(call: Call, voice: str, model: MediaModel) -> str:
    """Return the model's voice for one of OpenAI's names, where these count."""
    if voice in model.facts["voices"] or voice not in DEFAULT_VOICES or not call.world.settings.default_models:
        return voice
    own = DEFAULT_VOICES[voice]
    return own if own in model.facts["voices"] else str(model.facts["default_voice"])


def _varied(request: SpeechRequest, model: MediaModel) -> float:
    """Return how far sentences may differ in melody, 0..1, from temperature and top_p, where the model honors them."""
    temperature = request.temperature if model.facts["supportsTemperatureParam"] else None
    top_p = request.top_p if model.facts["supportsTopPParam"] else None
    return min((0.0 if temperature is None else temperature / 2) * (1.0 if top_p is None else top_p), 1.0)
