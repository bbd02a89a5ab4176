"""Evidence of graphics processors, and what NVIDIA's service says of it. Nothing is fetched here.

NVIDIA answers with signed tokens (ES384): one for the whole, with our nonce and the digest of each of the others, and
one for each processor. Nothing ties a processor to the enclave's quote, so that one that holds proves no more than that
processors of its kind answered this nonce.

Source: NVIDIA Remote Attestation Service, third version of its check of graphics processors; RFC 7515; RFC 9711.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384

from app.sealed.checks import Check, CheckFailed, Outcome, one_line
from app.translation import tr

NVIDIA = "https://nras.attestation.nvidia.com"
MAX_PROCESSORS = 64
CLOCKS_DIFFER = timedelta(minutes=5)
_COORDINATE_BYTES = 48
_BASE64 = re.compile(r"[0-9A-Za-z+/=_-]+")
Content = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GpuEvidence:
    """What an attestation says of its graphics processors: for each its certificates and its report, in base64."""

    arch: str
    entries: tuple[tuple[str, str], ...]

    def question(self, nonce: bytes) -> dict[str, object]:
        """What NVIDIA's service is asked: this evidence and the nonce, nothing else of the attestation."""
        listed = [{"certificate": certificate, "evidence": evidence} for certificate, evidence in self.entries]
        return {"nonce": nonce.hex(), "arch": self.arch, "evidence_list": listed}


@dataclass(frozen=True, slots=True)
class NvidiaAnswer:
    """What came back, as text: the tokens, and the keys that `issuer` (an address) published at that time."""

    issuer: str
    tokens: str
    keys: str


def read_gpu_evidence(payload: object, nonce: bytes) -> tuple[Check, GpuEvidence | None]:
    """Return the line of an attestation's GPU evidence, and what can be asked about it: None where nothing can.

    Raises `CheckFailed` for evidence that cannot be read or answers another nonce.
    """
    if payload is None or payload == "":
        return _not_checked("", tr("The service sent no evidence for the graphics processor.")), None
    content = _json(payload) if isinstance(payload, str) else payload
    if not isinstance(content, Mapping):
        raise _failed("", tr("The evidence for the graphics processor cannot be read."))
    listed = content.get("evidence_list")
    entries = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    if not entries:
        return _not_checked("", tr("The service sent no evidence for the graphics processor.")), None
    nonces = [content.get("nonce"), *(each["nonce"] for each in entries if each.get("nonce") is not None)]
    fresh = all(isinstance(each, str) and each.lower().removeprefix("0x") == nonce.hex() for each in nonces)
    arch = content.get("arch")
    value = f"{len(entries)} × {one_line(arch)}"
    if not fresh:
        raise _failed(value, tr("The evidence for the graphics processor answers a different nonce."))
    pairs = [(each.get("certificate"), each.get("evidence")) for each in entries]
    texts = [(one, two) for one, two in pairs if _is_base64(one) and _is_base64(two)]
    can_ask = isinstance(arch, str) and len(texts) == len(entries) <= MAX_PROCESSORS
    evidence = GpuEvidence(str(arch), tuple((str(one), str(two)) for one, two in texts)) if can_ask else None
    reason = tr(
        "Its evidence contains Rialto’s nonce. NVIDIA’s servers were not asked, and the quote does not name it."
    )
    if evidence is None:
        reason = tr("Its evidence contains Rialto’s nonce, and NVIDIA’s servers cannot be asked about it in this form.")
    return _not_checked(value, reason), evidence


def unanswered(line: Check) -> Check:
    """The line of evidence that NVIDIA's servers were asked about in vain."""
    return _not_checked(
        line.value,
        tr("Its evidence contains Rialto’s nonce. NVIDIA’s servers did not check it when Rialto asked them."),
    )


def check_answer(evidence: GpuEvidence, said: NvidiaAnswer, nonce: bytes, now: datetime) -> Check:
    """Return the line of evidence that NVIDIA's service accepts. Raises `CheckFailed` for any other answer."""
    value = f"{len(evidence.entries)} × {one_line(evidence.arch)}"
    try:
        return _checked(evidence, said, nonce, now)
    except _Unreadable:
        raise _failed(value, tr("NVIDIA’s answer about the graphics processor cannot be read.")) from None
    except _Refused as refused:
        raise _failed(value, str(refused)) from None


def _checked(evidence: GpuEvidence, said: NvidiaAnswer, nonce: bytes, now: datetime) -> Check:
    bundle = _json(said.tokens)
    keys = _keys(said.keys)
    match bundle:
        case [["JWT", str(whole)], dict(tokens)] if all(isinstance(each, str) for each in tokens.values()):
            pass
        case _:
            raise _Unreadable
    claims = _claims(whole, keys, said.issuer, now)
    if claims.get("iss") != said.issuer:
        raise _Refused(tr("NVIDIA’s answer names a different issuer."))
    if not _is_nonce(claims.get("eat_nonce"), nonce):
        raise _Refused(tr("NVIDIA’s answer is about a different nonce."))
    if claims.get("x-nvidia-overall-att-result") is not True:
        raise _Refused(tr("NVIDIA does not accept the evidence for the graphics processor."))
    digests = claims.get("submods")
    if not isinstance(digests, Mapping) or set(digests) != set(tokens) or len(tokens) != len(evidence.entries):
        raise _Refused(tr("NVIDIA’s answer is about other graphics processors."))
    models, devices = [], []
    for name, token in tokens.items():
        match digests[name]:
            case ["DIGEST", [str(kind), str(digest)]] if kind.replace("-", "").upper() == "SHA256":
                if digest.lower() != hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest():
                    raise _Refused(tr("NVIDIA’s answer is about other graphics processors."))
            case _:
                raise _Unreadable
        device = _claims(token, keys, said.issuer, now)
        if device.get("eat_nonce") is not None and not _is_nonce(device["eat_nonce"], nonce):
            raise _Refused(tr("NVIDIA’s answer is about a different nonce."))
        if device.get("measres") != "success":
            raise _Refused(tr("NVIDIA does not accept the software of a graphics processor."))
        if device.get("secboot") is not True or device.get("dbgstat") != "disabled":
            raise _Refused(tr("A graphics processor runs in debug mode, or without secure boot."))
        models.append(one_line(device.get("hwmodel")))
        devices += [device["ueid"]] if device.get("ueid") is not None else []
    if len({str(each) for each in devices}) != len(devices):
        raise _Refused(tr("NVIDIA’s answer names one graphics processor twice."))
    kinds = ", ".join(sorted(set(filter(None, models)))) or one_line(evidence.arch)
    reason = tr(
        "NVIDIA’s servers accept its evidence: genuine hardware, no debug mode, this nonce. The quote does not name "
        "it, so nothing proves that the enclave uses it."
    )
    return Check("gpu", _title(), f"{len(tokens)} × {kinds}", Outcome.NOTED, reason)


class _Unreadable(Exception):
    pass


class _Refused(Exception):
    """The message is a sentence."""


def _claims(token: str, keys: Mapping[str, ec.EllipticCurvePublicKey], issuer: str, now: datetime) -> Content:
    """The claims of a token whose signature and times hold."""
    parts = token.split(".")
    if len(parts) != 3:
        raise _Unreadable
    header, claims = (_json(_decoded(part)) for part in parts[:2])
    signature = _decoded(parts[2])
    if not isinstance(header, Mapping) or not isinstance(claims, Mapping):
        raise _Unreadable
    kid = header.get("kid")
    key = keys.get(kid) if isinstance(kid, str) and header.get("alg") == "ES384" and "crit" not in header else None
    if key is None or not _is_signed(key, signature, f"{parts[0]}.{parts[1]}".encode()):
        raise _Refused(tr("NVIDIA’s answer is not signed by a key that NVIDIA publishes."))
    ends, begins = claims.get("exp"), claims.get("nbf", 0)
    if type(ends) is not int or type(begins) is not int or not (0 < ends < 2**35 and 0 <= begins < 2**35):
        raise _Unreadable
    late = now >= datetime.fromtimestamp(ends, UTC)
    if late or now + CLOCKS_DIFFER < datetime.fromtimestamp(begins, UTC):
        raise _Refused(tr("NVIDIA’s answer is not valid now. This computer’s clock may be wrong."))
    if claims.get("iss") not in (None, issuer):
        raise _Refused(tr("NVIDIA’s answer names a different issuer."))
    return claims


def _keys(text: str) -> dict[str, ec.EllipticCurvePublicKey]:
    content = _json(text)
    listed = content.get("keys") if isinstance(content, Mapping) else None
    found = {}
    for each in listed if isinstance(listed, list) else ():
        match each:
            case {"kid": str(kid), "kty": "EC", "crv": "P-384", "x": str(x), "y": str(y)}:
                point = b"\x04" + b"".join(_decoded(part).rjust(_COORDINATE_BYTES, b"\0") for part in (x, y))
                try:
                    found[kid] = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP384R1(), point)
                except ValueError:
                    raise _Unreadable from None
    return found


def _is_signed(key: ec.EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    if len(signature) != 2 * _COORDINATE_BYTES:
        return False
    r, s = (int.from_bytes(half, "big") for half in (signature[:_COORDINATE_BYTES], signature[_COORDINATE_BYTES:]))
    try:
        key.verify(encode_dss_signature(r, s), message, ec.ECDSA(SHA384()))
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_nonce(value: object, nonce: bytes) -> bool:
    return isinstance(value, str) and value.lower().removeprefix("0x") == nonce.hex()


def _is_base64(value: object) -> bool:
    return isinstance(value, str) and _BASE64.fullmatch(value) is not None


def _decoded(text: str) -> bytes:
    """URL-safe base64 without padding."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _Unreadable from None


def _json(text: str | bytes) -> object:
    """None for what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _title() -> str:
    return tr("Graphics processor")


def _not_checked(value: str, reason: str) -> Check:
    return Check("gpu", _title(), value, Outcome.NOT_CHECKED, reason)


def _failed(value: str, reason: str) -> CheckFailed:
    return CheckFailed(Check("gpu", _title(), value, Outcome.FAILED, reason))
