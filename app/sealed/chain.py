"""The signatures of a quote, from the attestation key up to a pinned root certificate.

The chain carries its own root; what counts is that the SHA-256 of that root is the one pinned for the account.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from app.sealed.checks import Check, CheckFailed, Damaged, Outcome, require
from app.sealed.quote import Quote
from app.translation import tr, tr_n

INTEL_ROOT_SHA256 = "44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"  # Intel SGX Root CA, to 2049
SGX_EXTENSION = x509.ObjectIdentifier("1.2.840.113741.1.13.1")
FMSPC = bytes.fromhex("060a2a864886f84d010d0104") + b"\x04\x06"  # its object identifier, then six octets
BEGIN = b"-----BEGIN CERTIFICATE-----"
# What reading a certificate may raise; not all of it is a ValueError.
UNREADABLE = (
    ValueError,
    UnsupportedAlgorithm,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)


@dataclass(frozen=True, slots=True)
class Root:
    """A root certificate that quotes may end at: the SHA-256 of its DER, and whose it is."""

    sha256: str
    name: str
    is_intel: bool = False


INTEL_ROOT = Root(INTEL_ROOT_SHA256, "Intel SGX Root CA", is_intel=True)


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain whose signatures hold. `fmspc` (12 hex digits) names the family of processors, `issuer` who certified."""

    checks: tuple[Check, ...]
    root_der: bytes
    fmspc: str
    issuer: str  # "platform" or "processor": which list of revoked certificates is asked for


def check_chain(quote: Quote, root: Root, now: datetime) -> Chain:
    """Check every signature of a quote. Raises `CheckFailed`, `Damaged` for certificates that cannot be read."""
    certificates = _read(quote)
    leaf, intermediate, anchor = certificates
    root_der = anchor.public_bytes(Encoding.DER)
    found = hashlib.sha256(root_der).hexdigest()
    checks = [
        require(
            found == root.sha256,
            "root",
            tr("Root certificate"),
            root.name if found == root.sha256 else found,
            tr("The certificate chain does not end at the pinned root, {root}.", root=root.name),
        )
    ]
    title = tr("Certificate chain")
    try:
        anchor.verify_directly_issued_by(anchor)
        intermediate.verify_directly_issued_by(anchor)
        leaf.verify_directly_issued_by(intermediate)
        authority = intermediate.extensions.get_extension_for_class(x509.BasicConstraints).value
        own = leaf.extensions.get_extension_for_class(x509.BasicConstraints).value
        sgx = leaf.extensions.get_extension_for_oid(SGX_EXTENSION).value
        leaf_key = leaf.public_key()
    except (*UNREADABLE, InvalidSignature, TypeError, x509.ExtensionNotFound):
        raise _broken(title) from None
    if not authority.ca or own.ca or not isinstance(leaf_key, ec.EllipticCurvePublicKey):
        raise _broken(title)
    current = all(each.not_valid_before_utc <= now <= each.not_valid_after_utc for each in certificates)
    checks.append(
        require(
            current,
            "chain",
            title,
            f"{min(each.not_valid_after_utc for each in certificates):%Y-%m-%d}",
            tr("A certificate in the chain is not valid on {day}.", day=f"{now.astimezone(UTC):%Y-%m-%d}"),
        )
    )
    checks += _signatures(quote, leaf_key)
    is_platform = "Platform" in intermediate.subject.rfc4514_string()
    return Chain(tuple(checks), root_der, _fmspc(sgx), "platform" if is_platform else "processor")


def _read(quote: Quote) -> list[x509.Certificate]:
    """The three certificates. They must be written as they would be written again, so that no byte goes unread."""
    found: list[x509.Certificate] = []
    offset = quote.chain_offset
    for piece in quote.chain.split(BEGIN)[1:]:
        try:
            found.append(x509.load_pem_x509_certificate(BEGIN + piece))
        except UNREADABLE:
            raise Damaged("quote", offset, tr("A certificate in the quote cannot be read.")) from None
        offset += len(BEGIN) + len(piece)
    again = b"".join(each.public_bytes(Encoding.PEM) for each in found)
    if again.rstrip(b"\n") != quote.chain.rstrip(b"\n"):
        same = next((i for i, (a, b) in enumerate(zip(again, quote.chain, strict=False)) if a != b), len(again))
        raise Damaged("quote", quote.chain_offset + same, tr("A certificate in the quote cannot be read."))
    if len(found) != 3:
        count = len(found)
        sentence = tr_n(
            "The quote contains {n} certificate, not 3.", "The quote contains {n} certificates, not 3.", count
        )
        raise Damaged("quote", quote.chain_offset, sentence)
    return found


def _signatures(quote: Quote, leaf_key: ec.EllipticCurvePublicKey) -> list[Check]:
    binding = hashlib.sha256(quote.attestation_key + quote.auth_data).digest() + bytes(32)
    return [
        require(
            verify_p256(leaf_key, quote.qe_report_signature, quote.qe_report),
            "qe_signature",
            tr("Signature of the quoting enclave’s report"),
            tr("by the certified key"),
            tr("The quoting enclave’s report is not signed by the certified key."),
        ),
        require(
            quote.qe_report[320:384] == binding,
            "attestation_key",
            tr("Attestation key"),
            quote.attestation_key[:8].hex() + "…",
            tr("The attestation key is not the quoting enclave’s."),
        ),
        require(
            verify_p256(_point(quote.attestation_key), quote.signature, quote.signed),
            "quote_signature",
            tr("Signature of the quote"),
            tr("by the attestation key"),
            tr("The quote’s signature does not match its content."),
        ),
    ]


def verify_p256(key: ec.EllipticCurvePublicKey | None, signature: bytes, message: bytes) -> bool:
    """Whether r‖s is `key`'s ECDSA signature (SHA-256) of `message`."""
    if key is None:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        key.verify(encode_dss_signature(r, s), message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def _point(key: bytes) -> ec.EllipticCurvePublicKey | None:
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + key)
    except ValueError:
        return None


def _fmspc(extension: x509.ExtensionType) -> str:
    content = extension.value if isinstance(extension, x509.UnrecognizedExtension) else b""
    _, found, rest = content.partition(FMSPC)
    return rest[:6].hex() if found else ""


def _broken(title: str) -> CheckFailed:
    sentence = tr("A certificate in the quote is not signed by the one above it.")
    return CheckFailed(Check("chain", title, "", Outcome.FAILED, sentence))
