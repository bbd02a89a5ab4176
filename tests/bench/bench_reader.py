"""P2 with a screen reader: the tokens of `bench_live` through a window that a reader listens to, on a bus of its own.

Beside it the same window streams the same, in the same minute, and nobody listens. What a reader itself takes of the
processor is none of ours.
"""

import statistics
import sys
from contextlib import closing

from tests.accessibility.bus import LAUNCHER, Reader, desktop
from tests.bench.harness import MIN_RUNS, Ratio
from tests.bench.windows import figures, session, streaming

TOKENS = 2000
LIMIT = 1.05


def main() -> list[Ratio]:
    if not LAUNCHER.exists():
        print("  not measured: there is no accessibility bus here.", file=sys.stderr)
        return []
    pairs = []
    with (
        desktop() as (quiet, _),
        desktop() as (heard, bus),
        closing(Reader(bus, heard["DISPLAY"])) as reader,
        streaming(TOKENS) as port,
    ):
        del quiet["QT_LINUX_ACCESSIBILITY_ALWAYS_ON"]
        for _ in range(1 + MIN_RUNS):
            windows = [session("rialto", port, **environment) for environment in (heard, quiet)]
            pairs.append([figures(window)["cpu_s"] for window in windows])
            reader.listen()
    ours, bare = (statistics.median(taken) for taken in zip(*pairs[1:], strict=True))  # the first one compiles
    what, detail = f"{TOKENS:,} tokens while a screen reader listens: processor", f"{ours:.2f} s against {bare:.2f} s"
    return [Ratio("P2", what, ours / bare, LIMIT, "nobody listens", detail=detail)]
