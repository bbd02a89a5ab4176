"""A sealed chat through the service layer against a Sandbox: attest, ask, and what the relay saw of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.sealed.attestation import Verdict
from app.sealed.chain import INTEL_ROOT, Root
from app.sealed.envelope import SecretKey
from app.sealed.receipt import EnclaveReceipt
from app.service.chat_types import ChatMessage, ChatRequest, ReasoningDelta, TextDelta
from app.service.sealed.resource import Attestation, ListsHost, SealedResource, SealedSession, SealedStream
from app.service.service import Service
from tests.kit.service import ServiceHarness
from tests.sandbox.support import NOON

MODEL = "rialto-sealed"
SECRETS = ("How do I stop an answer?", "You are terse.", "Earlier I said: pomegranate.", "And I answered: quince.")
HISTORY = (
    ChatMessage("system", SECRETS[1]),
    ChatMessage("user", SECRETS[2]),
    ChatMessage("assistant", SECRETS[3]),
    ChatMessage("user", SECRETS[0]),
)


def session_of(service: Service, model: str = "m") -> SealedSession:
    """A session whose evidence nobody checked, for calls that need one."""
    verdict = Verdict((), INTEL_ROOT, key=SecretKey().public, good_until=datetime.max.replace(tzinfo=UTC))
    began = datetime.min.replace(tzinfo=UTC)
    return SealedSession(Attestation(service.sealed.host, model, bytes(32), b"", began, verdict))


def ended_stream(service: Service) -> SealedStream:
    """A sealed answer that has ended and may have a receipt."""
    stream = service.sealed.stream(ChatRequest("m", (ChatMessage("user", "hi"),)), session_of(service))
    stream.answer.answer_id = "chatcmpl-1"
    return stream


@dataclass
class SealedHarness:
    """`text` and `reasoning` grow while an answer is read, so that a broken one leaves what was shown."""

    at: ServiceHarness
    text: str = ""
    reasoning: str = ""
    stream: SealedStream | None = None
    session: SealedSession | None = None

    def __post_init__(self) -> None:
        self.now = datetime.fromtimestamp(NOON, UTC)
        self.resource = SealedResource(self.at.service.client, now=lambda: self.now)
        told = self.at.sandbox.control("/sealed/root", method="GET")
        self.root = Root(told["sha256"], told["name"])
        self.nvidia: str = told["lists"]
        self.lists = ListsHost(told["lists"], f"{told['lists']}/sgx/certification/v4/rootcacrl")

    def lie(self, name: str, **values: Any) -> None:
        self.at.sandbox.fault(f"sealed_{name}", **values)

    async def attest(
        self, model: str = MODEL, *, lists: bool = True, known: dict[str, str] | None = None, nvidia: bool = False
    ) -> Attestation:
        return await self.resource.attest(
            model,
            root=self.root,
            known=known,
            lists=self.lists if lists else None,
            nvidia=self.nvidia if nvidia else "",
        )

    async def ask(self, *messages: ChatMessage, model: str = MODEL, packed: bool = False) -> str:
        """Attest unless there is a session, send, and return the whole answer. Raises what goes wrong."""
        if self.session is None or self.session.key.is_wiped:
            self.session = SealedSession(await self.attest(model))
        request = ChatRequest(model, messages or HISTORY)
        self.stream = self.resource.stream(request, self.session, packed=packed)
        self.text = self.reasoning = ""
        async with self.stream as steps:
            async for events in steps:
                for event in events:
                    self.text += event.text if isinstance(event, TextDelta) else ""
                    self.reasoning += event.text if isinstance(event, ReasoningDelta) else ""
        return self.text

    async def receipt(self) -> EnclaveReceipt:
        assert self.stream is not None
        receipt, _ = await self.resource.receipt(self.stream)
        return receipt

    @property
    def seen(self) -> dict[str, Any]:
        """What the relay saw; `clear` lists every text that it could read."""
        found: dict[str, Any] = self.at.sandbox.control("/sealed/seen", method="GET")
        return found

    @property
    def everything(self) -> str:
        """All that the Sandbox logged and all that the client recorded, as one text."""
        log = self.at.sandbox.control("/log", method="GET")["data"]
        details = [self.at.sandbox.control(f"/log/{line['request_id']}", method="GET") for line in log]
        return f"{details!r} {self.at.exchanges!r} {self.seen!r}"
