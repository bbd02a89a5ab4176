"""The Sandbox's characters: entries of a data file, with the remaining fields of a record derived by rule."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from app.sandbox.http.errors import Json
from app.sandbox.world import iso

NAMESPACE = uuid.UUID("1f1d5b0e-5f0c-4d57-9a51-1d0c6f0b9a77")
FIRST_DAY = datetime(2025, 3, 1, 8, 0, tzinfo=UTC)
# Most suggest the reader; some a model that this Sandbox does not list, which happens on a live service too.
SUGGESTED = ("rialto-handbook",) * 6 + ("rialto-think-tags", "rialto-reasoning", "rialto-search", "quayside-large-2")
PRO_MODELS = frozenset({"rialto-reasoning", "rialto-search", "quayside-large-2"})
LATER_LINES = {
    "Travel": "Onward, then.",
    "Food and drink": "Next course.",
    "Craft": "Back at the bench.",
    "Study": "Good, next question.",
    "Work": "Next item.",
    "Wellbeing": "Take your time; here it is.",
    "Games": "Your move is noted.",
    "Stories": "And so the tale continues.",
    "Science": "Noted. Here is what is known.",
    "Home": "Right, next job.",
    "Music": "From the next bar.",
    "Nature": "Further along the path.",
}


@dataclass(frozen=True)
class Character:
    slug: str
    name: str
    description: str | None
    greeting: str
    tags: tuple[str, ...]
    category: str
    adult: bool
    origin: str

    @cached_property
    def _dice(self) -> bytes:
        """32 bytes that only depend on the slug: everything by rule is drawn from them."""
        return hashlib.sha256(self.slug.encode()).digest()

    @cached_property
    def id(self) -> str:
        return str(uuid.uuid5(NAMESPACE, self.slug))

    @property
    def model_id(self) -> str:
        return SUGGESTED[self._dice[0] % len(SUGGESTED)]

    @property
    def featured(self) -> bool:
        return self._dice[1] < 40 and not self.adult

    @property
    def web_enabled(self) -> bool:
        return self._dice[2] < 190

    @property
    def has_photo_url(self) -> bool:
        return self._dice[3] >= 20

    @property
    def has_image(self) -> bool:
        """Some photo addresses lead nowhere, as on a live service."""
        return self.has_photo_url and self._dice[4] >= 12

    @cached_property
    def ratings(self) -> tuple[int, ...]:
        """One to five stars each; many have none yet, a few have many."""
        count = 0 if self._dice[5] < 30 else self._dice[5] % 24 + (self._dice[6] // 4 if self._dice[7] > 200 else 0)
        lean = self._dice[8] % 3
        return tuple(max(1, 5 - (byte % (2 + lean))) for byte in hashlib.shake_128(self.slug.encode()).digest(count))

    @property
    def imports(self) -> int:
        return len(self.ratings) * 5 + self._dice[9]

    @property
    def created_at(self) -> datetime:
        return FIRST_DAY + timedelta(minutes=int.from_bytes(self._dice[10:13], "big") % 700_000)

    @property
    def updated_at(self) -> datetime:
        return self.created_at + timedelta(minutes=int.from_bytes(self._dice[13:15], "big") * 2)

    @property
    def persona(self) -> str:
        about = self.description or f"You are good company on the subject of {self.category.lower()}."
        return f"You are {self.name}. {about} You open with a line like “{self.greeting}” and stay in that voice."

    def opening(self, *, first_turn: bool) -> str:
        """The line before an answer: the greeting at first, later a short one."""
        return self.greeting if first_turn else LATER_LINES[self.category]

    def as_json(self) -> Json:
        count = len(self.ratings)
        total = sum(self.ratings)
        author = hashlib.sha256(f"author of {self.category}{self._dice[15] % 5}".encode()).hexdigest()
        return {
            "id": self.id,
            "slug": self.slug,
            "name": self.name,
            "description": self.description,
            "author": _short(author),
            "adult": self.adult,
            "featured": self.featured,
            "webEnabled": self.web_enabled,
            "modelId": self.model_id,
            "tags": list(self.tags),
            "photoUrl": f"{self.origin}/pictures/{self.slug}.png" if self.has_photo_url else None,
            "shareUrl": f"{self.origin}/c/{self.slug}" if self._dice[16] >= 30 else None,
            "createdAt": iso(self.created_at),
            "updatedAt": iso(self.updated_at),
            "stats": {
                "averageRating": round(total / count, 2) if count else 0,
                "imports": self.imports,
                "ratingCount": count,
                "ratingSum": total,
                "userRating": None,
            },
        }


class CharacterCatalog:
    def __init__(self, path: Path, origin: str) -> None:
        records = json.loads(path.read_text(encoding="utf-8"))
        self.all = tuple(
            Character(
                slug=record["slug"],
                name=record["name"],
                description=record.get("description"),
                greeting=record["greeting"],
                tags=tuple(record.get("tags", ())),
                category=record["category"],
                adult=record.get("adult", False),
                origin=origin,
            )
            for record in records
        )
        self._by_name = {character.slug: character for character in self.all}
        self._by_name |= {character.id: character for character in self.all}

    def find(self, slug_or_id: str) -> Character | None:
        return self._by_name.get(slug_or_id)


def _short(digest: str) -> str:
    """Five characters in the manner of the service's anonymised author ids."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    number = int(digest[:12], 16)
    return "".join(alphabet[number // len(alphabet) ** place % len(alphabet)] for place in range(5))
