"""What the wallet refuses, and why. Nothing but a `WalletError` leaves this package; none of them holds a secret.

    WalletError
    ├── AddressRefused      not an address of the chain it is meant for
    ├── KeyRefused          not a key, a phrase or a key file that can be used
    │   ├── WrongPassword       the key file is whole, its password another one
    │   └── KeyFileDamaged      the key file is not what it says it is
    ├── KeyUnavailable      the key is locked away, wiped, or belongs to another address
    ├── SigningFailed       the signature could not be made, or turned out not to be one
    ├── QuantityRefused     text that is no whole number of a chain, or one that does not fit
    ├── TransactionRefused  bytes that are no signed transaction
    ├── AbiRefused          a contract's interface, an argument or bytes that do not fit each other
    ├── SignInRefused       a sign-in message that is malformed, or that we will not sign
    └── PaymentRefused      terms of payment that we will not sign

`code` is a stable word for programs and tests, `sentence` is what a person reads.
"""

from __future__ import annotations


class WalletError(Exception):
    """`sentence` ends with a full stop and names what to change where anything can be changed."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class AddressRefused(WalletError):
    """Text that is no address, or one whose checksum says that it was mistyped."""


class KeyRefused(WalletError):
    """Text that is no private key, phrase or key file. The sentence never repeats what was entered."""


class WrongPassword(KeyRefused):
    """The key file can be read, but not with this password."""


class KeyFileDamaged(KeyRefused):
    """The key file lacks something, contradicts itself, or asks for an absurd amount of work."""


class KeyUnavailable(WalletError):
    """There is a wallet, but its key cannot be had now."""


class SigningFailed(WalletError):
    """A library could not sign, or what it gave does not belong to the address."""


class QuantityRefused(WalletError):
    """Text that is no whole number, or one that 256 bits do not hold."""


class TransactionRefused(WalletError):
    """Bytes that are no whole signed transaction of a kind that is known."""


class AbiRefused(WalletError):
    """An interface, a value or bytes that do not fit. `field` is the parameter's name or place, "" for the whole."""

    def __init__(self, code: str, sentence: str, field: str = "") -> None:
        super().__init__(code, sentence)
        self.field = field


class SignInRefused(WalletError):
    """A sign-in message that breaks its standard, or one that could serve somebody else than the account's service."""


class PaymentRefused(WalletError):
    """Terms or an amount that are not signed. `field` is the wire name of what is wrong, "" for the whole."""

    def __init__(self, code: str, sentence: str, field: str = "") -> None:
        super().__init__(code, sentence)
        self.field = field
