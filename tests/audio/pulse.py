"""A real PulseAudio for tests: a loudspeaker that can be listened to and a microphone that can be talked into.

Two null sinks stand for the devices. What Rialto plays on `SINK` is recorded from its monitor; what a test plays on
`FEED` comes out of the microphone `SOURCE`. A silent stream keeps every null sink awake: left alone, one works in
buffers of up to two seconds. The daemon lives in a private folder; `pulse` is a fixture of `tests/conftest.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

RATE_HZ = 48_000
SINK = "rialto_speaker"
SINK_NAME = "Test loudspeaker"
FEED = "rialto_feed"
SOURCE = "rialto_microphone"
SOURCE_NAME = "Test microphone"
START_TIMEOUT_S = 60.0
TAIL_S = 0.3
NOWHERE = "unix:/nonexistent/pulse"  # as PULSE_SERVER: a computer without sound; nothing is started for it


@dataclass
class Pulse:
    """A running daemon. `environ` is what a process needs to find it; this process has it already."""

    folder: Path
    environ: dict[str, str]
    sink: str = SINK
    sink_name: str = SINK_NAME
    monitor: str = f"{SINK}.monitor"
    feed: str = FEED
    source: str = SOURCE
    source_name: str = SOURCE_NAME
    rate_hz: int = RATE_HZ
    _helpers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def pactl(self, *words: str) -> str:
        """Run one command of pactl and return what it says."""
        done = subprocess.run(
            ["pactl", *words], env=self.environ, capture_output=True, encoding="utf-8", timeout=START_TIMEOUT_S
        )
        assert done.returncode == 0, f"pactl {' '.join(words)}: {done.stderr.strip()}"
        return done.stdout.strip()

    def plug(self, name: str, description: str = "Second loudspeaker", channels: int = 2) -> str:
        """Plug another loudspeaker in (its monitor is `name`.monitor) and return what `unplug` wants."""
        module = self.pactl(
            "load-module",
            "module-null-sink",
            f"sink_name={name}",
            f"rate={self.rate_hz}",
            f"channels={channels}",
            f"sink_properties='device.description=\"{description}\"'",
        )
        self.keep_awake(name)
        return module

    def plug_microphone(self, name: str, description: str = "Second microphone", channels: int = 1) -> str:
        """Plug another microphone in, fed by the monitor of a null sink `name`_feed."""
        feed = self.plug(f"{name}_feed", channels=channels)
        self.pactl(
            "load-module",
            "module-remap-source",
            f"master={name}_feed.monitor",
            f"source_name={name}",
            f"source_properties='device.description=\"{description}\"'",
        )
        return feed

    def unplug(self, module: str) -> None:
        self.pactl("unload-module", module)

    def keep_awake(self, sink: str) -> None:
        self._helpers.append(
            subprocess.Popen(
                ["pacat", "-p", "--latency-msec=20", f"--device={sink}", "--rate=48000", "--channels=1", "/dev/zero"],
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    @contextmanager
    def listening(self, seconds: float | None = None, device: str = "") -> Iterator[Path]:
        """Record what is played meanwhile; the path holds raw float32 mono at `rate_hz`, complete after the block.

        The block is entered when the first bytes have arrived. `seconds` is a limit for safety only.
        """
        path = self.folder / f"heard-{time.monotonic_ns()}.f32"
        with path.open("wb") as file:
            recorder = subprocess.Popen(
                [
                    "parec",
                    "--latency-msec=20",
                    f"--device={device or self.monitor}",
                    "--format=float32le",
                    f"--rate={self.rate_hz}",
                    "--channels=1",
                    "--raw",
                ],
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.DEVNULL,
            )
            try:
                _until(lambda: path.stat().st_size > 0, "the monitor gives no sound", seconds or START_TIMEOUT_S)
                yield path
                whole = path.stat().st_size + round(TAIL_S * self.rate_hz) * 4  # what is on its way is heard, too
                _until(lambda: path.stat().st_size > whole, "the monitor fell silent")
            finally:
                recorder.terminate()
                recorder.wait(START_TIMEOUT_S)

    def play(self, wav: Path, device: str = "") -> subprocess.Popen[bytes]:
        """Talk into the microphone: play a WAV file on the feed. Wait for the returned process to hear its end.

        The server is given two seconds ahead: with less, a busy computer leaves a hundred gaps in six seconds.
        """
        player = subprocess.Popen(
            ["paplay", "--latency-msec=2000", f"--device={device or self.feed}", str(wav)],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._helpers.append(player)
        return player

    def close(self) -> None:
        for helper in self._helpers:
            if helper.poll() is None:
                helper.terminate()
        for helper in self._helpers:
            helper.wait(START_TIMEOUT_S)
        # --kill reads the pid file of this private folder, so it can reach no other daemon.
        subprocess.run(["pulseaudio", "--kill"], env=self.environ, capture_output=True, timeout=START_TIMEOUT_S)
        shutil.rmtree(self.folder, ignore_errors=True)


def start() -> Pulse:
    """Start a daemon with its two devices; what it says goes into its folder."""
    folder = Path(tempfile.mkdtemp(prefix="rialto-pulse-"))
    folder.chmod(0o700)
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    environ.pop("PULSE_SERVER", None)
    log = folder / "pulseaudio.log"
    subprocess.run(
        [
            "pulseaudio",
            "-n",
            "--daemonize=yes",
            "--exit-idle-time=-1",
            f"--log-target=file:{log}",
            f"--load=module-native-protocol-unix socket={folder / 'socket'}",
        ],
        env=environ,
        check=True,
        capture_output=True,
        timeout=START_TIMEOUT_S,
    )
    environ["PULSE_SERVER"] = f"unix:{folder / 'socket'}"
    pulse = Pulse(folder, environ)
    _until(lambda: (folder / "socket").exists(), "the daemon does not answer")
    pulse.plug(SINK, SINK_NAME)
    pulse.plug(FEED, "Feed of the microphone", channels=1)
    pulse.pactl(
        "load-module",
        "module-remap-source",
        f"master={FEED}.monitor",
        f"source_name={SOURCE}",
        f"source_properties='device.description=\"{SOURCE_NAME}\"'",
    )
    pulse.pactl("set-default-sink", SINK)
    pulse.pactl("set-default-source", SOURCE)
    return pulse


def _until(holds: object, complaint: str, seconds: float = START_TIMEOUT_S) -> None:
    """Look every few milliseconds until `holds()`; another process cannot tell us."""
    assert callable(holds)
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, complaint
        time.sleep(0.005)
