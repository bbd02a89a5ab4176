"""Projects: a place for chats, and what new chats in them begin with.

A chat is in one project or in none (`Chat.project_id`). A project in the trash keeps its chats, so that restoring it
brings everything back; until then its chats stand in the list as if they were in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, get_args

from app.storage.chat_rows import new_id
from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.presets import clean_name
from app.storage.table import Table
from app.translation import tr

Color = Literal["", "red", "orange", "green", "teal", "blue", "purple"]
COLORS: tuple[Color, ...] = get_args(Color)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CHANGEABLE = (
    "name",
    "color",
    "folded",
    "archived",
    "instructions",
    "model",
    "character_slug",
    "character_name",
    "options",
    "limit_usd",
)


@dataclass(frozen=True, slots=True)
class Project:
    """`instructions` stand before the system prompt of each of its chats. The rest is what new chats begin with."""

    id: str
    name: str
    color: Color = ""
    place: int = 0  # in the list, the smaller the higher
    folded: bool = False
    archived: bool = False  # kept, but not shown among the others
    created_at: datetime = _EPOCH
    trashed_at: datetime | None = None
    instructions: str = ""
    model: str = ""
    character_slug: str | None = None
    character_name: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # as `Chat.options`
    limit_usd: Decimal | None = None  # what its calls may cost altogether; None for no limit


PROJECTS = Table("projects", Project, tr("This project no longer exists."), otherwise={"color": ""})


class Projects:
    """All of it raises `StorageError`; an id that is not there raises `NotStored`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, *, trashed: bool = False) -> tuple[Project, ...]:
        """Return the projects in the order of the list, archived ones among them; or those in the trash."""
        where = "trashed_at IS NOT NULL" if trashed else "trashed_at IS NULL"
        return await PROJECTS.select(self._database, f"WHERE {where} ORDER BY place, seq")

    async def one(self, project_id: str) -> Project:
        return await PROJECTS.one(self._database, project_id)

    async def create(self, name: str, color: Color = "") -> Project:
        """Make a project, below the others in the list."""
        project_id = new_id()
        async with self._database.transaction() as transaction:
            below = await transaction.fetch("SELECT COALESCE(max(place), 0) + 1 FROM projects")
            await PROJECTS.insert(
                transaction,
                id=project_id,
                name=clean_name(name),
                color=color,
                place=below[0][0],
                created_at=self._database.now(),
            )
        return await self.one(project_id)

    async def change(self, project_id: str, **changes: Any) -> Project:
        """Set one or more of `_CHANGEABLE`, such as name, color, folded, instructions or limit_usd."""
        unknown = set(changes) - set(_CHANGEABLE)
        if unknown:
            raise TypeError(f"not a changeable field of a project: {', '.join(sorted(unknown))}")
        if "name" in changes:
            changes["name"] = clean_name(changes["name"])
        if changes:
            await PROJECTS.change(self._database, project_id, **changes)
        return await self.one(project_id)

    async def order(self, project_ids: Iterable[str]) -> None:
        """Let the list stand in this order: all of it, or none."""
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "UPDATE projects SET place = ? WHERE id = ?", list(enumerate(project_ids, start=1))
            )

    async def trash(self, project_id: str) -> None:
        """Take the project off the list; its chats stay. `restore` is the undo."""
        await PROJECTS.change(self._database, project_id, trashed_at=self._database.now())

    async def restore(self, project_id: str) -> None:
        await PROJECTS.change(self._database, project_id, trashed_at=None)

    async def delete(self, project_id: str) -> None:
        """Delete a project for good. Its chats stay, in no project; its receipts stay."""
        await self._database.execute("DELETE FROM projects WHERE id = ?", [project_id])

    # Chats

    async def places(self, chat_ids: Iterable[str]) -> dict[str, str | None]:
        """Return the project of each of these chats, None for none; chats that do not exist are left out."""
        wanted = list(chat_ids)
        rows = []
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            marks = ", ".join("?" * len(some))
            rows += await self._database.fetch(f"SELECT id, project_id FROM chats WHERE id IN ({marks})", some)
        return {str(chat_id): project_id for chat_id, project_id in rows}

    async def move(self, places: Mapping[str, str | None]) -> None:
        """Put each of these chats into a project, or into none: all of them, or none when the program is killed.

        Nothing else of a chat changes, neither its place in time nor its words. Raises `NotStored` for a project that
        is not there.
        """
        async with self._database.transaction() as transaction:
            for project_id in {each for each in places.values() if each is not None}:
                if not await transaction.fetch("SELECT 1 FROM projects WHERE id = ?", [project_id]):
                    raise NotStored(tr("This project no longer exists."))
            await transaction.execute_many(
                "UPDATE chats SET project_id = ? WHERE id = ?",
                [(project_id, chat_id) for chat_id, project_id in places.items()],
            )
