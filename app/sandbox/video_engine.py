"""Makes short films with PyAV: a drawn scene that the camera moves over, and a chord that swells and fades.

H.264 where the encoder is there, else VP9; never AV1, which players on Linux often cannot show.
"""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from numpy.typing import NDArray

from app.sandbox.image_engine import caption, decode, draw, fitted

if TYPE_CHECKING:
    from PIL.Image import Image

FRAMES_PER_S = 24
SOUND_HZ = 48_000
MADE_BY = "Made by the Rialto Sandbox; no video model"  # in the file itself
SOUND_BLOCK = 1024
MARGIN = 1.25  # how much larger than the frame the scene is that the camera moves over
CODECS = (("libx264", {"preset": "veryfast", "crf": "24"}), ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}))
# Semitones above the lowest note: a chord for every film.
CHORDS = ((0, 7, 12, 16), (0, 5, 12, 17), (0, 3, 7, 12), (0, 7, 10, 15))


def make_film(
    prompt: str, duration_s: float, size: tuple[int, int], *, sound: bool = True, picture: bytes | None = None
) -> bytes:
    """Return an MP4. `size` has even numbers; `picture` is what the film shows instead of a drawing.

    Raises `NotAPicture`. Equal arguments give equal pictures and sound. Takes about a third of the film's length.
    """
    scene = _scene(prompt, size, picture)
    label = np.asarray(caption(size, f"Sandbox film · {prompt}")).astype(np.float32)
    dice = hashlib.sha256(prompt.encode()).digest()
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as film:
        film.metadata["comment"] = MADE_BY
        codec, options = next(one for one in CODECS if one[0] in av.codecs_available)
        video: Any = film.add_stream(codec, rate=FRAMES_PER_S, options=options)
        video.width, video.height = size
        video.pix_fmt = "yuv420p"
        audio: Any = film.add_stream("aac", rate=SOUND_HZ, layout="mono") if sound else None
        frames = round(duration_s * FRAMES_PER_S)
        for number in range(frames):
            pixels = _frame(scene, size, number / max(1, frames - 1), dice, label)
            film.mux(video.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        film.mux(video.encode(None))
        if audio is not None:
            _add_sound(film, audio, duration_s, dice)
    return buffer.getvalue()


def _scene(prompt: str, size: tuple[int, int], picture: bytes | None) -> NDArray[np.uint8]:
    large = (int(size[0] * MARGIN), int(size[1] * MARGIN))
    scene: Image = draw(prompt, *large, 0, label=False) if picture is None else fitted(decode(picture), large)
    return np.asarray(scene.convert("RGB"))


def _frame(
    scene: NDArray[np.uint8], size: tuple[int, int], share: float, dice: bytes, label: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Return one picture: the camera eases from one corner of the scene to the opposite one, and the light changes."""
    eased = share * share * (3 - 2 * share)
    across = eased if dice[0] & 1 else 1 - eased
    down = eased if dice[0] & 2 else 1 - eased
    left = round((scene.shape[1] - size[0]) * across)
    top = round((scene.shape[0] - size[1]) * down)
    cut = scene[top : top + size[1], left : left + size[0]].astype(np.float32)
    cut *= 0.85 + 0.15 * np.sin(np.pi * share)
    strip = label[..., 3:] / 255
    rows = slice(size[1] - label.shape[0], size[1])
    cut[rows] = cut[rows] * (1 - strip) + label[..., :3] * strip
    shown: NDArray[np.uint8] = np.clip(cut, 0, 255).astype(np.uint8)
    return shown


def _add_sound(film: Any, audio: Any, duration_s: float, dice: bytes) -> None:
    at = np.arange(round(duration_s * SOUND_HZ)) / SOUND_HZ
    lowest_hz = 110 * 2 ** (dice[1] % 12 / 12)
    wave = np.zeros(len(at))
    for number, steps in enumerate(CHORDS[dice[2] % len(CHORDS)]):
        swell = 0.6 + 0.4 * np.sin(2 * np.pi * (0.11 + 0.05 * number) * at + number)
        wave += np.sin(2 * np.pi * lowest_hz * 2 ** (steps / 12) * at) * swell / (2 + number)
    wave *= np.minimum(1, np.minimum(at, duration_s - at) / 0.4) * 5000
    samples = wave.astype(np.int16)
    for start in range(0, len(samples), SOUND_BLOCK):
        frame = av.AudioFrame.from_ndarray(samples[start : start + SOUND_BLOCK].reshape(1, -1), "s16", "mono")
        frame.sample_rate = SOUND_HZ
        frame.pts = start
        film.mux(audio.encode(frame))
    film.mux(audio.encode(None))
