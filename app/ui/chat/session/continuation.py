"""Joining the rest of an answer to the part that came before the cut.

Models asked to go on often begin by saying their last words again. What repeats is left out, so that the joined text
reads as if nothing had happened.
"""

from __future__ import annotations

from app.translation import tr

CONTINUE_INSTRUCTION = tr(
    "Your last answer was cut off. Continue it exactly where it stopped. "
    "Do not repeat or introduce anything; begin with the next word."
)
REMEMBERED_CHARS = 400  # how far back a repetition may begin
SHORTEST_REPEAT_CHARS = 12  # shorter matches happen by chance


class RepeatFilter:
    """Holds back the first words of a continuation while they may still be a repetition of the kept text.

        kept  "… picks a random point inside the"
        new   "point inside the window, not its end."   →   " window, not its end."

    `feed` returns what may be shown now; `finish` returns what was held back when the stream ended.
    """

    def __init__(self, kept: str) -> None:
        self._tail = kept[-REMEMBERED_CHARS:]
        self._held = ""
        self._settled = len(self._tail) < SHORTEST_REPEAT_CHARS

    def feed(self, text: str) -> str:
        if self._settled:
            return text
        self._held += text
        repeated = self._repeated_chars()
        if repeated is None:
            return ""
        self._settled = True
        shown, self._held = self._held[repeated:], ""
        return shown

    def finish(self) -> str:
        """What was still undecided; shown as it came, since too little of it repeats."""
        held, self._held, self._settled = self._held, "", True
        return held

    def _repeated_chars(self) -> int | None:
        """How many leading characters repeat the kept text's end; None while that cannot be told yet."""
        tail, held = self._tail, self._held
        for start in range(len(tail) - SHORTEST_REPEAT_CHARS + 1):
            end_of_tail = tail[start:]
            if held.startswith(end_of_tail):
                return len(end_of_tail)
            if end_of_tail.startswith(held):
                return None
        return 0
