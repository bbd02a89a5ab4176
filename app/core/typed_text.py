"""Typed text that something replaces or leaves: kept as a draft, or brought back with Undo. QtCore only.

Three kinds of places need this. A form that holds one thing at a time is an `UndoableForm`; an editor whose texts
become rows of a list has `TextDrafts`; dialogs share the `DialogDrafts` of their window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from uuid import uuid4

from PySide6.QtCore import QObject

from app.core.undo import UndoCommand
from app.translation import tr

if TYPE_CHECKING:
    from app.core.undo import UndoStack

Value = TypeVar("Value")
DRAFT = "draft:"  # before the id of a draft, in the form drafts of its tab
OPEN_DRAFT = "open_draft"


class UndoableForm(Generic[Value]):
    """A form whose content an action replaces as a whole, such as Clear. Undo brings back what a person had entered."""

    def __init__(
        self,
        tab: str,
        undo_stack: UndoStack,
        *,
        read: Callable[[], Value],
        write: Callable[[Value], None],
        is_empty: Callable[[Value], bool],
    ) -> None:
        """`read` returns the content with the last key; it must not change afterwards."""
        self._tab = tab
        self._undo_stack = undo_stack
        self._read = read
        self._write = write
        self._is_empty = is_empty

    def replace(self, value: Value, text: str) -> None:
        """Fill in `value`. `text` says what happened and is offered with Undo: "Form cleared"."""
        self.change(lambda: self._write(value), text)

    def change(self, work: Callable[[], object], text: str) -> None:
        """Let `work` replace the content, with Undo for it."""
        before = self._read()
        work()
        if self._read() != before and not self._is_empty(before):
            self.offer(before, text)

    def offer(self, before: Value, text: str) -> None:
        """Offer Undo for a replacement that has just happened."""
        after = self._read()
        self._undo_stack.push(UndoCommand(self._tab, text, lambda _ids: self._bring_back(before, after), ()))

    def _bring_back(self, before: Value, after: Value) -> None:
        if self._read() == after:
            self._write(before)
        else:  # something was entered since, which is not lost either
            self.replace(before, tr("Text replaced"))


class TextDraft(NamedTuple):
    """A text that was written and left before it was used. `title` is "" unless somebody gave it one."""

    id: str
    text: str
    title: str
    changed_at: datetime


class TextDrafts:
    """The texts of an editor that were left unused, newest first. `open_id` is the one in the editor, "" for none."""

    def __init__(self, save_soon: Callable[..., None], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`save_soon` writes values of the tab's form drafts."""
        self._save_soon = save_soon
        self._now = now
        self.rows: tuple[TextDraft, ...] = ()
        self.open_id = ""

    def load(self, kept: Mapping[str, Any]) -> None:
        """Add what was stored; `kept` are the form drafts of the tab."""
        found = [_draft_from(key.removeprefix(DRAFT), kept[key]) for key in kept if key.startswith(DRAFT)]
        self.restore(draft for draft in found if draft is not None and self.get(draft.id) is None)
        if not self.open_id and self.get(str(kept.get(OPEN_DRAFT))) is not None:
            self.open_id = str(kept[OPEN_DRAFT])

    def get(self, draft_id: str) -> TextDraft | None:
        return next((draft for draft in self.rows if draft.id == draft_id), None)

    def open(self, draft_id: str) -> None:
        """The editor holds this draft from now on, or with "" none of them."""
        if draft_id != self.open_id:
            self.open_id = draft_id
            self._save_soon(**{OPEN_DRAFT: draft_id or None})

    def edit(self, text: str) -> None:
        """The text in the editor has changed."""
        draft = self.get(self.open_id)
        if draft is not None and draft.text != text:
            self._put(draft._replace(text=text, changed_at=self._now()))

    def rename(self, draft_id: str, title: str) -> None:
        draft = self.get(draft_id)
        if draft is not None:
            self._put(draft._replace(title=title))

    def leave(self, text: str, title: str = "") -> None:
        """Another text takes the editor: keep this one, unless it is blank."""
        draft_id = self.open_id
        self.open("")
        if not text.strip():
            self.remove((draft_id,))
        elif not draft_id:
            self._put(TextDraft(uuid4().hex, text, title, self._now()))

    def remove(self, ids: Iterable[str]) -> tuple[TextDraft, ...]:
        """Delete drafts; return them, for `restore`."""
        gone = set(ids)
        removed = tuple(draft for draft in self.rows if draft.id in gone)
        self.rows = tuple(draft for draft in self.rows if draft.id not in gone)
        if self.open_id in gone:
            self.open("")
        if removed:
            self._save_soon(**{DRAFT + draft.id: None for draft in removed})
        return removed

    def restore(self, drafts: Iterable[TextDraft]) -> None:
        for draft in drafts:
            self._put(draft)

    def _put(self, draft: TextDraft) -> None:
        others = [each for each in self.rows if each.id != draft.id]
        self.rows = tuple(sorted((*others, draft), key=lambda each: each.changed_at, reverse=True))
        value = {"text": draft.text, "title": draft.title, "changed_at": draft.changed_at.isoformat()}
        self._save_soon(**{DRAFT + draft.id: value})


def _draft_from(draft_id: str, kept: object) -> TextDraft | None:
    if not isinstance(kept, dict) or not str(kept.get("text") or "").strip():
        return None
    try:
        changed_at = datetime.fromisoformat(str(kept.get("changed_at")))
    except ValueError:
        changed_at = datetime.fromtimestamp(0, UTC)
    return TextDraft(draft_id, str(kept["text"]), str(kept.get("title") or ""), changed_at)


class TypedInDialog(NamedTuple):
    """The text of one field when its dialog opened, and when it was left."""

    before: str
    text: str


class DialogDrafts(QObject):
    """What was typed into the dialogs of a window and left with Esc or Cancel, until the window closes.

    Nothing of it goes to the disk: a dialog may belong to a private chat.
    """

    def __init__(self, window: QObject) -> None:
        super().__init__(window)
        self._texts: dict[str, dict[str, TypedInDialog]] = {}

    @classmethod
    def of(cls, window: QObject) -> DialogDrafts:
        """Return those of a window."""
        return window.findChild(cls) or cls(window)

    def keep(self, dialog: str, texts: Mapping[str, TypedInDialog]) -> None:
        """Keep the texts of the fields of a dialog by their names."""
        if texts:
            self._texts[dialog] = dict(texts)

    def take(self, dialog: str) -> dict[str, TypedInDialog]:
        """Return what was kept of a dialog, and forget it."""
        return self._texts.pop(dialog, {})
