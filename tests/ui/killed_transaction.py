"""A Console that signs and sends a transaction, and is killed at one point of it.

`python -m tests.ui.killed_transaction`, then lines as `tests.ui.killing` sends them: the database, address and key of
the Sandbox, and the point.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import qasync
from eth_account import Account as EthAccount
from PySide6.QtCore import QCoreApplication

from app.core.current_account import CurrentAccount
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.crypto_rpc import CryptoRpcResource
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.crypto_rpc.session.transacting import OwnWallet, TransactionRequest
from app.wallet.transactions import Transaction
from tests.kit.tasks import CheckedTasks
from tests.ui.killing import serve
from tests.ui.rpc_contract import ALICE, KEY

NETWORK = "base-mainnet"
BOB = "0x3535353535353535353535353535353535353535"
WALLET = OwnWallet("alice", "Pocket wallet", ALICE)
POINTS = {  # what a kill comes after → the method that has just returned
    "signed": None,
    "kept": (RpcCalls, "begin"),
    "carried out": (CryptoRpcResource, "send"),
    "answered": (RpcCalls, "answered"),
}


class AliceSigns:
    """The wallet of the Sandbox's Alice. `signed` is called with each signature."""

    def __init__(self, signed: Callable[[str], object] = lambda _raw: None) -> None:
        self._signed = signed

    def offered(self) -> Sequence[OwnWallet]:
        return (WALLET,)

    async def unlock(self) -> bool:
        return True

    async def sign(self, wallet_id: str, transaction: Transaction, network: str) -> str:
        made = EthAccount.sign_transaction(
            {
                "type": 2,
                "chainId": transaction.chain_id,
                "nonce": transaction.nonce,
                "gas": transaction.gas,
                "maxFeePerGas": transaction.max_fee,
                "maxPriorityFeePerGas": transaction.max_priority_fee,
                "to": transaction.to,
                "value": transaction.value,
                "data": transaction.data,
            },
            KEY,
        )
        raw = "0x" + made.raw_transaction.hex().removeprefix("0x")
        self._signed(raw)
        return raw


def transfer(amount: str) -> TransactionRequest:
    return TransactionRequest(WALLET, NETWORK, BOB, amount, {})


def live(path: str, base_url: str, api_key: str, point: str) -> None:
    def stop(*_: object) -> None:
        print(point, flush=True)
        time.sleep(60)

    async def read_key() -> str:
        return api_key

    async def main() -> None:
        tasks, current_account = CheckedTasks(), CurrentAccount()
        database = await Database.open(Path(path))
        service = open_service(base_url, "service", ApiKeyAuth(read_key), lambda _exchange: None)
        current_account.use(Account(id="box", name="Sandbox", base_url=base_url, kind="sandbox"), service)
        folder = Path(path).parent
        presenter = CryptoRpcPresenter(current_account, tasks, resources() / "data", folder, UndoStack(tasks))
        await presenter.start(database)
        presenter.use_network(NETWORK)
        presenter.transacting.wallets = AliceSigns(stop if point == "signed" else lambda _raw: None)
        ready = await presenter.transacting.prepare(transfer("2"))
        if found := POINTS[point]:
            owner, name = found
            method = getattr(owner, name)

            async def stopped(*values: Any, **named: Any) -> Any:
                ended = await method(*values, **named)
                stop()
                return ended

            setattr(owner, name, stopped)  # the end of this program
        await presenter.transacting.sign_and_send(ready, lambda: None)
        print("it came to its end", flush=True)

    qt_app = QCoreApplication([])
    loop = qasync.QEventLoop(qt_app)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(main())


if __name__ == "__main__":
    serve(live)
