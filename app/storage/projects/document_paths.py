"""Which files and folders each project follows. What was read of them is derived, and kept elsewhere.

A module of its own because statements of SQL are the storage's, and only the chat tab asks for these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.storage.database import Database


class DocumentPaths:
    """Full paths, by project. All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> dict[str, tuple[str, ...]]:
        """Return the paths of each project that has any, in order."""
        rows = await self._database.fetch("SELECT project_id, path FROM project_documents ORDER BY project_id, path")
        found: dict[str, tuple[str, ...]] = {}
        for project_id, path in rows:
            found[project_id] = (*found.get(project_id, ()), path)
        return found

    async def add(self, project_id: str, paths: Iterable[str]) -> None:
        """Follow these as well."""
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "INSERT OR IGNORE INTO project_documents (project_id, path) VALUES (?, ?)",
                [(project_id, path) for path in paths],
            )

    async def remove(self, project_id: str, path: str) -> None:
        """Follow it no longer."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM project_documents WHERE project_id = ? AND path = ?", (project_id, path)
            )
