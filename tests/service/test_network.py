"""Calls through real proxies and real TLS: who is asked, with which password, and what is said when a hop fails."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.service.calls import Call
from app.service.errors import ConnectionFailed, ServiceError
from app.service.exchange import curl_command
from app.service.http.network import Network, NetworkSettings, Proxy
from app.service.retry import CallKind
from tests.service.loopback import KEY, Loopback, Received, Watched, http, serving
from tests.service.proxies import TestProxy, http_proxy, socks_proxy, speaking, tls_in_front_of
from tests.service.throwaway_ca import Authority

HOST = "service.test"
BASE = f"https://{HOST}/api/v1"
LOGIN = ("desk14", "open sesame:ü")
KINDS = ("http", "https", "socks5")


class Town:
    """A service behind TLS, and proxies through which alone it can be reached."""

    def __init__(self, stack: AsyncExitStack, authority: Authority, server: Loopback, secure_port: int) -> None:
        self._stack = stack
        self.authority = authority
        self.server = server
        self.hosts = {f"{HOST}:443": secure_port, f"{HOST}:80": int(server.base_url.rsplit(":", 1)[1].split("/")[0])}

    async def proxy(self, kind: str, **options: object) -> TestProxy:
        proxy = TestProxy(dict(self.hosts), **options)  # type: ignore[arg-type] # the test names real fields
        if kind == "socks5":
            return await self._stack.enter_async_context(socks_proxy(proxy))
        context = self.authority.server("127.0.0.1") if kind == "https" else None
        return await self._stack.enter_async_context(http_proxy(proxy, context))

    def settings(self, kind: str, proxy: TestProxy, user: str = "") -> NetworkSettings:
        return NetworkSettings(
            "manual",
            kind,
            "127.0.0.1",
            proxy.port,
            user,
            ca_files=(self.authority.file,),  # type: ignore[arg-type] # of KINDS
        )


@asynccontextmanager
async def town(folder: Path, *replies: object) -> AsyncIterator[Town]:
    authority = Authority("Throwaway CA", folder)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(*(replies or (http(body={"ok": 1}),))))  # type: ignore[arg-type] # replies
        port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        secure = await stack.enter_async_context(tls_in_front_of(port, authority.server(HOST)))
        yield Town(stack, authority, server, secure)


async def password() -> str:
    return LOGIN[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "with a password"])
async def test_a_call_goes_through_the_proxy(kind: str, login: tuple[str, str] | None, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, login=login)
        network = Network(place.settings(kind, proxy, login[0] if login else ""), password)
        async with Watched(BASE, network=network) as watched:
            assert await watched.client.get("/x") == {"ok": 1}
            assert await watched.client.get("/y") == {"ok": 1}
        assert len(proxy.asked) == 1  # one tunnel for both calls
        assert proxy.asked[0].removeprefix("CONNECT ") == f"{HOST}:443"  # the proxy looks the name up
        assert proxy.logins == ([login] if login else [])
        assert place.server.received[0].headers["authorization"] == f"Bearer {KEY}"
        assert "proxy-authorization" not in place.server.received[0].headers
        assert not any(KEY.encode() in head for head in proxy.heads)


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_clear_text_goes_through_the_proxy_too(kind: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, login=LOGIN)
        network = Network(place.settings(kind, proxy, LOGIN[0]), password)
        async with Watched(f"http://{HOST}/api/v1", network=network) as watched:
            assert await watched.client.get("/x") == {"ok": 1}
        asked = f"GET http://{HOST}/api/v1/x" if kind == "http" else f"{HOST}:80"
        assert proxy.asked == [asked]
        assert proxy.logins == [LOGIN]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_wrong_password_is_said_once_and_never_repeated(kind: str, scheme: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, login=(LOGIN[0], "another"))
        network = Network(place.settings(kind, proxy, LOGIN[0]), password)
        async with Watched(f"{scheme}://{HOST}/api/v1", network=network) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.get("/x")
        assert caught.value.code == "proxy_auth"
        assert caught.value.message == f"The proxy 127.0.0.1:{proxy.port} did not accept the user name and password."
        assert len(proxy.logins) == 1  # a proxy may lock the user out after a few
        assert place.server.received == []


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_a_proxy_that_wants_a_login_and_gets_none(kind: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, login=LOGIN)
        async with Watched(BASE, network=Network(place.settings(kind, proxy))) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.get("/x")
        assert (caught.value.code, caught.value.surely_not_sent) == ("proxy_auth", True)
        assert "requires a user name and password" in caught.value.message


@pytest.mark.parametrize(
    ("kind", "refuses", "words"), [("http", 403, ": 403."), ("socks5", 2, ": not allowed by its rules.")]
)
async def test_a_proxy_that_does_not_let_a_host_be_called(kind: str, refuses: int, words: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, refuses=refuses)
        async with Watched(BASE, network=Network(place.settings(kind, proxy))) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.post_json("/x", {}, kind=CallKind.PAID)
        assert (caught.value.code, caught.value.surely_not_sent) == ("proxy", True)
        assert caught.value.message.endswith(f"refused to connect to {HOST}{words}")
        assert watched.exchange.outcome == "unsent"


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_proxy_that_is_not_there(kind: str, scheme: str, tmp_path: Path) -> None:
    settings = NetworkSettings("manual", kind, "127.0.0.1", 9)  # type: ignore[arg-type] # of KINDS
    async with Watched(f"{scheme}://{HOST}/v1", network=Network(settings)) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.get("/x")
    assert (caught.value.code, caught.value.message) == ("proxy", "Nothing responds at the proxy 127.0.0.1:9.")


async def test_a_proxy_whose_name_nobody_knows() -> None:
    settings = NetworkSettings("manual", "http", "no-such-proxy.invalid", 8080)
    async with Watched(BASE, network=Network(settings)) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.get("/x")
    assert "no-such-proxy.invalid, the proxy" in caught.value.message


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize(
    "said", [b"SSH-2.0-OpenSSH\r\n\r\n", b"", b"\x00" * 40, b"x" * 70_000, b"HTTP/1.1 wat\r\n\r\n"]
)
async def test_what_is_no_proxy_is_said_to_be_none(kind: str, said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(said)

    async with speaking(answer) as port:
        settings = NetworkSettings("manual", kind, "127.0.0.1", port)  # type: ignore[arg-type] # of KINDS
        async with Watched(BASE, network=Network(settings)) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.get("/x")
    assert caught.value.code in ("proxy", "proxy_auth" if kind == "socks5" else "proxy")


async def test_the_proxys_password_is_nowhere_but_at_the_proxy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with town(tmp_path) as place:
        for kind, login in (("http", LOGIN), ("socks5", LOGIN), ("http", (LOGIN[0], "no")), ("socks5", ("x", "no"))):
            proxy = await place.proxy(kind, login=login)
            network = Network(place.settings(kind, proxy, LOGIN[0]), password)
            async with Watched(BASE, network=network) as watched:
                try:
                    await watched.client.get("/x")
                    told = ""
                except ServiceError as error:
                    told = "".join(traceback.format_exception(error))
                way = await network.way(BASE)
                said = [watched.exchange, curl_command(watched.exchange.request), told, way, network.settings]
            assert way.proxy is not None
            assert way.proxy.password == LOGIN[1]
            assert "sesame" not in repr(said)
        assert "sesame" not in caplog.text
        assert "c2VzYW1l" not in caplog.text  # the same in base64, as a header would have it


async def test_this_computer_is_never_called_through_a_proxy() -> None:
    asked: list[str] = []

    def system(url: str) -> Proxy:
        asked.append(url)
        return Proxy("http", "127.0.0.1", 9)

    for settings in (NetworkSettings("manual", "http", "127.0.0.1", 9), NetworkSettings("system")):
        async with serving(http(body={"ok": 1})) as server:
            for base_url in (server.base_url, server.base_url.replace("127.0.0.1", "localhost")):
                async with Watched(base_url, network=Network(settings, system=system)) as watched:
                    assert await watched.client.get("/x") == {"ok": 1}
    assert asked == []


async def test_the_systems_proxy_is_used_only_when_that_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy("http", login=LOGIN)
        monkeypatch.setenv("HTTPS_PROXY", f"http://{LOGIN[0]}:open%20sesame%3A%C3%BC@127.0.0.1:{proxy.port}")
        settings = replace(place.settings("http", proxy), proxy_mode="system")
        async with Watched(BASE, network=Network(settings)) as watched:
            assert await watched.client.get("/x") == {"ok": 1}
        assert proxy.logins == [LOGIN]
        async with Watched(BASE, network=Network(replace(settings, proxy_mode="none"))) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.get("/x")
        assert caught.value.code == "dns"
        assert len(proxy.asked) == 1


async def test_a_proxy_that_the_system_names_and_nobody_here_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks4://old.example:1080")
    async with Watched(BASE, network=Network()) as watched:
        with pytest.raises(ConnectionFailed) as caught:
            await watched.client.get("/x")
    assert caught.value.code == "proxy_kind"
    assert "socks4" in caught.value.message


async def test_hosts_on_the_list_of_exceptions_are_called_straight(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy("http")
        settings = replace(place.settings("http", proxy), bypass=("service.test",))
        async with Watched(BASE, network=Network(settings)) as watched:
            with pytest.raises(ConnectionFailed) as caught:
                await watched.client.get("/x")
        assert (caught.value.code, proxy.asked) == ("dns", [])


async def test_an_own_ca_is_believed_and_without_it_nobody_is(tmp_path: Path) -> None:
    authority = Authority("Office CA", tmp_path)
    async with serving(http(body={"ok": 1})) as server:
        port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        async with tls_in_front_of(port, authority.server("localhost")) as secure:
            base_url = f"https://localhost:{secure}/api/v1"
            async with Watched(base_url, network=Network(NetworkSettings(ca_files=(authority.file,)))) as watched:
                assert await watched.client.get("/x") == {"ok": 1}
            async with Watched(base_url, network=Network()) as watched:
                with pytest.raises(ConnectionFailed) as caught:
                    await watched.client.get("/x")
                assert (caught.value.code, watched.exchange.attempts) == ("certificate", 1)
            gone = NetworkSettings(ca_files=(tmp_path / "moved-away.pem",))
            async with Watched(base_url, network=Network(gone)) as watched:
                with pytest.raises(ConnectionFailed) as caught:
                    await watched.client.get("/x")
                assert caught.value.code == "ca_file"
                assert "moved-away.pem" in caught.value.message
    assert len(server.received) == 1


async def test_a_servers_own_certificate_is_enough_without_its_issuer(tmp_path: Path) -> None:
    context = Authority("Nobody's CA", tmp_path).server("localhost")
    text = next(tmp_path.glob("localhost*.pem")).read_text()
    alone = tmp_path / "alone.pem"
    alone.write_text(text[text.index("-----BEGIN CERTIFICATE") :])
    async with serving(http(body={"ok": 1})) as server:
        port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        async with tls_in_front_of(port, context) as secure:
            network = Network(NetworkSettings(ca_files=(alone,)))
            async with Watched(f"https://localhost:{secure}/api/v1", network=network) as watched:
                assert await watched.client.get("/x") == {"ok": 1}


async def test_a_change_takes_new_calls_another_way_and_lets_running_ones_end(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def slowly(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nfirst")
        await writer.drain()
        await go_on.wait()
        writer.write(b" rest")

    async with town(tmp_path, slowly, http(body={"ok": 1})) as place:
        before, after = await place.proxy("http"), await place.proxy("socks5")
        network = Network(place.settings("http", before))
        async with Watched(BASE, network=network) as watched:
            async with watched.client.open(Call("GET", "/long", CallKind.READ, "x")) as answer:
                pieces = answer.pieces()
                assert await anext(pieces) == b"first"
                network.change(place.settings("socks5", after))
                assert await watched.client.get("/next") == {"ok": 1}
                assert (before.open, after.open) == (1, 1)
                go_on.set()
                assert b"".join([piece async for piece in pieces]) == b" rest"
            async with asyncio.timeout(60):
                while before.open:  # the old way is closed once nobody is on it
                    await asyncio.sleep(0.005)
            network.change(place.settings("http", before))
            assert await watched.client.get("/again") == {"ok": 1}
        assert [received.target for received in place.server.received] == [
            "/api/v1/long",
            "/api/v1/next",
            "/api/v1/again",
        ]


async def test_a_new_password_is_read_after_the_old_one_is_forgotten(tmp_path: Path) -> None:
    kept = ["wrong"]

    async def read() -> str:
        return kept[0]

    async with town(tmp_path) as place:
        proxy = await place.proxy("http", login=LOGIN)
        network = Network(place.settings("http", proxy, LOGIN[0]), read)
        async with Watched(BASE, network=network) as watched:
            with pytest.raises(ConnectionFailed):
                await watched.client.get("/x")
            kept[0] = LOGIN[1]
            network.forget()
            assert await watched.client.get("/x") == {"ok": 1}


async def test_closing_the_account_hangs_up_on_old_ways_too(tmp_path: Path) -> None:
    async def forever(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nx")
        await writer.drain()
        await asyncio.sleep(60)

    async with town(tmp_path, forever) as place:
        proxy = await place.proxy("http")
        network = Network(place.settings("http", proxy))
        watched = Watched(BASE, network=network)
        async with watched.client.open(Call("GET", "/long", CallKind.READ, "x")) as answer:
            pieces = answer.pieces()
            assert await anext(pieces) == b"x"
            network.forget()
            await watched.service.aclose()
            with pytest.raises(ServiceError):
                await anext(pieces)
        async with asyncio.timeout(60):
            while proxy.open:
                await asyncio.sleep(0.005)
