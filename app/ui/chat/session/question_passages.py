"""Passages for what stands in the box: found when Send is pressed, shown as chips, and sent with the next press.

What was found is looked up again when the text is another one by then. What the person took out stays out until the
message is sent, and what they attached themselves is left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import DocumentPlace
from app.ui.chat.session.chat_documents import place_words

if TYPE_CHECKING:
    from app.ui.chat.session.chat_documents import ChatDocuments
    from app.ui.chat.session.composer_attachments import ComposerAttachments
    from app.ui.chat.session.open_chat import OpenChat

STILL_READING = tr("The documents are still being read. Send again to continue without waiting.")
STILL_READING_FOR_SEVERAL = tr("The documents are still being read. Compare again to continue without waiting.")


class QuestionPassages:
    """One for the box. `tell` says a sentence."""

    def __init__(
        self, opened: OpenChat, attaching: ComposerAttachments, documents: ChatDocuments, tell: Callable[[str], None]
    ) -> None:
        self._opened = opened
        self._attaching = attaching
        self._documents = documents
        self._tell = tell
        self.forget()

    def forget(self) -> None:
        """Another message is in the box."""
        self._looked_up: str | None = None
        self._found: set[str] = set()  # the names of chips that were put there
        self._out: set[str] = set()

    def are_wanted(self, text: str) -> bool:
        """Whether passages are to be looked up before this text is sent."""
        is_asked = bool(text.strip()) and not self._opened.edits_answer and text != self._looked_up
        return is_asked and self._opened.finds_passages

    async def find(self, text: str, *, for_several: bool = False) -> bool:
        """Show the passages for a text. Return whether there is anything to look at before it is sent.

        `for_several`: it is to be sent to several models, which the next press of Send would not do.
        """
        opened = self._opened
        project_id, turn = opened.project_id, self._attaching.turn
        if project_id is None:
            return False
        found, why = await self._documents.find(project_id, text)
        if turn != self._attaching.turn or opened.project_id != project_id or opened.sealed:
            return True  # another chat is in the box, or it takes no attachments by now
        there = self._attaching.names()
        self._out |= {name for name in self._found if name not in there}
        wanted = {place_words(each): each for each in found}
        wanted = {name: each for name, each in wanted.items() if name not in self._out}
        gone = (self._found & there.keys()) - wanted.keys()
        for name in gone:
            self._attaching.remove(there[name])
        new = wanted.keys() - there.keys()
        self._attaching.add_texts(
            [
                (name, each.text, DocumentPlace(each.path, each.first, each.last))
                for name, each in wanted.items()
                if name in new
            ]
        )
        self._found, self._looked_up = set(wanted), text
        if why:
            self._tell(why)
        if new:
            self._tell(
                tr_n(
                    "{n} passage is attached. Remove it if you do not want to send it, then compare again.",
                    "{n} passages are attached. Remove any you do not want to send, then compare again.",
                    len(wanted),
                )
                if for_several
                else tr_n(
                    "{n} passage is attached. Remove it if you do not want to send it, then send.",
                    "{n} passages are attached. Remove any you do not want to send, then send.",
                    len(wanted),
                )
            )
        elif not wanted and self._documents.progress(project_id).state in ("looking", "reading"):
            self._tell(STILL_READING_FOR_SEVERAL if for_several else STILL_READING)
            return True
        return bool(new or gone or why)
