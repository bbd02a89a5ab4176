"""Files that call themselves videos: only whole ones pass."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from app.sandbox.media.video_engine import render_video
from app.storage.video_check import NotAVideo, check_video


@pytest.fixture(scope="module")
def film() -> bytes:
    return render_video("a boat", 1, (160, 90))


def written(folder: Path, data: bytes) -> Path:
    path = folder / "film.mp4"
    path.write_bytes(data)
    return path


def test_a_whole_video_tells_its_length_and_size(tmp_path: Path, film: bytes) -> None:
    found = check_video(written(tmp_path, film))
    assert (found.kind, found.width, found.height, found.size_bytes) == ("mp4", 160, 90, len(film))
    assert found.duration_s == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_video_cut_off_anywhere_is_none(tmp_path: Path, film: bytes, share: float) -> None:
    with pytest.raises(NotAVideo):
        check_video(written(tmp_path, film[: int(len(film) * share)]))


def test_no_single_missing_byte_goes_unseen(tmp_path: Path, film: bytes) -> None:
    for missing in (1, 2, 7, 8, 9):
        with pytest.raises(NotAVideo):
            check_video(written(tmp_path, film[:-missing]))


@pytest.mark.parametrize(
    "data",
    [
        b"<html><body>502 Bad Gateway</body></html>",
        b'{"error": "not ready"}',
        b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 12,
        b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 4000,
        b"\xff" * 4000,
        b"\x1aE\xdf\xa3" + b"\x00" * 200,
    ],
)
def test_what_is_no_video_is_none(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(NotAVideo):
        check_video(written(tmp_path, data))


def test_a_video_without_its_index_is_called_incomplete(tmp_path: Path) -> None:
    boxes = struct.pack(">I4s16x", 24, b"ftyp") + struct.pack(">I4s8x", 16, b"mdat")
    with pytest.raises(NotAVideo) as caught:
        check_video(written(tmp_path, boxes))
    assert str(caught.value) == "The video is incomplete: its index is missing."


def test_tables_that_point_outside_the_file_are_seen(tmp_path: Path, film: bytes) -> None:
    at = film.index(b"stco") + 12
    moved = film[:at] + struct.pack(">I", len(film)) + film[at + 4 :]
    with pytest.raises(NotAVideo, match="before the last frame"):
        check_video(written(tmp_path, moved))


def test_a_video_of_sound_alone_is_none(tmp_path: Path, film: bytes) -> None:
    with pytest.raises(NotAVideo, match="no frames"):
        check_video(written(tmp_path, film.replace(b"vide", b"soun")))


def test_billions_of_equal_samples_take_no_memory(tmp_path: Path) -> None:
    """The table of a size that all samples share has no list; 533 bytes once asked for 32 GB."""

    def box(kind: bytes, *content: bytes) -> bytes:
        return struct.pack(">I4s", 8 + len(b"".join(content)), kind) + b"".join(content)

    def moov(count: int, offset: int) -> bytes:
        table = box(
            b"stbl",
            box(b"stsz", struct.pack(">III", 0, 1, count)),
            box(b"stsc", struct.pack(">IIIII", 0, 1, 1, count, 1)),
            box(b"stco", struct.pack(">III", 0, 1, offset)),
        )
        handler = box(b"hdlr", struct.pack(">I4s4s12x", 0, b"", b"vide"))
        media = box(b"mdia", handler, box(b"minf", table))
        head = box(b"tkhd", bytes(76), struct.pack(">II", 160 << 16, 90 << 16))
        return box(b"moov", box(b"mvhd", struct.pack(">IIIII80x", 0, 0, 0, 1000, 1000)), box(b"trak", head, media))

    start = box(b"ftyp", b"isom", bytes(8)) + box(b"mdat", bytes(100))
    for count in (100_000_000, 2**32 - 1):
        with pytest.raises(NotAVideo, match="ends before the last frame"):
            check_video(written(tmp_path, start + moov(count, 28)))
    assert check_video(written(tmp_path, start + moov(100, 32))).width == 160


def test_a_track_without_its_table_of_chunks_is_damaged(tmp_path: Path, film: bytes) -> None:
    with pytest.raises(NotAVideo):
        check_video(written(tmp_path, film.replace(b"stsc", b"xxxx")))
