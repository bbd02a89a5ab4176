"""What a dump of the process holds: of a key that was not used, of one that was, and after the lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from eth_account import Account

ROOT = Path(__file__).resolve().parents[2]


def copies_in(pid: int, key: bytes) -> int:
    """How often a stopped process holds the key, as bytes or as hexadecimal, anywhere in its memory."""
    forms = (key, key.hex().encode(), key.hex().upper().encode(), key[::-1])
    found = 0
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            first, last = (int(part, 16) for part in span.split("-"))
            if "r" not in rights or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            memory.seek(first)
            data = memory.read(last - first)
            found += sum(data.count(form) for form in forms)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows another process's memory as files")
@pytest.mark.parametrize(("when", "is_there"), [("unused", False), ("signed", True), ("locked", False)])
def test_a_dump_holds_no_key_that_was_not_used_and_none_after_the_lock(
    tmp_path: Path, when: str, is_there: bool
) -> None:
    key = os.urandom(32)
    file = tmp_path / "key"
    file.write_text("0x" + key.hex())
    arguments = [sys.executable, "-m", "tests.wallet.killed_memory", str(file), Account.from_key(key).address, when]
    killed_program = subprocess.Popen(arguments, cwd=ROOT)
    try:
        _, status = os.waitpid(killed_program.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        assert (
            copies_in(killed_program.pid, key) > 0
        ) is is_there  # "signed" shows that the search finds what is there
    finally:
        killed_program.send_signal(signal.SIGKILL)
        killed_program.wait()
