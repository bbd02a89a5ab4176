"""Signing in with a wallet: a fresh header for every request, by the service's clock, to the account's own origin only.

The key that signs is nobody's business here: this layer is given a function that makes one header.
Source: service specification, wallet access (R-AUTH-03..07).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from app.service.auth import Credential, Unlock
from app.service.errors import AuthenticationFailed, CredentialUnavailable, ServiceError
from app.service.http.client_library import httpx
from app.translation import tr

SignInHeader = Callable[[timedelta], Awaitable[str]]
"""Given how far the service's clock is ahead of ours, return the value of one sign-in header, never used before."""

WORTH_CORRECTING = timedelta(seconds=5)  # the Date header counts whole seconds, and answers take a moment
WORTH_TELLING = timedelta(seconds=30)  # services refuse sign-ins from further in the future
MAX_SKEW = timedelta(days=3650)  # what claims more is a broken header, not a clock
CLOCK_CODES = frozenset({"X402_SIGN_IN_EXPIRED", "X402_SIGN_IN_FUTURE_TIMESTAMP"})


class WalletAuth(Credential):
    """Puts a fresh sign-in header on each attempt and learns the service's clock from each answer.

    `sign_in` may raise the exceptions named in `refused_by`; they become `AuthenticationFailed` with their sentence,
    or `CredentialUnavailable` where their `code` is "locked", and nothing is sent. `wallet` is the address that signs,
    by which the service counts its calls. `on_skew` hears when the two clocks come to differ by half a minute, or
    cease to.
    """

    def __init__(
        self,
        base_url: str,
        header_name: str,
        sign_in: SignInHeader,
        *,
        wallet: str = "",
        refused_by: tuple[type[Exception], ...] = (),
        on_skew: Callable[[timedelta], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        unlock: Unlock | None = None,
    ) -> None:
        super().__init__(unlock)
        self.header_name = header_name
        self.skew = timedelta()  # what the service's clock is ahead of ours
        self._origin = _origin(httpx.URL(base_url))
        self._wallet = wallet
        self._sign_in = sign_in
        self._refused_by = refused_by
        self._on_skew = on_skew
        self._clock = clock

    async def credential(self) -> str:
        """What the service knows the caller by: the wallet's address."""
        return self._wallet

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Raises `AuthenticationFailed`, with nothing sent, when no header can be made."""
        if _origin(request.url) != self._origin:
            yield request
            return
        request.headers.pop("Authorization", None)  # never both: services would look at one of them only
        request.headers[self.header_name] = await self._header()
        response = yield request
        self._learn(response.headers)

    async def _header(self) -> str:
        refusal: ServiceError | None = None
        value = ""
        try:
            value = await self._sign_in(self.skew)
        except self._refused_by as error:
            if getattr(error, "code", "") == "locked":
                refusal = CredentialUnavailable(str(error), locked=True)
            else:
                refusal = AuthenticationFailed(str(error), code="sign_in_refused", surely_not_sent=True)
        if refusal is not None:
            raise refusal
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise AuthenticationFailed(tr("The wallet created a sign-in that cannot be sent."), surely_not_sent=True)
        return value

    def _learn(self, headers: httpx.Headers) -> None:
        date = headers.get("date")
        if date is None or headers.get("age", "0").strip() != "0":  # an old answer from a cache has an old date
            return
        try:
            moment = parsedate_to_datetime(date)
            ahead = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - self._clock()
        except (ValueError, OverflowError):
            return
        if abs(ahead) > MAX_SKEW:
            return
        before, self.skew = self.skew, ahead if abs(ahead) > WORTH_CORRECTING else timedelta()
        if self._on_skew is not None and (abs(before) >= WORTH_TELLING) != (abs(self.skew) >= WORTH_TELLING):
            self._on_skew(self.skew)

    def __repr__(self) -> str:
        return f"WalletAuth({self.header_name})"


class ClockRetry:
    """One call's leave to be signed and sent once more, when it was refused for its time and the time is known now.

    A refused sign-in was not carried out, so this is right for every kind of call. The routes that show a wallet's
    balance refuse without a code: there it counts that the refusal itself has set our idea of the clock right.
    """

    def __init__(self, auth: httpx.Auth | None) -> None:
        self._auth = auth if isinstance(auth, WalletAuth) else None
        self._skew = self._auth.skew if self._auth is not None else timedelta()

    def taken(self, error: ServiceError) -> bool:
        """True, once, when the call is to be tried again at once."""
        auth = self._auth
        if auth is None or not isinstance(error, AuthenticationFailed) or error.status != 401:
            return False
        if error.code not in CLOCK_CODES and abs(auth.skew - self._skew) < WORTH_TELLING:
            return False
        self._auth = None
        return True


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host.lower(), url.port or {"http": 80, "https": 443}.get(url.scheme)
