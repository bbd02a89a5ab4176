"""Hears of loudspeakers and microphones that come and go, which PortAudio does not.

QtMultimedia is imported by the first `start`, long after the first paint. Without it the list is PortAudio's own, and
what is plugged in later shows at the next start. On PulseAudio, QtMultimedia 6.11 hears of a device that is pulled out
only when it was the default or another one comes, and of nothing once the server was started anew; whoever lists or
opens devices asks the server itself (`app.audio.pulse_source`), and one that is gone gives way to the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QLoggingCategory, QObject, Signal

from app.audio.devices import SystemDevice

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioDevice, QMediaDevices


class DeviceWatch(QObject):
    """`changed` comes after plugging and unplugging, and when the system's default moves. `devices` is always true."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._media: QMediaDevices | None = None
        self.devices: tuple[SystemDevice, ...] = ()

    def start(self) -> None:
        """Look, and go on looking. A second call does nothing."""
        if self._media is not None:
            return
        QLoggingCategory.setFilterRules("qt.multimedia.*=false")  # it complains of every backend that is not there
        try:
            from PySide6.QtMultimedia import QMediaDevices
        except ImportError:
            return
        self._media = QMediaDevices(self)
        self._media.audioOutputsChanged.connect(self._read)
        self._media.audioInputsChanged.connect(self._read)
        self._read()

    def _read(self) -> None:
        assert self._media is not None
        found = (
            *(_system_device(device, "output") for device in self._media.audioOutputs()),
            *(_system_device(device, "input") for device in self._media.audioInputs()),
        )
        if found != self.devices:
            self.devices = found
            self.changed.emit()


def _system_device(device: QAudioDevice, direction: Literal["output", "input"]) -> SystemDevice:
    return SystemDevice(
        id=bytes(device.id().data()).decode("utf-8", "replace"),
        name=device.description(),
        direction=direction,
        channels=device.maximumChannelCount(),
        is_default=device.isDefault(),
    )
