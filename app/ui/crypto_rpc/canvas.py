"""The canvas of the Console: one line on top with network, price and Send; the request beside its answer below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core.number_format import credits_text
from app.translation import tr
from app.ui.crypto_rpc.job_bar import JobBar
from app.ui.crypto_rpc.pick_button import PickButton
from app.ui.crypto_rpc.request_pane import RequestPane
from app.ui.crypto_rpc.response_pane import ResponsePane
from app.ui.crypto_rpc.state import DraftView
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.splitter import Splitter
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from app.core.problems import Problem
    from app.ui.kit.json.tree import Reading
    from app.ui.kit.theme import Theme

SIDE_BY_SIDE = 820  # px at 100 %: below, request and answer are shown one at a time
ROOM_FOR_PRICE = 780
ROOM_FOR_TOOLS = 620  # below, only their sign
HALF = 500  # thousandths of the width that the request has
LEAST, MOST = 250, 750
SPLIT_STEP = 50  # by keyboard


class Canvas(QWidget):
    """`send_requested` is pressed with all that is written; the price stands beside the button before it is."""

    send_requested = Signal()
    stop_requested = Signal()
    network_requested = Signal()
    method_requested = Signal()
    tools_requested = Signal()
    list_requested = Signal()
    left_screen = Signal()
    split_moved = Signal(int)  # thousandths of the width that the request has now

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
        self._reading, self._can_be_decoded = reading, can_be_decoded
        self._sending = False
        self._told: Problem | None = None
        self._split = HALF
        self._wide = True
        self._is_whole = False
        zone(self, "canvas")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header, the request and the answer, a piece at each step."""
        theme = self._theme
        self._make_head()
        yield
        self._make_middle()
        yield
        self.request = RequestPane(theme, whole=False)
        self.splitter.addWidget(self.request)
        yield from self.request.build()
        yield
        self.response = ResponsePane(theme, self._reading, self._can_be_decoded, whole=False)
        self.splitter.addWidget(self.response)
        yield from self.response.build()
        yield
        self.switch.changed.connect(self.show_side)
        self.splitter.splitterMoved.connect(self._moved)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._is_whole = True

    def _make_head(self) -> None:
        """Make the line with the network, the methods, the price and Send."""
        theme = self._theme
        self.list_button = IconButton(theme, "panel-left", tr("Show the calls"), shortcut="Ctrl+B")
        self.network = PickButton(theme, "", "globe")
        self.network.setToolTip(tr("Choose network (Ctrl+Shift+L)"))
        self.add_method = PickButton(theme, tr("Add method"), "plus")
        self.add_method.setToolTip(tr("Add a call (Ctrl+Shift+M)"))
        self.tools = PickButton(theme, tr("Tools"), "wrench")
        self.tools.setAccessibleName(tr("Tools"))
        self.tools.setToolTip(tr("Contract calls, logs, balances, watching and repeating"))
        self.estimate = Label(theme, "", role="text2", tabular=True, elide=True)
        self.estimate.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.estimate.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.send = Button(theme, "", "arrow-up", kind="primary", hint="Ctrl+Enter")
        self.header = QFrame()
        self.header.setProperty("part", "header")
        self._header = QHBoxLayout(self.header)
        for widget in (self.list_button, self.network, self.add_method, self.tools):
            self._header.addWidget(widget)
        self._header.addStretch(0)
        self._header.addWidget(self.estimate, 1)
        self._header.addWidget(self.send)
        self.list_button.clicked.connect(self.list_requested)
        self.network.clicked.connect(self.network_requested)
        self.add_method.clicked.connect(self.method_requested)
        self.tools.clicked.connect(self.tools_requested)
        self.send.clicked.connect(self._pressed)

    def _make_middle(self) -> None:
        """Put everything between the header and the two halves into its place; the halves come after."""
        theme = self._theme
        self.problem = ErrorCard(theme)
        self.problem.hide()
        self.job = JobBar(theme)
        self.splitter = Splitter(theme, tr("Request width"))
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setMinimumHeight(1)  # what went wrong has its room first
        self.switch = SegmentedChoice(theme, tr("Show"), (("request", tr("Request")), ("answer", tr("Response"))))
        self.price = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.price.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._switch_bar = QFrame()
        self._switch_bar.setProperty("part", "subheader")
        self._switch_line = QHBoxLayout(self._switch_bar)
        self._switch_line.addWidget(self.switch)
        self._switch_line.addWidget(self.price, 1)
        self._cards = QVBoxLayout()
        self._cards.addWidget(self.problem)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._switch_bar)
        layout.addWidget(self.splitter, 1)
        layout.addLayout(self._cards)  # below, as the job is: what is above stays where it is
        layout.addWidget(self.job)

    def show_draft(self, view: DraftView, price: str) -> None:
        """Show what would be sent and what it would cost."""
        self._sending = view.sending
        self.response.show_sending(view.sending)
        self.network.setText(view.network.title)
        self.network.set_fact(credits_text(view.network.credits))
        self.network.setAccessibleName(
            tr("Network: {title}, {credits} credits per call", title=view.network.title, credits=view.network.credits)
        )
        self.estimate.set_text(price, tr("Estimate"))
        self.price.set_text(price, tr("Estimate"))
        self.send.setEnabled(view.can_send or view.sending)
        many = len(view.rows) != 1
        self.send.setText(tr("Stop") if view.sending else tr("Send batch") if many else tr("Send call"))
        self.send.set_icon("stop" if view.sending else "arrow-up")
        self.send.set_hint("Esc" if view.sending else "Ctrl+Enter")
        self.problem.setVisible(view.problem is not None)
        if view.problem is not None and self._told is not view.problem:
            self.problem.set_problem(view.problem)
        self._told = view.problem
        self.request.show_draft(view)
        self._space()

    def _pressed(self) -> None:
        (self.stop_requested if self._sending else self.send_requested).emit()

    def set_list_button(self, shown: bool) -> None:
        self.list_button.setVisible(shown)

    def set_split(self, thousandths: int) -> None:
        """Divide the width as it was divided before."""
        self._split = max(LEAST, min(MOST, thousandths))
        self._arrange()

    @property
    def is_wide(self) -> bool:
        """Whether the request and the answer are beside each other."""
        return self._wide

    def widen_request(self, steps: int) -> None:
        """Give the request more of the width or, with a negative number, less, as dragging the line does."""
        if self._wide:
            self.set_split(self._split + steps * SPLIT_STEP)
            self.split_moved.emit(self._split)
            announce(self, tr("Request width {percent} %", percent=self._split // 10))

    def show_side(self, side: str) -> None:
        """Show "request" or "answer", where there is room for one of them only; the keyboard goes along."""
        focused = self.window().focusWidget()
        inside = focused is not None and self.splitter.isAncestorOf(focused)
        self.switch.set_current(side)
        self._arrange()
        if not self._wide and inside:
            (self.request if side == "request" else self.response).take_focus()

    def reveal_widget(self, widget: QWidget) -> None:
        """Show the side that holds `widget`."""
        if self.request.isHidden() and self.request.isAncestorOf(widget):
            self.show_side("request")

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.left_screen.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_whole:
            self._arrange()

    def _arrange(self) -> None:
        width = self.width()
        self._wide = width >= self._theme.type_px(SIDE_BY_SIDE)
        self.tools.setText(tr("Tools") if width >= self._theme.type_px(ROOM_FOR_TOOLS) else "")
        self.estimate.setVisible(self._wide and width >= self._theme.type_px(ROOM_FOR_PRICE))
        self._switch_bar.setVisible(not self._wide)
        self.request.setVisible(self._wide or self.switch.current == "request")
        self.response.setVisible(self._wide or self.switch.current == "answer")
        if self._wide:
            left = width * self._split // 1000
            self.splitter.setSizes([left, width - left])

    def _moved(self, position: int, _handle: int) -> None:
        if self._wide and self.width():
            self._split = max(LEAST, min(MOST, position * 1000 // self.width()))
            self.split_moved.emit(self._split)

    def _space(self) -> None:
        px = self._theme.px
        shown = self.problem.isVisibleTo(self)
        self._cards.setContentsMargins(*((px(16), px(12), px(16), px(12)) if shown else (0, 0, 0, 0)))

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._header.setContentsMargins(px(20), 0, px(16), 0)
        self._header.setSpacing(px(8))
        self._switch_line.setContentsMargins(px(20), 0, px(16), 0)
        self._switch_line.setSpacing(px(12))
        self._space()
