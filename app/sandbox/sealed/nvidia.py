"""NVIDIA's check of graphics processors under our own address: signed tokens, and the key that they are signed with.

Made like the third version of its service answers: a token for the whole, and one for each processor. ES384.
"""

from __future__ import annotations

import base64
import hashlib
import secrets

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384

from app.sandbox.http.call import Call, dump, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json

ARCH, MODEL = "SANDBOX", "Sandbox, not NVIDIA"
EVIDENCE = base64.b64encode(MODEL.encode()).decode()
LASTS_S = 3600
BYTES = 48  # of a coordinate on P-384
KEY_ID = "sandbox"


class Signer:
    """The key of the tokens; made anew with each Sandbox."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP384R1())

    @property
    def published(self) -> Json:
        numbers = self._key.public_key().public_numbers()
        point = {"x": numbers.x, "y": numbers.y}
        own = {name: _base64(number.to_bytes(BYTES, "big")) for name, number in point.items()}
        return {"keys": [{"kid": KEY_ID, "kty": "EC", "crv": "P-384", "alg": "ES384", "use": "sig", **own}]}

    def token(self, claims: Json) -> str:
        head = {"alg": "ES384", "typ": "JWT", "kid": KEY_ID}
        signed = f"{_base64(dump(head))}.{_base64(dump(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA384())))
        return f"{signed}.{_base64(r.to_bytes(BYTES, 'big') + s.to_bytes(BYTES, 'big'))}"


async def attest_gpu(call: Call) -> Response:
    """What NVIDIA's service would say of our own evidence, and of any other: that it does not accept it."""
    body = call.json_object()
    nonce, listed = body.get("nonce"), body.get("evidence_list")
    if not isinstance(nonce, str) or not isinstance(listed, list) or not listed:
        raise HttpError(400, "nonce and evidence_list are required")
    told = call.world.faults.take_fault("sealed_nvidia", call.request.path)
    kind = None if told is None else str(told.get("kind", "verdict"))
    ours = {"certificate": EVIDENCE, "evidence": EVIDENCE}
    good = kind != "verdict" and body.get("arch") == ARCH and all(each == ours for each in listed)
    now = int(call.world.clock.now()) - (2 * LASTS_S if kind == "expired" else 0)
    times = {"iss": call.site.origin, "iat": now, "nbf": now, "exp": now + LASTS_S}
    nonce = bytes(32).hex() if kind == "nonce" else nonce
    signer = Signer() if kind == "signature" else call.site.enclave.gpu_signer
    device = {
        "eat_nonce": nonce,
        "hwmodel": MODEL,
        "measres": "success" if good else "fail",
        "secboot": True,
        "dbgstat": "enabled" if kind == "debug" else "disabled",
    }
    tokens = {
        f"GPU-{place}": signer.token({**times, **device, "ueid": str(secrets.randbits(64))})
        for place in range(len(listed))
    }
    digests = {
        name: ["DIGEST", ["SHA-256", hashlib.sha256(each.encode()).hexdigest()]] for name, each in tokens.items()
    }
    whole = {"x-nvidia-ver": "2.0", "x-nvidia-overall-att-result": good, "eat_nonce": nonce, "submods": digests}
    if kind == "other_gpu":
        tokens["GPU-0"] = signer.token({**times, **device, "ueid": "another"})
    return json_answer([["JWT", signer.token({**times, **whole})], tokens])


async def keys(call: Call) -> Response:
    return json_answer(call.site.enclave.gpu_signer.published)


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
