"""A chat tab in a process of its own that is killed while it writes: into a long chat, or several answers at once.

`python -m tests.ui.killed_long_chat HOME BASE_URL API_KEY ask|compare`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.ui.chat.session.live_answer import LiveAnswer
from tests.kit.chat import SandboxChatPresenterHarness, open_sandbox_chat_presenter
from tests.kit.waiting import until
from tests.ui.killed_chat import Running

QUESTION = "What happens when an answer is cut off?"


async def write(home: Path, running: Running, work: str) -> None:
    async with open_sandbox_chat_presenter(home, running) as tab:  # type: ignore[arg-type]  # two fields of it are needed
        presenter = tab.presenter
        await until(lambda: presenter.head().can_send)
        if work == "compare":
            models = [model.id for model in presenter.account_models.models() if not model.offline][:3]
            presenter.compare(QUESTION, tuple(models))
            wanted = 3
        else:
            presenter.send(QUESTION)
            wanted = 1
        await until(lambda: len(_texts(tab)) == wanted and min(_texts(tab)) > 40)
        while any([(await tab.history.message(one)).content != live.text for one, live in _lives(tab).items()]):
            await asyncio.sleep(0.01)
        print(min(_texts(tab)), flush=True)
        await asyncio.sleep(60)


def _lives(tab: SandboxChatPresenterHarness) -> dict[str, LiveAnswer]:
    """The answers that are being written, by the message."""
    answers = tab.presenter.answers
    lives = {message.id: answers.live_of(message.id) for message in tab.presenter.opened.thread.all()}
    return {message_id: live for message_id, live in lives.items() if live is not None}


def _texts(tab: SandboxChatPresenterHarness) -> list[int]:
    """How long each of them is."""
    return [len(live.text) for live in _lives(tab).values()]


def main() -> None:
    home, base_url, api_key, work = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(write(Path(home), Running(base_url, api_key), work))


if __name__ == "__main__":
    main()
