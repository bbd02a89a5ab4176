"""P4 on slow machines: an answer of 1,000 tokens in the whole program, which has a quarter of a processor, or a disk of
200 operations a second.

The quarter is held from outside, by stopping the process for three of every four slices of 5 ms, so that it needs no
rights. The disk is a library of ten lines that makes every read, write, sync and rename of SQLite and of files wait for
5 ms; a C compiler builds it, and without one that half is left out. A stall is how late a beat of 5 ms comes: what the
person would feel, the stops themselves among it. Beside it stands a bare Qt window that appends the same text to a
plain text field, treated in the same way: what it stalls is the machine's and not the program's.
"""

import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.bench.harness import Ratio
from tests.bench.windows import figures, session, streaming

TOKENS = 1_000
SLICE_S = 0.005
STALL_LIMIT_MS = 64.0
DISK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#define SLOW(kind, name, taken, given) kind name taken { \\
    static kind (*real) taken; if (!real) real = (kind (*) taken)dlsym(RTLD_NEXT, #name); \\
    usleep(5000); return real given; }
SLOW(ssize_t, pread64, (int f, void *b, size_t n, off_t o), (f, b, n, o))
SLOW(ssize_t, pwrite64, (int f, const void *b, size_t n, off_t o), (f, b, n, o))
SLOW(int, fsync, (int f), (f))
SLOW(int, fdatasync, (int f), (f))
SLOW(int, rename, (const char *a, const char *b), (a, b))
"""


def main() -> list[Ratio]:
    _figures(tokens=20)  # compiles what the others import
    found = [_ratio("a quarter of a processor", _figures(is_held=True), _figures("bare_slow", is_held=True))]
    compiler = shutil.which("cc")
    if compiler is not None:
        with tempfile.TemporaryDirectory() as scratch:
            source, library = Path(scratch) / "disk.c", Path(scratch) / "disk.so"
            source.write_text(DISK, encoding="utf-8")
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
            subprocess.run(command, check=True)
            slow = [_figures(kind, LD_PRELOAD=str(library)) for kind in ("slow", "bare_slow")]
            found.append(_ratio("a disk of 200 operations a second", *slow))
    return found


def _ratio(machine: str, figures: dict[str, float], bare: dict[str, float]) -> Ratio:
    detail = f"p99 {figures['late_p99_ms']:.1f} ms of {figures['beats']:.0f} beats; a bare window"
    detail += f" {bare['late_ms']:.1f} and {bare['late_p99_ms']:.1f} ms; at most {figures['busy_ms']:.1f} ms of work"
    detail += f" between two, {figures['all_busy_ms']:.1f} with other threads"
    name = f"{TOKENS:,} tokens with {machine}: longest stall"
    return Ratio("P4", name, figures["late_ms"], STALL_LIMIT_MS, "stated goal", "ms", detail)


def _figures(kind: str = "slow", tokens: int = TOKENS, *, is_held: bool = False, **variables: str) -> dict[str, float]:
    with streaming(tokens) as port:
        window = session(kind, port, **variables)
        if is_held:
            _hold(window)
        return figures(window)


def _hold(process: subprocess.Popen[str]) -> None:
    """Let it run for a quarter of the time, until it ends."""
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(3 * SLICE_S)
        process.send_signal(signal.SIGCONT)
        time.sleep(SLICE_S)
