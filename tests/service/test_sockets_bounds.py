"""On real sockets: whatever answers, it gets no credential that is not its own, and it does not fill the memory."""

from __future__ import annotations

import asyncio
import zlib
from functools import cache
from pathlib import Path

import psutil
import pytest

from app.service.calls import Call, JsonContent
from app.service.errors import BadRequest, BadResponse, OversizedResponse, ServiceError
from app.service.http.bodies import MIB
from app.service.http.downloads import save
from app.service.http.network import Network, NetworkSettings
from app.service.retry import CallKind
from tests.service.loopback import KEY, Loopback, Received, Watched, http, serving, stream_head
from tests.service.proxies import tls_in_front_of
from tests.service.test_network import BASE, town
from tests.service.throwaway_ca import Authority

BOMB_MIB = 256  # what the compressed answer stands for; about 256 KiB on the wire


@cache
def bomb(window: int = 31) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return b"".join([*(packer.compress(bytes(MIB)) for _ in range(BOMB_MIB)), packer.flush()])


def port_of(server: Loopback) -> int:
    return int(server.base_url.rsplit(":", 1)[1].split("/")[0])


def grown_mib(before: int) -> float:
    return (psutil.Process().memory_info().rss - before) / MIB


@pytest.mark.parametrize(("encoding", "window"), [("gzip", 31), ("deflate", 15)])
@pytest.mark.parametrize("status", [200, 400])
async def test_a_compressed_bomb_is_refused_long_before_it_is_unpacked(encoding: str, window: int, status: int) -> None:
    answer = http(status, bomb(window), content_encoding=encoding)
    async with serving(answer) as server, Watched(server.base_url) as watched:
        before = psutil.Process().memory_info().rss
        with pytest.raises(ServiceError) as caught:
            await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        assert grown_mib(before) < 64
    assert type(caught.value) is (OversizedResponse if status == 200 else BadRequest)  # the refusal itself is not lost
    assert status == 400 or "larger than the 16 MiB allowed" in caught.value.message


async def test_a_bomb_on_its_way_to_the_disk_leaves_nothing_there(tmp_path: Path) -> None:
    call = Call("GET", "/film", CallKind.READ, "video", max_bytes=32 * MIB)
    async with (
        serving(http(200, bomb(), content_encoding="gzip", content_type="video/mp4")) as server,
        Watched(server.base_url) as watched,
    ):
        before = psutil.Process().memory_info().rss
        with pytest.raises(BadResponse):
            async with watched.client.open(call) as answer:
                await save(answer.pieces(), tmp_path / "film.mp4")
        assert grown_mib(before) < 48
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lies", [False, True], ids=["says nothing of its length", "says it is short"])
async def test_an_endless_body_is_cut_at_its_bound(lies: bool) -> None:
    sent = [0]

    async def endless(received: Received, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        writer.write(head + (b"content-length: 10\r\n\r\n" if lies else b"\r\n"))
        for _ in range(256):
            writer.write(b"1" * MIB)
            sent[0] += 1
            await writer.drain()

    call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), max_bytes=4 * MIB)
    async with serving(endless) as server, Watched(server.base_url) as watched:
        if lies:  # what comes after the length that was stated is not ours
            async with watched.client.fetch(call) as answer:
                assert answer.body == b"1" * 10
        else:
            with pytest.raises(BadResponse) as caught:
                async with watched.client.fetch(call):
                    pass
            assert "larger than the 4 MiB allowed" in caught.value.message
        async with asyncio.timeout(60):
            await server.hung_up.wait()
    assert sent[0] < 128


async def test_a_streamed_answer_is_bounded_too() -> None:
    async def endless(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head())
        while True:
            writer.write(b"10000\r\n" + b":" * 65536 + b"\r\n")
            await writer.drain()

    call = Call("POST", "/x", CallKind.PAID, "x", content=JsonContent({}), max_bytes=2 * MIB)
    async with serving(endless) as server, Watched(server.base_url) as watched:
        with pytest.raises(BadResponse):
            async with watched.client.open(call) as answer:
                async for _ in answer.pieces():
                    pass


async def test_a_head_without_an_end_is_refused() -> None:
    async def endless(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(4000):
            writer.write(b"x-%d: " % number + b"y" * 1000 + b"\r\n")
            await writer.drain()

    async with serving(endless) as server, Watched(server.base_url) as watched:
        with pytest.raises(ServiceError):
            await watched.client.post_json("/x", {}, kind=CallKind.ONCE)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("other_port", [False, True], ids=["other name", "other port"])
async def test_r_auth_02_no_redirect_takes_key_or_payment_elsewhere(status: int, other_port: bool) -> None:
    call = Call(
        "GET", "/models", CallKind.READ, "models", secret_headers=(("X-402-Payment", "signed-payment"),), single=True
    )
    async with serving(http(body={"stolen": True})) as elsewhere:
        host = "127.0.0.1" if other_port else "localhost"
        target = elsewhere.base_url.replace("127.0.0.1", host)
        async with serving(http(status, location=target)) as server, Watched(server.base_url) as watched:
            with pytest.raises(BadResponse):
                async with watched.client.fetch(call):
                    pass
            assert server.received[0].headers["x-402-payment"] == "signed-payment"
            assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert elsewhere.received == []


async def test_a_download_elsewhere_gets_no_secret_header_either() -> None:
    async with serving(http(body=b"film")) as store, Watched("http://127.0.0.1:9/v1") as watched:
        headers = (("X-402-Payment", "signed-payment"),)
        call = Call("GET", f"{store.base_url}/film", CallKind.READ, "video", secret_headers=headers)
        async with watched.client.fetch(call) as answer:
            assert answer.body == b"film"
    assert {"authorization", "x-402-payment", "cookie"}.isdisjoint(store.received[0].headers)


async def test_a_key_in_the_address_of_a_download_is_not_made_a_header() -> None:
    async with serving(http(body=b"film")) as store, Watched("http://127.0.0.1:9/v1") as watched:
        address = store.base_url.replace("//", "//user:password@")
        async with watched.client.fetch(Call("GET", f"{address}/film", CallKind.READ, "video")):
            pass
    assert "authorization" not in store.received[0].headers


async def test_a_download_is_not_sent_on_without_tls(tmp_path: Path) -> None:
    authority = Authority("Office CA", tmp_path)
    network = Network(NetworkSettings(ca_files=(authority.file,)))
    async with (
        serving(http(body=b"film")) as plain,
        serving(http(302, location=f"{plain.base_url}/film")) as behind,
        tls_in_front_of(port_of(behind), authority.server("localhost")) as port,
        Watched("http://127.0.0.1:9/v1", network=network) as watched,
    ):
        with pytest.raises(BadResponse) as caught:
            await watched.client.get(f"https://localhost:{port}/film")
    assert "not allowed" in caught.value.message
    assert plain.received == []


async def test_a_download_from_elsewhere_is_not_sent_on_to_this_computer(tmp_path: Path) -> None:
    async with (
        serving(http(body=b"secret")) as inside,
        tls_in_front_of(port_of(inside), Authority("Other", tmp_path).server("localhost")) as own,
        town(tmp_path, http(302, location=f"https://localhost:{own}/x")) as place,
    ):
        network = Network(place.settings("http", await place.proxy("http")))
        async with Watched("http://127.0.0.1:9/v1", network=network) as watched:
            with pytest.raises(BadResponse):
                await watched.client.get(f"{BASE}/film")
    assert inside.received == []
