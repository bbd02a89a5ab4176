"""What the tests of sound share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.audio.devices import AudioHost, SystemDevice
from tests.audio.pulse import Pulse


@pytest.fixture
def host(pulse: Pulse) -> Iterator[AudioHost]:
    """PortAudio on the test's sound server, told of its devices as the window would."""
    host = AudioHost()
    host.note_system(system_devices(pulse))
    yield host


def system_devices(pulse: Pulse) -> tuple[SystemDevice, ...]:
    """What QtMultimedia lists, without Qt."""
    return (
        SystemDevice(pulse.sink, pulse.sink_name, "output", is_default=True),
        SystemDevice(pulse.feed, "Feed of the microphone", "output"),
        SystemDevice(pulse.source, pulse.source_name, "input", is_default=True),
    )
