"""Credentials on the way out. The key is read for each call and kept nowhere: not in a field, a repr or an error.

A request that needs a credential leaves with it or not at all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable

from app.service.errors import AuthenticationFailed, CredentialUnavailable
from app.service.http.client_library import httpx
from app.translation import tr

Unlock = Callable[[], Awaitable[bool]]
"""Asks the person to unlock the place where credentials are kept; False when they would rather not."""


class Credential(httpx.Auth):
    """What signs an account's requests. Raises `CredentialUnavailable`, with nothing sent, when it cannot.

    `ServiceClient` hands this only requests for the account's own origin and never follows a redirect with it.
    """

    def __init__(self, unlock: Unlock | None = None) -> None:
        self.unlock = unlock

    @abstractmethod
    async def credential(self) -> str:
        """What the service knows the caller by, "" for nothing. Raises what reading it raises; do not keep it."""


class ApiKeyAuth(Credential):
    """Puts `Authorization: Bearer …` on a request. `read_key` gives the key, or "" when there is none."""

    def __init__(self, read_key: Callable[[], Awaitable[str]], unlock: Unlock | None = None) -> None:
        super().__init__(unlock)
        self._read_key = read_key

    async def credential(self) -> str:
        """The key."""
        return (await self._read_key()).strip()

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Raises `AuthenticationFailed`, with nothing sent, when the key cannot be written into a header."""
        key = await self.credential()
        if not key:
            raise CredentialUnavailable(tr("There is no API key for this account on this computer."))
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise AuthenticationFailed(
                tr("The API key contains characters that are not allowed."), surely_not_sent=True
            )
        request.headers["Authorization"] = f"Bearer {key}"
        yield request

    def __repr__(self) -> str:
        return "ApiKeyAuth()"


class NoAuth(httpx.Auth):
    """Sends a request as it is: httpx would otherwise take a user and password out of the address."""


NO_AUTH = NoAuth()
