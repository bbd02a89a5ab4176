"""Whole answers with quotes that Intel signed, and each way in which an answer can lie about itself."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from coincurve import PrivateKey

from app.sealed.attestation import MAX_BYTES, verify
from app.sealed.chain import Root
from app.sealed.checks import Outcome
from app.sealed.keys import address_of
from tests.sealed.samples import SHAPES, Sample

OTHER_KEY = PrivateKey(b"\x07" * 32).public_key.format(compressed=False)
OTHER_ADDRESS = f"0x{address_of(OTHER_KEY).hex()}"


def refused_by(sample: Sample, **given: Any) -> str:
    """The check that refused; nothing after it was made, and there is no key to seal to."""
    verdict = sample.verify(**given)
    assert verdict.refused and verdict.failed is not None and verdict.failed.outcome is Outcome.FAILED
    assert verdict.key == b"" == verdict.address and verdict.failed.reason.endswith(".")
    return verdict.failed.id


@pytest.mark.parametrize("shape", SHAPES)
def test_r_tee_03_a_real_answer_verifies_with_and_without_intels_lists(shape: str) -> None:
    sample = Sample(shape)
    full, chain_only = sample.verify(collateral=sample.collateral), sample.verify()
    assert (full.refused, full.is_full) == (False, True)
    assert (chain_only.refused, chain_only.is_full) == (False, False)
    assert f"0x{full.address.hex()}" == sample.body["signing_address"].lower()
    assert full.is_gateway == (shape == "second-shape")
    assert full.good_until == sample.at + timedelta(minutes=30)
    assert {check.id for check in full.checks if check.outcome is Outcome.NOT_CHECKED} <= {"gpu", "compose"}


@pytest.mark.parametrize("shape", SHAPES)
def test_r_tee_06_without_intels_lists_the_line_says_what_was_not_checked(shape: str) -> None:
    (line,) = (check for check in Sample(shape).verify().checks if check.id == "firmware")
    assert line.outcome is Outcome.NOT_CHECKED and "Intel’s servers were not asked" in line.reason


@pytest.mark.parametrize(
    ("field", "value", "check"),
    [
        ("nonce", "00" * 32, "nonce"),
        ("nonce", 7, "nonce"),
        ("request_nonce", "00" * 32, "nonce"),
        ("model", "another-model", "model"),
        ("model", None, "model"),
        ("nonce_source", "server", "nonce_source"),
        ("signing_algo", "ed25519", "signing_algo"),
        ("signing_algo", None, "signing_algo"),
        ("signing_public_key", OTHER_KEY.hex(), "report_data_key"),
        ("signing_public_key", "04" + "11" * 64, "key"),
        ("signing_public_key", "", "key"),
        ("signing_key", OTHER_KEY.hex(), "key"),
        ("signing_address", OTHER_ADDRESS, "signing_address"),
        ("signing_address", None, "signing_address"),
        ("intel_quote", "", "quote"),
        ("intel_quote", ["04"], "quote"),
        ("intel_quote", "zz", "damaged"),
        ("event_log", "not a log", "event_log"),
        ("event_log", [{"imr": 9, "event_type": 0, "digest": "00" * 48}], "event_log"),
        ("info", {"compose_hash": "00" * 32}, "compose"),
        ("info", {"tcb_info": {"app_compose": "{}"}}, "compose"),
        ("nvidia_payload", "{", "gpu"),
        ("nvidia_payload", json.dumps({"nonce": "00" * 32, "evidence_list": [{"arch": "HOPPER"}]}), "gpu"),
        ("verified", False, "claims"),
        ("server_verification", {"tdx": {"valid": False}}, "claims"),
        ("server_verification", {"tdx": {"reportData": "00" * 64}}, "claims"),
        ("server_verification", {"tdx": {"measurements": {"mrtd": "00" * 48}}}, "claims"),
        ("server_verification", {"tdx": {"crlCheck": {"revoked": True}}}, "claims"),
        ("server_verification", {"signingAddressBinding": {"reportDataAddress": OTHER_ADDRESS}}, "claims"),
        ("server_verification", {"nonceBinding": {"bound": False}}, "claims"),
    ],
)
def test_r_tee_03_r_tee_04_and_r_tee_07_each_lie_is_refused_by_its_check(field: str, value: object, check: str) -> None:
    sample = Sample("first-shape")
    asked = sample.body["model"]
    sample.body[field] = value
    verdict = verify(json.dumps(sample.body).encode(), model=asked, nonce=sample.nonce, now=sample.at)
    assert verdict.failed is not None and verdict.failed.id == check, verdict.failed
    assert verdict.refused and verdict.failed.reason.endswith(".")


@pytest.mark.parametrize(
    ("offset", "check"),
    [
        (0, "version"),
        (4, "tee_type"),
        (12, "qe_vendor"),
        (112, "tdx_module"),
        (168, "debug"),
        (184, "quote_signature"),
        (568, "report_data_key"),
        (588, "report_data_zero"),
        (599, "report_data_zero"),
        (600, "report_data_nonce"),
        (631, "report_data_nonce"),
        (640, "quote_signature"),
        (700, "attestation_key"),
        (898, "qe_identity"),
        (1026, "qe_identity"),
        (1090, "qe_signature"),
        (1154, "qe_signature"),
        (1220, "attestation_key"),
    ],
)
def test_r_tee_03_a_changed_byte_is_named_by_the_check_that_sees_it(offset: int, check: str) -> None:
    def change(raw: bytearray) -> None:
        raw[offset] ^= 1

    assert refused_by(Sample("first-shape").with_quote(change)) == check


def test_r_tee_07_a_service_that_only_claims_to_have_checked_proves_nothing() -> None:
    body = {"model": "m", "nonce": "11" * 32, "signing_algo": "ecdsa", "verified": True}
    body["server_verification"] = {"tdx": {"valid": True}}
    verdict = verify(json.dumps(body).encode(), model="m", nonce=b"\x11" * 32, now=datetime.now(UTC))
    assert verdict.failed is not None and verdict.failed.id == "quote"


def test_r_tee_04_both_names_of_a_key_may_be_there_when_they_agree() -> None:
    sample = Sample("first-shape")
    sample.body["signing_key"] = sample.body["signing_public_key"].removeprefix("04").upper()
    assert not sample.verify().refused


def test_r_tee_04_the_second_shape_needs_a_key_that_the_quote_names() -> None:
    sample = Sample("second-shape")
    sample.body["attestation"]["workload_keyset"]["e2ee_public_keys"] = [
        {"key_id": "other", "algo": "secp256k1-aes-256-gcm-hkdf-sha256", "public_key": OTHER_KEY.hex()},
        {"key_id": "odd", "algo": "x25519", "public_key": "00"},
        "no entry",
    ]
    assert refused_by(sample) == "key"


def test_a_hashed_nonce_counts_and_another_does_not() -> None:
    """REPORTDATA may hold the nonce or its SHA-256; a quote whose nonce stands there raw answers no other one."""
    sample = Sample("first-shape")
    sample.body["nonce"] = sample.body["request_nonce"] = "33" * 32
    assert refused_by(sample, nonce=b"\x33" * 32) == "report_data_nonce"
    hashed = hashlib.sha256(sample.nonce).digest()

    def change(raw: bytearray) -> None:
        raw[600:632] = hashed

    again = Sample("first-shape").with_quote(change)
    assert refused_by(again) == "quote_signature"  # the nonce passed, the signature is no longer Intel's


def test_r_tee_05_a_chain_to_another_root_is_refused() -> None:
    assert refused_by(Sample("first-shape"), root=Root("ab" * 32, "Sandbox")) == "root"


def test_r_tee_06_lists_of_another_day_are_told_apart() -> None:
    sample = Sample("first-shape")
    later = sample.at + timedelta(days=60)
    verdict = sample.verify(collateral=sample.collateral, at=later)
    assert verdict.refused and verdict.lists_out_of_time and verdict.fmspc == "90c06f000000"


def test_r_tee_08_measurements_are_compared_with_those_first_seen() -> None:
    sample = Sample("first-shape")
    first = sample.verify()
    assert first.checks[-1].outcome is Outcome.NOTED
    assert sample.verify(known=dict(first.measurements)).checks[-1].outcome is Outcome.PASSED
    changed = sample.verify(known={**first.measurements, "rtmr0": "00" * 48}).checks[-1]
    assert (changed.id, changed.outcome) == ("measurements_changed", Outcome.NOTED) and "RTMR0" in changed.reason


@pytest.mark.parametrize("place", ["digest", "order", "missing"])
def test_a_changed_event_log_is_refused(place: str) -> None:
    sample = Sample("first-shape")
    log = sample.body["event_log"]
    if place == "digest":
        log[3]["digest"] = "00" * 48
    elif place == "order":
        log[0], log[1] = log[1], log[0]
    else:
        log.pop()
    assert refused_by(sample) == "event_log"


def test_a_running_systems_entry_must_match_its_digest() -> None:
    sample = Sample("first-shape")
    sample.body["event_log"][-1] |= {"event_type": 0x08000001, "event": "compose-hash", "event_payload": "00"}
    assert refused_by(sample) == "event_log"


def test_a_missing_log_is_not_available_and_no_reason_to_refuse() -> None:
    sample = Sample("first-shape")
    del sample.body["event_log"]
    verdict = sample.verify()
    (line,) = (check for check in verdict.checks if check.id == "event_log")
    assert not verdict.refused and line.outcome is Outcome.NOT_CHECKED


@pytest.mark.parametrize("payload", [None, "", '{"nonce":"x","evidence_list":[]}'])
def test_r_tee_18_no_evidence_of_a_graphics_processor_is_said(payload: str | None) -> None:
    sample = Sample("first-shape")
    sample.body["nvidia_payload"] = payload
    (line,) = (check for check in sample.verify().checks if check.id == "gpu")
    assert line.outcome is Outcome.NOT_CHECKED and "no evidence" in line.reason


def test_r_tee_18_evidence_that_answers_us_is_said_without_more_than_it_is_worth() -> None:
    sample = Sample("first-shape")
    evidence = {
        "nonce": sample.nonce.hex(),
        "arch": "HOPPER",
        "evidence_list": [{"certificate": "AA==", "evidence": "AA=="}] * 8,
    }
    sample.body["nvidia_payload"] = json.dumps(evidence)
    (line,) = (check for check in sample.verify().checks if check.id == "gpu")
    assert line.value == "8 × HOPPER" and "NVIDIA’s servers were not asked" in line.reason


def test_an_attestation_that_went_stale_is_refused() -> None:
    sample = Sample("second-shape")
    assert refused_by(sample, at=sample.at + timedelta(hours=2)) == "freshness"
    soon = sample.verify(at=sample.at + timedelta(minutes=50))
    assert soon.good_until == datetime.fromtimestamp(sample.body["attestation"]["freshness"]["stale_after"], UTC)


@pytest.mark.parametrize(
    ("body", "offset"),
    [(b"", 0), (b"{", 1), (b"[]", 0), (b'{"a": nope}', 6), (b"\xff\xfe\xff", 1), (b"[" * 200_000, 0)],
)
def test_an_answer_that_is_none_is_damage_with_an_offset(body: bytes, offset: int) -> None:
    verdict = verify(body, model="m", nonce=b"\x00" * 32, now=datetime.now(UTC))
    assert verdict.failed is not None and verdict.failed.id == "damaged"
    assert verdict.failed.reason.endswith(f"The damage is at byte {offset}.") or offset == 1


def test_an_answer_over_a_megabyte_is_not_read() -> None:
    verdict = verify(b" " * (MAX_BYTES + 1), model="m", nonce=b"\x00" * 32, now=datetime.now(UTC))
    assert verdict.failed is not None and verdict.failed.id == "damaged"


def test_odd_values_never_raise() -> None:
    """Every member in turn becomes something else; whatever it is, the answer is a verdict."""
    for shape in SHAPES:
        for name in Sample(shape).body:
            for odd in (None, 0, -1, True, [], {}, [[]], "x", {"a": {}}, 1e400, "\ud800"):
                sample = Sample(shape)
                sample.body[name] = odd
                sample.verify()
        for name in ("workload_keyset", "freshness", "evidence"):
            for odd in (None, 0, [], "x", {"e2ee_public_keys": [None, {"algo": 1}]}, {"stale_after": 10**30}):
                sample = Sample("second-shape")
                sample.body["attestation"][name] = odd
                sample.verify()
