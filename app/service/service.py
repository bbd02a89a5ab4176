"""One account's service with everything it offers, by resource."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.service.account import AccountResource
from app.service.characters import CharactersResource
from app.service.chat import ChatResource
from app.service.client import ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import LimitExceeded
from app.service.exchange import Exchange
from app.service.models import ModelsResource
from app.service.retry import BudgetState, FailureBudget
from app.service.tls import TlsTrust

if TYPE_CHECKING:
    import httpx


class Service:
    """What one account can ask for."""

    def __init__(self, client: ServiceClient) -> None:
        self.client = client
        self.chat = ChatResource(client)
        self.models = ModelsResource(client)
        self.characters = CharactersResource(client)
        self.account = AccountResource(client)

    async def aclose(self) -> None:
        await self.client.aclose()


def open_service(
    base_url: str | None,
    dialect_name: str,
    auth: httpx.Auth | None,
    on_exchange: Callable[[Exchange], None],
    *,
    on_budget: Callable[[BudgetState], None] | None = None,
    budget: FailureBudget | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    tls: TlsTrust | None = None,
) -> Service:
    """Return the service at `base_url` (None: the dialect's own). Opens nothing yet.

    `on_exchange` is told about each call once, on the event loop, and must not raise. `on_budget` hears when calls
    begin or cease to be held. Raises `LimitExceeded` for an address that cannot be called.
    """
    dialect = DIALECTS[dialect_name]
    address = (base_url or dialect.base_url or "").strip()
    if not _is_web_address(address):
        raise LimitExceeded("The address begins with https:// or http://.", field="base_url", limit="https://, http://")
    client = ServiceClient(
        address,
        dialect,
        auth,
        on_exchange=on_exchange,
        budget=budget or FailureBudget(on_budget),
        transport=transport,
        tls=tls,
    )
    return Service(client)


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
