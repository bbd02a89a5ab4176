"""Videos that broke off: gone on with where the source takes ranges and has the same file, else fetched anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from io import RawIOBase
from pathlib import Path
from typing import Any

import pytest

from app.service.errors import StreamCut
from app.service.http import downloads
from app.service.http.downloads import Part, mark_of, mark_path, part_path, read_part, rest_of, save
from app.service.video import QueuedVideo
from tests.service.loopback import Received, Watched, http, serving

VIDEO = b"\x00\x00\x00\x18ftypisom" + bytes(range(256)) * 400
TAG = '"one-film"'
HALF = 40_000
WITH_TAG = {"accept_ranges": "bytes", "etag": TAG}


def film_of(address: str) -> QueuedVideo:
    return QueuedVideo(model="reel", queue_id="1", download_url=f"{address}/film?sign=1")


async def half(received: Received, writer: asyncio.StreamWriter) -> None:
    """Answers with a whole video's head and the first half of it."""
    answer = http(body=VIDEO, content_type="video/mp4", **WITH_TAG)
    writer.write(answer[: len(answer) - len(VIDEO) + HALF])
    await writer.drain()
    writer.close()


async def cut_download(address: str, path: Path, watched: Watched) -> None:
    with pytest.raises(StreamCut):
        await watched.service.video.download(film_of(address), path)


async def test_the_rest_alone_is_asked_for_and_the_video_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    span = f"bytes {HALF}-{len(VIDEO) - 1}/{len(VIDEO)}"
    rest = http(206, body=VIDEO[HALF:], content_type="video/mp4", content_range=span, **WITH_TAG)
    async with serving(half, rest) as server, Watched("http://127.0.0.1:9/v1") as watched:
        await cut_download(server.base_url, path, watched)
        assert read_part(path) == Part(HALF, TAG)
        counts: list[tuple[int, int | None]] = []
        saved = await watched.service.video.download(
            film_of(server.base_url), path, on_received=lambda *count: counts.append(count)
        )
        asked = server.received[1].headers
    assert (asked["range"], asked["if-range"]) == (f"bytes={HALF}-", TAG)
    assert "authorization" not in asked
    assert (path.read_bytes() == VIDEO, saved.size_bytes, saved.kind) == (True, len(VIDEO), "mp4")
    assert counts[0][0] > HALF and counts[-1] == (len(VIDEO), len(VIDEO))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("status", "span"),
    [
        (206, f"bytes 0-{len(VIDEO) - 1}/{len(VIDEO)}"),  # another part than was asked for
        (206, "pieces 1-2"),
        (206, ""),
        (416, f"bytes */{len(VIDEO)}"),
    ],
)
async def test_an_answer_that_does_not_go_on_where_it_broke_off_is_not_joined(
    status: int, span: str, tmp_path: Path
) -> None:
    path = tmp_path / "film.mp4"
    wrong = http(status, body=VIDEO[HALF:], content_type="video/mp4", content_range=span)
    whole = http(body=VIDEO, content_type="video/mp4")
    async with serving(half, wrong, whole) as server, Watched("http://127.0.0.1:9/v1") as watched:
        await cut_download(server.base_url, path, watched)
        await watched.service.video.download(film_of(server.base_url), path)
        assert "range" not in server.received[2].headers
    assert path.read_bytes() == VIDEO
    assert list(tmp_path.iterdir()) == [path]


async def test_another_video_at_the_address_comes_whole(tmp_path: Path) -> None:
    """The source answers 200 when the mark does not fit: what was there is thrown away."""
    path, other = tmp_path / "film.mp4", VIDEO[:16] + b"another film" * 9000
    async with (
        serving(half, http(body=other, content_type="video/mp4")) as server,
        Watched("http://127.0.0.1:9/v1") as watched,
    ):
        await cut_download(server.base_url, path, watched)
        await watched.service.video.download(film_of(server.base_url), path)
    assert path.read_bytes() == other


async def test_without_a_mark_a_break_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"some"
        raise StreamCut("broke")

    path = tmp_path / "film.mp4"
    with pytest.raises(StreamCut):
        await save(broken(), path)
    assert list(tmp_path.iterdir()) == []


async def test_stopped_by_the_end_of_the_program_a_marked_part_stays_as_far_as_it_was_written(tmp_path: Path) -> None:
    path, waits = tmp_path / "film.mp4", asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield bytes(3_000_000)
        waits.set()
        await asyncio.sleep(60)
        yield b"never"

    async with asyncio.TaskGroup() as group:
        task = group.create_task(save(slow(), path, mark=TAG))
        await waits.wait()
        task.cancel()
    assert read_part(path) == Part(3_000_000, TAG)
    assert part_path(path).stat().st_size == 3_000_000 and mark_path(path).exists()


@pytest.mark.parametrize(
    ("headers", "mark"),
    [
        ((("accept-ranges", "bytes"), ("etag", TAG)), TAG),
        ((("accept-ranges", "none"), ("etag", TAG)), ""),
        ((("etag", TAG),), ""),  # nothing says that ranges are taken
        ((("accept-ranges", "bytes"), ("etag", 'W/"weak"')), ""),  # may be other bytes
        ((("accept-ranges", "bytes"), ("last-modified", "Fri, 20 Nov 2026 10:00:00 GMT")), ""),
        ((("accept-ranges", "bytes"), ("etag", '"\n"')), ""),
    ],
)
def test_only_a_strong_tag_of_a_source_that_takes_ranges_is_trusted(
    headers: tuple[tuple[str, str], ...], mark: str
) -> None:
    assert mark_of(headers) == mark


def test_a_part_without_its_mark_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    part_path(path).write_bytes(b"half")
    assert read_part(path) == Part()
    mark_path(path).write_text(TAG)
    assert read_part(path).headers() == (("Range", "bytes=4-"), ("If-Range", TAG))
    assert rest_of((("content-range", "bytes 4-9/10"),), Part(4, TAG)) == 10
    assert rest_of((("content-range", "bytes 3-9/10"),), Part(4, TAG)) is None


@pytest.mark.parametrize("mark", ["", '"tide-1"'])
async def test_stopped_while_its_part_is_being_opened_no_file_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    opens, may_go_on = threading.Event(), threading.Event()
    opened: list[RawIOBase] = []
    really_open = downloads._open

    def slowly(*part: Any) -> RawIOBase:
        opened.append(really_open(*part))
        opens.set()
        may_go_on.wait(60)
        return opened[0]

    async def nothing() -> AsyncIterator[bytes]:
        for piece in ():
            yield piece

    monkeypatch.setattr(downloads, "_open", slowly)
    path = tmp_path / "film.mp4"
    saving = asyncio.create_task(save(nothing(), path, mark=mark))
    await asyncio.to_thread(opens.wait, 60)
    saving.cancel()
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await saving
    assert opened[0].closed
    assert part_path(path).exists() == bool(mark)
