"""What lies in the options of a chat's row, and of a project's, beside `ChatOptions`.

A module of its own: what opens chats and what keeps projects both read it, and one of them imports the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.ui.chat.state import CharacterHead

if TYPE_CHECKING:
    from app.storage.chat_rows import Chat
    from app.storage.projects.project_store import Project

STRUCTURE_KEY = "structure"  # in a chat's stored options
SEALED_KEY = (
    "sealed"  # in a chat's stored options: none of `ChatOptions`, so that no preset and no default seals a chat
)
PARAMETERS_KEY = "parameters"  # in a project's options, where new chats in it do not begin with the usual ones
CHARACTER_KEY = "character"  # in a chat's stored options: what its header shows without asking the service


def card_of(character: CharacterHead) -> dict[str, object]:
    """What is stored of a character beside its name."""
    return {
        "description": character.description,
        "rating": character.rating,
        "rating_count": character.rating_count,
        "model_id": character.model_id,
    }


def character_of(chat: Chat | Project) -> CharacterHead | None:
    if not chat.character_slug:
        return None
    stored = chat.options.get(CHARACTER_KEY)
    card: Mapping[str, object] = stored if isinstance(stored, Mapping) else {}
    rating, count = card.get("rating"), card.get("rating_count")
    return CharacterHead(
        slug=chat.character_slug,
        name=chat.character_name or chat.character_slug,
        description=str(card.get("description") or ""),
        rating=float(rating) if isinstance(rating, (int, float)) else 0.0,
        rating_count=count if isinstance(count, int) else 0,
        model_id=str(card.get("model_id") or ""),
    )
