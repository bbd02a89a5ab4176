"""P2 in real time: 5,000 tokens at 100 a second through the real window.

A server in a process of its own streams the text to the whole program and, in the same minute, to a bare Qt window
that appends it to a plain text field. Processor time and memory are those of the whole tree of processes; a turn is
the longest that the window's thread was busy without a look at other events. Memory is told once more with every tab
built, which happens when somebody comes near one. RIALTO_LIVE_TOKENS makes it shorter.
"""

import os

from tests.bench.harness import Ratio
from tests.bench.windows import figures, session, streaming

TOKENS = int(os.environ.get("RIALTO_LIVE_TOKENS", "5000"))
CPU_LIMIT_S = 4.5 * TOKENS / 5000
MEMORY_LIMIT_MB = 115.0
TURN_LIMIT_MS = 16.0
BESIDE = "a bare window"


def main() -> list[Ratio]:
    _windows(20)  # compiles what both import; what compiling leaves behind in memory is no part of the program
    ours, bare = _windows(TOKENS)
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


def _windows(tokens: int) -> tuple[dict[str, float], ...]:
    with streaming(tokens) as port:
        return tuple(figures(each) for each in [session(kind, port) for kind in ("rialto", "bare")])
