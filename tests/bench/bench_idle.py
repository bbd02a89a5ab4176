"""P11: the window open and nobody there, every tab built and begun, a video on the way. Sixty seconds of it: processor
time, wake-ups, connections.

A bare window idles beside it for the same sixty seconds, so that what Qt itself costs is known.
"""

import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import psutil

from tests.bench.harness import Ratio
from tests.bench.windows import BARE, SESSION, running, streaming, wait_for

IDLE_S = 60.0
LOOK_EVERY_S = 1.0
CPU_LIMIT_PERCENT = 0.1
WAKE_UPS_LIMIT = 1.0  # a second, beyond Qt's own: no timer of ours is faster than that


@dataclass(frozen=True, slots=True)
class Idle:
    cpu_percent: float
    wake_ups: float  # a second, of all threads
    connections: int  # the most that were open to other computers at once


def main() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as scratch:
        home, bare_home = Path(scratch) / "rialto", Path(scratch) / "bare"
        home.mkdir()
        bare_home.mkdir()
        with (
            streaming(1) as port,
            running(BARE, bare_home) as (bare, bare_said, _),
            running((*SESSION[1:], "idle", port), home) as (rialto, said, _),
        ):
            wait_for(bare, bare_said, ("ready",))
            wait_for(rialto, said, ("idle",))
            bare_idle, idle = watch(psutil.Process(bare.pid), psutil.Process(rialto.pid))
    beside = "a bare QMainWindow beside it"
    return [
        Ratio(
            "P11",
            "idle for 60 s: processor",
            idle.cpu_percent,
            CPU_LIMIT_PERCENT,
            beside,
            unit="%",
            detail=f"{idle.cpu_percent:.3f} % against {bare_idle.cpu_percent:.3f} %",
        ),
        Ratio(
            "P11",
            "idle for 60 s: wake-ups beyond Qt's own",
            max(0.0, idle.wake_ups - bare_idle.wake_ups),
            WAKE_UPS_LIMIT,
            beside,
            unit="/s",
            detail=f"{idle.wake_ups:.2f} /s against {bare_idle.wake_ups:.2f} /s",
        ),
        Ratio("P11", "idle for 60 s: connections to other computers", idle.connections, 0, "none", unit="open"),
    ]


def watch(*processes: psutil.Process) -> list[Idle]:
    """Watch all of them through the same minute."""
    before = [(cpu_seconds(process), wake_ups(process)) for process in processes]
    most = [0] * len(processes)
    begun = time.monotonic()
    while time.monotonic() - begun < IDLE_S:
        time.sleep(LOOK_EVERY_S)
        most = [max(old, outside_connections(process)) for old, process in zip(most, processes, strict=True)]
    took = time.monotonic() - begun
    return [
        Idle((cpu_seconds(process) - cpu) / took * 100, (wake_ups(process) - woken).total() / took, connections)
        for process, (cpu, woken), connections in zip(processes, before, most, strict=True)
    ]


def whole(process: psutil.Process) -> list[psutil.Process]:
    """The program is its window and the Sandbox beside it."""
    return [process, *process.children(recursive=True)]


def cpu_seconds(process: psutil.Process) -> float:
    times = [each.cpu_times() for each in whole(process)]
    return sum(each.user + each.system for each in times)


def wake_ups(process: psutil.Process) -> Counter[str]:
    """Return how often each thread of the program has gone to sleep and come back, where the system counts that."""
    tasks = [task for each in whole(process) for task in Path(f"/proc/{each.pid}/task").glob("*")]
    if not tasks:
        return Counter({str(each.pid): each.num_ctx_switches().voluntary for each in whole(process)})
    lines = [(task.name, line) for task in tasks for line in (task / "status").read_text().splitlines()]
    return Counter({name: int(line.split()[1]) for name, line in lines if line.startswith("voluntary_ctxt_switches")})


def outside_connections(process: psutil.Process) -> int:
    """Return how many of its connections lead off this computer; the Sandbox is on it."""
    ends = [connection.raddr for each in whole(process) for connection in each.net_connections(kind="inet")]
    return sum(1 for end in ends if end and not ip_address(end.ip).is_loopback)
