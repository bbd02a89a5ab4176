"""The top-up in four steps: amount, way to pay, exactly what is signed, and what came of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core import money, time_format
from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.kit.discard import WidgetList
from app.ui.kit.focus import let_go, turn
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import SpokenCountdown, announce
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.wallet.account_card import column
from app.ui.wallet.presenter_top_up import TopUpPresenter
from app.ui.wallet.session.holdings import GIFT_USD
from app.ui.wallet.sign_sheet import SignSheet
from app.ui.wallet.steps import Steps
from app.ui.wallet.top_up_state import SUGGESTED, TopUpView

WIDTH = 1080
SIDE_BY_SIDE = 900  # px of a window at 100 % that show both halves of the review
SOON_S = 60  # an offer that ends sooner is said to in another color
STEPS = (("amount", tr("Amount")), ("payment", tr("Payment")), ("review", tr("Review and sign")), ("done", tr("Done")))

OFFER_MARKS_S = (60, 10, 0)  # at which the end of an offer is said aloud


class TopUpDialog(Dialog):
    """Shows what the presenter says and hands on what is pressed. Enter never signs, only Ctrl+Enter does."""

    keeps_typed = False  # amount and signature belong to one payment

    def __init__(self, theme: Theme, parent: QWidget, presenter: TopUpPresenter) -> None:
        super().__init__(theme, parent, tr("Top up credits"), width=WIDTH)
        self.presenter = presenter
        self._shown: TopUpView | None = None
        self._end_words = ""  # of the last step, as they are said
        self._spoken_offer = SpokenCountdown(self, _offer_words, OFFER_MARKS_S)
        self._told_holds: Decimal | None = None  # what the wallet was last said to hold
        self.way_buttons: list[QRadioButton] = []
        head = QHBoxLayout()
        head.setSpacing(theme.px(24))
        self.body.removeWidget(self.title)
        self.title.setWordWrap(False)
        head.addWidget(self.title)
        self.steps = Steps(theme)
        head.addWidget(self.steps, 1)
        self.body.addLayout(head)
        self.play = Badge(theme, tr("Play money, no real value"), "sandbox", icon="cube")
        self.body.addWidget(self.play, 0, Qt.AlignmentFlag.AlignLeft)
        self.problem = ProblemLabel(theme, "body", weight=600)  # on top: it must be seen without scrolling
        self.problem.setAccessibleName(tr("Problem"))
        self.body.addWidget(self.problem)
        self.warning = ProblemLabel(theme, "body", weight=600)
        self.warning.setAccessibleName(tr("Warning"))
        self.body.addWidget(self.warning)
        self.waiting = Label(theme, "", role="warn", weight=600, wrap=True, tabular=True)
        self.body.addWidget(self.waiting)
        self.pages, self._page_layout = column(theme, 0, wraps=True)  # no stack: hidden pages would ask for room
        self.body.addWidget(self.pages, 1)
        self.amount_page = self._make_amount()
        self.payment_page, ways = self._make_payment()
        self._ways: WidgetList[QWidget] = WidgetList(ways)
        self.review_page = self._make_review()
        self.end_page, end = column(theme, 8, wraps=True)
        self._end: WidgetList[QWidget] = WidgetList(end)
        for page in (self.amount_page, self.payment_page, self.review_page, self.end_page):
            page.hide()
            self._page_layout.addWidget(page)
        self._page_layout.addStretch(1)
        self.back = self.add_button(tr("Back"))
        self.back.clicked.connect(presenter.back)
        self.leave = self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(tr("Continue"), kind="primary")
        self.go.clicked.connect(self._go)
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self)
        shortcut.activated.connect(self._go)
        self._said = ("", False)  # what is wrong, and whether something is waited for
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._tick)
        self._settling = QTimer(self)  # what is new on a page counts for its height when it was shown
        self._settling.setSingleShot(True)
        self._settling.setInterval(0)
        self._settling.timeout.connect(self._settle)
        presenter.changed.connect(self.show_view)
        self.finished.connect(lambda _result: self._clock.stop())
        self.finished.connect(lambda _result: presenter.leave())
        self.show_view(presenter.view)

    # Pages

    def _make_amount(self) -> QWidget:
        theme = self._theme
        page, layout = column(theme, 10, wraps=True)
        layout.addWidget(Label(theme, tr("How much do you want to add?"), "heading"))
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        self.amount = TextField(theme, tr("Amount in USD"))
        self.amount.setMaximumWidth(theme.type_px(140))
        words = Label(theme, tr("Amount in USD"))
        bind_label(words, self.amount)
        self.amount.textEdited.connect(self.presenter.set_amount)
        row.addWidget(words)
        row.addWidget(self.amount)
        for amount in SUGGESTED:
            button = Button(theme, f"${amount}", size="small")
            button.setAccessibleName(tr("Add {amount} USD", amount=amount))
            button.clicked.connect(lambda _=False, each=amount: self._take(str(each)))
            row.addWidget(button)
        row.addStretch(1)
        layout.addLayout(row)
        note = tr(
            "At least $5.00. Nothing is sent until you press Continue, and nothing is signed until you have "
            "reviewed it."
        )
        layout.addWidget(Label(theme, note, "small", "text2", wrap=True))
        return page

    def _make_payment(self) -> tuple[QWidget, QBoxLayout]:
        """The ways to pay, to be filled, and below them what the wallet holds: before anything is signed."""
        theme = self._theme
        page, layout = column(theme, 16, wraps=True)
        ways, filled = column(theme, 8, wraps=True)
        layout.addWidget(ways)
        row = QHBoxLayout()
        row.setSpacing(theme.px(12))
        self.holds = Label(theme, "", weight=600, wrap=True, tabular=True)
        self.look = Button(theme, "", "refresh", size="small")
        self.look.clicked.connect(self._look)
        self.holds.setMinimumHeight(self.look.sizeHint().height())  # the button beside it comes and goes
        row.addWidget(self.holds, 1)
        row.addWidget(self.look)
        layout.addLayout(row)
        words = tr(
            "The node learns your IP address, and nothing about the payment. Rialto remembers its address and asks it "
            "only for a block."
        )
        self.node_part, node = column(theme, 6, wraps=True)
        label = Label(theme, tr("Solana node"))
        self.node = TextField(theme, tr("Solana node"), placeholder="https://", mono=True)
        bind_label(label, self.node)
        self.node.textEdited.connect(self.presenter.set_node)
        for part in (label, self.node, Label(theme, words, "small", "text2", wrap=True)):
            node.addWidget(part)
        layout.addWidget(self.node_part)
        return page, filled

    def _make_review(self) -> QWidget:
        theme = self._theme
        page = QWidget()
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self._sides.setContentsMargins(0, 0, 0, 0)
        self._sides.setSpacing(theme.px(24))
        left, layout = column(theme, 6, wraps=True)
        left.setMinimumWidth(theme.px(250))
        layout.addWidget(Label(theme, tr("You pay"), role="text2"))
        self.pays = Label(theme, "", "display", tabular=True)
        layout.addWidget(self.pays)
        self.credits = Label(theme, "", weight=600, wrap=True, tabular=True)
        layout.addWidget(self.credits)
        self.payer = Label(theme, "", wrap=True)
        self.wallet = Label(theme, "", "small", mono=True, wrap=True)
        self.held = Label(theme, "", wrap=True, tabular=True)
        self.network = Label(theme, "", wrap=True)
        fee = Label(theme, tr("None. The service sends the payment."), wrap=True)
        self.ends = Label(theme, "", wrap=True, tabular=True)
        facts = QGridLayout()
        facts.setContentsMargins(0, theme.px(8), 0, 0)
        facts.setHorizontalSpacing(theme.px(12))
        facts.setVerticalSpacing(theme.px(6))
        top = Qt.AlignmentFlag.AlignTop
        for line, (name, value) in enumerate(
            (
                (tr("From"), self.payer),
                ("", self.wallet),
                (tr("Balance"), self.held),
                (tr("Network"), self.network),
                (tr("Network fee"), fee),
                (tr("Offer expires"), self.ends),
            )
        ):
            if name:
                facts.addWidget(Label(theme, name, role="text2"), line, 0, top)
            facts.addWidget(value, line, 1, top)
        facts.setColumnStretch(1, 1)
        layout.addLayout(facts)
        layout.addSpacing(theme.px(8))
        layout.addWidget(Label(theme, tr("Rialto checked"), weight=600))
        checks = QVBoxLayout()
        checks.setSpacing(theme.px(6))
        layout.addLayout(checks)
        self._checks: WidgetList[QWidget] = WidgetList(checks)
        layout.addStretch(1)
        self._sides.addWidget(left, 2)
        right, layout = column(theme, 8, wraps=True)
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("Exactly what you sign"), "heading"), 1)
        self.form = SegmentedChoice(theme, tr("View"), (("fields", tr("Fields")), ("raw", tr("Raw JSON"))))
        self.form.changed.connect(lambda key: self.forms.setCurrentIndex(0 if key == "fields" else 1))
        head.addWidget(self.form)
        self.copy = Button(theme, tr("Copy in full"), "copy", size="small")
        self.copy.clicked.connect(self._copy)
        head.addWidget(self.copy)
        layout.addLayout(head)
        words = tr(
            "A one-time permission to move this amount to this recipient. It gives no other access and "
            "cannot be revoked once sent."
        )
        layout.addWidget(Label(theme, words, role="text2", wrap=True))
        self.forms: QStackedWidget = QStackedWidget()
        self.sheet = SignSheet(theme)
        self.raw = TextArea()
        self.raw.setReadOnly(True)
        self.raw.setAccessibleName(tr("Signed data as JSON"))
        self.raw.setFont(theme.font("code", mono=True))
        self.forms.addWidget(self.sheet)
        self.forms.addWidget(self.raw)
        layout.addWidget(self.forms, 1)
        self.signature = TextField(theme, tr("External signature"), placeholder=tr("0x… the signature"), mono=True)
        layout.addWidget(self.signature)
        self.signature.textChanged.connect(lambda _text: self._draw_buttons())
        self._sides.addWidget(right, 5)
        return page

    def _fit(self) -> None:
        """Beside each other where there is room for both: what is paid, and what is signed."""
        parent = self.parentWidget()
        room = parent.window().width() if parent is not None else WIDTH
        wide = room >= self._theme.type_px(SIDE_BY_SIDE)
        self._sides.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        super()._fit()

    def _settle(self) -> None:
        """Take the size that this step needs, in the middle of the window."""
        parent = self.parentWidget()
        if not self.isVisible() or parent is None:
            return
        self._fit()
        window = parent.window()
        middle = window.mapToGlobal(window.rect().center())
        self.move(middle - self.rect().center())

    def _make_room(self) -> None:
        """Grow downwards for a sentence that came, and shrink when it has gone; move only where it would stick out."""
        said = (self.problem.text(), bool(self.waiting.text()))
        parent = self.parentWidget()
        if said != self._said and self.isVisible() and parent is not None:
            self._fit()
            if not parent.window().frameGeometry().contains(self.frameGeometry()):
                self._settle()
        self._said = said

    # What the presenter tells

    def show_view(self, view: TopUpView) -> None:
        """Show one moment of the top-up."""
        before, self._shown = self._shown, view
        if before is not None and before.step != view.step:
            let_go(self)
        self.play.setVisible(view.is_play)
        self._show_steps(view)
        place = {"amount": 0, "payment": 1, "review": 2}.get(view.step, 3)
        for number, page in enumerate((self.amount_page, self.payment_page, self.review_page, self.end_page)):
            page.setVisible(number == place)
        amount = f"{view.amount:f}"
        if amount != self.amount.text() and not self.amount.hasFocus():
            self.amount.setText(amount)
        self.problem.set_text(view.problem if view.step in ("amount", "payment", "review") else "")
        self.problem.setVisible(bool(self.problem.text()))
        self.warning.set_text(view.warning if view.step == "review" else "")
        self.warning.setVisible(bool(self.warning.text()))
        self.node_part.setVisible(view.node_wanted)
        if view.node_wanted and before is not None and not before.node_wanted:
            self.node.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self.node.hasFocus():
            self.node.setText(view.node)
        if view.step == "payment" and (before is None or before.ways != view.ways or before.step != view.step):
            self._show_ways(view)
        if view.step == "review" and (before is None or before.digest != view.digest or before.step != view.step):
            self._show_review(view)
        if place == 3:
            self._show_end(view)
        self.back.setVisible(view.step in ("payment", "review", "refused") and not view.busy)
        moved = before is not None and before.step != view.step and self.isVisible()
        if moved:  # before its buttons are turned on again, which would give the keyboard to one for a moment
            self._focus(view)
        self._show_holds(view)
        self._draw_buttons()
        self._tick()
        self._make_room()
        if view.waits_until is not None or view.step == "review":
            self._clock.start()
        else:
            self._clock.stop()
        if moved:
            announce(self, self._spoken_step(view))
            self._settling.start()
            self._scroll.verticalScrollBar().setValue(0)
        elif self.problem.text() and (before is None or before.problem != view.problem):
            self._scroll.verticalScrollBar().setValue(0)

    def _spoken_step(self, view: TopUpView) -> str:
        """What a step says of itself that is on no field: what would be signed, or how it ended."""
        if view.step == "review":
            left = (view.offer_ends - datetime.now(UTC)).total_seconds() if view.offer_ends is not None else 0.0
            self._spoken_offer.begin(left)
            parts = [
                tr(
                    "{amount} USDC to {receiver} on {network}.",
                    amount=format_number(view.amount, 2),
                    receiver=view.ways[view.chosen].receiver if view.chosen < len(view.ways) else "",
                    network=self.network.text(),
                ),
                view.warning,
                tr_n("{n} check passed.", "{n} checks passed.", len(view.checks)),
                tr("The offer expires in {left}.", left=time_format.duration(left)) if left > 0 else "",
            ]
            return " ".join(part for part in parts if part)
        if view.step in ("amount", "payment"):
            return ""
        return self._end_words

    def _focus(self, view: TopUpView) -> None:
        """Put the keyboard where this step begins; never on the button that signs."""
        first: QWidget | None = None
        if view.step == "amount":
            first = self.amount
        elif view.step == "payment":
            first = next((each for each in self.way_buttons if each.isChecked()), self.back)
        elif view.step == "review":
            first = self.signature if view.watch_only else self.form
        else:
            first = self.leave
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_steps(self, view: TopUpView) -> None:
        at = {"sending": 2, "unknown": 3, "refused": 3}.get(view.step)
        at = [key for key, _ in STEPS].index(view.step) if at is None else at
        last = {"unknown": tr("Not settled"), "refused": tr("Not sent")}.get(view.step)
        self.steps.show_step([(last if last and key == "done" else words) for key, words in STEPS], at)

    def _show_ways(self, view: TopUpView) -> None:
        self._ways.clear()
        theme = self._theme
        self._ways.add(Label(theme, tr("Payment methods the service offers"), "heading", wrap=True))
        self.ways = QButtonGroup(self)
        self.way_buttons.clear()
        for place, way in enumerate(view.ways):
            title = (
                tr("{token} on {network}", token=way.token, network=way.network)
                if way.token
                else way.network or tr("Another method")
            )
            button = QRadioButton(title)
            button.setEnabled(not way.reason)
            button.setChecked(place == view.chosen and not way.reason)
            self.ways.addButton(button, place)
            self.way_buttons.append(button)
            self._ways.add(button)
            if way.reason:
                self._ways.add(
                    Label(theme, tr("Not available here: {reason}", reason=way.reason), "small", "text2", wrap=True)
                )
            elif way.least_usd is not None:
                words = tr("{least_usd} or more, paid to", least_usd=money.money(way.least_usd))
                self._ways.add(Label(theme, words, "small", "text2"))
                self._ways.add(Label(theme, way.receiver, "small", mono=True, wrap=True))

    def _show_holds(self, view: TopUpView) -> None:
        network = view.ways[view.chosen].network if view.chosen < len(view.ways) else ""
        held = "" if view.holds is None else _tokens(view.holds)
        held = held and (tr("{tokens} play USDC", tokens=held) if view.is_play else f"{held} USDC")
        words = _holding(held, network, _tokens(view.amount) if view.holds_too_little else "")
        self.holds.set_text(" ".join(filter(None, (view.holds_note, words))))
        self.holds.set_role("warn" if view.holds_too_little else "text")
        self.held.set_text(held or tr("Not checked"))
        self.held.set_role("warn" if view.holds_too_little else "text")
        self.look.setText(
            tr("Get {gift_usd} play USDC", gift_usd=GIFT_USD)
            if view.is_play
            else money.priced(tr("Check balance"), view.asking_price)
        )
        wanted = view.holds_too_little if view.is_play else view.asking_price is not None
        if self.look.hasFocus() and not wanted:
            self.go.setFocus(Qt.FocusReason.OtherFocusReason)
        self.look.setVisible(wanted)
        self.look.setDefault(view.is_play and wanted and view.step == "payment")
        if view.step == "payment" and view.holds is not None and view.holds != self._told_holds:
            announce(self.holds, self.holds.text())
            self._told_holds = view.holds
            if view.is_play and wanted and any(each.hasFocus() for each in self.way_buttons):
                self.look.setFocus(Qt.FocusReason.OtherFocusReason)  # the next thing to do, and free

    def _show_review(self, view: TopUpView) -> None:
        theme = self._theme
        self.pays.set_text(
            f"{format_number(view.amount, 2)} USDC"
            if view.amount == round(view.amount, 2)
            else format_number(view.amount)
        )
        amount = money.money(view.amount)
        self.credits.set_text(
            tr("{amount} in credits", amount=amount)
            if view.balance is None
            else tr(
                "{amount} in credits, {balance} after", amount=amount, balance=money.money(view.balance + view.amount)
            )
        )
        self.payer.set_text(view.account)
        self.wallet.set_text(view.address)
        self.network.set_text(view.ways[view.chosen].network if view.chosen < len(view.ways) else "")
        self._checks.clear()
        for check in view.checks:
            row = QHBoxLayout(self._checks.add(QWidget()))
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(theme.px(8))
            row.addWidget(IconLabel(theme, "check", "ok", px=14), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(Label(theme, check, "small", wrap=True), 1)
        self.sheet.show_rows(view.rows)
        self.raw.setPlainText(view.document)
        self.signature.setVisible(view.watch_only)
        self.signature.clear()

    def _show_end(self, view: TopUpView) -> None:
        self._end.clear()
        theme = self._theme
        title, text = {
            "sending": (
                tr("Sending the payment"),
                tr("It is sent once. This can take a minute. Closing this window does not stop it."),
            ),
            "done": (tr("The top-up arrived"), ""),
            "unknown": (tr("This top-up is still open"), view.problem),
            "refused": (tr("Nothing was sent"), view.problem),
        }[view.step]
        self._end.add(Label(theme, title, "heading", wrap=True))
        if view.step == "done":
            credited = (
                tr("{credited} was credited to {account}.", credited=money.money(view.credited), account=view.account)
                if view.credited
                else ""
            )
            balance = (
                tr("The balance is {new_balance}.", new_balance=money.money(view.new_balance))
                if view.new_balance is not None
                else ""
            )
            text = f"{credited} {balance}".strip()
        if text:
            self._end.add(Label(theme, text, role="text2", wrap=True))
        self._end_words = f"{title}. {text}"
        if view.step == "done" and view.problem:
            self._end.add(Label(theme, view.problem, role="warn", wrap=True))
        if view.step == "unknown":
            if view.offer_ends is not None and view.offer_ends > datetime.now(UTC):
                until = tr(
                    "The payment you signed can still be used until {until}.", until=time_format.clock(view.offer_ends)
                )
                self._end.add(Label(theme, until, weight=600, wrap=True))
            more = tr(
                "Sending the same payment again cannot charge you twice. A new top-up could, so this wallet signs no "
                "other payment until this one is settled. You find it in the list on the left."
            )
            self._end.add(Label(theme, more, role="text2", wrap=True))
        for name, value in view.receipt:
            self._end.add(Label(theme, name, "small", "text2"))
            self._end.add(self._with_copy(name, value))

    def _with_copy(self, name: str, value: str) -> QWidget:
        """An identifier in full, and a button that copies it."""
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label(self._theme, value, "small", mono=True, wrap=True), 1)
        copy = IconButton(self._theme, "copy", tr("Copy {name}", name=name), size="small", icon_size=14)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(value))
        row.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _draw_buttons(self) -> None:
        view = self._shown
        if view is None:
            return
        is_open = view.step in ("amount", "payment", "review")
        self.leave.setText(tr("Cancel") if is_open else tr("Close"))
        self.go.setVisible(is_open or view.step == "unknown")
        self.go.setDefault(view.step in ("amount", "payment") and not self.look.isDefault())
        self.leave.setDefault(not is_open)
        words = tr("Continue")
        if view.step == "review":
            words = f"{tr('Pay') if view.watch_only else tr('Sign and pay')} {format_number(view.amount, 2)}"
        if view.step == "unknown":
            words = tr("Send the same again")
        asking = tr("Waiting…") if view.waits_until is not None else tr("Contacting the service…")
        self.go.setText(asking if view.busy else words)
        self.go.set_icon("signature" if view.step == "review" else "")
        self.go.set_hint("Ctrl+Enter" if view.step == "review" else "")
        usable = not view.busy and not (view.step == "amount" and view.problem)
        if view.step == "payment":
            usable = usable and any(not way.reason for way in view.ways)
        if view.step == "review" and view.watch_only:
            usable = usable and bool(self.signature.text().strip())
        turn(self.go, on=usable)

    def _tick(self) -> None:
        """Show what the clock changes: how long the offer holds, and how long a wait lasts."""
        view, now = self._shown, datetime.now(UTC)
        if view is None:
            return
        until = view.waits_until
        self.waiting.set_text(
            tr(
                "{waits_for} It continues at {until}, in {until2}. Nothing is signed until then. Cancel stops it.",
                waits_for=view.waits_for,
                until=time_format.clock(until),
                until2=time_format.countdown((until - now).total_seconds()),
            )
            if until is not None
            else ""
        )
        self.waiting.setVisible(bool(self.waiting.text()))
        if view.offer_ends is None:
            return
        left = (view.offer_ends - now).total_seconds()
        ends = (
            tr(
                "{offer_ends}, in {left}",
                offer_ends=time_format.clock(view.offer_ends),
                left=time_format.countdown(left),
            )
            if left > 0
            else tr("Expired")
        )
        self.ends.set_text(ends)
        if view.step == "review":
            self._spoken_offer.pass_to(left)
        self.ends.set_role("text" if left > SOON_S else "warn" if left > 0 else "bad")

    # What the person does

    def _look(self) -> None:
        if self._shown is not None and self._shown.is_looking:
            return  # the button stays on meanwhile: the focus would jump away from it
        if self._shown is not None and self._shown.is_play:
            self.presenter.request_play_money()
        else:
            self.presenter.refresh_play_money()

    def _take(self, text: str) -> None:
        self.amount.setText(text)
        self.presenter.set_amount(text)

    def _go(self) -> None:
        view = self._shown
        if view is None or not self.go.isEnabled() or not self.go.isVisible():
            return
        match view.step:
            case "amount":
                self.presenter.ask_terms()
            case "payment":
                self.presenter.choose(max(0, self.ways.checkedId()))
            case "unknown":
                self.presenter.send_again()
            case "review" if view.watch_only:
                self.presenter.pay_with(self.signature.text())
            case "review":
                self.presenter.sign_and_pay()

    def _copy(self) -> None:
        if self._shown is not None:
            QGuiApplication.clipboard().setText(f"{self._shown.document}\n\n{self._shown.digest}\n")

    def reject(self) -> None:
        """A payment that is on its way goes on: it is on disk, and its card will say how it ended."""
        super().reject()


def _offer_words(left_s: float) -> str:
    if left_s <= 0:
        return tr("The offer has expired.")
    return tr(
        "The offer expires in {left}.",
        left=time_format.duration(math.ceil(left_s) if math.isfinite(left_s) else left_s),
    )


def _holding(held: str, network: str, wanted: str) -> str:
    """What a wallet holds, "" where that is not known, on `network`; `wanted` says that it is less than that."""
    if not held:
        return (
            tr("This wallet’s balance on {network} is not known yet.", network=network)
            if network
            else tr("This wallet’s balance is not known yet.")
        )
    held = tr("{held} on {network}", held=held, network=network) if network else held
    if wanted:
        return tr("This wallet holds {held}, less than the {tokens} you want to add.", held=held, tokens=wanted)
    return tr("This wallet holds {held}.", held=held)


def _tokens(amount: Decimal) -> str:
    return money.bare(amount, money.decimals_of([amount]))
