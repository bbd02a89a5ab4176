"""What the chat tab can do by name and by key, and what of it the palette opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.chat.page_controller_actions import controller_actions
from app.ui.chat.session.seal import ENCLAVE, PROMISES, SEALED
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction

if TYPE_CHECKING:
    from app.ui.chat.page import ChatPage
    from app.ui.chat.session.inspector_state import ModelRow
    from app.ui.chat.state import ChatEntry


def chat_actions(page: ChatPage) -> tuple[TabAction, ...]:
    """Every action of the tab, in the order of its menu."""
    presenter = page.presenter

    def stored() -> bool:
        return presenter.opened.chat_id is not None

    def can_be_read() -> bool:
        return stored() and not presenter.opened.sealed

    def asked() -> bool:
        return presenter.opened.thread.head_id is not None and not presenter.head().writing

    def option(name: str) -> bool:
        return bool(getattr(presenter.opened.asked_options, name))

    def usable(name: str) -> bool:
        control = getattr(presenter.head().controls, name)
        return bool(control.usable)

    return (
        TabAction("chat.new", tr("New chat"), lambda: page.new_chat(), "Ctrl+N", "plus", "file"),
        TabAction(
            "chat.new_private",
            tr("New private chat"),
            page.new_private_chat,
            "Ctrl+Shift+N",
            "eye-off",
            "file",
            words=tr("incognito temporary hidden"),
        ),
        TabAction(
            "chat.keep",
            tr("Keep this chat"),
            presenter.keep_open_chat,
            "",
            "save",
            "file",
            enabled=lambda: presenter.opened.private,
            words=tr("private save"),
        ),
        TabAction(
            "chat.model", tr("Choose a model…"), lambda: _done(page.open_model_picker()), "Ctrl+Shift+M", "sparkle"
        ),
        TabAction("chat.characters", tr("Characters…"), page.characters_requested.emit, "Ctrl+Shift+P", "mask"),
        TabAction(
            "chat.web",
            tr("Web search: off, auto, on"),
            presenter.cycle_web_search,
            "Ctrl+Shift+B",
            "globe",
            enabled=lambda: usable("web_search"),
            checked=lambda: presenter.opened.asked_options.web_search != "off",
        ),
        TabAction(
            "chat.citations",
            tr("Citations"),
            lambda: presenter.toggle("citations"),
            "Ctrl+Shift+X",
            "quote",
            enabled=lambda: usable("citations"),
            checked=lambda: option("citations"),
        ),
        TabAction(
            "chat.thinking",
            tr("Reasoning"),
            lambda: presenter.toggle("thinking"),
            "Ctrl+Shift+T",
            "bulb",
            enabled=lambda: usable("thinking"),
            checked=lambda: option("thinking"),
        ),
        TabAction(
            "chat.links",
            tr("Read links"),
            lambda: presenter.toggle("read_links"),
            "Ctrl+Shift+K",
            "link",
            enabled=lambda: usable("read_links"),
            checked=lambda: option("read_links"),
        ),
        TabAction(
            "chat.seal",
            tr("Seal chat"),
            lambda: presenter.seal_actions.set_sealed(not presenter.opened.sealed),
            "",
            "lock",
            enabled=lambda: not presenter.head().lock.why_not,
            checked=lambda: presenter.opened.sealed,
            words=tr("enclave encryption e2ee private tee"),
        ),
        TabAction(
            "chat.attach",
            tr("Attach files…"),
            lambda: page.box.attach(),
            "Ctrl+O",
            "attach",
            "file",
            enabled=lambda: usable("cache_attachments"),
            words=tr("upload image photo pdf document"),
        ),
        TabAction(
            "chat.prompts",
            tr("Prompt library…"),
            lambda: page.box.open_prompts(),
            "",
            "list",
            words=tr("system instructions templates"),
        ),
        TabAction("chat.presets", tr("Presets…"), lambda: page.box.open_presets(), "", "layers"),
        TabAction(
            "chat.retry",
            tr("Try again"),
            presenter.message_actions.retry_last,
            "Ctrl+R",
            "retry",
            enabled=asked,
            words=tr("regenerate again"),
        ),
        TabAction(
            "chat.stop",
            tr("Stop answer"),
            presenter.stop,
            "",
            "stop",
            enabled=lambda: presenter.head().writing,
            words=tr("cancel abort"),
        ),
        *controller_actions(page, asked, stored),
        TabAction("chat.copy", tr("Copy answer"), page.copy_answer, "Ctrl+Shift+C", "copy", words="clipboard"),
        TabAction(
            "chat.speak", tr("Read answer aloud"), lambda: _speak(page), "Ctrl+Shift+S", "speech", enabled=can_be_read
        ),
        TabAction("chat.edit_last", tr("Edit last message"), presenter.recall, "", "pencil", enabled=asked),
        TabAction(
            "chat.request",
            tr("Show request"),
            page.open_request,
            "Ctrl+Shift+E",
            "code",
            words="curl headers http json",
        ),
        TabAction(
            "chat.parameters",
            tr("Show parameters"),
            page.open_parameters,
            "",
            "settings",
            words=tr("temperature system prompt options settings"),
        ),
        TabAction("chat.next", tr("Next chat"), lambda: page.step(1), "Alt+Down", "arrow-down"),
        TabAction("chat.previous", tr("Previous chat"), lambda: page.step(-1), "Alt+Up", "arrow-up"),
        TabAction("chat.rename", tr("Rename chat"), page.rename, "F2", "pencil", enabled=stored),
        TabAction("chat.pin", tr("Pin or unpin chat"), page.toggle_pin, "Ctrl+D", "pin", enabled=stored),
        TabAction("chat.duplicate", tr("Duplicate chat"), page.duplicate, "Ctrl+Shift+D", "copy", enabled=stored),
        TabAction(
            "chat.trash",
            tr("Move chat to trash"),
            page.trash,
            "Del",
            "trash",
            enabled=stored,
            words=tr("delete remove bin"),
        ),
    )


def _done(_opened: object) -> None:
    """An action returns nothing; what it opened looks after itself."""


def chat_palette_items(page: ChatPage, entries: Sequence[ChatEntry], text: str, limit: int) -> tuple[PaletteItem, ...]:
    """Chats, then models, whose names hold every typed word."""
    words = SearchTerms(text)
    items = [
        PaletteItem(
            f"chat:{entry.id}",
            entry.title,
            entry.second_line,
            "chat",
            "open",
            partial(page.open_chat, entry.id),
        )
        for entry in islice(matching(entries, words, lambda entry: (entry.title, entry.second_line)), limit)
    ]
    models = page.presenter.account_models.list_for(page.presenter.opened.model_id).rows
    items += [
        PaletteItem(
            f"model:{row.id}",
            row.name,
            _use(row),
            "sparkle",
            "model",
            partial(page.presenter.use_model, row.id),
        )
        for row in models
        if words and words.are_in(row.name, row.id, *(badge for badge in PROMISES if badge in row.badges))
    ]
    return tuple(items[:limit])


def _use(row: ModelRow) -> str:
    """What choosing a model does, and whether it runs in an enclave."""
    if SEALED in row.badges:
        return tr("in use, can be sealed") if row.is_current else tr("use in this chat, can be sealed")
    if ENCLAVE in row.badges:
        return tr("in use, runs in an enclave") if row.is_current else tr("use in this chat, runs in an enclave")
    return tr("in use") if row.is_current else tr("use in this chat")


def _speak(page: ChatPage) -> None:
    """Ask for the newest answer's voice as its own button does, also while the answer is still being written."""
    row = next((row for row in reversed(page.rows()) if row.role == "assistant"), None)
    if row is not None:
        page.main.view.action.emit(row.id, "speak")
