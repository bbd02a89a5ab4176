"""Devices: a list with lasting ids, and a sentence of its own for every way in which there is no sound."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.audio import speaker
from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable, SystemDevice, reason
from app.audio.microphone import MicrophoneChoice, open_microphone
from app.audio.pulse_source import server_devices, source_is_gone
from app.ui.kit.sound.device_watch import DeviceWatch
from tests.audio.conftest import system_devices
from tests.audio.pulse import NOWHERE, SINK_NAME, Pulse, start
from tests.kit.portable import not_on_windows


class PortAudioError(Exception):
    pass


def sounddevice_with(*rows: dict[str, object], default: tuple[int, int] = (0, 0)) -> SimpleNamespace:
    """A PortAudio with these devices and nothing behind them."""
    return SimpleNamespace(
        PortAudioError=PortAudioError,
        query_devices=lambda: list(rows),
        query_hostapis=lambda: [{"name": "Core"}],
        default=SimpleNamespace(device=default),
        _terminate=lambda: None,
        _initialize=lambda: None,
    )


def row(name: str, outputs: int = 0, inputs: int = 0) -> dict[str, object]:
    return {"name": name, "hostapi": 0, "max_output_channels": outputs, "max_input_channels": inputs}


class Windows:
    """What PortAudio says on Windows: each device under four systems of sound, and a mapper that is none of them."""

    PortAudioError = PortAudioError
    APIS = ("MME", "Windows DirectSound", "Windows WASAPI", "Windows WDM-KS")
    DEVICES = (("Speakers", 2, 0), ("Headset", 2, 0), ("Headset", 0, 1), ("Microphone", 0, 2))

    def __init__(self) -> None:
        self.opened: list[dict[str, Any]] = []
        self.default = SimpleNamespace(device=(1, 0))  # the mappers of MME
        self.rows = [
            {**row(name, outputs, inputs), "hostapi": number, "default_samplerate": 48_000.0}
            for number in range(4)
            for name, outputs, inputs in (("Mapper", 2 * (number == 0), 0), *self.DEVICES)
        ]

    def query_devices(self, index: int | None = None) -> Any:
        return self.rows if index is None else self.rows[index]

    def query_hostapis(self) -> list[dict[str, Any]]:
        first = [5 * number for number in range(4)]
        return [
            {"name": name, "default_output_device": at + 2, "default_input_device": at + 4}
            for name, at in zip(self.APIS, first, strict=True)
        ]

    def WasapiSettings(self, *, auto_convert: bool) -> object:
        return ("wasapi", auto_convert)

    def _terminate(self) -> None: ...

    def _initialize(self) -> None: ...

    def OutputStream(self, **values: Any) -> Any:
        """WASAPI refuses every rate but the device's own, unless it may convert."""
        of_wasapi = self.rows[values["device"]]["hostapi"] == 2
        if of_wasapi and values["samplerate"] != 48_000 and values["extra_settings"] != ("wasapi", True):
            raise PortAudioError("Invalid sample rate", -9997)
        self.opened.append(values)
        return SimpleNamespace(start=lambda: None, abort=lambda **_: None, close=lambda **_: None)

    RawInputStream = OutputStream


def test_windows_lists_each_device_once_and_plays_on_the_chosen_one_at_any_rate() -> None:
    windows = Windows()
    host = AudioHost(lambda: windows)
    outputs, inputs = host.devices("output"), host.devices("input")
    assert [(device.name, device.is_default) for device in outputs] == [("Headset", True), ("Speakers", False)]
    assert [(device.name, device.is_default) for device in inputs] == [("Microphone", True), ("Headset", False)]
    opened = speaker.PortAudioSpeaker(host, 24_000, outputs[1].id)
    opened.close()
    microphone = open_microphone(host, MicrophoneChoice(inputs[0].id), 24_000)
    microphone.close()
    played, recorded = windows.opened
    assert (played["device"], played["samplerate"]) == (11, 24_000)
    assert (recorded["device"], recorded["samplerate"]) == (14, 24_000)


def test_the_devices_of_a_sound_server_are_listed_by_their_lasting_names(host: AudioHost, pulse: Pulse) -> None:
    outputs = host.devices("output")
    assert [(device.id, device.name, device.is_default) for device in outputs] == [
        (f"server:{pulse.sink}", pulse.sink_name, True),
        (f"server:{pulse.feed}", "Feed of the microphone", False),
    ]
    assert [device.id for device in host.devices("input")] == [f"server:{pulse.source}"]


def test_a_sound_server_is_asked_how_many_channels_a_microphone_has(host: AudioHost, pulse: Pulse) -> None:
    """QtMultimedia lists a mono microphone with as many channels as the server could make of it."""
    modules = [pulse.plug_microphone(f"mic_{count}", f"Microphone of {count}", count) for count in (1, 2)]
    try:
        host.note_system([SystemDevice(f"mic_{count}", f"Microphone of {count}", "input", 8) for count in (1, 2)])
        channels = {device.name: device.channels for device in host.devices("input")}
        assert (channels["Microphone of 1"], channels["Microphone of 2"]) == (1, 2)
    finally:
        for module in modules:
            pulse.unplug(module)


def test_where_nobody_says_how_many_channels_there_are_none_are_claimed(
    host: AudioHost, pulse: Pulse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server_devices("input")
    with monkeypatch.context() as patch:
        patch.setenv("PULSE_SERVER", NOWHERE)
        assert server_devices("input") is None
    monkeypatch.setattr("app.audio.devices.server_devices", lambda _direction: None)
    host.note_system([SystemDevice(pulse.source, pulse.source_name, "input", 8)])
    assert [device.channels for device in host.devices("input")] == [0]


def test_a_microphone_is_gone_only_when_the_server_says_so(pulse: Pulse, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not source_is_gone(pulse.source)
    assert source_is_gone("pulled_out")
    monkeypatch.setenv("PULSE_SERVER", NOWHERE)
    assert not source_is_gone("pulled_out")


@not_on_windows
def test_a_sound_server_that_does_not_answer_holds_a_question_for_seconds_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libpulse itself would wait for half a minute, and a recording with it."""
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "socket"))
        silent.listen()
        monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path / 'socket'}")
        began = time.monotonic()
        assert not source_is_gone("pulled_out")
        assert server_devices("input") is None
        assert time.monotonic() - began < 20


def test_a_microphone_that_portaudio_did_not_see_at_first_is_found_at_the_next_opening() -> None:
    plugged_in, known = [row("Desk", outputs=2)], []
    library = sounddevice_with(default=(0, 0))
    library.query_devices = lambda: list(known)
    library._initialize = lambda: known.extend(plugged_in[len(known) :])
    host = AudioHost(lambda: library)
    assert host.devices("input") == ()
    plugged_in.append(row("Mic", inputs=1))
    with host.opening("input") as (_, target):
        assert target.index == 1


def test_a_stream_is_told_its_device_and_the_environment_is_as_before(host: AudioHost, pulse: Pulse) -> None:
    with host.opening("output", f"server:{pulse.feed}") as (_, target):
        assert os.environ["PULSE_SINK"] == target.server_name == pulse.feed
    host.closed()
    assert "PULSE_SINK" not in os.environ


def test_a_sound_server_that_was_started_anew_lists_and_opens_what_it_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """QtMultimedia, and so the system's list, knows what there was before."""
    host, before = AudioHost(), start()
    for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, before.environ[name])
    try:
        host.note_system(system_devices(before))
        assert [device.name for device in host.devices("output")] == [SINK_NAME, "Feed of the microphone"]
    finally:
        before.close()
    now = start()
    for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, now.environ[name])
    try:
        now.plug("headset", "Headset")
        now.plug_microphone("headset_microphone", "Headset microphone")
        host.note_system(system_devices(before))  # as whoever wants to know hands it in
        outputs = {device.name: device.id for device in host.devices("output")}
        assert outputs["Headset"] == "server:headset"
        inputs = [device.name for device in host.devices("input")]
        assert inputs == [before.source_name, "Headset microphone"]
        with host.opening("output", "server:headset") as (_, target):
            assert target.server_name == "headset"
        host.closed()
    finally:
        now.close()


def test_a_device_that_is_gone_gives_way_to_the_default(host: AudioHost) -> None:
    with host.opening("output", "server:unplugged") as (_, target):
        assert target.server_name == ""
    host.closed()


def test_without_a_sound_server_portaudio_lists_its_own() -> None:
    host = AudioHost(lambda: sounddevice_with(row("Mic", inputs=1), row("Desk", outputs=2), default=(0, 1)))
    host.note_system((SystemDevice("x", "Desk", "output"),))
    (harness,) = host.devices("output")
    assert (harness.id, harness.name, harness.channels, harness.is_default) == ("Core:Desk", "Desk", 2, True)
    (mic,) = host.devices("input")
    assert mic.id == "Core:Mic"


def test_without_portaudio_one_sentence_says_so() -> None:
    def load() -> SimpleNamespace:
        raise OSError("PortAudio library not found")

    with pytest.raises(AudioUnavailable, match="PortAudio, which is not installed") as caught:
        AudioHost(load).devices("output")
    assert caught.value.missing is AudioProblem.LIBRARY


def test_portaudio_is_found_beside_the_program_though_the_system_s_list_does_not_name_it() -> None:
    script = """
import ctypes.util
ctypes.util.find_library = lambda name: None  # what it answers where PortAudio is not installed
from app.audio.devices import AudioHost
AudioHost().devices("output")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_without_a_device_one_sentence_says_so() -> None:
    host = AudioHost(lambda: sounddevice_with())
    assert host.devices("output") == ()
    with pytest.raises(AudioUnavailable, match="No speakers or headphones found"), host.opening("output"):
        pass
    with pytest.raises(AudioUnavailable, match="No microphone found"), host.opening("input"):
        pass


def test_listing_over_and_over_does_not_begin_portaudio_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps memory for each time."""
    library = sounddevice_with()
    looks: list[float] = []
    now = 1000.0
    library._initialize = lambda: looks.append(now)
    monkeypatch.setattr("app.audio.devices.time.monotonic", lambda: now)
    host = AudioHost(lambda: library)
    for _ in range(20):
        host.note_system(())
        host.devices("input")
        host.devices("output")
    assert looks == [1000.0]
    now += 31.0  # nobody says what is plugged in on this machine
    host.devices("input")
    assert looks == [1000.0, 1031.0]
    host.note_system((SystemDevice("x", "Headset", "input"),))
    host.devices("input")
    assert len(looks) == 3
    now += 31.0
    host.devices("input")  # the system says
    assert len(looks) == 3


def test_a_busy_device_has_a_sentence_of_its_own() -> None:
    host = AudioHost(lambda: sounddevice_with(row("Desk", outputs=2)))
    with pytest.raises(AudioUnavailable, match="Another program is using the speakers"), host.opening("output"):
        raise PortAudioError("Error opening OutputStream", -9985)


def test_a_host_finds_the_sound_server_that_came_after_another_host_had_looked(
    pulse: Pulse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("PULSE_SERVER", "unix:/nonexistent/pulse")
        AudioHost().devices("input")
    assert pulse.source in {device.id.removeprefix("server:") for device in AudioHost().devices("input")}


def test_portaudio_is_not_begun_anew_under_a_stream_of_another_host(
    pulse: Pulse, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    one, other = AudioHost(), AudioHost()
    with one.opening("output") as (sounddevice, _):
        pass
    monkeypatch.setattr(sounddevice, "_terminate", lambda: begun.append("again"))
    monkeypatch.setattr(sounddevice, "_initialize", lambda: None)
    other.devices("output")
    assert begun == []
    one.closed()
    other.devices("output")
    assert begun == ["again"]


def test_a_loudspeaker_that_is_slow_to_close_is_open_until_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    may_close, told = threading.Event(), threading.Event()

    class Stream:
        def start(self) -> None:
            pass

        def abort(self, ignore_errors: bool) -> None:
            may_close.wait(60)

        def close(self, ignore_errors: bool) -> None:
            pass

    library = sounddevice_with(row("Card", outputs=2))
    library.OutputStream = lambda **_: Stream()
    host = AudioHost(lambda: library)  # type: ignore[arg-type, return-value]
    monkeypatch.setattr(speaker, "CLOSE_TIMEOUT_S", 0.0)
    monkeypatch.setattr(host, "closed", told.set)
    speaker.PortAudioSpeaker(host, 24_000).close()
    assert not told.is_set()
    may_close.set()
    assert told.wait(60)


def test_two_channels_are_mixed_for_a_loudspeaker_of_one() -> None:
    class Stream:
        def start(self) -> None:
            pass

        def abort(self, ignore_errors: bool) -> None:
            pass

        close = abort

    def opened(*, channels: int, callback: object, **_: object) -> Stream:
        if channels > 1:
            raise PortAudioError("Error opening OutputStream: Invalid number of channels", -9998)
        played.append(callback)
        return Stream()

    played: list[Any] = []
    library = sounddevice_with(row("Card", outputs=1))
    library.OutputStream = opened
    mono = speaker.PortAudioSpeaker(AudioHost(lambda: library), 48_000, channels=2)  # type: ignore[arg-type, return-value]
    mono.write_pcm(np.array([1000, 3000, -32768, -32768, 32767, 32767], np.int16).tobytes())
    assert mono.queued == 3
    out = np.full((4, 1), 7, np.int16)
    (play,) = played
    play(out, 4, None, None)
    assert out[:, 0].tolist() == [2000, -32768, 32767, 0]
    mono.close()


def test_every_sentence_differs() -> None:
    said = [AudioUnavailable(missing, way).sentence for missing in AudioProblem for way in ("output", "input")]
    assert len(set(said)) == len(said)
    assert reason(PortAudioError("odd"), "output").missing is AudioProblem.FAILED


def test_plugging_and_unplugging_is_heard_of(pulse: Pulse, qtbot: QtBot) -> None:
    watch = DeviceWatch()
    watch.start()

    def names() -> list[str]:
        return [device.name for device in watch.devices if device.direction == "output"]

    qtbot.waitUntil(lambda: pulse.sink_name in names(), timeout=60_000)
    module = pulse.plug("headphones", "Headphones")
    qtbot.waitUntil(lambda: "Headphones" in names(), timeout=60_000)
    pulse.pactl("set-default-sink", "headphones")
    pulse.unplug(module)
    qtbot.waitUntil(lambda: "Headphones" not in names(), timeout=60_000)
