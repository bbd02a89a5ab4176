"""Imports and exports chats. Files are read and written in threads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.file_saving import SavedFile
from app.formats import format_number
from app.storage.atomic_files import replacing
from app.storage.chat_file import NotAChat, chat_to_json, import_chat
from app.storage.chat_file_bytes import Packed, keep_files, named_in, write_chat
from app.storage.errors import NoHistory
from app.storage.file_names import free_path
from app.storage.imports.chat_import import NotAnExport
from app.storage.imports.export_reading import ExportReading
from app.storage.projects.project_file import ImportedProject, NotAProject, import_project, project_to_json
from app.translation import listed, tr, tr_n
from app.ui.chat.session.export import HTML, JSON, ExportForm, html_page, markdown_of, name_of
from app.ui.chat.session.titles import NEW_CHAT

if TYPE_CHECKING:
    from datetime import datetime

    from app.core.tasks import TaskScope
    from app.storage.chat_store import ChatStore
    from app.storage.projects.project_store import Project
    from app.ui.chat.presenter import ChatPresenter


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was taken and what not, in words. `newest` is the chat to open, "" when none came."""

    title: str
    lines: tuple[str, ...]
    newest: str = ""
    projects: tuple[ImportedProject, ...] = ()
    is_whole: bool = False  # everything in the files was taken


@dataclass(slots=True)
class _Taken:
    """What has been kept of the files so far."""

    chats: int = 0
    newest: str = ""
    projects: list[ImportedProject] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    refused: bool = False  # a file or a project


class Transfer:
    """Between the history and files, in words for the person."""

    def __init__(self, history: ChatStore, name_of: Callable[[str], str]) -> None:
        self._history = history
        self._name_of = name_of

    async def export(self, chat_id: str, path: Path, form: ExportForm) -> str:
        """Write a chat and return a sentence about it. Raises `StorageError` when the history cannot be read."""
        chat = await self._history.chat(chat_id)
        if form.kind == JSON:
            messages = await self._history.messages(chat_id)
        else:
            branch = await self._history.path_to(chat.head_id)
            messages = tuple(each for each in branch if not each.is_deleted)

        def write() -> Packed:
            with replacing(path) as place:
                if form.kind == JSON:
                    return write_chat(place, chat_to_json(chat, messages), named_in(messages), self._history.files)
                made = html_page if form.kind == HTML else markdown_of
                text = made(chat, messages, self._name_of, form)
                place.write_text(text, encoding="utf-8", errors="replace", newline="\n")
                return Packed()

        try:
            packed = await asyncio.to_thread(write)
        except OSError as error:
            return _not_saved(path, error)
        return SavedFile(path, _saved_words(path.name, packed))

    async def export_all(self, chat_ids: Sequence[str], folder: Path, form: ExportForm) -> str:
        """Write each chat into a file of its own, beside what is in the folder. Stops at the first that fails."""
        for chat_id in chat_ids:
            chat = await self._history.chat(chat_id)
            path = await asyncio.to_thread(free_path, folder / name_of(chat.title or NEW_CHAT, form.kind))
            sentence = await self.export(chat_id, path, form)
            if not isinstance(sentence, SavedFile):
                return sentence
        words = tr_n("{n} chat saved in {folder}", "{n} chats saved in {folder}", len(chat_ids), folder=folder.name)
        return SavedFile(path, words) if chat_ids else ""

    async def export_project(
        self,
        project: Project,
        chat_ids: Sequence[str],
        path: Path,
        documents: Sequence[str],
        embeddings: Mapping[str, object] | None = None,
    ) -> str:
        """Write a project with these chats and return a sentence about it. Raises `StorageError`.

        Of `documents`, which it follows, the list is written, and the embeddings.
        """
        chats = []
        for chat_id in chat_ids:
            chats.append((await self._history.chat(chat_id), await self._history.messages(chat_id)))

        def write() -> Packed:
            body = project_to_json(project, chats, documents, embeddings)
            names = named_in(message for _chat, messages in chats for message in messages)
            with replacing(path) as place:
                return write_chat(place, body, names, self._history.files)

        try:
            packed = await asyncio.to_thread(write)
        except OSError as error:
            return _not_saved(path, error)
        words = _saved_words(path.name, packed)
        if documents:
            listed = tr_n("{n} file or folder", "{n} files and folders", len(documents))
            words = (
                tr(
                    "{saved}. It lists the {documents} it follows, without their contents, and has their embeddings",
                    saved=words,
                    documents=listed,
                )
                if embeddings is not None
                else tr(
                    "{saved}. It lists the {documents} it follows, without their contents",
                    saved=words,
                    documents=listed,
                )
            )
        return SavedFile(path, words)

    async def take(self, paths: Sequence[Path], account_id: str) -> ImportReport:
        """Take every chat in these files that has a known shape. Raises `StorageError` when the disk refuses."""
        taken = _Taken()
        for path in paths:
            with ExportReading(path) as reading:
                await self._take_file(path.name, reading, account_id, taken)
        lines = taken.lines + [
            tr("Left out ({number}): {reason}.", number=format_number(number), reason=reason)
            for reason, number in taken.left.most_common()
            if number
        ]
        projects = taken.projects
        if not taken.chats and not projects:
            return ImportReport(tr("Nothing imported"), tuple(lines))
        is_whole = not taken.refused and not taken.left.total()
        chats = taken.chats + sum(len(each.chat_ids) for each in projects)
        title = tr_n("{n} chat imported", "{n} chats imported", chats)
        if len(projects) == 1 and chats == len(projects[0].chat_ids):
            title = tr("Project “{name}” imported", name=projects[0].project.name)
        return ImportReport(title, tuple(lines), taken.newest, tuple(projects), is_whole)

    async def _take_file(self, name: str, reading: ExportReading, account_id: str, taken: _Taken) -> None:
        """Keep each piece of a file as it is read. What came before a refusal stays."""
        chats = messages = 0
        newest_at: datetime | None = None
        try:
            while (piece := await asyncio.to_thread(reading.next)) is not None:
                damaged = await asyncio.to_thread(keep_files, piece.body, self._history.files)  # before they are named
                if damaged:
                    taken.left[tr("damaged attachments")] += damaged
                try:
                    if piece.kind == "project":
                        await self._keep_project(piece.body, account_id, taken)
                    elif piece.kind == "chat":
                        chat = await import_chat(self._history.database, piece.body, account_id)
                        chats, messages = chats + 1, messages + chat.message_count
                        if newest_at is None or chat.updated_at > newest_at:
                            taken.newest, newest_at = chat.id, chat.updated_at
                except (NotAChat, NotAProject) as error:
                    taken.left[error.sentence.rstrip(".")] += 1
                    taken.refused |= piece.kind == "project"
        except NotAnExport as error:
            taken.lines.append(error.sentence)
            taken.refused = True
        taken.left.update(reading.left)
        taken.chats += chats
        if chats:
            chats_words, messages_words = (
                tr_n("{n} chat", "{n} chats", chats),
                tr_n("{n} message", "{n} messages", messages),
            )
            taken.lines.append(
                tr(
                    "{name}, from {source}: {chats}, {messages}.",
                    name=name,
                    source=listed(reading.sources),
                    chats=chats_words,
                    messages=messages_words,
                )
                if reading.sources
                else tr("{name}, in part: {chats}, {messages}.", name=name, chats=chats_words, messages=messages_words)
            )

    async def _keep_project(self, body: Mapping[str, Any], account_id: str, taken: _Taken) -> None:
        imported = await import_project(self._history.database, body, account_id)
        taken.projects.append(imported)
        taken.left.update(imported.left)
        taken.newest = imported.newest or taken.newest
        taken.lines.append(
            tr(
                "Project “{name}”: {chats}.",
                name=imported.project.name,
                chats=tr_n("{n} chat", "{n} chats", len(imported.chat_ids)),
            )
        )


class TransferActions:
    """What the tab does with files of chats. Each method that is not a coroutine returns at once."""

    def __init__(self, presenter: ChatPresenter, history: ChatStore, tasks: TaskScope) -> None:
        self._presenter = presenter
        self._tasks = tasks
        self._transfer = Transfer(history, presenter.account_models.name_of)

    def export(self, chat_id: str, path: Path, form: ExportForm) -> None:
        """Write a chat into a file that the person named."""
        self._presenter.do(self._export, chat_id, path, form)

    async def _export(self, chat_id: str, path: Path, form: ExportForm) -> None:
        self._presenter.notice.emit(await self._transfer.export(chat_id, path, form))

    def export_all(self, chat_ids: Sequence[str], folder: Path, form: ExportForm) -> None:
        """Write several chats into files of their own."""
        self._presenter.do(self._export_all, chat_ids, folder, form)

    async def _export_all(self, chat_ids: Sequence[str], folder: Path, form: ExportForm) -> None:
        self._presenter.notice.emit(await self._transfer.export_all(chat_ids, folder, form))

    def export_project(self, project_id: str, path: Path) -> None:
        """Write a project with its chats into a file that the person named."""
        self._presenter.do(self._export_project, project_id, path)

    async def _export_project(self, project_id: str, path: Path) -> None:
        library = self._presenter.library
        project = self._presenter.projects.one(project_id)
        if project is not None and library is not None:
            chat_ids = [chat.id for chat in library.in_project(project_id)]
            documents = library.documents.paths(project_id)
            embeddings = await library.documents.embeddings.packed(project_id) if documents else None
            self._presenter.notice.emit(
                await self._transfer.export_project(project, chat_ids, path, documents, embeddings)
            )

    def import_files(self, paths: tuple[Path, ...]) -> None:
        """Take the chats in files; what was taken and what not is reported at the end."""
        self._tasks.start_unless_running("import-chats", self._presenter.guarded, self._import, (paths,))

    async def _import(self, paths: tuple[Path, ...]) -> None:
        presenter, library = self._presenter, self._presenter.library
        if library is None:
            raise NoHistory
        account = presenter.current_account.account
        report = await self._transfer.take(paths, account.id if account is not None else "")
        await library.load()
        await library.projects.take_in(report.projects)
        left_out: list[str] = []
        for each in report.projects:
            taken = each.embeddings is None or await library.documents.embeddings.take(each.project.id, each.embeddings)
            if not taken:
                words = tr(
                    "The embeddings of “{name}” are damaged and were left out. You can embed its documents again.",
                    name=each.project.name,
                )
                left_out.append(words)
            if each.documents:
                presenter.follow_asked.emit(each.project.id, each.project.name, each.documents)
        presenter.publish_list()
        if report.newest:
            await presenter.show_chat(report.newest)
        if report.is_whole and not left_out:
            presenter.notice.emit(report.title)
        else:
            presenter.reported.emit(report.title, (*report.lines, *left_out))


def _not_saved(path: Path, error: OSError) -> str:
    strerror = error.strerror or tr("the disk reported an error")
    return tr("{name} could not be saved: {strerror}", name=path.name, strerror=strerror)


def _saved_words(name: str, packed: Packed) -> str:
    """Where a chat was saved, and what of it is not in the file."""
    gone = tr_n("{n} attachment no longer on this computer", "{n} attachments no longer on this computer", packed.gone)
    too_much = tr_n("{n} attachment over the 700 MB limit", "{n} attachments over the 700 MB limit", packed.too_much)
    if packed.gone and packed.too_much:
        return tr("Saved as {name}, without {gone} and {too_much}", name=name, gone=gone, too_much=too_much)
    if packed.gone or packed.too_much:
        return tr("Saved as {name}, without {missing}", name=name, missing=gone if packed.gone else too_much)
    return tr("Saved as {name}", name=name)
