"""A call of a contract's function, written from its interface: address, function, one field an argument."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.files import open_regular
from app.text_encoding import NotText, decode_text
from app.translation import tr
from app.ui.crypto_rpc.session.contract_interfaces import call_data, functions_in, is_address
from app.ui.kit.discard import WidgetList
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.session.contract_interfaces import Function
    from app.ui.crypto_rpc.session.contracts import ContractPresenter
    from app.ui.kit.theme import Theme

WIDTH, TEXT_HEIGHT = 640, 120  # px at 100 %
MAX_FILE_BYTES = 8 * 1024 * 1024


class ContractForm(QWidget):
    """A contract's call, filled in. `call` has its "to" and "data", {} while it is not whole.

    `grown`: it has other fields, and needs another room.
    """

    changed = Signal()
    grown = Signal()

    def __init__(
        self, theme: Theme, contracts: ContractPresenter, tasks: TaskScope, address: str = "", *, changes: bool = False
    ) -> None:
        """`changes`: functions that change something stand first, as for a transaction."""
        super().__init__()
        self._theme = theme
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(theme.px(12))
        self._contracts = contracts
        self._interfaces = interfaces = contracts.interfaces
        self._network = contracts.network
        self._tasks = tasks
        self._changes = changes
        self._functions: tuple[Function, ...] = ()
        self.call: dict[str, str] = {}
        self.address = TextField(theme, tr("Contract address"), text=address, placeholder="0x…", mono=True)
        self.text = TextArea(name=tr("Contract interface (ABI)"), text=interfaces.text_for(address))
        self.text.setFont(theme.font("code"))
        self.text.setFixedHeight(theme.type_px(TEXT_HEIGHT))
        self.load = Button(theme, tr("Load a file…"), "folder", size="small")
        self.function = ChoiceField(theme, tr("Function"))
        self.arguments: list[TextField] = []
        self._holder = QWidget()
        lines = QVBoxLayout(self._holder)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(theme.px(8))
        self._lines: WidgetList[QWidget] = WidgetList(lines)
        self.shown_data = Label(theme, "", "code", "text2", mono=True, wrap=True)
        self.fault = ProblemLabel(theme)
        self._named(tr("Contract address"), self.address)
        head = QHBoxLayout()
        head.addWidget(self._label(tr("Interface (ABI): JSON, or one signature per line"), self.text), 1)
        head.addWidget(self.load)
        self.body.addLayout(head)
        self.body.addWidget(self.text)
        self._named(tr("Function"), self.function)
        self.meaning = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.read_token = Button(theme, contracts.read_token_words(), size="small")
        self.read_token.clicked.connect(
            lambda: self._tasks.start_unless_running("rpc token", self._read_token, self.address.text().strip())
        )
        for widget in (self._holder, self.meaning, self.shown_data, self.fault):
            self.body.addWidget(widget)
        self.body.insertWidget(self.body.indexOf(self.shown_data), self.read_token, 0, Qt.AlignmentFlag.AlignLeft)
        self.address.textChanged.connect(self._address_changed)
        self.text.edited.connect(self._read)
        self.function.currentIndexChanged.connect(self._ask_arguments)
        self.load.clicked.connect(self._choose_file)
        self._read()

    def _label(self, words: str, field: QWidget) -> Label:
        label = Label(self._theme, words, "small", "text2", weight=500)
        bind_label(label, field)
        return label

    def _named(self, words: str, field: QWidget) -> None:
        self.body.addWidget(self._label(words, field))
        self.body.addWidget(field)

    def _choose_file(self) -> None:
        load = partial(self._tasks.start_unless_running, "rpc interface file", self._load)
        ask_for_file(self, tr("Load interface"), load, tr("Interfaces (*.json *.abi *.txt);;All files (*)"))

    async def _load(self, path: Path) -> None:
        try:
            text = await asyncio.to_thread(_text_of, path)
        except OSError as error:
            self.fault.set_text(tr("The file could not be read: {strerror}.", strerror=error.strerror))
            self.fault.show()
            return
        self._show_text(text)

    def _show_text(self, text: str) -> None:
        self.text.set_text(text)
        self._read()

    def _address_changed(self, address: str) -> None:
        known = self._interfaces.texts.get(address.strip().lower())
        if known is not None and known != self.text.toPlainText():
            self._show_text(known)
        self._write()

    def _read(self) -> None:
        chosen = self.function.currentText()
        self._functions, words = functions_in(self.text.toPlainText())
        if self._changes:
            self._functions = tuple(sorted(self._functions, key=lambda entry: entry.only_reads))
        self.function.blockSignals(True)
        self.function.clear()
        self.function.addItems([each.signature for each in self._functions])
        place = self.function.findText(chosen)
        self.function.setCurrentIndex(max(0, place) if self._functions else -1)
        self.function.blockSignals(False)
        self.function.setEnabled(bool(self._functions))
        self._ask_arguments()
        if words:
            self.fault.set_text(words)

    def _entry(self) -> Function | None:
        place = self.function.currentIndex()
        return self._functions[place] if 0 <= place < len(self._functions) else None

    def _ask_arguments(self) -> None:
        self._lines.clear()
        self.arguments = []
        entry = self._entry()
        for place, parameter in enumerate(entry.inputs if entry is not None else (), start=1):
            words = f"{parameter.name or tr('argument {place}', place=place)} ({parameter.type})"
            field = TextField(self._theme, words, mono=True)
            field.setMaxLength(1_000_000)
            for widget in (self._label(words, field), field):
                self._lines.add(widget)
                widget.show()  # now, not with the next event: else it has no room yet
            field.textChanged.connect(self._write)
            self.arguments.append(field)
        self._write()
        for layout in (self._holder.layout(), self.body):  # from the inside out: each tells the one around it
            if layout is not None:
                layout.activate()
        self.grown.emit()

    @property
    def is_unfinished(self) -> bool:
        """Nothing is wrong yet while a field is still empty, except for an address that is written and none."""
        address = self.address.text().strip()
        return not address or (is_address(address) and any(not field.text() for field in self.arguments))

    def _write(self) -> None:
        """Encode what is written; a fault names its place, and nothing is put into the call then."""
        entry = self._entry()
        if entry is None:
            self.call, fault = {}, self.fault.text()
        else:
            token = self._interfaces.interfaces(self._network).token(self.address.text().strip())
            given = [field.text() for field in self.arguments]
            self.call, fault = call_data(entry, self.address.text(), given, token)
        self._show_meaning()
        unfinished = entry is not None and not self.call and self.is_unfinished
        self.fault.set_text("" if unfinished else fault)
        self.fault.setVisible(bool(self.fault.text()))
        data = self.call.get("data", "")
        self.shown_data.set_text(data if len(data) <= 400 else f"{data[:400]}…")
        self.shown_data.setVisible(bool(data))
        self.changed.emit()

    def _show_meaning(self) -> None:
        """Say how many tokens the call moves, or offer to find out."""
        interfaces = self._interfaces.interfaces(self._network)
        moves, words = False, ""
        if self.call:
            moves, words = interfaces.moved(self.call["to"], bytes.fromhex(self.call["data"][2:]))
        self.meaning.set_text(words, tr("Amount"))
        self.meaning.setVisible(bool(words))
        self.read_token.setVisible(moves and not words)

    async def _read_token(self, address: str) -> None:
        self.fault.set_text(await self._contracts.read_token(self._network, address))
        self._write()
        self.grown.emit()


class ContractDialog(Dialog):
    """Asks for a call that is put into the request."""

    def __init__(
        self, theme: Theme, parent: QWidget, contracts: ContractPresenter, tasks: TaskScope, address: str = ""
    ) -> None:
        super().__init__(theme, parent, tr("Call a contract (ABI)"), width=WIDTH)
        self.form = ContractForm(theme, contracts, tasks, address)
        self.body.addWidget(self.form)
        self.add_button(tr("Cancel"), accepts=False)
        self.use = self.add_button(tr("Insert"), kind="primary", accepts=True)
        self.form.changed.connect(self._follow)
        self.form.grown.connect(self._fit)
        self._follow()
        self.form.address.setFocus()

    def _follow(self) -> None:
        form = self.form
        self.use.setEnabled(bool(form.call))
        self.use.setToolTip(
            tr("Fill in the address and every argument.") if not form.call and form.is_unfinished else ""
        )


def _text_of(path: Path) -> str:
    """The beginning of a file, as much as an interface can have. Raises `OSError`."""
    with open_regular(path) as file:
        data = file.read(MAX_FILE_BYTES)
    try:
        return decode_text(data)[0]
    except NotText:
        return data.decode("utf-8", "replace")  # which is then no interface


async def ask_contract_call(
    theme: Theme, parent: QWidget, contracts: ContractPresenter, tasks: TaskScope, address: str
) -> tuple[dict[str, str], str] | None:
    """The object of the call, and the interface's text to keep; None when the person leaves."""
    dialog = ContractDialog(theme, parent, contracts, tasks, address)
    if not await dialog.answer():
        return None
    return dialog.form.call, dialog.form.text.toPlainText()
