"""The vectors of this folder, and what a test changes in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from app.sealed.attestation import Verdict, verify
from app.sealed.chain import INTEL_ROOT, Root
from app.sealed.collateral import Collateral

VECTORS = Path(__file__).resolve().parent / "vectors"
SHAPES = ("first-shape", "second-shape")


@cache
def vector(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


@dataclass
class Sample:
    """One captured attestation; `change` works on a copy, so that the next test has the real one."""

    name: str
    body: dict[str, Any] = field(init=False)
    nonce: bytes = field(init=False)
    at: datetime = field(init=False)

    def __post_init__(self) -> None:
        content = vector(f"{self.name}.json")
        self.body = copy.deepcopy(content["attestation"])
        self.nonce = bytes.fromhex(content["nonce"])
        self.at = datetime.fromtimestamp(content["captured_at"], UTC)

    @property
    def collateral(self) -> Collateral:
        return Collateral((VECTORS / f"{self.name}.collateral.json").read_text(encoding="utf-8"))

    @property
    def raw(self) -> bytes:
        return bytes.fromhex(self.body["intel_quote"])

    def with_quote(self, change: Callable[[bytearray], None]) -> Sample:
        raw = bytearray(self.raw)
        change(raw)
        self.body["intel_quote"] = raw.hex()
        return self

    def verify(
        self,
        *,
        root: Root = INTEL_ROOT,
        collateral: Collateral | None = None,
        known: dict[str, str] | None = None,
        at: datetime | None = None,
        nonce: bytes | None = None,
    ) -> Verdict:
        return verify(
            json.dumps(self.body).encode(),
            model=self.body["model"] if isinstance(self.body.get("model"), str) else "",
            nonce=nonce or self.nonce,
            now=at or self.at,
            root=root,
            collateral=collateral,
            known=known,
        )
