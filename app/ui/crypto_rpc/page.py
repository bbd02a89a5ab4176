"""The Console's tab: its panes, and the wires between widgets and presenter. Decides nothing itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.current_account import RateLimitRemaining
from app.core.number_format import credits_text
from app.core.tabs import TABS
from app.translation import tr, tr_n
from app.ui.crypto_rpc.call_list import CallListPane
from app.ui.crypto_rpc.call_rows import CollectionKey
from app.ui.crypto_rpc.canvas import Canvas
from app.ui.crypto_rpc.collection_controller import CollectionController
from app.ui.crypto_rpc.page_actions import COPIES, TOOLS, rpc_actions, rpc_palette_items
from app.ui.crypto_rpc.page_pickers import Pickers
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.crypto_rpc.response_controller import ResponseController
from app.ui.crypto_rpc.session.batch import bodies_of, read_id
from app.ui.crypto_rpc.session.exporting import as_cast, as_curl, as_python
from app.ui.crypto_rpc.session.methods import SANDBOX_CONTRACT, MethodInfo
from app.ui.crypto_rpc.session.pasting import read_pasted
from app.ui.crypto_rpc.session.sending import SEND_ANYWAY, estimate_words
from app.ui.crypto_rpc.session.value_meaning import can_be_decoded, reading_of
from app.ui.crypto_rpc.state import TIER_WORDS, CapsView, DraftView, RunView, SendQuestion, spoken_result
from app.ui.crypto_rpc.tool_controller import ToolController
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.copy_command import copy_command
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.dialogs import Dialog, ask_text
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.popover import Popover

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme

INFO = TABS["crypto_rpc"]


class CryptoRpcPage(QObject):
    """A `TabPage`. What other parts of the window do is asked for by signals."""

    changed = Signal()
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written
    help_requested = Signal(str)
    wallet_needed = Signal(str)  # a sentence

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self,
        theme: Theme,
        presenter: CryptoRpcPresenter,
        tasks: TaskScope,
        base_url: Callable[[], str],
        *,
        whole: bool = True,
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._tasks = tasks
        self._base_url = base_url
        self._shown_job: object = None
        self.presenter = presenter
        self.zones = Zones()
        self.toggle_list: Callable[[], None] = lambda: None
        self.list = CallListPane(theme)
        self.main = Canvas(theme, reading_of, can_be_decoded, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        theme, tasks, presenter = self._theme, self._tasks, self.presenter
        yield from self.main.build()
        yield
        self.pickers = Pickers(self, theme)
        self.networks, self.methods = self.pickers.networks, self.pickers.methods
        yield
        self.answer = ResponseController(self, tasks)
        self.tools = ToolController(self, theme, tasks)
        self.collections = CollectionController(self, theme, tasks)
        yield
        presenter.ask = self._ask
        self._connect_presenter()
        self._connect_request()
        self._connect_rest()
        yield
        self._show_draft(presenter.view())

    def _connect_presenter(self) -> None:
        presenter = self.presenter
        presenter.draft_changed.connect(self._show_draft)
        presenter.calls_changed.connect(self._show_calls)
        presenter.run_changed.connect(self._show_run)
        presenter.caps_changed.connect(self._show_caps)
        presenter.notice.connect(self.toast_requested)
        presenter.busy_changed.connect(self.changed)

    def _connect_request(self) -> None:
        presenter, request = self.presenter, self.main.request
        request.mode_changed.connect(presenter.set_mode)
        request.add_requested.connect(self.open_methods)
        request.split_requested.connect(presenter.split)
        request.method_edited.connect(lambda place, name: presenter.edit(lambda draft: draft.set_method(place, name)))
        request.params_edited.connect(presenter.set_params_text)
        request.text_edited.connect(presenter.set_text)
        request.format_requested.connect(self.tidy)
        request.help_requested.connect(self.show_method_help)
        request.key_toggled.connect(presenter.use_key)
        request.key_edited.connect(presenter.set_key)
        request.new_key_requested.connect(presenter.new_key)
        request.fields_edited.connect(presenter.set_fields)
        request.form_shown.connect(presenter.show_form)
        request.contract_requested.connect(self.open_contract)
        request.menu_requested.connect(self._open_request_menu)
        request.copy_requested.connect(lambda button: self._open_menu(button, COPIES))
        request.list.selected.connect(lambda place: presenter.edit(lambda draft: draft.select(place)))
        request.list.remove_requested.connect(presenter.remove_calls)
        request.list.move_requested.connect(lambda place, step: presenter.edit(lambda draft: draft.move(place, step)))

    def _connect_rest(self) -> None:
        presenter, main, response = self.presenter, self.main, self.main.response
        main.send_requested.connect(self.send)
        main.stop_requested.connect(presenter.stop)
        main.network_requested.connect(self.open_networks)
        main.method_requested.connect(self.open_methods)
        main.tools_requested.connect(lambda: self._open_menu(main.tools, TOOLS))
        main.list_requested.connect(lambda: self.toggle_list())
        main.split_moved.connect(presenter.keeper.record_split)
        presenter.split_read.connect(main.set_split)
        main.problem.action.connect(self._act)
        main.job.action.connect(self._act)
        response.problem_action.connect(self._act)
        response.tree.curl_requested.connect(lambda: self.copy_as("curl"))
        response.run_chosen.connect(presenter.runs.open)
        response.as_new_requested.connect(self._send_as_new)
        response.edit_call_requested.connect(self.edit_call)
        response.send_alone_requested.connect(presenter.send_alone)
        self.list.new_requested.connect(presenter.new_batch)
        self.list.open_requested.connect(self.open_call)
        self.list.trash_requested.connect(presenter.sent.move_to_trash)
        self.list.search_changed.connect(presenter.sent.search)
        self.list.menu_requested.connect(self._open_call_menu)
        self.list.collect_requested.connect(self.save_into_collection)
        self.list.saved_requested.connect(self.collections.take)
        self.list.rename_requested.connect(self.collections.rename)
        self.list.remove_requested.connect(lambda key: presenter.collections.move_to_trash(key.file, key.place))
        self.list.offer_trash(presenter.trash, self._tasks, self.list.trash, tr("Back to calls"))
        presenter.collections.changed.connect(self.list.show_collections)
        self.list.show_collections(presenter.collections.entries)

    # What the presenter tells

    def _show_draft(self, view: DraftView) -> None:
        price = estimate_words(view.credits, view.low_usd, view.high_usd)
        self.main.show_draft(view, price)
        if self.presenter.methods is not None:
            names = [method.name for method in self.presenter.methods.offered(view.network.slug)]
            if names != self.main.request.names.stringList():
                self.main.request.names.setStringList(names)

    def _show_calls(self, entries: object) -> None:
        assert isinstance(entries, tuple)
        self.list.show_entries(entries)

    def _show_caps(self, caps: CapsView) -> None:
        self.list.foot.show_caps(caps)
        self.changed.emit()

    def _show_run(self, run: RunView | None) -> None:
        if self.main.response.follow(run):
            return
        job = self.presenter.jobs.job if self.presenter.jobs.is_running else None
        if job is None or job is not self._shown_job or self.presenter.is_sending:
            self.main.show_side("answer" if run is not None else "request")
        self._shown_job = job  # its later rounds do not take the editor away from whoever writes in it
        self.main.response.show_run(run)
        if run is not None and run.state == "answered" and self.presenter.is_sending and self.main.isVisible():
            announce(self.main, spoken_result(run))
        self.list.show_open(run.row_id if run is not None else "")

    async def _ask(self, question: SendQuestion) -> bool:
        from app.ui.crypto_rpc.send_dialog import ask_to_send

        return await ask_to_send(self._theme, self.main, question)

    # What the person does

    def send(self) -> None:
        """Send what is written, the method's name in the editor too."""
        self.main.request.method.clearFocus()
        self.presenter.send()

    def _send_as_new(self) -> None:
        self.presenter.new_key()
        self.send()

    def open_networks(self) -> None:
        self.networks.open_under(self.main.network)

    def open_methods(self) -> None:
        self.methods.open_under(self.main.add_method)

    def other_side(self) -> None:
        """The answer where the request is shown, and the other way round; side by side, the keyboard goes over."""
        to_answer = self.main.request.isAncestorOf(self.main.window().focusWidget() or self.main)
        self.main.show_side("answer" if to_answer else "request")
        (self.main.response if to_answer else self.main.request).take_focus()

    def toggle_mode(self) -> None:
        self.presenter.set_mode("json" if self.presenter.draft.mode == "rows" else "rows")

    def tidy(self) -> None:
        self.presenter.edit(lambda draft: draft.tidy())

    def paste(self) -> None:
        """Take what was copied; a batch over a batch replaces it or comes on top, as the person says."""
        text = QGuiApplication.clipboard().text()
        if len(self.presenter.draft.rows) > 1 and len(read_pasted(text).read.rows) > 1:
            self._tasks.start_unless_running("rpc paste", self._ask_and_paste, text)
        else:
            self.presenter.paste(text)

    async def _ask_and_paste(self, text: str) -> None:
        there = len(self.presenter.draft.rows)
        dialog = Dialog(self._theme, self.main, tr("Replace {calls} calls, or add to them?", calls=there))
        dialog.add_button(tr("Cancel"), accepts=False)
        add = dialog.add_button(tr("Add"), accepts=True)
        dialog.add_button(tr("Replace"), kind="primary", accepts=True)
        adds: list[bool] = []
        add.clicked.connect(lambda: adds.append(True))
        if await dialog.answer():
            self.presenter.paste(text, replacing=not adds)

    def edit_call(self, call_id: int) -> None:
        """Put the cursor into the parameters of a call."""
        self.main.show_side("request")
        self.presenter.set_mode("rows")
        self.presenter.edit(lambda draft: draft.select(call_id - 1))
        self.main.request.params.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_method_help(self) -> None:
        """What the call's method does and takes, in a few lines under the button."""
        call = self.presenter.view().selected
        if call is not None:
            self.show_help_of(call.method, self.main.request.help)

    def show_help_of(self, method: str, opener: QWidget) -> None:
        popover = MethodHelp(self._theme, self.main, self.presenter.method(method))
        popover.open_at(opener, align_right=opener is self.main.request.help, width=400)

    def open_call(self, call_id: str) -> None:
        self.presenter.open_call(call_id)
        self.close_list()

    def close_list(self) -> None:
        """Let the canvas be seen where the list lies over it."""
        if self.zones.list_overlay and self.zones.list_open:
            self.toggle_list()

    def step(self, by: int) -> None:
        """The request below (1) or above (-1) in the list."""
        run = self.presenter.run
        call_id = self.list.neighbor(run.row_id if run is not None else "", by)
        if call_id is not None:
            self.presenter.open_call(call_id)

    def copy_as(self, form: str) -> None:
        """The request as a command of another program; never with a key in it."""
        draft = self.presenter.draft
        url = f"{self._base_url().rstrip('/')}/crypto/rpc/{draft.network}"
        rows = draft.filled()
        header = self.presenter.sign_in_header
        if form == "curl":
            key = draft.key if draft.key_used else ""
            text = as_curl(url, rows, batch=draft.batch, idempotency_key=key, sign_in_header=header)
        else:
            text = as_python(url, rows, header) if form == "python" else as_cast(url, rows, header)
        self.toast_requested.emit(copy_command(text, url))

    def open_contract(self) -> None:
        """Write the selected call from a contract's interface."""
        self._tasks.start_unless_running("rpc contract", self._open_contract)

    async def _open_contract(self) -> None:
        from app.ui.crypto_rpc.contract_dialog import ask_contract_call

        presenter = self.presenter
        address = presenter.contracts.called_address() or (SANDBOX_CONTRACT if presenter.in_sandbox else "")
        answer = await ask_contract_call(self._theme, self.main, presenter.contracts, self._tasks, address)
        if answer is not None:
            await presenter.contracts.take_call(*answer)
            self.main.show_side("request")

    def open_transaction(self) -> None:
        """Fill in a transaction of one of the program's own wallets."""
        transacting = self.presenter.transacting
        reason = transacting.why_not()
        if reason:
            self.toast_requested.emit(reason)
        elif transacting.offered():
            self._tasks.start_unless_running("rpc transaction", self._open_transaction)
        else:
            self.wallet_needed.emit(
                tr("This needs a play-money wallet with its key on this computer. Add one in Wallet.")
                if self.presenter.in_sandbox
                else tr("This needs a wallet with its key on this computer. Add one in Wallet.")
            )

    async def _open_transaction(self) -> None:
        from app.ui.crypto_rpc.transaction_dialog import TransactionDialog

        await TransactionDialog(self._theme, self.main, self.presenter, self._tasks).answer()

    def show_transactions(self) -> None:
        """Show every transaction that was sent, and what became of it."""
        self._tasks.replace("rpc open", self.presenter.tracking.show_all)

    def open_trash(self) -> None:
        """Show calls and collections in the trash in place of the list."""
        self.list.open_trash()
        if not self.zones.list_open:
            self.toggle_list()

    def save_into_collection(self) -> None:
        self.collections.save_draft()

    def edit_id(self) -> None:
        """Ask for the id of the selected call."""
        self._tasks.start_unless_running("rpc id", self._edit_id)

    async def _edit_id(self) -> None:
        draft = self.presenter.draft
        place = draft.selected
        if draft.current is None:
            return
        shown = json.dumps(bodies_of(draft.rows)[place]["id"], ensure_ascii=False)
        label = tr("A whole number, a text or null. Other calls need other IDs.")
        text = await ask_text(self._theme, self.main, tr("ID of call {number}", number=place + 1), label, value=shown)
        if text:
            self.presenter.edit(lambda draft: draft.set_id(place, read_id(text)))

    def edit_variables(self) -> None:
        self.collections.edit_variables()

    def _act(self, action: str) -> None:
        """The buttons of error cards."""
        if action == "look-up":
            self.presenter.look_up()
        elif action == SEND_ANYWAY:
            self.presenter.send(over_credits=True)
        elif action.startswith("edit:"):
            self.edit_call(int(action.removeprefix("edit:")))
        elif action.startswith("others:"):
            self.presenter.send_others(int(action.removeprefix("others:")))
        elif action == "edit":
            odd = (row.id for row in self.presenter.view().rows if row.refusal or row.warning)
            self.edit_call(next(odd, self.presenter.draft.selected + 1))
        elif action in ("again", "retry"):
            run = self.presenter.run
            if run is None or not self.presenter.transacting.send_again(run.id):
                self.send()
        else:
            self.help_requested.emit(action)

    def _open_menu(self, button: QWidget, ids: Sequence[str], more: Sequence[TabAction] = ()) -> None:
        """Open a menu under a button: actions of the tab by their ids, "" for a line between them, then `more`."""
        menu = Menu(self._theme, self.main)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        known = {action.id: action for action in self.actions()}
        for action in (*(known.get(each) for each in ids), *more):
            if action is None:
                menu.addSeparator()
                continue
            entry = menu.add(action.text, action.icon, shortcut=action.shortcut, enabled=action.enabled())
            entry.triggered.connect(lambda _checked=False, run=action.run: run())
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _open_request_menu(self, button: QWidget) -> None:
        place = self.presenter.draft.selected
        self._open_menu(
            button,
            ("crypto_rpc.paste", "crypto_rpc.collect", "crypto_rpc.variables", "crypto_rpc.id", ""),
            (
                TabAction(
                    "",
                    tr("Duplicate call"),
                    lambda: self.presenter.edit(lambda draft: draft.duplicate(place)),
                    icon="copy",
                ),
                TabAction("", tr("Remove call"), lambda: self.presenter.remove_calls((place,)), icon="trash"),
            ),
        )

    def _open_call_menu(self, call_id: object, where: QPoint) -> None:
        if not isinstance(call_id, str):
            assert isinstance(call_id, CollectionKey)
            self.collections.open_menu(call_id, where)
            return
        menu = Menu(self._theme, self.list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chosen = self.list.chosen_calls(call_id)
        if len(chosen) == 1:
            menu.add(tr("Open"), "console", shortcut="Return").triggered.connect(lambda: self.open_call(call_id))
        trash = menu.add_trash(tr_n("Move to trash", "Move {n} calls to trash", len(chosen)))
        trash.triggered.connect(lambda: self.presenter.sent.move_to_trash(chosen))
        menu.popup(where)

    # TabPage

    def list_pane(self) -> QWidget:
        return self.list

    def canvas(self) -> QWidget:
        return self.main

    def inspector(self) -> QWidget | None:
        return None

    def main_input(self) -> QWidget:
        request = self.main.request
        return request.params if self.presenter.draft.mode == "rows" else request.text

    def filter_field(self) -> QWidget:
        return self.list.filter_field()

    def actions(self) -> Sequence[TabAction]:
        return rpc_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return rpc_palette_items(self, text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        """Chain calls have a cap of their own; shown while some of the minute's are used."""
        caps = self.presenter.caps.view
        if not caps.requests:
            return None
        left = max(0, caps.requests_limit - caps.requests)
        return RateLimitRemaining(left, caps.requests_limit, resets_at=caps.resets_at, of=tr("Blockchain calls"))

    def running_work(self) -> Sequence[str]:
        work = [tr("Blockchain call")] if self.presenter.is_sending else []
        job = self.presenter.jobs.job
        return (*work, job.view.title) if job is not None and job.view.running else tuple(work)

    def badge(self) -> int:
        return 0

    def retry_refused(self) -> Callable[[], object] | None:
        return self.send

    def handle_escape(self) -> bool:
        if self.presenter.is_sending:
            return self.presenter.stop()
        return self.presenter.jobs.stop()

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.main.set_list_button(not zones.list_beside)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.toggle_list = toggle_list

    def activated(self) -> None:
        self.presenter.refresh()
        self.presenter.collections.refresh()


KIND_WORDS = {
    "address": tr("an address, 0x and 40 digits"),
    "block": tr("a block: its number, or latest, safe, finalized, pending, earliest"),
    "hash": tr("a hash, 0x and 64 digits"),
    "quantity": tr("a number in hexadecimal"),
    "number": tr("a number"),
    "bool": tr("true or false"),
    "hex": tr("bytes, 0x and pairs of digits"),
    "call": tr("a call: to, data, and from, value or gas if needed"),
    "filter": tr("a filter: fromBlock, toBlock, address, topics"),
    "list": tr("a list"),
    "object": tr("an object"),
    "text": "a text",
    "felt": tr("a field element, 0x and digits"),
    "base58": tr("a key in base58"),
}


class MethodHelp(Popover):
    def __init__(self, theme: Theme, parent: QWidget, method: MethodInfo) -> None:
        super().__init__(theme, parent, name=tr("Help for {name}", name=method.name), padding=14)
        head = QHBoxLayout()
        head.addWidget(Label(theme, method.name, "code", weight=500, mono=True), 1)
        head.addWidget(Badge(theme, TIER_WORDS[method.tier]))
        head.addWidget(Label(theme, credits_text(method.credits), tabular=True))
        self.body.addLayout(head)
        words = (
            method.refusal or method.help or tr("There is no help for this method. The service may still support it.")
        )
        self.body.addWidget(Label(theme, words, wrap=True))
        for place, parameter in enumerate(method.parameters, start=1):
            kind = KIND_WORDS.get(parameter.kind, parameter.kind)
            kind = tr("{kind}, optional", kind=kind) if parameter.optional else kind
            self.body.addWidget(Label(theme, f"{place}. {parameter.name}: {kind}", "small", "text2", wrap=True))
        if method.parameters:
            example = json.dumps(method.example, ensure_ascii=False)
            self.body.addWidget(Label(theme, example, "code", "text2", mono=True, wrap=True))
        if not method.only_reads:
            self.body.addWidget(
                Label(theme, tr("It changes the blockchain and is always sent with an idempotency key."), wrap=True)
            )
