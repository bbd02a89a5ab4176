"""The last list of models and of characters that each account was given, so that pickers work with no network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.storage.database import Database
from app.storage.values import json_text, micros_of, moment_of

KEPT_KEYS = 200  # of one account and kind: searches in the character catalogue are many


@dataclass(frozen=True, slots=True)
class Saved:
    """`value` is decoded JSON as the service sent it; `saved_at` is for "Updated 3 h ago"."""

    value: Any
    saved_at: datetime


class Catalogue:
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

    async def load(self, account_id: str, kind: str, key: str = "") -> Saved | None:
        """Return what was saved, None when nothing was or it can no longer be read."""
        row = await self._database.fetch_one(
            "SELECT body, saved_at FROM catalogue WHERE account_id = ? AND kind = ? AND key = ?",
            [account_id, kind, key],
        )
        if row is None:
            return None
        try:
            return Saved(json.loads(row[0]), moment_of(row[1]))
        except (TypeError, ValueError, RecursionError):
            return None

    async def forget(self, account_id: str) -> None:
        """Drop everything of an account that was removed."""
        await self._database.execute("DELETE FROM catalogue WHERE account_id = ?", [account_id])
