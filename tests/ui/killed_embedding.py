"""A chat tab in a process of its own: embeds two batches of a project's passages, sends a third, and is killed.

`python -m tests.ui.killed_embedding HOME BASE_URL API_KEY FOLDER` says the project's id when the third is on its way.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.sandbox.server import RunningSandbox
from app.storage.paid_call_intents import Intents
from app.ui.chat.session.document_embeddings import KIND, MOST_TEXTS
from tests.kit.chat import SandboxChatPresenterHarness, open_sandbox_chat_presenter
from tests.kit.waiting import until
from tests.ui.killed_chat import Running


async def followed(tab: SandboxChatPresenterHarness, folder: Path) -> str:
    """Make a project of a folder and read it. Return its id."""
    projects, documents = tab.presenter.projects, tab.presenter.documents
    projects.create("Papers")
    await tab.tasks.idle()
    project = projects.all[-1].id
    documents.add(project, [folder])
    await until(lambda: documents.progress(project).state == "idle")
    await tab.tasks.idle()
    return project


async def embed(home: Path, running: RunningSandbox, folder: Path) -> None:
    async with open_sandbox_chat_presenter(home, running) as tab:
        project = await followed(tab, folder)
        embeddings = tab.presenter.documents.embeddings
        model = (await embeddings.models())[0]

        def enough(_project: str) -> None:
            if embeddings.state(project).done >= 2 * MOST_TEXTS:
                embeddings.stop(project)

        embeddings.changed.connect(enough)
        embeddings.embed(project, model)
        await until(lambda: embeddings.state(project).done > 0 and not embeddings.state(project).running)
        embeddings.changed.disconnect(enough)
        await tab.fault("slow", seconds=600, path="/embeddings")
        embeddings.embed(project, model)
        while not [call for call in await Intents(tab.database).pending(KIND) if call.state == "sent"]:
            await asyncio.sleep(0.01)
        print(project, flush=True)
        await asyncio.sleep(600)


def main() -> None:
    home, base_url, api_key, folder = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        running: RunningSandbox = Running(base_url, api_key)  # type: ignore[assignment]  # two fields of it
        loop.run_until_complete(embed(Path(home), running, Path(folder)))
        del qt_app


if __name__ == "__main__":
    main()
