"""What is shown about the place for secrets. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "ok", "warn", "bad"]
Ask = Literal["", "choose", "passphrase", "unlock"]


@dataclass(frozen=True, slots=True)
class SecretsState:
    """How the place stands, and what has to be asked.

    `ask` is "choose" where no keyring can be used and the person decides, "passphrase" to open an existing
    passphrase file, "unlock" where the system's keyring is locked, "" when all is well or not looked at yet.
    """

    kind: str = ""  # "keyring", "session", "passphrase"; "" while it is not known
    place: str = ""  # "System keyring", as the table of secrets says it
    backend: str = ""  # "Secret Service"
    title: str = "Looking for the system keyring"
    sentence: str = ""
    short: str = "looking"  # for the first page: "available, unlocked"
    tone: Tone = ""
    ask: Ask = ""
    can_lock: bool = False
    busy: bool = False
    problem: str = ""  # what the last try said, for under the field
    asking: bool = False  # the dialog that unlocks is open

    @property
    def is_ready(self) -> bool:
        return self.kind != "" and self.ask == ""

    @property
    def is_locked(self) -> bool:
        """True when what is kept can be read after unlocking."""
        return self.ask in ("passphrase", "unlock")
