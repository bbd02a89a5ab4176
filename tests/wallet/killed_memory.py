"""Signs with a key that lies in a file, and stops itself: `python -m tests.wallet.killed_memory FILE ADDRESS WHEN`.

WHEN is "unused" (no signature yet), "signed" (three of them) or "locked" (three, and then what a lock does).
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

from app.wallet.keys import read_private_key
from app.wallet.signer import EthAccountSigner, PrivateKey, forget_keys, warm_up


async def main(file: Path, address: str, when: str) -> None:
    async def read() -> PrivateKey:
        return read_private_key(await asyncio.to_thread(file.read_text), "evm")

    await warm_up()
    signer = EthAccountSigner(address, read)
    for number in range(0 if when == "unused" else 3):
        await signer.sign_text(f"Message {number}")
    gc.collect()
    if when == "locked":
        await forget_keys()
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:4]))
