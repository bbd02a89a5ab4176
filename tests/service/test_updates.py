"""The update feed: what is signed is read; tampered, expired, replayed and mixed-up feeds are not believed."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from securesystemslib.signer import CryptoSigner

from app.service.errors import OversizedResponse
from app.service.http.anonymous_client import AnonymousClient
from app.service.http.network import Network, NetworkSettings
from app.service.updates import Feed, Release, UpdatesUnknown, is_newer, newest, read_feed
from tests.kit.peak_memory import peak_memory
from tests.service.tuf_feed import TufFeed


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[TufFeed]:
    feed = TufFeed(tmp_path / "published")
    feed.publish("1.2.0")
    yield feed
    feed.close()


async def ask(feed: Feed, tmp_path: Path) -> Release:
    return await newest(feed, Network(NetworkSettings(proxy_mode="none")), tmp_path / "kept")


async def refused(feed: Feed, tmp_path: Path) -> str:
    with pytest.raises(UpdatesUnknown) as caught:
        await ask(feed, tmp_path)
    return caught.value.sentence


async def test_a_signed_feed_tells_the_newest_version_and_its_page(repository: TufFeed, tmp_path: Path) -> None:
    assert await ask(repository.feed, tmp_path) == Release("1.2.0", "https://example.org/new")
    assert not list((tmp_path / "kept").glob("*.json"))  # nothing of it is left but what is trusted


async def test_a_later_release_is_seen_and_the_same_feed_may_be_asked_again(
    repository: TufFeed, tmp_path: Path
) -> None:
    await ask(repository.feed, tmp_path)
    repository.publish("1.3.0")
    assert (await ask(repository.feed, tmp_path)).version == "1.3.0"
    assert (await ask(repository.feed, tmp_path)).version == "1.3.0"


async def test_a_changed_index_is_not_believed(repository: TufFeed, tmp_path: Path) -> None:
    index = repository.index()
    index.write_bytes(index.read_bytes().replace(b"1.2.0", b"9.2.0"))
    assert "changed in transit" in await refused(repository.feed, tmp_path)


@pytest.mark.parametrize("name", ["timestamp.json", "1.snapshot.json", "1.targets.json"])
async def test_metadata_that_was_changed_after_signing_is_not_believed(
    repository: TufFeed, tmp_path: Path, name: str
) -> None:
    path = repository.path(name)
    told = json.loads(path.read_bytes())
    told["signed"]["expires"] = "2999-01-01T00:00:00Z"
    path.write_text(json.dumps(told))
    assert "signature is wrong" in await refused(repository.feed, tmp_path)


async def test_a_feed_signed_by_somebody_else_is_not_believed(repository: TufFeed, tmp_path: Path) -> None:
    repository.signers["targets"] = CryptoSigner.generate_ed25519()
    repository.publish("6.6.6")
    assert "signature is wrong" in await refused(repository.feed, tmp_path)


async def test_an_expired_feed_is_not_believed(repository: TufFeed, tmp_path: Path) -> None:
    repository.publish("1.3.0", expires=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1))
    assert "out of date" in await refused(repository.feed, tmp_path)


async def test_an_older_state_of_the_feed_is_not_believed_once_a_newer_was_seen(
    repository: TufFeed, tmp_path: Path
) -> None:
    before = repository.path("timestamp.json").read_bytes()
    repository.publish("1.3.0")
    await ask(repository.feed, tmp_path)
    repository.path("timestamp.json").write_bytes(before)
    assert "older than one seen before" in await refused(repository.feed, tmp_path)


async def test_new_keys_are_believed_when_the_old_ones_signed_them(repository: TufFeed, tmp_path: Path) -> None:
    feed = repository.feed
    fresh = CryptoSigner.generate_ed25519()
    repository.root.revoke_key(repository.signers["targets"].public_key.keyid, "targets")
    repository.root.add_key(fresh.public_key, "targets")
    repository.signers["targets"] = fresh
    repository.write("root", repository.root, "2.root.json", version=2)
    repository.publish("1.4.0")
    assert (await ask(feed, tmp_path)).version == "1.4.0"


async def test_a_feed_that_is_not_there_is_said_to_be_silent(repository: TufFeed, tmp_path: Path) -> None:
    repository.path("timestamp.json").unlink()
    assert await refused(repository.feed, tmp_path) == "The update feed answered with an error (404)."
    away = replace(repository.feed, metadata="http://127.0.0.1:9/")
    assert "127.0.0.1" in await refused(away, tmp_path)


async def test_a_feed_that_never_ends_is_given_up(repository: TufFeed, tmp_path: Path) -> None:
    repository.path("timestamp.json").write_bytes(b"[" * 3_000_000)
    assert await refused(repository.feed, tmp_path) == "The response is larger than the 1 MiB allowed for it."


async def test_a_feed_that_inflates_without_end_takes_no_memory(tmp_path: Path) -> None:
    packed = gzip_of_zeros(400 * 1024 * 1024)
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        writer.write(head + packed)
        with suppress(OSError):
            await writer.drain()
        writer.close()

    before = peak_memory()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        client = AnonymousClient(Network(NetworkSettings(proxy_mode="none")), 30)
        with pytest.raises(OversizedResponse):
            await client.get(base, 1024 * 1024)
        await client.aclose()
    assert b"accept-encoding: identity" in asked[0].lower()
    assert peak_memory() - before < 50_000_000


def gzip_of_zeros(size: int) -> bytes:
    pack = zlib.compressobj(9, wbits=31)
    piece = bytes(1024 * 1024)
    return b"".join([*(pack.compress(piece) for _ in range(size // len(piece))), pack.flush()])


@pytest.mark.parametrize("version", ["", "newest", "1", "1.2.3.4.5", "1.2\n", "1.-2"])
async def test_a_signed_index_without_a_version_says_nothing(repository: TufFeed, tmp_path: Path, version: str) -> None:
    repository.publish(version)
    assert "the latest version" in await refused(repository.feed, tmp_path)


async def test_only_protected_pages_are_passed_on(repository: TufFeed, tmp_path: Path) -> None:
    repository.publish("1.3.0", page="file:///etc/passwd")
    assert await ask(repository.feed, tmp_path) == Release("1.3.0", "")


def test_versions_are_compared_as_numbers() -> None:
    assert is_newer("1.10", than="1.9.9")
    assert not is_newer("1.2", than="1.2.0")
    assert not is_newer("0.9", than="1.0")


def test_a_copy_without_a_feed_says_so_and_half_a_feed_is_an_error(tmp_path: Path) -> None:
    assert read_feed(tmp_path) is None
    (tmp_path / "feed.json").write_text('{"metadata": "https://a.example/m/", "targets": "https://a.example/t/"}')
    with pytest.raises(UpdatesUnknown, match="an incomplete update source"):
        read_feed(tmp_path)
    (tmp_path / "root.json").write_text("{}")
    assert read_feed(tmp_path).host == "a.example"
    (tmp_path / "feed.json").write_text('{"metadata": "http://a.example/m/", "targets": "https://a.example/t/"}')
    with pytest.raises(UpdatesUnknown, match="secure address"):
        read_feed(tmp_path)
