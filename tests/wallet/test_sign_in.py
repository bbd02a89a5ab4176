"""Signing in: which site, fresh messages, the header's exact bytes, and who can verify them."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_defunct
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import KeyUnavailable, SignInRefused
from app.wallet.sign_in import SignInHeaderMaker, SignInSite, header_value, new_message, read_header, site_of
from app.wallet.sign_in_message import SignInMessage, read_sign_in_message
from app.wallet.signer import EthAccountSigner, PrivateKey, Signer
from tests.wallet.figures import (
    ADDRESS,
    NONCE_TEXT,
    SIGN_IN_DIGEST,
    SIGN_IN_SIGNATURE,
    SIGNED_AT,
    SOLANA_ADDRESS,
    SOLANA_SIGNATURE,
    evm_signer,
    message_of,
    solana_signer,
)
from tests.wallet.outside_implementations import grammar_fields, x402_solana

SITE = SignInSite("api.venice.ai", "https://api.venice.ai", "Sign in to Venice AI")
NAMED = {"domain": "api.venice.ai", "uri": "https://api.venice.ai", "statement": "Sign in"}
UNNAMED = {"domain": None, "uri": None, "statement": "Sign in"}


def payload_of(value: str) -> dict[str, object]:
    assert value == "".join(value.split())
    content = json.loads(base64.b64decode(value, validate=True))
    assert isinstance(content, dict)
    return content


# --- the header


@pytest.mark.parametrize("signer", [evm_signer(), solana_signer()], ids=lambda signer: signer.chain)
async def test_r_auth_06_r_auth_07_the_message_is_built_to_the_letter(signer: Signer) -> None:
    assert new_message(SITE, signer, SIGNED_AT, NONCE_TEXT).text == message_of(signer.chain)


async def test_r_auth_05_r_auth_06_r_ns_10_the_header_is_the_published_one_byte_for_byte() -> None:
    message = new_message(SITE, evm_signer(), SIGNED_AT, NONCE_TEXT)
    signature = await evm_signer().sign_text(message.text)
    assert signature == SIGN_IN_SIGNATURE
    content = {
        "address": ADDRESS,
        "message": message_of("evm"),
        "signature": SIGN_IN_SIGNATURE,
        "timestamp": 1767323045678,
        "chainId": 8453,
    }
    compact = json.dumps(content, separators=(",", ":")).encode()
    assert header_value(message, signature) == base64.b64encode(compact).decode()


async def test_r_auth_07_the_header_of_the_other_chain_byte_for_byte() -> None:
    message = new_message(SITE, solana_signer(), SIGNED_AT, NONCE_TEXT)
    signature = await solana_signer().sign_text(message.text)
    assert signature == SOLANA_SIGNATURE
    content = {
        "address": SOLANA_ADDRESS,
        "message": message_of("solana"),
        "signature": SOLANA_SIGNATURE,
        "timestamp": 1767323045678,
        "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "type": "ed25519",
    }
    compact = json.dumps(content, separators=(",", ":")).encode()
    assert header_value(message, signature) == base64.b64encode(compact).decode()


async def test_r_auth_05_a_hundred_headers_have_a_hundred_nonces_and_verify() -> None:
    signed: list[SignInMessage] = []
    make = SignInHeaderMaker(evm_signer(), SITE, clock=lambda: SIGNED_AT, on_signed=signed.append)
    values = [await make(timedelta(seconds=at)) for at in range(100)]
    assert len({read_header(value).message.nonce for value in values}) == 100
    for at, value in enumerate(values):
        found = read_header(value)
        assert found.message == signed[at]
        assert found.message.issued_moment == SIGNED_AT + timedelta(seconds=at)
        assert found.timestamp_ms == 1767323045678 + at * 1000
        text = str(payload_of(value)["message"])
        assert Account.recover_message(encode_defunct(text=text), signature=found.signature) == ADDRESS
        assert grammar_fields(text) is not None
        assert len(found.signature) == 132


def test_the_digest_is_the_one_that_was_published() -> None:
    assert _hash_eip191_message(encode_defunct(text=message_of("evm"))).hex() == SIGN_IN_DIGEST


async def test_r_auth_07_the_other_chains_header_verifies_with_strangers() -> None:
    make = SignInHeaderMaker(solana_signer(), SITE)
    content = payload_of(await make(timedelta()))
    public = x402_solana.decode_base58(str(content["address"]))
    signature = x402_solana.decode_base58(str(content["signature"]))
    Ed25519PublicKey.from_public_bytes(public).verify(signature, str(content["message"]).encode())
    assert content["type"] == "ed25519"


async def test_a_header_is_good_for_four_minutes_by_the_services_clock() -> None:
    value = await SignInHeaderMaker(evm_signer(), SITE, clock=lambda: SIGNED_AT)(timedelta(minutes=-7))
    message = read_header(value).message
    assert message.issued_moment == SIGNED_AT - timedelta(minutes=7)
    assert message.expiry_moment == SIGNED_AT - timedelta(minutes=3)


async def test_a_wallet_that_is_locked_signs_nothing_and_tells_nobody() -> None:
    async def locked() -> PrivateKey:
        raise KeyUnavailable("locked", "The wallet is locked.")

    told: list[SignInMessage] = []
    with pytest.raises(KeyUnavailable):
        await SignInHeaderMaker(EthAccountSigner(ADDRESS, locked), SITE, on_signed=told.append)(timedelta())
    assert told == []


# --- the site


@pytest.mark.parametrize(
    ("base_url", "domain", "uri"),
    [
        ("https://api.venice.ai/api/v1", "api.venice.ai", "https://api.venice.ai"),
        ("https://API.Venice.ai:443/api/v1", "api.venice.ai", "https://api.venice.ai"),
        ("https://gateway.test/api/v1", "gateway.test", "https://gateway.test"),
        ("https://api.venice.ai.evil.test", "api.venice.ai.evil.test", "https://api.venice.ai.evil.test"),
        ("https://api.venice.ai:8443/", "api.venice.ai:8443", "https://api.venice.ai:8443"),
        ("http://127.0.0.1:4567/api/v1", "127.0.0.1:4567", "http://127.0.0.1:4567"),
        ("http://localhost/api", "localhost", "http://localhost"),
        ("http://[::1]:80/", "[::1]", "http://[::1]"),
    ],
)
def test_a_known_services_name_is_signed_for_that_host_only(base_url: str, domain: str, uri: str) -> None:
    site = site_of(base_url, **NAMED)
    assert (site.domain, site.uri) == (domain, uri)
    message = new_message(site, evm_signer(), SIGNED_AT)
    assert read_sign_in_message(message.text).domain == domain


def test_without_names_the_accounts_own_host_is_signed_for() -> None:
    site = site_of("https://service.test:8443/api/v1", **UNNAMED)
    assert site == SignInSite("service.test:8443", "https://service.test:8443", "Sign in")


def test_a_uri_of_another_host_is_not_signed() -> None:
    site = site_of("https://a.test/v1", domain="a.test", uri="https://b.test/login", statement="x")
    assert site.uri == "https://a.test"


@pytest.mark.parametrize(
    "base_url", ["http://service.test/api/v1", "ftp://a.test", "", "https://", "https://a.test:99999", "https://[1"]
)
def test_an_address_that_anybody_could_listen_to_is_not_signed_for(base_url: str) -> None:
    with pytest.raises(SignInRefused):
        site_of(base_url, **UNNAMED)


# --- reading a header


def changed(**fields: object) -> str:
    content = {
        "address": ADDRESS,
        "message": message_of("evm"),
        "signature": SIGN_IN_SIGNATURE,
        "timestamp": 1,
        "chainId": 8453,
        **fields,
    }
    return base64.b64encode(json.dumps(content).encode()).decode()


@pytest.mark.parametrize("chain_id", [8453, "8453", "eip155:8453"])
def test_each_spelling_of_the_chain_is_read(chain_id: object) -> None:
    assert read_header(changed(chainId=chain_id)).signature == SIGN_IN_SIGNATURE


@pytest.mark.parametrize(
    "value",
    [
        "",
        "????",
        changed().rstrip("=") + "!",
        changed(address="0x" + "1" * 40),
        changed(chainId=1),
        changed(chainId="solana:8453"),
        changed(message=None),
        changed(message="hello"),
        changed(signature=7),
        base64.b64encode(b"[]").decode(),
        base64.b64encode(b"{" * 5000).decode(),
        "A" * 20_000,
        "ü",
    ],
)
def test_a_header_that_contradicts_itself_is_refused(value: str) -> None:
    with pytest.raises(SignInRefused):
        read_header(value)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: base64.b64encode(data).decode()))
def test_any_text_ends_in_a_header_or_a_refusal(value: str) -> None:
    with pytest.raises(SignInRefused):
        read_header(value)


names = st.sampled_from(["address", "message", "signature", "timestamp", "chainId"])


@given(st.dictionaries(names, st.none() | st.integers() | st.text(max_size=9)))
def test_any_object_ends_in_a_header_or_a_refusal(fields: dict[str, object]) -> None:
    try:
        found = read_header(changed(**fields))
    except SignInRefused:
        return
    assert found.message.text == message_of("evm")


def test_the_clock_is_the_computers_own_unless_given() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    make = SignInHeaderMaker(evm_signer(), SITE)
    assert before <= make._clock() <= datetime.now(UTC)
