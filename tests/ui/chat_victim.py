"""A chat tab in a process of its own: asks one question, says how much of the answer it shows, and is killed.

`python -m tests.ui.chat_victim HOME BASE_URL API_KEY`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.sandbox.server import RunningSandbox
from tests.ui import test_chat_sandbox as tabs


class Running:
    """What `open_tab` needs to know of a Sandbox that runs elsewhere."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key


async def ask(home: Path, running: RunningSandbox) -> None:
    async with tabs.open_tab(home, running) as tab:
        tab.presenter.send("What happens when an answer is cut off?")
        await tab.until(lambda: len(tab.rows) == 2 and len(tab.rows[-1].text) > 60)
        await asyncio.sleep(0.3)
        print(len(tab.rows[-1].text), flush=True)
        await asyncio.sleep(60)


def main() -> None:
    home, base_url, api_key = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(ask(Path(home), Running(base_url, api_key)))  # type: ignore[arg-type]  # two fields of it


if __name__ == "__main__":
    main()
