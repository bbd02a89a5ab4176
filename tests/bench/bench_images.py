"""P9, images: a gallery of 5,000 images scrolls from its cached thumbnails without a frame over 16 ms.

What is held against the limit is the processor time of the window's own thread, which other programs on the machine do
not lengthen; the time on the clock stands beside it.
"""

import os
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.ui.images.gallery import Gallery
from app.ui.images.state import GalleryState, Tile
from app.ui.kit.theme import Theme
from tests.bench.harness import MIN_RUNS, Ratio, percentile

IMAGES, FILES = 5_000, 200
FRAME_MS = 16.0
STEPS = 150
STEP_PX = 120  # a notch of a wheel


def library(folder: Path) -> Path:
    """Some hundred real files; the five thousand images share them."""
    image = QImage(1024, 576, QImage.Format.Format_RGB32)
    for number in range(FILES):
        image.fill(0xFF000000 | (number * 65_537 & 0xFFFFFF))
        image.save(str(folder / f"{number}.png"), "PNG")  # type: ignore[call-overload]  # a str is what Qt takes
    return folder


def gallery(theme: Theme, folder: Path, cache: Path) -> Gallery:
    made = Gallery(theme, lambda image_id: folder / f"{int(image_id) % FILES}.png", lambda _image_id: "", cache)
    made.resize(1440, 900)
    made.show()
    now = datetime.now(UTC)
    tiles = tuple(
        Tile(str(number), f"Travel poster {number}", "$0.018", "saved", at=now - timedelta(hours=number))
        for number in range(IMAGES)
    )
    made.show_state(GalleryState(tiles, IMAGES, loaded=True))
    QApplication.processEvents()
    return made


def frames_ms(view: Gallery, step_px: int) -> tuple[list[float], list[float]]:
    """Scroll notch by notch; each figure is all the work of one frame on the window's thread, in ms of its processor
    time, and in ms of the clock.

    A frame is the scroll itself, the painting that it brings, and whatever threads have finished meanwhile.
    """
    bar = view.view.verticalScrollBar()
    bar.setValue(0)
    QApplication.processEvents()
    spent, figures = [], []
    for _ in range(STEPS):
        begun, begun_work = time.perf_counter(), time.thread_time()
        bar.setValue(bar.value() + step_px)
        QApplication.processEvents()
        spent.append((time.thread_time() - begun_work) * 1000)
        took = time.perf_counter() - begun
        figures.append(took * 1000)
        time.sleep(max(0.0, FRAME_MS / 1000 - took))  # until the screen is drawn again
    return spent, figures


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qt_app)
    with tempfile.TemporaryDirectory() as name:
        files, cache = Path(name) / "files", Path(name) / "cache"
        files.mkdir()
        begun = time.perf_counter()
        made = gallery(theme, library(files), cache)
        opened = (time.perf_counter() - begun) * 1000
        made.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        frames_ms(made, STEP_PX)  # the cache is filled
        slow = [frames_ms(made, STEP_PX) for _ in range(MIN_RUNS)]
        fast = [frames_ms(made, 40 * STEP_PX) for _ in range(MIN_RUNS)]
        made.close()
    worst = sorted(max(spent) for spent, _ in slow)[MIN_RUNS // 2]
    jump = sorted(max(spent) for spent, _ in fast)[MIN_RUNS // 2]
    middle = percentile([figure for spent, _ in slow for figure in spent], 0.5)
    detail = f"{middle:.2f} ms in the middle, {_clock(slow)}; opened with its files in {opened:.0f} ms"
    stated = "stated goal"
    return [
        Ratio("P9", "worst frame of a scroll through 5,000 images", worst, FRAME_MS, stated, "ms", detail),
        Ratio("P9", "the same in leaps of five screens", jump, FRAME_MS, stated, "ms", _clock(fast)),
    ]


def _clock(runs: list[tuple[list[float], list[float]]]) -> str:
    figures = [figure for _, clock in runs for figure in clock]
    return f"by the clock {percentile(figures, 0.99):.1f} ms in 99 of 100 frames"
