"""The chat tab: its panes, and the wires between widgets and presenter. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.current_account import RateLimitRemaining
from app.core.tabs import TABS
from app.translation import tr
from app.ui.chat.canvas import Canvas
from app.ui.chat.inspector.inspector import PARAMETERS, REQUEST, TOTALS, Inspector
from app.ui.chat.page_actions import chat_actions, chat_palette_items
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.sidebar.chat_list import ChatListPane
from app.ui.chat.state import ChatEntry, ProjectKey
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.widgets.announce import announce

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.tasks import TaskScope
    from app.ui.chat.composer_controller import ComposerController
    from app.ui.chat.models.model_picker import ModelPicker
    from app.ui.chat.page_controller import ChatPageController
    from app.ui.chat.presenter import ChatPresenter
    from app.ui.chat.session.inspector_state import ModelList, RequestView
    from app.ui.chat.state import CharacterHead, ChatHead, ProjectSection
    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.theme import Theme
    from app.ui.kit.widgets.links import LinkOpener
    from app.ui.kit.widgets.menu import Menu

INFO = TABS["chat"]


class GuestPanes(Protocol):
    """Three panes of another feature, such as the characters."""

    def list_pane(self) -> QWidget: ...

    def canvas(self) -> QWidget: ...

    def inspector(self) -> QWidget: ...

    def set_zones(self, zones: Zones) -> None: ...

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None: ...

    def activated(self) -> None: ...


class ChatPage(QObject):
    """A `TabPage`. Other features are reached by signals, which the composition root connects."""

    changed = Signal()
    characters_requested = Signal()
    handbook_requested = Signal(str, str)  # a page of the handbook and a heading in it
    help_requested = Signal(str)  # an action id that another part of the window carries out
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(self, theme: Theme, presenter: ChatPresenter, tasks: TaskScope, *, enter_sends: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self.presenter = presenter
        self.list = ChatListPane(theme)
        self.main = Canvas(theme)
        self.side = Inspector(theme, self._set_up)
        self._stacks = tuple(QStackedWidget() for _ in range(3))
        for stack, pane in zip(self._stacks, (self.list, self.main, self.side), strict=True):
            stack.addWidget(pane)
        self.zones = Zones()
        self.toggle_list: Callable[[], None] = _nothing
        self.toggle_inspector: Callable[[], None] = _nothing
        self.guest: GuestPanes | None = None  # who stands in place of the tab's own panes
        self._known_guests: list[GuestPanes] = []
        self.picker: ModelPicker | None = None
        self._tasks = tasks
        self._rows: list[MessageRow] = []  # as the view has them, but for text that streams
        self._changed_soon = QTimer(self, singleShot=True)  # the window follows in a turn of its own
        self._changed_soon.timeout.connect(self.changed)
        self._renames = ""  # the chat whose title becomes a field once it is open
        self.main.composer.set_enter_sends(enter_sends)
        self._connect_presenter()
        self._connect_list()
        self._connect_canvas()
        self._connect_side()
        self._show_head(presenter.head())
        if presenter.opened.attachments:
            self.box.show_attachments(presenter.attaching.views())
        presenter.publish_list()  # after a welcome page the chats were read before this page was made

    # Wires

    def _connect_presenter(self) -> None:
        presenter = self.presenter
        presenter.entries_changed.connect(self._show_entries)
        presenter.head_changed.connect(self._show_head)
        presenter.cost_changed.connect(self.main.composer.show_cost)
        presenter.draft_replaced.connect(self._show_draft)
        presenter.attachments_changed.connect(lambda views: self.box.show_attachments(views))
        presenter.totals_changed.connect(self._show_totals)
        presenter.models_changed.connect(self._show_models)
        presenter.notice.connect(self.toast_requested)
        presenter.help_requested.connect(self._help)
        presenter.busy_changed.connect(self.changed)
        presenter.started.connect(self._connect_conversation)
        if presenter.conversation is not None:
            self._connect_conversation()

    def _connect_conversation(self) -> None:
        conversation, view = self.presenter.conversation, self.main.view
        assert conversation is not None
        conversation.rows_reset.connect(self._reset_rows)
        conversation.rows_appended.connect(self._append_rows)
        conversation.row_changed.connect(self._update_row)
        conversation.stream_began.connect(view.begin_stream)
        conversation.text_arrived.connect(view.append_text)
        conversation.reasoning_arrived.connect(view.append_reasoning)
        conversation.texts_replaced.connect(view.replace_texts)
        conversation.stream_ended.connect(view.end_stream)
        conversation.request_changed.connect(self._show_request)
        view.action.connect(self.act_on_row)
        view.menu_opening.connect(self._fill_message_menu)
        view.link_activated.connect(self._open_link)
        view.source_activated.connect(lambda row_id, index: self.box.ask_source(row_id, index))
        view.save_requested.connect(self.controller.save_code)
        view.attachment_activated.connect(lambda row_id, index: self.box.open_attachment(row_id, index))
        view.attachment_action.connect(lambda *what: self.box.act_on_attachment(*what))
        view.new_text_below.connect(self.main.show_new_text_below)
        self.controller.connect_parts()

    @cached_property
    def box(self) -> ComposerController:
        """What belongs to the message box beside its text."""
        from app.ui.chat.composer_controller import ComposerController

        return ComposerController(self, self._theme, self._tasks)

    @cached_property
    def controller(self) -> ChatPageController:
        """Search, find, trash, columns and dialogs; there once the history is open."""
        from app.ui.chat.page_controller import ChatPageController

        return ChatPageController(self, self._theme, self._tasks)

    @property
    def _has_controller(self) -> bool:
        return "controller" in self.__dict__

    def _connect_list(self) -> None:
        pane, presenter = self.list, self.presenter
        pane.new_requested.connect(lambda: self.new_chat())
        pane.characters_requested.connect(self.characters_requested)
        pane.open_requested.connect(self.open_chat)
        pane.rename_requested.connect(self.rename)
        pane.menu_requested.connect(self.open_menu_of)
        pane.import_requested.connect(lambda: self.controller.import_chats())
        pane.trash_requested.connect(self._throw_away)
        pane.fold_requested.connect(lambda project_id, folded: presenter.projects.fold(project_id, folded))
        pane.step_requested.connect(lambda project_id, by: presenter.projects.step(project_id, by))
        pane.move_requested.connect(lambda chat_ids, project_id: presenter.projects.move(chat_ids, project_id))
        pane.order_requested.connect(lambda *places: presenter.projects.place_beside(*places))
        pane.new_project_requested.connect(lambda: self.controller.new_project())
        pane.offer_trash(presenter.trash, self._tasks, pane.foot.trash, tr("Back to chats"))
        pane.files_given.connect(lambda paths: self.controller.import_dropped(paths))

    def _connect_canvas(self) -> None:
        main, presenter = self.main, self.presenter
        header, composer = main.header, main.composer
        header.renamed.connect(lambda title: presenter.rename(presenter.opened.chat_id, title))
        header.model_requested.connect(self.open_model_picker)
        header.seal_requested.connect(lambda: self._help("seal"))
        header.new_requested.connect(lambda: self.new_chat())
        header.menu_requested.connect(self.open_chat_menu)
        header.list_requested.connect(lambda: self.toggle_list())
        header.inspector_requested.connect(lambda: self.toggle_inspector())
        main.change_character_requested.connect(self.characters_requested)
        main.remove_character_requested.connect(lambda: presenter.use_character(None))
        main.welcome.character_requested.connect(self.characters_requested)
        main.welcome.account_requested.connect(self.help_requested)
        main.welcome.example_chosen.connect(presenter.send)
        main.welcome.handbook_requested.connect(lambda: self.controller.open_handbook_project())
        main.welcome.preset_chosen.connect(lambda preset_id: self.box.use_preset(preset_id))
        presenter.presets_changed.connect(main.welcome.show_presets)
        if presenter.presets is not None:
            main.welcome.show_presets(presenter.presets.rows())
        main.cancel_edit_requested.connect(presenter.cancel_edit)
        main.cancel_queued_requested.connect(presenter.cancel_queued)
        main.problem_action.connect(self._help)
        presenter.private_leaving.connect(lambda chat_ids: self.controller.ask_private(chat_ids))
        composer.send_requested.connect(self.send)
        composer.stop_requested.connect(presenter.stop)
        composer.text_edited.connect(self._typed)
        composer.option_changed.connect(presenter.set_option)
        composer.seal_requested.connect(presenter.seal_actions.set_sealed)
        composer.recall_requested.connect(presenter.recall)
        composer.attach_requested.connect(lambda: self.box.attach())
        composer.structure_requested.connect(lambda: self.controller.open_structure())
        for giver in (composer, main):
            giver.files_given.connect(lambda paths: self.box.give(presenter.attaching.add_files, paths))
            giver.image_given.connect(lambda image: self.box.give(presenter.attaching.add_image, image))

    def _connect_side(self) -> None:
        self.side.tabs.bar.currentChanged.connect(self._side_changed)

    def complete(self) -> None:
        """Make what the first paint did not wait for: the list of chats, and the page of the inspector that is shown.

        One after the other, so that the person can type between them.
        """
        QTimer.singleShot(0, self, self.list.complete)
        QTimer.singleShot(0, self, self.side.complete)
        QTimer.singleShot(0, self, self.main.composer.box.complete)

    def _set_up(self, place: int) -> None:
        """Connect and fill a page of the inspector that has just been made."""
        if place == PARAMETERS:
            self.side.parameters.option_changed.connect(self.presenter.set_option)
            self.side.parameters.prompts_requested.connect(lambda: self.box.open_prompts())
            self.side.parameters.presets_requested.connect(lambda: self.box.open_presets())
            self.side.parameters.structure_requested.connect(lambda: self.controller.open_structure())
            self.side.parameters.show_head(self.presenter.head())
        elif place == REQUEST:
            self.side.request.copied.connect(self.toast_requested.emit)
            self.presenter.show_request()

    @cached_property
    def links(self) -> LinkOpener:
        from app.ui.kit.widgets.links import LinkOpener

        links = LinkOpener(self._theme, self.main, self._tasks)
        links.handbook_requested.connect(self.handbook_requested)
        return links

    def _open_link(self, address: str) -> None:
        self.links.ask(address)

    # What the presenter tells

    def _show_entries(self, entries: Sequence[ChatEntry], sections: Sequence[ProjectSection] = ()) -> None:
        self.list.show_entries(entries, sections)

    def _show_head(self, head: ChatHead) -> None:
        self.list.show_open_chat(head.chat_id)
        self.main.show_head(head)
        if head.private or self._has_controller:
            self.controller.show_private(head.private)
        if head.chat_id is not None and head.chat_id == self._renames:
            self._renames = ""
            self.rename()
        if self.side.is_made(PARAMETERS):
            self.side.parameters.show_head(head)
        self._changed_soon.start()

    def _show_totals(self) -> None:
        if self.side.is_shown(TOTALS):  # to add up thousands of messages takes longer than a frame
            self.side.totals.show_totals(self.presenter.totals())

    def _show_request(self, view: RequestView) -> None:
        if self.side.is_made(REQUEST):
            self.side.show_request(view)

    def _show_draft(self, text: str) -> None:
        self.main.composer.set_text(text)
        if self.presenter.opened.editing is not None:
            self.focus_box()

    def _show_models(self, models: ModelList) -> None:
        if self.picker is not None and self.picker.isVisible():
            self.picker.show_models(models)

    def _reset_rows(self, rows: tuple[MessageRow, ...]) -> None:
        self._rows = list(rows)
        self.main.view.set_messages(rows)
        self.main.show_new_text_below(False)
        if self.side.is_made(REQUEST):
            self.presenter.show_request()

    def _append_rows(self, rows: tuple[MessageRow, ...]) -> None:
        for row in rows:
            self._rows.append(row)
            self.main.view.append(row)
        self.main.leave_welcome()

    @cached_property
    def _changing(self) -> tuple[str, ...]:
        """The fields of a row that the view is told when they change; the others never do."""
        from app.ui.conversation.rows import MessageRow

        return tuple(name for name in MessageRow.__slots__ if name not in ("id", "role", "lines"))

    def _update_row(self, row: MessageRow) -> None:
        """Tell the view what changed of a row. Text of a streamed answer reaches it piece by piece, never whole."""
        number = self.main.view.stack.number_of(row.id)
        if number is None:
            return
        known, self._rows[number] = self._rows[number], row
        streamed = "streaming" in (known.state, row.state)
        changes = {
            name: getattr(row, name)
            for name in self._changing
            if getattr(row, name) != getattr(known, name) and not (streamed and name in ("text", "reasoning"))
        }
        if changes:
            self.main.view.update_row(row.id, **changes)

    def rows(self) -> tuple[MessageRow, ...]:
        """The messages on screen, with all text that has come for them."""
        return tuple(self.main.view.row(row.id) for row in self._rows)

    # What the person does

    def send(self, text: str) -> None:
        """Send, with what was typed into the system prompt a moment ago."""
        self.flush_parameters()
        self.presenter.find_or_send(text)

    def _typed(self, text: str) -> None:
        self.presenter.set_draft(text)
        if text.startswith("/") or "box" in self.__dict__:
            self.box.complete(text)

    def flush_parameters(self) -> None:
        """Take what was typed among the parameters a moment ago."""
        if self.side.is_made(PARAMETERS):
            self.side.parameters.flush()

    def new_chat(self, project_id: str | None = None) -> None:
        self.flush_parameters()
        self.show_chat()
        self.presenter.new_chat(project_id=project_id)
        self.focus_box()
        announce(self.main, NEW_CHAT)  # the keyboard was in the box before, too

    def new_private_chat(self) -> None:
        """An empty chat that is in memory alone."""
        self.flush_parameters()
        self.show_chat()
        self.presenter.new_chat(private=True)
        self.focus_box()

    def has_unsaved(self) -> bool:
        """Whether closing would lose a private chat."""
        return bool(self.presenter.unsaved_private())

    async def leave_unsaved(self) -> bool:
        """Ask what becomes of private chats; False when the person stays."""
        return await self.controller.leave_private(self.presenter.unsaved_private())

    def open_chat(self, chat_id: str) -> None:
        """Show a chat; the list closes where it slides over the canvas."""
        self.flush_parameters()
        self.show_chat()
        self.presenter.open_chat(chat_id)
        if self.zones.list_overlay and self.zones.list_open:
            self.toggle_list()

    def step(self, by: int) -> None:
        """The chat below (1) or above (-1) in the list."""
        chat_id = self.list.neighbor(by)
        if chat_id is not None:
            self.flush_parameters()
            self.presenter.open_chat(chat_id)
            entry = self.list.model.row_of(chat_id)
            if isinstance(entry, ChatEntry):
                announce(self.main, entry.title)

    def rename(self, chat_id: str | ProjectKey | None = None) -> None:
        """Turn the title above the conversation into a field; of another chat than the open one, open that first.

        A project's name is asked for.
        """
        if isinstance(chat_id, ProjectKey):
            self.controller.rename_project(chat_id.project_id)
            return
        if chat_id is not None and chat_id != self.presenter.opened.chat_id:
            self._renames = chat_id  # once it is on screen
            self.presenter.open_chat(chat_id)
            return
        self.show_chat()
        self.main.header.begin_rename()

    def focus_box(self) -> None:
        self.main.composer.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def act_on_row(self, row_id: str, action: str) -> None:
        """A button beside a message. The view copies by itself; the rest is the presenter's."""
        if action == "receipt":
            self.open_request(row_id)
        elif action == "beside":
            self.controller.show_comparison_pane(row_id)
        elif action == "answer-calls":
            self.controller.answer_calls(row_id)
        elif action in ("copy-to", "move-to"):
            self.controller.put_message(row_id, move=action == "move-to")
        elif action not in ("copy", "more"):
            self.presenter.message_actions.act(row_id, action)

    def _help(self, action: str) -> None:
        """Buttons of error cards whose work is elsewhere."""
        if action == "choose-model":
            self.open_model_picker()
        elif action == "retry":
            self.presenter.refresh_models()
        elif action == "continue-here":
            self.presenter.continue_here()
        elif action == "seal" and self.presenter.conversation is not None:
            self.controller.open_seal()
        elif action.startswith("limits:project "):
            self.controller.edit_project(action.removeprefix("limits:project "))
        else:
            self.help_requested.emit(action)

    def open_request(self, row_id: str | None = None) -> None:
        """Show the Request page of an answer, opening the inspector when it is closed."""
        self.side.show_page(REQUEST)
        self.presenter.show_request(row_id)
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def open_parameters(self) -> None:
        self.side.show_page(PARAMETERS)
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def _side_changed(self, page: int) -> None:
        if page == REQUEST:
            self.presenter.show_request()
        elif page == TOTALS:
            self._show_totals()

    def open_model_picker(self) -> ModelPicker:
        """Open the list of models under its button; it is built with its first use."""
        if self.picker is None:
            from app.ui.chat.models.model_picker import ModelPicker

            self.picker = ModelPicker(self._theme, self.main)
            self.picker.chosen.connect(lambda model, always: self.presenter.use_model(model, for_new_chats=always))
            self.picker.favorite_toggled.connect(self.presenter.toggle_favorite)
            self.picker.sort_chosen.connect(lambda sort: self.presenter.account_models.set_sort(sort))
            self.picker.reload_requested.connect(self.presenter.refresh_models)
            self.picker.other_requested.connect(lambda: self.controller.ask_other_model())
        self.picker.show_models(self.presenter.account_models.list_for(self.presenter.opened.model_id))
        self.picker.open_under(self.main.header.model)
        return self.picker

    def open_chat_menu(self) -> Menu | None:
        """Everything that can be done with the open chat, under the button in its header."""
        button = self.main.header.more_button
        return self.open_menu_of(self.presenter.opened.chat_id, button.mapToGlobal(button.rect().bottomLeft()))

    def open_menu_of(self, row: str | ProjectKey | None, where: QPoint) -> Menu | None:
        """What can be done with a chat or a project, at a place on the screen; None where that is nothing."""
        from app.ui.chat.page_menus import open_menu

        return open_menu(self, row, where)

    def _throw_away(self, rows: Sequence[str | ProjectKey]) -> None:
        """Move chats and projects to the trash."""
        chats = tuple(row for row in rows if isinstance(row, str))
        projects = tuple(row.project_id for row in rows if isinstance(row, ProjectKey) and row.project_id)
        if chats:
            self.presenter.move_to_trash(chats)
        if projects:
            self.presenter.projects.remove(projects)

    def _fill_message_menu(self, menu: Menu, row_id: str) -> None:
        from app.ui.chat.page_menus import fill_message_menu

        fill_message_menu(self, menu, row_id)

    def is_pinned(self, chat_id: str | None = None) -> bool:
        """Whether a chat, the open one when left out, stands at the top of the list."""
        wanted = chat_id or self.presenter.opened.chat_id
        chat = self.presenter.library.get(wanted) if self.presenter.library is not None else None
        return chat is not None and chat.pinned

    def toggle_pin(self) -> None:
        if self.presenter.opened.chat_id is not None:
            self.presenter.pin(self.presenter.opened.chat_id, not self.is_pinned())

    def duplicate(self) -> None:
        if self.presenter.opened.chat_id is not None:
            self.presenter.duplicate(self.presenter.opened.chat_id)

    def trash(self, chat_id: str | None = None) -> None:
        """Move a chat to the trash, the open one when left out, or all that are selected with it."""
        if chat_id is not None:
            self.presenter.move_to_trash(self.list.selected_with(chat_id))
        elif self.presenter.opened.chat_id is not None:
            self.presenter.move_to_trash((self.presenter.opened.chat_id,))

    def copy_answer(self) -> None:
        """Put the newest answer on the clipboard, without its thoughts; of a line of JSON with the focus its path."""
        if self._has_controller and self.controller.copy_path():
            return
        message = self.presenter.opened.thread.last_of("assistant")
        if message is not None and message.content:
            self.main.view.copy_message(message.id)
            self.toast_requested.emit(tr("Answer copied"))

    def show_chat(self) -> None:
        """Back to the conversation, when something else stood in its place."""
        if self.leave_guest():
            self.focus_box()

    def use_character(self, character: CharacterHead, *, new_chat: bool) -> None:
        """Speak with somebody from now on: in a new chat, or in the open one."""
        self.show_chat()
        if new_chat:
            self.presenter.new_chat(character)
        else:
            self.presenter.use_character(character)
        self.focus_box()

    # Guests

    def show_guest(self, guest: GuestPanes) -> None:
        """Put another feature's panes in place of ours, until `leave_guest`."""
        if guest not in self._known_guests:
            self._known_guests.append(guest)
            guest.connect_zones(lambda: self.toggle_list(), lambda: self.toggle_inspector())
        self.guest = guest
        panes = (guest.list_pane(), guest.canvas(), guest.inspector())
        for stack, pane in zip(self._stacks, panes, strict=True):
            if stack.indexOf(pane) < 0:
                stack.addWidget(pane)
            stack.setCurrentWidget(pane)
        guest.set_zones(self.zones)
        guest.activated()
        self.changed.emit()

    def leave_guest(self) -> bool:
        """Back to our own panes; False when they are shown already."""
        if self.guest is None:
            return False
        self.guest = None
        for stack in self._stacks:
            stack.setCurrentIndex(0)
        self.changed.emit()
        return True

    # TabPage

    def list_pane(self) -> QWidget:
        return self._stacks[0]

    def canvas(self) -> QWidget:
        return self._stacks[1]

    def inspector(self) -> QWidget:
        return self._stacks[2]

    def main_input(self) -> QWidget:
        return self.main.composer.box

    def filter_field(self) -> QWidget:
        field = getattr(self.guest, "search", None)
        if isinstance(field, QWidget):
            return field
        return (self._has_controller and self.controller.filter_field()) or self.list.filter_field()

    def actions(self) -> Sequence[TabAction]:
        return chat_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return chat_palette_items(self, self.presenter.every_entry(), text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        return self.presenter.current_account.headroom

    def running_work(self) -> Sequence[str]:
        return [entry.work for entry in self.presenter.under_way()]

    def badge(self) -> int:
        return 0  # answers show in the list; the badge is for jobs that run for minutes

    def retry_refused(self) -> Callable[[], object] | None:
        message_id = self.presenter.opened.thread.head_id

        def again() -> None:
            # When the balance was known before this, the answer came back by itself: asked again, it is paid twice.
            if message_id and self.presenter.message_actions.has_no_answer(message_id):
                self.presenter.message_actions.act(message_id, "retry")

        return again

    def handle_escape(self) -> bool:
        """Esc: close the list of commands, leave the guest, take back what is queued, stop the answer, leave the edited
        turn: the first of these that there is.
        """
        if "box" in self.__dict__ and self.box.close_completion():
            return True
        if self.guest is not None:
            self.show_chat()
            return True
        if self.presenter.cancel_queued():
            return True
        if self.presenter.head().writing:
            self.presenter.stop()
            return True
        return self.presenter.cancel_edit() or (self._has_controller and self.controller.leave_one())

    def set_zones(self, zones: Zones) -> None:
        """The window says which panes are beside the canvas and which slide over it."""
        self.zones = zones
        if self.guest is not None:
            self.guest.set_zones(zones)
        self.main.header.set_places(
            narrow=zones.list_overlay, list_button=not zones.list_beside, inspector_open=zones.inspector_open
        )
        self.main.set_narrow(zones.list_overlay)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        """What shows and hides the two side panes."""
        self.toggle_list = toggle_list
        self.toggle_inspector = toggle_inspector

    def activated(self) -> None:
        """What is shown is already here, but for a guest whose account changed behind another tab."""
        if self.guest is not None:
            self.guest.activated()


def _nothing() -> None:
    """Stands in until the window connects its panes."""
