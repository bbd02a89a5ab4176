"""Projects as the chat tab uses them: made, changed, ordered, moved into, removed, each with its undo. QtCore only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.spending_limits import read_limit
from app.core.trash import TrashEntry, TrashKind, move_rows, moved_text
from app.core.undo import UndoCommand
from app.formats import format_number
from app.storage.paths import resources
from app.storage.projects.project_store import Color, Project, Projects
from app.storage.receipts import Receipts, Spent
from app.translation import tr, tr_n
from app.ui.chat.session.stored_chat import CHARACTER_KEY, PARAMETERS_KEY, card_of, character_of
from app.ui.chat.state import ProjectEntry, ProjectForm

if TYPE_CHECKING:
    from app.core.trash import Trash
    from app.core.undo import UndoStack
    from app.storage.database import Database
    from app.storage.projects.project_file import ImportedProject
    from app.ui.chat.session.chat_library import ChatLibrary

COLOR_WORDS: Mapping[Color, str] = {
    "": tr("No color"),
    "red": tr("Red"),
    "orange": tr("Orange"),
    "green": tr("Green"),
    "teal": tr("Teal"),
    "blue": tr("Blue"),
    "purple": tr("Purple"),
}


class ChatProjects(QObject):
    """The projects in memory, in step with the disk. What is started here ends with `changed`."""

    changed = Signal()
    moved_chats = Signal(object)  # Mapping[str, str | None]: chats, and the projects that they are in now

    def __init__(self, library: ChatLibrary, database: Database) -> None:
        super().__init__()
        self._library = library
        self.store = Projects(database)
        self._receipts = Receipts(database)
        self._all: tuple[Project, ...] = ()

    async def start(
        self,
        run: Callable[..., None],
        undo_stack: UndoStack,
        trash: Trash,
        throw_away: Callable[[tuple[str, ...]], Awaitable[None]],
    ) -> None:
        """Read them. `run` starts work that belongs to the tab: a coroutine function and its arguments.

        `throw_away` moves chats to the trash.
        """
        self._run = run
        self._throw_away = throw_away
        self._undo_stack = undo_stack
        self._trash = trash
        trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        await self._reread()

    async def _reread(self) -> None:
        self._all = await self.store.all()
        self._library.show_projects(each.id for each in self._all)
        self.changed.emit()

    # What there is

    @property
    def all(self) -> tuple[Project, ...]:
        """In the order of the list, archived ones among them."""
        return self._all

    def one(self, project_id: str | None) -> Project | None:
        """A project outside the trash."""
        return next((each for each in self._all if each.id == project_id), None)

    def entries(self) -> tuple[ProjectEntry, ...]:
        """The rows of the list, archived projects last."""
        return tuple(self._entry(each) for each in sorted(self._all, key=lambda each: each.archived))

    def entry(self, project_id: str) -> ProjectEntry | None:
        """The row of a project outside the trash."""
        project = self.one(project_id)
        return self._entry(project) if project is not None else None

    def _entry(self, project: Project) -> ProjectEntry:
        count = len(self._library.in_project(project.id))
        return ProjectEntry(
            project.id,
            project.name,
            project.color,
            project.folded,
            project.archived,
            format_number(count),
            tr_n("{n} chat", "{n} chats", count),
        )

    def totals(self, project_id: str) -> tuple[int, int]:
        """How many chats a project has outside the trash, and how many messages these have."""
        chats = self._library.in_project(project_id)
        return len(chats), sum(chat.message_count for chat in chats)

    async def spent(self, project_id: str) -> tuple[Spent, Spent]:
        """What was ever spent in a project, by receipts, in USD: real money, and play money."""
        real = await self._receipts.spent_since(project_id=project_id)
        return real, await self._receipts.spent_since(project_id=project_id, charged=False)

    # Changing

    def create(self, name: str, chat_ids: Sequence[str] = ()) -> None:
        """Make a project, with these chats in it."""
        self._run(self._create, name, tuple(chat_ids))

    async def with_handbook(self) -> str:
        """The id of a project that follows Rialto's handbook, made where there is none. Raises `StorageError`."""
        documents, folder = self._library.documents, resources() / "handbook"
        known = (each.id for each in self._all if str(folder) in documents.paths(each.id))
        project_id = next(known, None)
        if project_id is None:
            project_id = await self._create(tr("Rialto’s handbook"), ())
            documents.add(project_id, [folder])
        return project_id

    async def _create(self, name: str, chat_ids: tuple[str, ...]) -> str:
        project = await self.store.create(name)
        before = await self.store.places(chat_ids)
        await self._put(dict.fromkeys(before, project.id))
        await self._reread()

        async def undo(ids: tuple[str, ...]) -> None:
            await self._put(before)
            for project_id in ids:
                await self.store.trash(project_id)
            await self._reread()

        self._push(tr("Project “{name}” created", name=project.name), undo, (project.id,), has_toast=False)
        return project.id

    def change(self, project_id: str, **changes: Any) -> None:
        """Set fields of a project, as `Projects.change` does."""
        self._run(self._change, project_id, changes)

    async def _change(self, project_id: str, changes: dict[str, Any]) -> None:
        before = await self.store.one(project_id)
        changes = {name: value for name, value in changes.items() if getattr(before, name) != value}
        old = {name: getattr(before, name) for name in changes}
        if not changes:
            return
        project = await self.store.change(project_id, **changes)
        await self._reread()
        if set(changes) == {"folded"}:
            return

        async def undo(ids: tuple[str, ...]) -> None:
            for each in ids:
                await self.store.change(each, **old)
            await self._reread()

        self._push(tr("Project “{name}” changed", name=project.name), undo, (project_id,), has_toast=False)

    async def set_model(self, project_id: str, model_id: str) -> None:
        """Let a project that is still there use another model. Raises `StorageError`."""
        if self.one(project_id) is not None:
            await self.store.change(project_id, model=model_id)
            await self._reread()

    def form(self, project_id: str) -> ProjectForm | None:
        """What can be set of a project, as it is now."""
        project = self.one(project_id)
        if project is None:
            return None
        parameters = project.options.get(PARAMETERS_KEY)
        return ProjectForm(
            project.name,
            project.color,
            project.instructions,
            project.model,
            character_of(project),
            parameters if isinstance(parameters, Mapping) else None,
            "" if project.limit_usd is None else f"{project.limit_usd:f}",
        )

    def keep(self, project_id: str, form: ProjectForm) -> None:
        """Set all that was filled in; an amount that is none is no limit."""
        card = form.character
        options = {PARAMETERS_KEY: dict(form.parameters)} if form.parameters is not None else {}
        self.change(
            project_id,
            name=form.name,
            color=form.color,
            instructions=form.instructions,
            model=form.model,
            character_slug=card.slug if card is not None else None,
            character_name=card.name if card is not None else None,
            options=options | ({CHARACTER_KEY: card_of(card)} if card is not None else {}),
            limit_usd=read_limit(form.limit) if form.limit else None,
        )

    def fold(self, project_id: str, folded: bool) -> None:
        project = self.one(project_id)
        if project is not None and project.folded != folded:
            self.change(project_id, folded=folded)

    def archive(self, project_id: str, archived: bool) -> None:
        """Put a project among the archived ones, folded, or back among the others."""
        self.change(project_id, archived=archived, folded=archived)

    def step(self, project_id: str, by: int) -> None:
        """Move a project up (-1) or down (1) in the list."""
        ids = self._shown_ids(project_id)
        if project_id in ids:
            place = ids.index(project_id)
            self.place(project_id, place + by)

    def place(self, project_id: str, place: int) -> None:
        """Move a project to a place among those that are shown with it, 0 for the first."""
        ids = self._shown_ids(project_id)
        wanted = [each for each in ids if each != project_id]
        wanted.insert(max(0, min(len(wanted), place)), project_id)
        if wanted != ids:
            self._run(self._order, wanted)

    def place_beside(self, project_id: str, other_id: str, side: int) -> None:
        """Move a project above (-1) or below (1) another one that is shown with it."""
        others = [each for each in self._shown_ids(project_id) if each != project_id]
        if other_id in others:
            self.place(project_id, others.index(other_id) + (side > 0))

    def _shown_ids(self, project_id: str) -> list[str]:
        moved = self.one(project_id)
        return [each.id for each in self._all if moved is not None and each.archived == moved.archived]

    async def _order(self, wanted: list[str]) -> None:
        before = [each.id for each in self._all]
        await self.store.order([*wanted, *(each for each in before if each not in wanted)])
        await self._reread()

        async def undo(_ids: tuple[str, ...]) -> None:
            await self.store.order(before)
            await self._reread()

        self._push(tr("Projects reordered"), undo, wanted, has_toast=False)

    # Chats

    def move(self, chat_ids: Iterable[str], project_id: str | None) -> None:
        """Put chats into a project, or into none."""
        self._run(self._move, tuple(chat_ids), project_id)

    async def _move(self, chat_ids: tuple[str, ...], project_id: str | None) -> None:
        places = await self.store.places(chat_ids)
        before = {chat_id: place for chat_id, place in places.items() if place != project_id}
        if not before:
            return
        await self._put(dict.fromkeys(before, project_id))
        self.changed.emit()
        chats = tr_n("{n} chat", "{n} chats", len(before))
        project = self.one(project_id)
        name = project.name if project is not None else ""
        text = (
            tr("{chats} moved to “{name}”", chats=chats, name=name)
            if project is not None
            else tr("{chats} moved out of the project", chats=chats)
        )

        async def undo(ids: tuple[str, ...]) -> None:
            await self._put({each: before[each] for each in ids})
            self.changed.emit()

        self._push(text, undo, before)

    async def _put(self, places: Mapping[str, str | None]) -> None:
        if not places:
            return
        await self.store.move(places)
        self._library.moved(places)
        self.moved_chats.emit(places)

    async def take_in(self, imported: Sequence[ImportedProject]) -> None:
        """Projects were imported. Undo moves them and their chats to the trash."""
        await self._reread()
        for each in imported:
            self._push(
                tr("Project “{name}” imported", name=each.project.name),
                partial(self._give_back, each),
                (each.project.id,),
                has_toast=False,
            )

    async def _give_back(self, imported: ImportedProject, project_ids: tuple[str, ...]) -> None:
        await self._throw_away(tuple(each for each in imported.chat_ids if self._library.get(each) is not None))
        for project_id in project_ids:
            await self.store.trash(project_id)
        await self._reread()

    # The trash

    def remove(self, project_ids: Iterable[str]) -> None:
        """Move projects to the trash. Their chats stay, in none."""
        self._run(self._remove, tuple(project_ids))

    async def _remove(self, project_ids: tuple[str, ...]) -> None:
        names = [project.name for each in project_ids if (project := self.one(each)) is not None]
        moved, refusal = await move_rows(project_ids, self.store.trash)
        await self._reread()
        if moved:
            await self._trash.moved(moved, moved_text(names[: len(moved)], tr("projects")))
        if refusal is not None:
            raise refusal

    async def _trashed(self) -> list[TrashEntry]:
        now = datetime.now(UTC)
        return [
            TrashEntry(
                each.id, each.name, f"{tr('Project')} · {time_format.when(each.trashed_at, now)}", each.trashed_at
            )
            for each in await self.store.all(trashed=True)
            if each.trashed_at is not None
        ]

    async def _restore(self, project_ids: tuple[str, ...]) -> None:
        for project_id in project_ids:
            await self.store.restore(project_id)
        await self._reread()

    async def _delete(self, project_ids: tuple[str, ...]) -> None:
        for project_id in project_ids:
            await self.store.delete(project_id)
            self._library.forget_project(project_id)
            self._library.documents.forget(project_id)
        await self._reread()

    def _push(
        self,
        text: str,
        undo: Callable[[tuple[str, ...]], Awaitable[None]],
        ids: Iterable[str],
        *,
        has_toast: bool = True,
    ) -> None:
        self._undo_stack.push(UndoCommand("chat", text, undo, ids, has_toast=has_toast))
