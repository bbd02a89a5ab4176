"""The seals of chats: the enclave's check behind each lock, the sealed call of an answer, and its receipt.

Whatever goes wrong here ends the answer. There is no way from here to an open request (R-TEE-12).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.problems import ActionSpec, Problem
from app.service.errors import EvidenceRefused, SealBroken, ServiceError
from app.translation import tr
from app.ui.chat.session.seal import SealStatus
from app.ui.kit.timers import start_in

if TYPE_CHECKING:
    from app.core.seal_report import SealReport
    from app.core.sealed_sessions import SealedSessions
    from app.credentials.accounts import Account
    from app.service.chat import Price
    from app.service.chat_types import ChatRequest
    from app.service.client import OnWait
    from app.service.sealed.resource import Attestation, SealedSession, SealedStream
    from app.service.service import Service

RECEIPT_ASKED = "asked"
WHAT_WAS_CHECKED = ActionSpec("seal", tr("What was checked…"))
ACCEPT_ENCLAVE = ActionSpec("accept-enclave", tr("Continue with this enclave"))
SEND_PACKED = ActionSpec("send-packed", tr("Send in one message"))
TRY_AGAIN = ActionSpec("retry", tr("Try again"))
Sessions = Callable[[], Awaitable["SealedSessions"]]


class Check(NamedTuple):
    """What came of the last look at a chat's enclave. `changed` waits for the person's word."""

    attestation: Attestation | None = None
    refusal: str = ""
    changed: EvidenceRefused | None = None


class ChatSeals(QObject):
    """`is_writing` tells whether a chat's answer is under way: its keys are kept for that long."""

    changed = Signal(str)  # the chat whose lock is another one

    def __init__(self, make: Sessions | None, is_writing: Callable[[str], bool], parent: QObject | None = None) -> None:
        """`make` gives the sessions, which load cryptography; None where chats cannot be sealed."""
        super().__init__(parent)
        self._make = make
        self._is_writing = is_writing
        self._sessions: SealedSessions | None = None
        self._checks: dict[str, Check] = {}
        self._checking: set[str] = set()
        self._ending: set[str] = set()  # chats whose keys are overwritten once their answer has ended
        self._packed: set[str] = set()  # chats whose earlier turns go within the last message
        self._end = QTimer(self)
        self._end.setSingleShot(True)
        self._end.timeout.connect(self._end_sessions)

    # What is known

    def status(self, chat_id: str | None) -> SealStatus:
        """What the lock of a chat shows."""
        known = self._checks.get(chat_id or "", Check())
        session = self._held(chat_id or "")
        return SealStatus(session.model if session is not None else "", chat_id in self._checking, known.refusal)

    def check_of(self, chat_id: str | None) -> Check:
        return self._checks.get(chat_id or "", Check())

    def _held(self, chat_id: str) -> SealedSession | None:
        if self._sessions is None or chat_id in self._ending:
            return None
        return self._sessions.held(chat_id)

    # What is done

    async def sessions(self) -> SealedSessions:
        """The keys of all chats, made with the first use. Raises `EvidenceRefused` where no chat can be sealed."""
        if self._make is None:
            raise EvidenceRefused(tr("Sealed chats are not available here."))
        if self._sessions is None:
            self._sessions = await self._make()
        return self._sessions

    async def session(self, chat_id: str, account: Account, service: Service, model: str) -> SealedSession:
        """The keys of a chat's session, after a check of the enclave where that is due. Raises `ServiceError`."""
        self._checking.add(chat_id)
        self.changed.emit(chat_id)
        try:
            await self.sessions()
            return await self._checked(chat_id, account, service, model)
        finally:
            self._checking.discard(chat_id)
            self.changed.emit(chat_id)

    async def look(self, chat_id: str, account: Account, service: Service, model: str) -> None:
        """Check the enclave ahead of what will be sent. The lock shows what failed; the rest is said on sending."""
        with contextlib.suppress(ServiceError):
            await self.session(chat_id, account, service, model)

    async def _checked(self, chat_id: str, account: Account, service: Service, model: str) -> SealedSession:
        assert self._sessions is not None
        try:
            session = await self._sessions.session(chat_id, account, service, model)
        except EvidenceRefused as error:
            changed = error if error.changed_at else None
            self._checks[chat_id] = Check(error.attestation, error.message, changed)
            raise
        self._checks[chat_id] = Check(session.attestation)
        self._follow_end()
        return session

    async def accept(self, chat_id: str) -> None:
        """Go on with an enclave that measures otherwise than the one first seen. Raises `StorageError`."""
        known = self.check_of(chat_id)
        if known.changed is None or self._sessions is None:
            return
        session = await self._sessions.accept(chat_id, known.changed)
        self._checks[chat_id] = Check(session.attestation)
        self._follow_end()
        self.changed.emit(chat_id)

    def pack(self, chat_id: str) -> None:
        """Send earlier turns within the last message from now on, sealed like it: this enclave refuses them else."""
        self._packed.add(chat_id)

    async def stream(
        self, chat_id: str, account: Account, service: Service, request: ChatRequest, price: Price, on_wait: OnWait
    ) -> SealedStream:
        """The sealed call of an answer. Raises `ServiceError`."""
        session = await self.session(chat_id, account, service, request.model)
        packed = chat_id in self._packed
        # Sealing takes a fraction of a millisecond for each message, and a chat may have thousands.
        return await asyncio.to_thread(
            lambda: service.sealed.stream(request, session, packed=packed, price=price, on_wait=on_wait)
        )

    async def receipt(self, chat_id: str, service: Service, stream: SealedStream) -> str:
        """Ask for the enclave's signature of an answer, keep it as evidence, and return what came of it."""
        assert self._sessions is not None
        try:
            receipt, saved = await service.sealed.receipt(stream)
        except ServiceError:
            return "none"
        await self._sessions.keep_receipt(chat_id, stream.session, saved)
        return receipt.outcome.value

    async def reports(self, chat_id: str) -> tuple[SealReport, ...]:
        """What was checked for a chat, newest first, also before this start. Raises `StorageError`."""
        if self._make is None:
            return ()
        sessions = await self.sessions()
        known = self.check_of(chat_id)
        attestation = known.attestation
        is_kept = attestation is None or not (attestation.verdict.refused or known.changed is not None)
        return await sessions.reports(chat_id, None if is_kept else attestation)

    def broke(self, chat_id: str, error: ServiceError) -> None:
        """An answer of a sealed chat failed: a broken seal stays on the lock until the next check."""
        if isinstance(error, SealBroken):
            self._checks[chat_id] = self.check_of(chat_id)._replace(refusal=error.message)
            self.changed.emit(chat_id)

    def wipe(self, chat_id: str) -> None:
        """Overwrite the keys of a chat: it is sealed no more, or was moved to the trash.

        Those that an answer comes under are overwritten when it has ended.
        """
        self._checks.pop(chat_id, None)
        self._packed.discard(chat_id)
        self._ending.add(chat_id)
        self.answer_ended(chat_id)

    def wipe_all(self) -> None:
        """The same for every chat: another account is in use, or the program quits."""
        for chat_id in {
            *self._checks,
            *self._checking,
            *(self._sessions.chat_ids if self._sessions is not None else ()),
        }:
            self.wipe(chat_id)

    def answer_ended(self, chat_id: str) -> None:
        """No answer of a chat is under way any more: keys that were to be overwritten are."""
        if chat_id in self._ending and not self._is_writing(chat_id):
            self._ending.discard(chat_id)
            if self._sessions is not None:
                self._sessions.wipe(chat_id)

    # The end of a session

    def _follow_end(self) -> None:
        ends = self._sessions.next_end() if self._sessions is not None else None
        if ends is not None:
            wait_s = (ends - datetime.now(UTC)).total_seconds()
            start_in(self._end, max(wait_s, 1.0))

    def _end_sessions(self) -> None:
        assert self._sessions is not None
        for chat_id in self._sessions.ended():
            if not self._is_writing(chat_id):
                self._sessions.wipe(chat_id)
                self.changed.emit(chat_id)
        self._follow_end()


def with_seal(problem: Problem, error: ServiceError) -> Problem:
    """The buttons of an answer that was refused for its seal: nothing is sent again unless one of them is pressed."""
    if isinstance(error, EvidenceRefused):
        primary = ACCEPT_ENCLAVE if error.changed_at else TRY_AGAIN
    elif isinstance(error, SealBroken):
        primary = SEND_PACKED if error.reason == "history" else TRY_AGAIN
    else:
        return problem
    return problem._replace(primary=primary, alternative=WHAT_WAS_CHECKED)
