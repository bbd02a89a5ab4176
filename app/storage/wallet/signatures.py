"""What wallets signed, and when. The documents themselves, never a signature: that one could be used.

A module of its own, as each table of the database has.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.storage.database import Database
from app.storage.values import micros_of, moment_of, read_text, text_of

KEPT = 5_000  # sign-ins come with every call; older ones are of no use


@dataclass(frozen=True, slots=True)
class Signature:
    """`kind` is "sign-in", "payment" or "transaction"; `document` is the text that was signed, to the letter."""

    at: datetime
    account_id: str
    address: str
    kind: str
    host: str
    document: str


class Signatures:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, signature: Signature) -> None:
        """Keep one, and forget the oldest beyond `KEPT`."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO signatures (at, account_id, address, kind, host, document) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    *(micros_of(signature.at), signature.account_id, signature.address, signature.kind),
                    *(text_of(signature.host), text_of(signature.document)),
                ],
            )
            await transaction.execute(
                "DELETE FROM signatures WHERE kind = 'sign-in' AND seq <= (SELECT max(seq) FROM signatures) - ?", [KEPT]
            )

    async def recent(self, limit: int = 200) -> tuple[Signature, ...]:
        """Return the newest first."""
        rows = await self._database.fetch(
            "SELECT at, account_id, address, kind, host, document FROM signatures ORDER BY seq DESC LIMIT ?", [limit]
        )
        return tuple(Signature(moment_of(row[0]), *(read_text(each) for each in row[1:])) for row in rows)
