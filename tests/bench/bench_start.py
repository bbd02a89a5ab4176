"""P1: from the start of the process to a painted, usable Chat, against a bare `QMainWindow`."""

import tempfile
from pathlib import Path

from tests.bench.harness import Ratio, medians
from tests.bench.windows import BARE, RIALTO, prepare_home, start_s

RUNS = 9
LIMIT = 1.5
LIMIT_WITH_SANDBOX = 2.0


def main() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as scratch:
        bare_home, home, sandbox_home = (Path(scratch) / name for name in ("bare", "key", "sandbox"))
        bare_home.mkdir()
        prepare_home(home, "api_key")
        prepare_home(sandbox_home, "sandbox")
        bare, ours, with_sandbox = medians(
            lambda: start_s(BARE, bare_home),
            lambda: start_s(RIALTO, home),
            lambda: start_s(RIALTO, sandbox_home, ("ready", "sandbox")),
            runs=RUNS,
        )
    return [
        ratio("start to a painted Chat", ours, bare, LIMIT),
        ratio("the same, with the Sandbox started", with_sandbox, bare, LIMIT_WITH_SANDBOX),
    ]


def ratio(name: str, ours: float, bare: float, limit: float) -> Ratio:
    detail = f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms"
    return Ratio("P1", name, ours / bare, limit, "a bare QMainWindow", detail=detail)
