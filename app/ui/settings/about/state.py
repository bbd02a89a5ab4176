"""What the section "About Rialto" shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Part:
    """One part that the program consists of, with its license in a few words and in full."""

    title: str
    words: str
    text: str


@dataclass(frozen=True, slots=True)
class AboutState:
    """`host` is whom a look for a new version asks, "" for a copy that was built without a feed."""

    host: str = ""
    looks_at_start: bool = False
    looking: bool = False
    sentence: str = ""  # what the last look found, or why there can be none
    tone: Literal["", "ok", "bad"] = ""
    newer: str = ""  # a version that is newer than this one
    page: str = ""  # where it can be read about
    parts: tuple[Part, ...] = ()
    known: bool = False  # whether feed and parts were read yet
