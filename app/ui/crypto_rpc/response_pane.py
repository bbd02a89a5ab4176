"""The right half of the canvas: what came back, as a tree, as headers and as it was sent; what it cost; what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.crypto_rpc.pick_button import PickButton
from app.ui.crypto_rpc.response_facts import ResponseFacts
from app.ui.crypto_rpc.response_table import ResponseTable
from app.ui.crypto_rpc.sent_transactions import SentTransactions
from app.ui.crypto_rpc.session.outcomes import DECODED, CallOutcome, roots_of
from app.ui.crypto_rpc.state import RunView
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.json.node import TreeRoot
from app.ui.kit.json.tree import JsonTree, Reading
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.kit.json.node import Path
    from app.ui.kit.theme import Theme

MAX_RAW_CHARS = 60_000  # on screen; copies and files are whole
RAW_LINE = 400  # characters after which a line without a break is broken on screen
TREE, TABLE, HEADERS, RAW, CHANGES = range(5)
START = tr("The response and its cost appear here. Try the latest block number first.")
UNFOLDED = 40  # differences that stand open at once


def _request_of(run: RunView | None) -> str:
    """The same for all runs of a request; for what a job put together, its title."""
    return "" if run is None else run.runs[0][0] if run.runs else run.id or run.title


def _is_joined(run: RunView | None) -> bool:
    """True for what a job put together of several answers: it has no id of its own."""
    return run is not None and not run.id


def broken(text: str) -> str:
    """The text with breaks in lines that are too long to be laid out at once."""
    return "\n".join(
        line[at : at + RAW_LINE] for line in text.split("\n") for at in range(0, max(1, len(line)), RAW_LINE)
    )


class ResponsePane(QWidget):
    """Draws a `RunView`. `find_requested` asks for places that hold a text; `show_found` takes them."""

    run_chosen = Signal(str)
    copy_requested = Signal()
    save_requested = Signal()
    as_new_requested = Signal()
    edit_call_requested = Signal(int)
    send_alone_requested = Signal(int)
    problem_action = Signal(str)
    find_requested = Signal(str)
    decode_requested = Signal(bool)
    tables_requested = Signal()
    compare_requested = Signal(str)  # the id of another run

    def __init__(
        self,
        theme: Theme,
        reading: Reading,
        can_be_decoded: Callable[[str, object], bool],
        parent: QWidget | None = None,
        *,
        whole: bool = True,
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        self._reading = reading
        self._can_be_decoded = can_be_decoded
        self._run: RunView | None = None
        self._found: list[Path] = []
        self._at = -1
        zone(self, "canvas")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the parts, some at each step; from the outside in, so that none is styled twice."""
        theme = self._theme
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._make_tabs()
        layout.addWidget(self.tabs)
        self._whole = QStackedWidget()
        layout.addWidget(self._whole, 1)
        answer = QWidget()
        column = QVBoxLayout(answer)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._whole.addWidget(answer)
        yield
        column.addWidget(self._make_banner())
        self.facts = ResponseFacts(theme)
        column.addWidget(self.facts)
        column.addWidget(rule())
        yield
        self.card = ErrorCard(theme)
        self.note = Label(theme, "", role="text2", wrap=True)
        self._cards = QVBoxLayout()
        self.sent = SentTransactions(theme)
        column.addWidget(self.sent)
        self._cards.addWidget(self.card)
        self._cards.addWidget(self.note)
        column.addLayout(self._cards)
        self._places = QStackedWidget()
        self._places.setMinimumHeight(1)  # what went wrong has its room first
        column.addWidget(self._places, 1)
        column.addWidget(self._make_trouble())
        yield
        yield from self._make_parts()
        yield
        self._make_empty()
        self._whole.addWidget(self.empty)
        yield
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        yield
        self.show_run(None)

    def _make_tabs(self) -> None:
        theme = self._theme
        self.tabs = PaneTabs(
            theme, tr("Response views"), (tr("Response"), tr("Table"), tr("Headers"), tr("Raw"), tr("Changes"))
        )
        self.tabs.bar.setTabVisible(CHANGES, False)
        self.runs = PickButton(theme, "", size="small")
        self.copy = IconButton(theme, "copy", tr("Copy response"), shortcut="Ctrl+Shift+C", size="small")
        self.save = IconButton(theme, "download", tr("Save response as…"), shortcut="Ctrl+S", size="small")
        self.tabs.setProperty("part", "subheader")  # its line meets the request's
        for widget in (self.runs, self.copy, self.save):
            self.tabs.add(widget)

    def _make_banner(self) -> QWidget:
        """Make the line that says that an answer was replayed."""
        theme = self._theme
        self.replay = QFrame()
        zone(self.replay, "accent_tint")
        self.replay_words = Label(theme, "", wrap=True, lead=tr("Replayed, no charge."))
        self.as_new = Button(theme, tr("Send as new"), size="small")
        self._banner = QHBoxLayout(self.replay)
        self._banner.addWidget(IconLabel(theme, "replay", "accent"), 0, Qt.AlignmentFlag.AlignTop)
        self._banner.addWidget(self.replay_words, 1)
        self._banner.addWidget(self.as_new)
        return self.replay

    def _make_parts(self) -> BuildSteps[None]:
        """Make what each of the pane's own tabs shows, in their order."""
        theme, reading = self._theme, self._reading
        page = QWidget()
        inside = QVBoxLayout(page)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        self._places.addWidget(page)
        inside.addWidget(self._make_search())
        self._search_line = rule()
        inside.addWidget(self._search_line)
        yield
        self.tree = JsonTree(theme, tr("Response"), reading)
        self.tree.offer = self._offer
        self.tree.has_curl = True
        inside.addWidget(self.tree, 1)
        yield
        self.table = ResponseTable(theme, reading)
        self._places.addWidget(self.table)
        yield
        self.headers = JsonTree(theme, tr("Response headers"))
        self._places.addWidget(self.headers)
        yield
        self.raw = TextArea()
        self.raw.setReadOnly(True)
        self.raw.setProperty("bare", True)
        self.raw.setAccessibleName(tr("Raw response"))
        self._places.addWidget(self.raw)
        yield
        self.changes = JsonTree(theme, tr("Differences between two runs"), reading)
        self._places.addWidget(self.changes)

    def _make_search(self) -> QWidget:
        theme = self._theme
        self.finder = SearchField(theme, tr("Find in response"), results=lambda: self.places.text(), is_filter=False)
        self.finder.setProperty("sizing", "small")
        self.places = Label(theme, "", "small", "text2", tabular=True)
        self.results = PillButton(theme, "", "check")
        self.errors = PillButton(theme, "", "error")
        self.decode = PillButton(theme, tr("Decode"), shortcut="F8")
        self._search_row = QWidget()
        self._search = QHBoxLayout(self._search_row)
        self._search.addWidget(self.finder, 3)
        self._search.addWidget(self.places)
        self._search.addStretch(1)
        self._search.addWidget(self.decode)
        self._search.addWidget(self.results)
        self._search.addWidget(self.errors)
        return self._search_row

    def _make_empty(self) -> None:
        self.empty = EmptyState(
            self._theme,
            tr("Nothing sent yet"),
            START,
            icon_name="console",
            key="Ctrl+Enter",
            key_does=tr("to send the call on the left"),
        )

    def _make_trouble(self) -> QWidget:
        """Make the foot that says what went wrong with single calls, and what can be done."""
        theme = self._theme
        self.trouble = QFrame()
        self.trouble_words = Label(theme, "", wrap=True)
        self.edit_call = Button(theme, tr("Edit call"), size="small")
        self.alone = Button(theme, tr("Send alone"), size="small")
        self.trouble.setProperty("part", "footer")
        zone(self.trouble, "pane")
        line = QHBoxLayout(self.trouble)
        line.addWidget(IconLabel(theme, "error", "bad"), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.addWidget(self.trouble_words)
        buttons = QHBoxLayout()
        buttons.addWidget(self.edit_call)
        buttons.addWidget(self.alone)
        buttons.addStretch(1)
        column.addLayout(buttons)
        line.addLayout(column, 1)
        self._trouble_line, self._trouble_column, self._trouble_buttons = line, column, buttons
        return self.trouble

    def _connect(self) -> None:
        self.tabs.bar.currentChanged.connect(self._show_part)
        self.runs.clicked.connect(self._open_runs)
        self.copy.clicked.connect(self.copy_requested)
        self.save.clicked.connect(self.save_requested)
        self.as_new.clicked.connect(self.as_new_requested)
        self.finder.search_changed.connect(self.find_requested)
        self.decode.toggled.connect(self.decode_requested)
        self.tree.offer_taken.connect(lambda: self.decode.setChecked(True))
        self.finder.returnPressed.connect(lambda: self.step(1))
        self.finder.returnPressed.connect(self.finder.say_step)
        self.results.clicked.connect(lambda: self._show_only("ok"))
        self.errors.clicked.connect(lambda: self._show_only("bad"))
        self.edit_call.clicked.connect(lambda: self.edit_call_requested.emit(self._first_error()))
        self.alone.clicked.connect(lambda: self.send_alone_requested.emit(self._first_error()))
        self.card.action.connect(self.problem_action)

    def _offer(self, name: str, value: object) -> str:
        """What stands at the right of a row whose bytes a contract's interface may explain."""
        if self.decode.isChecked() or not self._can_be_decoded(name, value):
            return ""
        return tr("Decode")

    @property
    def run(self) -> RunView | None:
        return self._run

    def shows(self, run: RunView) -> bool:
        """Whether this answer is on screen, whatever became of its transactions meanwhile."""
        return self._run is not None and self._run.outcomes is run.outcomes

    def take_focus(self) -> None:
        """Give the keyboard to the answer."""
        self.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_sending(self, sending: bool) -> None:
        """While the first response is awaited, the empty page says so."""
        if sending:
            self.empty.set_words(tr("Waiting for the response"), tr("It appears here with its cost."))
        else:
            self.empty.set_words(tr("Nothing sent yet"), START)
        self.empty.hint.setVisible(not sending)

    def follow(self, run: RunView | None) -> bool:
        """Show what became of the transactions of the run on screen; False when this is another answer."""
        if run is None or self._run is None or run.id != self._run.id or run.outcomes is not self._run.outcomes:
            return False
        self._run = run
        self.sent.show_sent(run.sent, speak=True)
        return True

    def show_run(self, run: RunView | None) -> None:
        """Show an answer, or with None what belongs here. What a job put together is a table first of all.

        Another request begins with its response, without the words that were looked for in the one before.
        """
        if _request_of(run) != _request_of(self._run):
            self.tabs.bar.setCurrentIndex(TABLE if _is_joined(run) else TREE)
            self.finder.clear()
        self._run = run
        self._found, self._at = [], -1
        self.places.set_text("")
        self._whole.setCurrentIndex(0 if run is not None else 1)
        for widget in (self.runs, self.copy, self.save):
            widget.setVisible(run is not None)
        if run is None:
            self.tabs.bar.setTabText(HEADERS, tr("Headers"))
            return
        self.tabs.bar.setTabText(HEADERS, tr("Headers {n}", n=len(run.headers)) if run.headers else tr("Headers"))
        self.runs.setVisible(bool(run.runs))
        place = next((at for at, (run_id, _) in enumerate(run.runs, start=1) if run_id == run.id), 1)
        self.runs.setText(tr("Run {place} of {many}", place=place, many=len(run.runs)))
        self.replay.setVisible(run.replayed)
        self.replay_words.set_text(run.replay_note, tr("Replayed, no charge."))
        self.facts.show_facts(run.facts, run.request_id)
        self.sent.show_sent(run.sent)
        self.card.setVisible(run.problem is not None)
        if run.problem is not None:
            self.card.set_problem(run.problem)
        self._apply_theme()
        note = run.note or ("" if run.body_kept else tr("This response was too large to save."))
        self.note.set_text(note)
        self.note.setVisible(bool(note))
        self._fill_tree(run)
        self._show_trouble(run)

    def _fill_tree(self, run: RunView) -> None:
        self.decode.setChecked(False)
        self.show_outcomes(run.outcomes)
        self.decode.setChecked(run.says_more)
        for widget in (self._search_row, self._search_line):  # nothing to look through where nothing came
            widget.setVisible(bool(run.outcomes))
        self.tabs.bar.setTabVisible(CHANGES, False)
        self._show_part(self.tabs.bar.currentIndex())
        self.results.setText(tr_n("{n} result", "{n} results", run.results))
        self.errors.setText(tr_n("{n} error", "{n} errors", run.errors))
        self.results.setVisible(run.results > 0)
        self.errors.setVisible(run.errors > 0)
        for pill in (self.results, self.errors):
            pill.setChecked(False)
            pill.updateGeometry()

    def _show_part(self, part: int) -> None:
        """Fill a part of the answer when it is looked at: of a large one, each takes its time."""
        self._places.setCurrentIndex(part)
        run = self._run
        if run is None:
            return
        received = bool(run.headers or run.body)
        self.card.setVisible(run.problem is not None and (part == TREE or not received))  # else it hides what was sent
        if part == TABLE:
            self.tables_requested.emit()
        elif part == HEADERS:
            self.headers.set_roots([TreeRoot(name, value) for name, value in run.headers], unfold=False)
        elif part == RAW:
            text = run.body[: MAX_RAW_CHARS * 4].decode("utf-8", "replace")[:MAX_RAW_CHARS]
            cut = len(run.body) > len(text.encode("utf-8", "replace"))
            lines = [broken(text), *([tr("… copy or save to get all of it")] if cut else [])]
            self.raw.setPlainText("\n".join(lines))

    def show_changes(self, title: str, rows: Sequence[TreeRoot]) -> None:
        """Show what differs from another run."""
        shown = rows or (TreeRoot(tr("No differences"), title),)
        self.changes.set_roots(shown, unfold=False)
        for row in range(min(len(rows), UNFOLDED)):
            self.changes.unfold_below(self.changes.rows.index(row, 0))
        self.tabs.bar.setTabVisible(CHANGES, True)
        self.tabs.bar.setTabText(CHANGES, tr("Changes {n}", n=len(rows)))
        self.tabs.bar.setCurrentIndex(CHANGES)
        self._places.setCurrentIndex(CHANGES)
        self.changes.setAccessibleDescription(title)

    def show_outcomes(self, outcomes: Sequence[CallOutcome]) -> None:
        """Show the answer in the tree, as it came or with what its bytes say."""
        self.tree.set_roots(roots_of(outcomes))
        first = self.tree.rows.index(0, 0, self.tree.rows.index(0, 0))
        if len(outcomes) == 1 and first.isValid() and self.tree.rows.node(first).key == DECODED:
            self.tree.unfold_below(first)  # what the bytes say is what was asked for

    def _show_trouble(self, run: RunView) -> None:
        """What can be done about the first call that went wrong."""
        first = 0 if run.state == "unknown" else self._first_error()  # the card says what to do
        self.trouble.setVisible(first > 0)
        if not first:
            return
        outcome = next(each for each in run.outcomes if each.id == first)
        why = dict(run.decoded).get(first, "") or outcome.message
        others = len(run.outcomes) - run.errors
        cost = outcome.credits
        rest = [
            tr_n("It cost {n} credit.", "It cost {n} credits.", cost)
            if cost is not None
            else tr("It may have been charged.")
        ]
        if others:
            rest.append(tr("The other calls were not affected."))
        self.trouble_words.set_text(" ".join(rest), tr("Call {n} failed: {why}.", n=first, why=why.rstrip(".")))
        self.edit_call.setText(tr("Edit call {n}", n=first))
        self.alone.setText(tr("Send call {n} alone", n=first))
        self.alone.setVisible(len(run.outcomes) > 1)

    def _first_error(self) -> int:
        if self._run is None:
            return 0
        return next((outcome.id for outcome in self._run.outcomes if outcome.is_error), 0)

    def _show_only(self, tone: str) -> None:
        """Hide the rows of the other kind while a pill is down."""
        self.results.setChecked(self.results.isChecked() and tone == "ok")
        self.errors.setChecked(self.errors.isChecked() and tone == "bad")
        wanted = "ok" if self.results.isChecked() else "bad" if self.errors.isChecked() else ""
        if self._run is not None:
            for row, root in enumerate(roots_of(self._run.outcomes)):
                self.tree.setRowHidden(row, self.tree.rootIndex(), bool(wanted) and root.tone != wanted)

    def show_found(self, places: list[Path]) -> None:
        """The places that hold what is looked for; the first is shown."""
        self._found, self._at = places, -1
        self.places.set_text(tr("Nothing found") if self.finder.text().strip() and not places else "")
        if places:
            self.step(1)

    def step(self, by: int) -> None:
        """The next or the previous place."""
        if self._found:
            self._at = (self._at + by) % len(self._found)
            self.tree.reveal(self._found[self._at])
            self.places.set_text(
                tr("{at} of {count}", at=format_number(self._at + 1), count=format_number(len(self._found)))
            )

    def _open_runs(self) -> None:
        run = self._run
        if run is None:
            return
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for run_id, title in reversed(run.runs):
            action = menu.add(title)
            action.setCheckable(True)
            action.setChecked(run_id == run.id)
            action.setData(run_id)
        menu.triggered.connect(self._run_chosen)
        others = [(run_id, title) for run_id, title in run.runs if run_id != run.id]
        if others:
            menu.addSeparator()
            compare = Menu(self._theme, menu)
            compare.setTitle(tr("Compare with"))
            for run_id, title in reversed(others):
                compare.addAction(title).setData(run_id)
            compare.triggered.connect(lambda action: self.compare_requested.emit(action.data()))
            menu.addMenu(compare)
        menu.popup(self.runs.mapToGlobal(self.runs.rect().bottomLeft()))

    def _run_chosen(self, action: QAction) -> None:
        if action.isCheckable():  # those of the inner menu pass by here too
            self.run_chosen.emit(action.data())

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._banner.setContentsMargins(px(16), px(10), px(12), px(10))
        self._banner.setSpacing(px(10))
        self._search.setContentsMargins(px(16), px(8), px(12), px(8))
        self._search.setSpacing(px(8))
        if self._run is not None and (self._run.problem is not None or self._run.note or not self._run.body_kept):
            self._cards.setContentsMargins(px(16), px(8), px(16), px(8))
        else:
            self._cards.setContentsMargins(0, 0, 0, 0)
        self._trouble_line.setContentsMargins(px(16), px(12), px(16), px(12))
        self._trouble_line.setSpacing(px(10))
        self._trouble_column.setSpacing(px(8))
        self._trouble_buttons.setSpacing(px(8))
        self.raw.setFont(self._theme.font("code"))
