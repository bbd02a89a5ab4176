"""The whole program with a video on order, in a process of its own that is killed while the video is made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto
from app.credentials.keyring_store import KeyringStore
from app.ui.settings.accounts.presenter import AccountDraft
from app.ui.video.page import VideoPage
from tests.journeys.conftest import opened
from tests.kit.settings import change_settings
from tests.kit.waiting import until
from tests.ui.killing import serve

PROMPT = "A small sailboat crossing at dusk"


class FileKeyring:
    """A keyring that outlives a kill, as the system's does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _all(self) -> dict[str, str]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._path.write_text(json.dumps({**self._all(), f"{service}/{username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        self._path.write_text(json.dumps({k: v for k, v in self._all().items() if k != f"{service}/{username}"}))


def use_keyring(path: Path) -> None:
    defaults = {"time_limit_s": 5.0, "find": lambda: FileKeyring(path)}
    KeyringStore.__init__.__kwdefaults__ = defaults  # for this process alone


def video_of(rialto: Rialto) -> VideoPage:
    page = rialto.window.tab("video")
    assert isinstance(page, VideoPage)
    return page


async def live(app: QApplication, home: Path, base_url: str, api_key: str) -> None:
    async with opened(app, home) as rialto:
        await until(lambda: rialto.places.state.kind == "keyring" and rialto.places.state.is_ready)
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.add(AccountDraft(base_url, api_key, name="Elsewhere"))
        await until(
            lambda: rialto.current_account.service is not None and rialto.current_account.account.kind == "api_key"
        )
        rialto.window.show_tab("video")
        page = video_of(rialto)
        await until(lambda: page.presenter.sending.intents is not None and page.presenter.form.takes is not None)
        form = page.form
        form.prompt.setPlainText(PROMPT)
        await until(lambda: form.queue.isEnabled() and page.presenter.form.exact)
        form.queue.click()
        await until(lambda: any(job.state == "running" for job in page.presenter.job_store.jobs()))
        rialto.window.show_tab("chat")
        await until(lambda: rialto.window.saver.is_done)  # the next start opens the tab that was left
        print("it is being made", flush=True)
        await asyncio.sleep(60)


def main(home: str, base_url: str, api_key: str) -> None:
    use_keyring(Path(home) / "keyring.json")
    app = QApplication([])
    loop = qasync.QEventLoop(app)
    with loop:
        loop.run_until_complete(live(app, Path(home) / "home", base_url, api_key))


if __name__ == "__main__":
    serve(main)
