"""First measurements and evidence: what was seen first stays until others are accepted; evidence goes with its chat."""

from __future__ import annotations

import pytest

from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.service_cache import EVIDENCE_PER_CHAT, Enclaves
from tests.storage.conftest import Clock

FIRST, OTHER = {"mrtd": "00" * 48}, {"mrtd": "11" * 48}


@pytest.fixture
def enclaves(database: Database) -> Enclaves:
    return Enclaves(database)


async def test_r_tee_08_what_was_seen_first_stays_until_another_is_accepted(enclaves: Enclaves, clock: Clock) -> None:
    assert await enclaves.first_seen("host", "m") is None
    began = clock()
    await enclaves.remember("host", "m", FIRST)
    clock.turn(days=1)
    await enclaves.remember("host", "m", OTHER)
    assert await enclaves.first_seen("host", "m") == (FIRST, began)
    await enclaves.remember("host", "m", OTHER, accept=True)
    assert await enclaves.first_seen("host", "m") == (OTHER, clock())


async def test_r_tee_08_hosts_and_models_are_told_apart(enclaves: Enclaves) -> None:
    await enclaves.remember("host", "m", FIRST)
    assert await enclaves.first_seen("elsewhere", "m") is None
    assert await enclaves.first_seen("host", "n") is None


async def test_evidence_goes_with_its_chat(enclaves: Enclaves, history: ChatStore) -> None:
    chat = await history.create_chat()
    await enclaves.keep_evidence(chat.id, "aa", b'{"a": "\xc3\xa9"}')
    await enclaves.keep_evidence(chat.id, "bb", b"{}")
    await enclaves.keep_evidence(chat.id, "aa", b'{"a": 2}')
    assert await enclaves.evidence_of(chat.id) == (b"{}", b'{"a": 2}')
    await history.purge(chat.id)
    assert await enclaves.evidence_of(chat.id) == ()
    await enclaves.keep_evidence(chat.id, "cc", b"{}")
    assert await enclaves.evidence_of(chat.id) == ()


async def test_only_the_latest_sittings_are_kept(enclaves: Enclaves, history: ChatStore) -> None:
    chat = await history.create_chat()
    for number in range(EVIDENCE_PER_CHAT + 3):
        await enclaves.keep_evidence(chat.id, f"{number}", f"{number}".encode())
    found = await enclaves.evidence_of(chat.id)
    assert (len(found), found[0]) == (EVIDENCE_PER_CHAT, f"{EVIDENCE_PER_CHAT + 2}".encode())
