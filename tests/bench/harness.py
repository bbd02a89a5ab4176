"""What every bench is made of: timed in turns, medians of at least five, one `Ratio` per goal.

A bench is a module `tests/bench/bench_<topic>.py` with one function, `main() -> list[Ratio]`. Each runs in a process of
its own (`python -m tests.bench [topic …]`), so that memory and imports of one cannot color another. Figures are
ratios taken within one run on one machine; an absolute figure says more about the machine than about us, and is given
only where a goal is absolute (a stall in milliseconds).
"""

import gc
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module

MIN_RUNS = 5
TIMES = "×"


@dataclass(frozen=True, slots=True)
class Ratio:
    """One measured goal. `value` and `limit` share `unit`: "×" of the baseline, or "ms", "MB", "%"."""

    goal: str  # "P1"
    name: str  # what was measured, in a few words
    value: float
    limit: float
    baseline: str  # what it is held against, in a few words
    unit: str = TIMES
    detail: str = ""  # the raw figures behind it: "142 ms against 97 ms"

    @property
    def ok(self) -> bool:
        return self.value <= self.limit


def medians(*measures: Callable[[], float], runs: int = MIN_RUNS, warm_up: int = 1) -> tuple[float, ...]:
    """Call the measures in turns, `runs` times each after `warm_up` unrecorded rounds; return the median of each.

    In turns, because a neighbor's load on the machine then falls on all of them alike.
    """
    import statistics  # not above: windows whose memory is measured need `percentile` alone

    if runs < MIN_RUNS:
        raise ValueError(f"a median of {runs} says too little: take at least {MIN_RUNS}")
    taken: list[list[float]] = [[] for _ in measures]
    for number in range(warm_up + runs):
        for measure, figures in zip(measures, taken, strict=True):
            gc.collect()
            figure = measure()
            if number >= warm_up:
                figures.append(figure)
    return tuple(statistics.median(figures) for figures in taken)


def against(
    goal: str,
    name: str,
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    limit: float,
    baseline: str,
    runs: int = MIN_RUNS,
    warm_up: int = 1,
    unit: str = "ms",
    scale: float = 1000.0,
) -> Ratio:
    """Return the ratio of two measures taken in turns. `unit` and `scale` only word the detail (seconds → ms)."""
    ours_median, theirs_median = medians(ours, theirs, runs=runs, warm_up=warm_up)
    detail = f"{ours_median * scale:.4g} {unit} against {theirs_median * scale:.4g} {unit}"
    return Ratio(goal, name, ours_median / theirs_median, limit, baseline, detail=detail)


def wall_s(work: Callable[[], object]) -> float:
    """Return how long `work` took, in seconds of the wall clock."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def cpu_s(work: Callable[[], object]) -> float:
    """Return what `work` cost, in seconds of processor time of this process (all threads)."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def percentile(figures: Sequence[float], share: float) -> float:
    """Return the smallest figure that at least `share` (0..1) of all figures do not exceed."""
    ranked = sorted(figures)
    return ranked[max(0, math.ceil(len(ranked) * share) - 1)]


def serve(module: str) -> None:
    """Run one bench and print its ratios as one JSON line, the last on stdout; the runner reads it."""
    ratios: list[Ratio] = import_module(module).main()
    print(json.dumps([asdict(ratio) for ratio in ratios]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
