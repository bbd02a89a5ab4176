"""P2 in real time: 5,000 tokens at 100 a second through the real window.

A server in a process of its own streams the text to the whole program and, in the same minute, to a bare Qt window
that appends it to a plain text field. Processor time and memory are those of the whole tree of processes; a turn is
the longest that the window's thread was busy without a look at other events. Memory is told once more with every tab
built, which happens when somebody comes near one. RIALTO_LIVE_TOKENS makes it shorter.
"""

import json
import os
import subprocess
import sys

from tests.bench.harness import Ratio
from tests.bench.windows import ROOT, screen

TOKENS = int(os.environ.get("RIALTO_LIVE_TOKENS", "5000"))
CPU_LIMIT_S = 4.5 * TOKENS / 5000
MEMORY_LIMIT_MB = 115.0
TURN_LIMIT_MS = 16.0
BESIDE = "a bare window"


def main() -> list[Ratio]:
    session = [sys.executable, "-m", "tests.bench.live_session"]
    environment = {**os.environ, "QT_QPA_PLATFORM": screen()}
    with subprocess.Popen([*session, "serve", str(TOKENS)], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            shown = [
                subprocess.Popen([*session, kind, port], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
                for kind in ("rialto", "bare")
            ]
            told = [each.communicate()[0] for each in shown]
        finally:
            server.kill()
    if any(each.returncode for each in shown):
        raise RuntimeError("a window did not end well")
    ours, bare = (json.loads(each.splitlines()[-1]) for each in told)

    bare["all_mb"] = bare["mb"]

    def detail(name: str, unit: str) -> str:
        return f"{ours[name]:.2f} {unit} against {bare[name]:.2f} {unit}"

    what = f"{TOKENS:,} tokens at 100 a second"
    return [
        Ratio("P2", f"{what}: processor", ours["cpu_s"], CPU_LIMIT_S, BESIDE, "s", detail("cpu_s", "s")),
        Ratio("P2", f"{what}: memory", ours["mb"], MEMORY_LIMIT_MB, BESIDE, "MB", detail("mb", "MB")),
        Ratio(
            "P2",
            "and with every tab built: memory",
            ours["all_mb"],
            MEMORY_LIMIT_MB,
            BESIDE,
            "MB",
            detail("all_mb", "MB"),
        ),
        Ratio("P2", f"{what}: longest turn", ours["turn_ms"], TURN_LIMIT_MS, BESIDE, "ms", detail("turn_ms", "ms")),
    ]
