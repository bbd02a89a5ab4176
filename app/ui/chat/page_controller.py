"""What the chat tab opens beside the conversation: search, find, trash, columns, and the dialogs of a chat.

Made with its first use; the page itself is what is there from the start.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.file_saving import save_file
from app.core.money import spent
from app.core.number_format import count
from app.core.other_model import look_up_model
from app.core.problems import ActionSpec
from app.service.http.sanitize import sanitize_line
from app.translation import tr, tr_n
from app.ui.chat.chat_picker import ChatPickerDialog
from app.ui.chat.find_bar import FindBar
from app.ui.chat.models.changes_dialog import ChangesDialog
from app.ui.chat.models.compare_pane import ComparePane
from app.ui.chat.models.compare_picker import ComparePicker
from app.ui.chat.page_menus import open_move_menu
from app.ui.chat.session.structured_output import refusals
from app.ui.chat.session.view_values import cap_text
from app.ui.chat.sidebar.chat_search import SearchPane
from app.ui.chat.state import MAX_PROJECT_NAME_CHARS
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.forms.other_model_dialog import ask_other_model
from app.ui.kit.leaving_strip import LeavingStrip
from app.ui.kit.tab_order import put_in_order
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.banner import Banner, BannerSpec
from app.ui.kit.widgets.dialogs import Dialog, ask_text, confirm
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.core.other_model import OtherModel
    from app.core.tasks import TaskScope
    from app.ui.chat.page import ChatPage
    from app.ui.chat.seal_dialog import SealDialog
    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.theme import Theme

PRIVATE = (tr("Private chat."), tr("Nothing in it is saved on this computer, except receipts without text."))
NO_PROJECT = tr("This chat is not in a project. Documents belong to projects.")
MOST_PATHS_SHOWN = 12  # in a question
IMPORTABLE = (".json", ".jsonl", ".zip")


class ChatPageController(QObject):
    """Connects the parts with the page and its presenter; decides nothing itself."""

    def __init__(self, page: ChatPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks
        self._compared: tuple[str, ...] = ()  # models that were asked together last
        presenter = page.presenter
        presenter.calls_requested.connect(self.answer_calls)
        presenter.row_requested.connect(self._show_row)
        presenter.reported.connect(self._report)
        presenter.follow_asked.connect(self._ask_to_follow)

    def connect_parts(self) -> None:
        """Hear the conversation, which is there now."""
        conversation = self._page.presenter.conversation
        assert conversation is not None
        self._page.main.header.export_requested.connect(lambda: self.export())
        self._page.list.search_requested.connect(self.open_search)
        self._page.presenter.head_changed.connect(lambda _head: self._show_deprecations())
        self._page.presenter.models_changed.connect(lambda _models: self._show_deprecations())
        self._page.presenter.current_account.leaving.changed.connect(self._show_deprecations)
        conversation.comparison_changed.connect(self._show_comparison)
        conversation.compared_row_changed.connect(lambda row: self.comparison.update_row(row))
        conversation.compared_text_arrived.connect(lambda *came: self.comparison.append(*came))
        conversation.compared_texts_replaced.connect(lambda *texts: self.comparison.replace_texts(*texts))
        conversation.compared_ended.connect(lambda row_id: self.comparison.end(row_id))
        conversation.rows_reset.connect(lambda _rows: self._recount())
        conversation.stream_ended.connect(lambda _row: self._recount())

    def _is_made(self, name: str) -> bool:
        return name in self.__dict__

    # The left pane

    @cached_property
    def search(self) -> SearchPane:
        """The search over all chats, in place of the list."""
        pane = SearchPane(self._theme)
        presenter = self._page.presenter
        pane.search_requested.connect(lambda text: presenter.search(text, pane.project_id))
        presenter.hits_found.connect(pane.show_hits)
        pane.hit_chosen.connect(self._open_hit)
        pane.left.connect(self.leave_list)
        return pane

    def open_search(self, project_id: str = "") -> None:
        """Search all chats, or those of a project, beginning with what stood in the filter."""
        self._put_in_list(self.search)
        projects = self._page.presenter.projects
        self.search.offer_projects([(each.id, each.title) for each in projects.entries()], project_id)
        self.search.open(self._page.list.filter.text())

    def open_trash(self) -> None:
        self.leave_list()
        self._page.show_chat()
        self._page.list.open_trash()
        if not self._page.zones.list_open:
            self._page.toggle_list()

    def _put_in_list(self, pane: SearchPane) -> None:
        self._page.show_chat()
        stack = self._page.list_pane()
        assert isinstance(stack, QStackedWidget)
        if stack.indexOf(pane) < 0:
            stack.addWidget(pane)
            put_in_order((self._page.list.view, *pane.stops))
        stack.setCurrentWidget(pane)
        if not self._page.zones.list_open:
            self._page.toggle_list()

    def leave_list(self) -> bool:
        """Show the chats again; False when they are shown."""
        stack = self._page.list_pane()
        assert isinstance(stack, QStackedWidget)
        if self._page.guest is None and self._page.list.leave_trash():
            return True
        if stack.currentWidget() is self._page.list or self._page.guest is not None:
            return False
        self._page.list.view.setFocus(Qt.FocusReason.OtherFocusReason)  # else Qt goes to its first button meanwhile
        stack.setCurrentWidget(self._page.list)
        self._page.list.view.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _open_hit(self, chat_id: str, message_id: str, text: str) -> None:
        self._page.presenter.open_hit(chat_id, message_id, text)
        if self._page.zones.list_overlay and self._page.zones.list_open:
            self._page.toggle_list()

    # Projects

    def new_project(self, chat_ids: tuple[str, ...] = ()) -> None:
        """Ask for a name, then make a project with these chats in it."""
        self._tasks.start_unless_running("new-project", self._new_project, chat_ids)

    async def _new_project(self, chat_ids: tuple[str, ...]) -> None:
        name = await ask_text(
            self._theme,
            self._page.main,
            tr("New project"),
            tr("Name"),
            action=tr("Create"),
            max_chars=MAX_PROJECT_NAME_CHARS,
        )
        if name:
            self._page.presenter.projects.create(name, chat_ids)
            self._page.list.filter.clear()  # the new one is in sight
            announce(self._page.main, tr("Project “{name}” created.", name=name))

    def open_handbook_project(self) -> None:
        """Begin a chat in the project whose documents are Rialto's handbook: something to try documents on."""
        self._page.presenter.do(self._open_handbook_project)

    async def _open_handbook_project(self) -> None:
        project_id = await self._page.presenter.projects.with_handbook()
        self._page.new_chat(project_id)

    def rename_project(self, project_id: str) -> None:
        self._tasks.start_unless_running("rename-project", self._rename_project, project_id)

    async def _rename_project(self, project_id: str) -> None:
        projects = self._page.presenter.projects
        project = projects.entry(project_id)
        if project is None:
            return
        name = await ask_text(
            self._theme,
            self._page.main,
            tr("Rename project"),
            tr("Name"),
            value=project.title,
            max_chars=MAX_PROJECT_NAME_CHARS,
        )
        if name:
            projects.change(project_id, name=name)

    @cached_property
    def private(self) -> Banner:
        """Says under the header that the chat is in memory alone."""
        keep = ActionSpec("keep", tr("Keep this chat"))
        banner = Banner(self._theme, BannerSpec("info", *PRIVATE, "eye-off", (keep,)))
        banner.action.connect(lambda _action: self._page.presenter.keep_open_chat())
        banner.hide()
        self._page.main.add_on_top(banner)
        return banner

    def show_private(self, private: bool) -> None:
        """Mark the open chat as private, or not."""
        if private or self._is_made("private"):
            is_new = private and self.private.isHidden()
            self.private.setVisible(private)
            if is_new:
                announce(self.private, " ".join(PRIVATE))

    def ask_private(self, chat_ids: tuple[str, ...]) -> None:
        self._tasks.start_unless_running("ask-private", self._ask_private, chat_ids)

    async def _ask_private(self, chat_ids: tuple[str, ...]) -> None:
        await self.leave_private(chat_ids)

    async def leave_private(self, chat_ids: tuple[str, ...]) -> bool:
        """Ask whether private chats are kept or forgotten, and do it; False when the person stays."""
        presenter = self._page.presenter
        count = len(chat_ids)
        name = presenter.title_of(chat_ids[0]) if count else ""
        title = tr_n("Keep the private chat “{name}”?", "Keep {n} private chats?", count, name=name)
        dialog = Dialog(self._theme, self._page.main, title)
        text = tr_n(
            "It is not saved on this computer. Once discarded, it cannot be restored.",
            "They are not saved on this computer. Once discarded, they cannot be restored.",
            count,
        )
        dialog.body.addWidget(Label(self._theme, text, role="text2", wrap=True))
        dialog.add_button(tr("Cancel"), accepts=False)
        discard = dialog.add_button(tr("Discard"), kind="danger", accepts=True)
        keep = dialog.add_button(
            tr_n("Keep this chat", "Keep {n} chats", count), kind="primary", accepts=True, default=True
        )
        pressed: list[object] = []
        discard.clicked.connect(lambda: pressed.append(discard))
        keep.setFocus()
        if not await dialog.answer():
            return False
        if pressed:
            await presenter.discard_private(chat_ids)
            return True
        return await presenter.keep_private(chat_ids)

    def edit_project(self, project_id: str | None = None) -> None:
        """Show a project's page: the one named, else the one that the keyboard is at, else the open chat's."""
        page = self._page
        wanted = project_id or page.list.current_project() or page.presenter.opened.project_id
        if wanted is not None:
            self._tasks.start_unless_running("edit-project", self._edit_project, wanted)
        else:
            page.toast_requested.emit(tr("This chat is not in a project, so it has no project settings."))

    async def _edit_project(self, project_id: str) -> None:
        from app.ui.chat.project_dialog import ProjectChoices, ProjectDialog

        presenter = self._page.presenter
        projects = presenter.projects
        form = projects.form(project_id)
        if form is None:
            return
        opened = presenter.opened
        models = presenter.account_models.list_for(opened.model_id).rows
        presets = presenter.presets.parameters() if presenter.presets is not None else ()
        options = opened.options._replace(system_prompt="").to_dict()
        choices = ProjectChoices(
            [(row.id, row.name) for row in models],
            (opened.character,) if opened.character is not None else (),
            [(tr("Same as the open chat"), options), *presets],
        )
        chats, messages = projects.totals(project_id)
        real, play = await projects.spent(project_id)
        totals = [
            (tr("Chats"), count(chats)),
            (tr("Messages"), count(messages)),
            (tr("Spent"), spent(*real)),
            *([(tr("Play money"), spent(*play))] if play.usd else []),
        ]
        if presenter.documents.paths(project_id):
            totals.append((tr("Documents"), count((await presenter.documents.overview(project_id)).files)))
        dialog = ProjectDialog(self._theme, self._page.main, form, choices, totals, project_id=project_id)
        dialog.documents.clicked.connect(
            lambda: self._tasks.start_unless_running("documents", self._open_documents, project_id, dialog)
        )
        if await dialog.answer():
            projects.keep(project_id, dialog.form)

    def open_documents(self, project_id: str | None = None) -> None:
        """Show a project's documents: the one named, else the one that the keyboard is at, else the open chat's."""
        page = self._page
        wanted = project_id or page.list.current_project() or page.presenter.opened.project_id
        if wanted is not None:
            self._tasks.start_unless_running("documents", self._open_documents, wanted, page.main)
        else:
            page.toast_requested.emit(NO_PROJECT)

    async def _open_documents(self, project_id: str, parent: QWidget) -> None:
        from app.ui.chat.documents_dialog import DocumentsDialog

        presenter = self._page.presenter
        await DocumentsDialog(self._theme, parent, presenter.documents, project_id, self._tasks).answer()

    def find_passages(self) -> None:
        """Attach the passages for what stands in the box, so that they are seen before anything is sent."""
        presenter = self._page.presenter
        project_id = presenter.opened.project_id
        if project_id is None:
            self._page.toast_requested.emit(NO_PROJECT)
        elif not presenter.documents.paths(project_id):
            self.open_documents(project_id)
        elif not presenter.opened.draft.strip():
            self._page.toast_requested.emit(tr("Write a question first. Rialto searches the documents for its words."))
        elif not (control := presenter.head().controls.documents).usable:
            self._page.toast_requested.emit(control.why)
        else:
            self._tasks.start_unless_running("passages", self._find_passages, presenter.opened.draft)

    async def _find_passages(self, text: str) -> None:
        passages = self._page.presenter.passages
        if passages is not None and not await passages.find(text):
            self._page.toast_requested.emit(tr("No more passages match what you wrote."))

    def export_project(self, project_id: str) -> None:
        """Ask for the file, then write a project with all its chats."""
        from app.ui.chat.export_dialog import ask_where_project

        project = self._page.presenter.projects.entry(project_id)
        if project is not None:
            ask_where_project(
                self._page.main,
                project.title,
                lambda path: self._page.presenter.transfers.export_project(project_id, path),
            )

    def open_move_menu(self) -> None:
        """Ask which project the chats that are selected go to, or the open one."""
        page = self._page
        opened = page.presenter.opened.chat_id
        chat_ids = page.list.selected_chats() or ((opened,) if opened is not None else ())
        if chat_ids:
            place = page.list.view.viewport()
            open_move_menu(page, chat_ids, place.mapToGlobal(place.rect().center()))

    def put_message(self, message_id: str, *, move: bool) -> None:
        """Ask which chat a message with its question and answers is copied or moved to."""
        self._tasks.start_unless_running("put-message", self._put_message, message_id, move)

    async def _put_message(self, message_id: str, move: bool) -> None:
        moves = self._page.presenter.message_moves
        dialog = ChatPickerDialog(self._theme, self._page.main, moves.targets, move=move)
        if await dialog.answer():
            moves.put(message_id, dialog.chat_id, move=move)

    # Words in the open chat

    @cached_property
    def find(self) -> FindBar:
        """The line under the header in which words are looked for."""
        bar = FindBar(self._theme, self._page.main.view)
        bar.hide()
        self._page.main.add_on_top(bar)
        bar.closed.connect(self._page.focus_box)
        return bar

    def open_find(self) -> QWidget:
        """Show the line, with what is selected or was looked for last."""
        bar = self.find
        bar.show()
        bar.search_for(bar.field.text())
        bar.field.selectAll()
        bar.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return bar.field

    def step_find(self, by: int) -> None:
        if self.find.isVisible():
            self.find.step(by)
        else:
            self.open_find()

    def _show_row(self, row_id: str, text: str) -> None:
        """Bring a found message on screen, with the words marked."""
        self._page.show_chat()
        words = text.replace('"', " ").split()
        view = self._page.main.view
        if view.stack.number_of(row_id) is None:
            return
        whole = text.strip().strip('"')
        shown = whole if whole.casefold() in view.row(row_id).text.casefold() else max(words, key=len, default="")
        self.find.search_for(shown, row_id)
        if not self.find.finder.count:
            view.scroll_to_row(row_id)

    def _recount(self) -> None:
        if self._is_made("find"):
            self.find.recount()

    # Side by side

    @cached_property
    def comparison(self) -> ComparePane:
        """Answers side by side, in place of the conversation."""
        page, presenter = self._page, self._page.presenter
        pane = ComparePane(self._theme, self._name_of)
        pane.action.connect(page.act_on_row)
        pane.typed.connect(page.main.type_on)
        pane.stop_all_requested.connect(presenter.stop)
        pane.left.connect(self.leave_comparison_pane)
        return pane

    def _name_of(self, row_id: str) -> str:
        presenter = self._page.presenter
        message = presenter.opened.thread.get(row_id)
        assert presenter.conversation is not None
        return (
            presenter.account_models.name_of(presenter.conversation.asked_model(message)) if message is not None else ""
        )

    def _show_comparison(self, rows: Sequence[MessageRow]) -> None:
        main, opened = self._page.main, self._page.presenter.opened
        if not rows:
            if self._is_made("comparison"):
                main.show_instead(None)
            return
        question = opened.thread.get(rows[0].id)
        asked = opened.thread.get(question.parent_id) if question is not None else None
        head = next((row.id for row in rows if opened.thread.is_shown(row.id)), "")
        self.comparison.show_rows(asked.content if asked is not None else "", rows, head)
        main.show_instead(self.comparison)

    def leave_comparison_pane(self) -> bool:
        conversation = self._page.presenter.conversation
        left = conversation is not None and conversation.leave_comparison()
        if left:
            self._page.focus_box()
        return left

    def show_comparison_pane(self, row_id: str) -> None:
        """The answers beside this one, side by side."""
        conversation = self._page.presenter.conversation
        if conversation is not None:
            conversation.show_comparison(row_id)

    @cached_property
    def comparing(self) -> ComparePicker:
        """The list of models to ask together."""
        picker = ComparePicker(self._theme, self._page.main)
        picker.chosen.connect(self._compare)
        picker.other_requested.connect(
            lambda marked: self._tasks.start_unless_running("other-model", self._ask_other_to_compare, marked)
        )
        picker.marked.connect(lambda marked: picker.show_cost(cap_text(self._page.presenter.opened, marked)))
        return picker

    def open_comparing(self) -> ComparePicker:
        """Choose the models that are asked what is in the box, or the last question again."""
        presenter = self._page.presenter
        picker = self.comparing
        picker.offer(
            presenter.account_models.list_for(presenter.opened.model_id), self._compared or (presenter.opened.model_id,)
        )
        picker.open_over(self._page.main.composer)
        return picker

    def _compare(self, model_ids: tuple[str, ...]) -> None:
        self._compared = model_ids
        if not self._page.main.composer.text().strip() and self._page.presenter.opened.is_empty:
            self._page.presenter.notice.emit(tr("Write a question first. The models you chose stay selected."))
            return
        self._page.presenter.find_or_send(self._page.main.composer.text(), model_ids)

    def show_last_columns(self) -> None:
        message = self._page.presenter.opened.thread.last_of("assistant")
        if message is not None:
            self.show_comparison_pane(message.id)

    # Dialogs

    def ask_other_model(self) -> None:
        """Ask for a model by its id, and use it in the open chat."""
        self._tasks.start_unless_running("other-model", self._ask_other_model)

    async def _ask_other_model(self) -> None:
        if (other := await self._other_model()) is not None:
            await self._page.presenter.use_other_model(other)

    async def _ask_other_to_compare(self, marked: tuple[str, ...]) -> None:
        """Mark another model beside those that are marked; the list opens again either way."""
        self._compared = marked
        if (other := await self._other_model()) is not None:
            await self._page.presenter.add_other_model(other)
            self._compared = tuple(dict.fromkeys((*marked, other.model.id)))
        self.open_comparing()

    async def _other_model(self) -> OtherModel | None:
        look_up = partial(look_up_model, self._page.presenter.current_account, kind="text")
        return await ask_other_model(self._theme, self._page.main, look_up, in_chat=True)

    def save_code(self, code: str, name: str) -> None:
        """Ask where a block of code is to be saved, under any name: code is text."""
        title = tr("Save code")
        self.save_file(title, name, lambda path: path.write_text(code, encoding="utf-8", newline=""), suffixes=())

    def save_file(
        self,
        title: str,
        name: str,
        write: Callable[[Path], object],
        suffixes: Sequence[str] | None = None,
        over: QWidget | None = None,
    ) -> None:
        """Ask where to save, `over` a dialog or the conversation, have `write` called in a thread, and say the end."""

        def save(path: Path) -> None:
            self._tasks.start_unless_running(f"save:{path}", self._save_file, path, write)

        ask_to_save(over or self._page.main, title, name, save, suffixes=suffixes)

    async def _save_file(self, path: Path, write: Callable[[Path], object]) -> None:
        self._page.toast_requested.emit(await save_file(path, write))

    def answer_calls(self, row_id: str) -> None:
        """Ask the person for what the functions of an answer return."""
        self._tasks.start_unless_running("answer-calls", self._answer_calls, row_id)

    async def _answer_calls(self, row_id: str) -> None:
        from app.ui.chat.structure_dialog import CallsDialog

        conversation = self._page.presenter.conversation
        calls = conversation.calls_of(row_id) if conversation is not None else ()
        if not calls:
            return
        dialog = CallsDialog(self._theme, self._page.main, calls)
        if await dialog.answer():
            self._page.presenter.answer_calls(row_id, dialog.answers)

    def answer_last_calls(self) -> None:
        message = self._page.presenter.opened.thread.last_of("assistant")
        if message is not None:
            self.answer_calls(message.id)

    def open_structure(self) -> None:
        """Enter a schema for the answers, and functions."""
        self._tasks.start_unless_running("structure", self._open_structure)

    async def _open_structure(self) -> None:
        from app.ui.chat.structure_dialog import StructureDialog

        presenter = self._page.presenter
        no_schema, no_functions = refusals(presenter.opened.model)
        dialog = StructureDialog(
            self._theme,
            self._page.main,
            presenter.opened.structure,
            no_schema=no_schema,
            no_functions=no_functions,
        )
        if await dialog.answer():
            presenter.set_structure(dialog.structure)

    def open_seal(self) -> None:
        """Show what was checked of the open chat's enclave."""
        self._tasks.start_unless_running("seal", self._open_seal)

    async def _open_seal(self) -> None:
        from app.ui.chat.seal_dialog import SealDialog

        presenter = self._page.presenter
        chat_id = presenter.opened.chat_id or ""
        dialog = SealDialog(self._theme, self._page.main, asks=presenter.seal_actions.asks)

        def follow(changed: str) -> None:
            if changed in (chat_id, presenter.opened.chat_id):
                self._tasks.replace("seal-reports", self._fill_seal, dialog)

        dialog.check_requested.connect(presenter.seal_actions.recheck)
        dialog.intel.clicked.connect(presenter.seal_actions.ask_intel)
        dialog.nvidia.clicked.connect(presenter.seal_actions.ask_nvidia)
        dialog.save_requested.connect(lambda evidence: self._save_evidence(evidence, dialog))
        presenter.seals.changed.connect(follow)
        try:
            await self._fill_seal(dialog)
            await dialog.answer()
        finally:
            presenter.seals.changed.disconnect(follow)
            self._tasks.cancel("seal-reports")

    async def _fill_seal(self, dialog: SealDialog) -> None:
        presenter = self._page.presenter
        reports = await presenter.seals.reports(presenter.opened.chat_id or "") if presenter.opened.sealed else ()
        dialog.show_reports(presenter.opened.lock(), reports)

    def _save_evidence(self, evidence: bytes, over: QWidget) -> None:
        """Ask where to save evidence that `python -m app.sealed verify` checks again."""
        name = tr("{title} evidence", title=self._page.presenter.head().title)
        self.save_file(tr("Save evidence"), f"{name}.json", lambda path: path.write_bytes(evidence), over=over)

    def export(self, chat_id: str | None = None) -> None:
        """Ask for the form and the file, then write a chat, the open one when left out."""
        chat_id = chat_id or self._page.presenter.opened.chat_id
        if chat_id is not None:
            self._tasks.start_unless_running("export", self._export, chat_id)

    async def _export(self, chat_id: str) -> None:
        from app.ui.chat.export_dialog import ExportDialog, ask_where

        title = self._page.presenter.title_of(chat_id)
        dialog = ExportDialog(self._theme, self._page.main, title)
        if await dialog.answer():
            form = dialog.form
            transfers = self._page.presenter.transfers
            ask_where(self._page.main, title, form, lambda path: transfers.export(chat_id, path, form))

    def export_all(self, chat_ids: tuple[str, ...]) -> None:
        """Ask for the form and the folder, then write each of these chats into a file of its own."""
        self._tasks.start_unless_running("export", self._export_all, chat_ids)

    async def _export_all(self, chat_ids: tuple[str, ...]) -> None:
        from app.ui.chat.export_dialog import ExportDialog, ask_where_all

        presenter = self._page.presenter
        words = tr("{number} chats", number=len(chat_ids))
        dialog = ExportDialog(self._theme, self._page.main, words)
        if await dialog.answer():
            form = dialog.form
            ask_where_all(self._page.main, lambda folder: presenter.transfers.export_all(chat_ids, folder, form))

    def import_chats(self) -> None:
        from app.ui.chat.export_dialog import ask_which

        ask_which(self._page.main, self._import)

    def import_dropped(self, paths: Sequence[Path]) -> bool:
        """Files that were dropped on the list; False when none of them can hold chats."""
        found = tuple(path for path in paths if path.suffix.lower() in IMPORTABLE)
        if found:
            self._import(found)
        return bool(found)

    def _import(self, paths: tuple[Path, ...]) -> None:
        presenter = self._page.presenter
        if presenter.library is not None:
            presenter.transfers.import_files(paths)

    def _ask_to_follow(self, project_id: str, name: str, paths: tuple[str, ...]) -> None:
        self._tasks.start_unless_running(f"follow {project_id}", self._follow_imported, project_id, name, paths)

    async def _follow_imported(self, project_id: str, name: str, paths: tuple[str, ...]) -> None:
        """A file of somebody else may name any folder: nothing is read before the person agrees."""
        shown = [sanitize_line(path) for path in paths[:MOST_PATHS_SHOWN]]
        shown += [tr("and {n} more", n=count(len(paths) - len(shown)))] if len(paths) > len(shown) else []
        question = tr(
            "On the computer it came from, this project followed:\n\n{paths}\n\n"
            "Follow these on this computer too? They are read on this computer only.",
            paths="\n".join(shown),
        )
        title = tr("Documents in “{name}”", name=sanitize_line(name))
        main, theme = self._page.main, self._theme
        if await confirm(theme, main, title, question, action=tr("Follow"), cancel=tr("Do not follow")):
            self._page.presenter.documents.add(project_id, [Path(path) for path in paths])

    def _report(self, title: str, lines: Sequence[str]) -> None:
        self._tasks.start_unless_running("report", self._show_report, title, lines)

    async def _show_report(self, title: str, lines: Sequence[str]) -> None:
        from app.ui.chat.export_dialog import ReportDialog

        await ReportDialog(self._theme, self._page.main, title, lines).answer()

    # A model that goes

    @cached_property
    def _strip(self) -> LeavingStrip:
        strip = LeavingStrip(self._theme, has_changes=True)
        self._page.main.add_over_box(strip)
        strip.choose_requested.connect(self._page.open_model_picker)
        strip.changes_requested.connect(self.open_changes)
        strip.everywhere_requested.connect(self._page.presenter.replace_model)
        return strip

    def _show_deprecations(self) -> None:
        self._page.presenter.publish_deprecations()
        deprecations = self._page.presenter.deprecations()
        if deprecations is not None or self._is_made("_strip"):
            self._strip.show_notice(deprecations)

    def open_changes(self) -> None:
        """Say what the replacement of the open chat's model changes, and offer it."""
        self._tasks.start_unless_running("model-changes", self._open_changes)

    async def _open_changes(self) -> None:
        presenter = self._page.presenter
        deprecations = presenter.deprecations()
        if deprecations is None or not deprecations.can_replace:
            return
        lines = presenter.changes_to(deprecations.replacement_id)
        dialog = ChangesDialog(self._theme, self._page.main, deprecations, lines)
        if await dialog.answer():
            if dialog.everywhere:
                presenter.replace_model(deprecations.model_id, deprecations.replacement_id)
            else:
                presenter.use_model(deprecations.replacement_id)

    # Keys

    def filter_field(self) -> QWidget | None:
        """Where Ctrl+F goes while the conversation or the box has the focus, or a pane stands in place of the list."""
        focus = QGuiApplication.focusObject()
        main = self._page.main
        inside = isinstance(focus, QWidget) and (focus is main or main.isAncestorOf(focus))
        if inside and self._page.guest is None and self._page.presenter.opened.thread.head_id is not None:
            return self.open_find()
        stack = self._page.list_pane()
        if self._is_made("search") and isinstance(stack, QStackedWidget) and stack.currentWidget() is self.search:
            return self.search.field
        return None

    def leave_one(self) -> bool:
        """Close the innermost of what is open here; False when nothing is."""
        if self._is_made("find") and self.find.isVisible():
            self.find.leave()
            return True
        return self.leave_comparison_pane() or self.leave_list()

    def show_sibling(self, step: int) -> None:
        """Another version of the turn that the keyboard is in, else of the last one that has several."""
        view = self._page.main.view
        spot = view.picture.focused if view.hasFocus() else None
        self._page.presenter.message_actions.show_sibling(spot.row_id if spot is not None else "", step)

    def copy_path(self) -> bool:
        """Copy the path of the line of JSON that has the focus; False when none has."""
        view = self._page.main.view
        spot = view.picture.focused
        if not view.hasFocus() or spot is None or not spot.control.startswith("line:"):
            return False
        QGuiApplication.clipboard().setText(spot.control.removeprefix("line:"))
        view.show_done(spot)
        return True
