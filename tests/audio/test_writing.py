"""Sound files are written. A full disk is told in the system's words, not libsndfile's; nothing half made is left."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.audio.decoding import Block
from app.audio.encoding import AudioTags, CannotWrite, write_clip
from app.audio.spool import Spool
from app.audio.upload_conversion import compress, split, to_flac
from tests.audio.recorded import write_wav
from tests.read_only import SmallDisk, small_disk

RATE_HZ = 24_000
KINDS = ["wav", "flac", "mp3", "opus", "ogg", "aac", "m4a", "pcm"]


def noise(seconds: float) -> np.ndarray:
    """No encoder makes it small."""
    return np.random.default_rng(3).normal(0, 0.2, round(seconds * RATE_HZ)).astype(np.float32)


@pytest.fixture
def clip(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "clip.pcm")
    spool.add(Block((noise(20) * 32_767).clip(-32_768, 32_767).astype(np.int16), RATE_HZ))
    spool.finish()
    yield spool
    spool.close()


@pytest.fixture(params=["before it begins", "in the middle"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk that takes nothing at all, or the first 50 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, 1) as found:
        if found is None:
            pytest.skip("no file system can be mounted here")
        room = folder / "room"
        room.write_bytes(bytes(50_000))
        found.fill()
        if request.param == "in the middle":
            room.unlink()
        yield found


@pytest.mark.parametrize(
    "prepare",
    [
        lambda source, folder: to_flac(source, folder / "x.flac"),
        lambda source, folder: compress(source, folder / "x.ogg", 400_000),
        lambda source, folder: split(source, folder, 25_000_000),
    ],
    ids=["to_flac", "compress", "split"],
)
def test_what_is_prepared_on_a_full_disk_is_refused_by_the_disk(
    disk: SmallDisk, tmp_path: Path, prepare: Callable[[Path, Path], object]
) -> None:
    source = write_wav(tmp_path / "talk.wav", noise(20), rate_hz=RATE_HZ)
    before = set(disk.folder.iterdir())
    with pytest.raises(OSError) as refused:
        prepare(source, disk.folder)
    assert refused.value.errno == errno.ENOSPC
    assert set(disk.folder.iterdir()) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_clip_that_a_full_disk_refuses_is_named_with_the_reason(disk: SmallDisk, clip: Spool, kind: str) -> None:
    before = set(disk.folder.iterdir())
    with pytest.raises(CannotWrite, match=rf"^The tide turns\.{kind} could not be saved: No space left on device\.$"):
        write_clip(disk.folder / f"The tide turns.{kind}", kind, clip, AudioTags("The tide turns", "Emma"))
    assert set(disk.folder.iterdir()) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_clip_without_a_title_is_written(clip: Spool, tmp_path: Path, kind: str) -> None:
    write_clip(tmp_path / f"saved.{kind}", kind, clip, AudioTags())
    assert (tmp_path / f"saved.{kind}").stat().st_size > 50_000
