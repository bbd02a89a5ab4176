"""What one check found, and the errors of damaged evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    PASSED = "passed"
    NOTED = "noted"  # true, and something that the person should read
    NOT_CHECKED = "not checked"  # could not be checked; `reason` says why
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of what was checked. `id` is a machine word; `title`, `value` and `reason` are shown.

    `reason` is a whole sentence: why it failed, what it means, or why it could not be made. `value` may be a server's
    words: plain text, never to be trusted.
    """

    id: str
    title: str
    value: str
    outcome: Outcome
    reason: str = ""


class CheckFailed(Exception):
    """A check that refuses the evidence. `check` is its line, with the sentence to show."""

    def __init__(self, check: Check) -> None:
        super().__init__(check.reason)
        self.check = check


def require(holds: bool, identifier: str, title: str, value: str, reason: str) -> Check:
    """Return the line of a check that holds. Raises `CheckFailed` with `reason` for one that does not."""
    if not holds:
        raise CheckFailed(Check(identifier, title, value, Outcome.FAILED, reason))
    return Check(identifier, title, value, Outcome.PASSED)


class Damaged(Exception):
    """Evidence that is not whole. `offset` counts bytes (characters in a text) from the start of `part`."""

    def __init__(self, part: str, offset: int, message: str) -> None:
        super().__init__(message)
        self.part = part
        self.offset = offset


def one_line(value: object) -> str:
    """A stranger's value as one short line."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return "".join(each for each in text[:300] if each.isprintable())
