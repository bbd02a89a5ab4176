"""Small state machines over text that arrives in pieces of any size."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class StopCutter:
    """Lets text through up to the first stop string, which may be split over any number of pieces."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = stops
        self._held = ""
        self._hold_chars = max((len(stop) for stop in stops), default=1) - 1
        self.stopped = False

    def feed(self, text: str) -> str:
        text = self._held + text
        found = [text.find(stop) for stop in self._stops if stop in text]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = min(self._hold_chars, len(text))
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held


class ThinkStripper:
    """Takes `<think>…</think>` blocks out of a text, and the blank lines that follow a block."""

    def __init__(self, *, active: bool) -> None:
        self._active = active
        self._inside = False
        self._after_block = False
        self._held = ""

    def feed(self, text: str) -> str:
        if not self._active:
            return text
        rest, kept = self._held + text, ""
        self._held = ""
        while rest:
            tag = CLOSING if self._inside else OPENING
            at = rest.find(tag)
            if at >= 0:
                kept += "" if self._inside else self._let_through(rest[:at])
                self._inside = not self._inside
                self._after_block = not self._inside
                rest = rest[at + len(tag) :]
                continue
            held = next((n for n in range(len(tag) - 1, 0, -1) if rest.endswith(tag[:n])), 0)
            self._held = rest[len(rest) - held :]
            kept += "" if self._inside else self._let_through(rest[: len(rest) - held])
            break
        return kept

    def rest(self) -> str:
        held, self._held = self._held, ""
        return "" if self._inside else held

    def _let_through(self, text: str) -> str:
        if self._after_block:
            text = text.lstrip()
            self._after_block = not text
        return text
