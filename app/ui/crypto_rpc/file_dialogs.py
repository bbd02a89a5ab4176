"""Asking which file to read, without a loop inside the loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.ui.kit.discard import discard


async def file_to_read(parent: QWidget, title: str, kinds: str) -> Path | None:
    """A file that is there; None when they leave."""
    dialog = QFileDialog(parent, title, "", kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return await _answer(dialog)


async def _answer(dialog: QFileDialog) -> Path | None:
    future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def done(result: int) -> None:
        if not future.done():
            future.set_result(result == int(QFileDialog.DialogCode.Accepted))

    dialog.finished.connect(done)
    dialog.open()
    try:
        chosen = dialog.selectedFiles() if await future else []
        return Path(chosen[0]) if chosen else None
    finally:
        dialog.close()
        discard(dialog)
