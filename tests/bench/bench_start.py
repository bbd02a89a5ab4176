"""P1: from the start of the process to a painted, usable Chat, against a bare `QMainWindow`.

A window with the same widgets, each Qt's own and empty of ours, is measured beside them: what PySide alone takes. Where
our start goes is told by its stages, in milliseconds.
Usable: the event loop turns, the box has the focus and keeps what is typed. "With the Sandbox started" is the later of
that and the moment at which the Sandbox's server answers requests. When the window's own client has the list of models
and Send is on is printed beside it; what is typed before is kept, so nobody has to wait for it.
"""

import statistics
import tempfile
from itertools import pairwise
from pathlib import Path

from tests.bench.harness import Ratio, medians
from tests.bench.start_session import STAGES
from tests.bench.windows import BARE, RIALTO, moments, prepare_home, running, start_s, wait_for

STAGED = ("-m", "tests.bench.start_session", "stages")
TREE = ("-m", "tests.bench.start_session", "tree")
PLAIN = ("-m", "tests.bench.start_session", "plain")

RUNS = 9
LIMIT = 2.2  # docs/decisions/0060
LIMIT_WITH_SANDBOX = 2.0


def main() -> list[Ratio]:
    can_send: list[float] = []

    def with_sandbox_s() -> float:
        with running(RIALTO, sandbox_home) as (process, said, begun_ns):
            started_ns = wait_for(process, said, ("ready", "sandbox"))
            can_send.append((wait_for(process, said, ("can-send",)) - begun_ns) / 1e9)
            return (started_ns - begun_ns) / 1e9

    stages: list[list[float]] = []

    def in_stages_s() -> float:
        with running(STAGED, home) as (process, said, begun_ns):
            ready_ns = wait_for(process, said, ("ready",))
            times = [begun_ns, *(moments(said)[stage] for stage in STAGES)]
        stages.append([(after - before) / 1e6 for before, after in pairwise(times)])
        return (ready_ns - begun_ns) / 1e9

    with tempfile.TemporaryDirectory() as scratch:
        bare_home, home, sandbox_home = (Path(scratch) / name for name in ("bare", "key", "sandbox"))
        bare_home.mkdir()
        prepare_home(home, "api_key")
        prepare_home(sandbox_home, "sandbox")
        tree = Path(scratch) / "tree.json"
        start_s((*TREE, str(tree)), home, ("tree",))
        bare, plain, ours, _, with_sandbox = medians(
            lambda: start_s(BARE, bare_home),
            lambda: start_s((*PLAIN, str(tree)), bare_home),
            lambda: start_s(RIALTO, home),
            in_stages_s,
            with_sandbox_s,
            runs=RUNS,
        )
    made_of = [statistics.median(times) for times in zip(*stages[1:], strict=True)]
    spent = "; " + ", ".join(f"{stage} {ms:.0f}" for stage, ms in zip(STAGES, made_of, strict=True))
    sending = f"; Send is on after {statistics.median(can_send[1:]) * 1000:.0f} ms"
    return [
        ratio("start to a painted Chat", ours, bare, LIMIT, spent),
        ratio("the same widgets, plain", plain, bare, LIMIT),
        ratio("the same, with the Sandbox started", with_sandbox, bare, LIMIT_WITH_SANDBOX, sending),
    ]


def ratio(name: str, ours: float, bare: float, limit: float, more: str = "") -> Ratio:
    detail = f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms{more}"
    return Ratio("P1", name, ours / bare, limit, "a bare QMainWindow", detail=detail)
