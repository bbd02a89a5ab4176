"""What the first frame shows of a model before the list of models has come: what it was when the program ended.

Kept in the settings, because they are read before the window is shown and the database is not. Nothing is ever sent
by it: a chat can only be sent once the real list is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from app.service.models import Model


class Abilities(NamedTuple):
    """What pills and switches are drawn by; the names are those of the model's own record."""

    supports_web_search: bool = False
    supports_reasoning: bool = False
    supports_reasoning_effort: bool = False
    supports_x_search: bool = False


class CachedModel(NamedTuple):
    """The model that new chats ask, as far as it is drawn."""

    account_id: str
    id: str
    name: str
    price_line: str
    context_tokens: int | None
    capabilities: Abilities

    @property
    def keeps_turns(self) -> bool:
        """Not known before the list is there: nothing is drawn as unused for it."""
        return True

    @classmethod
    def of(cls, account_id: str, model: Model, price_line: str) -> CachedModel:
        able = Abilities(*(bool(getattr(model.capabilities, name)) for name in Abilities._fields))
        return cls(account_id, model.id, model.name, price_line, model.context_tokens, able)

    @classmethod
    def read(cls, kept: Mapping[str, str]) -> CachedModel | None:
        """Return what the settings hold, None when that is nothing."""
        if not all(kept.get(name) for name in ("account", "id", "name")):
            return None
        can = kept.get("can", "").split()
        able = Abilities(*(name in can for name in Abilities._fields))
        context = kept.get("context", "")
        tokens = int(context) if context.isascii() and context.isdigit() and len(context) < 12 else None
        return cls(kept["account"], kept["id"], kept["name"], kept.get("price_line", ""), tokens, able)

    def write(self) -> dict[str, str]:
        can = " ".join(name for name in Abilities._fields if getattr(self.capabilities, name))
        return {
            "account": self.account_id,
            "id": self.id,
            "name": self.name,
            "price_line": self.price_line,
            "context": str(self.context_tokens or ""),
            "can": can,
        }
