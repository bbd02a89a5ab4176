"""What a call will probably cost, from the prices in the model list. Exact arithmetic, still an estimate.

What the service states (`cost` in an answer, a cost header) always wins over these. One unit of daily credit (DIEM)
counts as one USD. Source: service specification, prices and cost formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from app.service.amounts import charge, count
from app.service.chat_types import Usage

MILLION = Decimal(1_000_000)
WEB_SEARCH_USD = Decimal("0.01")  # per request that searched
SCRAPED_URL_USD = Decimal("0.01")  # per address that could be read
SCRAPED_URLS = 5  # at most in one request
UPSCALE_USD: Mapping[int, Decimal] = {2: Decimal("0.02"), 4: Decimal("0.08")}

Pricing = Mapping[str, object]


def usd(pricing: Pricing | None, *path: str) -> Decimal | None:
    """The `usd` leaf under `path`, e.g. `usd(pricing, "resolutions", "2K")`; None when it is not there."""
    leaf: object = pricing
    for step in path:
        leaf = leaf.get(step) if isinstance(leaf, Mapping) else None
    return charge(leaf.get("usd") if isinstance(leaf, Mapping) else leaf)


def chat_cost(
    pricing: Pricing | None, usage: Usage, *, searched: bool = False, scraped_urls: int = 0
) -> Decimal | None:
    """Return the cost of one answer in USD, or None when the prices are not known.

    Cached tokens are charged at the cache rates, where there are any. Above the model's threshold the extended rates
    hold for the whole request, not only for what is above.
    """
    if pricing is None:
        return None
    rates: Pricing = pricing
    extended = pricing.get("extended")
    if isinstance(extended, Mapping):
        threshold = count(extended.get("context_token_threshold"))
        if threshold is not None and usage.prompt > threshold:
            rates = extended
    input_usd, output_usd = usd(rates, "input"), usd(rates, "output")
    if input_usd is None or output_usd is None:
        return None
    cache_read_usd = usd(rates, "cache_input")
    cache_write_usd = usd(rates, "cache_write")
    cached = min(usage.cached, usage.prompt)
    created = min(usage.cache_created, usage.prompt - cached)
    tokens = (
        (usage.prompt - cached - created) * input_usd
        + cached * (cache_read_usd if cache_read_usd is not None else input_usd)
        + created * (cache_write_usd if cache_write_usd is not None else input_usd)
        + usage.completion * output_usd
    ) / MILLION
    return tokens + (WEB_SEARCH_USD if searched else 0) + SCRAPED_URL_USD * min(max(scraped_urls, 0), SCRAPED_URLS)


def speech_cost(pricing: Pricing | None, characters: int) -> Decimal | None:
    """USD for synthesising `characters`; the `input` price of a speech model is per million characters."""
    price = usd(pricing, "input")
    return None if price is None else price * characters / MILLION


def clone_cost(pricing: Pricing | None) -> Decimal | None:
    """USD for cloning a voice: a flat fee that services need not publish."""
    return usd(pricing, "voice_clone")


def transcription_cost(pricing: Pricing | None, seconds: Decimal) -> Decimal | None:
    """USD for `seconds` of sound."""
    price = usd(pricing, "per_audio_second")
    return None if price is None else price * seconds


def embedding_cost(pricing: Pricing | None, tokens: int) -> Decimal | None:
    price = usd(pricing, "input")
    return None if price is None else price * tokens / MILLION


def image_cost(
    pricing: Pricing | None, *, variants: int = 1, resolution: str | None = None, quality: str | None = None
) -> Decimal | None:
    """USD for `variants` images: by quality within a resolution, else by resolution, else one price for all."""
    price: Decimal | None = None
    if resolution and quality:
        price = usd(pricing, "quality", resolution, quality)
    if price is None and resolution:
        price = usd(pricing, "resolutions", resolution)
    if price is None:
        price = usd(pricing, "generation")
    return None if price is None else price * variants


def edit_cost(
    pricing: Pricing | None, *, inputs: int = 1, resolution: str | None = None, quality: str | None = None
) -> Decimal | None:
    """USD for one edit; images beyond the included ones cost extra."""
    price = usd(pricing, "quality", resolution, quality) if resolution and quality else None
    if price is None and resolution:
        price = usd(pricing, "resolutions", resolution)
    if price is None:
        price = usd(pricing, "inpaint")
    if price is None:
        return None
    images = pricing.get("inputImages") if pricing else None
    if isinstance(images, Mapping):
        included = count(images.get("included")) or 0
        additional = usd(images, "additional") or Decimal(0)
        price += Decimal(max(0, inputs - included)) * additional
    return price
