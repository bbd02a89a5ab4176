"""Everything the Console can do, as actions for menus, palette and keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction

if TYPE_CHECKING:
    from app.ui.crypto_rpc.page import CryptoRpcPage

# The menus of the tab, by the ids of their actions; "" draws a line.
TOOLS = (
    "crypto_rpc.transaction",
    "crypto_rpc.transactions",
    "crypto_rpc.contract",
    "",
    "crypto_rpc.logs",
    "crypto_rpc.sheet",
    "crypto_rpc.watch",
    "crypto_rpc.repeat",
)
COPIES = ("crypto_rpc.curl", "crypto_rpc.python", "crypto_rpc.cast")


def rpc_actions(page: CryptoRpcPage) -> Sequence[TabAction]:
    presenter = page.presenter

    def shown() -> bool:
        return presenter.run is not None

    return (
        TabAction("crypto_rpc.new", tr("New batch"), presenter.new_batch, "Ctrl+N", "plus"),
        TabAction("crypto_rpc.send", tr("Send"), page.send, "Ctrl+Return", "arrow-up"),
        TabAction(
            "crypto_rpc.network",
            tr("Choose network"),
            page.open_networks,
            "Ctrl+Shift+L",
            "globe",
            words=tr("chain blockchain"),
        ),
        TabAction("crypto_rpc.method", tr("Add a method"), page.open_methods, "Ctrl+Shift+M", "plus"),
        TabAction("crypto_rpc.mode", tr("Rows or JSON"), page.toggle_mode, "Ctrl+Shift+J", "code"),
        TabAction("crypto_rpc.tidy", tr("Format JSON"), page.tidy, "Ctrl+Shift+I", "wrap"),
        TabAction("crypto_rpc.key", tr("New idempotency key"), presenter.new_key, "Ctrl+Shift+N", "refresh"),
        TabAction(
            "crypto_rpc.paste",
            tr("Paste calls or a curl command"),
            page.paste,
            "Ctrl+Shift+V",
            "paste",
            words=tr("import bash shell"),
        ),
        TabAction("crypto_rpc.again", tr("Send again"), page.send, "Ctrl+R", "retry", enabled=shown),
        TabAction("crypto_rpc.copy", tr("Copy response"), page.answer.copy, "Ctrl+Shift+C", "copy", enabled=shown),
        TabAction("crypto_rpc.save", tr("Save response as…"), page.answer.save, "Ctrl+S", "download", enabled=shown),
        TabAction(
            "crypto_rpc.contract",
            tr("Call a contract…"),
            page.open_contract,
            icon="document",
            hint="ABI",
            words=tr("abi solidity interface"),
        ),
        TabAction(
            "crypto_rpc.transaction",
            tr("Send a transaction…"),
            page.open_transaction,
            icon="signature",
            hint=tr("Transfer, contract, sign"),
            words=tr("pay send ether token coins raw"),
        ),
        TabAction(
            "crypto_rpc.transactions",
            tr("My transactions"),
            page.show_transactions,
            icon="list",
            hint=tr("Waiting, mined, reverted"),
            words=tr("hash receipt pending sent history"),
        ),
        TabAction("crypto_rpc.form", tr("Parameters as fields"), page.main.request.as_form.toggle, icon="list"),
        TabAction("crypto_rpc.side", tr("Request or response"), page.other_side, "F7", "panel-right"),
        TabAction(
            "crypto_rpc.wider_request",
            tr("Wider request"),
            partial(page.main.widen_request, 1),
            "Ctrl+Alt+R",
            "plus",
            enabled=lambda: page.main.is_wide,
        ),
        TabAction(
            "crypto_rpc.narrower_request",
            tr("Narrower request"),
            partial(page.main.widen_request, -1),
            "Ctrl+Alt+Shift+R",
            "minus",
            enabled=lambda: page.main.is_wide,
        ),
        TabAction(
            "crypto_rpc.decode", tr("Decode response"), page.main.response.decode.toggle, "F8", "code", enabled=shown
        ),
        TabAction(
            "crypto_rpc.compare",
            tr("Compare with previous run"),
            page.answer.compare,
            icon="history",
            enabled=lambda: bool(page.answer.run_before),
        ),
        TabAction(
            "crypto_rpc.logs",
            tr("Search logs over many blocks…"),
            page.tools.search_logs,
            icon="search",
            hint=tr("Events, eth_getLogs"),
        ),
        TabAction(
            "crypto_rpc.sheet",
            tr("Balances of many addresses…"),
            page.tools.read_balances,
            icon="grid",
            hint=tr("Tokens, ERC-20, balanceOf"),
        ),
        TabAction(
            "crypto_rpc.watch",
            tr("Watch chain heads…"),
            page.tools.watch_heads,
            icon="clock",
            hint=tr("Poll the latest block"),
        ),
        TabAction("crypto_rpc.repeat", tr("Repeat request…"), page.tools.repeat, icon="replay", hint=tr("Poll, loop")),
        TabAction(
            "crypto_rpc.curl",
            tr("Copy as curl"),
            lambda: page.copy_as("curl"),
            icon="code",
            words=tr("shell command line terminal"),
        ),
        TabAction("crypto_rpc.python", tr("Copy as Python (web3)"), lambda: page.copy_as("python"), icon="code"),
        TabAction("crypto_rpc.cast", tr("Copy as cast"), lambda: page.copy_as("cast"), icon="code"),
        TabAction("crypto_rpc.collect", tr("Save to a collection…"), page.save_into_collection, icon="folder"),
        TabAction("crypto_rpc.id", tr("Set call ID…"), page.edit_id, icon="tag", words=tr("json-rpc identifier")),
        TabAction("crypto_rpc.variables", tr("Variables…"), page.edit_variables, icon="tag"),
        TabAction(
            "crypto_rpc.next-match", tr("Next match"), lambda: page.main.response.step(1), "Ctrl+G", enabled=shown
        ),
        TabAction(
            "crypto_rpc.previous-match",
            tr("Previous match"),
            lambda: page.main.response.step(-1),
            "Ctrl+Shift+G",
            enabled=shown,
        ),
        TabAction("crypto_rpc.above", tr("Previous call"), lambda: page.step(-1), "Alt+Up"),
        TabAction("crypto_rpc.below", tr("Next call"), lambda: page.step(1), "Alt+Down"),
        TabAction(
            "crypto_rpc.open_trash",
            tr("Open trash"),
            page.open_trash,
            icon="trash",
            words=tr("deleted bin recycle restore"),
        ),
    )


def rpc_palette_items(page: CryptoRpcPage, text: str, limit: int) -> Sequence[PaletteItem]:
    """Networks by name; the open tab's only."""
    words = SearchTerms(text)
    found = [row for row in page.presenter.networks() if words.are_in(row.title, row.slug)]
    return tuple(
        PaletteItem(
            f"network:{row.slug}",
            tr("Use {title}", title=row.title),
            tr("Network"),
            "globe",
            "setting",
            lambda slug=row.slug: page.presenter.use_network(slug),  # type: ignore[misc]  # the slug of this turn
        )
        for row in (found[:limit] if words else ())
    )
