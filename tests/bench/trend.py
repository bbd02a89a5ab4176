"""The figures of earlier runs on machines of one kind: `python -m tests.bench --trend FILE [topic …]`.

Each line of the file is one run. A figure is held against the median of the last week, since one night says little.
"""

import json
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.harness import Ratio

KEPT, COMPARED = 180, 7  # runs
WORSE = 1.2  # times the median


def add(path: Path, ratios: Sequence[Ratio], now: datetime | None = None) -> str:
    """Add a run to the file and return how it compares with those before, as a table in Markdown."""
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    words = table(ratios, [run["figures"] for run in runs])
    figures = {f"{ratio.goal} {ratio.name}": ratio.value for ratio in ratios}
    runs.append({"when": (now or datetime.now(UTC)).isoformat(timespec="seconds"), "figures": figures})
    path.write_text("".join(f"{json.dumps(run)}\n" for run in runs[-KEPT:]), encoding="utf-8")
    return words


def table(ratios: Sequence[Ratio], before: Sequence[dict[str, float]]) -> str:
    """Return a row for each figure: now, the median of the last runs that have it, and what became of it."""
    lines = ["| Goal | Measured | Now | Median | |", "|---|---|---|---|---|"]
    for ratio in ratios:
        name = f"{ratio.goal} {ratio.name}"
        earlier = [run[name] for run in before if name in run][-COMPARED:]
        median = statistics.median(earlier) if earlier else None
        verdict = "" if median is None or ratio.value <= median * WORSE else "**worse**"
        was = "new" if median is None else f"{median:.3g} {ratio.unit}"
        lines.append(f"| {ratio.goal} | {ratio.name} | {ratio.value:.3g} {ratio.unit} | {was} | {verdict} |")
    return "\n".join(lines) + "\n"
