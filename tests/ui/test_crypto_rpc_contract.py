"""A contract from its first byte to its logs, through the Console's window, on the Sandbox's real machine."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit
from web3 import Web3

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.storage.rpc_interfaces import RpcInterfaces
from app.ui.crypto_rpc.contract_dialog import ContractDialog
from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces
from app.ui.crypto_rpc.session.methods import SANDBOX_CONTRACT
from app.ui.crypto_rpc.session.tokens import TokenBook
from app.ui.kit.theme import Theme
from app.wallet.addresses import keccak256
from tests.kit.console import ConsoleHarness, call, open_console, press
from tests.kit.waiting import until
from tests.ui import rpc_contract
from tests.ui.rpc_contract import ABI, ALICE, SIGNATURES, signed

BOB = "0x3535353535353535353535353535353535353535"


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        window.presenter.use_network("base-mainnet")
        yield window


async def ask(window: ConsoleHarness, *calls: dict[str, object]) -> list[object]:
    """Send calls as a person does who writes JSON, agreeing to everything, and return what came back."""
    window.key("Ctrl+Shift+N")
    window.type_json(list(calls) if len(calls) > 1 else calls[0])
    window.answer_questions()
    await window.send()
    assert window.shown_run is not None
    assert window.shown_run.problem is None
    return [outcome.value for outcome in window.shown_run.outcomes]


async def deployed(window: ConsoleHarness) -> str:
    """The address of the contract, deployed through the Console."""
    raw, digest = signed(0, data=rpc_contract.creation())
    assert await ask(window, call("eth_sendRawTransaction", raw)) == [digest]
    (receipt,) = await ask(window, call("eth_getTransactionReceipt", digest))
    assert isinstance(receipt, dict)
    assert (receipt["status"], len(receipt["contractAddress"])) == ("0x1", 42)
    return str(receipt["contractAddress"])


async def test_a_contract_is_deployed_called_traced_and_its_logs_are_read_as_web3_reads_them(
    window: ConsoleHarness,
) -> None:
    where = await deployed(window)
    await window.presenter.interfaces.keep(where, json.dumps(ABI))
    contract = Web3().eth.contract(address=Web3.to_checksum_address(where), abi=ABI)
    data = contract.encode_abi("store", [7 * 10**30])
    raw, digest = signed(1, to=where, data=data)
    assert await ask(window, call("eth_sendRawTransaction", raw)) == [digest]
    logs, kept, trace, refused, spoken = await ask(
        window,
        call("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest", "address": where}),
        call("eth_call", {"to": where, "data": contract.encode_abi("value", [])}, "latest"),
        call("trace_transaction", digest),
        call("eth_call", {"from": ALICE, "to": where, "data": contract.encode_abi("store", [0])}, "latest"),
        call("eth_getTransactionByHash", digest),
    )
    assert isinstance(trace, list)
    assert trace[0]["action"]["to"].lower() == where.lower()
    assert isinstance(kept, str)
    assert int(kept, 16) == 7 * 10**30
    assert isinstance(refused, dict)
    assert isinstance(spoken, dict)
    assert "zero is nothing" in window.response.trouble_words.text()
    assert window.response.decode.isChecked()  # without a press, as the types are known
    shown = [window.tree_rows.index(row, 0) for row in range(5)]
    read: list[Any] = [window.tree_rows.node(index).value for index in shown]
    assert isinstance(logs, list)
    event = contract.events.Stored().process_log(_log(logs[0]))
    assert read[0][0]["decoded"] == {"name": "Stored", "who": event["args"]["who"], "number": event["args"]["number"]}
    assert read[1]["decoded"] == {"number": 7 * 10**30}
    assert read[3]["decoded"] == "zero is nothing"
    function, arguments = contract.decode_function_input(data)
    assert read[4]["decoded"] == {"name": function.fn_name, **arguments}
    window.key("F8")
    await window.settle()
    assert window.tree_rows.node(window.tree_rows.index(1, 0)).value == kept


def _log(log: dict[str, str]) -> dict[str, object]:
    """A log as web3 takes it."""
    numbers = {name: int(log[name], 16) for name in ("blockNumber", "logIndex", "transactionIndex")}
    return {**log, **numbers, "topics": [bytes.fromhex(each[2:]) for each in log["topics"]],
            "data": bytes.fromhex(log["data"][2:])}  # fmt: skip


async def test_bytes_of_a_contract_offer_to_be_decoded_on_their_own_row(window: ConsoleHarness) -> None:
    where = await deployed(window)
    await window.presenter.interfaces.keep(where, json.dumps(ABI))
    data = "0x" + keccak256(b"store(uint256)")[:4].hex() + "00" * 32
    await ask(window, call("eth_call", {"to": where, "data": data}, "latest"))
    tree = window.response.tree
    row = next(
        index
        for place in range(5)
        if tree.rows.node(index := tree.rows.index(place, 0, tree.rows.index(0, 0))).key == "data"
    )
    assert tree.offer_of(tree.rows.node(row)) == "Decode"
    place = tree.visualRect(row)
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place.center())
    assert not window.response.decode.isChecked()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.right() - 20, place.center().y()))
    await window.settle()
    assert window.response.decode.isChecked()
    top = tree.rows.node(tree.rows.index(0, 0)).value
    assert isinstance(top, dict)
    assert top["decoded"] == "zero is nothing"


async def test_a_signed_transfer_is_confirmed_in_full_sent_and_its_hash_shown(window: ConsoleHarness) -> None:
    raw, digest = signed(0, to=BOB, value=15 * 10**17)
    window.ask_in_dialogs()
    window.type_json(call("eth_sendRawTransaction", raw))
    window.key("Ctrl+Return")
    dialog = await window.dialog()
    words = [label.text() for label in dialog.findChildren(type(dialog.title))]
    for shown in (ALICE, BOB, "1.5 ether", "8453", digest):
        assert shown in words
    focused = dialog.focusWidget()
    assert focused is not None
    assert getattr(focused, "text", str)() == "Do not send"
    press(dialog, "Do not send")
    await window.settle()
    assert window.entries == []
    window.key("Ctrl+Return")
    press(await window.dialog(), "Send")
    await window.settle()
    assert window.shown_run is not None
    assert window.shown_run.transactions == (("1", digest),)
    assert window.shown_run.outcomes[0].value == digest
    assert raw not in json.dumps(window.draft.kept())


async def test_a_function_is_chosen_and_its_arguments_are_encoded_as_web3_does(window: ConsoleHarness) -> None:
    where = await deployed(window)
    window.run("Call a contract…")
    dialog = await window.dialog()
    assert isinstance(dialog, ContractDialog)
    assert dialog.form.address.text() == SANDBOX_CONTRACT  # there is something to call
    assert dialog.form.fault.isHidden()  # nothing is wrong before the first key
    dialog.form.address.setFocus()
    dialog.form.address.selectAll()
    QTest.keyClicks(dialog.form.address, where)
    dialog.form.text.setPlainText(SIGNATURES)
    QTest.keyClicks(dialog.form.function, "store")
    assert not dialog.use.isEnabled()
    assert dialog.form.fault.isHidden()
    assert dialog.use.toolTip() == "Fill in the address and every argument."
    QTest.keyClicks(dialog.form.arguments[0], "1.5 ether")
    contract = Web3().eth.contract(abi=ABI)
    assert dialog.form.call["data"] == contract.encode_abi("store", [15 * 10**17])
    QTest.keyClicks(dialog.form.arguments[0], "x")
    assert not dialog.use.isEnabled()
    assert dialog.form.fault.text()
    QTest.keyClick(dialog.form.arguments[0], Qt.Key.Key_Backspace)
    press(dialog, "Insert")
    await window.settle()
    row = window.calls[-1]
    assert (row.method, row.params) == (
        "eth_call",
        [dialog_call(where, contract.encode_abi("store", [15 * 10**17])), "latest"],
    )
    assert window.presenter.interfaces.text_for(where) == SIGNATURES
    window.presenter.send_alone(row.id)
    await window.settle()
    assert [entry.title for entry in window.entries][:1] == ["store"]


def dialog_call(where: str, data: str) -> dict[str, str]:
    return {"to": Web3.to_checksum_address(where), "data": data}


async def test_an_interface_is_loaded_from_a_compilers_file(window: ConsoleHarness, tmp_path: Path) -> None:
    file = tmp_path / "Store.json"
    file.write_text(json.dumps({"contractName": "Store", "abi": ABI}))
    window.run("Call a contract…")
    dialog = await window.dialog()
    assert isinstance(dialog, ContractDialog)
    press(dialog, "Load a file…")
    await until(lambda: bool(dialog.findChildren(QFileDialog)))
    chooser = dialog.findChildren(QFileDialog)[0]
    chooser.setDirectory(str(tmp_path))
    chooser.findChildren(QLineEdit)[0].setText(file.name)
    chooser.accept()
    await until(lambda: dialog.form.function.count() == 2)
    assert [dialog.form.function.itemText(place) for place in range(2)] == ["store(uint256)", "value()"]
    press(dialog, "Cancel")
    await window.settle()


async def test_an_interface_is_there_again_after_a_restart(tmp_path: Path) -> None:
    files = RpcInterfaces(tmp_path / "interfaces")
    tokens = TokenBook(CurrentAccount())
    shelf = ContractInterfaces(files, tokens)
    await shelf.keep(BOB, SIGNATURES)
    (tmp_path / "interfaces" / f"{ALICE.lower()}.abi").write_text("not an interface")
    again = ContractInterfaces(files, tokens)
    await again.read()
    assert set(again.known) == {BOB.lower()}
    assert again.text_for(BOB) == SIGNATURES


async def test_the_fields_of_a_call_are_in_step_with_its_json(window: ConsoleHarness) -> None:
    window.presenter.edit(lambda draft: draft.add("eth_getBalance", [BOB, "latest"]))
    window.run("Parameters as fields")
    form = window.request.form
    assert [field.label for field in form.fields] == ["address", "block"]
    address, block = form.inputs
    address.setFocus()
    address.selectAll()
    QTest.keyClicks(address, ALICE.lower())
    assert window.calls[0].params == [ALICE, "latest"]
    assert f"Checksum: {ALICE}" in form._notes[0].text()
    block.setFocus()
    block.selectAll()
    QTest.keyClicks(block, "21,000,000")
    assert json.loads(window.request.params.toPlainText()) == [ALICE, "0x1406f40"]
    block.selectAll()
    QTest.keyClicks(block, "yesterday")
    assert "A block is a number or one of" in form._notes[1].text()
    assert window.calls[0].params == [ALICE, "0x1406f40"]
    address.setFocus()
    address.selectAll()
    QTest.keyClicks(address, ALICE[:-1] + ("a" if ALICE[-1] != "a" else "b"))
    assert "checksum" in form._notes[0].text()


async def test_amounts_are_read_in_every_unit(window: ConsoleHarness) -> None:
    window.presenter.edit(lambda draft: draft.add("eth_estimateGas", [{"to": BOB}]))
    window.run("Parameters as fields")
    form = window.request.form
    value = next(line for field, line in zip(form.fields, form.inputs, strict=True) if field.label == "value")
    for written, kept in (("1.5 ether", "0x14d1120d7b160000"), ("30 gwei", "0x6fc23ac00"), ("1500", "0x5dc")):
        value.setFocus()
        value.selectAll()
        QTest.keyClicks(value, written)
        assert window.calls[0].params == [{"to": BOB, "value": kept}]
    await until(lambda: window.request.fault.text() == "")
