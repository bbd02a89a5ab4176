"""Why a sign-in is refused, by the codes of the wire reference (E6)."""

from __future__ import annotations

CODES = (
    "INVALID_PAYLOAD",  # the header is not base64 of a JSON object, or a field is missing or of a wrong type
    "PARSE_ERROR",  # the text does not have the layout of EIP-4361
    "INVALID_MESSAGE",  # a line of the text holds something else than it may
    "INVALID_WALLET",  # an address is not one
    "ADDRESS_MISMATCH",  # the header names another wallet than the text
    "INVALID_CHAIN_ID",  # a chain is not named as chains are
    "CHAIN_MISMATCH",  # the header names another chain than the text
    "UNSUPPORTED_CHAIN",  # a chain that is not served
    "MISSING_NONCE",
    "DOMAIN_MISMATCH",  # signed for somebody else
    "TIMESTAMP_MISMATCH",  # the header's own time is far from the text's
    "EXPIRED",
    "FUTURE_TIMESTAMP",
    "NOT_BEFORE",
    "INVALID_SIGNATURE",
    "NONCE_REUSED",
)


class SignInRefused(Exception):
    """`code` is one of `CODES`; `text` is for people and repeats nothing secret."""

    def __init__(self, code: str, text: str) -> None:
        assert code in CODES, code
        self.code = f"X402_SIGN_IN_{code}"
        self.text = text
        super().__init__(f"{self.code}: {text}")
