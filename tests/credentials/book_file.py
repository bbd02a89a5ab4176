"""A list of accounts in a real file."""

from __future__ import annotations

from pathlib import Path


class BookFile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def save(self, data: bytes) -> None:
        self.path.write_bytes(data)
