"""An Images tab in a process of its own, which is killed at one step of a paid call.

It says the step on a line of its own and waits there.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, NoReturn

import qasync
from PySide6.QtWidgets import QApplication

from app.storage.atomic_files import write_atomically
from app.storage.images import Images
from app.storage.paid_call_intents import Intents
from app.ui.images.session import image_files
from app.ui.kit.theme import Theme
from tests.kit.images import open_images
from tests.ui.killing import serve

STEPS = ("intended", "sent", "answer came", "file written", "row saved", "answered")


class Running:
    """What `open_images` needs to know of a Sandbox that runs elsewhere."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key


def stand(step: str) -> NoReturn:
    """Say where we are, and never go on."""
    print(step, flush=True)
    while True:
        time.sleep(1)


def stop_at(step: str) -> None:
    """Let the program come as far as `step`."""
    add, sent, answered, save = Images.add, Intents.sent, Intents.answered, Images.save
    write = write_atomically

    async def stop_after(work: Any, *args: Any, **values: Any) -> Any:
        await work(*args, **values)
        stand(step)

    def write_and_stop(*args: Any) -> None:
        write(*args)
        stand(step)

    def saved(self: Any, image: Any) -> Any:
        return stop_after(save, self, image) if image.state == "saved" else save(self, image)

    patches: dict[str, tuple[Any, str, Any]] = {
        "intended": (Images, "add", lambda self, rows: stop_after(add, self, rows)),
        "sent": (Intents, "sent", lambda self, key: stop_after(sent, self, key)),
        "answer came": (image_files, "_write", lambda *args: stand(step)),
        "file written": (image_files, "write_atomically", write_and_stop),
        "row saved": (Images, "save", saved),
        "answered": (Intents, "answered", lambda self, *args, **values: stop_after(answered, self, *args, **values)),
    }
    setattr(*patches[step])


async def live(step: str, home: Path, running: Running, theme: Theme) -> None:
    async with open_images(home, running, theme) as images:  # type: ignore[arg-type]  # two fields of it
        stop_at(step)
        images.write("A harbor at dawn")
        images.press_make()
        await asyncio.sleep(60)


def main(step: str, home: str, base_url: str, api_key: str) -> None:
    qt_app = QApplication([])
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qt_app)
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(live(step, Path(home), Running(base_url, api_key), theme))


if __name__ == "__main__":
    serve(main)
