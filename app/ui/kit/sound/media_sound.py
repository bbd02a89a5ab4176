"""The sound of what a QMediaPlayer plays, through PortAudio as all other sound of the program.

QtMultimedia 6.11 has an output of its own, but on Linux it ends the process when a video is played, sought or stopped
after PulseAudio has gone: it asks libpulse for the state of a connection that is not there, and libpulse aborts. So the
player only decodes, and hands the sound over in the moment in which it should be heard.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.audio.devices import AudioHost, AudioUnavailable
from app.audio.speaker import PortAudioSpeaker
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtMultimedia import QAudioBuffer, QAudioBufferOutput, QMediaPlayer


RATE_HZ = 48_000
CHANNELS = 2
AHEAD = bytes(RATE_HZ * 40 // 1000 * CHANNELS * 2)  # silence, so that a pause of the window does not tear the sound
LATE_FRAMES = RATE_HZ * 250 // 1000  # more than that behind the image is dropped


class MediaSound:
    """Silent until `open`, and without a loudspeaker. All of it belongs to the window's thread."""

    def __init__(self, player: QMediaPlayer) -> None:
        self.is_muted = False
        self._speaker: PortAudioSpeaker | None = None
        self._finishing: PortAudioSpeaker | None = None
        self._is_wanted = self._is_opening = False
        self._buffers = _buffers_of(player)
        self._buffers.audioBufferReceived.connect(self._take)

    def open(self) -> None:
        """Look for a loudspeaker, in a thread; what is played before it is there is not heard."""
        self._is_wanted = True
        if self._speaker is None and not self._is_opening:
            self._is_opening = True
            application = QCoreApplication.instance()
            assert application is not None
            run_in_pool(application, _open_speaker, self._opened)

    def _opened(self, speaker: PortAudioSpeaker | None) -> None:
        self._is_opening, self._speaker = False, speaker
        if not self._is_wanted:
            self.close()

    def clear(self) -> None:
        """Forget what waits to be heard."""
        for speaker in (self._speaker, self._finishing):
            if speaker is not None:
                speaker.clear()

    def close(self) -> None:
        """Be silent at once and give the loudspeaker back."""
        self.clear()
        self._give_back(PortAudioSpeaker.close)

    def finish(self) -> None:
        """Let what waits be heard, then give the loudspeaker back."""
        self._finishing = self._speaker or self._finishing
        self._give_back(PortAudioSpeaker.finish)

    def _give_back(self, end: Callable[[PortAudioSpeaker], None]) -> None:
        self._is_wanted = False
        speaker, self._speaker = self._speaker, None
        application = QCoreApplication.instance()
        if speaker is not None and application is not None:
            run_in_pool(application, partial(end, speaker), lambda _: None)

    def _take(self, buffer: QAudioBuffer) -> None:
        speaker = self._speaker
        if speaker is None or self.is_muted or not buffer.isValid() or speaker.queued > LATE_FRAMES:
            return
        if not speaker.is_alive:
            self.close()
            return
        speaker.write_pcm((b"" if speaker.queued else AHEAD) + bytes(buffer.constData()))


def _buffers_of(player: QMediaPlayer) -> QAudioBufferOutput:
    from PySide6.QtMultimedia import QAudioBufferOutput, QAudioFormat

    format_ = QAudioFormat()
    format_.setSampleRate(RATE_HZ)
    format_.setChannelCount(CHANNELS)
    format_.setSampleFormat(QAudioFormat.SampleFormat.Int16)
    buffers = QAudioBufferOutput(format_, player)
    player.setAudioBufferOutput(buffers)
    return buffers


def _open_speaker() -> PortAudioSpeaker | None:
    host = AudioHost()
    try:
        return PortAudioSpeaker(host, RATE_HZ, channels=CHANNELS)
    except AudioUnavailable:
        return None  # the video plays silently
