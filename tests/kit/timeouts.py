"""One thread for each process that ends it when a test hangs: pytest-timeout starts one for each test, and each costs
five switches between threads."""

from __future__ import annotations

from threading import Thread
from time import monotonic, sleep  # a test may replace those of the module

import pytest
import pytest_timeout

LOOKS_EVERY_S = 1.0
_threads: list[Thread] = []
_running: dict[pytest.Item, tuple[float, pytest_timeout.Settings]] = {}


def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
    if settings.method != "thread":
        return None  # pytest-timeout does it
    _running[item] = monotonic() + settings.timeout, settings
    if not _threads:  # a worker is a fork, in which no thread would run on
        _threads.append(Thread(target=_watch, name="timeouts", daemon=True))
        _threads[0].start()
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    return _running.pop(item, None) is not None or None


def _watch() -> None:
    while True:
        sleep(LOOKS_EVERY_S)
        for item, (ends, settings) in _running.copy().items():
            if monotonic() > ends:
                _running.pop(item, None)
                pytest_timeout.timeout_timer(item, settings)
