"""Makes short videos with PyAV: a drawn scene that the camera moves over, and a chord that swells and fades.

H.264 where the encoder is there, else VP9; never AV1, which players on Linux often cannot show.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from numpy.typing import NDArray

from app.sandbox.media.image_engine import NotAnImage, caption, decode, draw, fitted

if TYPE_CHECKING:
    from PIL.Image import Image

FRAMES_PER_S = 24
SOUND_HZ = 48_000
MADE_BY = "Made by the Rialto Sandbox; no video model"  # in the file itself
SOUND_BLOCK = 1024
KEYFRAME_FRAMES = 12  # how long a keyframe's image is seen
MARGIN = 1.25  # how much larger than the frame the scene is that the camera moves over
CODECS = (("libx264", {"preset": "veryfast", "crf": "24"}), ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}))
# Semitones above the lowest note: a chord for every video.
CHORDS = ((0, 7, 12, 16), (0, 5, 12, 17), (0, 3, 7, 12), (0, 7, 10, 15))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a video is made from: `pictures` and the beginnings of `films` come one after the other, each as long as
    the others; a keyframe's image stands at its own frame for half a second. `told` names what cannot be seen."""

    pictures: tuple[bytes, ...] = ()
    films: tuple[bytes, ...] = ()
    keyframes: tuple[tuple[int, bytes], ...] = ()
    told: str = ""


def render_video(
    prompt: str, duration_s: float, size: tuple[int, int], *, sound: bool = True, shown: Shown | None = None
) -> bytes:
    """Return an MP4. `size` has even numbers; `shown` is what the video shows instead of a drawing.

    Raises `NotAnImage`. Equal arguments give equal images and sound. Takes about a third of the video's length.
    """
    shown = shown or Shown()
    scenes = _scenes(prompt, size, shown)
    words = " · ".join(part for part in ("Sandbox video", shown.told, prompt) if part)
    label = np.asarray(caption(size, words)).astype(np.float32)
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
        keyed = {at: _pixels(decode(data), size) for at, data in shown.keyframes}
        for number in range(frames):
            shot = min(number * len(scenes) // max(1, frames), len(scenes) - 1)
            first, last = _ends(shot, len(scenes), frames)
            scene, share = scenes[shot], (number - first) / max(1, last - first)
            at = max((key for key in keyed if key <= number < key + KEYFRAME_FRAMES), default=None)
            pixels = _frame(scene if at is None else keyed[at], size, share, dice, label)
            film.mux(video.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        film.mux(video.encode(None))
        if audio is not None:
            _add_sound(film, audio, duration_s, dice)
    return buffer.getvalue()


def _ends(shot: int, shots: int, frames: int) -> tuple[int, int]:
    """Return the first and the last frame of a shot."""
    return -(-shot * frames // shots), -(-(shot + 1) * frames // shots) - 1


def _scenes(prompt: str, size: tuple[int, int], shown: Shown) -> list[NDArray[np.uint8]]:
    """One scene for each thing that can be seen, or a drawing of the prompt."""
    found = [_pixels(decode(data), size) for data in shown.pictures]
    found += [_pixels(beginning(data), size) for data in shown.films]
    return found or [_pixels(draw(prompt, *_large(size), 0, label=False), size)]


def _large(size: tuple[int, int]) -> tuple[int, int]:
    return int(size[0] * MARGIN), int(size[1] * MARGIN)


def _pixels(image: Image, size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.asarray(fitted(image, _large(size)))


def beginning(video: bytes) -> Image:
    """Return the first image of a video. Raises `NotAnImage`."""
    try:
        with av.open(io.BytesIO(video), "r") as opened:
            frame: Any = next(opened.decode(video=0))
            image: Image = frame.to_image()
            return image
    except (av.FFmpegError, ValueError, IndexError, StopIteration) as error:
        raise NotAnImage("it is no film, or broken") from error


def _frame(
    scene: NDArray[np.uint8], size: tuple[int, int], share: float, dice: bytes, label: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Return one image: the camera eases from one corner of the scene to the opposite one, and the light changes."""
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


def _add_sound(video: Any, audio: Any, duration_s: float, dice: bytes) -> None:
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
        video.mux(audio.encode(frame))
    video.mux(audio.encode(None))
