"""What the accounts section shows, as frozen values. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.service.models import Model

Outcome = Literal["", "running", "ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class TestLine:
    """What a test of one account said, or that it runs. `sentence` is short enough for the row."""

    outcome: Outcome = ""
    sentence: str = ""
    detail: str = ""  # a second line, such as "84 ms"


@dataclass(frozen=True, slots=True)
class PublicModels:
    """What a service lists to everybody."""

    host: str
    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class AccountRow:
    """One account as a row. `address` is what it calls; "" for the Sandbox."""

    id: str
    name: str
    kind: Literal["sandbox", "api_key", "wallet"]
    address: str
    in_use: bool
    test: TestLine = TestLine()
    limit_class: str = "paid"
    has_private_key: bool = False  # removing it takes a wallet's key from the list
    version: str = ""  # of the service, in words

    @property
    def icon(self) -> str:
        return {"sandbox": "cube", "api_key": "key", "wallet": "wallet"}[self.kind]

    @property
    def can_be_removed(self) -> bool:
        return self.kind != "sandbox"


@dataclass(frozen=True, slots=True)
class SecretRow:
    """One secret: what, whose, where it is kept, when it was used. Never the secret itself."""

    account_id: str
    what: str  # "API key", "Private key"
    hint: str  # "ends in 9f2c", or "" when it is too short to tell anything
    belongs_to: str
    kept_in: str  # "System keyring"
    is_lasting: bool  # False: gone when Rialto closes
    last_used: str
    is_wallet: bool = False  # a private key: it is exported, not replaced


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """A removed wallet whose key is still kept. `balance_usd` is what it had when it was removed, None if unknown."""

    id: str
    name: str
    address: str
    balance_usd: Decimal | None
    days_left: int | None  # until its key is deleted; None for a key in memory only


@dataclass(frozen=True, slots=True)
class FormState:
    """The form that adds an account. `problems` maps a field ("base_url", "key", "name") to its sentence."""

    busy: bool = False
    problems: Mapping[str, str] = field(default_factory=dict)
    sentence: str = ""  # what belongs to no field
    can_save_unchecked: bool = False  # nothing answered: the account may be kept all the same
    waits: bool = False  # the key was checked; the account is added once the person chose where to keep it
    done: int = 0  # goes up by one with each account that was added: the form clears itself then


@dataclass(frozen=True, slots=True)
class AccountsState:
    accounts: tuple[AccountRow, ...] = ()
    removed_wallets: tuple[RemovedRow, ...] = ()
    secrets: tuple[SecretRow, ...] = ()
    form: FormState = FormState()
    problem: str = ""  # a sentence about the section as a whole
    removed: str = ""  # the name of the account that Undo would restore, "" for none
    removed_is_wallet: bool = False
