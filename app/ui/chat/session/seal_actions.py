"""What the lock of the open chat does: seal it or not, check its enclave, and go on after a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.storage.errors import NoHistory
from app.translation import tr

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.chat_rows import Message
    from app.storage.settings import SettingsStore
    from app.ui.chat.presenter import ChatPresenter


class SealActions:
    """Every method that is not a coroutine returns at once; `ChatPresenter.seals` tells what came of it."""

    def __init__(self, presenter: ChatPresenter, settings: SettingsStore, tasks: TaskScope) -> None:
        self._presenter = presenter
        self._opened = presenter.opened
        self._settings = settings
        self._tasks = tasks

    def set_sealed(self, on: bool) -> None:
        """Seal the open chat, or not. A chat in which something was said stays what it is: a new one takes its place.

        What was said in the clear is known, and what was said sealed would be sent in the clear (R-TEE-13). That holds
        for what was deleted, which an undo brings back: a title tells, and for what is just being sent.
        """
        presenter, opened = self._presenter, self._opened
        if on == opened.sealed or (on and opened.lock().why_not):
            return
        if not opened.is_empty or opened.title or self._tasks.running("send"):
            options, model, text = opened.options, opened.chosen_model, opened.draft
            if not presenter.cancel_edit():  # the words go along, and the draft beside an edit stays
                presenter.set_draft("")
            presenter.new_chat(private=opened.private)
            opened.options, opened.chosen_model = options, model
            presenter.set_draft(text)
            presenter.draft_replaced.emit(text)
            presenter.notice.emit(
                tr("New sealed chat. It does not contain the earlier messages.")
                if on
                else tr("New chat without a seal.")
            )
        self._tasks.cancel("passages")  # the question would be embedded in the clear
        opened.sealed = on
        if not on and opened.chat_id is not None and presenter.conversation is not None:
            presenter.seals.wipe(opened.chat_id)
        presenter.keep_options({"options": opened.stored_options()})
        self.check()

    def check(self) -> None:
        """Check the enclave of the open chat ahead of its next message, unless it was checked a moment ago."""
        opened, presenter = self._opened, self._presenter
        # under keys that another model's would take the place of
        is_writing = opened.chat_id in presenter.writing()
        if opened.sealed and presenter.library is not None and not is_writing and not opened.why_not():
            self._tasks.replace("check-seal", presenter.guarded, self._check, ())

    def recheck(self) -> None:
        """Check the enclave of the open chat now, under keys of its own."""
        chat_id = self._opened.chat_id
        if chat_id is not None and chat_id not in self._presenter.writing():
            self._presenter.seals.wipe(chat_id)
        self.check()

    async def _check(self) -> None:
        presenter = self._presenter
        chat = await presenter.drafts.ensure_chat()
        presenter.publish_all()
        service, account = presenter.current_account.service, presenter.current_account.account
        if service is None or account is None or chat.id != self._opened.chat_id:
            return
        await presenter.seals.look(chat.id, account, service, self._opened.model_id)

    @property
    def asks(self) -> tuple[bool, bool]:
        """Whether the person agreed that Intel's servers are asked about enclaves, and NVIDIA's."""
        return self._settings.value.ask_intel, self._settings.value.ask_nvidia

    def ask_intel(self, on: bool) -> None:
        """Take the person's word, and check the open chat's enclave again with it."""
        self._settings.remember(ask_intel=on)
        self.recheck()

    def ask_nvidia(self, on: bool) -> None:
        """The same for NVIDIA's servers."""
        self._settings.remember(ask_nvidia=on)
        self.recheck()

    # After a refusal

    def take_back(self, answer: Message) -> None:
        """A sealed message whose seal failed is in the box again, unless there is something else in it."""
        opened = self._opened
        question = opened.thread.get(answer.parent_id)
        is_free = opened.editing is None and not opened.draft.strip() and not opened.attachments
        if opened.chat_id == answer.chat_id and question is not None and question.role == "user" and is_free:
            self._presenter.begin_edit(question.id)

    async def accept_enclave(self, message_id: str) -> None:
        """Ask again under the enclave that measures otherwise than the one first seen."""
        await self._presenter.seals.accept(self._opened.chat_id or "")
        await self._retry(message_id)

    async def send_packed(self, message_id: str) -> None:
        """Ask again with the earlier turns within the last message."""
        self._presenter.seals.pack(self._opened.chat_id or "")
        await self._retry(message_id)

    async def _retry(self, message_id: str) -> None:
        if self._presenter.conversation is None:
            raise NoHistory
        await self._presenter.conversation.retry(message_id)
