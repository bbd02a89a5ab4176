"""Who decides which root counts, when keys are wiped, and what is kept of a session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.core.sealed_sessions import INTEL, SANDBOX, SealedSessions, TrustAnchors, sandbox_trust
from app.credentials.accounts import Account
from app.sealed.checks import Outcome
from app.sealed.evidence import read_evidence
from app.sealed.receipt import ReceiptOutcome
from app.service.chat_types import ChatRequest
from app.service.errors import EvidenceRefused, SealBroken
from app.service.sealed.resource import INTEL_LISTS, SealedResource, SealedSession
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.service_cache import Enclaves
from tests.kit.sealed import HISTORY, MODEL, SealedHarness
from tests.kit.service import with_key

OWN = Account(id="s", name="Sandbox", base_url="", kind="sandbox")
REAL = Account(id="r", name="Real", base_url="http://service.test/v1", kind="api_key")


class Sittings:
    """The sessions of chats at a Sandbox, kept in a database."""

    def __init__(self, chat: SealedHarness, database: Database) -> None:
        self.chat, self.enclaves, self.history = chat, Enclaves(database), ChatStore(database)
        self.service = chat.at.service
        self.service.__dict__["sealed"] = SealedResource(self.service.client, now=lambda: chat.now)
        self.intel = self.nvidia = False  # the person's consent
        self.sessions = SealedSessions(
            self.enclaves, self.trust, lambda: self.intel, lambda: self.nvidia, lambda: chat.now
        )

    async def trust(self) -> TrustAnchors:
        running = self.chat.at.sandbox.running
        return await sandbox_trust(running.base_url, running.api_key)

    async def session(self, chat_id: str = "c", account: Account = OWN, model: str = MODEL) -> SealedSession:
        return await self.sessions.session(chat_id, account, self.service, model)

    def asked(self, path: str = "/tee/attestation") -> int:
        return sum(each.request.path == path for each in self.chat.at.exchanges)


@pytest.fixture
async def sittings(tmp_path: Path) -> AsyncIterator[Sittings]:
    database = await Database.open(tmp_path / "db" / "rialto.db")
    async with with_key(tmp_path) as at:
        yield Sittings(SealedHarness(at), database)
    await database.close()


async def test_r_tee_05_the_sandboxs_root_counts_for_its_own_account_alone(sittings: Sittings) -> None:
    session = await sittings.session()
    assert session.attestation.verdict.is_full and session.attestation.verdict.root.name == "Sandbox"
    with pytest.raises(EvidenceRefused, match="Intel SGX Root CA"):
        await sittings.session("d", REAL)
    assert INTEL.root.is_intel and INTEL.lists is INTEL_LISTS


async def test_r_tee_17_other_hosts_are_asked_only_after_consent_to_each(sittings: Sittings) -> None:
    asked: list[object] = []
    sealed = sittings.service.sealed
    attest = sealed.attest

    async def noted(model: str, **given: object) -> object:
        asked.append((given["lists"], given["nvidia"]))
        return await attest(model, **given)  # type: ignore[arg-type]

    sealed.attest = noted  # type: ignore[method-assign,assignment]
    for sittings.intel, sittings.nvidia in ((False, False), (True, False), (False, True)):
        with pytest.raises(EvidenceRefused):
            await sittings.session("d", REAL)
    assert asked == [(None, ""), (INTEL_LISTS, ""), (None, "https://nras.attestation.nvidia.com")]
    assert "trustedservices.intel.com" in INTEL_LISTS.hosts[0] and len(INTEL_LISTS.hosts) == 2


async def test_a_chat_keeps_its_session_while_it_is_good_and_two_answers_share_one(sittings: Sittings) -> None:
    first, second = await asyncio.gather(sittings.session(), sittings.session())
    assert first is second and sittings.asked() == 1
    assert await sittings.session("d") is not first
    sittings.chat.now += timedelta(minutes=29)
    assert await sittings.session() is first
    sittings.chat.now += timedelta(minutes=1)
    later = await sittings.session()
    assert later is not first and first.key.is_wiped and not later.key.is_wiped


async def test_r_tee_13_another_model_never_shares_a_chats_keys(sittings: Sittings) -> None:
    first = await sittings.session()
    other = await sittings.session(model="rialto-sealed-gateway")
    assert first.key.is_wiped and other.model == "rialto-sealed-gateway"
    assert first.key.public != other.key.public


async def test_r_tee_16_keys_are_wiped_when_a_chat_ends_and_when_all_do(sittings: Sittings) -> None:
    one, two = await sittings.session("a"), await sittings.session("b")
    sittings.sessions.wipe("a")
    assert (one.key.is_wiped, two.key.is_wiped) == (True, False)
    sittings.sessions.wipe_all()
    assert two.key.is_wiped
    sittings.sessions.wipe("never")


async def test_r_tee_14_after_a_broken_seal_the_enclave_is_checked_again(sittings: Sittings) -> None:
    session = await sittings.session()
    sittings.chat.lie("stale_key", kind="stream", times=1)
    with pytest.raises(SealBroken):
        async with sittings.service.sealed.stream(ChatRequest(MODEL, HISTORY), session) as stream:
            async for _ in stream:
                pass
    assert session.key.is_wiped
    assert await sittings.session() is not session and sittings.asked() == 2


async def test_r_tee_08_other_measurements_stop_until_they_are_accepted(sittings: Sittings) -> None:
    await sittings.session()
    seen = await sittings.enclaves.first_seen(SANDBOX, MODEL)
    assert seen is not None
    sittings.sessions.wipe_all()
    sittings.chat.lie("measurements")
    with pytest.raises(EvidenceRefused, match="MRCONFIGID") as changed:
        await sittings.session()
    assert await sittings.enclaves.first_seen(SANDBOX, MODEL) == seen
    session = await sittings.sessions.accept("c", changed.value)
    assert not session.key.is_wiped
    sittings.sessions.wipe_all()
    again = await sittings.session()
    assert again.attestation.verdict.checks[-1].outcome is Outcome.PASSED


async def test_evidence_and_receipts_are_kept_with_the_chat_and_check_again(sittings: Sittings) -> None:
    chat = await sittings.history.create_chat()
    session = await sittings.session(chat.id)
    async with sittings.service.sealed.stream(ChatRequest(MODEL, HISTORY), session) as stream:
        async for _ in stream:
            pass
    _, saved = await sittings.service.sealed.receipt(stream)
    await sittings.sessions.keep_receipt(chat.id, session, saved)
    (kept,) = await sittings.enclaves.evidence_of(chat.id)
    evidence = read_evidence(kept)
    verdict = evidence.verify()
    assert verdict.is_full and not verdict.root.is_intel
    assert [receipt.outcome for _, receipt in evidence.check_receipts(verdict)] == [ReceiptOutcome.BOUND]
    assert session.key.public.hex() not in kept.decode()
    lied = replace(evidence, nonce=b"\x00" * 32)
    assert lied.verify().refused
