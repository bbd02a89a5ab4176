"""P27: reading 10,000 files of text into an index, looking at them again, asking them, with and without embeddings.

The words have the uneven frequencies of a language, as in bench_search. The process that reads is the program's own,
and its processor time and memory are what the system says of it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import resource
import statistics
import tempfile
import time
from array import array
from pathlib import Path

import numpy as np
import qasync
from PySide6.QtWidgets import QApplication

from app.documents.index import overview
from app.documents.search import search
from app.documents.vectors import begin, keep, missing, vectors_beside
from app.documents.watcher import start_process
from app.ui.kit.qt_workarounds.garbage_collector import UiThreadGarbageCollector
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.bench.bench_search import VOCABULARY, vocabulary
from tests.bench.bench_stalls import Heart
from tests.bench.harness import Ratio, percentile
from tests.kit.chat import open_chat
from tests.kit.waiting import until

FILES = 10_000
FOLDERS = 100
PARAGRAPHS = 10
WORDS_EACH = 170
RUNS = 9
DIMENSIONS = 1024
MS_PER_MB = 50.0  # of one core: 20 MB/s
CHECK_S = 2.0
ASK_MS = 50.0
MEMORY_MB = 300.0
STALL_MS = 16.0
IDLE_S = 2.0


def fill(folder: Path, words: list[str], chance: random.Random) -> int:
    weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    stock = [" ".join(chance.choices(words, cum_weights=weights, k=WORDS_EACH)) for _ in range(20_000)]
    size = 0
    for number in range(FILES):
        place = folder / f"{number % FOLDERS}"
        place.mkdir(exist_ok=True)
        text = "\n\n".join(f"{each} file{number}" for each in chance.choices(stock, k=PARAGRAPHS)) + "\n"
        (place / f"{number}.txt").write_text(text)
        size += len(text)
    return size


def read(index: Path, folder: Path) -> tuple[float, float, float]:
    """Read until nothing is left to do. Return seconds, seconds of processor, and the most memory in MB so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = start_process(str(index))
    assert process.stdin is not None
    assert process.stdout is not None
    begun = time.perf_counter()
    process.stdin.write(json.dumps({"roots": [str(folder)]}).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        if json.loads(line)["state"] == "idle":
            break
    taken = time.perf_counter() - begun
    process.stdin.close()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, cpu, after.ru_maxrss * 1024 / 1e6


def embed(index: Path) -> tuple[float, array[float]]:
    """Give each passage a vector of a few thousand directions. Return the seconds and one like a question's."""
    random_numbers = np.random.default_rng(21)
    directions = random_numbers.standard_normal((3_000, DIMENSIONS), np.float32)
    path = vectors_beside(index)
    begin(path, "model", "place")
    names = [name for name, _ in missing(index)]
    begun = time.perf_counter()
    for at in range(0, len(names), 1_000):
        some = names[at : at + 1_000]
        drawn = directions[random_numbers.integers(0, 3_000, len(some))]
        drawn = drawn + random_numbers.standard_normal(drawn.shape, np.float32)
        keep(path, "model", zip(some, (array("f", each.tobytes()) for each in drawn), strict=True))
    return time.perf_counter() - begun, array("f", directions[7].tobytes())


async def beats_while_it_reads(theme: Theme, home: Path, folder: Path) -> tuple[Heart, Heart]:
    """How late the window is while nothing is done, and while its project's files are read and the list is shown."""
    async with open_chat(theme, home) as shown:
        documents, projects = shown.presenter.documents, shown.presenter.projects
        collector = UiThreadGarbageCollector()  # as in the program
        try:
            projects.create("Papers")
            await until(lambda: projects.all)
            project_id = projects.all[0].id
            shown.page.controller.open_documents(project_id)
            idle, busy = Heart(), Heart()
            idle.start()
            await asyncio.sleep(IDLE_S)
            idle.stop()
            busy.start()
            documents.add(project_id, [folder])
            await until(lambda: documents.progress(project_id).state == "idle", within_s=600)
            busy.stop()
            return idle, busy
        finally:
            collector.close()
            documents.close()
            for dialog in shown.canvas.findChildren(Dialog):
                dialog.reject()


def stalls(folder: Path) -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.apply(qt_app)
    loop = qasync.QEventLoop(qt_app)
    asyncio.set_event_loop(loop)
    with loop, tempfile.TemporaryDirectory() as home:
        idle, busy = loop.run_until_complete(beats_while_it_reads(theme, Path(home), folder))
    worst = {name: percentile(late, 1.0) for name, late in (("late", busy.late_ms), ("alone", idle.late_ms))}
    detail = f"p99 {percentile(busy.late_ms, 0.99):.1f}, by the clock {worst['late']:.1f}; "
    detail += f"with nothing to do {worst['alone']:.1f}"
    value = percentile(busy.busy_ms, 1.0)
    against = f"the window's processor time between two of {len(busy.late_ms)} beats"
    return [Ratio("P27", "longest stall of the window meanwhile", value, STALL_MS, against, "ms", detail)]


def main() -> list[Ratio]:
    chance = random.Random(21)
    words = vocabulary(chance)
    with tempfile.TemporaryDirectory() as scratch:
        folder, index = Path(scratch) / "files", Path(scratch) / "index.db"
        folder.mkdir()
        megabytes = fill(folder, words, chance) / 1e6
        taken, cpu, memory = read(index, folder)
        again, again_cpu, _ = read(index, folder)
        found = overview(index)
        stalled = stalls(folder)
        questions = {
            "one rare word": words[-50],
            "one common word": words[5],
            "a question": f"where is {words[3]} {words[400]} {words[9_000]}",
            "ten words": " ".join(words[place] for place in range(0, 5_000, 500)),
            "nothing": "xylophonist",
        }
        asked = {}
        for name, question in questions.items():
            figures = []
            for _ in range(RUNS):
                begun = time.perf_counter()
                search(index, question)
                figures.append((time.perf_counter() - begun) * 1000)
            asked[name] = statistics.median(figures)
        kept_s, vector = embed(index)
        begun = time.perf_counter()
        search(index, questions["a question"], vector=vector)
        first = (time.perf_counter() - begun) * 1000
        figures = []
        for _ in range(RUNS):
            begun = time.perf_counter()
            search(index, questions["a question"], vector=vector)
            figures.append((time.perf_counter() - begun) * 1000)
        meant = statistics.median(figures)
        kept_mb = vectors_beside(index).stat().st_size / 1e6
    slowest = max(asked, key=lambda name: asked[name])
    detail = f"{megabytes:.0f} MB, {found.passages:,} passages, index {found.size_bytes / 1e6:.0f} MB, {taken:.1f} s"
    every = ", ".join(f"{name} {figure:.1f}" for name, figure in asked.items())
    return [
        Ratio(
            "P27", f"{FILES:,} files into an index", cpu * 1000 / megabytes, MS_PER_MB, "a core's time", "ms", detail
        ),
        Ratio("P27", "unchanged files looked at", again, CHECK_S, "the clock", "s", f"processor {again_cpu:.2f} s"),
        Ratio("P27", f"passages for {slowest}", asked[slowest], ASK_MS, "the clock", "ms", every),
        Ratio(
            "P27",
            f"passages by words and {DIMENSIONS} numbers each",
            meant,
            ASK_MS,
            "the clock",
            "ms",
            f"the first question {first:.0f}; {kept_mb:.0f} MB, kept in {kept_s:.0f} s",
        ),
        Ratio("P27", "most memory of the reading", memory, MEMORY_MB, "what the system says", "MB"),
        *stalled,
    ]
