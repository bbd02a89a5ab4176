"""Whatever a service answers: a value or a `ServiceError`, for every response model and every call there is.

Models and calls are found by themselves, so that a new one is held to this without being written down here.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app.service
from app.service import chat_wire
from app.service.account import Balances, LimitHit
from app.service.amounts import MAX_NUMBER
from app.service.billing import BillingBalance
from app.service.errors import BadResponse, ServiceError
from app.service.http.sse import SseReader
from app.service.service import Service
from app.service.wire import ListEnvelope, WireModel, read_model
from tests.service.every_call import CALLS
from tests.service.loopback import Watched
from tests.service.test_uploads import WAV


def modules() -> list[Any]:
    found = pkgutil.walk_packages(app.service.__path__, "app.service.")
    return [importlib.import_module(each.name) for each in found if not each.ispkg]


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("app.service"):
            yield each
        yield from subclasses(each)


ALL_MODULES = modules()
MODELS = sorted({*subclasses(WireModel)}, key=lambda each: f"{each.__module__}.{each.__qualname__}")


@cache
def wire_names() -> list[str]:
    """Every key that any response model reads, and some that none does."""
    fields = [(name, field.alias) for model in MODELS for name, field in model.model_fields.items()]  # type: ignore[attr-defined] # WireModels
    structs = [field for struct in subclasses(msgspec.Struct) for field in struct.__struct_fields__]  # type: ignore[attr-defined] # Structs
    ours = {name for pair in fields for name in pair if name}
    return sorted(ours | {*structs, "data", "error", "message", "details", "_errors", "code", "accepts", "x"})


TEXTS = [
    "",
    "x",
    "0",
    "-1",
    "NaN",
    "Infinity",
    "1e999",
    "true",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "0001-01-01",
    "\ud800",
    "vv_1",
    "0x",
    "🦜",
]
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TEXTS) | st.just(10**400)


def is_plausible(value: object) -> bool:
    """A number that can be written and added up, a moment that has a local time."""
    if isinstance(value, datetime):
        return value.tzinfo is not None and 1970 <= value.year < 2200
    if isinstance(value, int | float | Decimal):
        return -MAX_NUMBER <= value <= MAX_NUMBER
    return True


def values(names: list[str]) -> st.SearchStrategy[object]:
    return st.recursive(
        leaves,
        lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(names), below, max_size=6),
        max_leaves=20,
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda each: each.__name__)
def test_any_object_becomes_the_model_or_a_service_error(model: type[WireModel]) -> None:
    own = [name for key, field in model.model_fields.items() for name in (key, field.alias) if name]

    @settings(max_examples=15, database=None)
    @given(st.dictionaries(st.sampled_from([*own, "x"]), values([*own, "x"]), max_size=8) | values(wire_names()))
    def holds(content: object) -> None:
        try:
            read = read_model(model, content)
        except ServiceError as error:
            assert error.message
            return
        assert isinstance(read, model) and repr(read)
        assert all(is_plausible(value) for value in vars(read).values())
        for name, member in inspect.getmembers_static(model):
            if isinstance(member, (property, cached_property)) and not name.startswith(("_", "model_")):
                getattr(read, name)
        assert ListEnvelope.read(model, {"data": [content, None]}).broken <= 2

    holds()


def test_an_odd_number_costs_its_own_field_and_no_other() -> None:
    balances = read_model(Balances, {"USD": Decimal("1e308"), "DIEM": Decimal("-1e300"), "BUNDLED_CREDITS": "3.5"})
    assert (balances.usd, balances.diem, balances.bundled) == (None, None, Decimal("3.5"))
    other = read_model(Balances, {"USD": 1, "EARNED_CREDITS": "2.5", "note": "x", "more": [1]})
    assert other.others == {"EARNED_CREDITS": Decimal("2.5")}, "a kind of balance that is new"
    billing = read_model(BillingBalance, {"balances": {"usd": "1e308", "diem": "2"}})
    assert billing.balances == {"diem": Decimal(2)}
    hit = read_model(LimitHit, {"timestamp": "2026-01-01T00:00:00"})
    assert hit.at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_list_in_which_nothing_can_be_read_is_no_empty_list() -> None:
    assert ListEnvelope.read(LimitHit, {"data": []}).data == ()
    with pytest.raises(BadResponse, match="a list that cannot be read"):
        ListEnvelope.read(LimitHit, {"data": [None, 17]})


def test_the_models_were_found() -> None:
    assert len(MODELS) >= 30
    assert {"Character", "Model", "QueuedVideo", "RateLimits", "WalletBalance"} <= {each.__name__ for each in MODELS}


def test_what_msgspec_reads_is_read_by_the_chat_reader_alone() -> None:
    """Its own property test stands beside it; a struct elsewhere would need one of its own."""
    assert {each.__module__ for each in subclasses(msgspec.Struct)} == {chat_wire.__name__}


def test_every_call_there_is_stands_in_the_list() -> None:
    made = {name: type(resource) for name, resource in resources().items()}
    methods = {
        f"{name}.{method}"
        for name, kind in made.items()
        for method, _ in inspect.getmembers(kind, inspect.isfunction)
        if not method.startswith("_") and method not in ("prepare",)
    }
    assert methods == set(CALLS)


def resources() -> dict[str, object]:
    from tests.service.loopback import answering

    service = Watched(handler=answering({})).service
    names = {name for name, member in vars(Service).items() if isinstance(member, cached_property)}
    return {name: getattr(service, name) for name in names | set(vars(service)) - {"client"}}


BODIES = (
    values(["x"]).map(lambda value: json.dumps(value).encode())
    | st.deferred(lambda: values(wire_names())).map(lambda value: json.dumps(value).encode())
    | st.deferred(lambda: values(wire_names())).map(lambda value: json.dumps({"data": value}).encode())
    | st.binary(max_size=60)
    | st.sampled_from([b"", b"data: {}\n\ndata: [DONE]\n\n", WAV, b"<html>", b"\0\0\0\x20ftypisom" + b"\0" * 40])
)
TYPES = ("application/json", "text/event-stream", "audio/wav", "image/png", "video/mp4", "text/html", "text/csv", "")


@pytest.mark.parametrize("call", CALLS)
@settings(max_examples=8, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(status=st.sampled_from([200, 200, 200, 402, 400, 404, 429, 500]), body=BODIES, kind=st.sampled_from(TYPES))
async def test_any_answer_to_any_call_ends_in_a_value_or_a_service_error(
    status: int, body: bytes, kind: str, call: str, tmp_path: Path
) -> None:
    wav = tmp_path / "a.wav"
    wav.write_bytes(WAV)
    headers = {"content-type": kind} if kind else {}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, content=body, headers=headers)

    async with Watched("https://service.test/v1", handler=answer) as watched:
        try:
            await CALLS[call](watched.service, wav)
        except ServiceError as error:
            assert error.message
        assert watched.exchanges


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"data: ", b"\n", b"\r\n\r\n", b"data: [DONE]\n\n"])))
def test_any_bytes_of_a_stream_are_events_or_a_service_error(reads: list[bytes]) -> None:
    reader = SseReader(max_event_bytes=100)
    try:
        for read in reads:
            assert all(isinstance(event, bytes) for event in reader.feed(read))
        reader.finish()
    except ServiceError as error:
        assert error.message
