"""A real microphone: PulseAudio's null sinks, PortAudio, real time. What is said into it is what the file holds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable, SystemDevice
from app.audio.microphone import MicrophoneChoice, open_microphone
from app.audio.recording import Recorder
from app.sandbox.media.sound import Sound
from app.sandbox.media.transcription_engine import recognize
from tests.audio.pulse import NOWHERE, Pulse
from tests.audio.recorded import tone
from tests.audio.sounds import steadiest
from tests.kit.transcription import words_heard
from tests.kit.waiting import block_until
from tests.sandbox.test_transcription import samples

RATE_HZ = 48_000
PARAGRAPH = "The train leaves the station at seven. I would like a cup of coffee and a piece of bread."


@pytest.fixture
def host() -> Iterator[AudioHost]:
    yield AudioHost()


def source(pulse: Pulse) -> SystemDevice:
    return SystemDevice(pulse.source, pulse.source_name, "input", 1, True)


def recorded(pulse: Pulse, host: AudioHost, path: Path, said: Path, device: str = "", feed: str = "") -> np.ndarray:
    """Say a file into the microphone while it is recorded; return what the recording holds."""
    recorder = Recorder(open_microphone(host, MicrophoneChoice(device)), path)
    recorder.start()
    block_until(lambda: recorder.snapshot().has_sound)
    pulse.play(said, feed).wait(60)
    heard = recorder.snapshot().seconds
    block_until(lambda: recorder.snapshot().seconds > heard + 0.3)
    state = recorder.stop()
    assert state.reason is None
    found, rate = soundfile.read(path)
    assert rate == 16_000
    return np.asarray(found)


def test_a_tone_played_is_the_tone_recorded_in_pitch_and_level(pulse: Pulse, host: AudioHost, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "tone.wav", tone(440, 6.0, 0.5, RATE_HZ), RATE_HZ)
    found = recorded(pulse, host, tmp_path / "r.wav", tmp_path / "tone.wav")
    assert steadiest(found, 440, 16_000) == (pytest.approx(440, abs=1), pytest.approx(0.3535, abs=0.01))


def test_a_microphone_is_chosen_by_its_lasting_id(pulse: Pulse, host: AudioHost, tmp_path: Path) -> None:
    module = pulse.plug_microphone("second", "Second microphone")
    host.note_system([source(pulse), SystemDevice("second", "Second microphone", "input", 1)])
    try:
        listed = host.devices("input")
        assert [each.name for each in listed] == [pulse.source_name, "Second microphone"]
        soundfile.write(tmp_path / "tone.wav", tone(880, 1.5, 0.25, RATE_HZ), RATE_HZ)
        found = recorded(pulse, host, tmp_path / "r.wav", tmp_path / "tone.wav", listed[1].id, "second_feed")
        assert steadiest(found, 880, 16_000, 0.5)[0] == pytest.approx(880, abs=1)
    finally:
        pulse.unplug(module)


def test_the_sandboxs_voice_through_the_microphone_is_understood(pulse: Pulse, host: AudioHost, tmp_path: Path) -> None:
    """At least 70 % of the words of a clear English paragraph, in their order."""
    soundfile.write(tmp_path / "said.wav", samples(PARAGRAPH), 16_000)
    found = recorded(pulse, host, tmp_path / "r.wav", tmp_path / "said.wav")
    heard = " ".join(segment.text for segment in recognize(Sound((found * 32767).astype(np.int16), 16_000)))
    assert words_heard(PARAGRAPH, heard) >= 0.7, heard


def test_a_microphone_that_is_not_the_default_is_missed_when_it_is_pulled_out(
    pulse: Pulse, host: AudioHost, tmp_path: Path
) -> None:
    """The server would go on with another microphone; nobody wants that in a recording."""
    module = pulse.plug_microphone("other", "Other microphone")
    host.note_system([source(pulse), SystemDevice("other", "Other microphone", "input", 1)])
    recorder = Recorder(open_microphone(host, MicrophoneChoice("server:other")), tmp_path / "r.wav")
    recorder.start()
    try:
        block_until(lambda: recorder.snapshot().seconds > 2.5)  # asked once by now, and still there
        assert not recorder.snapshot().is_over
    finally:
        pulse.unplug(module)
    block_until(lambda: recorder.snapshot().is_over)
    reason = recorder.stop().reason
    assert reason is not None
    assert reason.kind == "gone"
    assert soundfile.info(tmp_path / "r.wav").duration > 2.5


def test_the_sound_server_ending_mid_recording_keeps_the_file_and_says_so(host: AudioHost, tmp_path: Path) -> None:
    """The whole server goes, with every device: the stream ends or falls silent for good, and the file stays."""
    from tests.audio.pulse import start

    own = start()
    patch = pytest.MonkeyPatch()
    for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR"):
        patch.setenv(name, own.environ[name])
    try:
        recorder = Recorder(open_microphone(host, MicrophoneChoice()), tmp_path / "r.wav")
        recorder.start()
        block_until(lambda: recorder.snapshot().seconds > 0.5)
    finally:
        own.close()
    block_until(lambda: recorder.snapshot().is_over)
    state = recorder.stop()
    patch.undo()
    assert state.reason is not None
    assert state.reason.sentence == "The microphone was disconnected. Everything up to that point is saved."
    assert soundfile.info(tmp_path / "r.wav").duration == pytest.approx(state.seconds, abs=0.001)
    assert state.seconds > 0.5


# What is missing has its own sentence, and nothing hangs


def test_without_portaudio(tmp_path: Path) -> None:
    def missing() -> object:
        raise OSError("PortAudio library not found")

    with pytest.raises(AudioUnavailable) as caught:
        open_microphone(AudioHost(missing), MicrophoneChoice())  # type: ignore[arg-type]  # never returns a module
    assert caught.value.missing is AudioProblem.LIBRARY
    assert "PortAudio, which is not installed" in caught.value.sentence


def test_without_any_device() -> None:
    """In a process of its own: PortAudio looks for devices once, and this one has found some."""
    import os
    import subprocess
    import sys

    code = (
        "from app.audio.devices import AudioHost, AudioUnavailable\n"
        "from app.audio.microphone import MicrophoneChoice, open_microphone\n"
        "try:\n    open_microphone(AudioHost(), MicrophoneChoice())\n"
        "except AudioUnavailable as error:\n    print(error.missing.value, error.sentence)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PULSE_SERVER": NOWHERE},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.stdout.startswith("device No microphone found"), done.stdout + done.stderr[-500:]


class _Library:
    """A PortAudio whose devices do as a test says."""

    class PortAudioError(Exception):
        pass

    default = type("Default", (), {"device": (0, 0)})()

    def __init__(self, opening: object) -> None:
        self._opening = opening

    def query_devices(self, index: int | None = None) -> object:
        row = {
            "name": "Card",
            "hostapi": 0,
            "max_input_channels": 1,
            "max_output_channels": 0,
            "default_samplerate": 44_100.0,
        }
        return row if index is not None else [row]

    def _initialize(self) -> None: ...

    def _terminate(self) -> None: ...

    def query_hostapis(self) -> list[dict[str, str]]:
        return [{"name": "ALSA"}]

    def RawInputStream(self, **kwargs: object) -> object:
        return self._opening(self, kwargs)  # type: ignore[operator]  # a callable


def test_a_device_that_another_program_holds() -> None:
    def busy(library: _Library, kwargs: object) -> object:
        raise library.PortAudioError("Device unavailable", -9985)

    with pytest.raises(AudioUnavailable) as caught:
        open_microphone(AudioHost(lambda: _Library(busy)), MicrophoneChoice())  # type: ignore[arg-type, return-value]
    assert caught.value.missing is AudioProblem.BUSY
    assert "Another program is using the microphone" in caught.value.sentence


def test_a_device_that_never_answers_is_given_up() -> None:
    gate = threading.Event()

    def hang(library: _Library, kwargs: object) -> object:
        gate.wait(30)
        raise library.PortAudioError("late", -9985)

    with pytest.raises(AudioUnavailable) as caught:
        open_microphone(AudioHost(lambda: _Library(hang)), MicrophoneChoice(), timeout_s=0.05)  # type: ignore[arg-type, return-value]
    gate.set()
    assert caught.value.missing is AudioProblem.BUSY


def test_a_device_that_cannot_do_16_khz_is_opened_at_its_own_rate() -> None:
    tried: list[int] = []

    class Stream:
        def start(self) -> None: ...

    def open_stream(library: _Library, kwargs: dict[str, int]) -> object:
        tried.append(kwargs["samplerate"])
        if kwargs["samplerate"] == 16_000:
            raise library.PortAudioError("Invalid sample rate", -9997)
        return Stream()

    stream = open_microphone(AudioHost(lambda: _Library(open_stream)), MicrophoneChoice())  # type: ignore[arg-type, return-value]
    assert tried == [16_000, 44_100]
    assert stream.rate_hz == 44_100
