"""The whole program with a private chat open, in a process of its own that is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.credentials.keyring_store import KeyringStore
from tests.journeys.conftest import no_keychain, opened, settled
from tests.journeys.test_private_chat import DRAFT, QUESTION, ask
from tests.journeys.test_typing import box, enter_sandbox
from tests.kit.waiting import until


async def live(app: QApplication, home: Path) -> None:
    async with opened(app, home) as rialto:
        await enter_sandbox(rialto)
        rialto.window.registry.run("chat.new_private")
        await ask(rialto, QUESTION)
        box(rialto).setPlainText(DRAFT)
        await until(lambda: rialto.chat.unsaved_private() and rialto.chat.library.get(rialto.chat.opened.chat_id).draft)
        await settled(rialto)
        print(rialto.chat_page.rows()[-1].text.splitlines()[0], flush=True)
        await asyncio.sleep(60)


def main(home: str) -> None:
    KeyringStore.__init__.__kwdefaults__ = no_keychain()  # for this process alone
    loop = qasync.QEventLoop(QApplication([]))
    with loop:
        loop.run_until_complete(live(QApplication.instance(), Path(home)))


if __name__ == "__main__":
    main(sys.argv[1])
