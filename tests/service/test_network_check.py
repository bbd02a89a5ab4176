"""The test of the way to a service: each hop a row of its own, and the one that fails named with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.service.auth import ApiKeyAuth
from app.service.http import network_check
from app.service.http.network import Network, NetworkSettings, Proxy
from app.service.http.network_check import Hop, NetworkCheck
from tests.service.loopback import KEY, Loopback, http, serving
from tests.service.proxies import TestProxy, http_proxy, socks_proxy, speaking, tls_in_front_of
from tests.service.test_network import BASE, HOST, LOGIN, password, town
from tests.service.throwaway_ca import Authority

LIMITS = http(body={"data": {"accessPermitted": True, "apiTier": {"id": "paid"}, "rateLimits": []}})


async def read_key() -> str:
    return KEY


async def walk(base_url: str, network: Network, *, with_key: bool = True) -> dict[str, Hop]:
    told: list[tuple[Hop, ...]] = []
    check = NetworkCheck(base_url, network, ApiKeyAuth(read_key) if with_key else None, told.append)
    hops = await check.run()
    assert told[-1] == hops
    assert not any(hop.state in ("waiting", "running") for hop in hops)
    assert not any(LOGIN[1] in hop.sentence or KEY in hop.sentence for hop in hops)
    return {hop.name: hop for hop in hops}


def states(hops: dict[str, Hop]) -> dict[str, str]:
    return {name: hop.state for name, hop in hops.items()}


def bad(hops: dict[str, Hop]) -> tuple[str, str]:
    """The one hop that failed, and what it says; everything before it went well, everything behind was left out."""
    names = list(hops)
    (failed,) = (name for name in names if hops[name].state == "bad")
    assert {hops[name].state for name in names[: names.index(failed)]} <= {"ok"}
    assert {hops[name].state for name in names[names.index(failed) + 1 :]} <= {"skipped"}
    return failed, hops[failed].sentence


def port_of(server: Loopback) -> int:
    return int(server.base_url.rsplit(":", 1)[1].split("/")[0])


async def test_every_hop_of_a_way_through_a_proxy_goes_well(tmp_path: Path) -> None:
    async with town(tmp_path, LIMITS) as place:
        for kind in ("http", "https", "socks5"):
            proxy = await place.proxy(kind, login=LOGIN)
            hops = await walk(BASE, Network(place.settings(kind, proxy, LOGIN[0]), password))
            secure = {"proxy_tls": "ok"} if kind == "https" else {}
            names = ("proxy_answer", "tls", "http", "key")
            assert states(hops) == {"proxy_name": "ok", "proxy": "ok", **secure, **dict.fromkeys(names, "ok")}
            assert all(hop.took_ms is not None for hop in hops.values())
            assert hops["proxy_answer"].sentence == f"The proxy connects to {HOST} for {LOGIN[0]}."
            assert hops["tls"].sentence.startswith(f"Certificate of {HOST}, issued by Throwaway CA. Valid until ")
            assert hops["key"].sentence == "The service accepts the key."
        assert {received.target for received in place.server.received} == {"/api/v1/api_keys/rate_limits"}


async def test_without_an_account_the_way_alone_is_tested(tmp_path: Path) -> None:
    async with town(tmp_path, http(401, {"error": "no key"})) as place:
        proxy = await place.proxy("http")
        hops = await walk(BASE, Network(place.settings("http", proxy)), with_key=False)
        assert (hops["http"].state, hops["key"].state) == ("ok", "skipped")
        assert hops["key"].sentence == "No key to check."
        (received,) = place.server.received
        assert (received.target, "authorization" in received.headers) == ("/api/v1/models", False)


async def test_each_hop_is_told_while_it_runs(tmp_path: Path) -> None:
    running: list[str] = []

    def hear(hops: tuple[Hop, ...]) -> None:
        running.extend(hop.name for hop in hops if hop.state == "running" and hop.name not in running)

    async with serving(LIMITS) as server:
        await NetworkCheck(server.base_url, Network(), ApiKeyAuth(read_key), hear).run()
    assert running == ["name", "connect", "http"]


@pytest.mark.parametrize(
    ("settings", "failed", "words"),
    [
        (NetworkSettings("manual", "http", "no-such-proxy.invalid", 80), "proxy_name", "no-such-proxy.invalid"),
        (NetworkSettings("manual", "http", "127.0.0.1", 9), "proxy", "Nothing responds at the proxy 127.0.0.1:9."),
        (NetworkSettings("none"), "name", f"There is no host named {HOST}, or DNS is not reachable."),
    ],
)
async def test_the_first_hops_fail_by_name(settings: NetworkSettings, failed: str, words: str) -> None:
    name, sentence = bad(await walk(BASE, Network(settings)))
    assert name == failed
    assert words in sentence


@pytest.mark.parametrize("kind", ["http", "https", "socks5"])
async def test_refused_and_missing_credentials_are_told_apart(kind: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, login=(LOGIN[0], "another"))
        name, sentence = bad(await walk(BASE, Network(place.settings(kind, proxy, LOGIN[0]), password)))
        assert (name, "did not accept the user name and password" in sentence) == ("proxy_answer", True)
        name, sentence = bad(await walk(BASE, Network(place.settings(kind, proxy))))
        assert (name, "requires a user name and password" in sentence) == ("proxy_answer", True)


async def test_credentials_that_a_proxy_does_not_take(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy("socks5")
        name, sentence = bad(await walk(BASE, Network(place.settings("socks5", proxy, LOGIN[0]), password)))
        assert (name, "does not accept a user name and password" in sentence) == ("proxy_answer", True)


@pytest.mark.parametrize(("kind", "refuses", "words"), [("http", 403, "403"), ("socks5", 5, "connection refused")])
async def test_a_target_that_the_proxy_refuses(kind: str, refuses: int, words: str, tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy(kind, refuses=refuses)
        failed = bad(await walk(BASE, Network(place.settings(kind, proxy))))
        assert failed == (
            "proxy_answer",
            f"The proxy 127.0.0.1:{proxy.port} refused to connect to {HOST}: {words}.",
        )


async def test_a_proxy_that_accepts_and_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(network_check, "STEP_TIMEOUT_S", 0.1)
    async with speaking(silent) as port:
        for kind in ("http", "https", "socks5"):
            settings = NetworkSettings("manual", kind, "127.0.0.1", port)  # type: ignore[arg-type] # a kind
            name, sentence = bad(await walk(BASE, Network(settings)))
            assert name == ("proxy_tls" if kind == "https" else "proxy_answer")
            assert "in time" in sentence


async def test_a_secure_proxy_whose_certificate_nobody_here_knows(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy("https")
        settings = replace(place.settings("https", proxy), ca_files=())
        name, sentence = bad(await walk(BASE, Network(settings)))
        assert name == "proxy_tls"
        assert sentence.startswith("Certificate of 127.0.0.1, issued by Throwaway CA. Its issuer is not trusted")


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"hosts": ("localhost",), "from_day": -9, "to_day": -2}, "It expired on "),
        ({"hosts": ("localhost",), "from_day": 2}, "Check this computer’s clock."),
        ({"hosts": ("a.example", "b.example")}, "It was issued for a.example, b.example, not for localhost."),
    ],
)
async def test_why_a_certificate_is_refused(server: dict[str, object], words: str, tmp_path: Path) -> None:
    authority = Authority("Office CA", tmp_path)
    options = dict(server)
    hosts = options.pop("hosts")
    context = authority.server(*hosts, **options)  # type: ignore[arg-type, misc] # the rows above
    async with serving(LIMITS) as behind, tls_in_front_of(port_of(behind), context) as port:
        network = Network(NetworkSettings(ca_files=(authority.file,)))
        name, sentence = bad(await walk(f"https://localhost:{port}/v1", network))
    assert name == "tls"
    assert sentence.startswith(f"Certificate of {hosts[0]}, issued by Office CA. ")  # type: ignore[index] # a tuple
    assert words in sentence
    assert behind.received == []


async def test_an_unknown_issuer_is_named_and_the_way_out_told(tmp_path: Path) -> None:
    context = Authority("Contoso Inspection", tmp_path).server("localhost")
    async with serving(LIMITS) as behind, tls_in_front_of(port_of(behind), context) as port:
        name, sentence = bad(await walk(f"https://localhost:{port}/v1", Network()))
    assert name == "tls"
    assert sentence.startswith("Certificate of localhost, issued by Contoso Inspection. Its issuer is not trusted")
    assert "add your network’s certificate" in sentence


async def test_a_server_without_tls_where_tls_is_wanted() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with speaking(answer) as port:
        name, sentence = bad(await walk(f"https://localhost:{port}/v1", Network()))
    assert (name, "does not support TLS" in sentence) == ("tls", True)


@pytest.mark.parametrize(
    ("answer", "http_state", "key_state", "words"),
    [
        (http(401, {"error": "x"}), "ok", "bad", "The service did not accept this key."),
        (http(403, {"error": "x"}), "ok", "bad", "does not accept this key from here"),
        (http(429, {"error": "x"}), "ok", "skipped", "Too many requests"),
        (http(body={"data": {"accessPermitted": False}}), "ok", "bad", "recognizes this key but denies access"),
        (http(404, b"<html>"), "bad", "skipped", "not a compatible service (404)"),
        (http(503, {"error": "x"}), "bad", "skipped", "with an error (503)"),
        (http(body=b"<html>hello</html>", content_type="text/html"), "bad", "skipped", ""),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "bad", "skipped", ""),
    ],
)
async def test_what_the_service_answers(answer: bytes, http_state: str, key_state: str, words: str) -> None:
    async with serving(answer) as server:
        hops = await walk(server.base_url, Network())
    assert (hops["http"].state, hops["key"].state) == (http_state, key_state)
    assert words in hops["http"].sentence + hops["key"].sentence
    assert len(server.received) == 1  # once: a test does not push


async def test_a_service_that_accepts_and_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(network_check, "ANSWER_TIMEOUT_S", 0.1)
    monkeypatch.setattr(network_check, "STEP_TIMEOUT_S", 0.1)
    async with speaking(silent) as port:
        name, sentence = bad(await walk(f"http://localhost:{port}/v1", Network()))
        assert (name, "in time" in sentence) == ("http", True)
        name, sentence = bad(await walk(f"https://localhost:{port}/v1", Network()))
        assert (name, "in time" in sentence) == ("tls", True)


async def test_what_stands_in_the_way_before_the_first_hop(tmp_path: Path) -> None:
    async def locked() -> str:
        from app.service.errors import ConnectionFailed

        raise ConnectionFailed("The keychain is locked.", code="proxy_password", surely_not_sent=True)

    def unknown(_url: str) -> Proxy | None:
        from app.service.http.network import UnusableProxy

        raise UnusableProxy("socks4")

    settings = NetworkSettings("manual", "http", "127.0.0.1", 9, "desk14")
    cases: list[tuple[Callable[[], Network], str, str]] = [
        (lambda: Network(settings, locked), "proxy_answer", "The keychain is locked."),
        (lambda: Network(system=unknown), "proxy", "socks4"),
        (lambda: Network(NetworkSettings(ca_files=(tmp_path / "gone.pem",))), "tls", "gone.pem"),
    ]
    for make, failed, words in cases:
        base_url = "https://localhost:9/v1" if failed == "tls" else BASE
        name, sentence = bad(await walk(base_url, make()))
        assert (name, words in sentence) == (failed, True)
    assert bad(await walk("ftp://x", Network()))[0] == "name"


async def test_a_test_that_is_stopped_leaves_no_connection() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        gone.set()

    came, gone = asyncio.Event(), asyncio.Event()
    async with speaking(silent) as port:
        task = asyncio.ensure_future(walk(f"https://localhost:{port}/v1", Network()))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(60):
            await gone.wait()


async def test_hops_of_proxies_used_alone() -> None:
    """The helpers answer as such servers do: a name they do not know is refused by each in its own words."""
    for make, told in ((http_proxy, "502"), (socks_proxy, "host unreachable")):
        async with make(TestProxy({})) as proxy:  # type: ignore[operator] # two context managers
            kind = "http" if told == "502" else "socks5"
            settings = NetworkSettings("manual", kind, "127.0.0.1", proxy.port)  # type: ignore[arg-type] # a kind
            assert bad(await walk(BASE, Network(settings)))[1].endswith(f"{told}.")


@pytest.mark.parametrize(
    ("name", "failed", "words"),
    [
        ("https://bücher.invalid/v1", "name", "xn--bcher-kva.invalid"),
        (f"https://{'ü' * 70}.invalid/v1", "name", "is not a valid host name"),
    ],
)
async def test_names_in_other_scripts(name: str, failed: str, words: str) -> None:
    found, sentence = bad(await walk(name, Network()))
    assert (found, words in sentence) == (failed, True)


async def test_odd_proxies_are_told_what_they_are() -> None:
    """Replies that no SOCKS server should give, one after the other."""
    cases: list[tuple[list[bytes], str]] = [
        ([b"\x04\x00"], "is not this type of proxy"),
        ([b"\x05\x00", b"\x04\x00\x00\x01"], "is not this type of proxy"),
        ([b"\x05\x00", b"\x05\x63\x00\x01"], "reply 99"),
        ([b"\x05\x00", b"\x05\x00\x00\x03\x02ab\x00\x50"], "does not support TLS"),
        ([b"\x05\x00", b"\x05\x00\x00\x04" + b"\x00" * 18], "does not support TLS"),
    ]
    for replies, words in cases:

        async def answer(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter, replies: list[bytes] = replies
        ) -> None:
            for reply in replies:
                await reader.read(100)
                writer.write(reply)
            await reader.read(10)
            writer.write(b"no TLS here")

        async with speaking(answer) as port:
            settings = NetworkSettings("manual", "socks5", "127.0.0.1", port)
            for base_url in (BASE, "https://192.0.2.7/v1", "https://[2001:db8::7]/v1"):
                assert words in bad(await walk(base_url, Network(settings)))[1]


async def test_a_name_or_a_password_that_socks_cannot_carry(tmp_path: Path) -> None:
    async with town(tmp_path) as place:
        proxy = await place.proxy("socks5")
        long_name = ".".join(["a" * 60] * 5)
        _, sentence = bad(await walk(f"https://{long_name}/v1", Network(place.settings("socks5", proxy))))
        assert sentence.endswith("the name is too long.")

        async def long_password() -> str:
            return "x" * 256

        network = Network(place.settings("socks5", proxy, "desk14"), long_password)
        assert "did not accept" in bad(await walk(BASE, network))[1]


async def test_a_certificate_that_cannot_be_fetched_again_is_refused_all_the_same(tmp_path: Path) -> None:
    context = Authority("Once", tmp_path).server("localhost")
    greeted = [0]

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeted[0] += 1
        if greeted[0] == 1:
            await writer.start_tls(context)

    async with speaking(once) as port:
        name, sentence = bad(await walk(f"https://localhost:{port}/v1", Network()))
    assert name == "tls"
    assert sentence.startswith("Its issuer is not trusted on this computer.")


async def test_a_certificate_signed_by_itself_is_said_to_be(tmp_path: Path) -> None:
    context = Authority("localhost", tmp_path).server("localhost")
    async with serving(LIMITS) as behind, tls_in_front_of(port_of(behind), context) as port:
        _, sentence = bad(await walk(f"https://localhost:{port}/v1", Network()))
    assert sentence.startswith("Certificate of localhost, self-signed. ")


def test_reasons_that_only_words_tell() -> None:
    import ssl

    odd = ssl.SSLCertVerificationError()
    odd.verify_code, odd.verify_message = 999, "certificate purpose."
    assert network_check._why(odd, None, "h") == "It is not trusted: certificate purpose."
    odd.verify_code = 62
    assert network_check._why(odd, None, "h") == "It was issued for another host, not for h."
    looped = OSError()
    looped.__context__ = OSError()
    looped.__context__.__cause__ = looped
    assert network_check._verification_error(looped) is None
