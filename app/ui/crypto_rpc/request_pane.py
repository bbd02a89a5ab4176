"""The left half of the canvas: the calls as rows or as JSON, the editor of one call, and the idempotency key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.formats import format_number
from app.service.crypto_rpc import MAX_BATCH_ITEMS
from app.translation import tr, tr_n
from app.ui.crypto_rpc.batch_list import BatchHead, BatchList
from app.ui.crypto_rpc.param_form import ParamForm
from app.ui.crypto_rpc.session.parameter_fields import read_field
from app.ui.crypto_rpc.state import CONTRACT_CALLS, DraftView
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.json.editor import JsonEditor
from app.ui.kit.key_text import set_tip
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.announce import nothing_said
from app.ui.kit.widgets.buttons import Button, IconButton, LinkButton
from app.ui.kit.widgets.fields import CheckBox
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import rule, set_property, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MAX_WARNINGS = 3  # in words; every row has its sign


ROOM_FOR_HEAD = 250  # px at 100 % of height for the names of the columns


class RequestPane(QWidget):
    """Draws a `DraftView`. Every field shows the draft's own text, also the one being typed in."""

    mode_changed = Signal(str)
    menu_requested = Signal(object)  # the button
    copy_requested = Signal(object)  # the button
    add_requested = Signal()
    split_requested = Signal()
    method_edited = Signal(int, str)
    params_edited = Signal(str)
    text_edited = Signal(str)
    help_requested = Signal()
    format_requested = Signal()
    key_toggled = Signal(bool)
    key_edited = Signal(str)
    new_key_requested = Signal()
    fields_edited = Signal(object)  # list of the texts
    form_shown = Signal(bool)
    contract_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        self._view: DraftView | None = None
        zone(self, "sunken")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the parts from top to bottom, some at each step; from the outside in, so that none is styled twice."""
        theme = self._theme
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._make_top())
        self._places = QStackedWidget()
        layout.addWidget(self._places, 1)
        rows = QWidget()
        inside = QVBoxLayout(rows)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        self._places.addWidget(rows)
        yield
        inside.addWidget(self._make_table())
        inside.addWidget(self._make_total())
        inside.addWidget(rule())
        yield
        inside.addWidget(self._make_call())
        yield
        self.form = ParamForm(theme, read_field)
        self.form.hide()
        inside.addWidget(self.form, 3)
        yield
        self.params = JsonEditor(theme, tr("Call parameters"))
        inside.addWidget(self.params, 2)
        yield
        self.text = JsonEditor(theme, tr("Request as JSON"))
        self._places.addWidget(self.text)
        yield
        self.fault = ProblemLabel(theme)
        self.key_fault = ProblemLabel(theme)
        self._faults = QVBoxLayout()
        self._faults.addWidget(self.fault)
        self._faults.addWidget(self.key_fault)
        layout.addLayout(self._faults)
        layout.addWidget(self._make_foot())
        yield
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _make_top(self) -> QWidget:
        theme = self._theme
        self.title = Label(theme, "", "body", weight=600)
        self.count = Label(theme, "", role="text2", tabular=True)
        self.mode = SegmentedChoice(theme, tr("Request view"), (("rows", tr("Rows")), ("json", "JSON")))
        self.copy = IconButton(theme, "copy", tr("Copy request as curl, Python or cast"), size="small")
        self.more = IconButton(theme, "more", tr("More actions"), size="small")
        top, self._top = _bar("subheader")
        for widget in (self.title, self.count):
            self._top.addWidget(widget)
        self._top.addStretch(1)
        self._top.addWidget(self.mode)
        self._top.addWidget(self.copy)
        self._top.addWidget(self.more)
        zone(top, "canvas")
        return top

    def _make_table(self) -> QWidget:
        self.list = BatchList(self._theme)
        self.head = BatchHead(self._theme, self.list)
        table = QWidget()
        zone(table, "canvas")
        around = QVBoxLayout(table)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(0)
        around.addWidget(self.head)
        around.addWidget(self.list)
        return table

    def _make_total(self) -> QWidget:
        self.add = LinkButton(self._theme, tr("Add call"), "plus")
        self.split = LinkButton(self._theme, tr("Split in two"), "layers")
        self.split.hide()
        self.total = Label(self._theme, "", role="text2", tabular=True)
        below, self._below = _bar("")
        self._below.addWidget(self.add)
        self._below.addWidget(self.split)
        self._below.addStretch(1)
        self._below.addWidget(self.total)
        zone(below, "canvas")
        return below

    def _make_call(self) -> QWidget:
        """Make the line above the parameters: the method, and what can be done with it."""
        theme = self._theme
        self.call_title = Label(theme, "", weight=600)
        self.method = QLineEdit()
        self.names = QStringListModel(self)
        self.method.setAccessibleName(tr("Call method"))
        self.method.setProperty("mono", True)
        self.method.setProperty("sizing", "small")
        completer = QCompleter(self.names, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.method.setCompleter(completer)
        self.help = Button(theme, tr("Method help"), "document", kind="quiet", size="small")
        self.tidy = Button(theme, tr("Format"), "wrap", kind="quiet", size="small")
        set_tip(self.tidy, tr("Format JSON"), "Ctrl+Shift+I")
        self.as_form = PillButton(theme, tr("Form"))
        bar, self._bar = _bar("subheader")
        self._bar.addWidget(self.call_title)
        self._bar.addWidget(self.method, 1)
        self._bar.addWidget(self.as_form)
        self._bar.addWidget(self.help)
        self._bar.addWidget(self.tidy)
        zone(bar, "canvas")
        return bar

    def _make_foot(self) -> QWidget:
        """Make the line of the idempotency key."""
        theme = self._theme
        self.key_used = CheckBox(tr("Idempotency key"))
        self.key_used.setAccessibleName(tr("Send with an idempotency key"))
        self.key = QLineEdit()
        self.key.setAccessibleName(tr("Idempotency key"))
        self.key.setProperty("mono", True)
        self.key.setProperty("sizing", "small")
        self.new_key = IconButton(theme, "refresh", tr("New key"), shortcut="Ctrl+Shift+N", size="small")
        self.key_note = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.key_note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        foot, self._foot = _bar("footer")
        foot.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for part in (self.key_used, self.key, self.new_key):
            self._foot.addWidget(part)
        self._foot.addWidget(self.key_note, 1)
        zone(foot, "canvas")
        return foot

    def _connect(self) -> None:
        self.mode.changed.connect(self.mode_changed)
        self.copy.clicked.connect(lambda: self.copy_requested.emit(self.copy))
        self.more.clicked.connect(lambda: self.menu_requested.emit(self.more))
        self.add.clicked.connect(self.add_requested)
        self.split.clicked.connect(self.split_requested)
        self.method.textEdited.connect(self._publish_method)
        self.method.editingFinished.connect(
            self._publish_method
        )  # a name that was chosen from the list under the field
        self.params.edited.connect(self.params_edited)
        self.text.edited.connect(self.text_edited)
        self.help.clicked.connect(self.help_requested)
        self.tidy.clicked.connect(self.format_requested)
        self.key_used.toggled.connect(self.key_toggled)
        self.key.textEdited.connect(self.key_edited)
        self.new_key.clicked.connect(self.new_key_requested)
        self.list.edit_requested.connect(self.params.setFocus)
        self.as_form.toggled.connect(self.form.setVisible)
        self.as_form.toggled.connect(self.form_shown)
        self.form.edited.connect(self.fields_edited)
        self.form.contract_requested.connect(self.contract_requested)

    def take_focus(self) -> None:
        """Give the keyboard to the editor that is shown."""
        widget = self.params if self.mode.current == "rows" else self.text
        widget.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_draft(self, view: DraftView) -> None:
        """Show the draft. While it is being sent, nothing in it can be changed."""
        self._view = view
        number = len(view.rows)
        self.title.set_text(tr("Batch") if number != 1 else tr("Call"))
        count = tr("{number} of {most}", number=number, most=MAX_BATCH_ITEMS)
        self.count.set_text(count if number != 1 else "")
        self.mode.set_current(view.mode)
        self._places.setCurrentIndex(0 if view.mode == "rows" else 1)
        place = view.selected.id - 1 if view.selected is not None else -1
        self.list.show_rows(view.rows, place)
        self._fit_list(number)
        self.split.setText(
            tr_n("The other call", "The other {n} calls", view.rest) if view.rest else tr("Split in two")
        )
        self.split.setVisible(bool(view.rest or view.excess))
        self.total.set_text(tr("Total {credits}", credits=format_number(view.credits)))
        self._show_call(view)
        if view.mode == "json":  # hidden, it would be laid out at every key; it gets the text when it is shown
            self.text.set_text(view.text)
        self._show_faults(view)
        self._show_key(view)
        for line in (self.method, self.key, *self.form.inputs):
            line.setReadOnly(view.sending)
        for editor in (self.params, self.text):
            editor.setReadOnly(view.sending)

    def _show_call(self, view: DraftView) -> None:
        call = view.selected
        self.call_title.set_text(tr("Call {number}", number=call.id) if call is not None else "")
        for widget in (self.method, self.help, self.tidy, self.params, self.as_form):
            widget.setEnabled(call is not None)
        which = "" if call is None else tr("Call {number}: {method}", number=call.id, method=call.method)
        with nothing_said():  # it is read when the keyboard comes, by Orca 43 then twice
            self.params.setAccessibleDescription(which)
        if call is None:
            self.params.set_text("")
            self.method.clear()
            return
        if self.method.text().strip() != call.method:
            self.method.setText(call.method)
        self.method.setToolTip(plain_tip(call.help))
        self.form.show_fields(call.fields, contract=call.method in CONTRACT_CALLS)
        self.params.set_text(call.params)

    def _show_faults(self, view: DraftView) -> None:
        fault = ""
        self.text.set_fault(view.problems[0].line if view.problems else 0)
        problem = view.selected.problem if view.selected is not None else None
        self.params.set_fault(problem.line if problem is not None else 0)
        if view.mode == "json" and view.problems:
            fault = tr("Line {line}: {sentence}", line=view.problems[0].line, sentence=view.problems[0].sentence)
        elif view.mode == "rows" and problem is not None:
            fault = tr("Line {line}: {sentence}", line=problem.line, sentence=problem.sentence)
        elif view.selected is not None and view.selected.field_problem:
            fault = view.selected.field_problem
        elif view.excess:
            fault = view.excess
        elif view.refusals:
            fault = " ".join(view.refusals)
        elif view.missing:
            fault = tr("No value for {names}.", names=", ".join(f"{{{{{name}}}}}" for name in view.missing))
        warnings = tuple(dict.fromkeys(row.warning for row in view.rows if row.warning))
        self.fault.set_role("bad" if fault else "warn")
        self.fault.set_text(fault or " ".join(warnings[:MAX_WARNINGS]))
        self.fault.setVisible(bool(fault or warnings))

    def _show_key(self, view: DraftView) -> None:
        self.key_used.blockSignals(True)
        self.key_used.setChecked(view.key_used)
        self.key_used.blockSignals(False)
        if self.key.text() != view.key:
            self.key.setText(view.key)
            self.key.setCursorPosition(0)
            self.key.setToolTip(plain_tip(view.key))
        self.key.setEnabled(view.key_used)
        self.new_key.setEnabled(view.key_used)
        self.key_note.set_text(view.key_note if view.key_used else "")
        set_property(self.key, "state", "error" if view.key_problem and view.key_used else "")
        self.key_fault.set_text(view.key_problem if view.key_used else "")
        self.key_fault.setVisible(bool(view.key_problem) and view.key_used)

    def _publish_method(self) -> None:
        view = self._view
        if view is not None and view.selected is not None and self.method.text().strip() != view.selected.method:
            self.method_edited.emit(view.selected.id - 1, self.method.text())

    def _fit_list(self, number: int) -> None:
        """The table is as tall as its rows, up to half of the pane."""
        self.head.setVisible(self.height() >= self._theme.type_px(ROOM_FOR_HEAD))
        row = self._theme.height_px(34)
        self.list.setFixedHeight(min(max(1, number) * row, max(3 * row, self.height() * 45 // 100)))

    def _apply_theme(self) -> None:
        px = self._theme.px
        for layout in (self._top, self._bar):
            layout.setContentsMargins(px(20), 0, px(12), 0)
            layout.setSpacing(px(8))
        self._below.setContentsMargins(px(38), px(6), px(14), px(6))
        self._foot.setContentsMargins(px(20), px(8), px(12), px(8))
        self._foot.setSpacing(px(8))
        self._faults.setContentsMargins(px(20), px(4), px(12), px(4))
        self.key.setMinimumWidth(self._theme.type_px(172))
        self.params.setContentsMargins(px(8), 0, 0, 0)
        if self._view is not None:
            self._fit_list(len(self._view.rows))


def _bar(part: str) -> tuple[QFrame, QHBoxLayout]:
    bar = QFrame()
    if part:
        bar.setProperty("part", part)
    return bar, QHBoxLayout(bar)
