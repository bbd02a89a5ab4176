"""Speech: how soon the first sound is heard, what marking a sentence costs, and how wide a two-hour waveform opens.

The first sound is timed from the first byte that a decoder is given to the first block that is written to the
loudspeaker, for every format of speech; the bytes come a few at a time, as they do from a socket.
"""

import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from app.audio import waveform
from app.audio.decoding import StreamingBytes, arriving_blocks
from app.audio.devices import AudioHost
from app.audio.player import Player
from app.audio.spool import Spool
from tests.audio.sounds import encoded, tone
from tests.bench.harness import Ratio

KINDS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
RUNS = 5
PIECE = 1400  # bytes, about a packet
FIRST_SOUND_MS = 150.0
MARK_MS = 1.0
WORDS = 10_000
TWO_HOURS_S = 7200


class TimedSpeaker:
    """Says when it was given its first block."""

    def __init__(self, rate_hz: int, heard: threading.Event) -> None:
        self.rate_hz, self.queued, self.heard, self.is_alive = rate_hz, 0, -1, True
        self._heard = heard
        self.at = 0.0

    def write(self, samples: object, place: int) -> None:
        if not self.at:
            self.at = time.perf_counter()
            self._heard.set()
        self.heard = place

    def clear(self) -> None:
        self.heard = -1

    def close(self) -> None:
        self.is_alive = False


def first_sound_ms(kind: str, data: bytes, folder: Path) -> float:
    """Return the time from the first byte to the first block at the loudspeaker."""
    heard = threading.Event()
    speakers: list[TimedSpeaker] = []

    def make(rate_hz: int, device_id: str) -> TimedSpeaker:
        speakers.append(TimedSpeaker(rate_hz, heard))
        return speakers[-1]

    spool, arriving = Spool(folder / "bench.pcm"), StreamingBytes()
    player = Player(AudioHost(), make=make)
    player.load(spool)
    player.prepare(24_000)
    player.play()
    decoder = threading.Thread(target=lambda: [spool.add(one) for one in arriving_blocks(arriving, kind)])
    decoder.start()
    time.sleep(0.05)
    begun = time.perf_counter()
    for at in range(0, len(data), PIECE):
        arriving.feed(data[at : at + PIECE])
        if heard.wait(0.001):
            break
    arriving.finish()
    heard.wait(5)
    decoder.join()
    player.close()
    spool.close()
    return (speakers[-1].at - begun) * 1000


def mark_ms() -> float:
    """Return the processor time of marking one sentence of 10,000 words, painting included."""
    from PySide6.QtWidgets import QApplication

    from app.service.speech_text import sentences
    from app.ui.kit.theme import Theme
    from app.ui.speech.editor import SpeechEditor

    application = QApplication.instance() or QApplication([])
    theme = Theme()
    editor = SpeechEditor(theme)
    editor.resize(760, 600)
    editor.set_text("A sentence of eight words stands right here. " * (WORDS // 8))
    editor.show()
    application.processEvents()
    spans = sentences(editor.toPlainText())[:200]
    begun = time.thread_time()
    for span in spans:
        editor.show_spoken(span)
        application.processEvents()  # paints what the mark left and where it came
    passed = (time.thread_time() - begun) * 1000 / len(spans)
    editor.close()
    return passed


def waveform_ms(folder: Path) -> float:
    """Return how long the waveform of two hours takes from its cache to the bars of a window."""
    import numpy as np

    sound = folder / "long.pcm"
    sound.write_bytes(b"")
    os.truncate(sound, TWO_HOURS_S * 16_000 * 2)
    kept = waveform.cache_path(folder, sound)
    kept.parent.mkdir(parents=True)
    np.random.default_rng(1).integers(-100, 100, (TWO_HOURS_S * waveform.PER_SECOND, 2)).astype(np.int8).tofile(kept)
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        waveform.bars_of(waveform.load(sound, folder), 160)
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


def main() -> list[Ratio]:
    import numpy as np

    noise = np.random.default_rng(1).integers(-2000, 2000, 24_000 * 6).astype(np.int16)
    samples = tone(6.0, level=0.3) + noise
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            data = encoded(samples, kind)
            first_sound_ms(kind, data, folder)
            taken = [first_sound_ms(kind, data, folder) for _ in range(RUNS)]
            ratios.append(
                Ratio("P9", f"first sound of {kind}", statistics.median(taken), FIRST_SOUND_MS, "first byte", "ms")
            )
        ratios.append(Ratio("P9", "two-hour waveform", waveform_ms(folder), FIRST_SOUND_MS, "its cache", "ms"))
    marks = statistics.median(mark_ms() for _ in range(RUNS))
    ratios.append(Ratio("P9", "mark one sentence", marks, MARK_MS, f"{WORDS:,} words", "ms"))
    return ratios
