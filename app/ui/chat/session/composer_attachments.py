"""The composer's attachments: read and checked in a thread, on disk before they are shown as attached."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import number_format
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.chat.composer.attachment import READ_HERE_ONLY, Attachment, DocumentPlace, can_shrink, refusals
from app.ui.chat.state import AttachmentView

if TYPE_CHECKING:
    import asyncio

    from app.service.models import Model
    from app.storage.chat_store import ChatStore
    from app.ui.chat.composer.attachment_check import AttachmentCheckResult
    from app.ui.chat.session.open_chat import OpenChat

    Work = (
        Callable[[], AttachmentCheckResult] | tuple[str, DocumentPlace]
    )  # what makes the attachment, or text of a document

MOST_AT_ONCE = 30  # files of one drop; a folder of thousands was dropped by mistake
READ_TOGETHER = 2
PASTED = "Pasted image.png"


class _Item:
    """One chip. `attachment` is None while it is read, and when it cannot be attached: then `sentence` says why."""

    def __init__(self, key: str, name: str, kept: Attachment | None = None) -> None:
        self.key = key
        self.name = name
        self.attachment = kept
        # The file itself where its text is attached, or the other way round; or the text read in other encodings.
        self.others: tuple[Attachment, ...] = ()
        self.sentence = ""
        self.is_kept = kept is not None  # file and draft are on the disk

    @property
    def busy(self) -> bool:
        return not self.is_kept and not self.sentence


class ComposerAttachments(QObject):
    """Keeps `OpenChat.attachments` and tells what the chips show. `keep_draft` puts the draft on the disk."""

    changed = Signal(object)  # tuple[AttachmentView, ...]
    notice = Signal(object)  # a sentence for a toast

    def __init__(
        self,
        opened: OpenChat,
        run: Callable[..., None],
        keep_draft: Callable[[], Awaitable[None]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open = opened
        self._run = run
        self._keep_draft = keep_draft
        self._history: ChatStore | None = None
        self._items: list[_Item] = []
        self._keys = itertools.count()
        self.turn = 0  # grows with every other chat that is shown
        self._gate: asyncio.Semaphore | None = None
        self._told_views: tuple[AttachmentView, ...] = ()

    def start(self, history: ChatStore) -> None:
        self._history = history

    # What is shown

    def show_chat(self) -> None:
        """Another chat, or another turn, is in the box: take its attachments."""
        self.turn += 1
        self._items = [self._item(each) for each in self._open.attachments]
        self._open.reading = 0
        self._publish()

    def views(self) -> tuple[AttachmentView, ...]:
        """The chips as they are now; what the model refuses depends on the model."""
        said = dict(zip(self._open.attachments, refusals(self._open.attachments, self._open.model), strict=True))
        refused = any(said.values())
        better = self._open.account_models.cheapest(self._takes_all) if refused else None
        found = []
        for item in self._items:
            each = item.attachment
            if each is None or item.busy:
                found.append(AttachmentView(item.key, "text", item.name, "", item.sentence, item.busy))
                continue
            path = str(self._history.files.path(each.sha256)) if self._history and each.kind == "image" else ""
            why = said.get(each, "")
            shrinks = can_shrink(each) and not why
            view = AttachmentView(
                item.key, each.kind, each.name, each.detail, why, False, path, shrinks, can_open=each.place is not None
            )
            if item.others:
                words, tip = _switch_words(each, item.others[0])
                view = view._replace(other=words, other_tip=tip)
            if why and better is not None:
                view, better = view._replace(model_id=better.id, model_name=better.name), None  # on the first only
            found.append(view)
        return tuple(found)

    def _takes_all(self, model: Model) -> bool:
        return not any(refusals(self._open.attachments, model))

    # What the person does

    def add_files(self, paths: Sequence[Path], *, as_documents: bool = False) -> None:
        """Attach files that were dropped, pasted or picked, or are documents of the project."""
        from app.ui.chat.composer.attachment_check import check, read_file

        for path in list(paths)[:MOST_AT_ONCE]:
            place = DocumentPlace(str(path)) if as_documents else None
            self._add(path.name, lambda path=path, place=place: check(path.name, read_file(path), place))  # type: ignore[misc]  # bound
        if len(paths) > MOST_AT_ONCE:
            self.notice.emit(
                tr(
                    "The first {most_at_once} of {count} files are attached.",
                    most_at_once=MOST_AT_ONCE,
                    count=len(paths),
                )
            )

    def add_texts(self, texts: Sequence[tuple[str, str, DocumentPlace]]) -> None:
        """Attach texts of documents, each behind its name; one of a name that is attached already stays as it is."""
        names = {item.name for item in self._items}
        for name, text, place in texts:
            if name not in names:
                self._add(name, (text, place))

    def names(self) -> dict[str, str]:
        """The chips by their names: the key of each."""
        return {item.name: item.key for item in self._items}

    def attachment(self, key: str) -> Attachment | None:
        """What a chip stands for, None while it is read."""
        item = self._get(key)
        return item.attachment if item is not None else None

    def add_image(self, image: Any) -> None:
        """Attach an image of the clipboard, a `QImage`."""
        from app.ui.chat.composer.attachment_check import check, from_clipboard

        self._add(PASTED, lambda: check(PASTED, from_clipboard(image)))

    def remove(self, key: str) -> None:
        """Take a chip away; a file that is still being read is forgotten."""
        self._items = [item for item in self._items if item.key != key]
        self._take()
        self._run(self._keep_draft)

    def shrink(self, key: str) -> None:
        """Make an image smaller."""
        item = self._get(key)
        if item is None or item.attachment is None or self._history is None:
            return
        from app.ui.chat.composer.attachment_check import shrink

        before, files = item.attachment, self._history.files
        item.attachment, item.is_kept = None, False
        self._take()
        self._run(self._read, item, self.turn, lambda: shrink(before, files.read(before.sha256)), before)

    def switch(self, key: str) -> None:
        """Send the text of a document instead of the file or the other way round, or text in the next encoding."""
        item = self._get(key)
        if item is not None and item.attachment is not None and item.others:
            item.attachment, item.others = item.others[0], (*item.others[1:], item.attachment)
            self._take()
            self._run(self._keep_draft)

    # Reading

    def _add(self, name: str, work: Work) -> None:
        item = _Item(f"a{next(self._keys)}", name)
        self._items.append(item)
        self._take()
        self._run(self._read, item, self.turn, work, None)

    async def _read(self, item: _Item, turn: int, work: Work, before: Attachment | None) -> None:
        import asyncio  # not before the window is painted

        from app.ui.chat.composer.attachment_check import NotAttached, of_text
        from app.ui.chat.session.chat_documents import document_text

        history = self._history
        if history is None:
            item.sentence = tr("The history is still loading. Attach it again in a moment.")
            self._take()
            return
        if self._gate is None:
            self._gate = asyncio.Semaphore(READ_TOGETHER)

        def keep(each: AttachmentCheckResult) -> Attachment:
            return each.attachment._replace(sha256=history.files.keep(each.data))

        def read_and_keep() -> tuple[Attachment, tuple[Attachment, ...]]:
            checked = work() if callable(work) else of_text(item.name, *work)
            kept = keep(checked)
            text, remarks, why_not = document_text(kept, history.files.path(kept.sha256))
            if why_not:
                raise NotAttached(why_not)
            if not text:
                return kept, tuple(keep(each) for each in checked.others)
            note = tr("text of a {size} file", size=number_format.size(kept.size))
            note = f"{note}. {remarks}" if remarks else note
            as_text = keep(of_text(tr("{file}, all text", file=kept.name), text, note=note))
            is_sendable = kept.media_type not in READ_HERE_ONLY
            return as_text, (kept._replace(tokens=as_text.tokens),) if is_sendable else ()

        try:
            async with self._gate:
                item.attachment, item.others = await asyncio.to_thread(read_and_keep)
        except (NotAttached, StorageError) as error:
            item.attachment, item.sentence = before, "" if before is not None else error.sentence
            if before is not None:
                self.notice.emit(error.sentence)
        if turn != self.turn or item not in self._items:
            return  # another chat is open by now, or the chip was taken away
        self._take()
        try:
            await self._keep_draft()
        finally:  # a refused draft is kept with the next; what is attached can be sent
            item.is_kept = item.attachment is not None
            if turn == self.turn:
                self._take()

    def _take(self) -> None:
        self._open.attachments = tuple(item.attachment for item in self._items if item.attachment is not None)
        self._open.reading = sum(item.busy for item in self._items)
        self._publish()

    def follow(self) -> None:
        """Say again what the chips show when that is something else now, as with another model."""
        if self._items and self.views() != self._told_views:
            self._publish()

    def _publish(self) -> None:
        self._told_views = self.views()
        self.changed.emit(self._told_views)

    def _item(self, attachment: Attachment) -> _Item:
        return _Item(f"a{next(self._keys)}", attachment.name, attachment)

    def _get(self, key: str) -> _Item | None:
        return next((item for item in self._items if item.key == key), None)


def _switch_words(now: Attachment, other: Attachment) -> tuple[str, str]:
    """Return what a button says that sends `other` instead, and why one would."""
    if now.kind == other.kind == "text":
        return tr("Try another encoding"), tr(
            "The file does not say how its letters are stored. Choose what reads right."
        )
    tip = tr("The service uses only the file’s text. Rialto counts exactly what it reads here.")
    return (tr("Send its text") if other.kind == "text" else tr("Send the file")), tip
