"""The real program, from its own `main`, brought to the middle of three tabs' work and ended by a segmentation fault.

`python -m tests.journeys.killed_crash FOLDER`, with RIALTO_HOME set. Says the Sandbox's key before it ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard

read_no_sources()  # as `main` does, before anything else is imported
install_exception_guard()

from app.__main__ import main  # noqa: E402
from app.bootstrap.rialto import Rialto  # noqa: E402
from app.credentials.keyring_store import KeyringStore  # noqa: E402
from app.storage.chat_store import ChatStore  # noqa: E402
from tests.journeys.conftest import no_keychain  # noqa: E402
from tests.journeys.paying_tabs import PAID_ACTIONS  # noqa: E402
from tests.journeys.test_wallet import control, in_the_sandbox  # noqa: E402
from tests.kit.waiting import until  # noqa: E402

QUESTION = "What happens when an answer is cut off?"
DRAFT = "And what about a draft?"


async def work_and_die(rialto: Rialto, folder: Path) -> None:
    await until(lambda: rialto.chat.library is not None)
    await in_the_sandbox(rialto)
    await control(rialto, "/settings", "PUT", tokens_per_second=10)
    rialto.window.show_tab("video")
    await PAID_ACTIONS["video"].prepare(rialto, folder)
    PAID_ACTIONS["video"].begin(rialto)
    await until(lambda: PAID_ACTIONS["video"].done(rialto))
    rialto.window.show_tab("chat")
    rialto.chat.send(QUESTION)
    assert rialto.database is not None
    history = ChatStore(rialto.database)
    await until(lambda: len(rows := rialto.chat_page.rows()) == 2 and rows[-1].text)
    answer = rialto.chat_page.rows()[-1].id
    while not (await history.message(answer)).content:
        await asyncio.sleep(0.01)
    rialto.chat.set_draft(DRAFT)
    while (await history.chats())[0].draft != DRAFT:
        await asyncio.sleep(0.01)
    print(rialto.account_services.sandbox.key, flush=True)
    rialto.window.show_tab("wallet")
    rialto.window.registry.run("wallet.refresh")
    signal.raise_signal(signal.SIGSEGV)  # the one of faulthandler would forbid a memory dump by itself


def drive(folder: Path) -> None:
    """Have the program do all that as soon as it lives."""
    live = Rialto.live

    async def live_and_die(self: Rialto) -> int:
        death = asyncio.get_running_loop().create_task(work_and_die(self, folder))
        death.add_done_callback(lambda task: print(task.exception(), flush=True))
        return await live(self)

    Rialto.live = live_and_die  # type: ignore[method-assign]  # for this process alone


if __name__ == "__main__":
    KeyringStore.__init__.__kwdefaults__ = no_keychain()  # for this process alone
    drive(Path(sys.argv.pop()))
    raise SystemExit(main())
