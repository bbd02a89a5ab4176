"""Records a tone from a microphone without a plug, says how much is in the file, and waits to be killed.

`python -m tests.audio.killed_recording PATH`
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from app.audio.recording import Recorder
from tests.audio.recorded import FakeBlocks, tone


def main() -> None:
    blocks = FakeBlocks()
    recorder = Recorder(blocks, Path(sys.argv[1]))
    recorder.start()
    blocks.say(tone(440, 1.0))
    while recorder.snapshot().seconds < 1.0:
        threading.Event().wait(0.005)
    print(recorder.snapshot().seconds, flush=True)
    while True:
        blocks.say(tone(440, 0.1))
        threading.Event().wait(0.05)


if __name__ == "__main__":
    main()
