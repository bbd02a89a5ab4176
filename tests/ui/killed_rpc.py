"""A Console in a process of its own: sends one request to a slow service, says when it is on its way, and is killed.

`python -m tests.ui.killed_rpc DATABASE BASE_URL API_KEY KEY`. KEY is the idempotency key.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtCore import QCoreApplication

from app.core.current_account import CurrentAccount
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from tests.kit.tasks import CheckedTasks


async def begin(path: Path, base_url: str, api_key: str, key: str) -> None:
    async def read_key() -> str:
        return api_key

    tasks, current_account = CheckedTasks(), CurrentAccount()
    database = await Database.open(path)
    service = open_service(base_url, "service", ApiKeyAuth(read_key), lambda _exchange: None)
    current_account.use(Account(id="box", name="Sandbox", base_url=base_url, kind="sandbox"), service)
    presenter = CryptoRpcPresenter(current_account, tasks, resources() / "data", path.parent, UndoStack(tasks))
    await presenter.start(database)
    await tasks.idle()
    presenter.set_key(key)
    presenter.send()
    assert presenter.calls is not None
    while not await presenter.calls.recent():
        await asyncio.sleep(0.005)
    print("on its way", flush=True)
    await asyncio.sleep(60)


def main() -> None:
    path, base_url, api_key, key = sys.argv[1:]
    qt_app = QCoreApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(begin(Path(path), base_url, api_key, key))


if __name__ == "__main__":
    main()
