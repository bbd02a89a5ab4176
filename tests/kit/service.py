"""The service layer in front of a real Sandbox, in either dialect, with a key or with a wallet's sign-in."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.service.auth import ApiKeyAuth
from app.service.chat_types import ChatMessage, ChatRequest, ServiceParameters
from app.service.dialect import DIALECTS
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.service.speech import Sound, SpeechRequest
from app.service.wallet_auth import WalletAuth
from app.wallet.errors import WalletError
from app.wallet.sign_in import SignInHeaderMaker, site_of
from tests.sandbox.support import Client, running
from tests.wallet.figures import ADDRESS, evm_signer

QUESTION = "How do I stop an answer?"


@dataclass
class ServiceHarness:
    sandbox: Client
    service: Service
    folder: Path
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def exchange(self) -> Exchange:
        return self.exchanges[-1]

    async def spoken(self, text: str = "I would like a cup of coffee.") -> Sound:
        return await self.service.speech.synthesize(SpeechRequest(text, "tts-kokoro", "af_sky", "wav"))

    async def recording(self) -> Path:
        path = self.folder / "note.wav"
        path.write_bytes((await self.spoken()).data)
        return path


def asking(text: str = QUESTION, model: str = "rialto-handbook", **parameters: object) -> ChatRequest:
    extension = ServiceParameters(**parameters)  # type: ignore[arg-type] # names of real fields
    return ChatRequest(model, (ChatMessage("user", text),), extension)


@asynccontextmanager
async def with_key(folder: Path, dialect: str = "service") -> AsyncIterator[ServiceHarness]:
    with running(folder, dialect=dialect) as sandbox:

        async def key() -> str:
            return sandbox.running.api_key

        async with _at(sandbox, folder, dialect, ApiKeyAuth(key)) as harness:
            yield harness


@asynccontextmanager
async def with_wallet(folder: Path, dialect: str = "service", usd: str = "5") -> AsyncIterator[ServiceHarness]:
    """The wallet has `usd` at the Sandbox."""
    with running(folder, dialect=dialect, clock=time.time) as sandbox:
        sandbox.control(f"/wallets/{ADDRESS}", {"usd": usd})
        names, base_url = DIALECTS[dialect], sandbox.running.base_url
        site = site_of(base_url, domain=names.siwx_domain, uri=names.siwx_uri, statement=names.siwx_statement)
        headers = SignInHeaderMaker(evm_signer(), site)
        auth = WalletAuth(base_url, names.siwx_header, headers, refused_by=(WalletError,))
        async with _at(sandbox, folder, dialect, auth) as harness:
            yield harness


@asynccontextmanager
async def _at(
    sandbox: Client, folder: Path, dialect: str, auth: ApiKeyAuth | WalletAuth
) -> AsyncIterator[ServiceHarness]:
    exchanges: list[Exchange] = []
    service = open_service(sandbox.running.base_url, dialect, auth, exchanges.append)
    try:
        yield ServiceHarness(sandbox, service, folder, exchanges)
    finally:
        await service.aclose()
