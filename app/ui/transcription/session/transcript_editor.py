"""The open transcript: edits with undo, kept on disk at once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.undo import UndoCommand, UndoStack
from app.translation import tr
from app.ui.transcription.session import editing
from app.ui.transcription.session.document import Document
from app.ui.transcription.state import TranscriptState

if TYPE_CHECKING:
    from app.storage.transcripts import Transcripts

TAB = "transcription"
MOST_UNDO = 200


class TranscriptEditor(QObject):
    """`changed` comes with another document, be it another transcript or an edit."""

    changed = Signal(object)  # Reading
    saved = Signal(str)  # id

    def __init__(self, save_later: Callable[[], None], undo_stack: UndoStack) -> None:
        super().__init__()
        self._undo_stack = undo_stack
        self._edits: list[str] = []  # ids of the commands that undo them
        self._numbers = itertools.count()
        self.id: str | None = None
        self.document = Document()
        self.received: Mapping[str, Any] = {}
        self.language = ""
        self._undo: list[Document] = []
        self._redo: list[Document] = []
        self._save_later = save_later
        self._saving = asyncio.Lock()
        self._unsaved: dict[str, Document] = {}

    def show(self, row_id: str | None, document: Document, received: Mapping[str, Any], language: str = "") -> None:
        """Open a transcript, or none."""
        if row_id != self.id:
            self._undo, self._redo = [], []
            self._undo_stack.forget(TAB, self._edits)
            self._edits = []
        self.id, self.document, self.received, self.language = row_id, document, received, language
        self._publish()

    def reading(self) -> TranscriptState:
        return TranscriptState(self.document, bool(self._undo), bool(self._redo), self.language, self.received)

    # Edits

    def edit(self, segment: int, text: str) -> None:
        self._take(editing.edit_segment(self.document, segment, text))

    def replace(self, found: Sequence[editing.Match], text: str) -> None:
        """Write `text` in all these places, as one edit."""
        self._take(editing.replaced(self.document, found, text))

    def nudge(self, segment: int, edge: str, by_s: float) -> None:
        self._take(editing.nudge(self.document, segment, edge, by_s))

    def split(self, segment: int, word: int) -> None:
        self._take(editing.split(self.document, segment, word))

    def merge(self, segment: int) -> None:
        self._take(editing.merge(self.document, segment))

    def undo(self) -> bool:
        if not self._undo:
            return False
        self._redo.append(self.document)
        self._change(self._undo.pop())
        return True

    def redo(self) -> bool:
        if not self._redo:
            return False
        self._undo.append(self.document)
        self._change(self._redo.pop())
        self._push()
        return True

    def _take(self, document: Document) -> None:
        if document is self.document or document == self.document:
            return
        self._undo = [*self._undo[-MOST_UNDO:], self.document]
        self._redo = []
        self._change(document)
        self._push()

    def _push(self) -> None:
        """Let Ctrl+Z undo this edit. Like everything else, edits are undone from the newest to the oldest."""
        edit = f"edit {next(self._numbers)}"
        self._edits.append(edit)
        text = tr("Transcript edit")
        self._undo_stack.push(UndoCommand(TAB, text, self._undo_edit, (edit,), has_toast=False))

    def _undo_edit(self, _ids: object) -> None:
        self.undo()

    def _change(self, document: Document) -> None:
        self.document = document
        if self.id is not None:
            self._unsaved[self.id] = document
            self._save_later()
        self._publish()

    def _publish(self) -> None:
        self.changed.emit(self.reading())

    async def save(self, transcripts: Transcripts) -> None:
        """Keep every edit that is not on disk yet; the newest of each transcript. Raises `StorageError`."""
        async with self._saving:
            while self._unsaved:
                row_id, document = next(iter(self._unsaved.items()))
                await transcripts.save_text(row_id, document.to_json(), document.text)
                if self._unsaved.get(row_id) is document:
                    del self._unsaved[row_id]
                self.saved.emit(row_id)
