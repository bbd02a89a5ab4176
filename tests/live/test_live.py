"""The live check, against the Sandbox in the dialect of the real service, and the replay of its recording."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from app.sandbox.http import recording
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from tests.live import calls
from tests.live.__main__ import MOST_USD, run_live
from tests.live.checking import HIDDEN, Checked, hide_personal
from tests.sandbox.support import Client, running

RECORDINGS = sorted(Path(__file__).parent.glob("*.jsonl"))  # of a real service


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A Sandbox that answers as the real service does, with a clock on which videos are soon done."""
    monkeypatch.setattr(calls, "LOOK_S", 0.05)
    over = threading.Event()

    def turn() -> None:
        for seconds in itertools.count(start=10, step=10):
            if over.wait(0.2):
                break
            client.turn_clock(seconds)

    with running(tmp_path, dialect="venice", tokens_per_second=0) as client:
        thread = threading.Thread(target=turn)
        thread.start()
        try:
            yield client
        finally:
            over.set()
            thread.join()


async def live(one: RunningSandbox, key: str, today: date | None = None) -> list[Checked]:
    return await run_live(one.base_url, "venice", key, MOST_USD, today=today, asks=False)


async def test_every_endpoint_answers_within_the_price_and_a_replay_is_read_the_same(
    service: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "calls.jsonl"
    options = Options(record=(file, service.running.base_url), local_ports={})
    with start_sandbox(tmp_path, resources(), options=options) as recorder:
        found = await live(recorder, service.running.api_key)
    told = capsys.readouterr().out
    assert [each for each in found if each.outcome != "ok"] == [], told
    assert [each for each in found if each.new] == [], told
    assert "left out" not in told
    spent = Decimal(100) - Decimal(service.balance())
    assert 0 < spent <= MOST_USD
    stated = Decimal(told.rsplit("$", 1)[1].split()[0])
    assert 0 <= spent - stated < Decimal("0.001"), "some responses do not state what they cost"
    hide_personal(file)
    text = file.read_text(encoding="utf-8")
    assert service.running.api_key not in text
    made = next(
        line["response"]
        for line in map(json.loads, text.splitlines())
        if (line["request"]["method"], line["request"]["path"]) == ("POST", "/api_keys")
    )
    assert json.loads(made["chunks"][0]["text"])["data"]["apiKey"] == HIDDEN
    for each in (file, *RECORDINGS):
        answered = await replayed(each, tmp_path)
        assert each != file or answered == [one.name for one in found]
        assert answered, each


async def replayed(file: Path, folder: Path) -> list[str]:
    """The calls that a replay of a recording answers as Rialto reads them."""
    day = date.fromisoformat(json.loads(file.read_text(encoding="utf-8").partition("\n")[0])["at"][:10])
    options = Options(replay=recording.load(file), local_ports={}, dialect="venice")
    place = folder / file.stem
    place.mkdir()
    with start_sandbox(place, resources(), options=options) as one:
        return [each.name for each in await live(one, "any-key", day) if each.outcome == "ok"]


async def test_a_sum_above_the_limit_leaves_the_dearest_calls_out(
    service: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    await run_live(service.running.base_url, "venice", service.running.api_key, Decimal("0.02"), only_price=True)
    told = capsys.readouterr().out
    assert "would be too much" in told
    assert service.balance() == "100"
