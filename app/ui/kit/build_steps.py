"""Building something large a piece at a time, so that a keystroke need not wait for all of it.

A maker is written as a generator that yields wherever it may be interrupted and returns what it made. Whoever needs
the thing now runs it `at_once`; whoever has time takes a step, lets the event loop turn, and takes the next.

Makers work from the outside in: Qt styles anew all that a widget holds whenever the widget gets another parent, and
measures all of it when a scroll area, a splitter or a stack takes it. What is put into its place while it is empty
costs little there, and each of its parts is styled once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Made = TypeVar("Made")
BuildSteps: TypeAlias = Generator[None, None, Made]


def at_once(pieces: BuildSteps[Made]) -> Made:
    """Take every step that is left and return what was made. Raises what the maker raises."""
    while True:
        try:
            next(pieces)
        except StopIteration as ended:
            made: Made = ended.value
            return made
