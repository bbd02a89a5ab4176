"""Records of all models other than text models: listed by `GET /models` and obeyed by the endpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from app.sandbox.http.errors import Json
from app.sandbox.installed_engines import installed

CREATED = 1_764_547_200


@dataclass(frozen=True, slots=True)
class MediaModel:
    """`price_usd` is per unit of its type: character, second of audio, image, token. `facts` go into `model_spec`."""

    id: str
    name: str
    type: str
    tier: str
    price_usd: Decimal
    pricing: Json
    privacy: str = "private"
    facts: Json = field(default_factory=dict)
    description: str = ""

    def has(self, _: str) -> bool:
        """No record here has a capability of a text model."""
        return False

    def as_json(self, _: datetime, owner: str) -> Json:
        spec: Json = {
            "name": self.name,
            "description": self.description,
            "privacy": self.privacy,
            "offline": False,
            "traits": [],
            **self.facts,
        }
        if self.pricing:
            spec["pricing"] = self.pricing
        return {
            "id": self.id,
            "object": "model",
            "type": self.type,
            "created": CREATED,
            "owned_by": owner,
            "model_spec": spec,
        }


def usd(amount: Decimal | str) -> Json:
    value = Decimal(amount)
    return {"usd": value, "diem": value}


def load(data: Path) -> tuple[MediaModel, ...]:
    """Return every record. `data` is the folder with voices.json."""
    voices = json.loads((data / "voices.json").read_text(encoding="utf-8"))
    return (*_speech(voices), *_TRANSCRIPTION, *_IMAGES, *_EMBEDDINGS, *_VIDEO)


# Speech. Formats: the default first. Flags: which of prompt, temperature and top_p the model honors.
# id: name, USD per million characters, default voice, formats, honored, privacy
SPEECH: Mapping[str, tuple[str, str, str, str, str, str]] = {
    "tts-kokoro": ("Kokoro", "3.50", "af_sky", "mp3 opus aac flac wav pcm", "", "private"),
    "tts-qwen3-0-6b": ("Qwen 3 0.6B", "87.50", "Vivian", "mp3", "prompt temperature top_p", "private"),
    "tts-qwen3-1-7b": ("Qwen 3 1.7B", "112.50", "Vivian", "mp3", "prompt temperature top_p", "private"),
    "tts-xai-v1": ("xAI", "18.75", "eve", "mp3 wav pcm", "", "anonymized"),
    "tts-inworld-1-5-max": ("Inworld 1.5 Max", "12.50", "Craig", "wav", "", "anonymized"),
    "tts-chatterbox-hd": ("Chatterbox HD", "50.00", "Aurora", "wav", "temperature", "private"),
    "tts-orpheus": ("Orpheus", "62.50", "tara", "wav", "temperature", "private"),
    "tts-elevenlabs-turbo-v2-5": ("ElevenLabs Turbo 2.5", "62.50", "Rachel", "mp3", "", "anonymized"),
    "tts-minimax-speech-02-hd": ("MiniMax Speech 02 HD", "125.00", "WiseWoman", "mp3 pcm flac", "", "anonymized"),
    "tts-gemini-3-1-flash": ("Gemini 3.1 Flash", "187.50", "Kore", "mp3 opus wav", "prompt temperature", "anonymized"),
    "tts-gradium-v1": ("Gradium", "47.50", "Emma", "wav pcm opus", "", "anonymized"),
}
CLONING: Mapping[str, Json] = {
    "tts-chatterbox-hd": {
        "mode": "zero_shot",
        "accepted_formats": ["mp3", "wav", "flac", "mp4"],
        "min_sample_seconds": 5,
        "retention_days": 7,
    }
}


def clone_fee(price_usd: Decimal) -> Decimal:
    """What one clone costs with a model that asks `price_usd` a character."""
    return price_usd * 1000


def _speech(voices: Mapping[str, Mapping[str, object]]) -> list[MediaModel]:
    records = []
    for model_id, (name, price, default_voice, formats, honours, privacy) in SPEECH.items():
        # Without the AAC encoder the format is not offered; see the engines of the Sandbox.
        served = [one for one in formats.split() if one != "aac" or installed("aac")]
        facts: Json = {
            "voices": list(voices[model_id]),
            "supported_formats": served,
            "default_format": served[0],
            "default_voice": default_voice,
            "supportsPromptParam": "prompt" in honours,
            "supportsTemperatureParam": "temperature" in honours,
            "supportsTopPParam": "top_p" in honours,
        }
        if model_id in CLONING:
            facts["voice_cloning"] = CLONING[model_id]
        per_million = Decimal(price)
        pricing = {"input": usd(per_million)}
        if model_id in CLONING:
            pricing["voice_clone"] = usd(clone_fee(per_million / 1_000_000))  # services need not publish it
        about = "Spoken by espeak-ng; the voices only take the names and the languages of the real ones."
        records.append(
            MediaModel(model_id, name, "tts", "audio", per_million / 1_000_000, pricing, privacy, facts, about)
        )
    return records


def _transcription(model_id: str, name: str, price: str, privacy: str = "private") -> MediaModel:
    about = "Recognised by PocketSphinx, English only."
    pricing = {"per_audio_second": usd(price)}
    return MediaModel(model_id, name, "asr", "audio", Decimal(price), pricing, privacy, {}, about)


_TRANSCRIPTION = (
    _transcription("nvidia/parakeet-tdt-0.6b-v3", "Parakeet TDT 0.6B v3", "0.0001"),
    _transcription("openai/whisper-large-v3", "Whisper large v3", "0.0001"),
    _transcription("fal-ai/wizper", "Wizper", "0.0001"),
    _transcription("elevenlabs/scribe-v2", "Scribe v2", "0.000167", "anonymized"),
    _transcription("stt-xai-v1", "xAI", "0.00003148", "anonymized"),
)


_DRAWN = "Drawn by the Sandbox from the prompt. Not an image model."
_IMAGES = (
    MediaModel(
        "rialto-canvas",
        "Canvas",
        "image",
        "image",
        Decimal("0.01"),
        {"generation": usd("0.01"), "upscale": {"2x": usd("0.02"), "4x": usd("0.08")}},
        facts={
            "constraints": {
                "promptCharacterLimit": 7500,
                "steps": {"default": 8, "max": 50},
                "widthHeightDivisor": 8,
            }
        },
        description=_DRAWN,
    ),
    MediaModel(
        "rialto-poster",
        "Poster",
        "image",
        "image",
        Decimal("0.03"),
        {
            "resolutions": {"1K": usd("0.03"), "2K": usd("0.04"), "4K": usd("0.08")},
            "upscale": {"2x": usd("0.02"), "4x": usd("0.08")},
        },
        facts={
            "constraints": {
                "promptCharacterLimit": 2500,
                "steps": {"default": 8, "max": 8},
                "widthHeightDivisor": 1,
                "aspectRatios": ["1:1", "3:2", "2:3", "16:9", "9:16"],
                "defaultAspectRatio": "1:1",
                "resolutions": ["1K", "2K", "4K"],
                "defaultResolution": "1K",
                "maxStyleReferences": 2,
                "supportsStyleReferenceStrength": True,
            },
            "supportsStyleReferences": True,
        },
        description=_DRAWN,
    ),
    MediaModel(
        "firered-image-edit",
        "Image edit",
        "inpaint",
        "image",
        Decimal("0.04"),
        {"inpaint": usd("0.04"), "inputImages": {"included": 1, "additional": usd("0.01")}},
        facts={
            "constraints": {
                "aspectRatios": ["auto", "1:1", "3:2", "16:9", "21:9", "9:16", "2:3", "3:4", "4:5"],
                "promptCharacterLimit": 32_768,
                "combineImages": True,
                "maxInputImages": 3,
                "resolutions": ["1K", "2K", "4K"],
                "defaultResolution": "1K",
            }
        },
        description="Recolors and frames what is sent, as the prompt asks. Not an image model.",
    ),
    MediaModel(
        "upscaler",
        "Upscaler",
        "upscale",
        "image",
        Decimal("0.02"),
        {"upscale": {"2x": usd("0.02"), "4x": usd("0.08")}},
        description="Enlarges with Lanczos resampling. Not an image model.",
    ),
)


def _embedding(
    model_id: str, name: str, size: int, price: str, *, custom: bool = False, limit: int = 8192
) -> MediaModel:
    facts: Json = {"embeddingDimensions": size, "maxInputTokens": limit, "supportsCustomDimensions": custom}
    about = "Words and groups of letters, hashed. Not an embedding model."
    output = "0.60" if model_id == "text-embedding-bge-m3" else price
    pricing = {"input": usd(price), "output": usd(output)}
    return MediaModel(
        model_id, name, "embedding", "embedding", Decimal(price) / 1_000_000, pricing, "private", facts, about
    )


_EMBEDDINGS = (
    _embedding("text-embedding-bge-m3", "BGE M3", 1024, "0.15"),
    _embedding("text-embedding-qwen3-0-6b", "Qwen 3 0.6B", 1024, "0.0125", custom=True),
    _embedding("text-embedding-qwen3-8b", "Qwen 3 8B", 4096, "0.0125", custom=True),
    _embedding("text-embedding-3-small", "Embedding 3 small", 1536, "0.025", custom=True),
    _embedding("text-embedding-3-large", "Embedding 3 large", 3072, "0.1625", custom=True),
    _embedding("text-embedding-multilingual-e5-large-instruct", "E5 large", 1024, "0.0125", limit=512),
)


_FILMED = "A short video drawn by the Sandbox from the prompt. Not a video model."


def _video(model_id: str, name: str, kind: str, price: str, about: str = _FILMED, **constraints: object) -> MediaModel:
    facts: Json = {
        "constraints": {
            "model_type": kind,
            "aspect_ratios": ["16:9", "9:16", "1:1"],
            "resolutions": ["360p", "480p"],
            "durations": ["3s", "5s", "8s"],
            "audio": True,
            "audio_configurable": True,
            "prompt_character_limit": 2500,
            **constraints,
        }
    }
    return MediaModel(model_id, name, "video", "video_queue", Decimal(price), {}, "private", facts, about)


# `price_usd` of a video model is per second; the list itself shows no prices, `POST /video/quote` does.
_VIDEO = (
    _video("rialto-reel-text-to-video", "Reel", "text-to-video", "0.05"),
    _video("rialto-reel-image-to-video", "Reel from a picture", "image-to-video", "0.06"),
    _video("rialto-reel-omni-reference", "Reel from references", "image-to-video", "0.07"),
    _video(
        "rialto-reel-upscale",
        "Enlarger",
        "video",
        "0.02",
        "Enlarges each frame of a video with Lanczos resampling. Not a video model.",
        aspect_ratios=[],
        resolutions=[],
        durations=["auto"],
        audio_configurable=False,
    ),
    _video("rialto-reel-private", "Reel with a private download", "text-to-video", "0.08", aspect_ratios=[]),
)
