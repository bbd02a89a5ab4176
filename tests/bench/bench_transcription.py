"""P9, sound: a two-hour recording opens from its cached waveform, records in flat memory, and follows its words.

The waveform is read, given to the real widget and painted; the callback is the one that PortAudio calls fifty times a
second; a word is marked in a transcript of 10,000 words, painted and all.
"""

import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import psutil
from PySide6.QtWidgets import QApplication

from app.audio.live_peaks import LivePeaks, peaks_path
from app.audio.microphone import BLOCK_S, RATE_HZ, BlockQueue
from app.audio.wav_file import HEADER_BYTES, WavWriter, header
from app.audio.waveform import cache_path, load
from app.ui.kit.sound.waveform_view import WaveformView
from app.ui.kit.theme import Theme
from app.ui.transcription.session.document import Document, segment_of
from app.ui.transcription.transcript_view import TranscriptView
from tests.bench.harness import Ratio, medians

TWO_HOURS_S = 7_200
WIDTH, HEIGHT = 700, 52
OPEN_MS, MEMORY_MB, CALLBACK_PERCENT, WORD_MS = 150.0, 50.0, 1.0, 1.0
CALLS = 20_000
WORDS_A_SEGMENT, SEGMENTS = 10, 1_000
STEPS = 400
MEGABYTE = 1024 * 1024


def two_hours(folder: Path, cache: Path) -> Path:
    """A recording of two hours (a file with a hole) and its waveform in the cache."""
    path = folder / "two hours.wav"
    data = TWO_HOURS_S * RATE_HZ * 2
    with path.open("wb") as file:
        file.write(header(RATE_HZ, 1, data))
        file.truncate(HEADER_BYTES + data)
    pairs = np.random.default_rng(1).integers(-100, 100, (TWO_HOURS_S * 50, 2)).astype(np.int8)
    target = cache_path(cache, path)
    target.parent.mkdir(parents=True)
    target.write_bytes(pairs.tobytes())
    return path


def open_waveform(theme: Theme, path: Path, cache: Path) -> float:
    """From the click to the painted waveform, in ms."""
    view = WaveformView(theme)
    view.resize(WIDTH, HEIGHT)
    begun = time.perf_counter()
    view.set_sound(load(path, cache), TWO_HOURS_S, TWO_HOURS_S)
    view.grab()
    took = (time.perf_counter() - begun) * 1000
    view.deleteLater()
    return took


def resident_mb() -> float:
    return psutil.Process().memory_info().rss / MEGABYTE


def recorded_memory_mb(folder: Path) -> float:
    """How much memory two hours of recording take: everything between the queue and the disk, second by second."""
    second = (np.random.default_rng(2).normal(0, 3_000, RATE_HZ)).astype(np.int16)
    path = folder / "recorded.wav"
    writer, peaks = WavWriter(path, RATE_HZ), LivePeaks(peaks_path(path), RATE_HZ)
    for _ in range(60):  # what a first minute takes once and for all
        peaks.add(second)
    before = resident_mb()
    for _ in range(TWO_HOURS_S):
        writer.write(second[:16].tobytes())
        peaks.add(second)
    grown = resident_mb() - before
    writer.close()
    peaks.close()
    return grown


def callback_percent() -> float:
    """What share of a core the sound thread's callback takes, in per cent."""
    calls = BlockQueue(CALLS + 1)
    block = memoryview(bytes(int(RATE_HZ * BLOCK_S) * 2))
    before = time.thread_time()
    for _ in range(CALLS):
        calls.observe(block, len(block) // 2, None, None)
    return (time.thread_time() - before) / CALLS / BLOCK_S * 100


def long_transcript() -> Document:
    said = " ".join(f"word{n}" for n in range(WORDS_A_SEGMENT))
    return Document.of([segment_of(said, n * 4.0, n * 4.0 + 3.8) for n in range(SEGMENTS)], "", SEGMENTS * 4.0)


def word_ms(view: TranscriptView) -> float:
    """Marking one word after another while it plays, painted, in ms a word."""
    starts = view.document.starts[:STEPS]
    view.set_position(starts[0])
    QApplication.processEvents()
    begun = time.perf_counter()
    for start in starts:
        view.set_position(start + 0.001)
        QApplication.processEvents()
    return (time.perf_counter() - begun) / len(starts) * 1000


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qt_app)
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name) / "cache"
        path = two_hours(folder, cache)
        before = resident_mb()
        (opened,) = medians(lambda: open_waveform(theme, path, cache))
        opening_mb = resident_mb() - before
        recording_mb = recorded_memory_mb(folder)
    (callback,) = medians(callback_percent)
    view = TranscriptView(theme)
    view.resize(760, 700)
    view.show()
    view.show_document(long_transcript())
    QApplication.processEvents()
    (word,) = medians(lambda: word_ms(view))
    view.hide()
    absolute = "stated goal"
    return [
        Ratio("P9", "open the waveform of two hours from its cache", opened, OPEN_MS, absolute, "ms"),
        Ratio("P9", "memory of that", max(0.0, opening_mb), MEMORY_MB, absolute, "MB"),
        Ratio("P9", "memory of recording two hours", max(0.0, recording_mb), MEMORY_MB, absolute, "MB"),
        Ratio("P9", "recording callback, share of a core", callback, CALLBACK_PERCENT, absolute, "%"),
        Ratio("P9", "mark the spoken word among 10,000", word, WORD_MS, absolute, "ms"),
    ]
