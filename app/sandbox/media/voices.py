"""`POST /audio/voices`: a sample becomes a handle. The handle speaks at the pitch measured in the sample."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError
from app.sandbox.http.form import Upload, check_size, read_form
from app.sandbox.http.validation import Checker
from app.sandbox.installed_engines import need
from app.sandbox.media.media_models import CLONING, MediaModel, clone_fee
from app.sandbox.world import PersistentDict

if TYPE_CHECKING:
    from app.sandbox.media.speech_engine import Delivery

DEFAULT_MODEL = "tts-chatterbox-hd"
BY_INVITATION = "tts-minimax-speech-02-hd"  # clones for callers with special access only
SUFFIXES = {"mp3": ("mp3",), "wav": ("wav", "wave"), "flac": ("flac",), "mp4": ("m4a", "mp4")}
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class ClonedVoice:
    model: str
    expires_at: float  # Unix seconds of the Sandbox's clock
    pitch_hz: float


async def clone(call: Call) -> Response:
    form = read_form(call)
    check = Checker(flat_list=call.names.issues_in_errors)
    sample = form.file(check, "file")
    model_id = form.fields.get("model") or DEFAULT_MODEL
    if model_id == BY_INVITATION:
        raise HttpError(403, f"Cloning with {BY_INVITATION} needs special access")
    if model_id not in CLONING:
        check.complain(("model",), f"Expected one of {', '.join((*CLONING, BY_INVITATION))}, received '{model_id}'")
    if sample is not None:
        check_size(sample)
        accepted = [suffix for kind in CLONING[DEFAULT_MODEL]["accepted_formats"] for suffix in SUFFIXES[kind]]
        if sample.suffix not in accepted:
            check.complain(("file",), f"Expected a file of type {', '.join(accepted)}")
    check.finish()
    assert sample is not None
    model = find_model(call, model_id, "tts")
    need("speech")
    refuse_unpaid(call)
    pitch_hz = await asyncio.to_thread(_measured, call, sample, model)
    handle = f"vv_{call.world.token(8)}"
    kept = float(CLONING[model.id]["retention_days"]) * DAY_S
    _voices(call)[handle] = ClonedVoice(model.id, call.world.clock.now() + kept, pitch_hz)
    charge(call, f"{model.id}-voice-clone", 1, clone_fee(model.price_usd))
    return json_answer({"id": handle, "model": model.id})


def cloned(call: Call, handle: str, model: MediaModel) -> Delivery:
    """Return how a handle sounds. Raises `HttpError` 400 when it is unknown, expired, or of another model."""
    from app.sandbox.media import voice_table
    from app.sandbox.media.speech_engine import Delivery

    check = Checker(flat_list=call.names.issues_in_errors)
    voice = _voices(call).get(handle)
    if voice is not None and voice.model != model.id:
        check.complain(("voice",), f"The voice {handle} belongs to the model {voice.model}")
    elif "voice_cloning" not in model.facts:
        check.complain(("voice",), f"The model {model.id} does not support cloned voices")
    elif voice is None:
        check.complain(("voice",), f"There is no voice {handle}")
    elif voice.expires_at <= call.world.clock.now():
        check.complain(("voice",), f"The voice {handle} has expired; upload the sample again")
    check.finish()
    assert voice is not None
    name = model.facts["default_voice"] if voice.pitch_hz >= 155 else model.facts["voices"][3]
    base = voice_table.delivery(call.site.data_files, model.id, str(name))
    # espeak-ng's scale: 50 is about 105 Hz for the plain voice and 180 Hz for a high one.
    normal_hz = 180.0 if voice.pitch_hz >= 155 else 105.0
    pitch = round(50 + 60 * (voice.pitch_hz / normal_hz - 1))
    return Delivery(base.language, base.variant, min(max(pitch, 0), 99), base.words_per_minute)


def _voices(call: Call) -> PersistentDict[ClonedVoice]:
    return call.world.table(f"voices {call.caller.id}", ClonedVoice)


def _measured(call: Call, sample: Upload, model: MediaModel) -> float:
    """Return the pitch of a sample in Hz, and warn of a short one in a header. Raises `HttpError` 400 for no voice."""
    from app.sandbox.media.pitch import pitch_of
    from app.sandbox.media.sound import NotSound, decode

    check = Checker(flat_list=call.names.issues_in_errors)
    shortest = float(CLONING[model.id]["min_sample_seconds"])
    pitch_hz = 0.0
    try:
        sound = decode(sample.data)
    except NotSound as error:
        check.complain(("file",), f"The sample cannot be decoded: {error}")
    else:
        pitch_hz = pitch_of(sound)
        if not pitch_hz:
            check.complain(("file",), "No voice can be heard in the sample")
        elif sound.duration_s < shortest:
            text = f"The sample lasts {sound.duration_s:.1f} s; {shortest:.0f} s or more are recommended"
            call.headers[f"{call.names.header_prefix}warning"] = text
    check.finish()
    return pitch_hz
