"""Texts to vectors: `POST /embeddings`. Vectors of different models or sizes cannot be compared.

Source: service specification, embeddings.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.service.amounts import count
from app.service.calls import Call, JsonContent, limit
from app.service.client import OnWait, ServiceClient
from app.service.errors import BadResponse
from app.service.exchange import Exchange
from app.service.http.bodies import MIB
from app.service.http.error_bodies import plain_text
from app.service.http.time_limits import EMBEDDING_S
from app.service.retry import CallKind
from app.translation import tr

MAX_TEXTS = 2048
MAX_VECTORS_BYTES = 128 * MIB
BYTES_PER_TOKEN = 3  # few: an estimate that is too high asks once too often, one too low never

Price = Callable[[int], Decimal | None]  # tokens → USD


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector for each text, in the texts' order; single-precision numbers, not necessarily of length one."""

    vectors: tuple[array[float], ...]
    model: str
    tokens: int
    exchange: Exchange

    @property
    def dimensions(self) -> int:
        return len(self.vectors[0]) if self.vectors else 0


class EmbeddingsResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def embed(
        self,
        texts: tuple[str, ...],
        model: str,
        *,
        dimensions: int | None = None,
        price: Price | None = None,
        on_wait: OnWait | None = None,
    ) -> Embeddings:
        """Return the vectors of 1 to 2048 texts. Raises `LimitExceeded` before sending, and other `ServiceError`s."""
        limit(bool(model.strip()), "model", "1", tr("Choose a model."))
        limit(
            1 <= len(texts) <= MAX_TEXTS,
            "input",
            tr("1 to {max_texts}", max_texts=MAX_TEXTS),
            tr("1 to {max_texts} texts per request.", max_texts=MAX_TEXTS),
        )
        limit(all(texts), "input", "1", tr("An empty text has no vector."))
        limit(dimensions is None or dimensions >= 1, "dimensions", "1", tr("A vector has at least one dimension."))
        # Base64 is a third of the size of numbers in writing, and needs no parsing of each.
        body: dict[str, object] = {"model": model, "input": list(texts), "encoding_format": "base64"}
        if dimensions is not None:
            body["dimensions"] = dimensions
        call = Call(
            "POST",
            "/embeddings",
            CallKind.PAID,
            "embeddings",
            content=JsonContent(body),
            max_bytes=MAX_VECTORS_BYTES,
            answer_s=EMBEDDING_S,
            model=model,
            pace="embedding",
            expected_usd=price(sum(most_tokens(len(text.encode())) for text in texts)) if price is not None else None,
        )
        record = self._client.record(call)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            content = answer.json(exact=False)
            vectors = _vectors(content, len(texts))
            told = _tokens(content)
            tokens = count(told)
            served = content.get("model") if isinstance(content, Mapping) else None
            estimate = price(tokens) if price is not None and tokens is not None else None
            record.report(
                model=served if isinstance(served, str) else "",
                units={"prompt_tokens": tokens} if tokens is not None else None,
                cost_usd=estimate,
                cost_source="estimated",
                claimed=tr("{count} tokens", count=plain_text(str(told), 40))
                if tokens is None and told is not None
                else "",
            )
        return Embeddings(vectors, record.exchange.model, tokens or 0, record.exchange)


def most_tokens(size_bytes: int) -> int:
    """Return how many tokens a text of so many bytes in UTF-8 has at most: a third of its letters, or each sign."""
    return size_bytes // BYTES_PER_TOKEN + 1


def _vectors(content: object, count: int) -> tuple[array[float], ...]:
    data = content.get("data") if isinstance(content, Mapping) else None
    found: dict[int, array[float]] = {}
    for place, item in enumerate(data if isinstance(data, list) else ()):
        if isinstance(item, Mapping):
            index = item.get("index")
            found[index if isinstance(index, int) else place] = _vector(item.get("embedding"))
    lengths = {len(vector) for vector in found.values()}
    if set(found) != set(range(count)) or len(lengths) != 1 or lengths == {0}:
        raise BadResponse(tr("The service did not send one vector for each text."))
    return tuple(found[index] for index in range(count))


def _vector(embedding: object) -> array[float]:
    """Little-endian single precision in base64, or a list of numbers."""
    try:
        if isinstance(embedding, str):
            vector = array("f", base64.b64decode(embedding, validate=True))
            if sys.byteorder == "big":
                vector.byteswap()
        elif isinstance(embedding, list):
            vector = array("f", embedding)
        else:
            vector = array("f", (math.nan,))
        if math.isfinite(sum(vector)):
            return vector
    except (binascii.Error, TypeError, ValueError, OverflowError):
        pass
    raise BadResponse(tr("The service’s response is not a vector."))


def _tokens(content: object) -> object:
    usage = content.get("usage") if isinstance(content, Mapping) else None
    return usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
