"""The accounts section: who we may call as, a form for one more, and the secrets behind them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.secret_storage import Secrets, SecretsState
from app.core.tasks import TaskScope
from app.core.undo import UndoCommand, UndoStack
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog, ask_text, confirm
from app.ui.kit.widgets.fields import SecretField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.accounts.form import AccountForm, keep_words
from app.ui.settings.accounts.presenter import PROXY, AccountsPresenter
from app.ui.settings.accounts.public_models import show_models
from app.ui.settings.accounts.removal import LOST, ask_about_key, balance_words, kept_words, open_words
from app.ui.settings.accounts.removed_wallets import RemovedWallets
from app.ui.settings.accounts.row import AccountRowWidget
from app.ui.settings.accounts.secrets_table import SecretsTable
from app.ui.settings.accounts.state import AccountsState
from app.ui.settings.fields import FieldBox, held_to
from app.ui.settings.rows import RowCard, SectionPage
from app.ui.settings.secrets.ask import SecretsQuestion


class AccountsPage(SectionPage):
    """`proxy_requested` asks for what is to be done with the proxy's password: "replace-key" or "remove-key".

    `export_requested` asks for the private key of a wallet, as an encrypted file; it tells the account's id.
    `wallet_requested` asks for the dialog that adds a wallet.
    """

    proxy_requested = Signal(str)
    export_requested = Signal(str)
    wallet_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        presenter: AccountsPresenter,
        secrets: Secrets,
        tasks: TaskScope,
        undo_stack: UndoStack,
        how_secrets_are_kept: Callable[[], None],
        *,
        whole: bool = True,
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(theme)
        self._presenter = presenter
        self._secrets = secrets
        self._tasks = tasks
        self._undo_stack = undo_stack
        self._how_secrets_are_kept = how_secrets_are_kept
        self._done = presenter.state.form.done
        self._removed = presenter.state.removed
        self._form_waits = False
        self.rows: dict[str, AccountRowWidget] = {}
        self.add_button = Button(theme, tr("Add account"), "plus")
        self.add_button.clicked.connect(self.open_form)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make what stands on the page from top to bottom, one at each step."""
        theme, presenter, secrets = self.theme, self._presenter, self._secrets
        self._problem = ProblemLabel(theme, "body")
        self.question = SecretsQuestion(theme, secrets)
        self.column.addWidget(self._problem)
        self._question_holder = QWidget()
        holder = QVBoxLayout(self._question_holder)
        holder.setContentsMargins(0, 0, 0, 0)
        holder.addWidget(self.question)
        self.column.addWidget(self._question_holder)
        yield
        self._form_card = self._make_form()
        self.column.addWidget(self._form_card)
        yield
        self._card = RowCard(theme)
        self.column.addWidget(self._card)
        self.removed_wallets = RemovedWallets(theme)
        self.removed_wallets.wanted.connect(self._act)
        self.column.addWidget(self.removed_wallets)
        self.table = SecretsTable(theme)
        self.table.wanted.connect(self._act)
        self.column.addWidget(self._secrets_group(self._how_secrets_are_kept))
        self.column.addStretch(1)
        yield
        presenter.state_changed.connect(self.show_state)
        secrets.state_changed.connect(self._show_place)
        Ticker(self, presenter.refresh)
        self.show_state(presenter.state)

    def _make_form(self) -> QWidget:
        card = Card(self.theme, padding=(16, 14), spacing=12)
        head = QHBoxLayout()
        head.addWidget(Label(self.theme, tr("New account"), "heading"), 1)
        self.add_wallet = Button(self.theme, tr("Add a wallet…"), kind="link", size="small")
        self.add_wallet.clicked.connect(self._leave_for_wallet)
        head.addWidget(self.add_wallet)
        close = Button(self.theme, tr("Cancel"), kind="quiet", size="small")
        close.clicked.connect(self.close_form)
        head.addWidget(close)
        card.body.addLayout(head)
        self.form = AccountForm(self.theme, with_name=True)
        self.form.submitted.connect(lambda draft, unchecked: self._presenter.add(draft, unchecked=unchecked))
        self.form.models_requested.connect(
            lambda draft: self._presenter.look_at_models(draft, partial(show_models, self.theme, self))
        )
        self.form.edited.connect(self._presenter.forget_waiting)
        self.question.answered.connect(lambda: self.form.connect_button.setFocus(Qt.FocusReason.OtherFocusReason))
        self.form.cancelled.connect(self.close_form)
        card.body.addLayout(held_to(self.form, self.theme.type_px(520)))
        card.hide()
        return card

    def _secrets_group(self, how: Callable[[], None]) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self.theme.px(8))
        head = QHBoxLayout()
        head.addWidget(Label(self.theme, tr("Secrets on this computer"), "heading"), 1)
        link = Button(self.theme, tr("How Rialto keeps secrets"), kind="link", size="small")
        link.clicked.connect(how)
        head.addWidget(link)
        column.addLayout(head)
        column.addWidget(self.table)
        return holder

    def header_widgets(self) -> tuple[QWidget, ...]:
        return (self.add_button,)

    def shown(self) -> None:
        self._secrets.refresh()
        self._presenter.delete_due()

    # The form

    def open_form(self) -> None:
        self._presenter.reset_form()
        self._form_card.show()
        self._show_question()
        self.form.address.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_form(self) -> None:
        had_focus = self._form_card.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        self.form.clear()
        self._form_card.hide()
        self._show_question()
        if had_focus:
            self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_for_wallet(self) -> None:
        self.close_form()
        self.wallet_requested.emit()

    def _show_question(self) -> None:
        """Where keys are kept matters as soon as there is one, or one is being entered."""
        self.question.show_state(self._secrets.state)  # it gives its focus on before its place is hidden
        keys = any(row.kind == "api_key" for row in self._presenter.state.accounts)
        asks = self._secrets.state.ask == "choose"
        self._question_holder.setVisible(asks and (keys or not self._form_card.isHidden()))

    # State

    def show_state(self, state: AccountsState) -> None:
        if [row.id for row in state.accounts] != list(self.rows):
            self._fill(state)
        for row in state.accounts:
            self.rows[row.id].show_row(row)
        self.removed_wallets.show_rows(state.removed_wallets, self._secrets.state)
        self.table.show_rows(state.secrets)
        self._show_question()
        self._problem.set_text(state.problem)
        self._problem.setVisible(bool(state.problem))
        self.form.show_form(state.form, self._secrets.state)
        if state.form.waits and not self._form_waits:
            self.question.take_focus()
        self._form_waits = state.form.waits
        if state.form.done > self._done:
            self._done = state.form.done
            self.close_form()
        if state.removed != self._removed:
            self._removed = state.removed
            if state.removed:
                self._offer_undo(state.removed, is_wallet=state.removed_is_wallet)

    def _fill(self, state: AccountsState) -> None:
        self._card.empty()
        self.rows.clear()
        for row in state.accounts:
            widget = AccountRowWidget(self.theme, row)
            widget.wanted.connect(self._act)
            self.rows[row.id] = widget
            self._card.add(widget)

    def _show_place(self, state: SecretsState) -> None:
        self.form.show_form(self._presenter.state.form, state)
        self.removed_wallets.show_rows(self._presenter.state.removed_wallets, state)
        self._show_question()

    # What the person wants

    def _act(self, account_id: str, what: str) -> None:
        match what:
            case "use":
                self._presenter.use(account_id)
            case "test":
                self._presenter.test(account_id)
            case "remove" if not self._takes_private_key(account_id):
                self._presenter.remove(account_id)
            case "restore":
                self._presenter.restore(account_id)
            case "export-key":
                self.export_requested.emit(account_id)
            case "limits:paid" | "limits:partner" | "limits:staff":
                self._presenter.set_limit_class(account_id, what.removeprefix("limits:"))
            case _:
                self._tasks.start_unless_running(f"ask {what}", self._ask, account_id, what)

    async def _ask(self, account_id: str, what: str) -> None:
        if account_id == PROXY:
            await self._ask_about_proxy(what)
            return
        if what in ("remove", "remove-key", "delete-key") and self._takes_private_key(account_id):
            await self._ask_about_key(account_id, what)
            return
        row = next((row for row in self._presenter.state.accounts if row.id == account_id), None)
        if row is None:
            return
        if what == "rename":
            name = await ask_text(self.theme, self, tr("Rename account"), tr("Name"), value=row.name, max_chars=80)
            if name is not None:
                self._presenter.rename(account_id, name)
        elif what == "replace-key":
            key = await ask_key(self.theme, self, row.name, self._secrets.state)
            if key is not None:
                self._presenter.replace_key(account_id, key)
        elif what == "remove-key":
            text = tr("{name} stays in the list but cannot be used until it has a key again.", name=row.name)
            if await confirm(self.theme, self, tr("Remove this key?"), text, action=tr("Remove key"), danger=True):
                self._presenter.remove_key(account_id)

    def _takes_private_key(self, account_id: str) -> bool:
        """True when the secret of an account, listed or removed, is a wallet's private key."""
        state = self._presenter.state
        listed = any(row.id == account_id and row.has_private_key for row in state.accounts)
        return listed or any(row.id == account_id for row in state.removed_wallets)

    async def _ask_about_key(self, account_id: str, what: str) -> None:
        """Ask before a private key is taken off the list, or deleted, and do it."""
        removed = next((row for row in self._presenter.state.removed_wallets if row.id == account_id), None)
        listed = next((row for row in self._presenter.state.accounts if row.id == account_id), None)
        facts = await self._presenter.facts(account_id)
        if what == "delete-key" and removed is not None:
            title = tr("Delete the key for {name} permanently?", name=removed.name)
            words: tuple[str, ...] = (balance_words(facts), tr("This cannot be undone."), LOST)
            action, do = tr("Delete permanently"), self._presenter.delete_permanently
        elif listed is None:
            return
        else:
            kept = f"{kept_words(self._secrets.state)} {LOST}"
            if what == "remove":
                title, action, do = tr("Remove {name}?", name=listed.name), tr("Remove"), self._presenter.remove
                words = (balance_words(facts), open_words(facts), kept)
            else:
                title, action = tr("Remove the private key for {name}?", name=listed.name), tr("Remove private key")
                stays = tr("{name} stays in the list, watch-only.", name=listed.name)
                words, do = (balance_words(facts), kept, stays), self._presenter.remove_key
        answer = await ask_about_key(self.theme, self, title, *words, action=action)
        if answer == "go":
            do(account_id)
        elif answer == "export":
            self.export_requested.emit(account_id)

    async def _ask_about_proxy(self, what: str) -> None:
        text = tr("Rialto will connect to the proxy without a user name and password. The proxy may refuse that.")
        ask = tr("Remove the proxy password?")
        if what != "remove-key" or await confirm(
            self.theme, self, ask, text, action=tr("Remove password"), danger=True
        ):
            self.proxy_requested.emit(what)

    def _offer_undo(self, name: str, *, is_wallet: bool) -> None:
        """Only the account that was removed last can be restored with Undo."""
        ids = (tr("the removed account"),)
        self._undo_stack.forget("settings", ids)
        note = (
            tr("Its key is kept under Removed wallets in Settings. Your chats are kept.")
            if is_wallet
            else tr("Its key is deleted when Rialto quits. Your chats are kept.")
        )
        self._undo_stack.push(
            UndoCommand("settings", tr("{name} was removed", name=name), self._bring_back, ids, note=note)
        )

    async def _bring_back(self, _ids: object) -> None:
        await self._presenter.undo_remove()


async def ask_key(theme: Theme, parent: QWidget, account_name: str, place: SecretsState) -> str | None:
    """Return the new key, None when the person leaves. The field is emptied either way."""
    dialog = Dialog(theme, parent, tr("Replace key for {account_name}", account_name=account_name))
    field = SecretField(theme, tr("Paste a key"))
    dialog.body.addWidget(FieldBox(theme, tr("API key"), field))
    words = tr("The old key is removed here but not revoked at the service. {keep_words}", keep_words=keep_words(place))
    dialog.body.addWidget(Label(theme, words, "small", "text2", wrap=True))
    dialog.add_button(tr("Cancel"), accepts=False)
    save = dialog.add_button(tr("Replace key"), kind="primary", accepts=True, default=True)
    save.setEnabled(False)
    field.textChanged.connect(lambda text: save.setEnabled(bool(text.strip())))
    field.setFocus(Qt.FocusReason.OtherFocusReason)
    typed: list[str] = []
    dialog.accepted.connect(lambda: typed.append(field.text().strip()))
    accepted = await dialog.answer()
    return typed[0] if accepted and typed else None
