"""What was typed into a field that filters: the words, in any order and any case."""

from __future__ import annotations


class TypedWords:
    """Falsy when nothing was typed; that is held by everything."""

    def __init__(self, typed: str) -> None:
        self._words = tuple(typed.casefold().split())

    def __bool__(self) -> bool:
        return bool(self._words)

    def are_in(self, *texts: str) -> bool:
        """Tell whether the texts together hold every word."""
        held = "\n".join(texts).casefold()
        return all(word in held for word in self._words)
