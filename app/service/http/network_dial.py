"""Opens one connection, directly or through a proxy, step by step, so that a failure names its step.

HTTP CONNECT by RFC 9110 section 9.3.6; SOCKS5 by RFC 1928, its user and password by RFC 1929. The proxy looks up the
service's name, so that a name known only behind it is found.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
from collections.abc import Callable
from typing import Literal

from app.service.http.client_library import httpcore
from app.service.http.network import ConnectionRoute, Proxy
from app.service.http.network_stream import SocketStream, dial, resolve
from app.translation import tr

Step = Literal["proxy_name", "proxy", "proxy_tls", "proxy_answer", "name", "connect"]
Fault = Literal[
    "dns",
    "refused",
    "timeout",
    "unreachable",
    "tls",
    "credentials_wanted",
    "credentials_refused",
    "credentials_unwanted",
    "target",
    "not_a_proxy",
]

MAX_ANSWER_BYTES = 32 * 1024
_SOCKS_REPLIES = {
    1: tr("general failure"),
    2: tr("not allowed by its rules"),
    3: tr("network unreachable"),
    4: tr("host unreachable"),
    5: tr("connection refused"),
    6: tr("time to live expired"),
    7: tr("command not supported"),
    8: tr("address type not supported"),
}
_NO_METHOD, _NO_LOGIN, _LOGIN = 0xFF, 0x00, 0x02
_LARGEST_LOGIN_BYTES = 255


class HopFailed(Exception):
    """A connection that did not come about. `told` is what a proxy said, in our words: "403", "host unreachable"."""

    def __init__(self, step: Step, fault: Fault, told: str = "", cause: BaseException | None = None) -> None:
        super().__init__(f"{step}: {fault}")
        self.step = step
        self.fault = fault
        self.told = told
        self.__cause__ = cause


class Dialer:
    """Opens one connection to `host`, along `way`. `on_step` hears of each step as it begins."""

    def __init__(
        self, way: ConnectionRoute, host: str, port: int, on_step: Callable[[Step], None] | None = None
    ) -> None:
        self._way = way
        self._host = host
        self._port = port
        self._on_step = on_step
        self._step: Step = "name"

    async def open(self, timeout_s: float | None = None) -> SocketStream:
        """Return the connection, before any TLS of the service's own. Raises `HopFailed`."""
        proxy = self._way.proxy
        stream: SocketStream | None = None
        try:
            async with asyncio.timeout(timeout_s):
                if proxy is None:
                    return await self._dial("name", "connect", self._host, self._port)
                stream = await self._dial("proxy_name", "proxy", proxy.host, proxy.port)
                if proxy.kind == "https":
                    self._begin("proxy_tls")
                    assert self._way.context is not None  # `Network` gives one with such a proxy
                    stream = await stream.start_tls(self._way.context, proxy.host)
                self._begin("proxy_answer")
                if proxy.kind == "socks5":
                    await self._ask_socks(stream, proxy)
                else:
                    await self._ask_http(stream, proxy)
                opened, stream = stream, None
                return opened
        except TimeoutError as error:
            raise HopFailed(self._step, "timeout", cause=error) from error
        except (OSError, httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise HopFailed(self._step, self._fault(error), cause=error) from error
        finally:
            if stream is not None:
                await stream.aclose()

    async def _dial(self, name_step: Step, connect_step: Step, host: str, port: int) -> SocketStream:
        self._begin(name_step)
        addresses = await resolve(host, port)
        self._begin(connect_step)
        return await dial(addresses)

    def _begin(self, step: Step) -> None:
        self._step = step
        if self._on_step is not None:
            self._on_step(step)

    def _fault(self, error: BaseException) -> Fault:
        if isinstance(error, httpcore.TimeoutException):
            return "timeout"
        if isinstance(error, socket.gaierror):
            return "dns"
        if self._step == "proxy_tls":
            return "tls"
        if self._step == "proxy_answer":
            return "not_a_proxy"  # it hung up in the middle of the greeting
        return "refused" if isinstance(error, ConnectionRefusedError) else "unreachable"

    def _refuse(self, fault: Fault, told: str = "") -> HopFailed:
        return HopFailed("proxy_answer", fault, told)

    async def _ask_http(self, stream: SocketStream, proxy: Proxy) -> None:
        target = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.user:
            login = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode("ascii")
            lines.append(f"Proxy-Authorization: Basic {login}")
        await stream.write("\r\n".join([*lines, "", ""]).encode("ascii"))
        answer = await self._head(stream)
        version, _, rest = answer.partition(b" ")
        status = rest[:3]
        if not version.startswith(b"HTTP/1.") or not status.isdigit():
            raise self._refuse("not_a_proxy")
        if status == b"407":
            raise self._refuse("credentials_refused" if proxy.user else "credentials_wanted", "407")
        if not status.startswith(b"2"):
            raise self._refuse("target", status.decode("ascii"))

    async def _head(self, stream: SocketStream) -> bytes:
        """The head of the proxy's answer. Whatever follows it is ours to ignore: nobody spoke to the service yet."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            read = await stream.read(MAX_ANSWER_BYTES)
            answer += read
            if not read or len(answer) > MAX_ANSWER_BYTES:
                raise self._refuse("not_a_proxy")
        return answer

    async def _ask_socks(self, stream: SocketStream, proxy: Proxy) -> None:
        reader = _Exactly(stream)
        user, password = proxy.user.encode(), proxy.password.encode()
        if max(len(user), len(password)) > _LARGEST_LOGIN_BYTES:
            raise self._refuse("credentials_refused")
        wanted = _LOGIN if user else _NO_LOGIN
        await stream.write(bytes((5, 1, wanted)))
        version, method = await reader.take(2)
        if version != 5:
            raise self._refuse("not_a_proxy")
        if method != wanted:
            raise self._refuse("credentials_unwanted" if user else "credentials_wanted")
        if user:
            await stream.write(bytes((1, len(user))) + user + bytes((len(password),)) + password)
            _, verdict = await reader.take(2)
            if verdict != 0:
                raise self._refuse("credentials_refused")
        await stream.write(b"\x05\x01\x00" + self._socks_address() + self._port.to_bytes(2, "big"))
        version, reply, _, kind = await reader.take(4)
        if version != 5:
            raise self._refuse("not_a_proxy")
        if reply != 0:
            raise self._refuse("target", _SOCKS_REPLIES.get(reply, tr("reply {reply}", reply=reply)))
        size = {1: 4, 4: 16}.get(kind) or (await reader.take(1))[0]
        await reader.take(size + 2)

    def _socks_address(self) -> bytes:
        try:
            address = ipaddress.ip_address(self._host)
        except ValueError:
            name = self._host.encode("ascii")  # names in other scripts were written in it before they came here
            if len(name) > _LARGEST_LOGIN_BYTES:
                raise self._refuse("target", tr("the name is too long")) from None
            return bytes((3, len(name))) + name
        return bytes((1 if address.version == 4 else 4,)) + address.packed


class _Exactly:
    """Reads a known number of bytes, however they arrive."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._waiting = b""

    async def take(self, size: int) -> bytes:
        while len(self._waiting) < size:
            read = await self._stream.read(MAX_ANSWER_BYTES)
            if not read:
                raise ConnectionResetError("the proxy hung up")
            self._waiting += read
        taken, self._waiting = self._waiting[:size], self._waiting[size:]
        return taken


def sentence_of(failed: HopFailed, host: str, proxy: Proxy | None) -> str:
    """Say what became of a connection to `host`. What a stranger's proxy wrote is never repeated, only its number."""
    at = tr("the proxy {address}", address=proxy.address) if proxy is not None else host
    first = tr("The proxy {address}", address=proxy.address) if proxy is not None else host  # to begin a sentence
    name = proxy.host if proxy is not None and failed.step.startswith("proxy") else host
    match failed.fault:
        case "dns":
            if failed.step == "proxy_name":
                return tr("There is no host named {name}, the proxy, or DNS is not reachable.", name=name)
            return tr("There is no host named {name}, or DNS is not reachable.", name=name)
        case "refused":
            return tr("Nothing responds at {at}.", at=at)
        case "timeout":
            return tr("{at} did not answer in time.", at=first)
        case "tls":
            return tr("A secure connection to {at} could not be made.", at=at)
        case "credentials_wanted":
            return tr("{at} requires a user name and password.", at=first)
        case "credentials_refused":
            return tr("{at} did not accept the user name and password.", at=first)
        case "credentials_unwanted":
            return tr("{at} does not accept a user name and password.", at=first)
        case "target":
            return tr("{at} refused to connect to {host}: {told}.", at=first, host=host, told=failed.told)
        case "not_a_proxy":
            return tr("The server at {at} is not this type of proxy.", at=proxy.address if proxy is not None else host)
        case _:
            return tr("{at} cannot be reached.", at=first)
