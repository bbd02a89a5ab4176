"""A chat tab in a process of its own that moves many chats from project to project until it is killed.

`python -m tests.ui.killed_project_move HOME`. It says each move once the tab shows it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from tests.kit.chat import open_chat_presenter

CHATS = 300


async def move(home: Path) -> None:
    async with open_chat_presenter(home, with_models=False) as tab:
        presenter = tab.presenter
        assert presenter.library is not None
        ids = []
        for number in range(CHATS):
            chat = await presenter.library.create(title=f"Chat {number}", draft=f"draft {number}")
            await tab.history.add_message(chat.id, "user", f"Question {number}")
            ids.append(chat.id)
        for name in ("One", "Other"):
            presenter.projects.create(name)
            await tab.tasks.idle()
        one, other = (project.id for project in presenter.projects.all)
        presenter.projects.moved_chats.connect(lambda places: print(next(iter(places.values())), flush=True))
        while True:
            for project_id in (one, other, None):
                presenter.projects.move(ids, project_id)
                await tab.tasks.idle()
            for _ in range(3):
                assert tab.undo_stack.undo_last("chat")
                await tab.tasks.idle()


def main() -> None:
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(move(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
