"""A chat tab in a process of its own: asks one question, says how much of the answer it shows, and is killed.

`python -m tests.ui.killed_chat HOME BASE_URL API_KEY [FILE]`. With a file it attaches that to a draft, says how many
chips it shows, and is killed before anything is sent.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.sandbox.server import RunningSandbox
from app.ui.chat.state import AttachmentView
from tests.kit.chat import open_sandbox_chat_presenter
from tests.kit.waiting import until


class Running:
    """What `open_sandbox_chat_presenter` needs to know of a Sandbox that runs elsewhere."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key


async def ask(home: Path, running: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(home, running) as tab:
        tab.presenter.send("What happens when an answer is cut off?")
        await until(lambda: len(tab.rows) == 2 and len(tab.rows[-1].text) > 60)
        while (await tab.history.message(tab.rows[-1].id)).content != tab.rows[-1].text:
            await asyncio.sleep(0.01)
        print(len(tab.rows[-1].text), flush=True)
        await asyncio.sleep(60)


async def attach(home: Path, running: RunningSandbox, file: Path) -> None:
    async with open_sandbox_chat_presenter(home, running) as tab:
        tab.presenter.attaching.changed.connect(lambda views: _say(views))
        tab.presenter.set_draft("What is this?")
        tab.presenter.attaching.add_files([file])
        await asyncio.sleep(60)


def _say(views: tuple[AttachmentView, ...]) -> None:
    """Speak as soon as a chip is shown as attached: from then on it must be on the disk."""
    attached = [view for view in views if not view.busy]
    if attached:
        print(len(attached), flush=True)


def main() -> None:
    home, base_url, api_key, *file = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        running: RunningSandbox = Running(base_url, api_key)  # type: ignore[assignment]  # two fields of it
        work = attach(Path(home), running, Path(file[0])) if file else ask(Path(home), running)
        loop.run_until_complete(work)


if __name__ == "__main__":
    main()
