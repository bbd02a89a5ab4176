"""The whole program in this process, for what is measured inside it."""

import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from app.ui.kit.qt_workarounds.pyside_features import read_no_sources

read_no_sources()  # before anything else of Qt is imported, as in the program itself
sys.modules["click"] = None  # type: ignore[assignment]  # httpx would load it: it is the suite's, programs have none

from app.bootstrap.rialto import Rialto  # noqa: E402
from app.bootstrap.start import run  # noqa: E402
from tests.bench.windows import find_bytecode, prepare_home, screen  # noqa: E402


def run_with(measure: Callable[[Rialto], Awaitable[None]], home: Path | None = None) -> None:
    """Start with the bytecode compiled, as installed programs have it, and the Sandbox's data folder or that in `home`.

    `measure` begins with the event loop and ends it by closing the window. Raises `RuntimeError` when that goes wrong.
    """
    find_bytecode()
    go_on = Rialto._go_on

    def go_on_and_measure(rialto: Rialto) -> None:
        go_on(rialto)
        rialto.tasks.start_unless_running("measure", measure, rialto)

    with tempfile.TemporaryDirectory() as scratch:
        os.environ["RIALTO_HOME"] = str(home or scratch)
        if os.environ["QT_QPA_PLATFORM"] == "offscreen":
            os.environ["QT_QPA_PLATFORM"] = screen()
        if home is None:
            prepare_home(Path(scratch), "sandbox")
        setattr(Rialto, "_go_on", go_on_and_measure)  # noqa: B010 - mypy forbids to assign to a method
        sys.argv = ["rialto"]
        if run([]) != 0:
            raise RuntimeError("the program did not end well")
