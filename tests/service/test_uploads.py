"""Forms from disk, files to disk, and what bytes really are."""

import os
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.media_types import looks_like_text, sniff
from app.service.calls import Call
from app.service.errors import BadResponse, LimitExceeded, ServiceError, StreamCut
from app.service.exchange import FormPart
from app.service.http.downloads import save
from app.service.http.multipart import FormContent, FormFile
from app.service.http.size_limits import MAX_UPLOAD_BYTES
from app.service.http.upload_check import check_upload
from app.service.retry import CallKind
from tests.read_only import vanished
from tests.service.loopback import Received, Watched, http, serving

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + b"\x00" * 40
WAVS = frozenset({"wav"})


def parts_of(received: Received) -> list[tuple[str, bytes]]:
    """(head, content) of each part, read with the boundary that the header names."""
    boundary = received.headers["content-type"].partition("boundary=")[2].encode()
    parts = received.body.split(b"--" + boundary)
    assert parts[0] == b""
    assert parts[-1] == b"--\r\n"
    return [(head.decode(), content[:-2]) for head, _, content in (part.partition(b"\r\n\r\n") for part in parts[1:-1])]


async def test_a_form_goes_from_disk_in_pieces_with_its_length_and_progress(tmp_path: Path) -> None:
    path = tmp_path / 'two\n"words" ü.wav'
    path.write_bytes(WAV + b"x" * 1_000_000)
    told: list[tuple[int, int]] = []
    content = FormContent(
        (("model", "m/1"), ("note", "ü\r\n")),
        (FormFile("file", path, path.name, "audio/wav"), FormFile("more", b"abc", "b.bin", "application/octet-stream")),
        lambda sent, total: told.append((sent, total)),
    )
    call = Call("POST", "/x", CallKind.UPLOAD, "x", content=content)
    async with serving(http(body={})) as server, Watched(server.base_url) as watched:
        async with watched.client.fetch(call):
            pass
        (received,) = server.received
        assert watched.exchange.request.body == (
            FormPart("model", "m/1"),
            FormPart("note", "ü\r\n"),
            FormPart("file", file_name=path.name),
            FormPart("more", file_name="b.bin"),
        )
    assert "transfer-encoding" not in received.headers
    assert int(received.headers["content-length"]) == len(received.body) == content.size == told[-1][0]
    parts = parts_of(received)
    assert [content_ for _, content_ in parts] == [b"m/1", "ü\r\n".encode(), path.read_bytes(), b"abc"]
    assert 'name="file"; filename="two%0A%22words%22 ü.wav"\r\nContent-Type: audio/wav' in parts[2][0]
    assert len(told) > 6
    assert {total for _, total in told} == {content.size}


async def test_a_form_is_sent_again_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(WAV)
    content = FormContent((), (FormFile("file", path, "a.wav", "audio/wav"),))
    call = Call("POST", "/x", CallKind.UPLOAD, "x", content=content)
    async with serving(http(503, {"error": "x"}), http(body={})) as server, Watched(server.base_url) as watched:
        async with watched.client.fetch(call):
            pass
        assert server.received[0].body == server.received[1].body
        assert parts_of(server.received[1])[0][1] == WAV


async def test_a_file_that_shrinks_or_goes_while_it_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    for spoil in (lambda: path.write_bytes(b""), path.unlink):
        path.write_bytes(WAV)
        content = FormContent((), (FormFile("file", path, "a.wav", "audio/wav"),))
        spoil()
        async with serving(http(body={})) as server, Watched(server.base_url) as watched:
            with pytest.raises(LimitExceeded):
                async with watched.client.fetch(Call("POST", "/x", CallKind.UPLOAD, "x", content=content)):
                    pass
    with pytest.raises(LimitExceeded):
        FormContent((), (FormFile("file", path, "a.wav", "audio/wav"),))
    with pytest.raises(LimitExceeded):
        FormContent((), (FormFile("file", tmp_path, "folder", "audio/wav"),)).open()
        await check_upload(tmp_path, WAVS, "")


async def test_a_folder_cannot_be_sent(tmp_path: Path) -> None:
    content = FormContent((), (FormFile("file", tmp_path, "folder", "audio/wav"),))
    with pytest.raises(LimitExceeded):
        async for _ in content.open():
            pass


async def test_r_stt_06_the_size_is_checked_before_uploading(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    for size, good in ((0, False), (MAX_UPLOAD_BYTES, True), (MAX_UPLOAD_BYTES + 1, False)):
        with path.open("wb") as file:
            file.write(WAV[:size])
            file.truncate(size)
        if good:
            assert await check_upload(path, WAVS, "") == size
        else:
            with pytest.raises(LimitExceeded) as caught:
                await check_upload(path, WAVS, "")
    assert caught.value.message == "Up to 25 MB (26,214,400 bytes). a.wav has 26,214,401 bytes."
    path.write_bytes(b"just words, whatever the name says")
    with pytest.raises(LimitExceeded) as caught:
        await check_upload(path, WAVS, "WAV it must be.")
    assert "WAV it must be." in caught.value.message
    with pytest.raises(LimitExceeded):
        await check_upload(tmp_path / "absent.wav", WAVS, "")


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (WAV, "wav"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "webp"),
        (b"OggS\x00\x02" + b"\x00" * 22 + b"OpusHead", "opus"),
        (b"OggS\x00\x02" + b"\x00" * 22 + b"\x01vorbis", "ogg"),
        (b"\x00\x00\x00\x20ftypM4A \x00", "m4a"),
        (b"\x00\x00\x00\x20ftypisom\x00", "mp4"),
        (b"\x00\x00\x00\x14ftypqt  \x00", "mov"),
        (b"fLaC\x00", "flac"),
        (b"ID3\x04", "mp3"),
        (b"\xff\xfb\x90", "mp3"),
        (b"\xff\xf3\x40", "mp3"),
        (b"\xff\xf1\x50", "aac"),
        (b"\xff\xf9\x50", "aac"),
        *((b"\xff\xfe" + following, None) for following in (b"\x00", b"\xf0", b"\x1c", b"")),  # no frame of MP3
        (b"\xff\xeb\x90", None),
        # an animation of 8 bits begins with its length in bytes, which may look like a frame
        *((b"\xff\xfb\x90\x00" + magic + bytes(8) + b"\3\0", None) for magic in (b"\x11\xaf", b"\x12\xaf")),
        (b"\xff\xfb\x90\x00\x12\xaf" + bytes(8) + b"\5\0", "mp3"),
        (b"ADIF", "aac"),
        (b"\x1aE\xdf\xa3", "webm"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF89a", "gif"),
        (b"", None),
        (b"\xff", None),
        (b"\xff\xe1", None),
        (b"{}", None),
    ],
)
def test_media_are_known_by_their_beginning(head: bytes, kind: str | None) -> None:
    assert sniff(head) == kind


def test_text_is_told_from_media() -> None:
    assert [looks_like_text(head) for head in (b" {", b"<html>", b"\n[", b"\x00{", b"")] == [
        True,
        True,
        True,
        False,
        False,
    ]


async def given(*pieces: bytes, error: ServiceError | None = None):  # type: ignore[no-untyped-def] # an async generator
    for piece in pieces:
        yield piece
    if error is not None:
        raise error


async def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    told: list[tuple[int, int | None]] = []
    big = b"x" * 700_000
    assert await save(given(big, big, b"end"), path, total=9, on_received=lambda *seen: told.append(seen)) == 1_400_003
    assert path.read_bytes() == big + big + b"end"
    assert told == [(700_000, 9), (1_400_000, 9), (1_400_003, 9)]
    with pytest.raises(StreamCut):
        await save(given(b"half", error=StreamCut("x")), tmp_path / "other.mp4")
    with pytest.raises(BadResponse) as caught:
        await save(given(b"x"), tmp_path / "no" / "folder.mp4")
    assert caught.value.code == "disk"
    assert [each.name for each in tmp_path.iterdir()] == ["film.mp4"]


async def test_a_folder_that_vanishes_during_a_download_is_said_to_be_the_disk(tmp_path: Path) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    with ExitStack() as stack:

        async def pieces() -> AsyncIterator[bytes]:
            yield b"x"
            stack.enter_context(vanished(folder))

        with pytest.raises(BadResponse) as caught:
            await save(pieces(), folder / "film.mp4")
    assert caught.value.code == "disk"


async def test_an_older_file_survives_a_download_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")
    with pytest.raises(StreamCut):
        await save(given(b"new", error=StreamCut("x")), path)
    assert path.read_bytes() == b"old"


async def test_a_disk_that_takes_less_than_it_is_given_gets_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.service.http import downloads

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(5):
            yield bytes([number]) * 100_000

    whole = b"".join([piece async for piece in pieces()])
    monkeypatch.setattr(downloads, "BUFFER_BYTES", 150_000)
    for writev in (lambda number, parts: os.write(number, parts[0][:1000]), None):  # takes little; is not there at all
        monkeypatch.setattr(downloads, "_WRITEV", writev)
        path = tmp_path / f"film-{writev is None}.mp4"
        assert await save(pieces(), path) == len(whole)
        assert path.read_bytes() == whole
