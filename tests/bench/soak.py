"""`bench -- soak --hours N [--sessions M]`: the program driven by chance for hours, against services that misbehave.

Starts a service (the Sandbox) and a session (`tests.bench.soak_session`) for each of M sessions side by side, watches
memory and open files of each, counts what ended a process by itself and every traceback, and starts a session that
ended anew, on the same data. Prints one line a minute and the sums at the end. Exits 1 after any fault or traceback.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import psutil

from app.sandbox.server import Options, start_sandbox
from app.storage.paths import resources
from tests.bench.soak_session import KEY
from tests.bench.windows import ROOT, screen

LOOK_EVERY_S = 10.0
TOLD_EVERY_S = 60.0
HOUR_S = 3600.0
SESSION_S = 6 * HOUR_S  # a session is ended and started anew after this long, as a person does
GROWTH_MB_AN_HOUR = 20.0


@dataclass(frozen=True)
class Sample:
    at: float  # monotonic seconds
    session: int  # the first is 1
    mb: float  # that this process shares with no other
    files: int
    threads: int


@dataclass
class Watched:
    """One session after another in the same data folder."""

    home: Path
    service: str
    seed: int
    process: subprocess.Popen[str] | None = None
    acts: int = 0
    in_vain: int = 0
    last_act: str = ""
    faults: list[str] = field(default_factory=list)  # what ended a process, with the act
    crashes: list[str] = field(default_factory=list)  # tracebacks that the program reported
    samples: list[Sample] = field(default_factory=list)
    starts: int = 0

    def begin(self, ends: float) -> None:
        """Start a session that lasts until `ends` (monotonic seconds) at the latest."""
        self.starts += 1
        seconds = min(SESSION_S, ends - time.monotonic())
        environ = {
            **os.environ,
            "RIALTO_HOME": str(self.home),
            "QT_QPA_PLATFORM": screen(),
            "PULSE_SERVER": "unix:/nonexistent/pulse",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        environ.pop("DBUS_SESSION_BUS_ADDRESS", None)
        module = [sys.executable, "-X", "faulthandler", "-m", "tests.bench.soak_session"]
        command = [*module, self.service, str(seconds), str(self.seed + self.starts)]
        errors = (self.home / f"stderr-{self.starts}.txt").open("w", encoding="utf-8")
        with errors:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            if "act" in fields:
                self.acts += 1
                self.last_act = fields["act"]
            if fields.get("said", "ok") != "ok":
                self.in_vain += 1
            if "crash" in fields:
                self.crashes.append(f"{fields['crash']} during {self.last_act}: {fields['path']}")

    def look(self, ends: float) -> None:
        """Take a sample; note a session that ended, and start the next."""
        process = self.process
        if process is None:
            return
        code = process.poll()
        if code is None:
            try:
                known = psutil.Process(process.pid)
                memory = known.memory_full_info().uss / 1e6
                self.samples.append(Sample(time.monotonic(), self.starts, memory, known.num_fds(), known.num_threads()))
            except psutil.Error:
                return
            return
        if code != 0:
            self.faults.append(f"ended with {code} during {self.last_act}: {self.home}/stderr-{self.starts}.txt")
        self.process = None
        if time.monotonic() < ends - TOLD_EVERY_S:
            self.begin(ends)

    def growth(self) -> float:
        """Return MB an hour, see `growth`."""
        return growth(self.samples)

    def first_and_last_mb(self) -> tuple[float, float]:
        """Return the middle of what it took in the first and the last tenth of what `growth` looks at."""
        grown = _after_first_hour(self.samples)
        tenth = max(1, len(grown) // 10)
        first, last = ([sample.mb for sample in part] for part in (grown[:tenth], grown[-tenth:]))
        return (statistics.median(first), statistics.median(last)) if grown else (0.0, 0.0)

    def line(self) -> str:
        newest = self.samples[-1] if self.samples else Sample(0.0, 0, 0.0, 0, 0)
        return (
            f"{self.acts} acts ({self.in_vain} in vain), {newest.mb:.0f} MB, {newest.files} files,"
            f" {newest.threads} threads,"
            f" {self.growth():+.0f} MB/h, {len(self.faults)} faults, {len(self.crashes)} tracebacks"
        )


def growth(samples: list[Sample]) -> float:
    """Return MB an hour: one slope, by least squares, through what each session took after its first hour.

    Each session has a level of its own, so that one that begins anew with little does not hide the growth of another.
    While none is an hour old, the later half of each counts.
    """
    above = below = 0.0
    for points in _by_session(_after_first_hour(samples)):
        mid_x = statistics.fmean(point.at for point in points)
        mid_y = statistics.fmean(point.mb for point in points)
        above += sum((point.at - mid_x) * (point.mb - mid_y) for point in points)
        below += sum((point.at - mid_x) ** 2 for point in points)
    return above / below * HOUR_S if below else 0.0


def _after_first_hour(samples: list[Sample]) -> list[Sample]:
    sessions = _by_session(samples)
    grown = [sample for each in sessions for sample in each if sample.at - each[0].at > HOUR_S]
    return grown or [sample for each in sessions for sample in each[len(each) // 2 :]]


def _by_session(samples: list[Sample]) -> list[list[Sample]]:
    return [[*each] for _, each in groupby(samples, key=lambda sample: sample.session)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench -- soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--sessions", type=int, default=1, help="how many programs side by side")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="where chance begins")
    parser.add_argument("--keep", type=Path, help="folder for data, logs and reports; else they go at the end")
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rialto-soak-")))
        ends = time.monotonic() + chosen.hours * HOUR_S
        print(f"{chosen.sessions} sessions for {chosen.hours:g} h, seed {chosen.seed}, in {folder}", flush=True)
        watched = []
        for number in range(chosen.sessions):
            home = folder / str(number)
            home.mkdir(parents=True, exist_ok=True)
            options = Options(tokens_per_second=200, local_ports={})
            served = stack.enter_context(start_sandbox(home / "service", resources(), api_key=KEY, options=options))
            watched.append(Watched(home, served.base_url, chosen.seed + 1000 * number))
            watched[-1].begin(ends)
        told = 0.0
        while any(one.process is not None and one.process.poll() is None for one in watched):
            time.sleep(min(LOOK_EVERY_S, 5.0))
            for one in watched:
                one.look(ends)
            if time.monotonic() - told > TOLD_EVERY_S:
                told = time.monotonic()
                for number, one in enumerate(watched):
                    print(f"{time.strftime('%H:%M')} {number}: {one.line()}", flush=True)
        return summary(watched)


def summary(watched: list[Watched]) -> int:
    """Print what was counted; return the exit code."""
    hours = sum(one.samples[-1].at - one.samples[0].at for one in watched if one.samples) / HOUR_S
    faults = [fault for one in watched for fault in one.faults]
    crashes = [crash for one in watched for crash in one.crashes]
    print(
        f"\n{hours:.2f} hours, {sum(one.acts for one in watched)} acts: {len(faults)} faults, {len(crashes)} tracebacks"
    )
    for number, one in enumerate(watched):
        files = [sample.files for sample in one.samples] or [0]
        first, last = one.first_and_last_mb()
        most = max((sample.mb for sample in one.samples), default=0.0)
        print(
            f"{number}: memory {one.growth():+.1f} MB an hour (goal {GROWTH_MB_AN_HOUR:.0f}), "
            f"{first:.0f} → {last:.0f} MB after the first hour, most {most:.0f}, "
            f"open files {files[len(files) // 4]} → {files[-1]}, most {max(files)}"
        )
    for text in (*faults, *crashes):
        print(f"  {text}")
    return 1 if faults or crashes else 0
