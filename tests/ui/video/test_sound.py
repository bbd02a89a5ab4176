"""The sound of a video comes out of a real sound server, and the program lives when that server ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from app.ui.kit.theme import Theme
from app.ui.video.video_player import VideoPlayer
from tests.audio.pulse import NOWHERE, Pulse, start
from tests.audio.sounds import is_loud, tone
from tests.kit.waiting import until

PITCH_HZ = 440.0
END_HZ, END_S = 2_000.0, 0.08  # how the film's sound ends
RATE_HZ = 48_000


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Four seconds of one image and one tone, which is higher at its very end, in two channels."""
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        images = container.add_stream("mpeg4", rate=24)
        images.width, images.height, images.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("aac", rate=RATE_HZ, layout="stereo")
        sounds = np.concatenate([tone(4.0 - END_S, PITCH_HZ, RATE_HZ), tone(END_S, END_HZ, RATE_HZ)])
        samples = np.repeat(sounds, 2)[None, :]
        for at in range(96):
            image = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, np.uint8), format="rgb24")
            image.pts = at
            container.mux(images.encode(image))
        for at in range(0, samples.shape[1] // 2 - 1023, 1024):
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(samples[:, 2 * at : 2 * at + 2048]), format="s16", layout="stereo"
            )
            frame.sample_rate, frame.pts = RATE_HZ, at
            container.mux(sound.encode(frame))
        container.mux(images.encode())
        container.mux(sound.encode())
    return path


async def test_the_sound_is_heard_at_its_pitch_and_ends_with_a_pause(
    window: QWidget, theme: Theme, film: Path, pulse: Pulse
) -> None:
    player = VideoPlayer(theme, window)
    player.show()
    player.show_video(str(film), 64, 48)
    await until(lambda: player.frames_shown)
    with pulse.listening() as recording:
        player.play.click()
        await until(lambda: is_loud(recording) and player.position_ms > 1_500)
        player.mute.click()
        await until(lambda: player.position_ms > 2_200)
        player.mute.click()
        await until(lambda: player.position_ms > 3_000)
        player.play.click()
        await until(lambda: not player.plays)
    heard = np.fromfile(recording, np.float32)
    loud = np.flatnonzero(np.abs(heard) > 0.05)
    part = heard[loud[0] + RATE_HZ // 5 : loud[0] + RATE_HZ]
    peak = np.argmax(np.abs(np.fft.rfft(part * np.hanning(len(part))))) * pulse.rate_hz / len(part)
    assert peak == pytest.approx(PITCH_HZ, abs=3)
    gaps = np.diff(loud)
    assert gaps.max() > 0.3 * pulse.rate_hz, "nothing is heard while it is muted"


async def test_a_video_is_heard_to_its_end(window: QWidget, theme: Theme, film: Path, pulse: Pulse) -> None:
    player = VideoPlayer(theme, window)
    player.show()
    player.show_video(str(film), 64, 48)
    await until(lambda: player.frames_shown)
    with pulse.listening() as recording:
        player.play.click()
        await until(lambda: is_loud(recording))
        await until(lambda: not player.plays)
        await until(lambda: end_heard_s(recording) >= 0.7 * END_S)  # it passes through the sound server last


def end_heard_s(recording: Path) -> float:
    """How many seconds of a recording have the pitch of the video's end."""
    heard = np.fromfile(recording, np.float32)
    step = RATE_HZ // 100
    pieces = heard[: len(heard) // step * step].reshape(-1, step)
    loud = pieces[np.abs(pieces).max(axis=1) > 0.1]
    pitches = np.argmax(np.abs(np.fft.rfft(loud * np.hanning(step))), axis=1) * RATE_HZ / step
    return float(np.count_nonzero(np.abs(pitches - END_HZ) < 150)) / 100


WITHOUT_ITS_SERVER = """
import subprocess, sys, time
from PySide6.QtMultimedia import QMediaDevices
from PySide6.QtWidgets import QApplication
from app.ui.kit.theme import Theme
from app.ui.video.video_player import VideoPlayer

qt = QApplication(["-platform", "offscreen"])
assert QMediaDevices.audioOutputs()
player = VideoPlayer(Theme())
player.show_video(sys.argv[1], 64, 48)

def turn_until(fact):
    end = time.monotonic() + 60
    while not fact():
        assert time.monotonic() < end, player.position_ms
        qt.processEvents()

turn_until(lambda: player.frames_shown)
player.toggle()
turn_until(lambda: player.position_ms > 500)
subprocess.run(["pulseaudio", "--kill"], check=True)
turn_until(lambda: player.position_ms > 1500)
player.seek(200)
turn_until(lambda: 200 < player.position_ms < 1000)
player.toggle()
player.toggle()
turn_until(lambda: player.position_ms > 1500)
player.show_video("")
"""


def test_a_video_plays_on_when_the_sound_server_ends(film: Path) -> None:
    pulse = start()
    try:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_ITS_SERVER, str(film)],
            env=pulse.environ,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        pulse.close()
    assert done.returncode == 0, done.stderr


async def test_without_a_loudspeaker_it_plays_silently(
    window: QWidget, theme: Theme, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_SERVER", NOWHERE)
    player = VideoPlayer(theme, window)
    player.show_video(str(film), 64, 48)
    await until(lambda: player.frames_shown)
    player.toggle()
    await until(lambda: player.position_ms > 1_000)
    assert player.stop()
