"""The chat that is open: its messages, its options, what is typed but not sent. Plain state, no widget, no disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from app.core import number_format
from app.core.extra_json import parse_extra_json
from app.core.problems import ActionSpec, Problem
from app.service.http.size_limits import LIMIT_WORDS
from app.translation import tr
from app.ui.chat.composer.attachment import MAX_ALL_BYTES, Attachment, attachments_of, refusals, why_refused
from app.ui.chat.session.account_models import price_line, retires_text
from app.ui.chat.session.chat_options import ChatOptions, Control, Controls, judge, sealed_controls, sealed_options
from app.ui.chat.session.estimate import TokenCounter, count_tokens
from app.ui.chat.session.message_tree import MessageTree
from app.ui.chat.session.seal import SealIndicator, SealStatus, lock_of
from app.ui.chat.session.stored_chat import (
    CHARACTER_KEY,
    PARAMETERS_KEY,
    SEALED_KEY,
    STRUCTURE_KEY,
    card_of,
    character_of,
)
from app.ui.chat.session.structured_output import Structure
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.session.view_values import cost_note, estimate_branch, learn_from, report_in
from app.ui.chat.state import CharacterHead, ChatHead, CostNote
from app.ui.kit.qt_workarounds.garbage_collector import release

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.models import Model
    from app.storage.chat_rows import Chat, Message
    from app.storage.projects.project_store import Project
    from app.ui.chat.session.account_models import AccountModels
    from app.ui.chat.session.cached_model import CachedModel


NO_ATTACHMENTS = tr("Attachments are off in a private chat: they would be saved on this computer.")


class Draft(NamedTuple):
    """What is typed in a chat and not sent: its draft, and an earlier turn `edited_id` that is put in other words."""

    text: str
    attachments: tuple[Attachment, ...] = ()
    edited_id: str = ""
    edit_text: str = ""
    edit_attachments: tuple[Attachment, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.attachments or self.edited_id)

    def values(self) -> dict[str, Any]:
        """Return it as the fields of a `Chat`."""
        return {
            "draft": self.text,
            "draft_attachments": tuple(each.to_dict() for each in self.attachments),
            "edited_id": self.edited_id,
            "edit_text": self.edit_text,
            "edit_attachments": tuple(each.to_dict() for each in self.edit_attachments),
        }


class UnsavedDraft(NamedTuple):
    """What was in the box when a chat was left, until it is on the disk. `values` make the row where there is none."""

    opening: int
    chat_id: str | None
    values: dict[str, object]
    draft: Draft
    is_empty: bool  # no message in it


def typed_since(before: str, now: str) -> str | None:
    """What was typed or pasted into `before`, in one place, to make it `now`; None after any other change."""
    end = next((at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), len(before))
    rest = before[end:]
    return now[end : len(now) - len(rest)] if now[end:].endswith(rest) and len(now) >= len(before) else None


class WholeBranch(NamedTuple):
    """All of a long chat, with what takes milliseconds to count in it; `options` are those that it was counted for."""

    thread: MessageTree
    options: ChatOptions
    tokens: int
    report: tuple[str, int, int] | None

    @classmethod
    def of(cls, messages: Sequence[Message], head_id: str | None, options: ChatOptions) -> WholeBranch:
        """Put the messages together; runs in a thread."""
        thread = MessageTree.of(messages, head_id)
        shown = thread.shown()
        return cls(thread, options, estimate_branch(options, shown), report_in(options, shown))


class OpenChat:
    """`chat_id` is None for a chat that is not on disk yet. `editing` is the id of the turn in the box, or None."""

    def __init__(self, current_account: CurrentAccount, account_models: AccountModels) -> None:
        self.current_account = current_account
        self.account_models = account_models
        self.counter = TokenCounter()
        self.chat_id: str | None = None
        self.has_history = True  # False once a person went on without it
        self.opening = 0  # goes up with each chat that is opened, new ones too
        self.title = ""
        self.thread = MessageTree()
        self.options = ChatOptions()
        self.structure = Structure()
        self.chosen_model = ""  # "" until the person or the character chose one: then the default counts
        self.character: CharacterHead | None = None
        self.project_id: str | None = None
        self.project_of: Callable[[str | None], Project | None] = lambda _project_id: None
        self.documents_of: Callable[[str], tuple[str, ...]] = lambda _project_id: ()
        self.question_cost: Callable[[str, str], Decimal | None] = lambda _project_id, _text: None
        self.private = False  # it is in memory alone
        self.sealed = False  # what is said goes to the model's enclave sealed, or not at all
        self.seal_status: Callable[[str | None], SealStatus] = lambda _chat_id: SealStatus()
        self.usual_options = ChatOptions()  # what the new chat began with
        self.draft = ""
        self.editing: str | None = None
        self.queued = False  # the box is sent as soon as the answer under way is complete
        self.set_aside = ""  # the draft from before an earlier turn was taken into the box
        self.attachments: tuple[Attachment, ...] = ()  # of the draft, or of the turn that is edited
        self.attachments_aside: tuple[Attachment, ...] = ()
        self.reading = 0  # files that are still being read and checked
        self.problem: Problem | None = None
        self.is_whole = True  # a long chat shows its newest messages first; nothing is sent before the rest is there
        self.is_coming = False  # an earlier chat is about to be opened in place of this one
        self._branch_tokens: int | None = None

    # Opening

    def open_new(
        self, *, character: CharacterHead | None = None, project_id: str | None = None, private: bool = False
    ) -> None:
        """An empty chat with the usual options, or with those of a project."""
        self._clear()
        self.private = private
        self.project_id = project_id
        self.options = self.usual_options = self.fresh_options()
        project = self.project
        if project is not None:
            self.chosen_model = project.model
            character = character or character_of(project)
        self.character = character
        if character is not None and self.account_models.get(character.model_id) is not None:
            self.chosen_model = character.model_id

    def fresh_options(self) -> ChatOptions:
        """What a new chat starts with. In the Sandbox a search costs nothing, and answers then show their sources."""
        web_search = "auto" if self.current_account.is_sandbox else "off"
        project = self.project
        own = project.options.get(PARAMETERS_KEY) if project is not None else None
        if isinstance(own, Mapping):
            return ChatOptions.from_dict(own)
        return ChatOptions.from_dict({"web_search": web_search, **self.account_models.settings.value.chat_defaults})

    @property
    def project(self) -> Project | None:
        """The project that the chat is in, None for one in the trash."""
        return self.project_of(self.project_id) if self.project_id is not None else None

    def follow_defaults(self) -> bool:
        """Let a chat that nothing was done with yet begin as one does now; whether that changed it."""
        fresh = self.fresh_options()
        if self.chat_id is not None or not self.is_empty or self.options != self.usual_options or self.options == fresh:
            return False
        self.options = self.usual_options = fresh
        return True

    def open(self, chat: Chat, messages: tuple[Message, ...], *, whole: bool = True) -> None:
        """A chat from the disk; `whole` False while only its newest messages are there."""
        self._clear()
        self.is_whole = whole
        self.chat_id = chat.id
        self.account_id = chat.account_id
        self.title = chat.title
        self.thread = MessageTree.of(messages, chat.head_id)
        self.options = ChatOptions.from_dict(chat.options)
        self.structure = Structure.from_stored(chat.options.get(STRUCTURE_KEY))
        # what was said sealed is never sent in the clear, whatever became of the row
        self.sealed = chat.options.get(SEALED_KEY) is True or any("seal" in each.usage for each in messages)
        self.chosen_model = chat.model
        self.project_id = chat.project_id
        self.character = character_of(chat)
        self.take_draft(
            Draft(
                chat.draft,
                attachments_of(chat.draft_attachments),
                chat.edited_id,
                chat.edit_text,
                attachments_of(chat.edit_attachments),
            )
        )
        if whole:  # the report is on the whole branch
            learn_from(self.counter, self.sent_options, self.thread.shown())

    def _clear(self) -> None:
        release([*self.thread.all(), self.thread])
        self.opening += 1
        self.private = False
        self.chat_id, self.account_id, self.title, self.thread = None, "", "", MessageTree()
        self.options, self.structure, self.chosen_model, self.character = ChatOptions(), Structure(), "", None
        self.draft, self.editing, self.queued, self.set_aside, self.sealed = "", None, False, "", False
        self.attachments, self.attachments_aside, self.reading = (), (), 0
        self.project_id = None
        self.problem, self._branch_tokens, self.is_whole, self.is_coming = None, None, True, False

    def complete(self, whole: WholeBranch) -> None:
        """The rest of a long chat has come. What changed since that was read is in the thread of before."""
        thread = whole.thread
        is_as_read = thread.head_id == self.thread.head_id and whole.options == self.sent_options
        for message in self.thread.all():
            if thread.get(message.id) != message:
                thread.put(message)
                is_as_read = False
        thread.head_id = self.thread.head_id
        self.thread = thread
        self.is_whole = True
        self._branch_tokens = whole.tokens if is_as_read else None
        if whole.report is not None:
            self.counter.learn(*whole.report)

    # What it is

    @property
    def model_id(self) -> str:
        return self.chosen_model or self.account_models.default_id()

    @property
    def model(self) -> Model | None:
        return self.account_models.get(self.model_id)

    @property
    def other_account(self) -> str:
        """The name of the account that this chat was sent to, where the next message would go to another; else ""."""
        if self.is_empty or not self.account_id:
            return ""
        current = self.current_account.account
        if current is None or current.id == self.account_id:
            return ""
        return self.current_account.mark_of(self.account_id) or tr("another account")

    def account_question(self) -> Problem | None:
        """What is asked once before a chat is continued with another account."""
        other, current = self.other_account, self.current_account.account
        if not other or current is None:
            return None
        return Problem(
            tr("This chat was sent to {other}", other=other),
            tr("If you continue, everything in it is sent to {name}.", name=current.name),
            primary=ActionSpec("continue-here", tr("Continue with {name}", name=current.name)),
            severity="quiet",
            icon="info",
        )

    @property
    def is_empty(self) -> bool:
        return self.thread.head_id is None

    @property
    def character_slug(self) -> str | None:
        return self.character.slug if self.character is not None and not self.sealed else None

    @property
    def asked_options(self) -> ChatOptions:
        """The options without what the seal forbids."""
        return sealed_options(self.options) if self.sealed else self.options

    @property
    def sent_options(self) -> ChatOptions:
        """The same with the project's instructions before the chat's own system prompt."""
        asked, project = self.asked_options, self.project
        parts = (project.instructions if project is not None else "", asked.system_prompt)
        return asked._replace(system_prompt="\n\n".join(each for each in parts if each.strip()))

    @property
    def asked_structure(self) -> Structure:
        return Structure() if self.sealed else self.structure

    def lock(self) -> SealIndicator:
        """Whether this chat is sealed, and what is known of that."""
        seal_status = self.seal_status(self.chat_id)
        return lock_of(
            self.model,
            seal_status,
            is_on=self.sealed,
            has_character=self.character is not None,
            in_sandbox=self.current_account.is_sandbox,
        )

    def stored_options(self) -> dict[str, object]:
        """The options and the character's card as they lie in the chat's row."""
        stored = self.options.to_dict()
        if self.structure != Structure():
            stored[STRUCTURE_KEY] = self.structure.to_stored()
        if self.sealed:
            stored[SEALED_KEY] = True
        if self.character is not None:
            stored[CHARACTER_KEY] = card_of(self.character)
        return stored

    def stored_values(self) -> dict[str, object]:
        """Everything of it that belongs to the chat's row, for creating it."""
        return {
            "account_id": self.current_account.account.id if self.current_account.account is not None else "",
            "model": self.model_id,
            "character_slug": self.character.slug if self.character is not None else None,
            "character_name": self.character.name if self.character is not None else None,
            "options": self.stored_options(),
            "project_id": self.project_id,
            **({"private": True} if self.private else {}),
        }

    def head(self, *, writing: bool) -> ChatHead:
        """What header, inspector and composer show."""
        model, project = self.model, self.project
        glimpse = self.account_models.glimpse(self.chosen_model) if model is None else None
        known = model or glimpse
        defaults = _sampling_defaults(model)
        last = self.thread.last_of("assistant")
        cached = last.usage.get("cached") if last is not None else 0
        why_not = self.why_not()
        has_input = bool(self.draft.strip() or self.attachments) and not self.reading and not self._refused()
        ready = self.current_account.service is not None and bool(self.model_id) and self.is_whole
        return ChatHead(
            chat_id=self.chat_id,
            title=self.title or NEW_CHAT,
            model_id=self.model_id,
            model_name=glimpse.name if glimpse is not None else self.account_models.name_of(self.model_id),
            model_missing=self.account_models.is_missing(self.model_id),
            context_tokens=known.context_tokens if known is not None else None,
            price_line=price_line(model) if model is not None else glimpse.price_line if glimpse is not None else "",
            retires=retires_text(model) if model is not None else "",
            character=self.character,
            options=self.asked_options,
            structure=self.asked_structure.summary(),
            instructing=project.name if project is not None and project.instructions.strip() else "",
            controls=self.controls(known),
            has_documents=self.has_documents,
            lock=self.lock(),
            default_temperature=defaults.get("temperature"),
            default_top_p=defaults.get("top_p"),
            efforts=model.capabilities.reasoning_efforts if model is not None else (),
            default_effort=model.capabilities.default_reasoning_effort if model is not None else "",
            max_reply_tokens=model.model_spec.max_completion_tokens if model is not None else None,
            prompt_tokens=self.counter.corrected(self.model_id, count_tokens(self.sent_options.system_prompt)),
            cache_key=self.chat_id or "",
            cached_tokens=cached if isinstance(cached, int) else 0,
            writing=writing,
            is_empty=self.is_empty,
            is_coming=self.is_coming,
            editing=self.editing is not None,
            edits_answer=self.edits_answer,
            is_taken_back=self.sealed
            and self.editing is not None
            and last is not None
            and last.parent_id == self.editing
            and last.state != "complete",
            queued=self.queued,
            is_sandbox=self.current_account.is_sandbox,
            has_account=self.current_account.account is not None,
            private=self.private,
            can_send=not why_not,
            why_not=why_not,
            says_why_not=bool(why_not) and ready and has_input,
            problem=self.problem or self.account_models.blocking_problem or self.account_question(),
        )

    def controls(self, model: Model | CachedModel | None) -> Controls:
        """Which options have an effect in this chat."""
        controls = sealed_controls() if self.sealed else judge(self.options, model)
        off = Control(False, NO_ATTACHMENTS)
        return controls._replace(cache_attachments=off, documents=off) if self.private else controls

    @property
    def has_documents(self) -> bool:
        """Whether the chat's project follows any files."""
        return self.project_id is not None and bool(self.documents_of(self.project_id))

    @property
    def finds_passages(self) -> bool:
        """Whether the project's documents are looked through before a message is sent."""
        return self.has_documents and self.options.documents and self.controls(self.model).documents.usable

    def why_not(self) -> str:
        """Why nothing can be sent now, "" when it can."""
        if not self.has_history:
            return tr("Rialto could not open its history, so nothing can be sent.")
        if not self.is_whole:
            return tr("The chat is still opening.")
        if self.edits_answer:
            return ""  # it is kept here and nobody is asked
        if self.current_account.service is None or not self.model_id:
            blocking = self.account_models.blocking_problem
            return blocking.what + "." if blocking is not None else _why_not(self.current_account)
        if self.other_account:
            return self.why_not_account()
        if self.reading:
            return tr("An attachment is still loading.")
        refused = self._refused()
        if refused:
            return tr("{refused} Remove it, or choose another model.", refused=refused)
        earlier = self._earlier_bytes() if self.attachments else 0
        together = earlier + sum(each.size for each in self.attachments)
        if earlier and together > MAX_ALL_BYTES:
            return tr(
                "Attachments from earlier messages are sent again. With these they are {size}, and the limit is"
                " {limit_words}. Remove some, or start a new chat.",
                size=number_format.size(together),
                limit_words=LIMIT_WORDS,
            )
        if self.sealed:
            return self.why_not_sealed()
        extra_fault = parse_extra_json(self.options.extra_json)[1] and tr("Extra JSON in Parameters is incomplete.")
        return self.structure.fault() or extra_fault

    def why_not_account(self) -> str:
        """Why nothing is sent before the person agreed to another account, "" where none is needed."""
        other = self.other_account
        return (
            tr("This chat was sent to {other}. Agree to continue it with another account.", other=other)
            if other
            else ""
        )

    def why_not_sealed(self) -> str:
        """Why a sealed chat cannot be sent as it is, "" for any other; it is never sent without its seal."""
        if not self.sealed:
            return ""
        controls = sealed_controls()
        if self.model is not None and not self.model.capabilities.supports_e2ee:
            return tr(
                "{name} cannot be sealed. Choose a model with the badge “Sealed”, or start a new chat.",
                name=self.model.name,
            )
        return controls.cache_attachments.why if self.attachments else ""

    def _refused(self) -> str:
        """Why the first attachment that the model does not take cannot be sent; its chip says so, too."""
        return next((each for each in refusals(self.attachments, self.model) if each), "")

    def _earlier_bytes(self) -> int:
        """Bytes of attachments in earlier turns that go along with the next one, as they lie on the disk."""
        total = 0
        edited = self.thread.get(self.editing)  # also where another branch is shown
        for message in self.thread.shown() if edited is None else self.thread.path(edited.parent_id):
            if message.attachments:
                group = attachments_of(message.attachments)
                total += sum(each.size for each in group if not why_refused(each, self.model))
        return total

    @property
    def edits_answer(self) -> bool:
        """Whether the box holds an answer that is being put in other words."""
        edited = self.thread.get(self.editing)
        return edited is not None and edited.role == "assistant"

    def left(self) -> UnsavedDraft:
        """The draft as it is now, for the moment in which another chat takes the box."""
        return UnsavedDraft(self.opening, self.chat_id, self.stored_values(), self.kept_draft(), self.is_empty)

    def kept_draft(self) -> Draft:
        """What the disk is to hold: the chat's own draft, and the turn in the box beside it."""
        if self.editing is None:
            return Draft(self.draft, self.attachments)
        return Draft(self.set_aside, self.attachments_aside, self.editing, self.draft, self.attachments)

    def take_draft(self, kept: Draft) -> None:
        """Put into the box what was kept: the turn that was being edited, where it is still there, or the draft."""
        self.editing, self.draft, self.attachments = None, kept.text, kept.attachments
        self.set_aside, self.attachments_aside = "", ()
        if self.thread.get(kept.edited_id) is not None:
            self.begin_edit(kept.edited_id, kept.edit_text, kept.edit_attachments)

    def begin_edit(self, message_id: str, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Put an earlier turn into the box; the draft waits beside it."""
        if self.editing is None:
            self.set_aside, self.attachments_aside = self.draft, self.attachments
        self.editing, self.draft, self.attachments, self.queued = message_id, text, attachments, False

    def end_edit(self, typed: str = "") -> None:
        """Give the box back its draft, with what was `typed` since the turn was sent behind it."""
        self.draft, self.attachments = self.set_aside + typed, self.attachments_aside
        self.editing, self.set_aside, self.attachments_aside = None, "", ()

    def cost(self) -> CostNote:
        """The most that sending the box now can cost; nothing for words that are only kept."""
        if self.edits_answer:
            return CostNote()
        return cost_note(
            model=self.model,
            model_id=self.model_id if self.account_models.is_missing(self.model_id) else "",
            options=self.asked_options,
            counter=self.counter,
            branch_tokens=self.branch_tokens(),
            draft=self.draft,
            has_character=self.character is not None,
            sandbox=self.current_account.is_sandbox,
            attachment_tokens=sum(each.tokens for each in self.attachments),
            finding=self.question_cost(self.project_id, self.draft)
            if self.project_id is not None and self.finds_passages and self.draft.strip()
            else None,
        )

    def branch_tokens(self) -> int:
        """Estimated tokens of the branch on screen; reckoned once for each state of it."""
        if self._branch_tokens is None:
            self._branch_tokens = estimate_branch(self.sent_options, self.thread.shown())
        return self._branch_tokens

    def changed(self) -> None:
        """Messages or options are others now."""
        self._branch_tokens = None


def _sampling_defaults(model: Model | None) -> dict[str, float]:
    """The model's own temperature and top-p, where its record states them."""
    found: dict[str, float] = {}
    for name in ("temperature", "top_p"):
        entry = model.model_spec.constraints.get(name) if model is not None else None
        value = entry.get("default") if isinstance(entry, Mapping) else None
        if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            found[name] = float(value)
    return found


def _why_not(current_account: CurrentAccount) -> str:
    if current_account.account is None:
        return tr("Choose an account, or work in the Sandbox.")
    if current_account.is_locked:
        return tr("Unlock your keys first.")
    return tr("The model list has not loaded yet.") if current_account.service is not None else tr("Not connected yet.")
