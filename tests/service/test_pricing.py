"""The cost formulas, to the last digit."""

from decimal import Decimal

import pytest

from app.service.chat_types import Usage
from app.service.pricing import (
    chat_cost,
    edit_cost,
    embedding_cost,
    image_cost,
    speech_cost,
    transcription_cost,
    usd,
)

GLM = {
    "input": {"usd": Decimal("1.54"), "diem": 1},
    "output": {"usd": Decimal("4.84")},
    "cache_input": {"usd": Decimal("0.29")},
    "cache_write": {"usd": Decimal(2)},
    "extended": {
        "context_token_threshold": 200_000,
        "input": {"usd": Decimal(3)},
        "output": {"usd": Decimal(9)},
    },
}


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(), "0"),
        (Usage(prompt=1_000_000 // 10, completion=100_000), "0.638"),
        (Usage(prompt=100_000, cached=50_000, cache_created=10_000, completion=0), "0.0961"),
        (Usage(prompt=200_000), "0.308"),
        (Usage(prompt=200_001), "0.600003"),  # the whole request at the extended rate
        (Usage(prompt=300_000, cached=100_000), "0.9"),  # no extended cache rate: the input rate
        (Usage(prompt=10, cached=50, cache_created=50), "0.0000029"),  # counts that cannot be
    ],
)
def test_chat_is_priced_by_token_cache_and_threshold(usage: Usage, cost: str) -> None:
    assert chat_cost(GLM, usage) == Decimal(cost)


def test_r_ext_08_r_ext_12_r_ext_13_searching_and_scraping_cost_extra() -> None:
    assert chat_cost(GLM, Usage(), searched=True) == Decimal("0.01")
    assert chat_cost(GLM, Usage(), scraped_urls=9) == Decimal("0.05")


@pytest.mark.parametrize("pricing", [None, {}, {"input": {"usd": 1}}, {"input": {"usd": "x"}, "output": {"usd": 1}}])
def test_without_prices_there_is_no_estimate(pricing: dict[str, object] | None) -> None:
    assert chat_cost(pricing, Usage(prompt=5)) is None


def test_the_other_formulas() -> None:
    assert speech_cost({"input": {"usd": Decimal("3.5")}}, 4096) == Decimal("0.014336")
    assert transcription_cost({"per_audio_second": {"usd": Decimal("0.0001")}}, Decimal(3600)) == Decimal("0.36")
    assert transcription_cost({"per_audio_second": Decimal("0.0001")}, Decimal(1)) == Decimal("0.0001")
    assert embedding_cost({"input": {"usd": Decimal("0.15")}}, 1000) == Decimal("0.00015")
    assert [speech_cost({}, 1), transcription_cost(None, Decimal(1)), embedding_cost({}, 1)] == [None] * 3


def test_images_by_resolution_and_quality() -> None:
    pricing = {
        "generation": {"usd": Decimal("0.01")},
        "resolutions": {"2K": {"usd": Decimal("0.04")}},
        "quality": {"2K": {"high": {"usd": Decimal("0.09")}}},
    }
    assert image_cost(pricing, variants=3) == Decimal("0.03")
    assert image_cost(pricing, resolution="2K") == Decimal("0.04")
    assert image_cost(pricing, resolution="2K", quality="high") == Decimal("0.09")
    assert image_cost(pricing, resolution="8K", quality="odd") == Decimal("0.01")
    assert image_cost({}) is None


def test_edits_count_their_inputs() -> None:
    pricing = {
        "inpaint": {"usd": Decimal("0.04")},
        "resolutions": {"2K": {"usd": Decimal("0.08")}},
        "inputImages": {"included": 1, "additional": {"usd": Decimal("0.01")}},
    }
    assert edit_cost(pricing) == Decimal("0.04")
    assert edit_cost(pricing, inputs=3, resolution="2K") == Decimal("0.10")
    assert edit_cost({"inpaint": {"usd": 1}}, inputs=9) == Decimal(1)
    assert edit_cost(None) is None


def test_a_price_may_be_a_bare_number() -> None:
    assert usd({"a": {"b": 2}}, "a", "b") == Decimal(2)
    assert usd({"a": 1}, "a", "b") is None
