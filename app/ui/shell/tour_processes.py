"""Runs acts of the tour, each in a process of its own, in a data folder made for them.

The folder goes when all went well. After an act that failed it is kept and named, and what the process wrote down about
its own end is printed: a crash that comes once in fifty runs must not take the only trace of it along.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.formats import format_number
from app.storage.paths import HOME_VARIABLE, Paths
from app.translation import tr
from app.ui.kit.own_executable import own_command
from app.ui.shell.crash_reports import texts_in


class TourProcesses:
    """A data folder and what is played in it. As a context it removes the folder, or says where it is."""

    def __init__(self, prefix: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix=prefix))
        self._failed = False

    def __enter__(self) -> TourProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        if self._failed:
            print(tr("What it left is kept in {home}.", home=self.home), flush=True)
        else:
            shutil.rmtree(self.home, ignore_errors=True)

    def play(
        self, act: str, folder: Path, environ: Mapping[str, str], *, title: str, theme: str = "light", within_s: float
    ) -> bool:
        """Run one act, its images in `folder`; whether it went well. `title` names it where it did not."""
        command = [*own_command(), "--tour", str(folder), "--act", act, "--theme", theme]
        environ = {**environ, HOME_VARIABLE: str(self.home)}
        out, err = sys.stdout, sys.stderr  # named, because Windows hands them on by itself only to console programs
        try:
            done = subprocess.run(command, env=environ, timeout=within_s, check=False, stdout=out, stderr=err)  # noqa: S603 - ourselves
        except subprocess.TimeoutExpired:
            self._fail(
                tr("{title} did not quit within {within_s} s.", title=title, within_s=format_number(within_s, 0))
            )
            return False
        if done.returncode != 0:
            self._fail(tr("{title} exited with code {returncode}.", title=title, returncode=done.returncode))
        return done.returncode == 0

    def _fail(self, sentence: str) -> None:
        self._failed = True
        print(sentence, *texts_in(Paths.below(self.home).crashes), sep="\n\n", flush=True)
