"""`GET /tee/attestation`, `GET /tee/signature`, Intel's lists under our own address, and what the relay saw.

Every lie that a service could tell has a fault (`app/sandbox/http/faults.py`, names that begin with `sealed_`).
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from urllib.parse import quote as percent_encoded

from cryptography.hazmat.primitives.serialization import Encoding

from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.model_catalog import ModelEntry
from app.sandbox.sealed.enclave import Enclave, compose_text, event_log, measurements
from app.sandbox.sealed.nvidia import ARCH, EVIDENCE
from app.sandbox.world import iso

PER_MINUTE = 10
WINDOW_S = 60.0
KEPT_S = 20 * 60
STALE_AFTER_S = 3600
_NONCE = re.compile(r"[0-9a-fA-F]{64}")


async def attestation(call: Call) -> Response:
    """Evidence of a model's enclave, for the nonce of the question."""
    _admit(call)
    model = await _model(call)
    nonce_text = call.value("nonce")
    if nonce_text is not None and not _NONCE.fullmatch(nonce_text):
        raise HttpError(400, "Nonce must be exactly 32 bytes")
    if call.value("signing_algo") not in (None, "ecdsa"):
        raise HttpError(400, "Unsupported signing algorithm")
    enclave = call.site.enclave
    nonce = bytes.fromhex(nonce_text) if nonce_text is not None else enclave.old_nonce
    return json_answer(_Answer(call, enclave, model, nonce, asked=nonce_text is not None).content())


class _Answer:
    """One attestation with the lies that are armed for it."""

    def __init__(self, call: Call, enclave: Enclave, model: ModelEntry, nonce: bytes, *, asked: bool) -> None:
        self._call, self._enclave, self._model, self._nonce, self._asked = call, enclave, model, nonce, asked

    def armed_fault(self, name: str) -> str | None:
        """The kind of an armed lie, "" for one without kinds, None for the truth."""
        told = self._call.world.faults.take_fault(f"sealed_{name}", self._call.request.path)
        return None if told is None else str(told.get("kind", ""))

    def content(self) -> Json:
        enclave, nonce = self._enclave, self._nonce
        release = 2 if self.armed_fault("measurements") is not None else 1
        compose_hash = hashlib.sha256(compose_text(release).encode()).digest()
        log = event_log(compose_hash)
        measured = measurements(log, compose_hash)
        quote = self._quote(measured)
        if self.armed_fault("event_log") is not None:
            log[5]["event_payload"] = "00" * 32
        key = enclave.other_key if self.armed_fault("other_key") is not None else enclave.key
        address = enclave.other_key.address if self.armed_fault("other_address") is not None else enclave.key.address
        echoed = bytes(32).hex() if self.armed_fault("other_nonce") is not None else nonce.hex()
        claims_well = self.armed_fault("claims") is None
        content: Json = {
            "verified": claims_well,
            "model": "another-model" if self.armed_fault("other_model") is not None else self._call.value("model"),
            "nonce": echoed,
            "nonce_source": "client" if self._asked and self.armed_fault("server_nonce") is None else "server",
            "tee_provider": "rialto-sandbox",
            "tee_hardware": "intel-tdx",
            "upstream_model": self._model.id,
            "signing_algo": "ecdsa",
            "signing_address": address,
            "intel_quote": quote.hex(),
            "server_verification": self._claims(claims_well, measured),
        }
        if self.armed_fault("no_quote") is not None:
            del content["intel_quote"]
        if self._model.extra.get("gateway"):
            return {**content, **self._second_shape(log)}
        content |= {
            "request_nonce": echoed,
            "signing_public_key": key.public.hex(),
            "nvidia_payload": self._gpu(),
            "event_log": log,
            "info": {
                "app_name": "rialto-sandbox",
                "compose_hash": compose_hash.hex(),
                "tcb_info": {
                    "app_compose": compose_text(release),
                    "compose_hash": compose_hash.hex(),
                    "event_log": log,
                    **{name: value.hex() for name, value in measured.items() if name != "mrconfigid"},
                },
            },
        }
        if self.armed_fault("two_keys") is not None:
            content["signing_key"] = enclave.other_key.public.hex()
        return content

    def _quote(self, measured: dict[str, bytes]) -> bytes:
        enclave = self._enclave
        nonce = enclave.old_nonce if self.armed_fault("old_quote") is not None else self._nonce
        middle = b"\x01" + bytes(11) if self.armed_fault("report_data") is not None else bytes(12)
        report_data = bytes.fromhex(enclave.key.address[2:]) + middle + nonce
        authority = enclave.stranger if self.armed_fault("other_root") is not None else enclave.authority
        kind = self.armed_fault("quote_type")
        quote = bytearray(
            authority.quote(
                report_data,
                measured,
                debug=self.armed_fault("debug") is not None,
                tee_type=0 if kind in ("", "sgx") else 0x81,
                version=3 if kind == "version" else 4,
            )
        )
        flipped = self.armed_fault("flipped_byte")
        if flipped is not None:
            quote[{"signature": 640, "qe": 840}.get(flipped, 300)] ^= 1
        return bytes(quote)

    def _claims(self, well: bool, measured: dict[str, bytes]) -> Json:
        """What the server says that it has checked: all of it fine, whatever the quote says, unless it lies here."""
        address = self._enclave.key.address
        return {
            "tdx": {
                "valid": well,
                "signatureValid": well,
                "certificateChainValid": True,
                "rootCaPinned": True,
                "attestationKeyMatch": True,
                "reportData": f"{address[2:]}{'00' * 12}{self._nonce.hex()}",
                "measurements": {
                    **{name: value.hex() for name, value in measured.items()},
                    "tdAttributes": "0000001000000000",
                    "xfam": "e702060000000000",
                },
                "crlCheck": {"checked": True, "revoked": False},
            },
            "nvidia": {"valid": True, "signatureVerified": True},
            "signingAddressBinding": {"bound": True, "reportDataAddress": address},
            "nonceBinding": {"bound": True, "method": "raw"},
            "nvidiaNonceBinding": {"bound": True, "method": "nvidia_payload"},
            "verifiedAt": iso(self._call.world.clock.now()),
            "verificationDurationMs": 1,
        }

    def _gpu(self) -> str:
        kind = self.armed_fault("gpu")
        nonce = bytes(32).hex() if kind in ("", "nonce") else self._nonce.hex()
        evidence = [] if kind == "empty" else [{"certificate": EVIDENCE, "evidence": EVIDENCE, "arch": ARCH}]
        return json.dumps({"nonce": nonce, "arch": ARCH, "evidence_list": evidence})

    def _second_shape(self, log: list[Json]) -> Json:
        now = int(self._call.world.clock.now())
        entry = {"key_id": "sandbox-e2ee-v1", "algo": "secp256k1-aes-256-gcm-hkdf-sha256"}
        keys = [{**entry, "public_key": self._enclave.key.public.hex()}]
        return {
            "api_version": "aci/1",
            "attestation": {
                "workload_keyset": {"keyset_epoch": {"not_after": now + 86_400}, "e2ee_public_keys": keys},
                "freshness": {"fetched_at": now, "stale_after": now + STALE_AFTER_S},
                "evidence": {"event_log": json.dumps(log)},
            },
        }


async def signature(call: Call) -> Response:
    """The receipt of one answer, for 20 minutes."""
    _admit(call)
    model = await _model(call)
    receipts: dict[str, tuple[float, str, str]] = call.world.kept.setdefault("sealed receipts", {})
    found = receipts.get(call.value("request_id") or "")
    if found is None or call.world.clock.now() - found[0] > KEPT_S:
        raise HttpError(404, "Chat id not found or expired")
    _, sent, received = found
    enclave = call.site.enclave
    told = call.world.faults.take_fault("sealed_receipt", call.request.path)
    kind = None if told is None else str(told.get("kind", "other_text"))
    key = enclave.other_key if kind == "other_key" else enclave.key
    if kind == "other_text":
        sent = hashlib.sha256(b"another request").hexdigest()
    is_gateway = bool(model.extra.get("gateway"))
    text = f"{sent}:{received}" if is_gateway else f"{model.id}:{sent}:{received}"
    body: Json = {
        "text": text,
        "signature": key.sign(text),
        "signing_address": key.address,
        "signing_algo": "ecdsa",
    }
    if is_gateway:
        body |= {"api_version": "aci/1", "requested_request_id": call.value("request_id")}
    return json_answer(body)


def keep_receipt(call: Call, answer_id: str, sent: str, received: str) -> None:
    receipts = call.world.kept.setdefault("sealed receipts", {})
    receipts[answer_id] = (call.world.clock.now(), sent, received)


async def tcb(call: Call) -> Response:
    """Intel's list of firmware levels."""
    told = _strike(call, "sealed_firmware")
    status = {None: "UpToDate", "revoked": "Revoked"}.get(told, "OutOfDate")
    expired = _strike(call, "sealed_lists_expired") is not None
    authority = call.site.enclave.authority
    body = authority.tcb_info(_now(call), status=status, expired=expired)
    return _list(body, "TCB-Info-Issuer-Chain", authority.lists_chain)


async def qe_identity(call: Call) -> Response:
    authority = call.site.enclave.authority
    return _list(authority.qe_identity(_now(call)), "SGX-Enclave-Identity-Issuer-Chain", authority.lists_chain)


async def pck_crl(call: Call) -> Response:
    revoked = _strike(call, "sealed_revoked") is not None
    authority = call.site.enclave.authority
    body = authority.pck_crl(_now(call), revoked=revoked)
    return _list(body, "SGX-PCK-CRL-Issuer-Chain", authority.crl_chain, "application/pkix-crl")


async def root_crl(call: Call) -> Response:
    return Response(200, {"Content-Type": "application/pkix-crl"}, call.site.enclave.authority.root_crl(_now(call)))


async def root(call: Call) -> Response:
    """The root that the Sandbox's quotes end at: pinned by Rialto for the Sandbox's account alone."""
    certificate = call.site.enclave.authority.root
    return json_answer(
        {
            "name": "Sandbox",
            "sha256": hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest(),
            "certificate": certificate.public_bytes(Encoding.PEM).decode(),
            "lists": call.site.origin,
        }
    )


async def seen(call: Call) -> Response:
    """What the relay saw of sealed chats: how many requests, and of the last its bodies and every clear text."""
    return json_answer(call.world.kept.get("sealed seen", {"requests": 0, "clear": []}))


def _strike(call: Call, name: str) -> str | None:
    told = call.world.faults.take_fault(name, call.request.path)
    return None if told is None else str(told.get("kind", ""))


def _list(body: bytes, header: str, chain: str, content_type: str = "application/json") -> Response:
    return Response(200, {"Content-Type": content_type, header: percent_encoded(chain)}, body)


def _now(call: Call) -> datetime:
    return datetime.fromtimestamp(call.world.clock.now(), UTC)


async def _model(call: Call) -> ModelEntry:
    name = call.value("model")
    if name is None:
        raise HttpError(400, "model is required")
    model = await call.site.models.find(name)
    if model is None or not model.has("supportsTeeAttestation"):
        raise HttpError(404, "The model has no attestation")
    if model.offline:
        raise HttpError(502, "The enclave is not reachable")
    return model


def _admit(call: Call) -> None:
    """10 calls per minute and address, whoever makes them; the refusal has no headers that say when."""
    if call.world.settings.no_limits:
        return
    times: list[float] = call.world.kept.setdefault("sealed calls", [])
    now = call.world.clock.now()
    times[:] = [at for at in times if now - at < WINDOW_S]
    if len(times) >= PER_MINUTE:
        raise HttpError(429, "Rate limit exceeded.")
    times.append(now)
