"""One account's service with everything it offers, by resource."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from app.service.account import AccountResource
from app.service.addresses import is_web_address
from app.service.characters import CharactersResource
from app.service.chat import ChatResource
from app.service.client import Gate, ServiceClient
from app.service.dialect import DIALECTS
from app.service.errors import LimitExceeded
from app.service.exchange import Exchange
from app.service.http.network import Network
from app.service.key_limits import LimitsRegistry
from app.service.models import ModelsResource
from app.service.retry import BudgetState
from app.translation import tr

if TYPE_CHECKING:
    from app.service.api_keys import ApiKeysResource
    from app.service.billing import BillingResource
    from app.service.crypto_rpc import CryptoRpcResource
    from app.service.embeddings import EmbeddingsResource
    from app.service.http.client_library import httpx
    from app.service.images import ImagesResource
    from app.service.sealed.resource import SealedResource
    from app.service.speech import SpeechResource, VoicesResource
    from app.service.transcription import TranscriptionResource
    from app.service.video import VideoResource
    from app.service.x402 import X402Resource


class Service:
    """What one account can ask for."""

    def __init__(self, client: ServiceClient) -> None:
        self.client = client
        self.chat = ChatResource(client)
        self.models = ModelsResource(client)
        self.characters = CharactersResource(client)
        self.account = AccountResource(client)

    # The rest is imported when a tab first asks for it, so that a chat does not wait for video.

    @cached_property
    def api_keys(self) -> ApiKeysResource:
        from app.service.api_keys import ApiKeysResource

        return ApiKeysResource(self.client)

    @cached_property
    def speech(self) -> SpeechResource:
        from app.service.speech import SpeechResource

        return SpeechResource(self.client)

    @cached_property
    def voices(self) -> VoicesResource:
        from app.service.speech import VoicesResource

        return VoicesResource(self.client)

    @cached_property
    def transcription(self) -> TranscriptionResource:
        from app.service.transcription import TranscriptionResource

        return TranscriptionResource(self.client)

    @cached_property
    def video(self) -> VideoResource:
        from app.service.video import VideoResource

        return VideoResource(self.client)

    @cached_property
    def images(self) -> ImagesResource:
        from app.service.images import ImagesResource

        return ImagesResource(self.client)

    @cached_property
    def embeddings(self) -> EmbeddingsResource:
        from app.service.embeddings import EmbeddingsResource

        return EmbeddingsResource(self.client)

    @cached_property
    def crypto_rpc(self) -> CryptoRpcResource:
        from app.service.crypto_rpc import CryptoRpcResource

        return CryptoRpcResource(self.client)

    @cached_property
    def sealed(self) -> SealedResource:
        from app.service.sealed.resource import SealedResource

        return SealedResource(self.client)

    @cached_property
    def billing(self) -> BillingResource:
        from app.service.billing import BillingResource

        return BillingResource(self.client)

    @cached_property
    def x402(self) -> X402Resource:
        from app.service.x402 import X402Resource

        return X402Resource(self.client)

    async def aclose(self) -> None:
        await self.client.aclose()


def open_service(
    base_url: str | None,
    dialect_name: str,
    auth: httpx.Auth | None,
    on_exchange: Callable[[Exchange], None],
    *,
    on_budget: Callable[[BudgetState], None] | None = None,
    on_reach: Callable[[str], None] | None = None,
    registry: LimitsRegistry | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    network: Network | None = None,
    limit_class: str = "paid",
    gate: Gate | None = None,
    on_unsent: Callable[[str], object] | None = None,
) -> Service:
    """Return the service at `base_url` (None: the dialect's own). Opens nothing yet.

    `on_exchange` is told about each call once, on the event loop, and must not raise. `on_budget` hears when calls
    begin or cease to be held, `on_reach` as in `ServiceClient`. `registry` is the program's; without it the service
    shares its limits with nobody. `limit_class`: whose documented rate limits hold. `gate` is asked before each call
    that may cost money, `on_unsent` told of those that never left all the same.
    Raises `LimitExceeded` for an address that cannot be called.
    """
    dialect = DIALECTS[dialect_name]
    address = (base_url or dialect.base_url or "").strip()
    if not is_web_address(address):
        raise LimitExceeded(
            tr("The address must begin with https:// or http://."), field="base_url", limit="https://, http://"
        )
    client = ServiceClient(
        address,
        dialect,
        auth,
        on_exchange=on_exchange,
        on_reach=on_reach,
        on_budget=on_budget,
        registry=registry,
        limit_class=limit_class,
        transport=transport,
        network=network,
        gate=gate,
        on_unsent=on_unsent,
    )
    return Service(client)
