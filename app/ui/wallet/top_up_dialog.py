"""The top-up in four steps: amount, way to pay, exactly what is signed, and what came of it."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QHBoxLayout,
    QPlainTextEdit,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.ui.shared import money
from app.ui.shared.badge import Badge
from app.ui.shared.buttons import Button
from app.ui.shared.dialogs import Dialog
from app.ui.shared.fields import TextField, bind_label
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.segmented import SegmentedChoice
from app.ui.shared.theme import Theme
from app.ui.wallet.account_card import column
from app.ui.wallet.presenter_top_up import TopUpPresenter
from app.ui.wallet.sign_sheet import SignSheet
from app.ui.wallet.top_up_state import SUGGESTED, TopUpView

WIDTH = 1080
STEPS = (("amount", "Amount"), ("payment", "Payment"), ("review", "Review and sign"), ("done", "Done"))
ORDER = ("amount", "payment", "review", "sending", "done")


class TopUpDialog(Dialog):
    """Shows what the presenter says and hands on what is pressed. Enter never signs; Ctrl+Enter does."""

    def __init__(self, theme: Theme, parent: QWidget, presenter: TopUpPresenter) -> None:
        super().__init__(theme, parent, "Top up credits", width=WIDTH)
        self.presenter = presenter
        self._shown: TopUpView | None = None
        self._steps = QHBoxLayout()
        self._steps.setSpacing(theme.px(8))
        self.body.addLayout(self._steps)
        self.play = Badge(theme, "Play money: worth nothing outside the Sandbox", "sandbox", icon="cube")
        self.body.addWidget(self.play, 0, Qt.AlignmentFlag.AlignLeft)
        self.problem = Label(theme, "", role="bad", weight=600, wrap=True)  # on top: it must be seen without scrolling
        self.problem.setAccessibleName("What is wrong")
        self.body.addWidget(self.problem)
        self.pages = QStackedWidget()
        self.body.addWidget(self.pages, 1)
        self.amount_page = self._make_amount()
        self.payment_page, self._ways = column(theme, 8)
        self.review_page = self._make_review()
        self.end_page, self._end = column(theme, 8)
        for page in (self.amount_page, self.payment_page, self.review_page, self.end_page):
            self.pages.addWidget(page)
        self.back = self.add_button("Back")
        self.back.clicked.connect(presenter.back)
        self.leave = self.add_button("Cancel", accepts=False)
        self.go = self.add_button("Continue", kind="primary")
        self.go.clicked.connect(self._go)
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self)
        shortcut.activated.connect(self._go)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._tick)
        presenter.changed.connect(self.show_view)
        self.finished.connect(lambda _result: self._clock.stop())
        self.show_view(presenter.view)

    # Pages

    def _make_amount(self) -> QWidget:
        theme = self._theme
        page, layout = column(theme, 10)
        layout.addWidget(Label(theme, "How much do you want to add?", "heading"))
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        self.amount = TextField(theme, "Amount in USD")
        self.amount.setMaximumWidth(theme.type_px(140))
        words = Label(theme, "Amount in USD")
        bind_label(words, self.amount)
        self.amount.textEdited.connect(self.presenter.set_amount)
        row.addWidget(words)
        row.addWidget(self.amount)
        for amount in SUGGESTED:
            button = Button(theme, f"${amount}", size="small")
            button.setAccessibleName(f"Add {amount} USD")
            button.clicked.connect(lambda _=False, each=amount: self._take(str(each)))
            row.addWidget(button)
        row.addStretch(1)
        layout.addLayout(row)
        note = (
            "At least $5.00. Nothing is asked of the service before you press Continue, and nothing is signed before "
            "you have read it."
        )
        layout.addWidget(Label(theme, note, "small", "text2", wrap=True))
        return page

    def _make_review(self) -> QWidget:
        theme = self._theme
        page = QWidget()
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self._sides.setContentsMargins(0, 0, 0, 0)
        self._sides.setSpacing(theme.px(24))
        left, layout = column(theme, 6)
        left.setMinimumWidth(theme.px(250))
        layout.addWidget(Label(theme, "You pay", role="text2"))
        self.pays = Label(theme, "", "display", tabular=True)
        layout.addWidget(self.pays)
        self.credits = Label(theme, "", weight=600, wrap=True, tabular=True)
        self.payer = Label(theme, "", role="text2", wrap=True)
        self.wallet = Label(theme, "", "small", mono=True, wrap=True)
        fee = Label(theme, "Network fee: none. The service sends the payment.", "small", "text2", wrap=True)
        for label in (self.credits, self.payer, self.wallet, fee):
            layout.addWidget(label)
        self.ends = Label(theme, "", weight=600, wrap=True, tabular=True)
        layout.addWidget(self.ends)
        layout.addSpacing(theme.px(8))
        layout.addWidget(Label(theme, "Rialto checked", weight=600))
        self._checks = QVBoxLayout()
        self._checks.setSpacing(theme.px(6))
        layout.addLayout(self._checks)
        layout.addStretch(1)
        self._sides.addWidget(left, 2)
        right, layout = column(theme, 8)
        head = QHBoxLayout()
        head.addWidget(Label(theme, "Exactly what you sign", "heading"), 1)
        self.form = SegmentedChoice(theme, "Form", (("fields", "Fields"), ("raw", "Raw JSON")))
        self.form.changed.connect(lambda key: self.forms.setCurrentIndex(0 if key == "fields" else 1))
        head.addWidget(self.form)
        layout.addLayout(head)
        words = (
            "A one-time permission to move this amount to this receiver. It gives no other access, and Rialto cannot "
            "take it back once it is sent."
        )
        layout.addWidget(Label(theme, words, role="text2", wrap=True))
        self.forms: QStackedWidget = QStackedWidget()
        self.sheet = SignSheet(theme)
        self.raw = QPlainTextEdit()
        self.raw.setReadOnly(True)
        self.raw.setAccessibleName("What is signed, as JSON")
        self.raw.setFont(theme.font("code", mono=True))
        self.forms.addWidget(self.sheet)
        self.forms.addWidget(self.raw)
        layout.addWidget(self.forms, 1)
        row = QHBoxLayout()
        hashes = QVBoxLayout()
        hashes.addWidget(Label(theme, "Hash shown by a hardware wallet", "small", "text2"))
        self.digest = Label(theme, "", "small", mono=True, wrap=True)
        self.digest.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        hashes.addWidget(self.digest)
        row.addLayout(hashes, 1)
        self.copy = Button(theme, "Copy in full", "copy", size="small")
        self.copy.clicked.connect(self._copy)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignBottom)
        layout.addLayout(row)
        self.signature = TextField(theme, "Signature made elsewhere", placeholder="0x… the signature", mono=True)
        layout.addWidget(self.signature)
        self.signature.textChanged.connect(lambda _text: self._draw_buttons())
        self._sides.addWidget(right, 5)
        return page

    # What the presenter tells

    def show_view(self, view: TopUpView) -> None:
        """Show one moment of the top-up."""
        before, self._shown = self._shown, view
        self.play.setVisible(view.is_play)
        self._show_steps(view)
        place = {"amount": 0, "payment": 1, "review": 2}.get(view.step, 3)
        self.pages.setCurrentIndex(place)
        if not self.amount.hasFocus() or before is None:
            self.amount.setText(f"{view.amount:f}")
        self.problem.set_text(view.problem if view.step in ("amount", "payment", "review") else "")
        self.problem.setVisible(bool(self.problem.text()))
        if view.step == "payment" and (before is None or before.ways != view.ways or before.step != view.step):
            self._show_ways(view)
        if view.step == "review" and (before is None or before.digest != view.digest or before.step != view.step):
            self._show_review(view)
        if place == 3:
            self._show_end(view)
        self._draw_buttons()
        high = 640 if view.step == "review" else 240
        self.pages.setMinimumHeight(self._theme.px(high))  # pages that are not shown do not count
        if before is not None and before.step != view.step and self.isVisible():
            self._fit()
            self._scroll.verticalScrollBar().setValue(0)
            self._focus(view)
        elif self.problem.text() and (before is None or before.problem != view.problem):
            self._scroll.verticalScrollBar().setValue(0)

    def _focus(self, view: TopUpView) -> None:
        """Put the keyboard where this step begins; never on the button that signs."""
        first: QWidget | None = None
        if view.step == "amount":
            first = self.amount
        elif view.step == "payment":
            first = self.ways.checkedButton() or self.back
        elif view.step == "review":
            first = self.signature if view.watch_only else self.form
        else:
            first = self.leave
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_steps(self, view: TopUpView) -> None:
        _clear(self._steps)
        at = {"sending": 2, "unknown": 3, "refused": 3}.get(view.step)
        at = [key for key, _ in STEPS].index(view.step) if at is None else at
        words_of = dict(STEPS) | ({"done": "Not settled"} if view.step == "unknown" else {})
        for place, (key, _) in enumerate(STEPS):
            tone = "accent" if place == at else "neutral"
            done = "check" if place < at else ""
            self._steps.addWidget(Badge(self._theme, f"{place + 1} {words_of[key]}", tone, icon=done))
        self._steps.addStretch(1)

    def _show_ways(self, view: TopUpView) -> None:
        _clear(self._ways)
        theme = self._theme
        self._ways.addWidget(Label(theme, "The ways that the service names this minute", "heading", wrap=True))
        self.ways = QButtonGroup(self)
        for place, way in enumerate(view.ways):
            title = f"{way.token} on {way.network}" if way.token else way.network or "Another way"
            button = QRadioButton(title)
            button.setEnabled(not way.reason)
            button.setChecked(place == view.chosen and not way.reason)
            self.ways.addButton(button, place)
            self._ways.addWidget(button)
            if way.reason:
                self._ways.addWidget(Label(theme, f"Not available here: {way.reason}", "small", "text2", wrap=True))
            elif way.least_usd is not None:
                words = f"{money.money(way.least_usd)} or more, paid to"
                self._ways.addWidget(Label(theme, words, "small", "text2"))
                self._ways.addWidget(Label(theme, way.receiver, "small", mono=True, wrap=True))

    def _show_review(self, view: TopUpView) -> None:
        theme = self._theme
        self.pays.set_text(f"{view.amount:,.2f} USDC" if view.amount == round(view.amount, 2) else f"{view.amount:f}")
        after = f", {money.money(view.balance + view.amount)} after" if view.balance is not None else ""
        self.credits.set_text(f"{money.money(view.amount)} in credits{after}")
        self.payer.set_text(f"From {view.account}")
        self.wallet.set_text(view.address)
        _clear(self._checks)
        for check in view.checks:
            row = QHBoxLayout()
            row.setSpacing(theme.px(8))
            row.addWidget(IconLabel(theme, "check", "ok", px=14), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(Label(theme, check, "small", wrap=True), 1)
            self._checks.addLayout(row)
        self.sheet.show_rows(view.rows)
        self.raw.setPlainText(view.document)
        self.digest.set_text(view.digest)
        self.signature.setVisible(view.watch_only)
        self.signature.clear()
        self._tick()
        self._clock.start()

    def _show_end(self, view: TopUpView) -> None:
        _clear(self._end)
        theme = self._theme
        title, text = {
            "sending": (
                "Sending the payment",
                "It is sent once. This can take a minute; leaving the window does not stop it.",
            ),
            "done": ("The top-up arrived", ""),
            "unknown": ("Not settled yet", view.problem),
            "refused": ("Nothing was paid", view.problem),
        }[view.step]
        self._end.addWidget(Label(theme, title, "heading", wrap=True))
        if view.step == "done" and view.credited is not None:
            text = f"{money.money(view.credited)} were credited to {view.account}."
            if view.new_balance is not None:
                text += f" The balance is {money.money(view.new_balance)} now."
        self._end.addWidget(Label(theme, text, role="text2", wrap=True))
        if view.step == "unknown":
            more = (
                "The payment stays in the list at the left until its end is known. No other payment of this wallet is "
                "signed before that."
            )
            self._end.addWidget(Label(theme, more, role="text2", wrap=True))
        for name, value in view.receipt:
            self._end.addWidget(Label(theme, name, "small", "text2"))
            self._end.addWidget(Label(theme, value, "small", mono=True, wrap=True))

    def _draw_buttons(self) -> None:
        view = self._shown
        if view is None:
            return
        self.back.setVisible(view.step in ("payment", "review", "refused") and not view.busy)
        self.leave.setText("Cancel" if view.step in ("amount", "payment", "review") else "Close")
        self.go.setVisible(view.step in ("amount", "payment", "review"))
        words = "Continue"
        if view.step == "review":
            words = f"{'Pay' if view.watch_only else 'Sign and pay'} {view.amount:,.2f}"
        self.go.setText("Asking the service…" if view.busy else words)
        self.go.set_icon("signature" if view.step == "review" else "")
        self.go.set_hint("Ctrl+Return" if view.step == "review" else "")
        usable = not view.busy and not (view.step == "amount" and view.problem)
        if view.step == "payment":
            usable = usable and any(not way.reason for way in view.ways)
        if view.step == "review" and view.watch_only:
            usable = usable and bool(self.signature.text().strip())
        self.go.setEnabled(usable)

    def _tick(self) -> None:
        view = self._shown
        if view is None or view.offer_ends is None:
            return
        left = (view.offer_ends - datetime.now(UTC)).total_seconds()
        words = (
            f"Offer ends {money.clock(view.offer_ends)}, in {money.countdown(left)}" if left > 0 else "Offer has ended"
        )
        self.ends.set_text(words)

    # What the person does

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


def _clear(layout: QBoxLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            continue
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif isinstance(inner, QBoxLayout):
            _clear(inner)
            inner.deleteLater()
