"""P13: what ten heavy years in the data folder cost, against an empty one in the same run.

The big folder is made anew (minutes, 2 GB), unless RIALTO_BIG_HOME names one that `tests.big_home` made; of that a copy
is used, since chats are deleted. RIALTO_BIG_SCALE makes a smaller one. Each round is `big_home_session` in a
process of its own, first on the empty folder, then on the big one. Turns of the event loop are processor time of the
UI thread; memory is the process's own share (PSS) once every tab was looked at.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.harness import Ratio, medians
from tests.bench.windows import RIALTO, ROOT, prepare_home, start_s
from tests.big_home import make

ROUNDS = 3  # of a minute or two
RUNS = 7
FRAME_MS, TURN_MS, AT_ONCE_MS, TOTALS_MS = 16.0, 50.0, 50.0, 100.0
EMPTY = "an empty data folder"
GOAL = "stated goal"
Figures = dict[str, float]


def session(home: Path) -> Figures:
    """Run one session; raises `CalledProcessError` when it fails."""
    command = [sys.executable, "-m", "tests.bench.big_home_session", str(home)]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    figures: Figures = json.loads(ended.stdout.splitlines()[-1])
    return figures


def middle(rounds: list[Figures]) -> Figures:
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def worst(figures: Figures, beginning: str) -> tuple[float, str]:
    """Return the largest of the figures that begin so, and all of them in words."""
    found = {name.removeprefix(beginning): figure for name, figure in figures.items() if name.startswith(beginning)}
    return max(found.values()), ", ".join(f"{name} {figure:.1f}" for name, figure in found.items())


def ratios(big: Figures, empty: Figures) -> list[Ratio]:
    tabs = [name.removeprefix("work ") for name in empty if name.startswith("work ")]
    looks = {name: big[f"work {name}"] / empty[f"work {name}"] for name in tabs}
    found = [
        Ratio(
            "P13",
            "memory after a look at every tab",
            big["MB memory"] / empty["MB memory"],
            1.3,
            EMPTY,
            detail=f"{big['MB memory']:.0f} MB against {empty['MB memory']:.0f} MB",
        ),
        Ratio(
            "P13",
            "first look at a tab",
            max(looks.values()),
            1.5,
            EMPTY,
            detail=", ".join(f"{name} {each:.2f}" for name, each in looks.items()),
        ),
    ]
    turns = {name: big[f"turn {name}"] for name in tabs}
    every = ", ".join(f"{name} {turn:.1f}" for name, turn in turns.items())
    opened = f"by the clock {big['open the largest chat']:.1f}"
    emptied = f"all of it after {big['emptying the trash of chats']:.0f} ms"
    backed_up = f"done after {big['backup'] / 1000:.1f} s, told {big['progress of the backup']:.0f} times how far it is"
    turn = "longest turn "
    month, years = big["totals of 30 days"], big["totals of all time"]
    for name, figure, limit, detail in (
        ("longest turn at a first look", max(turns.values()), TURN_MS, every),
        (f"{turn}at the start", big["turn start"], TURN_MS, f"empty {empty['turn start']:.1f}"),
        ("any list scrolled: a frame", *_limited(big, "scroll ", FRAME_MS)),
        ("any list filtered: a frame", *_limited(big, "filter ", FRAME_MS)),
        ("search in all chats", *_limited(big, "search ", AT_ONCE_MS)),
        ("open the largest chat", big["work open the largest chat"], AT_ONCE_MS, opened),
        (f"{turn}while its rest comes", big["turn opening the largest chat"], FRAME_MS, ""),
        ("totals of 30 days", month, TOTALS_MS, f"{turn}{big['turn totals of 30 days']:.1f}"),
        ("totals of all time", years, TOTALS_MS, f"{turn}{big['turn totals of all time']:.1f}"),
        (f"{turn}while chats go to the trash", big["turn moving chats to the trash"], FRAME_MS, ""),
        (f"{turn}while it is emptied", big["turn emptying the trash of chats"], FRAME_MS, emptied),
        (f"{turn}while a backup is made", big["turn backup"], FRAME_MS, backed_up),
    ):
        found.append(Ratio("P13", name, figure, limit, GOAL, "ms", detail))
    return found


def _limited(figures: Figures, beginning: str, limit: float) -> tuple[float, float, str]:
    figure, every = worst(figures, beginning)
    return figure, limit, every


def main() -> list[Ratio]:
    with tempfile.TemporaryDirectory(prefix="rialto-big-") as scratch:
        empty = Path(scratch) / "empty"
        prepare_home(empty, "sandbox")
        given = os.environ.get("RIALTO_BIG_HOME", "")
        big = Path(scratch) / "big"
        if given:
            subprocess.run(["cp", "-a", "--reflink=auto", given, str(big)], check=True)  # keeps links among its files
        else:
            asyncio.run(make(big, float(os.environ.get("RIALTO_BIG_SCALE", "1"))))
        session(big)  # its daily backup is made by this one
        rounds = [(session(empty), session(big)) for _ in range(ROUNDS)]
        words = ("ready", "can-send")
        found = []
        for word in words:
            theirs, ours = medians(
                lambda word=word: start_s(RIALTO, empty, (word,)),
                lambda word=word: start_s(RIALTO, big, (word,)),
                runs=RUNS,
            )
            detail = f"{ours * 1000:.0f} ms against {theirs * 1000:.0f} ms"
            what = "start to a painted Chat" if word == "ready" else "start until Send is on"
            found.append(Ratio("P13", what, ours / theirs, 1.15, EMPTY, detail=detail))
    return found + ratios(middle([each for _, each in rounds]), middle([each for each, _ in rounds]))
