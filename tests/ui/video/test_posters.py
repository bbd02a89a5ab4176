"""The images of videos in the list: each its own video's, however many are made one after the other."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtMultimedia import QVideoFrame
from pytestqt.qtbot import QtBot

from app.sandbox.media.video_engine import Shown, render_video
from app.ui.images.image_processing import encoded
from app.ui.video.posters import SUFFIX, TRIES, FirstFrame, Posters, kept_beside
from tests.kit.video import NO_DEVICES

pytestmark = NO_DEVICES
COLORS = ("#c02020", "#20a020", "#2030c0", "#c0a020", "#a020a0", "#20a0a0")
SIZE = QSize(96, 54)


def film_of(folder: Path, color: str) -> str:
    image = QImage(160, 90, QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    path = folder / f"{color[1:]}.mp4"
    path.write_bytes(render_video(color, 1.0, (160, 90), sound=False, shown=Shown((encoded(image, "PNG"),))))
    return str(path)


def hue_of(path: str) -> int:
    return QImage(path).pixelColor(80, 20).hue()


def late_frame(image: QImage) -> QVideoFrame:
    frame = QVideoFrame(image)
    frame.setStartTime(900_000)
    return frame


def test_every_video_gets_an_image_of_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    videos = [film_of(tmp_path, color) for color in COLORS]
    posters = Posters()

    def all_are_made() -> bool:
        asked = [posters.get(video, SIZE) for video in videos]
        return None not in asked and all(Path(video + SUFFIX).exists() for video in videos)

    qtbot.waitUntil(all_are_made, timeout=60_000)
    shown = [hue_of(video + SUFFIX) for video in videos]
    wanted = [QColor(color).hue() for color in COLORS]
    assert all(abs(one - other) % 360 < 12 for one, other in zip(shown, wanted, strict=True)), (shown, wanted)


def test_no_frame_of_the_video_before_can_come_late_and_be_taken_for_the_next_one(qtbot: QtBot, tmp_path: Path) -> None:
    red, blue = film_of(tmp_path, "#c02020"), film_of(tmp_path, "#2030c0")
    frames, ended = FirstFrame(), dict[str, QImage]()
    frames.ended.connect(ended.__setitem__)
    frames.begin(red)
    before = frames._sink
    qtbot.waitUntil(lambda: red in ended and not frames.busy, timeout=60_000)
    frames.begin(blue)
    assert frames._sink is not before
    frames._frame(red, late_frame(ended[red]))  # what its sink would have told
    qtbot.waitUntil(lambda: blue in ended, timeout=60_000)
    assert abs(ended[blue].pixelColor(80, 20).hue() - QColor("#2030c0").hue()) < 12


def test_a_video_deleted_before_its_turn_is_not_opened_and_leaves_no_image(qtbot: QtBot, tmp_path: Path) -> None:
    red, blue, green = (film_of(tmp_path, color) for color in ("#c02020", "#2030c0", "#20a020"))
    posters = Posters()
    qtbot.waitUntil(lambda: None not in [posters.get(video, SIZE) for video in (red, blue, green)], timeout=60_000)
    Path(blue).unlink()
    qtbot.waitUntil(lambda: Path(green + SUFFIX).exists(), timeout=60_000)
    assert not kept_beside(blue, QImage(red + SUFFIX)) and not Path(blue + SUFFIX).exists()


@pytest.mark.qt_log_ignore("Could not open media", extend=True)
def test_what_cannot_be_shown_is_tried_three_times_and_no_more(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"\0\0\0\x18ftypisom" + bytes(500))
    posters, tries = Posters(), []
    begin = FirstFrame.begin

    def watched(frames: FirstFrame, video: str) -> None:
        tries.append(video)
        begin(frames, video)

    posters._frames = FirstFrame(posters)
    posters._frames.ended.connect(posters._take)
    posters._frames.begin = watched.__get__(posters._frames)  # type: ignore[method-assign]  # to count
    qtbot.waitUntil(lambda: posters.get(str(path), SIZE) is not None and len(tries) == TRIES, timeout=60_000)
    qtbot.waitUntil(lambda: not posters._frames.busy, timeout=60_000)
    posters.get(str(path), SIZE)
    assert len(tries) == TRIES and not Path(str(path) + SUFFIX).exists()


def test_whoever_reads_an_image_while_it_is_written_has_all_of_it(tmp_path: Path) -> None:
    video, over = str(tmp_path / "film.mp4"), threading.Event()
    Path(video).touch()
    noise = np.random.default_rng(1).integers(0, 256, (360, 640 * 4), np.uint8)
    image = QImage(noise.tobytes(), 640, 360, QImage.Format.Format_RGB32).copy()
    ends: set[bytes] = set()

    def read() -> None:
        while not over.is_set():
            if Path(video + SUFFIX).exists():
                ends.add(Path(video + SUFFIX).read_bytes()[-2:])

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(40):
        assert kept_beside(video, image)
    over.set()
    reader.join()
    assert ends == {b"\xff\xd9"}, "the mark at the end of a JPEG"
    assert {path.name for path in tmp_path.iterdir()} == {"film.mp4", "film.mp4.jpg"}
