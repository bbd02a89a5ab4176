"""Embeddings: vectors that put related texts closer than unrelated ones."""

import base64
import math
import struct
from typing import Any

import httpx
import pytest

from app.sandbox.chat.embeddings import vector
from tests.sandbox.support import Client

MODEL = "text-embedding-bge-m3"


def embed(sandbox: Client, texts: Any, model: str = MODEL, **more: Any) -> httpx.Response:
    return sandbox.post("/embeddings", {"model": model, "input": texts, **more})


def vectors(sandbox: Client, texts: Any, **more: Any) -> list[list[float]]:
    answer = embed(sandbox, texts, **more)
    assert answer.status_code == 200, answer.text
    return [one["embedding"] for one in answer.json()["data"]]


def cosine(one: list[float], other: list[float]) -> float:
    length = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / length


def test_R_GEN_07_R_NS_03_the_shape_of_an_answer(sandbox: Client) -> None:
    body = embed(sandbox, ["buoy", "lighthouse"]).json()
    assert (body["object"], body["model"]) == ("list", MODEL)
    assert [(one["object"], one["index"], len(one["embedding"])) for one in body["data"]] == [
        ("embedding", 0, 1024),
        ("embedding", 1, 1024),
    ]
    assert body["usage"]["prompt_tokens"] == body["usage"]["total_tokens"] > 0
    assert len(vectors(sandbox, "one text")) == 1


@pytest.mark.parametrize(
    ("text", "related", "unrelated"),
    [
        ("The harbour light burns all night", "A light burns in the harbour", "Bread needs flour, water and salt"),
        ("How do I stop an answer?", "Stopping the answers", "The price of silver went up"),
        ("photosynthesis in plants", "plants use photosynthesis", "orbital mechanics of planets"),
        ("Der Leuchtturm steht am Hafen", "Ein Leuchtturm am Hafen", "Das Brot ist frisch gebacken"),
        ("lighthouse keeper", "lighthousekeeping", "train station"),
        ("東京の灯台", "東京の灯台守", "新鮮なパン"),
    ],
)
def test_related_texts_are_closer_than_unrelated_ones(sandbox: Client, text: str, related: str, unrelated: str) -> None:
    one, near, far = vectors(sandbox, [text, related, unrelated])
    assert cosine(one, near) > cosine(one, far) + 0.15
    assert cosine(one, one) == pytest.approx(1)


def test_the_same_text_always_gives_the_same_vector(sandbox: Client) -> None:
    assert vectors(sandbox, "tide") == vectors(sandbox, ["tide"]) != vectors(sandbox, "Tide table")


def test_base64_holds_the_same_numbers_as_32_bit_floats(sandbox: Client) -> None:
    plain = vectors(sandbox, "tide")[0]
    raw = base64.b64decode(str(vectors(sandbox, "tide", encoding_format="base64")[0]))
    assert struct.unpack("<1024f", raw) == pytest.approx(plain, abs=1e-6)


def test_dimensions_where_the_model_allows_it(sandbox: Client) -> None:
    small = vectors(sandbox, "tide", model="text-embedding-3-small", dimensions=256)[0]
    assert len(small) == 256 and cosine(small, small) == pytest.approx(1)
    assert len(vectors(sandbox, "tide", model="text-embedding-qwen3-8b")[0]) == 4096
    assert len(vectors(sandbox, "tide", dimensions=1024)[0]) == 1024
    for wrong in (
        embed(sandbox, "tide", dimensions=256),
        embed(sandbox, "tide", "text-embedding-3-small", dimensions=9999),
    ):
        assert wrong.status_code == 400 and "dimensions" in wrong.json()["details"]


@pytest.mark.parametrize(
    ("texts", "path"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        (["a", ""], ("1",)),
        ([1, 2, 3], ("0",)),
        ([["a"]], ("0",)),
        (["a"] * 2049, ()),
        (7, ()),
    ],
)
def test_inputs_that_are_refused(sandbox: Client, texts: Any, path: tuple[str, ...]) -> None:
    answer = embed(sandbox, texts)
    assert answer.status_code == 400
    level = answer.json()["details"]["input"]
    for step in path:
        level = level[step]
    assert level["_errors"]


def test_texts_that_are_too_long_are_named(sandbox: Client) -> None:
    long = "word " * 600
    answer = embed(sandbox, ["short", long], "text-embedding-multilingual-e5-large-instruct")
    assert answer.status_code == 400 and set(answer.json()["details"]["input"]) == {"_errors", "1"}
    assert embed(sandbox, long).status_code == 200
    assert embed(sandbox, long, "text-embedding-multilingual-e5-large-instruct").status_code == 400


def test_models_and_their_aliases(sandbox: Client) -> None:
    assert embed(sandbox, "x", "text-embedding-ada-002").json()["model"] == MODEL
    assert embed(sandbox, "x", "no-such-model").status_code == 404
    wrong = sandbox.post("/embeddings", {"encoding_format": "hex", "dimensions": 0})
    assert set(wrong.json()["details"]) == {"_errors", "model", "input", "encoding_format", "dimensions"}
    facts = sandbox.get(f"/models/{MODEL}").json()["model_spec"]
    assert (facts["embeddingDimensions"], facts["supportsCustomDimensions"]) == (1024, False)


def test_R_LIM_07_embeddings_are_500_a_minute_and_cost_money(sandbox: Client) -> None:
    answer = embed(sandbox, "tide tables")
    assert answer.headers["x-ratelimit-limit-requests"] == "500"
    used = answer.json()["usage"]["total_tokens"]
    assert float(sandbox.balance()) == pytest.approx(100 - used * 0.15e-6, abs=1e-12)
    sandbox.control("/balance", {"usd": "0"})
    assert embed(sandbox, "tide").status_code == 402


def test_texts_without_a_word_have_a_vector_of_their_own() -> None:
    assert sum(vector("…", 64)) == 1 and vector("…", 64) == vector("…", 64)
    assert len(vector("the", 1)) == 1
