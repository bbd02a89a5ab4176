"""Evidence under a chain of our own, made by the Sandbox's enclave: what no captured quote can show.

The Sandbox shares no code with `app.sealed`; it signs and opens by OpenSSL and eth_keys, and seals by libsecp256k1.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from app.sandbox.sealed.attestation_issuer import Authority
from app.sandbox.sealed.enclave import Enclave, compose_text, event_log, measurements
from app.sealed.attestation import Verdict, verify
from app.sealed.chain import Root, check_chain
from app.sealed.checks import CheckFailed, Damaged, Outcome
from app.sealed.collateral import Collateral, check_firmware, of_parts, signed_member
from app.sealed.quote import read_quote

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
NONCE = b"\x21" * 32
COMPOSE = hashlib.sha256(compose_text(1).encode()).digest()


@pytest.fixture(scope="module")
def enclave() -> Enclave:
    return Enclave()


def root_of(authority: Authority) -> Root:
    return Root(hashlib.sha256(authority.root_der).hexdigest(), "Sandbox")


def quote_of(enclave: Enclave, authority: Authority, said: bytes = NONCE) -> bytes:
    report_data = bytes.fromhex(enclave.key.address[2:]) + bytes(12) + said
    return authority.quote(report_data, measurements(event_log(COMPOSE), COMPOSE))


def body_of(enclave: Enclave, said: bytes = NONCE) -> dict[str, Any]:
    return {
        "model": "m",
        "nonce": NONCE.hex(),
        "nonce_source": "client",
        "signing_algo": "ecdsa",
        "signing_address": enclave.key.address,
        "signing_public_key": enclave.key.public.hex(),
        "intel_quote": quote_of(enclave, enclave.authority, said).hex(),
        "event_log": event_log(COMPOSE),
        "info": {
            "compose_hash": COMPOSE.hex(),
            "tcb_info": json.dumps({"app_compose": compose_text(1), "event_log": event_log(COMPOSE)}),
        },
        "nvidia_payload": json.dumps({"nonce": NONCE.hex(), "arch": "X", "evidence_list": [{"nonce": NONCE.hex()}]}),
        "server_verification": {
            "tdx": {"valid": True, "crlCheck": {"revoked": False}, "measurements": {"mrtd": "0x"}},
            "nvidia": {"valid": True},
            "signingAddressBinding": {"bound": True, "reportDataAddress": enclave.key.address},
        },
    }


def verdict_of(enclave: Enclave, body: dict[str, Any]) -> Verdict:
    return verify(json.dumps(body).encode(), model="m", nonce=NONCE, now=NOW, root=root_of(enclave.authority))


def lists_of(authority: Authority, **told: Any) -> Collateral:
    tcb, tcb_signature = signed_member(authority.tcb_info(NOW, **told), "tcbInfo")
    qe, qe_signature = signed_member(authority.qe_identity(NOW), "enclaveIdentity")
    return of_parts(
        {
            "pck_crl_issuer_chain": authority.crl_chain,
            "root_ca_crl": authority.root_crl(NOW).hex(),
            "pck_crl": authority.pck_crl(NOW).hex(),
            "tcb_info_issuer_chain": authority.lists_chain,
            "tcb_info": tcb,
            "tcb_info_signature": tcb_signature,
            "qe_identity_issuer_chain": authority.lists_chain,
            "qe_identity": qe,
            "qe_identity_signature": qe_signature,
        }
    )


def test_r_tee_03_evidence_of_another_implementation_verifies(enclave: Enclave) -> None:
    body = body_of(enclave)
    body["server_verification"]["tdx"]["measurements"] = {}
    verdict = verdict_of(enclave, body)
    assert not verdict.refused, verdict.failed
    assert verdict.key == enclave.key.public and verdict.issuer == "platform" and verdict.fmspc == "00a06d080000"


def test_r_tee_04_a_hashed_nonce_in_the_quote_is_ours_too(enclave: Enclave) -> None:
    body = body_of(enclave, hashlib.sha256(NONCE).digest())
    body["server_verification"]["tdx"]["measurements"] = {}
    assert not verdict_of(enclave, body).refused


@pytest.mark.parametrize("part", ["leaf", "ca"])
def test_r_tee_05_a_certificate_from_another_chain_is_refused(enclave: Enclave, part: str) -> None:
    """The root at the end is the pinned one, but what stands above the quote is not signed by it."""
    mixed, stranger = Authority(), Authority()
    if part == "leaf":
        mixed.leaf, mixed.leaf_key = stranger.leaf, stranger.leaf_key
    else:
        mixed.ca, mixed.leaf, mixed.leaf_key = stranger.ca, stranger.leaf, stranger.leaf_key
    with pytest.raises(CheckFailed) as refused:
        check_chain(read_quote(quote_of(enclave, mixed)), root_of(mixed), NOW)
    assert refused.value.check.id == "chain"


def test_r_tee_05_a_certificate_for_signing_lists_certifies_no_processor(enclave: Enclave) -> None:
    """It ends at the pinned root as well; what it lacks is the processor's extension and an authority above it."""
    mixed = Authority()
    mixed.leaf, mixed.leaf_key, mixed.ca = mixed.lists_signer, mixed.lists_key, mixed.root
    with pytest.raises(CheckFailed):
        check_chain(read_quote(quote_of(enclave, mixed)), root_of(mixed), NOW)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("UpToDate", Outcome.PASSED),
        ("SWHardeningNeeded", Outcome.NOTED),
        ("ConfigurationAndSWHardeningNeeded", Outcome.NOTED),
        ("ConfigurationNeeded", Outcome.FAILED),
        ("OutOfDate", Outcome.FAILED),
        ("OutOfDateConfigurationNeeded", Outcome.FAILED),
        ("Revoked", Outcome.FAILED),
    ],
)
def test_r_tee_06_which_levels_are_good_enough_is_our_list(enclave: Enclave, status: str, outcome: Outcome) -> None:
    authority = enclave.authority
    raw, lists = quote_of(enclave, authority), lists_of(authority, status=status)
    try:
        check = check_firmware(raw, lists, authority.root_der, NOW)
    except CheckFailed as failed:
        check = failed.check
    assert check.outcome is outcome and (status == "UpToDate") == (not check.reason)
    if outcome is Outcome.NOTED:
        assert "SANDBOX-SA-00001" in check.value


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log[5].update(digest="00" * 48),
        lambda log: log[5].update(event_payload="00" * 32),
        lambda log: log[5].update(event="compose-hash-2"),
        lambda log: log.append(copy.deepcopy(log[5])),
    ],
)
def test_r_tee_03_an_entry_of_a_running_system_cannot_be_rewritten(enclave: Enclave, change: Any) -> None:
    body = body_of(enclave)
    change(body["event_log"])
    verdict = verdict_of(enclave, body)
    assert verdict.failed is not None and verdict.failed.id == "event_log"


def test_an_entry_without_its_digest_is_whole(enclave: Enclave) -> None:
    """A live service leaves the digests of such entries empty."""
    body = body_of(enclave)
    body["server_verification"] = {}
    for entry in body["event_log"]:
        if entry["imr"] == 3:
            entry["digest"] = ""
    assert not verdict_of(enclave, body).refused


def test_a_second_copy_of_the_log_must_agree_too(enclave: Enclave) -> None:
    body = body_of(enclave)
    body["info"]["tcb_info"] = {"event_log": event_log(COMPOSE)[:-1]}
    verdict = verdict_of(enclave, body)
    assert verdict.failed is not None and verdict.failed.id == "event_log"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value, outermost first."""
    yield path
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in named:
        yield from places(inner, (*path, name))


def test_r_tee_03_no_value_at_any_place_raises_or_makes_a_lie_pass(enclave: Enclave) -> None:
    body = body_of(enclave)
    body["info"]["tcb_info"] = json.loads(body["info"]["tcb_info"])
    body["nvidia_payload"] = json.loads(body["nvidia_payload"])
    for path in list(places(body))[1:]:
        for odd in (None, 0, -1, True, 10**400, [], {}, [[]], "", "x", "00", "\ud800", "é" * 99, {"nonce": "\ud800"}):
            changed = copy.deepcopy(body)
            inside = changed
            for name in path[:-1]:
                inside = inside[name]
            inside[path[-1]] = odd
            verdict = verdict_of(enclave, changed)
            assert verdict.refused or verdict.key == enclave.key.public
            assert not verdict.refused or (verdict.failed is not None and verdict.failed.reason.endswith("."))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1", "utf-8-sig"])
def test_evidence_is_utf_8_or_damaged(enclave: Enclave, encoding: str) -> None:
    content = json.dumps({**body_of(enclave), "app_name": "é"}, ensure_ascii=False).encode(encoding)
    verdict = verify(content, model="m", nonce=NONCE, now=NOW, root=root_of(enclave.authority))
    assert verdict.failed is not None and verdict.failed.id == "damaged"


@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[]", b'{"tcbInfo":{}}', b'{"signature":"00"}', b"[" * 99_999])
def test_lists_that_are_none_are_damage(body: bytes) -> None:
    with pytest.raises(Damaged):
        signed_member(body, "tcbInfo")


def test_a_list_keeps_the_very_text_that_was_signed() -> None:
    body = b'{ "tcbInfo" : {"a": 1.50,  "b":"\xc3\xa9"} ,"signature":"ab"}'
    assert signed_member(body, "tcbInfo") == ('{"a": 1.50,  "b":"é"}', "ab")
