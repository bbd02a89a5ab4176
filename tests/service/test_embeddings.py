"""Texts to vectors."""

import base64
import json
import math
import struct
from decimal import Decimal

import pytest

from app.service.errors import BadResponse, LimitExceeded
from tests.service.loopback import Watched, answering


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def body(*vectors: object) -> dict[str, object]:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return {"object": "list", "model": "served", "data": data, "usage": {"prompt_tokens": 7, "total_tokens": 7}}


async def test_vectors_come_packed_in_the_order_of_the_texts() -> None:
    answer = body(packed(0.5, -1), packed(2, 3))
    answer["data"] = list(reversed(answer["data"]))  # type: ignore[call-overload] # a list, above
    async with Watched(handler=answering(answer)) as watched:
        made = await watched.service.embeddings.embed(
            ("buoy", "lighthouse"), "bge", dimensions=2, price=lambda tokens: Decimal(tokens)
        )
        assert [list(vector) for vector in made.vectors] == [[0.5, -1.0], [2.0, 3.0]]
        assert (made.dimensions, made.tokens, made.model) == (2, 7, "served")
        assert (made.exchange.units, made.exchange.cost_usd) == ({"prompt_tokens": 7}, Decimal(7))
        assert json.loads(watched.requests[0].content) == {
            "model": "bge",
            "input": ["buoy", "lighthouse"],
            "encoding_format": "base64",
            "dimensions": 2,
        }


async def test_plain_numbers_are_read_too() -> None:
    answer = body([0.25, 1])
    del answer["usage"]
    del answer["model"]
    async with Watched(handler=answering(answer)) as watched:
        made = await watched.service.embeddings.embed(("x",), "bge")
        assert (list(made.vectors[0]), made.tokens, made.model) == ([0.25, 1.0], 0, "bge")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        body(),
        body([1], [2]),
        body([]),
        body("!"),
        body("AAA="),
        body({"x": 1}),
        body(["x"]),
        body([10**400]),
        {"data": [{"index": 5, "embedding": [1]}]},
    ],
)
async def test_something_else_is_a_bad_answer(answer: object) -> None:
    async with Watched(handler=answering(answer)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.embeddings.embed(("x",), "bge")


async def test_vectors_of_different_length_are_a_bad_answer() -> None:
    async with Watched(handler=answering(body([1], [1, 2]))) as watched:
        with pytest.raises(BadResponse):
            await watched.service.embeddings.embed(("x", "y"), "bge")


async def test_limits_are_refused_before_sending() -> None:
    async with Watched(handler=answering({})) as watched:
        embed = watched.service.embeddings.embed
        for attempt in (
            embed((), "m"),
            embed(("x",) * 2049, "m"),
            embed(("x", ""), "m"),
            embed(("x",), " "),
            embed(("x",), "m", dimensions=0),
        ):
            with pytest.raises(LimitExceeded):
                await attempt
        assert watched.requests == []


async def test_an_index_that_is_no_number_counts_by_place() -> None:
    answer = {"data": [{"index": "0", "embedding": [1]}, "odd"], "usage": {"prompt_tokens": "many"}}
    async with Watched(handler=answering(answer)) as watched:
        assert list((await watched.service.embeddings.embed(("x",), "m")).vectors[0]) == [1.0]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
async def test_a_vector_with_a_number_that_is_none_is_no_vector(number: float) -> None:
    async with Watched(handler=answering(body(packed(1.0, number)))) as watched:
        with pytest.raises(BadResponse):
            await watched.service.embeddings.embed(("buoy",), "bge")
