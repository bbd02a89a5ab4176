"""Transactions of the program's own wallets, filled in, reviewed, signed and sent on the Sandbox's real machine."""

from __future__ import annotations

import csv
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QLineEdit

from app.bootstrap.crypto_rpc_tab import OwnWallets
from app.core.tasks import TaskScope
from app.credentials.accounts import SANDBOX_ADDRESS, Account, Accounts, new_account
from app.storage.settings import SettingsStore
from app.ui.crypto_rpc.response_pane import HEADERS, TABLE, TREE
from app.ui.crypto_rpc.session import tokens, tracking
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.methods import SANDBOX_CONTRACT as PLAY_ASSET
from app.ui.crypto_rpc.session.sending import RECEIPT
from app.ui.crypto_rpc.session.transacting import SEND
from app.ui.crypto_rpc.transaction_dialog import CONTRACT, TransactionDialog
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.wallet.session.wallet_keys import WalletKeys
from app.wallet.addresses import keccak256
from app.wallet.networks import PLAY_MONEY
from app.wallet.quantities import in_unit
from tests.credentials.book_file import BookFile
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.sandbox import controls_of
from tests.kit.waiting import until
from tests.kit.wallet import Place
from tests.ui.rpc_contract import ABI, ALICE, KEY, creation, signed
from tests.ui.test_crypto_rpc_killed import arm

NETWORK = "base-mainnet"
UNKNOWN = "robinhood-testnet"  # its id is in no list of Rialto's
BOB = "0x3535353535353535353535353535353535353535"
ETHER = 10**18


@dataclass
class Sender:
    """The Console with a wallet of Alice's, and what a person does in its form."""

    window: ConsoleHarness
    keys: WalletKeys
    account: Account
    may_unlock: bool = True
    unlocks: int = 0

    async def open(self) -> TransactionDialog:
        self.window.run("Send a transaction…")
        dialog = await self.window.dialog()
        assert isinstance(dialog, TransactionDialog)
        return dialog

    async def transfer(self, amount: str, to: str = BOB) -> TransactionDialog:
        """The form, filled in and sent to its review."""
        dialog = await self.open()
        QTest.keyClicks(dialog.to, to)
        QTest.keyClicks(dialog.amount, amount)
        press(dialog, "Review…")
        await until(lambda: bool(dialog.fault.text()) or self.review() is not None)
        return dialog

    def review(self) -> Dialog | None:
        found = [each for each in self.window.dialogs() if not isinstance(each, TransactionDialog)]
        return found[0] if found else None

    def reviewed(self) -> list[str]:
        review = self.review()
        assert review is not None
        return [label.text() for label in review.findChildren(QLabel)]

    async def agree(self) -> None:
        """Sign and send, and wait for the end of it."""
        review = self.review()
        assert review is not None
        press(review, "Sign and send")
        await self.window.settle()

    async def number(self, method: str, *params: object) -> int:
        answer = await self.window.service.crypto_rpc.call(NETWORK, method, list(params))
        return int(str(answer.outcome.result), 16)

    async def holds(self, address: str) -> int:
        return await self.number("eth_getBalance", address, "latest")

    async def dollars(self, address: str) -> int:
        data = "0x70a08231" + address[2:].lower().rjust(64, "0")
        return await self.number("eth_call", {"to": PLAY_ASSET, "data": data}, "latest")

    def sent(self) -> int:
        """How many transactions left for the network."""
        return sum(entry.title == SEND for entry in self.window.entries)


class SessionPlace(Place):
    """Keys in memory, which can be removed."""

    async def delete(self, account_id: str) -> None:
        await self.store.delete(account_id, "api_key")


async def _nobody(_name: str, _text: str) -> str | None:
    return None


async def _wallet(keys: WalletKeys, book: Accounts, key: str) -> Account:
    sandbox = next(each for each in book.list() if each.kind == "sandbox")
    return await keys.add_from_key("Pocket wallet", key, "evm", sandbox)


@pytest.fixture
async def sender(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[Sender]:
    async with open_console(tmp_path, tasks, theme) as window:
        window.presenter.use_network(NETWORK)
        file, place = BookFile(tmp_path / "accounts.json"), SessionPlace()
        book = Accounts(file.load, file.save)
        book.add(new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox"))
        keys = WalletKeys(book, lambda: place, SettingsStore(tmp_path / "settings.json"), tasks, _nobody)
        await keys.start(window.database)
        found = Sender(window, keys, await _wallet(keys, book, KEY))

        async def unlock() -> bool:
            if keys.is_locked:
                found.unlocks += 1
                if not found.may_unlock:
                    return False
                keys.unlock()
            return True

        services = SimpleNamespace(wallet_keys=keys, current_account=window.current_account, unlock_wallets=unlock)
        window.presenter.transacting.wallets = OwnWallets(services)  # type: ignore[arg-type]  # what it needs of them
        window.ask_in_dialogs()
        yield found
        keys.lock()


async def test_a_transfer_is_reviewed_signed_once_sent_once_and_arrives(sender: Sender) -> None:
    before, own = await sender.holds(BOB), await sender.holds(ALICE)
    dialog = await sender.transfer("1.5")
    shown = sender.reviewed()
    for words in ("Sign and send this transaction on Base mainnet?", ALICE, BOB, "1.5 ether", "8453", "0"):
        assert words in shown
    assert "Hash" not in shown  # nothing is signed yet
    assert sender.sent() == 0
    assert await sender.keys.signed_lately() == ()
    review = sender.review()
    assert review is not None
    focused = review.focusWidget()
    assert getattr(focused, "text", str)() == "Do not send"
    most = next(words for words in shown if words.endswith("ether, fees included"))
    await sender.agree()
    assert dialog not in sender.window.dialogs()
    run = sender.window.shown_run
    assert run.outcomes[0].value == run.transactions[0][1]
    assert sender.sent() == 1
    assert await sender.holds(BOB) == before + 15 * ETHER // 10
    spent = own - await sender.holds(ALICE)
    assert 15 * ETHER // 10 < spent <= float(most.split()[0]) * ETHER
    (signed,) = await sender.keys.signed_lately()
    assert (signed.kind, signed.host) == ("transaction", "Base mainnet")
    assert BOB in signed.document


async def test_a_token_is_sent_by_its_contract(sender: Sender) -> None:
    before = await sender.dollars(BOB)
    dialog = await sender.open()
    dialog.mode.set_current(CONTRACT)
    dialog.mode.changed.emit(CONTRACT)
    assert not dialog.to.isVisible()
    QTest.keyClicks(dialog.form.address, PLAY_ASSET)
    QTest.keyClicks(dialog.form.function, "transfer(")
    QTest.keyClicks(dialog.form.arguments[0], BOB)
    assert not dialog.review.isEnabled()
    QTest.keyClicks(dialog.form.arguments[1], "2500000")
    press(dialog, "Review…")
    await until(lambda: sender.review() is not None)
    assert f"transfer(to: {BOB}, value: 2500000)" in sender.reviewed()
    await sender.agree()
    assert await sender.dollars(BOB) == before + 2_500_000


async def test_what_is_not_agreed_to_is_neither_signed_nor_sent_and_the_form_stays(sender: Sender) -> None:
    dialog = await sender.transfer("1")
    review = sender.review()
    assert review is not None
    press(review, "Do not send")
    await until(dialog.review.isEnabled)
    assert (dialog.to.text(), dialog.amount.text()) == (BOB, "1")
    assert dialog.review.isEnabled()
    assert sender.sent() == 0
    assert await sender.keys.signed_lately() == ()
    press(dialog, "Cancel")
    await sender.window.settle()


@pytest.mark.parametrize(
    ("amount", "said"), [("100000", "and the fee"), ("99.99999", "With the highest fee"), ("1,5", "no commas")]
)
async def test_too_little_money_is_said_before_anything_is_signed(sender: Sender, amount: str, said: str) -> None:
    dialog = await sender.open()
    QTest.keyClicks(dialog.to, BOB)
    QTest.keyClicks(dialog.amount, amount)
    if dialog.review.isEnabled():
        press(dialog, "Review…")
    await until(lambda: said in dialog.fault.text())
    assert sender.sent() == 0
    assert await sender.keys.signed_lately() == ()
    press(dialog, "Cancel")
    await sender.window.settle()


async def test_a_call_that_the_contract_refuses_is_refused_before_it_is_signed(sender: Sender) -> None:
    dialog = await sender.open()
    dialog.mode.set_current(CONTRACT)
    dialog.mode.changed.emit(CONTRACT)
    QTest.keyClicks(dialog.form.address, PLAY_ASSET)
    QTest.keyClicks(dialog.form.function, "transfer(")
    QTest.keyClicks(dialog.form.arguments[0], BOB)
    QTest.keyClicks(dialog.form.arguments[1], str(10**15))
    press(dialog, "Review…")
    await until(lambda: "would refuse" in dialog.fault.text())
    assert "Nothing was signed" in dialog.fault.text()
    assert await sender.keys.signed_lately() == ()
    press(dialog, "Cancel")
    await sender.window.settle()


async def test_a_mistyped_address_is_told_and_a_contract_as_recipient_warned_of(sender: Sender) -> None:
    dialog = await sender.open()
    wrong = ALICE[:-1] + ("a" if ALICE[-1] != "a" else "b")
    QGuiApplication.clipboard().setText(wrong)
    dialog.to.setFocus()
    dialog.to.paste()
    QTest.keyClicks(dialog.amount, "1")
    assert "checksum" in dialog.fault.text()
    assert not dialog.review.isEnabled()
    press(dialog, "Cancel")
    await sender.window.settle()
    dialog = await sender.transfer("1", PLAY_ASSET)
    if sender.review() is None:
        assert "would refuse" in dialog.fault.text()  # this one takes no coins at all
    press(dialog, "Cancel")
    await sender.window.settle()


async def test_a_node_of_another_chain_gets_no_signature(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender.window.presenter.network_list, "chain_id", lambda _slug: 10)
    dialog = await sender.transfer("1")
    assert dialog.fault.text() == "The node is on chain 8453, but Base mainnet is chain 10. Nothing was signed."
    press(dialog, "Cancel")
    await sender.window.settle()


def lie(sender: Sender, monkeypatch: pytest.MonkeyPatch, **answers: str | None) -> None:
    """Have the node answer these methods with something else."""
    jobs = sender.window.presenter.jobs
    honest = jobs.send

    async def send(network: str, rows: Sequence[CallRow], *, key: str, batch: bool, job_id: str = "") -> object:
        call, outcomes = await honest(network, rows, key=key, batch=batch, job_id=job_id)
        lied = [
            replace(outcome, value=answers.get(row.method, outcome.value))
            for row, outcome in zip(rows, outcomes, strict=True)
        ]
        return call, lied

    monkeypatch.setattr(jobs, "send", send)


async def transfer_on_unknown(sender: Sender, chain_id: str) -> TransactionDialog:
    """Fill in a transfer on a network whose id Rialto does not know, and wait for the review or for what is wrong."""
    dialog = await sender.open()
    QTest.keyClicks(dialog.to, BOB)
    QTest.keyClicks(dialog.amount, "1")
    assert not dialog.review.isEnabled() and dialog.chain_id.isVisible()
    QTest.keyClicks(dialog.chain_id, chain_id)
    press(dialog, "Review…")
    await until(lambda: bool(dialog.fault.text()) or sender.review() is not None)
    return dialog


async def test_on_an_unknown_network_the_person_names_the_chain_once(sender: Sender) -> None:
    presenter = sender.window.presenter
    presenter.use_network(UNKNOWN)
    dialog = await transfer_on_unknown(sender, "4663")
    answer = await sender.window.service.crypto_rpc.call(UNKNOWN, "eth_chainId", [])
    chain_id = int(str(answer.outcome.result), 16)
    assert dialog.fault.text().startswith(f"The node is on chain {chain_id}, but Robinhood testnet is chain 4663.")
    dialog.chain_id.clear()
    QTest.keyClicks(dialog.chain_id, hex(chain_id))
    press(dialog, "Review…")
    await until(lambda: sender.review() is not None)
    assert str(chain_id) in sender.reviewed()
    await sender.agree()
    assert sender.sent() == 1
    await presenter.network_list.refresh()  # as at the next start
    dialog = await sender.open()
    assert not dialog.chain_id.isVisible()
    press(dialog, "Cancel")
    await sender.window.settle()


async def test_nothing_is_signed_for_the_id_of_another_known_network(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender.window.presenter.use_network(UNKNOWN)
    lie(sender, monkeypatch, eth_chainId="0x1")
    dialog = await transfer_on_unknown(sender, "1")
    assert dialog.fault.text() == "Chain 1 is Ethereum mainnet, not Robinhood testnet. Nothing was signed."
    assert await sender.keys.signed_lately() == ()
    press(dialog, "Cancel")
    await sender.window.settle()


@pytest.mark.parametrize(
    ("amount", "tip", "warnings"),
    [
        ("1", 10**6, []),
        ("0.0001", 10**10, ["more than the 0.0001 ether that you send", "a tip of 10 gwei"]),
        ("1", 10**12, ["The fees may reach 0.021", "a tip of 1000 gwei"]),
    ],
)
async def test_fees_that_are_out_of_proportion_are_pointed_out(
    amount: str, tip: int, warnings: list[str], sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie(sender, monkeypatch, eth_maxPriorityFeePerGas=hex(tip))
    dialog = await sender.transfer(amount)
    shown = sender.reviewed()
    for each in warnings:
        assert any(each in words for words in shown), shown
    assert any("fees may reach" in words or "a tip of" in words for words in shown) == bool(warnings)
    review = sender.review()
    assert review is not None
    press(review, "Do not send")
    await until(dialog.review.isEnabled)
    press(dialog, "Cancel")
    await sender.window.settle()


@pytest.mark.parametrize("may_unlock", [True, False])
async def test_locked_keys_are_unlocked_where_the_person_is(sender: Sender, may_unlock: bool) -> None:
    sender.keys.lock()
    sender.may_unlock = may_unlock
    dialog = await sender.transfer("0.1")
    review = sender.review()
    assert review is not None
    press(review, "Sign and send")
    if not may_unlock:
        await until(lambda: dialog.fault.text() == "Your keys are locked. Unlock to send. Nothing was signed.")
        press(dialog, "Cancel")
    await sender.window.settle()
    assert (sender.unlocks, sender.sent()) == (1, int(may_unlock))


async def test_only_wallets_of_the_same_money_are_offered(sender: Sender) -> None:
    assert [each.address for each in sender.window.presenter.transacting.offered()] == [ALICE]
    real = Account(id="real", name="Real", base_url="https://api.example.com/v1")
    sender.window.current_account.use(real, sender.window.service)
    needed: list[str] = []
    sender.window.page.wallet_needed.connect(needed.append)
    sender.window.run("Send a transaction…")
    assert needed == ["This needs a wallet with its key on this computer. Add one in Wallet."]


async def test_a_transaction_without_an_answer_is_unknown_and_the_same_bytes_go_again(sender: Sender) -> None:
    before = await sender.holds(BOB)
    await sender.transfer("2")
    await arm(sender.window, "drop", times=100)  # the service layer repeats it under its key, in vain
    await sender.agree()
    await controls_of(sender.window.sandbox).reset_faults()
    run = sender.window.shown_run
    assert run.state == "unknown"
    assert run.problem.what == "It is not clear whether the transaction was sent"
    hash_ = run.transactions[0][1]
    assert ("Hash", hash_) in run.problem.details
    dialog = await sender.transfer("1")
    assert any("earlier transaction" in words and hash_ in words for words in sender.reviewed())
    review = sender.review()
    assert review is not None
    press(review, "Do not send")
    await until(dialog.review.isEnabled)
    press(dialog, "Cancel")
    await sender.window.settle()
    sender.window.presenter.runs.put(run)
    sender.window.response.problem_action.emit("again")
    question = await sender.window.dialog()
    assert hash_ in [label.text() for label in question.findChildren(QLabel)]
    press(question, "Send")
    await sender.window.settle()
    assert len(await sender.keys.signed_lately()) == 1
    assert await sender.holds(BOB) == before + 2 * ETHER


def said(sender: Sender) -> list[str]:
    """What the blocks above the answer say of the transactions."""
    return [each.words for each in sender.window.response.sent.shown]


def outcome_button(sender: Sender, words: str) -> QAbstractButton:
    sent = sender.window.response.sent
    found = [each for each in sent.findChildren(QAbstractButton) if words in (each.text(), each.accessibleName())]
    assert len(found) == 1
    return found[0]


async def test_what_became_of_a_transfer_is_shown_with_block_gas_and_fee(sender: Sender) -> None:
    sender.window.response_tabs.setCurrentIndex(HEADERS)
    await sender.transfer("1.5")
    assert any("reads the receipt until it is in a block, for at most 200 cr" in words for words in sender.reviewed())
    assert "play money of the Sandbox" in sender.reviewed()
    await sender.agree()
    assert sender.window.response_tabs.currentIndex() == TREE
    hash_ = sender.window.shown_run.transactions[0][1]
    receipt = (await sender.window.service.crypto_rpc.call(NETWORK, RECEIPT, [hash_])).outcome.result
    assert isinstance(receipt, dict)
    block, price = int(receipt["blockNumber"], 16), int(receipt["effectiveGasPrice"], 16)
    assert said(sender) == [f"In block {block:,}, 21,000 gas, fee {in_unit(21_000 * price)} ether."]
    (entry,) = [each for each in sender.window.entries if each.title == SEND]
    assert (entry.badge, entry.tone) == ("Mined", "ok")
    outcome_button(sender, "Copy hash").click()
    assert QGuiApplication.clipboard().text() == hash_
    sender.window.run("My transactions")
    await sender.window.settle()
    table = sender.window.response.table.shown
    assert table is not None
    (row,) = table.rows
    assert {name: row[name] for name in ("state", "to", "value", "hash")} == {
        "state": "Mined",
        "to": BOB,
        "value": "1.5 ether",
        "hash": hash_,
    }


async def test_a_transaction_in_no_block_waits_and_is_checked_by_a_press(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "LOOK_AFTER_S", (0.0, 0.0))
    with monkeypatch.context() as patched:
        lie(sender, patched, eth_getTransactionReceipt=None)
        await sender.transfer("1")
        await sender.agree()
        assert said(sender) == ["Sent. Not in a block when last checked."]
        (entry,) = [each for each in sender.window.entries if each.title == SEND]
        assert entry.badge == "Waiting"
        looked = [each for each in sender.window.entries if each.title == RECEIPT]
        assert [each.second for each in looked] == ["Base mainnet · 2 times"]
    await sender.window.restart()
    sender.window.presenter.open_call(sender.window.shown_run.id)
    await sender.window.settle()
    press(sender.window.response.sent, "Check, 20 cr")
    await sender.window.settle()
    assert said(sender)[0].startswith("In block ")


async def test_a_reverted_transaction_says_why(sender: Sender) -> None:
    window = sender.window
    window.answer_questions()
    raw, _ = signed(0, data=creation())
    window.type_json(call(SEND, raw))
    await window.send()
    (made,) = window.response.sent.shown
    assert made.state == "mined" and made.contract
    await window.presenter.interfaces.keep(made.contract, json.dumps(ABI))
    data = "0x" + keccak256(b"store(uint256)")[:4].hex() + "00" * 32
    raw, _ = signed(1, to=made.contract, data=data)
    window.type_json(call(SEND, raw))
    await window.send()
    (refused,) = window.response.sent.shown
    assert refused.state == "reverted"
    assert "zero is nothing" in refused.words
    badges = [each.badge for each in window.entries if each.title == SEND]
    assert badges == ["Reverted", "Mined"]


async def test_tokens_are_written_and_reviewed_with_symbol_and_decimals(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await sender.dollars(BOB)
    monkeypatch.setattr(tokens, "PLAY_MONEY", replace(PLAY_MONEY, address=BOB))  # so the contract has to be asked
    dialog = await sender.open()
    dialog.mode.set_current(CONTRACT)
    dialog.mode.changed.emit(CONTRACT)
    assert "view" not in dialog.form.function.itemText(0)
    assert [dialog.form.function.itemText(at).partition("(")[0] for at in range(3)] == [
        "transfer",
        "approve",
        "transferFrom",
    ]
    QTest.keyClicks(dialog.form.address, PLAY_ASSET)
    QTest.keyClicks(dialog.form.function, "transfer(")
    QTest.keyClicks(dialog.form.arguments[0], BOB)
    QTest.keyClicks(dialog.form.arguments[1], "2500000")
    press(dialog, "Review…")  # which reads what the token calls itself
    await until(lambda: sender.review() is not None)
    assert "2.5 USDC, as the contract names itself" in sender.reviewed()
    review = sender.review()
    assert review is not None
    press(review, "Do not send")
    await until(dialog.review.isEnabled)
    amount = dialog.form.arguments[1]
    for written, meant in (("2.5", "2.5 USDC"), ("0.25 usdc", "0.25 USDC"), ("1", "0.000001 USDC")):
        amount.clear()
        QTest.keyClicks(amount, written)
        assert dialog.form.meaning.text() == f"Amount {meant}"
    amount.clear()
    QTest.keyClicks(amount, "0.1234567")
    assert dialog.form.fault.text() == "USDC has 6 decimal places."
    amount.clear()
    QTest.keyClicks(amount, "2.5")
    press(dialog, "Review…")
    await until(lambda: sender.review() is not None)
    await sender.agree()
    assert await sender.dollars(BOB) == before + 2_500_000


async def test_a_token_is_read_for_its_price_while_a_call_is_written(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "PLAY_MONEY", replace(PLAY_MONEY, address=BOB))
    dialog = await sender.open()
    dialog.mode.set_current(CONTRACT)
    dialog.mode.changed.emit(CONTRACT)
    QTest.keyClicks(dialog.form.address, PLAY_ASSET)
    QTest.keyClicks(dialog.form.function, "transfer(")
    QTest.keyClicks(dialog.form.arguments[0], BOB)
    assert dialog.form.read_token.isHidden()
    QTest.keyClicks(dialog.form.arguments[1], "1000000")
    assert "40 cr" in dialog.form.read_token.text()
    dialog.form.read_token.click()
    await until(lambda: dialog.form.meaning.text() == "Amount 1 USDC")
    assert dialog.form.read_token.isHidden()
    press(dialog, "Cancel")
    await sender.window.settle()


async def test_results_and_events_read_as_amounts_on_their_rows_and_in_a_table_with_csv(
    sender: Sender, tmp_path: Path
) -> None:
    window = sender.window
    data = "0x70a08231" + BOB[2:].rjust(64, "0")
    dialog = await sender.open()
    dialog.mode.set_current(CONTRACT)
    dialog.mode.changed.emit(CONTRACT)
    QTest.keyClicks(dialog.form.address, PLAY_ASSET)
    QTest.keyClicks(dialog.form.function, "transfer(")
    QTest.keyClicks(dialog.form.arguments[0], BOB)
    QTest.keyClicks(dialog.form.arguments[1], "2.5 USDC")
    press(dialog, "Review…")
    await until(lambda: sender.review() is not None)
    assert "2.5 USDC" in sender.reviewed()
    await sender.agree()
    hash_ = window.shown_run.transactions[0][1]
    window.type_json([call("eth_call", {"to": PLAY_ASSET, "data": data}, "latest"), call(RECEIPT, hash_, id=2)])
    await window.send()
    root = window.tree_rows.index(0, 0).data()
    assert root.startswith("1 eth_call: balanceOf → 2.5 USDC Result")
    window.response_tabs.setCurrentIndex(TABLE)
    await window.settle()
    view = window.response.table
    assert view.shown is not None
    assert view.shown.columns[:5] == ("event", "from", "to", "value", "amount")
    (row,) = [each for each in view.shown.rows if each["event"] == "Transfer"]
    assert (row["from"], row["to"], row["amount"], row["transaction"]) == (ALICE, BOB, "2.5 USDC", hash_)
    view.save.click()
    await until(lambda: bool(window.main.findChildren(QFileDialog)))
    chooser = window.main.findChildren(QFileDialog)[0]
    chooser.setDirectory(str(tmp_path))
    chooser.findChildren(QLineEdit)[0].setText("events.csv")
    chooser.accept()
    await window.settle()
    lines = list(csv.DictReader((tmp_path / "events.csv").read_text("utf-8").splitlines()))
    assert [line["amount"] for line in lines if line["event"] == "Transfer"] == ["2.5 USDC"]
