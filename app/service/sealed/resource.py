"""Sealed chats: `GET /tee/attestation`, sealed `POST /chat/completions`, `GET /tee/signature`.

    attestation = await service.sealed.attest("model", root=INTEL_ROOT)
    session = SealedSession(attestation)
    stream = service.sealed.stream(request, session)
    async for events in stream: ...
    receipt = await service.sealed.receipt(stream)
    session.wipe()

There is no way from here to an open request: what fails, fails (R-TEE-12).
Source: notes on sealed chats (R-TEE-01..18).
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

from app.sealed.attestation import MAX_BYTES, NONCE_BYTES, Verdict, verify
from app.sealed.chain import INTEL_ROOT, Root
from app.sealed.checks import Damaged
from app.sealed.collateral import Collateral, of_parts, signed_member
from app.sealed.envelope import SecretKey
from app.sealed.evidence import Evidence, SavedReceipt
from app.sealed.gpu import GpuEvidence, NvidiaAnswer
from app.sealed.receipt import NO_RECEIPT, EnclaveReceipt, ReceiptOutcome, check_receipt
from app.service.calls import Call, JsonContent, query
from app.service.chat import PATH, ChatStream, Price
from app.service.chat_types import ChatRequest
from app.service.client import OnWait, ServiceClient
from app.service.errors import (
    ConnectionFailed,
    EvidenceRefused,
    LimitExceeded,
    NotFound,
    ServerFailed,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.service.http.bodies import MAX_STREAM_BYTES
from app.service.http.time_limits import CHAT_S
from app.service.rate_limiter import text_pace
from app.service.retry import CallKind
from app.service.sealed.body import sealed_body
from app.service.sealed.stream import SealedAnswer
from app.translation import tr

TRIES = 3  # of what may be asked again, together with everything else 10 per minute and address
RECEIPT_WAIT_S = 2.0
MAX_LIST_BYTES = 4 * 1024 * 1024
MAX_RECEIPT_BYTES = 1024 * 1024
NVIDIA_S = 20.0  # it compares firmware with its own lists, which takes seconds


@dataclass(frozen=True, slots=True)
class ListsHost:
    """Where Intel's lists are asked for: the base address of their paths, and the root's list of revoked ones.

    A host beside the service, which hears this computer's address and the family of the enclave's processor: asked
    only after the person agreed (R-TEE-17).
    """

    base: str
    root_crl: str

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(urlsplit(each).netloc for each in (self.base, self.root_crl)))


INTEL_LISTS = ListsHost(
    "https://api.trustedservices.intel.com", "https://certificates.trustedservices.intel.com/IntelSGXRootCA.der"
)


@dataclass(frozen=True, slots=True)
class Attestation:
    """An answer of `GET /tee/attestation` with what came of checking it."""

    host: str
    model: str
    nonce: bytes
    body: bytes
    checked_at: datetime
    verdict: Verdict
    collateral: Collateral | None = None
    nvidia: NvidiaAnswer | None = None
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # "intel" or "nvidia": its hosts
    known: Mapping[str, str] | None = None

    def evidence(self, receipts: tuple[SavedReceipt, ...] = ()) -> Evidence:
        """All of it as it is saved."""
        return Evidence(
            model=self.model,
            nonce=self.nonce,
            checked_at=self.checked_at,
            attestation=self.body,
            host=self.host,
            root=self.verdict.root,
            collateral=self.collateral,
            nvidia=self.nvidia,
            asked=self.asked,
            measurements=self.known,
            receipts=receipts,
        )


class SealedSession:
    """The keys of one chat's session: the enclave's, checked, and our own, in memory only (R-TEE-16).

    Bound to one model at one host. `wipe` it when the chat is closed, changes its model, or its seal broke.
    """

    def __init__(self, attestation: Attestation, key: SecretKey | None = None) -> None:
        """Raises `EvidenceRefused` for an attestation that was refused."""
        if attestation.verdict.refused:
            raise refusal(attestation)
        self.attestation = attestation
        self.key = key or SecretKey()

    @property
    def model(self) -> str:
        return self.attestation.model

    def is_usable(self, model: str, host: str, now: datetime) -> bool:
        """Whether a request may go out under it now; else a new attestation is needed."""
        until = self.attestation.verdict.good_until
        known = (model, host) == (self.model, self.attestation.host)
        return known and not self.key.is_wiped and until is not None and self.attestation.checked_at <= now < until

    def wipe(self) -> None:
        self.key.wipe()

    def __repr__(self) -> str:
        return f"SealedSession({self.model!r})"


class SealedStream(ChatStream):
    """A sealed answer. Once it has ended, `receipt` can be asked for it."""

    def __init__(
        self,
        client: ServiceClient,
        call: Call,
        session: SealedSession,
        answer: SealedAnswer,
        price: Price | None,
        on_wait: OnWait | None,
    ) -> None:
        super().__init__(client, call, price=price, on_wait=on_wait, seal=answer)
        self.session = session
        self.answer = answer


class SealedResource:
    """`now` is the clock that certificates and lists are held against."""

    def __init__(self, client: ServiceClient, *, now: Callable[[], datetime] | None = None) -> None:
        self._client = client
        self._now = now or _utc_now
        self._lists: dict[tuple[str, str, str], Collateral] = {}

    @property
    def host(self) -> str:
        return urlsplit(self._client.base_url).netloc

    async def attest(
        self,
        model: str,
        *,
        root: Root = INTEL_ROOT,
        known: Mapping[str, str] | None = None,
        lists: ListsHost | None = None,
        nvidia: str = "",
    ) -> Attestation:
        """Ask for evidence of a model's enclave and check it. Raises `EvidenceRefused` when a check fails.

        `root` is the one pinned for the account, `known` the measurements first seen for this host and model. `lists`
        is where Intel's lists are asked for, None without the person's consent; lists that cannot be had leave
        firmware level and revocation unchecked, which the verdict says. `nvidia` is the address of the service that
        checks graphics processors, "" without consent, and the same goes for it. Other failures are `ServiceError`s.
        """
        nonce, body = await self._fetch_attestation(model)
        checked = await _checked(
            Attestation(self.host, model, nonce, body, self._now(), Verdict((), root), known=known)
        )
        if lists is not None and not checked.verdict.refused:
            checked = replace(checked, asked={"intel": lists.hosts})
            checked = await _checked(replace(checked, collateral=await self._collateral(lists, checked.verdict)))
            if checked.verdict.lists_out_of_time:
                collateral = await self._collateral(lists, checked.verdict, fresh=True)
                checked = await _checked(replace(checked, collateral=collateral or checked.collateral))
        if nvidia and checked.verdict.gpu is not None:
            said = await self._ask_nvidia(nvidia, checked.verdict.gpu, nonce)
            asked = {**checked.asked, "nvidia": (urlsplit(nvidia).netloc,)}
            checked = await _checked(replace(checked, nvidia=said, asked=asked))
        if checked.verdict.refused:
            raise refusal(checked)
        return checked

    def stream(
        self,
        request: ChatRequest,
        session: SealedSession,
        *,
        packed: bool = False,
        price: Price | None = None,
        on_wait: OnWait | None = None,
    ) -> SealedStream:
        """Prepare a sealed answer; it is asked for when first iterated. Raises `LimitExceeded` at once.

        `packed`: earlier turns go along as text within the last message (after `SealBroken` with reason "history", and
        after the person was told). Iterating raises `SealBroken` at the first piece that cannot be trusted, behind the
        text before it, and wipes the session.
        """
        if not session.is_usable(request.model, self.host, self._now()):
            raise LimitExceeded(tr("The enclave must be checked again before this is sent."), field="model")
        client = self._client
        model_key = session.attestation.verdict.key
        content = JsonContent(sealed_body(request, model_key, client.dialect.extension_object, packed=packed))
        call = Call(
            "POST",
            PATH,
            CallKind.PAID,
            "chat",
            content=content,
            headers=client.dialect.tee_headers(session.key.public, model_key),
            accept="text/event-stream",
            max_bytes=MAX_STREAM_BYTES,
            answer_s=CHAT_S,
            model=request.model,
            pace=text_pace(request.model),
        )
        sent = hashlib.sha256(content.data).digest()
        answer = SealedAnswer(session.key, sent, session.wipe)
        return SealedStream(client, call, session, answer, price, on_wait)

    async def receipt(self, stream: SealedStream) -> tuple[EnclaveReceipt, SavedReceipt]:
        """Ask for the enclave's signature of an answer that has ended, and compare it with our bytes.

        Return what came of it, and the receipt as it is saved. A service that has none is no error. Raises
        `ServiceError` when it cannot be asked.
        """
        answer = stream.answer
        saved = SavedReceipt(answer.answer_id, answer.sent, answer.received)
        if not answer.answer_id:
            return NO_RECEIPT, saved
        call = Call(
            "GET",
            "/tee/signature",
            CallKind.READ,
            "sealed",
            query({"model": stream.session.model, "request_id": answer.answer_id}),
            authenticated=False,
            max_bytes=MAX_RECEIPT_BYTES,
            pace="tee",
            single=True,
        )
        for attempt in range(TRIES):
            if attempt:
                await self._client.rest(RECEIPT_WAIT_S)
            with suppress(NotFound):
                async with self._client.fetch(call) as got:
                    try:
                        body = got.json(exact=False)
                    except ServiceError:
                        return EnclaveReceipt(ReceiptOutcome.FAILED), saved
                receipt = check_receipt(body, stream.session.attestation.verdict.address, answer.sent, answer.received)
                return receipt, replace(saved, body=body)
        return NO_RECEIPT, saved

    async def _fetch_attestation(self, model: str) -> tuple[bytes, bytes]:
        """The nonce and the body that answers it; each try has a nonce of its own."""
        for attempt in range(TRIES):
            nonce = secrets.token_bytes(NONCE_BYTES)
            call = Call(
                "GET",
                "/tee/attestation",
                CallKind.READ,
                "sealed",
                query({"model": model, "nonce": nonce.hex(), "signing_algo": "ecdsa"}),
                authenticated=False,
                max_bytes=MAX_BYTES,
                pace="tee",
                single=True,
                model=model,
            )
            try:
                async with self._client.fetch(call) as answer:
                    return nonce, answer.body
            except (TimedOut, ConnectionFailed, ServerFailed, StreamCut):
                if attempt == TRIES - 1:
                    raise
            await self._client.rest(RECEIPT_WAIT_S)
        raise AssertionError("unreachable")

    async def _collateral(self, lists: ListsHost, verdict: Verdict, *, fresh: bool = False) -> Collateral | None:
        """Intel's lists for a processor, from memory until the first of them ends; None when they cannot be had."""
        name = (lists.base, verdict.fmspc, verdict.issuer)
        known = self._lists.get(name)
        if known is not None and not fresh:
            until = known.good_until()
            if until is not None and self._now() < until:
                return known
        try:
            self._lists[name] = await self._fetch_lists(lists, verdict)
        except (ServiceError, Damaged):
            return None
        return self._lists[name]

    async def _fetch_lists(self, lists: ListsHost, verdict: Verdict) -> Collateral:
        """Raises `ServiceError` and `Damaged`."""
        base = lists.base.rstrip("/")
        tcb, tcb_chain = await self._list(
            f"{base}/tdx/certification/v4/tcb", {"fmspc": verdict.fmspc}, "tcb-info-issuer-chain"
        )
        qe, qe_chain = await self._list(
            f"{base}/tdx/certification/v4/qe/identity", {"update": "standard"}, "sgx-enclave-identity-issuer-chain"
        )
        crl, crl_chain = await self._list(
            f"{base}/sgx/certification/v4/pckcrl", {"ca": verdict.issuer, "encoding": "der"}, "sgx-pck-crl-issuer-chain"
        )
        root_crl, _ = await self._list(lists.root_crl, {}, "")
        tcb_info, tcb_signature = signed_member(tcb, "tcbInfo")
        qe_identity, qe_signature = signed_member(qe, "enclaveIdentity")
        return of_parts(
            {
                "pck_crl_issuer_chain": crl_chain,
                "root_ca_crl": root_crl.hex(),
                "pck_crl": crl.hex(),
                "tcb_info_issuer_chain": tcb_chain,
                "tcb_info": tcb_info,
                "tcb_info_signature": tcb_signature,
                "qe_identity_issuer_chain": qe_chain,
                "qe_identity": qe_identity,
                "qe_identity_signature": qe_signature,
            }
        )

    async def _ask_nvidia(self, base: str, evidence: GpuEvidence, nonce: bytes) -> NvidiaAnswer | None:
        """What NVIDIA's service says of the evidence, with the keys that it publishes; None when it says nothing."""
        base = base.rstrip("/")
        ask = Call(
            "POST",
            f"{base}/v3/attest/gpu",
            CallKind.IDEMPOTENT,
            "sealed",
            content=JsonContent(evidence.question(nonce)),
            authenticated=False,
            max_bytes=MAX_LIST_BYTES,
            answer_s=NVIDIA_S,
            follows_redirects=False,
            single=True,
        )
        try:
            async with self._client.fetch(ask) as answer:
                tokens = answer.body.decode()
            keys, _ = await self._list(f"{base}/.well-known/jwks.json", {}, "")
            return NvidiaAnswer(base, tokens, keys.decode())
        except (ServiceError, UnicodeDecodeError):
            return None

    async def _list(self, address: str, params: Mapping[str, object], chain: str) -> tuple[bytes, str]:
        """One list and the chain that stands in its header."""
        call = Call(
            "GET",
            address,
            CallKind.READ,
            "sealed",
            query(params),
            authenticated=False,
            max_bytes=MAX_LIST_BYTES,
            accept="*/*",
            follows_redirects=False,  # no other host was agreed to
        )
        async with self._client.fetch(call) as answer:
            headers = dict(answer.info.headers)
            return answer.body, unquote(headers.get(chain, ""))


def refusal(attestation: Attestation) -> EvidenceRefused:
    """The error of an attestation that was refused: the sentence of the check that did it."""
    failed = attestation.verdict.failed
    return EvidenceRefused(failed.reason if failed is not None else "", attestation=attestation)


async def _checked(attestation: Attestation) -> Attestation:
    verdict = await asyncio.to_thread(
        verify,
        attestation.body,
        model=attestation.model,
        nonce=attestation.nonce,
        now=attestation.checked_at,
        root=attestation.verdict.root,
        collateral=attestation.collateral,
        nvidia=attestation.nvidia,
        asked=attestation.asked,
        known=attestation.known,
    )
    return replace(attestation, verdict=verdict)


def _utc_now() -> datetime:
    return datetime.now(UTC)
