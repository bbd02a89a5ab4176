"""What a top-up takes, and the 402 bodies that say so.

The token: in the `service` dialect an address that no real chain knows, so that a payment signed for the Sandbox is
worthless everywhere else. In the `venice` dialect the real contract's address, because clients written for that
service accept no other; the receiver is nobody's address in both, so even then nobody gains from such a payment.
The Solana rail has a token of no real chain either, and names a block so that payers need no node.
Source: wire reference, "Top-up" and "Wallet 402 on other endpoints" (R-WAL-01 to 05, -09, -11, -12).
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from app.sandbox.accounts.sign_in import EVM_CHAIN_ID, MAX_AGE, SOLANA_REFERENCE
from app.sandbox.accounts.signatures import TokenDomain
from app.sandbox.chains.non_evm_nodes import SOLANA_SLUG, latest_block
from app.sandbox.http.call import Call, dump
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.world import iso

SCHEME = "exact"
EVM_NETWORK = f"eip155:{EVM_CHAIN_ID}"
EVM_NAMES = frozenset({EVM_NETWORK, "base"})  # protocol version 1 has names of its own
SOLANA_NETWORK = f"solana:{SOLANA_REFERENCE}"
SOLANA_NAMES = frozenset({SOLANA_NETWORK, "solana"})
DECIMALS = 6
MINIMUM_USD, SUGGESTED_USD, MAXIMUM_USD = Decimal(5), Decimal(10), Decimal(10_000)
PAYMENT_WINDOW_S = 300
TOP_UP_SKU = "top-up"  # of the ledger's line
TOKEN_NAME, TOKEN_VERSION = "USD Coin", "2"  # of the EIP-712 domain
# Addresses made of the last 20 (or all 32) bytes of a Keccak hash of a text: nobody has a key that belongs to them.
PLAY_ASSET = "0xA434427E4FE827775149d3A2212c83ec6Fb83033"
REAL_ASSET = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
EVM_RECEIVER = "0xd4688B9Edc35cb2b6792CffC15752fc1C7E594b5"
SOLANA_MINT = "3rTEoPu4A2YhRTnS1gjoHEpJPuF13wfKinvGfLozYmPY"
SOLANA_RECEIVER = "FgsGsXcckzNWQrV9M7mG2kijp2Vt6MKDNF1Jf66jNiMa"
SOLANA_FEE_PAYER = "FgiXdADjh5HMUZ3tRxqBeoyqPqnGk9rC7hgoooN5ke1c"  # its key is a hash, in x402_solana.py
STATEMENTS = {"service": "Sign in to the service", "venice": "Sign in to Venice AI"}


@dataclass(frozen=True, slots=True)
class Terms:
    """The EVM rail's fixed terms. Addresses are checksummed."""

    token: str
    receiver: str = EVM_RECEIVER

    @property
    def domain(self) -> TokenDomain:
        return TokenDomain(TOKEN_NAME, TOKEN_VERSION, EVM_CHAIN_ID, self.token)


def terms_of(dialect: str) -> Terms:
    return Terms(REAL_ASSET if dialect == "venice" else PLAY_ASSET)


def units(usd: Decimal) -> int:
    """USD to the token's base units, exactly."""
    return int(usd.scaleb(DECIMALS))


def refused(code: str, message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> HttpError:
    """E9: on the top-up endpoint the code stands in `error`."""
    return HttpError(status, {"error": code, "message": message}, headers)


def accepts(call: Call, usd: Decimal, *, short_names: bool = False) -> list[Json]:
    """Return both rails as version 2 lists them. `short_names`: `solana` instead of its long name."""
    terms = terms_of(call.world.settings.dialect)
    blockhash, last_valid = latest_block(SOLANA_SLUG, call.world.clock.now())
    block = {"recentBlockhash": blockhash, "lastValidBlockHeight": str(last_valid)}
    if call.world.faults.take_fault("terms_without_block", call.request.path) is not None:
        block = {}
    extra = {"name": TOKEN_NAME, "version": TOKEN_VERSION}
    common = {"scheme": SCHEME, "amount": str(units(usd)), "maxTimeoutSeconds": PAYMENT_WINDOW_S}
    evm = {"network": EVM_NETWORK, "asset": terms.token.lower(), "payTo": terms.receiver, "extra": extra}
    solana = {
        "network": "solana" if short_names else SOLANA_NETWORK,
        "asset": SOLANA_MINT,
        "payTo": SOLANA_RECEIVER,
        "extra": {**extra, "feePayer": SOLANA_FEE_PAYER, **block},
    }
    return [{**common, **evm}, {**common, **solana}]


def requirements(call: Call, error: str | None = None) -> HttpError:
    """402: the first leg of a top-up, which is its success."""
    body: Json = {"x402Version": 2, **({"error": error} if error else {})}
    body["accepts"] = accepts(call, MINIMUM_USD)
    return HttpError(402, body, {"PAYMENT-REQUIRED": encoded(body)})


def requirements_v1(call: Call) -> HttpError:
    """The same as a server of protocol version 1 says it: in the body alone, with other names."""
    terms = terms_of(call.world.settings.dialect)
    entry = {
        "scheme": SCHEME,
        "network": "base",
        "maxAmountRequired": str(units(MINIMUM_USD)),
        "resource": f"{call.site.origin}{call.request.path}",
        "description": "Credits for this Sandbox, paid with play money",
        "mimeType": "application/json",
        "payTo": terms.receiver,
        "maxTimeoutSeconds": PAYMENT_WINDOW_S,
        "asset": terms.token,
        "extra": {"name": TOKEN_NAME, "version": TOKEN_VERSION},
    }
    return HttpError(402, {"x402Version": 1, "error": "X-PAYMENT header is required", "accepts": [entry]})


def discovery(call: Call, *, payable: bool) -> HttpError:
    """402 for a request without any credential (E8). `payable`: whether a top-up would open this route."""
    address = f"{call.site.origin}/api/v1"
    body: Json = {
        "x402Version": 2,
        "error": "Payment required",
        "resource": _resource(call),
        "accepts": accepts(call, SUGGESTED_USD, short_names=True) if payable else [],
        "extensions": {"sign-in-with-x": challenge(call)},
        "authOptions": {
            "apiKey": {
                "header": "Authorization: Bearer <API_KEY>",
                "getKey": f"{call.site.origin}/handbook",
                "docs": f"{call.site.origin}/handbook",
            },
            "x402Wallet": {
                "header": "SIGN-IN-WITH-X",
                "legacyHeader": "X-Sign-In-With-X",
                "topUp": f"{address}/x402/top-up",
                "docs": f"{call.site.origin}/handbook",
            },
        },
    }
    header = {name: value for name, value in body.items() if name != "authOptions"}
    return HttpError(402, body, {"PAYMENT-REQUIRED": encoded(header)})


def below_the_floor(call: Call, balance_usd: Decimal) -> HttpError:
    """402 for a wallet that has too little (E7)."""
    from app.sandbox.accounts.wallets import FLOOR_USD

    terms = terms_of(call.world.settings.dialect)
    top_up = f"{call.site.origin}/api/v1/x402/top-up"
    body: Json = {
        "error": "Payment required",
        "code": "PAYMENT_REQUIRED",
        "reason": "insufficient_balance",
        "message": f"The balance is below the {FLOOR_USD} USD that a request needs. Top up and send it again.",
        "description": "Credits are prepaid; every answer is charged to the wallet that signed in.",
        "currentBalanceUsd": balance_usd,
        "minimumBalanceUsd": FLOOR_USD,
        "suggestedTopUpUsd": SUGGESTED_USD,
        "minimumTopUpUsd": MINIMUM_USD,
        "supportedTokens": ["USDC"],
        "supportedChains": ["base", "solana"],
        "topUpInstructions": {
            "step1": f"POST {top_up} without headers and choose one entry of accepts",
            "step2": "Sign a payment for it with an x402 client",
            "step3": f"POST {top_up} again with the payment header",
            "receiverWallet": terms.receiver,
            "tokenAddress": terms.token,
            "tokenDecimals": DECIMALS,
            "network": "base",
            "minimumAmountUsd": MINIMUM_USD,
        },
        "siwxChallenge": challenge(call),
    }
    header: Json = {
        "x402Version": 2,
        "error": "Payment required",
        "resource": _resource(call),
        "accepts": accepts(call, SUGGESTED_USD, short_names=True),
        "extensions": {"sign-in-with-x": body["siwxChallenge"]},
    }
    return HttpError(402, body, {"PAYMENT-REQUIRED": encoded(header)})


def challenge(call: Call) -> Json:
    """What to sign in with. The nonce is a suggestion: any that is new will do."""
    now = call.world.clock.utc()
    return {
        "info": {
            "domain": call.site.origin.partition("://")[2],
            "uri": call.site.origin,
            "version": "1",
            "nonce": secrets.token_hex(8),
            "issuedAt": iso(now),
            "expirationTime": iso(now + MAX_AGE - timedelta(minutes=1)),
            "statement": STATEMENTS[call.world.settings.dialect],
        },
        "supportedChains": [
            {"chainId": EVM_NETWORK, "type": "eip191"},
            {"chainId": SOLANA_NETWORK, "type": "ed25519"},
        ],
    }


def encoded(value: Json) -> str:
    """JSON for a header: base64 of its compact form."""
    return base64.b64encode(dump(value)).decode()


def _resource(call: Call) -> Json:
    return {
        "url": f"{call.site.origin}{call.request.path}",
        "description": "A Sandbox endpoint",
        "mimeType": "application/json",
    }
