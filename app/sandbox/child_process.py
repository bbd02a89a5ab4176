"""Serves the Sandbox to a window from a process of its own.

The two talk in lines of JSON: the window says the key on standard input, this process its address on standard output
once it serves. The key is in no file, argument or environment. The open input is the lifeline: when the window ends, in
whatever way, it closes, and the Sandbox ends with it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path

from app.sandbox import RESOURCES
from app.sandbox.error_output import label_libraries
from app.sandbox.server import Options, end_soon, listen, serve_until

STDIN = 0


def main(data_folder: str) -> int:
    """Serve until standard input closes. Accounts, jobs and chains are kept in `data_folder` for the next start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches both; the window decides
    label_libraries()
    said = json.loads(_read_line())
    folder = Path(data_folder)
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_serve(folder, said["api_key"]))
    return 0


def _read_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(STDIN, 1)  # no buffer, so that the lifeline below sees what follows
        if not piece:
            break
        line += piece
    return line


async def _serve(data_folder: Path, api_key: str) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold_lifeline() -> None:
        while os.read(STDIN, 4096):
            pass
        loop.call_soon_threadsafe(stopped.set)
        end_soon()

    threading.Thread(target=hold_lifeline, name="lifeline", daemon=True).start()
    listener = listen(0)

    def say_address(base_url: str) -> None:
        print(json.dumps({"base_url": base_url}), flush=True)
        gc.freeze()  # all of this stays; to look through it now and then would hold streams up
        gc.enable()

    async def serve(options: Options) -> None:
        await serve_until(stopped, listener, data_folder, RESOURCES, api_key, None, options, serving=say_address)

    try:
        await serve(Options(keep=True))
    except OSError as error:  # before anything was served
        print(f"Sandbox: nothing is saved for the next start: {error}", file=sys.stderr)
        await serve(Options())
