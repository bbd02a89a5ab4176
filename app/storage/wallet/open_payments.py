"""Signed payments that may still be carried out, in a small file next to the database.

The database has them as well; this file outlives a backup that is restored over it. The signature of each lets anyone
who has it carry out the payment until its end, so the file is readable by its owner only and an entry is removed as
soon as the payment is settled.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from app.storage.atomic_files import read_or_none, set_aside, write_atomically

MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class OpenPayment:
    """One signed payment as `Intents` keeps it."""

    id: str
    account_id: str
    created_at: datetime
    request: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""


class OpenPayments:
    """Waits for the disk: not for the window's thread. Safe to use from several threads. Raises `StorageError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()

    def load(self) -> tuple[OpenPayment, ...]:
        """Return every payment in the file. A file that cannot be understood is renamed and kept."""
        with self._turn:
            return tuple(self._load().values())

    def put(self, payment: OpenPayment) -> None:
        """Add a payment, or replace the one with the same id; on disk when this returns."""
        with self._turn:
            self._save({**self._load(), payment.id: payment})

    def drop(self, payment_id: str) -> None:
        """Remove a payment. An unknown id is no error."""
        with self._turn:
            known = self._load()
            if known.pop(payment_id, None) is not None:
                self._save(known)

    def _load(self) -> dict[str, OpenPayment]:
        data = read_or_none(self._path)
        if data is None:
            return {}
        try:
            entries = json.loads(data[:MAX_BYTES])["payments"]
            found = [_read(entry) for entry in entries]
        except (ValueError, TypeError, KeyError, RecursionError):
            set_aside(self._path)
            return {}
        return {each.id: each for each in found}

    def _save(self, payments: Mapping[str, OpenPayment]) -> None:
        entries = [
            {
                "id": each.id,
                "account_id": each.account_id,
                "created_at": each.created_at.isoformat(),
                "request": dict(each.request),
                "idempotency_key": each.idempotency_key,
            }
            for each in payments.values()
        ]
        write_atomically(self._path, json.dumps({"payments": entries}, indent=1).encode())


def _read(entry: Mapping[str, Any]) -> OpenPayment:
    at = datetime.fromisoformat(entry["created_at"])
    if at.tzinfo is None or not isinstance(entry["request"], dict):
        raise ValueError("not an entry of this file")
    return OpenPayment(str(entry["id"]), str(entry["account_id"]), at, entry["request"], str(entry["idempotency_key"]))
