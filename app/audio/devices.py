"""Which loudspeakers and microphones there are, under ids that last, and how one of them is opened.

PortAudio plays and records, but it knows the devices of the moment it was loaded, and a sound server (PulseAudio,
PipeWire) is one single device to it. So the list that people see comes from the system where somebody hands it in
(`SystemDevice`, read by `app.ui.kit.sound.device_watch`, which also hears of plugging) and from PortAudio elsewhere. A
sound server that was started anew has others than the system's list still says, so it is asked itself; it is told by an
environment variable which of its devices a new stream belongs to.

Everything here may take a while: call it in a thread. sounddevice is imported by the first call.
"""

from __future__ import annotations

import ctypes.util
import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from app.audio.pulse_source import ServerDevice, server_devices
from app.translation import tr

if TYPE_CHECKING:
    from types import ModuleType

Direction = Literal["output", "input"]

WASAPI = "Windows WASAPI"  # lists every device of Windows once; MME, DirectSound and WDM-KS list them again
SERVERS = ("pulse", "pipewire")  # PortAudio's names for a whole sound server
SERVER_PREFIX = "server:"
_SERVER_VARIABLE = {"output": "PULSE_SINK", "input": "PULSE_SOURCE"}
_CHANNELS = {"output": "max_output_channels", "input": "max_input_channels"}
_PORTAUDIO = "libportaudio.so.2"
LOOK_AGAIN_S = 30.0  # PortAudio keeps some 12 KB for every look
# PortAudio's numbers
_BUSY = frozenset({-9985})  # device unavailable
_GONE = frozenset({-9996, -9998})  # invalid device, invalid channel count: it was another device a moment ago


class AudioProblem(Enum):
    """Why there is no sound."""

    LIBRARY = "library"
    DEVICE = "device"
    BUSY = "busy"
    LOST = "lost"
    FAILED = "failed"


_SENTENCES: dict[tuple[AudioProblem, Direction], str] = {
    (
        AudioProblem.LIBRARY,
        "output",
    ): tr(
        "Playback needs PortAudio, which is not installed on this computer. Speech is still saved and can be "
        "exported as a file."
    ),
    (AudioProblem.LIBRARY, "input"): tr("Recording needs PortAudio, which is not installed on this computer."),
    (AudioProblem.DEVICE, "output"): tr("No speakers or headphones found. Speech is saved until you connect some."),
    (AudioProblem.DEVICE, "input"): tr("No microphone found."),
    (AudioProblem.BUSY, "output"): tr("Another program is using the speakers. Close it, or choose another output."),
    (AudioProblem.BUSY, "input"): tr("Another program is using the microphone. Close it, or choose another input."),
    (
        AudioProblem.LOST,
        "output",
    ): tr("The speakers were disconnected. Choose another output to continue from the same position."),
    (AudioProblem.LOST, "input"): tr("The microphone was disconnected."),
    (AudioProblem.FAILED, "output"): tr("The speakers could not be opened."),
    (AudioProblem.FAILED, "input"): tr("The microphone could not be opened."),
}


class AudioUnavailable(Exception):
    """There is no sound, for `missing`. `sentence` is ready to be shown; `detail` is what the library said."""

    def __init__(self, missing: AudioProblem, direction: Direction, detail: str = "") -> None:
        self.missing = missing
        self.direction = direction
        self.detail = detail
        self.sentence = _SENTENCES[missing, direction]
        super().__init__(self.sentence)


@dataclass(frozen=True, slots=True)
class SystemDevice:
    """A device as the system names it. `id` is lasting; `channels` at most."""

    id: str
    name: str
    direction: Direction
    channels: int = 2
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """A device that can be opened. `id` lasts over restarts and replugging; "" stands for the system's default.

    `channels` is 0 where nobody says how many it has.
    """

    id: str
    name: str
    direction: Direction
    channels: int
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """Where a stream goes: PortAudio's number, and what a sound server is told. `channels` at most.

    `settings` go to the stream as its `extra_settings`.
    """

    index: int
    server_name: str = ""
    channels: int = 0
    settings: Any = None


class _Use:
    """Who is at PortAudio: it may be begun anew only where no stream is open, and a process has one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.open_streams = 0


_OF_THIS_PROCESS = _Use()


class AudioHost:
    """PortAudio, loaded once and asked anew when devices come and go. One per program; safe to use from threads."""

    def __init__(self, load: Callable[[], ModuleType] | None = None) -> None:
        self._load = load or _load_sounddevice
        self._use = _OF_THIS_PROCESS if load is None else _Use()
        self._sounddevice: ModuleType | None = None
        self._system: tuple[SystemDevice, ...] = ()
        self._is_stale = True  # another host of this process may have looked long ago
        self._looked_at_s = 0.0  # monotonic

    def note_system(self, devices: Sequence[SystemDevice]) -> None:
        """Take the system's list. Cheap: where it changed, PortAudio is asked anew by whoever opens or lists next."""
        if tuple(devices) != self._system:
            self._system = tuple(devices)
            self._is_stale = True

    def devices(self, direction: Direction) -> tuple[Device, ...]:
        """List what can be opened, the default first. Raises `AudioUnavailable` without PortAudio; may be empty."""
        with self._use.lock:
            if not self._system and time.monotonic() - self._looked_at_s > LOOK_AGAIN_S:
                self._is_stale = True  # nobody says what is plugged in
            rows = self._rows(direction)
            server = _server_of(rows)
            listed = {device.id: device for device in self._system if device.direction == direction}
            on_server = self._on_server(direction) if server is not None else {}
            if on_server or (server is not None and listed):
                found = [
                    Device(
                        SERVER_PREFIX + id_,
                        listed[id_].name if id_ in listed else one.name,
                        direction,
                        one.channels,
                        id_ in listed and listed[id_].is_default,
                    )
                    for id_, one in on_server.items()
                ]
            else:
                default = self._default_index(direction)
                found = [
                    Device(_lasting_id(row), row["name"], direction, row[_CHANNELS[direction]], index == default)
                    for index, row in rows.items()
                ]
        return tuple(sorted(found, key=lambda device: not device.is_default))

    @contextmanager
    def opening(self, direction: Direction, device_id: str = "") -> Iterator[tuple[ModuleType, Target]]:
        """Open a stream inside this block: `with host.opening("output", id) as (sounddevice, target)`.

        A device that is not there any more gives way to the system's default. PortAudio's failures leave the block
        as `AudioUnavailable`.
        """
        with self._use.lock:
            target = self._target(direction, device_id)
            assert self._sounddevice is not None
            variable = _SERVER_VARIABLE[direction]
            before = os.environ.get(variable)
            if target.server_name:
                os.environ[variable] = target.server_name  # read by the sound server's library as it connects
            try:
                yield self._sounddevice, target
                self._use.open_streams += 1
            except self._sounddevice.PortAudioError as error:
                raise reason(error, direction) from error
            finally:
                if target.server_name:
                    if before is None:
                        os.environ.pop(variable, None)
                    else:
                        os.environ[variable] = before

    def closed(self) -> None:
        """Say that a stream opened here was closed; PortAudio can be asked anew only when none is open."""
        with self._use.lock:
            self._use.open_streams = max(0, self._use.open_streams - 1)

    def _target(self, direction: Direction, device_id: str) -> Target:
        rows = self._rows(direction)
        if not rows:
            self._is_stale = True  # one may have been plugged in
            rows = self._rows(direction)
        if not rows:
            raise AudioUnavailable(AudioProblem.DEVICE, direction)
        server = _server_of(rows)
        if server is not None:
            name = device_id.removeprefix(SERVER_PREFIX) if device_id.startswith(SERVER_PREFIX) else ""
            if name and (known := self._on_server(direction)) and name not in known:
                name = ""
            return Target(server, name, rows[server][_CHANNELS[direction]])
        default = self._default_index(direction)
        chosen = default if default in rows else next(iter(rows))
        for index, row in rows.items():
            if device_id and _lasting_id(row) == device_id:
                chosen = index
        return Target(chosen, "", rows[chosen][_CHANNELS[direction]], self._settings(rows[chosen]))

    def _on_server(self, direction: Direction) -> dict[str, ServerDevice]:
        """What the sound server has, by its own ids; as far as the system's list tells where it cannot be asked."""
        asked = server_devices(direction)
        if asked is not None:
            return asked
        return {
            one.id: ServerDevice(one.name, one.channels if direction == "output" else 0)
            for one in self._system
            if one.direction == direction
        }

    def _rows(self, direction: Direction) -> dict[int, dict[str, Any]]:
        """PortAudio's devices of one direction, by number."""
        sounddevice = self._library(direction)
        if self._is_stale and not self._use.open_streams:
            self._is_stale = False
            self._looked_at_s = time.monotonic()
            # What sounddevice does at its end and its beginning; there is no public way to look for devices again.
            sounddevice._terminate()  # noqa: SLF001
            sounddevice._initialize()  # noqa: SLF001
        try:
            rows = [dict(row) for row in sounddevice.query_devices()]
        except sounddevice.PortAudioError as error:
            raise reason(error, direction) from error
        apis = [api["name"] for api in sounddevice.query_hostapis()]
        found = {
            index: {**row, "api": apis[row["hostapi"]]}
            for index, row in enumerate(rows)
            if row[_CHANNELS[direction]] > 0
        }
        return {index: row for index, row in found.items() if row["api"] == WASAPI} or found

    def _default_index(self, direction: Direction) -> int:
        assert self._sounddevice is not None
        for api in self._sounddevice.query_hostapis():
            if api["name"] == WASAPI:  # PortAudio's own default is one of MME
                return int(api[f"default_{direction}_device"])
        return int(self._sounddevice.default.device[0 if direction == "input" else 1])

    def _settings(self, row: dict[str, Any]) -> Any:
        """What lets WASAPI take any sample rate and number of channels; otherwise only the device's own."""
        assert self._sounddevice is not None
        return self._sounddevice.WasapiSettings(auto_convert=True) if row["api"] == WASAPI else None

    def _library(self, direction: Direction) -> ModuleType:
        if self._sounddevice is None:
            try:
                self._sounddevice = self._load()
            except (ImportError, OSError) as error:  # OSError: sounddevice is there, PortAudio itself is not
                raise AudioUnavailable(AudioProblem.LIBRARY, direction, str(error)) from error
        return self._sounddevice


def reason(error: Exception, direction: Direction) -> AudioUnavailable:
    """Put a failure of PortAudio into words."""
    code = next((arg for arg in error.args if isinstance(arg, int)), 0)
    if code in _BUSY:
        return AudioUnavailable(AudioProblem.BUSY, direction, str(error))
    if code in _GONE:
        return AudioUnavailable(AudioProblem.DEVICE, direction, str(error))
    return AudioUnavailable(AudioProblem.FAILED, direction, str(error))


def _server_of(rows: dict[int, dict[str, Any]]) -> int | None:
    return next((index for index, row in rows.items() if row["name"] in SERVERS), None)


def _lasting_id(row: dict[str, Any]) -> str:
    """Numbers change with plugging; the name under its host does not."""
    return f"{row['api']}:{row['name']}"


def _load_sounddevice() -> ModuleType:
    """Import sounddevice, which looks for PortAudio in the system's list of libraries and, except on Linux, beside it.

    A built program brings one along on Linux: the loader finds it by its name, though no list has it.
    """
    listed = ctypes.util.find_library
    ctypes.util.find_library = lambda name: listed(name) or (_PORTAUDIO if name == "portaudio" else None)
    try:
        return importlib.import_module("sounddevice")
    finally:
        ctypes.util.find_library = listed
