"""Whatever a service, a file or a database holds: every function that writes a value writes it, every row is built."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from app.service.wire import WireModel
from tests.ui.any_value import PLAUSIBLE, WILD, Function, NoValue, arguments, functions, is_plain, members

NUMBERS = (int, float, Decimal, datetime, date, timedelta)
OTHER = {  # takes a number, but writes none of a service's or a file's
    "app.ui.kit.json.view._hanging": "pixels of a font",
    "app.ui.crypto_rpc.session.parameter_fields.quantity_words": "exact to the last digit of 256 bits, as typed",
    "app.ui.crypto_rpc.session.value_meaning._number": "exact to the last digit of a field of 66 characters",
    "app.ui.crypto_rpc.session.call_words.run_title": "the place of a run in its list",
    "app.ui.kit.markdown.segments.dedented": "columns of a line",
    "app.core.number_format._one_place": "a part of `short_count`",
    "app.core.money._rounded": "a part of `money`",
    "app.core.time_format._written": "a part of `moment`",
    "app.ui.transcription.recording_view._decibels": "of the microphone",
}
MATCHED = {  # takes things that belong together, which only its caller has
    "app.ui.chat.session.tool_calls.carried": "a place in a branch",
    "app.ui.crypto_rpc.session.collection_library.rows_of": "reading a collection checks that items have methods",
    "app.ui.crypto_rpc.session.sending.other_hash": "one answer for each row",
    "app.ui.speech.session.session_calls._kept": "options that were checked before they were sent",
    "app.ui.speech.session.clip_library.name_of": "the suffix of a format that Rialto writes",
    "app.ui.speech.session.cost_meter.meter_of": "the parts of a text",
    "app.ui.wallet.presenter_top_up._request": "a payment that was read back from what is signed",
    "app.ui.wallet.session.comparison._matched": "groups of at least one booking",
}
LONGEST = 200  # characters that a number may add to a text


def can_be_called(function: Function, leaves: dict[type, Any]) -> bool:
    try:
        arguments(function, leaves)
    except NoValue:
        return False
    return True


def writers() -> Iterator[Function]:
    """Functions of numbers and moments that give text."""
    for function in functions():
        taken = {each for kind in function.takes.values() for each in members(kind)}
        if (
            function.name not in OTHER
            and function.gives is str
            and taken & set(NUMBERS)
            and can_be_called(function, WILD)
        ):
            yield function


def is_record(kind: Any, layers: tuple[str, ...]) -> bool:
    ours = isinstance(kind, type) and kind.__module__.startswith(layers)
    return ours and (is_plain(kind) or issubclass(kind, WireModel))


def builders() -> Iterator[Function]:
    """Functions that make something to show out of what the service said or what was kept."""
    for function in functions():
        taken = [each for kind in function.takes.values() for part in parts(kind) for each in members(part)]
        given_ = [each for part in parts(function.gives) for each in members(part)]
        from_below = any(is_record(each, ("app.service", "app.storage", "app.credentials")) for each in taken)
        shown = any(each is str or is_record(each, ("app.core", "app.ui")) for each in given_)
        if function.name not in MATCHED and from_below and shown and can_be_called(function, PLAUSIBLE):
            yield function


def parts(kind: Any) -> Iterator[Any]:
    """A type, and what is in it."""
    yield kind
    for each in typing.get_args(kind):
        if each is not Ellipsis:
            yield from parts(each)


WRITERS, BUILDERS = list(writers()), list(builders())


@pytest.mark.parametrize("function", WRITERS, ids=lambda each: each.name)
def test_a_function_that_writes_a_number_writes_every_number(function: Function) -> None:
    @settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(arguments(function, WILD))
    def holds(values: dict[str, Any]) -> None:
        written = function.call(**values)
        assert isinstance(written, str)
        around = sum(len(each) for each in values.values() if isinstance(each, str))
        assert len(written) <= around + LONGEST

    holds()


@pytest.mark.parametrize("function", BUILDERS, ids=lambda each: each.name)
def test_what_was_sent_or_kept_can_always_be_shown(function: Function) -> None:
    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(arguments(function, PLAUSIBLE))
    def holds(values: dict[str, Any]) -> None:
        function.call(**values)

    holds()


def test_the_functions_were_found() -> None:
    writers, builders = ({each.name for each in found} for found in (WRITERS, BUILDERS))
    assert {
        "app.core.money.money",
        "app.core.time_format.when",
        "app.ui.wallet.receipts_table.day_and_time",
    } <= writers
    assert {"app.ui.wallet.presenter_api_keys.page_of", "app.ui.images.session.tiles.tile_of"} <= builders
    assert len(writers) >= 40 and len(builders) >= 40
