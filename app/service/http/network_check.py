"""Testing the way to a service hop by hop: names, proxy, connection, certificate, answer, key.

The hops are walked with the very code that calls go through; nothing is asked that could cost anything.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from app.service.addresses import is_web_address, origin
from app.service.calls import Call
from app.service.client import ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import (
    AccountDisabled,
    AuthenticationFailed,
    ConnectionFailed,
    Forbidden,
    NotFound,
    PlanRequired,
    RateLimited,
    ServiceError,
    TimedOut,
)
from app.service.http.certificates import Certificate, day, read_certificate
from app.service.http.client_library import httpcore
from app.service.http.network import ConnectionRoute, Network, Proxy, UnusableProxy
from app.service.http.network_dial import Dialer, HopFailed, sentence_of
from app.service.http.network_stream import SocketStream
from app.service.key_limits import LimitsRegistry
from app.service.retry import CallKind
from app.translation import tr

if TYPE_CHECKING:
    from app.service.http.client_library import httpx

STEP_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 15.0
KEY_PATH = "/api_keys/rate_limits"  # tells a key's limits, works with every key and costs nothing
OPEN_PATH = "/models"

HopName = Literal["proxy_name", "proxy", "proxy_tls", "proxy_answer", "name", "connect", "tls", "http", "key"]
HopState = Literal["waiting", "running", "ok", "bad", "skipped"]
OnHops = Callable[[tuple["Hop", ...]], None]


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the way. `sentence` says how it went, `took_ms` how long it took."""

    name: HopName
    state: HopState = "waiting"
    sentence: str = ""
    took_ms: int | None = None


class NetworkCheck:
    """One walk to `base_url`. `hops` grow true one after the other; `on_hops` hears of each change.

    Without an `auth` the service is asked for something that needs no key, and the key's hop is skipped.
    """

    def __init__(
        self,
        base_url: str,
        network: Network,
        auth: httpx.Auth | None,
        on_hops: OnHops,
        *,
        dialect: str = "service",
        registry: LimitsRegistry | None = None,
    ) -> None:
        self.hops: tuple[Hop, ...] = ()
        self._base_url = base_url.rstrip("/")
        self._network = network
        self._auth = auth
        self._dialect = dialect
        self._registry = registry
        self._on_hops = on_hops
        self._begun = 0.0

    async def run(self) -> tuple[Hop, ...]:
        """Walk until a hop fails, and return all of them; those behind it are skipped. Raises nothing but to stop."""
        if not is_web_address(self._base_url):
            self._show((Hop("name", "bad", tr("The address must begin with https:// or http://.")),))
            return self.hops
        scheme, host, port = origin(self._base_url)
        assert port is not None
        try:
            host = host.encode("idna").decode("ascii") if not host.isascii() else host
        except UnicodeError:
            self._show((Hop("name", "bad", tr("{host} is not a valid host name.", host=host)),))
            return self.hops
        way = await self._way()
        if way is not None:
            self._show(tuple(map(Hop, self._names(way.proxy, secure=scheme == "https"))))
            if await self._connect(way, host, port, secure=scheme == "https"):
                await self._ask()
        for hop in self.hops:
            if hop.state == "waiting":
                self._set(hop.name, state="skipped")
        return self.hops

    # The walk

    async def _way(self) -> ConnectionRoute | None:
        """The way there, None after showing why there is none."""
        failed: tuple[HopName, str]
        try:
            return await self._network.way(self._base_url)
        except UnusableProxy as error:
            failed = (
                "proxy",
                tr("The system uses a proxy of type {kind}, which Rialto does not support.", kind=error.kind[:20]),
            )
        except ServiceError as error:
            failed = "tls" if error.code == "ca_file" else "proxy_answer", error.message
        self._show((Hop(failed[0], "bad", failed[1]),))
        return None

    def _names(self, proxy: Proxy | None, *, secure: bool) -> list[HopName]:
        names: list[HopName] = []
        if proxy is None:
            names += ["name", "connect"]
        else:
            names += ["proxy_name", "proxy"]
            if proxy.kind == "https":
                names.append("proxy_tls")
            names.append("proxy_answer")
        if secure:
            names.append("tls")
        return [*names, "http", "key"]

    async def _connect(self, way: ConnectionRoute, host: str, port: int, *, secure: bool) -> bool:
        """Open a connection of our own and close it again; False after showing what failed."""
        current: list[HopName] = []

        def begin(step: HopName) -> None:
            if current:
                self._pass(current[-1], self._said(current[-1], way, host, port))
            current.append(step)
            self._begin(step)

        try:
            stream = await Dialer(way, host, port, begin).open(STEP_TIMEOUT_S)
        except HopFailed as failed:
            sentence = sentence_of(failed, host, way.proxy)
            if failed.fault == "tls" and way.proxy is not None:
                sentence = await self._why_untrusted(
                    failed, ConnectionRoute(None, None), way.proxy.host, way.proxy.port
                )
            self._fail(failed.step, sentence)
            return False
        self._pass(current[-1], self._said(current[-1], way, host, port))
        try:
            return not secure or await self._secure(stream, way, host, port)
        finally:
            await stream.aclose()

    def _said(self, name: HopName, way: ConnectionRoute, host: str, port: int) -> str:
        proxy = way.proxy
        match name:
            case "proxy_name" | "name":
                looked_up = proxy.host if proxy is not None else host
                return (
                    tr("{looked_up} is an address, not a name.", looked_up=looked_up)
                    if _is_address(looked_up)
                    else tr("{looked_up} was found.", looked_up=looked_up)
                )
            case "proxy":
                return tr("The proxy answers at {address}.", address=proxy.address) if proxy is not None else ""
            case "proxy_tls":
                return tr("The connection to the proxy is secure.")
            case "proxy_answer":
                if proxy is not None and proxy.user:
                    return tr("The proxy connects to {host} for {user}.", host=host, user=proxy.user)
                return tr("The proxy connects to {host}.", host=host)
            case _:
                return tr("{host} answers at port {port}.", host=host, port=str(port))

    async def _secure(self, stream: SocketStream, way: ConnectionRoute, host: str, port: int) -> bool:
        self._begin("tls")
        assert way.context is not None  # `Network` gives one for https
        try:
            secured = await stream.start_tls(way.context, host, STEP_TIMEOUT_S)
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            self._fail("tls", await self._why_untrusted(error, way, host, port))
            return False
        certificate = _certificate(secured)
        await secured.aclose()
        self._pass(
            "tls",
            tr(
                "{shown} Valid until {valid_until}.",
                shown=_shown(certificate),
                valid_until=day(certificate.valid_until),
            )
            if certificate
            else "",
        )
        return True

    async def _why_untrusted(self, error: BaseException, way: ConnectionRoute, host: str, port: int) -> str:
        """Say why TLS failed. For a certificate that was refused, fetch it once more to say whose it is."""
        refusal = _verification_error(error)
        if refusal is None:
            if isinstance(error, httpcore.TimeoutException):
                return tr("{host} did not respond to the TLS handshake in time.", host=host)
            return tr("{host} does not support TLS here, or no secure version of it.", host=host)
        certificate = await self._fetch_certificate(way, host, port)
        return f"{_shown(certificate)} {_why(refusal, certificate, host)}".strip()

    async def _fetch_certificate(self, way: ConnectionRoute, host: str, port: int) -> Certificate | None:
        """Connect without believing anybody, send nothing, and read the certificate."""
        look = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        look.check_hostname = False
        look.verify_mode = ssl.CERT_NONE
        try:
            stream = await Dialer(way, host, port).open(STEP_TIMEOUT_S)
            stream = await stream.start_tls(look, host, STEP_TIMEOUT_S)
        except (HopFailed, httpcore.NetworkError, httpcore.TimeoutException):
            return None
        try:
            return _certificate(stream)
        finally:
            await stream.aclose()

    async def _ask(self) -> None:
        """Ask the service as every call does, once, and read what that says of service and key."""
        self._begin("http")
        client = ServiceClient(
            self._base_url,
            DIALECTS[self._dialect],
            self._auth,
            on_exchange=lambda _exchange: None,
            network=self._network,
            registry=self._registry,
        )
        call = Call(
            "GET",
            KEY_PATH if self._auth is not None else OPEN_PATH,
            CallKind.READ,
            "account",
            answer_s=ANSWER_TIMEOUT_S,
            single=True,
        )
        try:
            async with client.fetch(call) as answer:
                answered = answer.json() if self._auth is not None else None
        except ServiceError as error:
            self._refused(error)
        else:
            self._pass("http", tr("The service answers."))
            if self._auth is None:
                self._set("key", state="skipped", sentence=tr("No key to check."))
            elif _is_barred(answered):
                self._fail("key", tr("The service recognizes this key but denies access."))
            else:
                self._pass("key", tr("The service accepts the key."))
        finally:
            await client.aclose()

    def _refused(self, error: ServiceError) -> None:
        if isinstance(error, ConnectionFailed | TimedOut) or error.status is None:
            self._fail("http", error.message)
            return
        if isinstance(error, AuthenticationFailed | PlanRequired | AccountDisabled | Forbidden | RateLimited):
            self._pass("http", tr("The service answers ({status}).", status=error.status))
            match error:
                case _ if self._auth is None:
                    self._set("key", state="skipped", sentence=tr("No key to check."))
                case AuthenticationFailed():
                    self._fail("key", tr("The service did not accept this key."))
                case PlanRequired() | AccountDisabled():
                    self._fail("key", error.message)
                case Forbidden():
                    self._fail("key", tr("The service does not accept this key from here."))
                case _:
                    self._set("key", state="skipped", sentence=tr("Too many requests right now to check the key."))
            return
        if isinstance(error, NotFound):
            self._fail("http", tr("A server answered, but it is not a compatible service (404)."))
            return
        self._fail("http", tr("The service answers with an error ({status}).", status=error.status))

    # The rows

    def _begin(self, name: HopName) -> None:
        self._begun = time.monotonic()
        self._set(name, state="running")

    def _pass(self, name: HopName, sentence: str) -> None:
        self._set(name, state="ok", sentence=sentence, took_ms=self._took_ms())

    def _fail(self, name: HopName, sentence: str) -> None:
        self._set(name, state="bad", sentence=sentence, took_ms=self._took_ms())

    def _took_ms(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    def _set(self, name: HopName, **changes: object) -> None:
        self._show(
            tuple(replace(hop, **changes) if hop.name == name else hop for hop in self.hops)  # type: ignore[arg-type] # names are `Hop`'s own
        )

    def _show(self, hops: tuple[Hop, ...]) -> None:
        self.hops = hops
        self._on_hops(hops)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_barred(answered: object) -> bool:
    data = answered.get("data") if isinstance(answered, dict) else None
    return isinstance(data, dict) and data.get("accessPermitted") is False


def _certificate(stream: SocketStream) -> Certificate | None:
    secured = stream.get_extra_info("ssl_object")
    der = secured.getpeercert(binary_form=True) if isinstance(secured, ssl.SSLObject) else None
    return read_certificate(der) if der else None


def _verification_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    for _ in range(8):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _shown(certificate: Certificate | None) -> str:
    if certificate is None:
        return ""
    if certificate.is_self_signed:
        return tr("Certificate of {subject}, self-signed.", subject=certificate.subject)
    return tr("Certificate of {subject}, issued by {issuer}.", subject=certificate.subject, issuer=certificate.issuer)


def _why(refusal: ssl.SSLCertVerificationError, certificate: Certificate | None, host: str) -> str:
    """Why it was refused. OpenSSL's number where there is one; other systems leave it at words, then the facts tell."""
    now = datetime.now(UTC)
    if certificate is not None and certificate.valid_until < now:
        return tr("It expired on {valid_until}.", valid_until=day(certificate.valid_until))
    if certificate is not None and certificate.valid_from > now:
        return tr("It is valid from {valid_from}. Check this computer’s clock.", valid_from=day(certificate.valid_from))
    if refusal.verify_code in _WRONG_HOST:
        names = (
            ", ".join(certificate.hosts[:4]) if certificate is not None and certificate.hosts else tr("another host")
        )
        return tr("It was issued for {names}, not for {host}.", names=names, host=host)
    if refusal.verify_code in _UNKNOWN_ISSUER:
        return tr(
            "Its issuer is not trusted on this computer. If your network inspects TLS traffic, add your "
            "network’s certificate."
        )
    return tr("It is not trusted: {verify_message}.", verify_message=refusal.verify_message.rstrip("."))


_WRONG_HOST = frozenset({62, 63, 64})  # X509_V_ERR_HOSTNAME_MISMATCH, EMAIL_, IP_ADDRESS_
_UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21, 27})  # no issuer, self-signed alone or in the chain, untrusted root
