"""What was typed into a field that filters: the words, in any order and any case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TypeVar

_Item = TypeVar("_Item")


class SearchTerms:
    """Falsy when nothing was typed; that is held by everything."""

    def __init__(self, typed: str) -> None:
        self._words = tuple(typed.casefold().split())

    def __bool__(self) -> bool:
        return bool(self._words)

    def are_in(self, *texts: str) -> bool:
        """Tell whether the texts together hold every word."""
        text = "\n".join(texts).casefold()
        return all(word in text for word in self._words)

    def among(self, items: Sequence[_Item], texts: Sequence[str]) -> list[_Item]:
        """Return the items whose text, at the same place in `texts` and with its case folded, holds every word.

        No call is made for each of them: tens of thousands are looked through in a frame.
        """
        found, texts = list(items), list(texts)
        for word in self._words:
            is_held = [word in text for text in texts]
            found, texts = list(compress(found, is_held)), list(compress(texts, is_held))
        return found
