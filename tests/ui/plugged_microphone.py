"""A program of its own that prints the microphones it knows when they change, until it is killed or waits too long."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication

from tests.kit.waiting import LIMIT_S
from tests.ui.test_transcription_pulse import real_tab


async def main(home: Path) -> None:
    async with real_tab(home) as presenter:

        def tell() -> None:
            known = {one.name: one.channels for one in presenter.recording.inputs().microphones}
            print(json.dumps(known), flush=True)

        presenter.recording.inputs_changed.connect(tell)
        tell()
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            await asyncio.sleep(0.01)
            QCoreApplication.processEvents()


if __name__ == "__main__":
    application = QCoreApplication([])
    asyncio.run(main(Path(sys.argv[1])))
