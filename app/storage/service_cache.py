"""The last list of models and of characters that each account was given, so that pickers work with no network.

And what was measured of the models' enclaves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.storage.database import Database
from app.storage.values import json_text, micros_of, moment_of, object_of, read_text, text_of

KEPT_KEYS = 200  # of one account and kind: searches for characters are many
EVIDENCE_PER_CHAT = 50  # one for each session


@dataclass(frozen=True, slots=True)
class CachedValue:
    """`value` is decoded JSON as the service sent it; `saved_at` is for "Updated 3 h ago"."""

    value: Any
    saved_at: datetime


class ServiceCache:
    """What the service last said, by account, kind and key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, account_id: str, kind: str, key: str, value: object) -> None:
        """Keep decoded JSON under account, kind ("models", "characters") and key (the query). Replaces the older one.

        Not pressed to the disk: losing it costs one request.
        """
        now = micros_of(self._database.now())
        async with self._database.transaction(durable=False) as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO catalogue (account_id, kind, key, saved_at, body) VALUES (?, ?, ?, ?, ?)",
                [account_id, kind, key, now, json_text(value)],
            )
            await transaction.execute(
                "DELETE FROM catalogue WHERE account_id = ? AND kind = ? AND key NOT IN ("
                " SELECT key FROM catalogue WHERE account_id = ? AND kind = ? ORDER BY saved_at DESC LIMIT ?)",
                [account_id, kind, account_id, kind, KEPT_KEYS],
            )

    async def load(self, account_id: str, kind: str, key: str = "") -> CachedValue | None:
        """Return what was saved, None when nothing was or it can no longer be read."""
        row = await self._database.fetch_one(
            "SELECT body, saved_at FROM catalogue WHERE account_id = ? AND kind = ? AND key = ?",
            [account_id, kind, key],
        )
        if row is None:
            return None
        try:
            return CachedValue(json.loads(row[0]), moment_of(row[1]))
        except (TypeError, ValueError, RecursionError):
            return None

    async def forget(self, account_id: str) -> None:
        """Drop everything of an account that was removed."""
        await self._database.execute("DELETE FROM catalogue WHERE account_id = ?", [account_id])


class Enclaves:
    """What was first measured of each model's enclave, and the evidence that sealed chats were sent under.

    Nobody publishes which measurements to expect, so the first ones seen are what later ones are compared with, until
    the person accepts others. Nothing here is a secret: evidence holds public keys, signatures and hashes. All of it
    raises `StorageError`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def first_seen(self, host: str, model: str) -> tuple[Mapping[str, str], datetime] | None:
        """The measurements of the first attestation, name → hex, and when it was; None before there was one."""
        row = await self._database.fetch_one(
            "SELECT measurements, first_seen FROM enclaves WHERE host = ? AND model = ?",
            [text_of(host), text_of(model)],
        )
        if row is None:
            return None
        measured = {name: value for name, value in object_of(row[0]).items() if isinstance(value, str)}
        return measured, moment_of(row[1])

    async def remember(self, host: str, model: str, measurements: Mapping[str, str], *, accept: bool = False) -> None:
        """Keep the measurements of a first attestation; with `accept`, in place of those that are kept."""
        clash = "REPLACE" if accept else "IGNORE"
        await self._database.execute(
            f"INSERT OR {clash} INTO enclaves (host, model, measurements, first_seen) VALUES (?, ?, ?, ?)",
            [text_of(host), text_of(model), json_text(dict(measurements)), micros_of(self._database.now())],
        )

    async def keep_evidence(self, chat_id: str, nonce: str, evidence: bytes) -> None:
        """Keep the evidence of one session with its chat; with more receipts it replaces what has the same nonce.

        A chat that is gone keeps none.
        """
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO sealed_evidence (chat_id, at, nonce, evidence) SELECT id, ?, ?, ? FROM chats WHERE id = ?"
                " ON CONFLICT (chat_id, nonce) DO UPDATE SET evidence = excluded.evidence",
                [micros_of(self._database.now()), nonce, evidence.decode(), chat_id],
            )
            await transaction.execute(
                "DELETE FROM sealed_evidence WHERE chat_id = ? AND seq NOT IN"
                " (SELECT seq FROM sealed_evidence WHERE chat_id = ? ORDER BY seq DESC LIMIT ?)",
                [chat_id, chat_id, EVIDENCE_PER_CHAT],
            )

    async def evidence_of(self, chat_id: str) -> tuple[bytes, ...]:
        """The evidence of a chat's sessions, newest first, as files that can be saved."""
        rows = await self._database.fetch(
            "SELECT evidence FROM sealed_evidence WHERE chat_id = ? ORDER BY seq DESC", [chat_id]
        )
        return tuple(read_text(row[0]).encode() for row in rows)
