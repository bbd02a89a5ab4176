"""What the buttons of an error card ask for, carried out wherever in the window it belongs.

A module of its own: it is loaded by the first button of an error card that is pressed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from app.bootstrap.wallet_tab import show_keys, top_up_and_go_on
from app.core import money
from app.translation import tr

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto


def carry_out(rialto: Rialto, action: str) -> None:
    """Do what a button asks for; `action` is the id of its `ActionSpec`."""
    if action == "speak":
        return  # the message view told the speech tab itself
    if action in ("sandbox-money", "sandbox-settings"):
        rialto.window.open_settings("sandbox")
    elif action.startswith("limits:"):
        from app.bootstrap.money_questions import show_limits

        show_limits(rialto, action.partition(":")[2])
    elif action == "switch-account":
        rialto.window.open_account_menu()
    elif action == "sandbox":
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
    elif action == "connection":
        rialto.window.open_settings("connection")
    elif action == "about":
        rialto.window.open_settings("about")
    elif action.partition(":")[0] == "top-up":
        amount = action.partition(":")[2]
        top_up_and_go_on(rialto, Decimal(amount) if amount else None)
    elif action == "key-limit":
        show_keys(rialto)
    elif action.partition(":")[0] in ("choose-model", "use-model"):
        _choose_model(rialto)
    elif action in ("edit", "shorten", "choose-file"):
        rialto.window.focus_main_input()
    elif action == "check-balance":
        rialto.tasks.start_unless_running("balance", _show_balance, rialto)
    else:  # "accounts", "replace-key": what is known of the account, and its Test button
        rialto.window.open_settings("accounts")


def _choose_model(rialto: Rialto) -> None:
    """Open the models of the tab in front, for tabs that do not do so themselves."""
    window = rialto.window
    tab = window.tab(window.current_tab) if window.current_tab else None
    choose = next((each for each in tab.actions() if each.id == f"{tab.name}.model"), None) if tab else None
    if choose is not None and choose.enabled():
        choose.run()
    else:
        window.focus_main_input()


async def _show_balance(rialto: Rialto) -> None:
    """Ask the service and say what it answered; the status bar shows the same."""
    await rialto.refresh()
    balance = rialto.current_account.balance
    rialto.toast(
        tr("The service reports {balance}.", balance=money.money(balance))
        if balance is not None
        else tr("The service did not state a balance.")
    )
