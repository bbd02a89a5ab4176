"""Certificates, quotes and lists as Intel makes them, signed by a chain that the Sandbox makes for itself.

The chain begins anew with each process; its root's name says what it is. Layout: Intel's quote format version 4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.sandbox.http.errors import Json

FMSPC = bytes.fromhex("00a06d080000")
PCE_ID = bytes(2)
CPU_SVN = bytes([1] * 16)
PCE_SVN = 13
TEE_TCB_SVN = bytes([5, 1, 2]) + bytes(13)
QE_VENDOR = bytes.fromhex("939a7233f79c4ca9940a0db3957f0607")
QE_SIGNER = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
QE_SVN = 4
SGX = "1.2.840.113741.1.13.1"
FIRST_DAY, LAST_DAY = datetime(2020, 1, 1, tzinfo=UTC), datetime(2049, 12, 31, tzinfo=UTC)
LISTS_LAST = timedelta(days=30)


@dataclass
class Authority:
    """A root with what it signs. `name` is in every certificate."""

    name: str = "Rialto Sandbox"
    root_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: _key())
    ca_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: _key())
    leaf_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: _key())
    lists_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: _key())
    attestation_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: _key())

    def __post_init__(self) -> None:
        root, ca = f"{self.name} Root CA", f"{self.name} PCK Platform CA"
        self.root = _certificate(root, self.root_key, root, self.root_key, is_authority=True)
        self.ca = _certificate(ca, self.ca_key, root, self.root_key, is_authority=True)
        self.leaf = _certificate(f"{self.name} PCK Certificate", self.leaf_key, ca, self.ca_key, extension=_platform())
        self.lists_signer = _certificate(f"{self.name} TCB Signing", self.lists_key, root, self.root_key)

    @property
    def root_der(self) -> bytes:
        return self.root.public_bytes(Encoding.DER)

    def quote(
        self,
        report_data: bytes,
        measurements: Mapping[str, bytes],
        *,
        debug: bool = False,
        tee_type: int = 0x81,
        version: int = 4,
    ) -> bytes:
        """A quote over `report_data` (64 bytes); `measurements` are bytes by the names mrtd, mrconfigid, rtmr0 to 3."""
        header = _little(version, 2) + _little(2, 2) + _little(tee_type, 4) + bytes(4) + QE_VENDOR + bytes(20)
        attributes = bytes([1 if debug else 0, 0, 0, 0x10]) + bytes(4)
        body = TEE_TCB_SVN + bytes(48 + 48 + 8) + attributes + bytes.fromhex("e702060000000000")
        body += measurements["mrtd"] + measurements["mrconfigid"] + bytes(96)
        body += b"".join(measurements[f"rtmr{number}"] for number in range(4)) + report_data
        signed = header + body
        key = self.attestation_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]
        auth = bytes(range(32))
        report = bytearray(384)
        report[0:16] = CPU_SVN
        report[48:64] = bytes.fromhex("1500000000000000e700000000000000")
        report[64:96] = hashlib.sha256(b"quoting enclave").digest()
        report[128:160] = QE_SIGNER
        report[256:260] = _little(2, 2) + _little(QE_SVN, 2)
        report[320:352] = hashlib.sha256(key + auth).digest()
        chain = b"".join(each.public_bytes(Encoding.PEM) for each in (self.leaf, self.ca, self.root)) + b"\0"
        certified = bytes(report) + _sign(self.leaf_key, bytes(report)) + _little(len(auth), 2) + auth
        certified += _little(5, 2) + _little(len(chain), 4) + chain
        data = _sign(self.attestation_key, signed) + key + _little(6, 2) + _little(len(certified), 4) + certified
        return signed + _little(len(data), 4) + data

    def tcb_info(self, now: datetime, *, status: str = "UpToDate", expired: bool = False) -> bytes:
        """The list of firmware levels, as Intel's server answers it."""
        issued, following = _span(now, expired=expired)
        component = [{"svn": 1}] * 16
        level = {
            "tcb": {
                "sgxtcbcomponents": component,
                "pcesvn": PCE_SVN,
                "tdxtcbcomponents": [{"svn": svn} for svn in TEE_TCB_SVN],
            },
            "tcbDate": "2025-01-01T00:00:00Z",
            "tcbStatus": status,
            "advisoryIDs": [] if status == "UpToDate" else ["SANDBOX-SA-00001"],
        }
        good = [{"tcb": {"isvsvn": 5}, "tcbDate": "2025-01-01T00:00:00Z", "tcbStatus": "UpToDate"}]
        module = {"mrsigner": "00" * 48, "attributes": "00" * 8, "attributesMask": "FF" * 8}
        content = {
            "id": "TDX",
            "version": 3,
            "issueDate": issued,
            "nextUpdate": following,
            "fmspc": FMSPC.hex().upper(),
            "pceId": PCE_ID.hex(),
            "tcbType": 0,
            "tcbEvaluationDataNumber": 17,
            "tdxModule": module,
            "tdxModuleIdentities": [{"id": "TDX_01", **module, "tcbLevels": good}],
            "tcbLevels": [level],
        }
        return self._signed_list("tcbInfo", content)

    def qe_identity(self, now: datetime) -> bytes:
        """The list of releases of the quoting enclave."""
        issued, following = _span(now)
        content = {
            "id": "TD_QE",
            "version": 2,
            "issueDate": issued,
            "nextUpdate": following,
            "tcbEvaluationDataNumber": 17,
            "miscselect": "00000000",
            "miscselectMask": "FFFFFFFF",
            "attributes": "11000000000000000000000000000000",
            "attributesMask": "FBFFFFFFFFFFFFFF0000000000000000",
            "mrsigner": QE_SIGNER.hex().upper(),
            "isvprodid": 2,
            "tcbLevels": [{"tcb": {"isvsvn": QE_SVN}, "tcbDate": "2025-01-01T00:00:00Z", "tcbStatus": "UpToDate"}],
        }
        return self._signed_list("enclaveIdentity", content)

    def pck_crl(self, now: datetime, *, revoked: bool = False) -> bytes:
        """The list of revoked processors, DER; with our own on it when `revoked`."""
        return _crl(self.ca, self.ca_key, now, [self.leaf.serial_number] if revoked else [])

    def root_crl(self, now: datetime) -> bytes:
        return _crl(self.root, self.root_key, now, [])

    @property
    def lists_chain(self) -> str:
        return _pem(self.lists_signer, self.root)

    @property
    def crl_chain(self) -> str:
        return _pem(self.ca, self.root)

    def _signed_list(self, name: str, content: Json) -> bytes:
        text = json.dumps(content, separators=(",", ":")).encode()
        return b'{"%s":%s,"signature":"%s"}' % (name.encode(), text, _sign(self.lists_key, text).hex().encode())


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(x509.NameOID.COMMON_NAME, common),
            x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Sandbox, not Intel"),
        ]
    )


def _certificate(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool = False,
    extension: bytes = b"",
) -> x509.Certificate:
    usage = dict.fromkeys(
        (
            *("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
            *("encipher_only", "decipher_only"),
        ),
        False,
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(FIRST_DAY)
        .not_valid_after(LAST_DAY)
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not is_authority, key_cert_sign=is_authority, crl_sign=is_authority, **usage
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if extension:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(SGX), extension), critical=False
        )
    return builder.sign(signer, SHA256())


def _crl(issuer: x509.Certificate, key: ec.EllipticCurvePrivateKey, now: datetime, serials: list[int]) -> bytes:
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.subject)
        .last_update(now - timedelta(hours=1))
        .next_update(now + LISTS_LAST)
        .add_extension(x509.CRLNumber(1), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
    )
    for serial in serials:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now - timedelta(hours=1))
        builder = builder.add_revoked_certificate(entry.build())
    return builder.sign(key, SHA256()).public_bytes(Encoding.DER)


def _platform() -> bytes:
    """The extension that names the processor's family and level."""
    levels = [_pair(f"{SGX}.2.{n}", _der(0x02, bytes([1]))) for n in range(1, 17)]
    levels += [_pair(f"{SGX}.2.17", _der(0x02, bytes([PCE_SVN]))), _pair(f"{SGX}.2.18", _der(0x04, CPU_SVN))]
    fields = (
        _pair(f"{SGX}.1", _der(0x04, bytes(16))),
        _pair(f"{SGX}.2", _der(0x30, b"".join(levels))),
        _pair(f"{SGX}.3", _der(0x04, PCE_ID)),
        _pair(f"{SGX}.4", _der(0x04, FMSPC)),
        _pair(f"{SGX}.5", _der(0x0A, bytes([1]))),
    )
    return _der(0x30, b"".join(fields))


def _pair(identifier: str, value: bytes) -> bytes:
    first, second, *rest = (int(part) for part in identifier.split("."))
    content = bytes([40 * first + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.insert(0, number & 0x7F | 0x80)
        content += bytes(digits)
    return _der(0x30, _der(0x06, content) + value)


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    long = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(long)]) + long + content


def _sign(key: ec.EllipticCurvePrivateKey, message: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(message, ec.ECDSA(SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def _pem(*certificates: x509.Certificate) -> str:
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)


def _span(now: datetime, *, expired: bool = False) -> tuple[str, str]:
    begin = now - timedelta(hours=1) - (2 * LISTS_LAST if expired else timedelta())
    return begin.strftime("%Y-%m-%dT%H:%M:%SZ"), (begin + LISTS_LAST).strftime("%Y-%m-%dT%H:%M:%SZ")


def _little(number: int, size: int) -> bytes:
    return number.to_bytes(size, "little")
