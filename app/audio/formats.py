"""The containers of sound: what they are called, what decodes and what writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from app.translation import tr


@dataclass(frozen=True, slots=True)
class Format:
    """`decoder` and `encoder`: "own", "soundfile" or "av" (PyAV); "" where nothing of ours can."""

    name: str  # the wire's word
    title: str
    suffix: str
    media_type: str
    decoder: str
    encoder: str
    is_lossless: bool = False


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("mp3", "MP3", ".mp3", "audio/mpeg", "soundfile", "soundfile"),
        Format("opus", "Opus", ".opus", "audio/opus", "soundfile", "soundfile"),
        Format("ogg", "Ogg Vorbis", ".ogg", "audio/ogg", "soundfile", "soundfile"),
        Format("aac", "AAC", ".aac", "audio/aac", "av", "av"),
        Format("flac", "FLAC", ".flac", "audio/flac", "soundfile", "soundfile", is_lossless=True),
        Format("wav", "WAV", ".wav", "audio/wav", "own", "soundfile", is_lossless=True),
        Format("pcm", "PCM", ".pcm", "audio/pcm", "own", "own", is_lossless=True),
        Format("m4a", "M4A", ".m4a", "audio/mp4", "av", "av"),
        Format("mp4", "MP4", ".mp4", "video/mp4", "av", ""),
        Format("webm", "WebM", ".webm", "video/webm", "av", ""),
    )
}
SPEECH_FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")  # what the service writes
DEFAULT_PCM_RATE_HZ = 24_000
# Raw samples do not say their rate; these models' is documented. What a WAV of a model said is remembered over it.
PCM_RATES_HZ: Mapping[str, int] = {"tts-xai-v1": 24_000, "tts-gradium-v1": 48_000}


def format_title(name: str) -> str:
    """Return how a format is written for people: "MP3", "Opus"."""
    found = FORMATS.get(name)
    return found.title if found else name.upper()


def suffix_of(name: str) -> str:
    """Return the file name's ending with its dot."""
    found = FORMATS.get(name)
    return found.suffix if found else f".{name}"


def pcm_rate_hz(model: str) -> int:
    """Return the rate of a model's raw samples as far as it is known, else the usual one."""
    return PCM_RATES_HZ.get(model, DEFAULT_PCM_RATE_HZ)


def can_decode(name: str) -> bool:
    """Tell whether a container can be turned into samples on this computer."""
    found = FORMATS.get(name)
    return found is not None and _is_there(found.decoder)


def can_encode(name: str) -> bool:
    """Tell whether a container can be written on this computer."""
    found = FORMATS.get(name)
    return found is not None and _is_there(found.encoder)


def missing_sentence(name: str) -> str:
    """Say what is missing for a format that cannot be played or written here."""
    return tr(
        "{format_title} needs PyAV, which is not installed here. The file itself is saved and can be exported.",
        format_title=format_title(name),
    )


def _is_there(library: str) -> bool:
    return library == "own" or (bool(library) and find_spec(library) is not None)
