"""NVIDIA's answer about graphics processors: what holds is said without more than it is worth, every lie is refused.

The tokens are signed by the Sandbox, which shares no code with `app.sealed`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.sandbox.sealed.nvidia import Signer
from app.sealed.checks import Check, CheckFailed, Outcome
from app.sealed.gpu import NVIDIA, GpuEvidence, NvidiaAnswer, check_answer, read_gpu_evidence

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
NONCE = b"\x21" * 32
EVIDENCE = GpuEvidence("HOPPER", (("Y2VydA==", "cmVwb3J0"),) * 2)
SIGNER, STRANGER = Signer(), Signer()
Claims = dict[str, Any]


def times() -> Claims:
    now = int(NOW.timestamp())
    return {"iss": NVIDIA, "iat": now, "nbf": now - 120, "exp": now + 3600}


def device(number: int, **changes: object) -> Claims:
    usual = {"eat_nonce": NONCE.hex(), "hwmodel": "GH100 A01 GSP BROM", "ueid": str(number), "measres": "success"}
    return {**times(), **usual, "secboot": True, "dbgstat": "disabled", **changes}


def answer(
    devices: list[Claims] | None = None, signer: Signer = SIGNER, device_signer: Signer = SIGNER, **changes: object
) -> NvidiaAnswer:
    """A good answer about two processors, but for `changes` of the token for the whole."""
    listed = devices if devices is not None else [device(0), device(1)]
    tokens = {f"GPU-{place}": device_signer.token(each) for place, each in enumerate(listed)}
    digests = {
        name: ["DIGEST", ["SHA-256", hashlib.sha256(each.encode()).hexdigest()]] for name, each in tokens.items()
    }
    whole = {**times(), "eat_nonce": NONCE.hex(), "x-nvidia-overall-att-result": True, "submods": digests, **changes}
    bundle = [["JWT", signer.token({name: each for name, each in whole.items() if each is not None})], tokens]
    return NvidiaAnswer(NVIDIA, json.dumps(bundle), json.dumps(SIGNER.published))


def checked(said: NvidiaAnswer, now: datetime = NOW) -> Check:
    return check_answer(EVIDENCE, said, NONCE, now)


def reason_of(said: NvidiaAnswer, now: datetime = NOW) -> str:
    with pytest.raises(CheckFailed) as refused:
        checked(said, now)
    assert refused.value.check.id == "gpu" and refused.value.check.outcome is Outcome.FAILED
    return refused.value.check.reason


def changed(change: Callable[[Any], None], said: NvidiaAnswer | None = None) -> NvidiaAnswer:
    """An answer whose bundle was changed on the way."""
    bundle = json.loads((said or answer()).tokens)
    change(bundle)
    return NvidiaAnswer(NVIDIA, json.dumps(bundle), json.dumps(SIGNER.published))


def test_r_tee_18_an_answer_that_holds_is_said_without_more_than_it_is_worth() -> None:
    line = checked(answer())
    assert (line.outcome, line.value) == (Outcome.NOTED, "2 × GH100 A01 GSP BROM")
    assert "accept its evidence" in line.reason and "nothing proves that the enclave uses it" in line.reason
    assert checked(answer(), NOW + timedelta(minutes=59)).outcome is Outcome.NOTED
    assert checked(answer(), NOW - timedelta(minutes=5)).outcome is Outcome.NOTED  # clocks differ


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer(eat_nonce="00" * 32), "a different nonce"),
        (answer(eat_nonce=None), "a different nonce"),
        (answer([device(0), device(1, eat_nonce="00" * 32)]), "a different nonce"),
        (answer(signer=STRANGER), "not signed by a key"),
        (answer(device_signer=STRANGER), "not signed by a key"),
        (answer(iss="https://elsewhere.test"), "a different issuer"),
        (answer(iss=None), "a different issuer"),
        (answer([device(0), device(1, iss="https://elsewhere.test")]), "a different issuer"),
        (answer(**{"x-nvidia-overall-att-result": False}), "does not accept the evidence"),
        (answer(**{"x-nvidia-overall-att-result": "true"}), "does not accept the evidence"),
        (answer([device(0), device(1, measres="fail")]), "does not accept the software"),
        (answer([device(0), device(1, measres=True)]), "does not accept the software"),
        (answer([device(0), device(1, dbgstat="enabled")]), "debug mode"),
        (answer([device(0), device(1, secboot=False)]), "secure boot"),
        (answer([device(0), device(1, secboot=None)]), "secure boot"),
        (answer([device(0)]), "other graphics processors"),
        (answer([device(0), device(1), device(2)]), "other graphics processors"),
        (answer([device(0), device(0)]), "one graphics processor twice"),
        (answer(submods={}), "other graphics processors"),
        (answer(submods={"GPU-0": ["DIGEST", ["SHA-256", "00" * 32]], "GPU-1": []}), "other graphics processors"),
        (answer(submods={"GPU-0": "x", "GPU-1": "x"}), "cannot be read"),
        (answer(exp=int(NOW.timestamp())), "not valid now"),
        (answer(nbf=int(NOW.timestamp()) + 301), "not valid now"),
        (answer([device(0), device(1, exp=1)]), "not valid now"),
        (answer(exp="tomorrow"), "cannot be read"),
        (answer(exp=10**20), "cannot be read"),
    ],
)
def test_every_lie_is_refused_with_a_sentence_that_names_it(said: NvidiaAnswer, words: str) -> None:
    assert words in reason_of(said)


def test_an_answer_is_good_for_an_hour() -> None:
    assert "not valid now" in reason_of(answer(), NOW + timedelta(hours=1))


def test_a_processor_of_another_answer_is_refused() -> None:
    other = json.loads(answer([device(7), device(8)]).tokens)

    def swap(bundle: Any) -> None:
        bundle[1]["GPU-1"] = other[1]["GPU-1"]

    assert "other graphics processors" in reason_of(changed(swap))


def test_no_character_of_a_token_can_be_changed() -> None:
    whole = json.loads(answer().tokens)[0][1]
    for place in range(0, len(whole), 7):

        def change(bundle: Any, place: int = place) -> None:
            text = bundle[0][1]
            bundle[0][1] = f"{text[:place]}{'A' if text[place] != 'A' else 'Q'}{text[place + 1 :]}"

        reason_of(changed(change))


@pytest.mark.parametrize(
    "header", [{"alg": "none"}, {"alg": "HS256"}, {"alg": "ES256"}, {"kid": "other"}, {"crit": []}]
)
def test_a_token_does_not_choose_how_it_is_checked(header: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    import app.sandbox.sealed.nvidia as stand_in

    dump = stand_in.dump
    monkeypatch.setattr(stand_in, "dump", lambda value: dump({**value, **header} if "alg" in value else value))
    assert "not signed by a key" in reason_of(answer())


@pytest.mark.parametrize("keys", ["", "{", "[]", "{}", '{"keys":[1,{"kid":"sandbox"}]}', '{"keys":{}}'])
def test_keys_that_are_none_sign_nothing(keys: str) -> None:
    assert "not signed by a key" in reason_of(NvidiaAnswer(NVIDIA, answer().tokens, keys))


def test_a_key_that_is_no_point_is_not_read() -> None:
    published = copy.deepcopy(SIGNER.published)
    published["keys"][0]["x"] = published["keys"][0]["y"]
    assert "cannot be read" in reason_of(NvidiaAnswer(NVIDIA, answer().tokens, json.dumps(published)))


@pytest.mark.parametrize(
    "tokens",
    [
        *("", "{", "[]", "{}", '"x"', '[["JWT"]]', '[["JWT","x"]]', '[["JWT",1],{}]', '[["JWT","x"],[]]', "[" * 99_999),
        *('[["JWT","x"],{"GPU-0":1}]', '[["JWT","a.b.c"],{}]', '[["JWT","é.é.é"],{}]', '[["JWT","\\ud800.A.A"],{}]'),
    ],
)
def test_an_answer_that_is_none_cannot_be_read(tokens: str) -> None:
    assert "cannot be read" in reason_of(NvidiaAnswer(NVIDIA, tokens, json.dumps(SIGNER.published)))


def payload_of(**changes: object) -> Claims:
    entry = {"certificate": "Y2VydA==", "evidence": "cmVwb3J0", "arch": "HOPPER", "nonce": NONCE.hex()}
    return {"nonce": NONCE.hex().upper(), "arch": "HOPPER", "evidence_list": [{**entry, **changes}] * 2, "more": "x"}


def test_r_tee_17_only_evidence_and_nonce_are_asked_about() -> None:
    line, evidence = read_gpu_evidence(json.dumps(payload_of()), NONCE)
    assert evidence == EVIDENCE and line.outcome is Outcome.NOT_CHECKED
    listed = [{"certificate": "Y2VydA==", "evidence": "cmVwb3J0"}] * 2
    assert evidence.question(NONCE) == {"nonce": NONCE.hex(), "arch": "HOPPER", "evidence_list": listed}


@pytest.mark.parametrize(
    "payload",
    [
        {**payload_of(), "arch": None},
        {**payload_of(), "evidence_list": payload_of()["evidence_list"] * 33},
        payload_of(evidence=None),
        payload_of(certificate="words, not base64"),
    ],
)
def test_evidence_of_another_form_is_never_sent(payload: Claims) -> None:
    line, evidence = read_gpu_evidence(payload, NONCE)
    assert evidence is None and line.outcome is Outcome.NOT_CHECKED and "in this form" in line.reason
