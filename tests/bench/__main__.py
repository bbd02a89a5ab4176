"""`python -m tests.bench [topic …]`: run the benches one after another and print one table. `soak` is by itself.

With `--trend FILE`, the figures are also compared with those in the file, and added to it; in a workflow, the
comparison is on the page of the run.
Exits 0 when every bench could be run, whatever its figures (a slow neighbor is no reason to fail a build), and 1
when one crashed.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench import trend
from tests.bench.harness import Ratio

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def topics() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_one(topic: str) -> list[Ratio] | None:
    """Run one bench in a process of its own; None when it crashed (its traceback is already on stderr)."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    command = [sys.executable, "-m", "tests.bench.harness", f"tests.bench.bench_{topic}"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        return None
    return [Ratio(**fields) for fields in json.loads(ended.stdout.splitlines()[-1])]


def table(ratios: list[Ratio]) -> str:
    """Word the ratios as aligned lines: goal, what, measured, limit, verdict, against what."""
    head = ("goal", "measured", "value", "limit", "", "against", "figures")
    rows = [
        (
            ratio.goal,
            ratio.name,
            f"{ratio.value:.3g} {ratio.unit}",
            f"{ratio.limit:.3g} {ratio.unit}",
            "ok" if ratio.ok else "over",
            ratio.baseline,
            ratio.detail,
        )
        for ratio in sorted(ratios, key=lambda ratio: (int(ratio.goal.lstrip("P")), ratio.name))
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
    return "\n".join(line.rstrip() for line in lines)


def main(wanted: list[str]) -> int:
    if wanted[:1] == ["soak"]:
        from tests.bench import soak  # hours, not figures: never among the others

        return soak.main(wanted[1:])
    history: Path | None = None
    if wanted[:1] == ["--trend"]:
        history, wanted = Path(wanted[1]), wanted[2:]
    unknown = set(wanted) - set(topics())
    if unknown:
        print(f"No such bench: {', '.join(sorted(unknown))}. There are: {', '.join(topics())}.")
        return 2
    ratios: list[Ratio] = []
    crashed: list[str] = []
    for topic in wanted or topics():
        begun = time.monotonic()
        print(f"Measuring {topic}…", flush=True)
        measured = run_one(topic)
        if measured is None:
            crashed.append(topic)
            print(f"  {topic} crashed.", flush=True)
            continue
        ratios += measured
        print(f"  took {time.monotonic() - begun:.1f} s", flush=True)
    print()
    print(table(ratios))
    if history is not None:
        compared = trend.add(history, ratios)
        print(f"\n{compared}")
        if page := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(page).open("a", encoding="utf-8") as file:
                file.write(compared)
    if crashed:
        print(f"\nCould not be run: {', '.join(crashed)}.")
    return 1 if crashed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
