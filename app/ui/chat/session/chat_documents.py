"""The documents of projects as the chat tab uses them: followed, read by a process of their own, asked. QtCore only."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.documents.index import Overview, overview, remove
from app.documents.one_file import text_of
from app.documents.reading import PLAIN, Kind, Reason, Unreadable, sentence
from app.documents.search import FoundPassages, excerpt, named, search, whole_text
from app.documents.vectors import hashes_in, vectors_beside
from app.documents.watcher import DocumentWatcher, Progress
from app.service.http.sanitize import sanitize_line
from app.storage.errors import StorageError
from app.storage.projects.document_paths import DocumentPaths
from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import MAX_BYTES
from app.ui.chat.session.document_embeddings import DocumentEmbeddings

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.storage.attachment_files import AttachmentFiles
    from app.storage.database import Database
    from app.storage.service_cache import ServiceCache
    from app.ui.chat.composer.attachment import Attachment, DocumentPlace

PASSAGES = 5  # that are put before a question
MOST_NAMED = 20  # offered for a typed name
MOST_SHOWN_CHARS = 100_000  # of what was attached, where its document cannot be shown
FOLDER = "documents"  # beside the database


class NamedDocument(NamedTuple):
    """A document to choose by its name. `detail` says how long its text is and where it is."""

    path: str
    name: str
    detail: str
    is_text: bool  # the file is its own text


class DocumentExcerpt(NamedTuple):
    """A document around a text that is marked in it. `path` is "" for one that is gone, `note` says what is shown."""

    path: str
    note: str
    before: str
    marked: str
    after: str
    is_as_sent: bool


class ChatDocuments(QObject):
    """One for the tab. A project's files are read from the first time that somebody looks at them or asks for them."""

    changed = Signal(str)  # the id of a project: its files, or how far the reading is
    paths_changed = Signal()

    def __init__(self, database: Database, files: AttachmentFiles) -> None:
        """`files` are those of attachments."""
        super().__init__()
        self._files = files
        self._paths = DocumentPaths(database)
        self._folder = database.path.parent / FOLDER
        self._all: dict[str, tuple[str, ...]] = {}
        self._watchers: dict[str, DocumentWatcher] = {}
        self._paused: set[str] = set()
        self._tidying: dict[str, bool] = {}  # projects that follow less than before; whether that is being looked at
        self._before: dict[str, set[bytes]] = {}  # the texts that those projects had; others may be imported
        self.embeddings = DocumentEmbeddings(database, self._index)
        self.changed.connect(self._tidy)

    async def start(
        self, run: Callable[..., None], current_account: CurrentAccount, service_cache: ServiceCache | None = None
    ) -> None:
        """Read which files each project follows. `run` starts work that belongs to the tab."""
        self._run = run
        self.embeddings.start(run, current_account, service_cache)
        self._all = await self._paths.all()

    def close(self) -> None:
        """End the processes that read; they go on with the next start."""
        for watcher in self._watchers.values():
            watcher.close()
        self._watchers.clear()

    def paths(self, project_id: str) -> tuple[str, ...]:
        """The files and folders that a project follows."""
        return self._all.get(project_id, ())

    def progress(self, project_id: str) -> Progress:
        """How far the reading of a project is."""
        watcher = self._watchers.get(project_id)
        return watcher.progress if watcher is not None else Progress()

    def is_paused(self, project_id: str) -> bool:
        return project_id in self._paused

    def follow(self, project_id: str) -> None:
        """See to it that a project's files are read, now and whenever they change."""
        if project_id in self._watchers or not self.paths(project_id):
            return
        watcher = DocumentWatcher(self._index(project_id), lambda progress: self._hear(project_id, progress))
        self._watchers[project_id] = watcher
        watcher.follow(self.paths(project_id), self.is_paused(project_id))

    def pause(self, project_id: str, paused: bool) -> None:
        """Stop reading, or go on."""
        (self._paused.add if paused else self._paused.discard)(project_id)
        if project_id in self._watchers:
            self._watchers[project_id].pause(paused)
        self.changed.emit(project_id)

    def add(self, project_id: str, paths: Sequence[Path]) -> None:
        """Follow files and folders."""
        named = [str(path.absolute()) for path in paths]
        self._run(self._change, project_id, self._paths.add, named)

    def remove(self, project_id: str, path: str) -> None:
        """Follow a file or folder no longer. The file itself is left alone."""
        self._run(self._remove, project_id, path)

    async def _remove(self, project_id: str, path: str) -> None:
        try:
            names = await asyncio.to_thread(hashes_in, self._index(project_id))
        except (sqlite3.Error, OSError):
            names = None
        self._before[project_id] = self._before.get(project_id, set()) | (names or set())
        self._tidying[project_id] = False
        await self._change(project_id, self._paths.remove, path)

    def _hear(self, project_id: str, progress: Progress) -> None:
        """Take a state in the watcher's thread: a busy window comes to it when the next has long begun."""
        if progress.state == "looking" and project_id in self._tidying:
            self._tidying[project_id] = True
        self.changed.emit(project_id)

    def _tidy(self, project_id: str) -> None:
        """Delete the embeddings of what was removed, once the index is without it."""
        if self._tidying.get(project_id) and self.progress(project_id).state == "idle":
            del self._tidying[project_id]
            self.embeddings.forget_missing(project_id, self._before.pop(project_id, set()))

    async def _change(self, project_id: str, change: Callable[..., Awaitable[None]], what: object) -> None:
        await change(project_id, what)
        self._all = await self._paths.all()
        self.paths_changed.emit()
        watcher = self._watchers.get(project_id)
        if watcher is not None:
            watcher.follow(self.paths(project_id), self.is_paused(project_id))
        else:
            self.follow(project_id)
        self.changed.emit(project_id)

    async def overview(self, project_id: str) -> Overview:
        """What was read and what was left out."""
        try:
            return await asyncio.to_thread(overview, self._index(project_id))
        except (sqlite3.Error, OSError):  # it is being made anew
            return Overview()

    @staticmethod
    def unread(found: Overview) -> list[tuple[str, str]]:
        """The names of files that were not read, each with the reason; then of those that were read with a note."""
        left_out = [(Path(path).name, sentence(reason)) for path, reason in found.left_out]
        return left_out + [(Path(path).name, notes.sentences()) for path, notes in found.noted]

    async def find(
        self, project_id: str, question: str, *, words_alone: bool = False
    ) -> tuple[tuple[FoundPassages, ...], str]:
        """The passages for a question, best first, and why its embedding was not searched for where it should be.

        With `words_alone` nothing leaves this computer, whatever the person switched on.
        """
        self.follow(project_id)
        vector, why = (None, "") if words_alone else await self.embeddings.question(project_id, question)
        try:
            return await asyncio.to_thread(search, self._index(project_id), question, PASSAGES, vector), why
        except (sqlite3.Error, OSError):
            return (), why

    async def named(self, project_id: str, words: str) -> tuple[NamedDocument, ...]:
        """The documents whose names hold these words, best first; what is not read yet is not there."""
        self.follow(project_id)
        try:
            found = await asyncio.to_thread(named, self._index(project_id), words, MOST_NAMED)
        except (sqlite3.Error, OSError):
            return ()
        return tuple(
            NamedDocument(
                each.path,
                sanitize_line(Path(each.path).name),
                sanitize_line(f"{tr_n('{n} character', '{n} characters', each.chars)}, {Path(each.path).parent}"),
                each.kind in PLAIN,
            )
            for each in found
        )

    async def text(self, project_id: str, path: str) -> str:
        """What was read of a document; "" when that is gone."""
        try:
            return await asyncio.to_thread(whole_text, self._index(project_id), path)
        except (sqlite3.Error, OSError):
            return ""

    async def excerpt(self, project_id: str, place: DocumentPlace, sha256: str) -> DocumentExcerpt:
        """What stands around an attached text in its document; the text alone where that is another by now."""

        def look() -> DocumentExcerpt:
            try:
                text = self._files.read(sha256).decode("utf-8", "replace")
            except StorageError as error:
                return DocumentExcerpt("", error.sentence, "", "", "", False)
            try:
                found = excerpt(self._index(project_id), place.path, text, place.first)
            except (sqlite3.Error, OSError):  # it is being made anew
                found = None
            path = found.path if found is not None and Path(found.path).exists() else ""
            if found is None or not found.is_there:
                return DocumentExcerpt(path, _note(bool(path), len(text)), "", "", text[:MOST_SHOWN_CHARS], False)
            gone = tr("The document no longer exists. This is the text that was read from it.")
            here = tr("The text around this passage, as read on this computer.")
            note = here if found.is_cut else tr("The text as read on this computer.")
            return DocumentExcerpt(path, note if path else gone, found.before, found.text, found.after, bool(path))

        return await asyncio.to_thread(look)

    def forget(self, project_id: str) -> None:
        """Remove what was read of a project."""
        watcher = self._watchers.pop(project_id, None)
        if watcher is not None:
            watcher.close()
        remove(self._index(project_id))
        remove(vectors_beside(self._index(project_id)))

    def _index(self, project_id: str) -> Path:
        return self._folder / project_id / "index.db"


def document_text(attachment: Attachment, path: Path) -> tuple[str, str, str]:
    """Return the text of an attached document, what to know about it, and the reason when there is none.

    All are "" where only the service reads it. What cannot be read here for its own sake cannot be read there either,
    and the service would not say so (R-AUG-11). Blocks, for a minute at most.
    """
    if attachment.kind not in ("pdf", "document"):
        return "", "", ""
    try:
        text, notes = text_of(path, attachment.name if attachment.kind == "document" else f"{attachment.name}.pdf")
    except Unreadable as error:
        was_too_much = attachment.kind == "pdf" and error.reason in (Reason.TIME, Reason.MEMORY)
        return "", "", "" if was_too_much else sentence(error.reason)
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return "", "", sentence(Reason.LARGE)
    return text, notes.sentences(), ""


def _note(is_there: bool, chars: int) -> str:
    """Say why a text is shown without its document."""
    short = chars > MOST_SHOWN_CHARS
    sent = tr("This is the beginning of what was attached.") if short else tr("This is what was attached.")
    if is_there:
        return tr("The document has changed since. {sent}", sent=sent)
    return tr("The document no longer exists or no longer belongs to this project. {sent}", sent=sent)


def place_words(found: FoundPassages) -> str:
    """Say where a passage is: the file and the page, lines or whatever its kind counts."""
    file, first, last = Path(found.path).name, found.first, found.last
    if found.kind is Kind.PDF:
        return tr("{file}, page {n}", file=file, n=first)
    if found.kind is Kind.PPTX:
        return tr("{file}, slide {n}", file=file, n=first)
    if found.kind is Kind.EPUB:
        return tr("{file}, chapter {n}", file=file, n=first)
    if found.kind is Kind.XLSX:
        return tr("{file}, {sheet}, rows {first} to {last}", file=file, sheet=found.heading, first=first, last=last)
    if found.kind in (Kind.DOCX, Kind.ODT, Kind.HTML):
        return tr("{file}, paragraphs {first} to {last}", file=file, first=first, last=last)
    return tr("{file}, lines {first} to {last}", file=file, first=first, last=last)
