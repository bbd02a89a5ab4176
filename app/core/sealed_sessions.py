"""The sealed sessions of all chats: whose root is pinned, what was seen before, and when keys are wiped.

A chat has one session at a time. It is used again while it is good for the model and the host; when it is not, or its
seal broke, the enclave is checked again before anything is sent. There is no way from here to an open request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from app.core.seal_report import SealReport, report_of
from app.sealed.chain import INTEL_ROOT, Root
from app.sealed.checks import Damaged
from app.sealed.evidence import read_evidence
from app.sealed.gpu import NVIDIA
from app.service.errors import EvidenceRefused, LimitExceeded
from app.service.sandbox_controls import SandboxControls
from app.service.sealed.resource import INTEL_LISTS, Attestation, ListsHost, SealedSession
from app.translation import tr

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.sealed.evidence import SavedReceipt
    from app.service.service import Service

CHANGED = "measurements_changed"
SANDBOX = "sandbox"  # its address is another one each time


@dataclass(frozen=True, slots=True)
class TrustAnchors:
    """What an account's evidence has to end at, and where Intel's lists and NVIDIA's answers come from.

    `are_third_hosts`: those are hosts of others, asked only after the person agreed (R-TEE-17).
    """

    root: Root
    lists: ListsHost
    nvidia: str
    are_third_hosts: bool = True


INTEL = TrustAnchors(INTEL_ROOT, INTEL_LISTS, NVIDIA)


async def sandbox_trust(base_url: str, api_key: str) -> TrustAnchors:
    """The root and the lists of a running Sandbox, which makes both anew at each start. Raises `ServiceError`."""
    controls = SandboxControls(base_url, api_key)
    try:
        told = await controls.sealed_root()
    finally:
        await controls.aclose()
    lists = ListsHost(told.lists, f"{told.lists}/sgx/certification/v4/rootcacrl")
    return TrustAnchors(Root(told.sha256, told.name), lists, told.lists, are_third_hosts=False)


class FirstSeen(Protocol):
    """Where first measurements and evidence are kept; all of it may raise `StorageError`."""

    async def first_seen(self, host: str, model: str) -> tuple[Mapping[str, str], datetime] | None: ...

    async def remember(
        self, host: str, model: str, measurements: Mapping[str, str], *, accept: bool = False
    ) -> None: ...

    async def keep_evidence(self, chat_id: str, nonce: str, evidence: bytes) -> None: ...

    async def evidence_of(self, chat_id: str) -> tuple[bytes, ...]: ...


class SealedSessions:
    """`sandbox_trust` asks the running Sandbox for its root. `may_ask_intel` and `may_ask_nvidia` are the person's
    consent, off until given.

    Nothing else decides about roots: the Sandbox's counts for its own account, Intel's for every other (R-TEE-05).
    """

    def __init__(
        self,
        seen: FirstSeen,
        sandbox_trust: Callable[[], Awaitable[TrustAnchors]],
        may_ask_intel: Callable[[], bool],
        may_ask_nvidia: Callable[[], bool],
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._seen = seen
        self._sandbox_trust = sandbox_trust
        self._may_ask_intel, self._may_ask_nvidia = may_ask_intel, may_ask_nvidia
        self._now = now or (lambda: datetime.now(UTC))
        self._sessions: dict[str, SealedSession] = {}  # by the chat's id
        self._beginning: set[str] = set()  # chats whose enclave is being checked, less those wiped meanwhile
        self._turn = asyncio.Lock()  # two answers of one chat share one attestation
        self._receipts: dict[str, tuple[SavedReceipt, ...]] = {}

    async def session(self, chat_id: str, account: Account, service: Service, model: str) -> SealedSession:
        """The chat's session, or a new one after checking the enclave.

        Raises `EvidenceRefused` and other `ServiceError`s, and `StorageError`.
        """
        async with self._turn:
            known = self._sessions.get(chat_id)
            if known is not None and known.is_usable(model, service.sealed.host, self._now()):
                return known
            self.wipe(chat_id)
            self._beginning.add(chat_id)
            trust = await self._sandbox_trust() if account.is_sandbox else INTEL
            place = SANDBOX if account.is_sandbox else service.sealed.host
            first = await self._seen.first_seen(place, model)
            attestation = await service.sealed.attest(
                model,
                root=trust.root,
                known=first[0] if first is not None else None,
                lists=trust.lists if not trust.are_third_hosts or self._may_ask_intel() else None,
                nvidia=trust.nvidia if not trust.are_third_hosts or self._may_ask_nvidia() else "",
            )
            if any(check.id == CHANGED for check in attestation.verdict.checks):
                reason = attestation.verdict.checks[-1].reason
                raise EvidenceRefused(reason, attestation=attestation, changed_at=place)
            return await self._begin(chat_id, attestation, place)

    @property
    def chat_ids(self) -> tuple[str, ...]:
        """The chats that have keys."""
        return tuple(self._sessions)

    def held(self, chat_id: str) -> SealedSession | None:
        """The session that a chat has now, None once it has ended or its seal broke."""
        session = self._sessions.get(chat_id)
        known = session.attestation if session is not None else None
        good = session is not None and known is not None and session.is_usable(known.model, known.host, self._now())
        return session if good else None

    def ended(self) -> tuple[str, ...]:
        """The chats whose keys are good for nothing more."""
        return tuple(chat_id for chat_id in self._sessions if self.held(chat_id) is None)

    def next_end(self) -> datetime | None:
        """When the next session ends."""
        ends = (each.attestation.verdict.good_until for each in self._sessions.values())
        return min((end for end in ends if end is not None), default=None)

    async def accept(self, chat_id: str, changed: EvidenceRefused) -> SealedSession:
        """Go on with an enclave that is not the one first seen (`changed_at`); later ones are compared with it."""
        attestation = changed.attestation
        assert attestation is not None
        await self._seen.remember(changed.changed_at, attestation.model, attestation.verdict.measurements, accept=True)
        self.wipe(chat_id)
        self._beginning.add(chat_id)
        return await self._begin(chat_id, attestation, changed.changed_at)

    async def keep_receipt(self, chat_id: str, session: SealedSession, receipt: SavedReceipt) -> None:
        """Keep what came of an answer's receipt with the evidence of its session."""
        self._receipts[chat_id] = (*self._receipts.get(chat_id, ()), receipt)
        await self._keep(chat_id, session.attestation)

    async def reports(self, chat_id: str, refused: Attestation | None = None) -> tuple[SealReport, ...]:
        """What was checked for a chat, newest first; `refused` is evidence that is not kept. Raises `StorageError`."""
        found = [refused.evidence()] if refused is not None else []
        for data in await self._seen.evidence_of(chat_id):
            with contextlib.suppress(Damaged):
                found.append(await asyncio.to_thread(read_evidence, data))
        reports = []
        for evidence in found:
            place = evidence.host if evidence.root.is_intel else SANDBOX
            first = await self._seen.first_seen(place, evidence.model)
            reports.append(await asyncio.to_thread(report_of, evidence, first))
        return tuple(reports)

    def wipe(self, chat_id: str) -> None:
        """Overwrite the keys of a chat: it was closed, moved to the trash, or goes on elsewhere."""
        self._beginning.discard(chat_id)
        session = self._sessions.pop(chat_id, None)
        self._receipts.pop(chat_id, None)
        if session is not None:
            session.wipe()

    def wipe_all(self) -> None:
        """The same for every chat: another account is in use, or the program quits."""
        for chat_id in list(self._sessions):
            self.wipe(chat_id)

    async def _begin(self, chat_id: str, attestation: Attestation, place: str) -> SealedSession:
        await self._seen.remember(place, attestation.model, attestation.verdict.measurements)
        await self._keep(chat_id, attestation)
        if chat_id not in self._beginning:  # another account is in use by now, or the chat is sealed no more
            raise LimitExceeded(tr("The enclave must be checked again before this is sent."), field="model")
        session = self._sessions[chat_id] = SealedSession(attestation)
        return session

    async def _keep(self, chat_id: str, attestation: Attestation) -> None:
        saved = attestation.evidence(self._receipts.get(chat_id, ())).to_bytes()
        await self._seen.keep_evidence(chat_id, attestation.nonce.hex(), saved)
