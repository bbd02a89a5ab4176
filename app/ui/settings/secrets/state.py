"""What is shown about the place for secrets. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "ok", "warn", "bad"]
Ask = Literal["", "choose", "passphrase", "unlock"]


@dataclass(frozen=True, slots=True)
class SecretsState:
    """How the place stands, and what has to be asked.

    `ask` is "choose" where no keychain can be used and the person decides, "passphrase" to open an existing
    passphrase file, "unlock" where the system's keychain is locked, "" when all is well or not looked at yet.
    """

    kind: str = ""  # "keyring", "session", "passphrase"; "" while it is not known
    place: str = ""  # "System keychain", as the table of secrets says it
    backend: str = ""  # "Secret Service"
    title: str = "Looking for the keychain"
    sentence: str = ""
    short: str = "looking"  # for the first page: "available, unlocked"
    tone: Tone = ""
    ask: Ask = ""
    can_lock: bool = False
    busy: bool = False
    problem: str = ""  # what the last try said, for under the field

    @property
    def is_ready(self) -> bool:
        return self.kind != "" and self.ask == ""
