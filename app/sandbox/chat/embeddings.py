"""`POST /embeddings`: texts to vectors, by counting words and groups of letters.

No model: two texts are close when they share words, stems of words, or pieces of words. That is real similarity, only
a plain one, and it is the same on every computer.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import math
import struct
from collections import Counter

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.chat import tokens, word_stems
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import Json
from app.sandbox.http.validation import REQUIRED, Checker, kind_of
from app.sandbox.media.media_models import MediaModel

MAX_TEXTS = 2048
ALIASES = {"text-embedding-ada-002": "text-embedding-bge-m3"}
LETTER_GROUPS = (3, 4, 5)
LETTER_SHARE = 0.9  # of a word's weight, for all groups of letters of that word together


async def embed(call: Call) -> Response:
    body = call.json_object()
    check = Checker(flat_list=call.names.issues_in_errors)
    name = check.text(("model",), body.get("model"))
    if body.get("model") is None:
        check.complain(("model",), REQUIRED)
    texts = _texts(check, body.get("input"))
    encoding = check.choice(("encoding_format",), body.get("encoding_format"), ("float", "base64")) or "float"
    check.integer(("dimensions",), body.get("dimensions"), 1)
    check.finish()
    model = find_model(call, ALIASES.get(name or "", name or ""), "embedding")
    dimensions = _dimensions(check, body.get("dimensions"), model)
    counts = [tokens.count(text) for text in texts]
    longest = int(model.facts["maxInputTokens"])
    for index, count in enumerate(counts):
        if count > longest:
            path = ("input", index) if isinstance(body["input"], list) else ("input",)
            check.complain(path, f"This text has about {count} tokens; {model.id} reads at most {longest}")
    check.finish()
    refuse_unpaid(call)
    vectors = await asyncio.to_thread(lambda: [vector(text, dimensions) for text in texts])
    total = sum(counts)
    charge(call, f"{model.id}-tokens", total, model.price_usd)
    data: list[Json] = [
        {"object": "embedding", "index": index, "embedding": packed(one) if encoding == "base64" else one}
        for index, one in enumerate(vectors)
    ]
    usage = {"prompt_tokens": total, "total_tokens": total}
    return json_answer({"object": "list", "model": model.id, "data": data, "usage": usage})


def _texts(check: Checker, value: object) -> list[str]:
    """Return the texts of `input`; every complaint about it is noted."""
    if value is None:
        check.complain(("input",), REQUIRED)
        return []
    many = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not 1 <= len(value) <= MAX_TEXTS:
        check.complain(("input",), f"Expected 1 to {MAX_TEXTS} texts, received {len(value)}")
        return []
    for index, one in enumerate(many):
        path = ("input", index) if isinstance(value, list) else ("input",)
        if not isinstance(one, str):
            check.complain(path, f"Expected string, received {kind_of(one)}; arrays of tokens are not accepted")
        elif not one:
            check.complain(path, "String must contain at least 1 character(s)")
    return [str(one) for one in many]


def _dimensions(check: Checker, wanted: object, model: MediaModel) -> int:
    native = int(model.facts["embeddingDimensions"])
    if not isinstance(wanted, int | float) or wanted == native:
        return native
    if not model.facts["supportsCustomDimensions"]:
        check.complain(("dimensions",), f"{model.id} does not support custom dimensions")
    elif wanted > native:
        check.complain(("dimensions",), f"Number must be less than or equal to {native}")
    return int(wanted)


def vector(text: str, dimensions: int) -> list[float]:
    """Return a vector of length 1. Each feature of the text adds to one place, up or down, chosen by its hash."""
    sums = [0.0] * dimensions
    for feature, weight in features(text).items():
        digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
        place = int.from_bytes(digest[:7], "big") % dimensions
        sums[place] += weight if digest[7] & 1 else -weight
    length = math.sqrt(math.fsum(value * value for value in sums))
    if not length:  # nothing in the text, or features that cancelled each other out
        sums[int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big") % dimensions] = length = 1.0
    return [value / length for value in sums]


def features(text: str) -> dict[str, float]:
    """Return what the text is made of: meaning-bearing words, and groups of letters of all its words."""
    found: dict[str, float] = {}
    for word, count in Counter(word_stems.terms(text)).items():
        found[f"word {word}"] = 1 + math.log(count)
    spelled = Counter("".join(char if char.isalnum() else " " for char in word_stems.fold(text)).split())
    for word, count in spelled.items():
        if word in word_stems.FILLER:
            continue
        padded = f"<{word}>"
        groups = [padded[at : at + size] for size in LETTER_GROUPS for at in range(len(padded) - size + 1)] or [padded]
        weight = LETTER_SHARE * (1 + math.log(count)) / math.sqrt(len(groups))
        for group in groups:
            found[f"letters {group}"] = found.get(f"letters {group}", 0.0) + weight
    return found


def packed(values: list[float]) -> str:
    """Return base64 of little-endian 32-bit floats."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
