"""What was typed into a field that filters: the words, in any order and any case."""

from __future__ import annotations


class SearchTerms:
    """Falsy when nothing was typed; that is held by everything."""

    def __init__(self, typed: str) -> None:
        self._words = tuple(typed.casefold().split())

    def __bool__(self) -> bool:
        return bool(self._words)

    def are_in(self, *texts: str) -> bool:
        """Tell whether the texts together hold every word."""
        return self.are_in_folded("\n".join(texts).casefold())

    def are_in_folded(self, text: str) -> bool:
        """The same for one text whose case is folded already."""
        return all(map(text.__contains__, self._words))
