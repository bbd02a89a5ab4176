"""The Sandbox's enclave: it seals, it proves itself by a chain of its own, and it lies on request."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import httpx
import pytest

from app.sandbox.http.faults import KINDS, NAMES
from app.sandbox.sealed import enclave
from app.sandbox.sealed.enclave import Enclave, KeyPair, seal
from tests.sandbox.support import Client, events_of

MODEL = "rialto-sealed"
NONCE = "5a" * 32
LIES = sorted(name for name in NAMES if name.startswith("sealed_"))


def attest(sandbox: Client, model: str = MODEL, **params: str) -> httpx.Response:
    return sandbox.get("/tee/attestation", params={"model": model, "nonce": NONCE, **params})


def evidence(sandbox: Client, model: str = MODEL) -> dict[str, Any]:
    answer = attest(sandbox, model)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class Sealed:
    """One client's side of a sealed chat, by OpenSSL."""

    def __init__(self, sandbox: Client, dialect: str = "service") -> None:
        self.sandbox, self.dialect, self.key = sandbox, dialect, KeyPair()
        self.model_key = evidence(sandbox)["signing_public_key"]

    def headers(self, **others: str | None) -> dict[str, str]:
        names = {"client-pub-key": self.key.public.hex(), "model-pub-key": self.model_key, "signing-algo": "ecdsa"}
        names |= {name.replace("_", "-"): text for name, text in others.items()}  # type: ignore[dict-item]
        return {f"x-{self.dialect}-tee-{name}": text for name, text in names.items() if text is not None}

    def ask(self, text: str = "How do I stop an answer?", **body: Any) -> httpx.Response:
        messages = [{"role": "user", "content": seal(text, bytes.fromhex(self.model_key))}]
        headers = body.pop("headers", None)
        content = {"model": MODEL, "stream": True, "messages": messages, **body}
        return self.sandbox.post("/chat/completions", content, headers=self.headers() if headers is None else headers)

    def texts(self, answer: httpx.Response) -> str:
        enclave = Enclave()
        enclave.key = self.key  # whoever holds the key opens
        pieces = [
            choice["delta"].get("content") for event in events_of(answer.text)[:-1] for choice in event["choices"]
        ]
        return "".join(enclave.open(piece) for piece in pieces if piece)


@pytest.mark.parametrize("dialect", ["service", "venice"])
def test_r_tee_09_r_tee_11_and_r_tee_12_a_sealed_chat_and_what_the_relay_saw(sandbox: Client, dialect: str) -> None:
    sandbox.control("/settings", {"dialect": dialect})
    sealed = Sealed(sandbox, dialect)
    answer = sealed.ask()
    assert answer.headers[f"x-{dialect}-tee"] == "true" and answer.headers[f"x-{dialect}-tee-provider"]
    assert "Esc" in sealed.texts(answer) and "Esc" not in answer.text
    seen = sandbox.control("/sealed/seen", method="GET")
    assert (seen["requests"], seen["clear"], seen["answer"]) == (1, [], answer.text)
    refused = sealed.ask(messages=[{"role": "user", "content": "in the clear"}])
    assert refused.json()["error"]["message"] == "Encrypted field is not valid hex"
    assert sandbox.control("/sealed/seen", method="GET")["clear"] == ["in the clear"]


@pytest.mark.parametrize("missing", ["client_pub_key", "model_pub_key", "signing_algo"])
def test_r_tee_09_without_one_of_the_headers_a_request_is_an_open_one(sandbox: Client, missing: str) -> None:
    sealed = Sealed(sandbox)
    headers = sealed.headers(**{missing: None})
    answer = sealed.ask(messages=[{"role": "user", "content": "How do I stop an answer?"}], headers=headers)
    assert answer.status_code == 200 and "Esc" in answer.text


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({"signing_algo": "rsa"}, {}, "Unsupported signing algorithm"),
        ({"client_pub_key": "04" + "00" * 64}, {}, "Invalid public key"),
        ({"model_pub_key": "04" + "11" * 64}, {}, "another key"),
        ({}, {"stream": False}, "E2EE requires streaming"),
        ({}, {"tools": []}, "tools is not available"),
        ({}, {"response_format": {}}, "response_format is not available"),
        ({}, {"service_parameters": {"enable_web_search": "on"}}, "enable_web_search is not available"),
        ({}, {"messages": [{"role": "user", "content": "ab" * 100}]}, "Failed to decrypt field"),
        ({}, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "not valid hex"),
    ],
)
def test_r_tee_09_and_r_tee_10_what_cannot_be_sealed_is_refused(
    sandbox: Client, headers: dict[str, str], body: dict[str, Any], said: str
) -> None:
    sealed = Sealed(sandbox)
    answer = sealed.ask(headers=sealed.headers(**headers), **body)
    assert answer.status_code == 400 and said in answer.json()["error"]["message"]


def test_r_tee_01_models_have_both_flags_one_or_none(sandbox: Client) -> None:
    models = {one["id"]: one["model_spec"]["capabilities"] for one in sandbox.get("/models").json()["data"]}
    flags = {name: (each["supportsTeeAttestation"], each["supportsE2EE"]) for name, each in models.items()}
    assert {flags["rialto-sealed"], flags["rialto-enclave"], flags["rialto-plain"]} == {
        (True, True),
        (True, False),
        (False, False),
    }
    assert attest(sandbox, "rialto-plain").status_code == 404
    answer = sandbox.chat_raw(model="rialto-enclave")
    assert answer.headers["x-service-tee"] == "true" and "Esc" in answer.text


def test_r_tee_02_a_nonce_has_32_bytes_and_the_limit_is_ten_a_minute(sandbox: Client, bare: httpx.Client) -> None:
    assert attest(sandbox, nonce="00" * 31).status_code == 400
    for _ in range(9):
        assert bare.get(f"{sandbox.running.base_url}/tee/attestation", params={"model": MODEL}).status_code == 200
    refused = attest(sandbox)
    assert (refused.status_code, refused.json()) == (429, {"error": "Rate limit exceeded."})
    sandbox.turn_clock(61)
    assert attest(sandbox).status_code == 200


def test_r_tee_02_without_a_nonce_the_server_makes_one_and_says_so(sandbox: Client) -> None:
    found = sandbox.get("/tee/attestation", params={"model": MODEL}).json()
    assert found["nonce_source"] == "server"


def test_r_tee_04_and_r_tee_05_the_quote_names_the_key_and_the_chain_says_sandbox(sandbox: Client) -> None:
    found = evidence(sandbox)
    quote = bytes.fromhex(found["intel_quote"])
    assert quote[568:588].hex() == found["signing_address"][2:] and quote[600:632].hex() == NONCE
    root = sandbox.control("/sealed/root", method="GET")
    assert root["name"] == "Sandbox" and len(root["sha256"]) == 64
    assert b"BEGIN CERTIFICATE" in quote


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("/tdx/certification/v4/tcb", "TCB-Info-Issuer-Chain"),
        ("/tdx/certification/v4/qe/identity", "SGX-Enclave-Identity-Issuer-Chain"),
        ("/sgx/certification/v4/pckcrl", "SGX-PCK-CRL-Issuer-Chain"),
        ("/sgx/certification/v4/rootcacrl", ""),
    ],
)
def test_r_tee_06_intels_lists_are_served_under_our_own_address(
    sandbox: Client, bare: httpx.Client, path: str, header: str
) -> None:
    answer = bare.get(sandbox.running.origin + path)
    assert answer.status_code == 200 and answer.content
    assert not header or answer.headers[header].startswith("-----BEGIN%20CERTIFICATE")


def test_r_tee_15_receipts_come_in_both_forms_for_twenty_minutes(sandbox: Client) -> None:
    sealed = Sealed(sandbox)
    for model in (MODEL, "rialto-sealed-gateway"):
        answer = sealed.ask(model=model)
        params = {"model": model, "request_id": events_of(answer.text)[0]["id"]}
        receipt = sandbox.get("/tee/signature", params=params).json()
        assert receipt["text"].endswith(f":{hashlib.sha256(answer.content).hexdigest()}")
        assert ("api_version" in receipt) == (model != MODEL) and receipt["text"].count(":") == (1, 2)[model == MODEL]
        sandbox.turn_clock(21 * 60)
        assert sandbox.get("/tee/signature", params=params).status_code == 404
        sandbox.turn_clock(0)


# What each lie changes, in what is asked for after it was armed


@pytest.mark.parametrize(
    ("lie", "changed"),
    [
        ("other_nonce", "nonce"),
        ("old_quote", "intel_quote"),
        ("other_key", "signing_public_key"),
        ("other_address", "signing_address"),
        ("other_model", "model"),
        ("debug", "intel_quote"),
        ("flipped_byte", "intel_quote"),
        ("other_root", "intel_quote"),
        ("quote_type", "intel_quote"),
        ("server_nonce", "nonce_source"),
        ("two_keys", "signing_key"),
        ("report_data", "intel_quote"),
        ("event_log", "event_log"),
        ("gpu", "nvidia_payload"),
        ("measurements", "info"),
        ("no_quote", "intel_quote"),
        ("claims", "server_verification"),
    ],
)
def test_r_tee_03_r_tee_07_and_r_tee_08_a_lie_of_the_evidence_is_told_once_it_is_armed(
    sandbox: Client, lie: str, changed: str
) -> None:
    honest = evidence(sandbox)
    sandbox.fault(f"sealed_{lie}", times=1)
    told, again = evidence(sandbox), evidence(sandbox)
    assert told.get(changed) != honest.get(changed)
    volatile = {"intel_quote"}  # its signature is made anew each time
    assert {name: again[name] for name in honest if name not in volatile} == {
        name: honest[name] for name in honest if name not in volatile
    }


@pytest.mark.parametrize(
    ("lie", "values"),
    [
        ("clear_first", {}),
        ("clear_middle", {}),
        ("clear_reasoning", {}),
        ("bad_chunk", {"kind": "cut"}),
        ("lost_chunk", {"kind": "dropped"}),
        ("no_header", {}),
        ("plain_json", {}),
        ("stale_key", {"kind": "stream"}),
    ],
)
def test_r_tee_11_and_r_tee_14_a_lie_of_the_answer_changes_what_goes_out(
    sandbox: Client, lie: str, values: dict[str, str]
) -> None:
    sealed = Sealed(sandbox)
    sandbox.fault(f"sealed_{lie}", **values)
    answer = sealed.ask()
    if lie == "no_header":
        assert "x-service-tee" not in answer.headers and "Esc" in sealed.texts(answer)
    elif lie == "plain_json":
        assert "Esc" in answer.json()["choices"][0]["message"]["content"]
    elif lie == "stale_key":
        assert "e2ee_attestation_stale" in answer.text
    else:
        pieces = [choice["delta"] for event in events_of(answer.text)[:-1] for choice in event["choices"]]
        texts = [piece[name] for piece in pieces for name in ("content", "reasoning_content") if piece.get(name)]
        clear = [text for text in texts if not text.startswith("04")]
        assert len(clear) == {"clear_first": 1, "clear_middle": 1}.get(lie, 0) or lie == "clear_reasoning"
        assert answer.headers["x-service-tee"] == "true"


def test_r_tee_14_an_enclave_may_refuse_earlier_answers(sandbox: Client) -> None:
    sealed = Sealed(sandbox)
    key = bytes.fromhex(sealed.model_key)
    turns = [{"role": role, "content": seal(role, key)} for role in ("user", "assistant", "user")]
    sandbox.fault("sealed_stale_key", kind="history")
    refused = sealed.ask(messages=turns)
    assert refused.status_code == 400 and refused.json()["error"]["code"] == "e2ee_decryption_failed"
    assert sealed.ask(messages=turns[:1]).status_code == 200


@pytest.mark.parametrize("kind", ["other_text", "other_key"])
def test_r_tee_15_a_receipt_may_be_for_something_else(sandbox: Client, kind: str) -> None:
    sealed = Sealed(sandbox)
    answer_id = events_of(sealed.ask().text)[0]["id"]
    params = {"model": MODEL, "request_id": answer_id}
    honest = sandbox.get("/tee/signature", params=params).json()
    sandbox.fault("sealed_receipt", kind=kind)
    told = sandbox.get("/tee/signature", params=params).json()
    assert (told["text"] != honest["text"]) == (kind == "other_text")
    assert (told["signing_address"] != honest["signing_address"]) == (kind == "other_key")


def test_one_control_tells_any_of_the_lies(sandbox: Client) -> None:
    sandbox.fault("sealed", kind="gpu:empty", times=1)
    assert json.loads(evidence(sandbox)["nvidia_payload"])["evidence_list"] == []
    assert json.loads(evidence(sandbox)["nvidia_payload"])["evidence_list"] != []
    sandbox.fault("sealed", kind="server_nonce")
    assert evidence(sandbox)["nonce_source"] == "server"
    sealed = Sealed(sandbox)
    sandbox.fault("sealed", kind="stale_key:history")
    key = bytes.fromhex(sealed.model_key)
    turns = [{"role": role, "content": seal(role, key)} for role in ("assistant", "user")]
    assert sealed.ask(messages=turns).json()["error"]["code"] == "e2ee_decryption_failed"


def test_every_lie_has_words_and_takes_its_own_kinds_only(sandbox: Client) -> None:
    assert len(LIES) == 31 and set(KINDS) <= {*LIES, "sealed"}
    for name, kinds in KINDS.items():
        for kind in kinds:
            sandbox.fault(name, kind=kind)
        refused = sandbox.http.put(f"{sandbox.running.origin}/sandbox/faults/{name}", json={"kind": "other"})
        assert refused.status_code == 400, json.dumps(refused.json())


def test_an_envelope_opens_whichever_library_sealed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.14 has no coincurve."""
    inside = Enclave()
    for has_coincurve in {enclave.HAS_COINCURVE, False}:
        monkeypatch.setattr(enclave, "HAS_COINCURVE", has_coincurve)
        assert inside.open(seal("Rain in Oslo.", inside.key.public)) == "Rain in Oslo."
