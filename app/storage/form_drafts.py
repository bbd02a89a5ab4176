"""Drafts of the tabs' forms on disk: what is typed and chosen in each, so that nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.storage.database import Database
from app.storage.values import json_text


class FormDraftStore:
    """One tab's values by name, each as JSON. All of it raises `StorageError`."""

    def __init__(self, database: Database, tab: str) -> None:
        self._database = database
        self._tab = tab

    async def read(self) -> dict[str, Any]:
        """Return all that was kept; what cannot be read is left out."""
        found: dict[str, Any] = {}
        for key, value in await self._database.fetch("SELECT key, value FROM desk WHERE tab = ?", [self._tab]):
            try:
                found[str(key)] = json.loads(value)
            except (TypeError, ValueError, RecursionError):
                continue
        return found

    async def save(self, values: Mapping[str, Any]) -> None:
        """Write some of it, pressed through to the disk; None forgets a value."""
        gone = [(self._tab, key) for key, value in values.items() if value is None]
        async with self._database.transaction() as work:
            await work.execute_many("DELETE FROM desk WHERE tab = ? AND key = ?", gone)
            await work.execute_many(
                "INSERT INTO desk (tab, key, value) VALUES (?, ?, ?)"
                " ON CONFLICT (tab, key) DO UPDATE SET value = excluded.value",
                [(self._tab, key, json_text(value)) for key, value in values.items() if value is not None],
            )
