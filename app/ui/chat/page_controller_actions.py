"""What the chat tab can do by name and by key beyond talking: versions, comparing, functions, searching, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.tab import TabAction

if TYPE_CHECKING:
    from app.ui.chat.page import ChatPage
    from app.ui.chat.page_controller import ChatPageController

Check = Callable[[], bool]


def controller_actions(page: ChatPage, asked: Check, stored: Check) -> tuple[TabAction, ...]:
    """`asked`: the open chat has a turn and is not being written; `stored`: it is on the disk."""
    presenter = page.presenter

    def run(work: Callable[[ChatPageController], object]) -> Callable[[], None]:
        def go() -> None:
            if presenter.conversation is not None:
                work(page.controller)

        return go

    def action(
        name: str,
        text: str,
        work: Callable[[ChatPageController], object],
        key: str = "",
        icon: str = "",
        menu: str = "tab",
        enabled: Check | None = None,
        words: str = "",
    ) -> TabAction:
        can = enabled or (lambda: presenter.conversation is not None)
        return TabAction(f"chat.{name}", text, run(work), key, icon, menu, enabled=can, words=words)

    def can_compare() -> bool:
        return presenter.conversation is not None and not presenter.opened.sealed

    def takes_structure() -> bool:
        return presenter.conversation is not None and presenter.head().controls.structure.usable

    def has_calls() -> bool:
        from app.ui.chat.session.tool_calls import calls_in  # the first frame has no answer

        answer = presenter.opened.thread.last_of("assistant") if asked() else None
        return answer is not None and bool(calls_in(answer))

    def retires() -> bool:
        deprecations = presenter.deprecations()
        return deprecations is not None and deprecations.can_replace

    messages = presenter.message_actions
    return (
        action("earlier", tr("Previous version"), lambda it: it.show_sibling(-1), "Alt+PgUp", "chevron-left"),
        action("later", tr("Next version"), lambda it: it.show_sibling(1), "Alt+PgDown", "chevron-right"),
        action(
            "question_up", tr("Previous question"), lambda _: page.main.view.step_question(-1), "Ctrl+Up", "arrow-up"
        ),
        action(
            "question_down", tr("Next question"), lambda _: page.main.view.step_question(1), "Ctrl+Down", "arrow-down"
        ),
        action("continue", tr("Continue answer"), lambda it: messages.continue_last(), "", "play", enabled=asked),
        action("edit_answer", tr("Edit answer"), lambda it: messages.edit_last_answer(), "", "pencil", enabled=asked),
        action(
            "compare", tr("Compare models…"), lambda it: it.open_comparing(), "Ctrl+J", "layers", enabled=can_compare
        ),
        action("beside", tr("Show answers side by side"), lambda it: it.show_last_columns(), "", "layers"),
        action(
            "changes",
            tr("Show changes in next model…"),
            lambda it: it.open_changes(),
            "",
            "clock",
            enabled=retires,
        ),
        action(
            "structure",
            tr("JSON output and functions…"),
            lambda it: it.open_structure(),
            "",
            "wrench",
            enabled=takes_structure,
            words=tr("schema tools structured"),
        ),
        action(
            "seal_checks", tr("What was checked…"), lambda it: it.open_seal(), "", "shield", words=tr("enclave seal")
        ),
        action(
            "calls", tr("Enter function results…"), lambda it: it.answer_last_calls(), "", "wrench", enabled=has_calls
        ),
        action(
            "move",
            tr("Move chat to project…"),
            lambda it: it.open_move_menu(),
            "Ctrl+Shift+O",
            "folder",
            enabled=stored,
            words=tr("folder sort organize"),
        ),
        action(
            "project_settings",
            tr("Project settings…"),
            lambda it: it.edit_project(),
            "Ctrl+Shift+Y",
            "settings",
            words=tr("instructions limit folder"),
        ),
        action(
            "documents",
            tr("Project documents…"),
            lambda it: it.open_documents(),
            "",
            "document",
            words=tr("files folders knowledge index"),
        ),
        action(
            "passages",
            tr("Attach passages from documents"),
            lambda it: it.find_passages(),
            "",
            "search",
            words=tr("files search ask question"),
        ),
        action(
            "handbook_project",
            tr("Project with Rialto’s handbook"),
            lambda it: it.open_handbook_project(),
            "",
            "folder",
            words=tr("documents try example passages"),
        ),
        action("project", tr("New project…"), lambda it: it.new_project(), "", "folder", "file"),
        action("find", tr("Find in this chat"), lambda it: it.open_find(), "", "search", "edit", enabled=stored),
        action("find_next", tr("Next match"), lambda it: it.step_find(1), "Ctrl+G", "chevron-down", "edit", stored),
        action(
            "find_previous", tr("Previous match"), lambda it: it.step_find(-1), "Ctrl+Shift+G", "chevron-up", "edit"
        ),
        action("search", tr("Search all chats"), lambda it: it.open_search(), "Ctrl+Shift+F", "search", "edit"),
        action(
            "export",
            tr("Export chat…"),
            lambda it: it.export(),
            "Ctrl+E",
            "download",
            "file",
            stored,
            tr("save markdown html"),
        ),
        action(
            "import",
            tr("Import chats…"),
            lambda it: it.import_chats(),
            "",
            "upload",
            "file",
            words=tr("open load chatgpt claude"),
        ),
        action(
            "open_trash",
            tr("Open trash"),
            lambda it: it.open_trash(),
            "",
            "trash",
            words=tr("deleted bin recycle restore"),
        ),
    )
