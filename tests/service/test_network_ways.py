"""Which way leads to a host: lists of exceptions, the system's proxies, and what is remembered of them."""

from __future__ import annotations

import pytest

from app.service.http.network import (
    SYSTEM_HOLDS_S,
    Network,
    NetworkSettings,
    Proxy,
    UnusableProxy,
    is_bypassed,
    read_proxy,
    system_proxy,
)

HERE = NetworkSettings("manual", "http", "proxy.example", 8080)


@pytest.mark.parametrize(
    ("entry", "url", "expected"),
    [
        ("example.net", "https://example.net/v1", True),
        ("example.net", "https://api.example.net/v1", True),
        ("Example.NET.", "https://API.example.net/v1", True),
        ("example.net", "https://notexample.net/v1", False),
        (".example.net", "https://a.example.net", True),
        ("*.example.net", "https://a.example.net", True),
        ("example.net:8443", "https://example.net:8443", True),
        ("example.net:8443", "https://example.net", False),
        ("10.0.0.0/8", "https://10.1.2.3", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://ten.example", False),
        ("192.0.2.7", "https://192.0.2.7:9000", True),
        ("192.0.2.7:9000", "https://192.0.2.7:9000", True),
        ("192.0.2.7:9001", "https://192.0.2.7:9000", False),
        ("2001:db8::/32", "https://[2001:db8::1]/v1", True),
        ("2001:db8::1", "https://[2001:db8::1]/v1", True),
        ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443/v1", True),
        ("example.net", "https://192.0.2.7", False),
        ("<local>", "https://intranet/v1", True),
        ("<local>", "https://intra.net/v1", False),
        ("<local>", "https://192.0.2.7", False),
        ("*", "https://anything.example", True),
        ("", "https://anything.example", False),
        (".", "https://anything.example", False),
    ],
)
def test_an_exception_names_hosts(entry: str, url: str, expected: bool) -> None:
    assert is_bypassed(url, ("other.example", entry)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("proxy.example:3128", Proxy("http", "proxy.example", 3128)),
        ("http://proxy.example", Proxy("http", "proxy.example", 80)),
        ("https://proxy.example", Proxy("https", "proxy.example", 443)),
        ("socks5h://u%40x:p%3Aq@proxy.example", Proxy("socks5", "proxy.example", 1080, "u@x", "p:q")),
        ("SOCKS://[::1]:9", Proxy("socks5", "::1", 9)),
        ("http://", None),
        ("http://h:99999", None),
    ],
)
def test_a_proxy_as_the_system_writes_it(text: str, expected: Proxy | None) -> None:
    assert read_proxy(text) == expected


def test_a_kind_of_proxy_that_is_not_spoken() -> None:
    with pytest.raises(UnusableProxy) as caught:
        read_proxy("socks4://proxy.example")
    assert caught.value.kind == "socks4"


def test_a_proxys_address_shows_neither_user_nor_password() -> None:
    proxy = Proxy("socks5", "::1", 1080, "u", "secret-word")
    assert (proxy.address, "secret-word" in repr(proxy)) == ("[::1]:1080", False)


@pytest.mark.parametrize(
    ("variables", "url", "host"),
    [
        ({"HTTPS_PROXY": "http://a.example:1", "HTTP_PROXY": "http://b.example:1"}, "https://s.example", "a.example"),
        ({"HTTPS_PROXY": "http://a.example:1"}, "http://s.example", ""),
        ({"ALL_PROXY": "socks5://c.example:1"}, "https://s.example", "c.example"),
        ({"ALL_PROXY": "socks5://c.example:1", "NO_PROXY": "s.example"}, "https://s.example", ""),
        ({"HTTPS_PROXY": "http://a.example:1", "NO_PROXY": "s.example:8443"}, "https://s.example:8443", ""),
        ({"HTTPS_PROXY": "http://a.example:1", "NO_PROXY": "s.example:8443"}, "https://s.example", "a.example"),
        ({}, "https://s.example", ""),
    ],
)
def test_the_systems_proxy(variables: dict[str, str], url: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    proxy = system_proxy(url)
    assert (proxy.host if proxy is not None else "") == host


async def test_the_system_is_asked_again_after_a_minute() -> None:
    asked: list[str] = []
    moment = [0.0]

    def system(url: str) -> None:
        asked.append(url)

    network = Network(system=system, clock=lambda: moment[0])
    for at in (0.0, 1.0, SYSTEM_HOLDS_S + 1):
        moment[0] = at
        assert (await network.way("http://s.example/a")).proxy is None
    assert len(asked) == 2


async def test_what_was_asked_before_a_change_is_not_kept_after_it() -> None:
    async def read() -> str:
        if network.generation == 0:
            network.change(NetworkSettings("none"))
        return "x"

    network = Network(NetworkSettings("manual", "http", "proxy.example", 8080, "user"), read)
    assert (await network.way("http://s.example")).proxy is not None
    assert (await network.way("http://s.example")).proxy is None


@pytest.mark.parametrize("unfinished", [{"proxy_host": ""}, {"proxy_port": 0}, {"proxy_port": 70000}])
async def test_a_manual_proxy_without_an_address_is_none(unfinished: dict[str, object]) -> None:
    from dataclasses import replace

    network = Network(replace(HERE, **unfinished))  # type: ignore[arg-type] # fields of NetworkSettings
    assert await network.proxy("https://s.example") is None


async def test_a_user_without_a_place_for_passwords_has_none() -> None:
    from dataclasses import replace

    proxy = await Network(replace(HERE, proxy_user="u")).proxy("https://s.example")
    assert proxy == Proxy("http", "proxy.example", 8080, "u", "")
