"""Parts of a long reading become one clip in the chosen format, and where they meet nothing clicks."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from app.audio.decoding import blocks_of
from app.service.speech_text import sentences
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until

TEXT = "She stood at the rail with the parcel. He took off his hat and asked. A quarter to seven, said Nadia."
KINDS = ("mp3", "opus", "aac", "flac", "wav", "pcm")


async def read_in_parts(speech: SpeechHarness, kind: str) -> str:
    """Have each sentence made by a call of its own, as parts of one clip."""
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.presenter.set_speech_option("format", kind)
    clip = await speech.presenter.plan_clip(TEXT, "tts-kokoro", "bf_emma", sentences(TEXT))
    await speech.presenter.read(clip, aloud=False)
    assert speech.problem is None, speech.problem
    assert speech.clip(clip.id).state == "complete"
    return clip.id


def step(samples: np.ndarray, at: int, rate_hz: int, reach_s: float) -> float:
    """Return the largest step from one sample to the next within `reach_s` of a place."""
    reach = max(2, round(rate_hz * reach_s))
    return float(np.abs(np.diff(samples[max(0, at - reach) : at + reach].astype(float))).max())


def clicks(samples: np.ndarray, at: int, rate_hz: int) -> float:
    """Return how far the step at a place stands out: against the steps of the 20 ms around it, and one in a hundred of
    full scale, which nobody hears. Above 1 it is a click."""
    around = samples[max(0, at - rate_hz // 50) : at + rate_hz // 50].astype(float)
    steps = np.abs(np.diff(around))
    middle = len(steps) // 2
    steps[middle - 3 : middle + 3] = 0
    return step(samples, at, rate_hz, 2 / rate_hz) / max(327.0, float(steps.max()))


@pytest.mark.parametrize("kind", KINDS)
async def test_parts_meet_without_a_click_in_every_format(speech: SpeechHarness, tmp_path: Path, kind: str) -> None:
    clip_id = await read_in_parts(speech, kind)
    clip = speech.clip(clip_id)
    assert [part.kind for part in clip.parts] == [kind] * 3
    reading = speech.sound.reading
    spool = reading.spool
    assert len(spool.seams_s) == 2
    target = tmp_path / f"clip.{kind}"
    speech.clip_actions.export(clip_id, target)
    await until(lambda: speech.toasts and speech.toasts[-1][0] == f"Saved as clip.{kind}")
    blocks = list(blocks_of(target, kind=kind, pcm_rate_hz=spool.rate_hz))
    saved, rate_hz = np.concatenate([block.samples for block in blocks]), blocks[0].rate_hz
    assert len(saved) / rate_hz == pytest.approx(clip.duration_s, abs=0.1)
    joined = spool.read(0, spool.frames)
    for seam_s in spool.seams_s:
        at = round(seam_s * spool.rate_hz)
        assert clicks(joined, at, spool.rate_hz) <= 1
        before = step(joined, at, spool.rate_hz, 0.08)
        assert step(saved, round(seam_s * rate_hz), rate_hz, 0.06) <= 1.5 * before + 327, "the encoder adds none"


async def test_a_click_would_be_found(speech: SpeechHarness) -> None:
    """The measure itself: the same sound, torn where it is loudest and put together upside down."""
    await read_in_parts(speech, "wav")
    spool = speech.sound.reading.spool
    samples = spool.read(0, spool.frames).astype(int)
    piece = spool.rate_hz // 20
    tops = [at + int(np.argmax(samples[at : at + piece])) for at in range(piece, len(samples) - 2 * piece, piece)]
    loud = [at for at in tops if samples[at] > 6_000]
    assert len(loud) > 10
    found = []
    for one, other in itertools.pairwise(loud):
        torn = np.concatenate((samples[: one + 1], -samples[other:]))
        found.append(clicks(torn, one + 1, spool.rate_hz))
    assert np.median(found) > 1.5, found


async def test_a_model_of_a_rate_that_opus_does_not_know_is_saved_as_opus(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    """44.1 kHz become 48 without a step between the blocks that are written."""
    clip_id = await read_in_parts(speech, "wav")
    spool = speech.sound.reading.spool
    samples = spool.read(0, spool.frames)
    spool.rate_hz = 22_050  # the same sound, told to be slower
    target = tmp_path / "clip.opus"
    speech.clip_actions.export(clip_id, target)
    await until(lambda: speech.toasts and speech.toasts[-1][0] == "Saved as clip.opus")
    seconds = sum(len(block.samples) / block.rate_hz for block in blocks_of(target))
    assert seconds == pytest.approx(len(samples) / 22_050, abs=0.1)
