"""Reads an Intel TDX quote, version 4: header, body of the machine, signature data. All integers are little-endian.

Source: Intel TDX DCAP quote generation library, quote format version 4. Every byte belongs to a field or is the zero
padding at the end; nothing else is accepted, so that no byte can be changed unnoticed.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from app.sealed.checks import Check, Damaged, require
from app.translation import tr

MIN_BYTES = 700
MAX_BYTES = 64 * 1024
VERSION = 4
KEY_TYPE_ECDSA_P256 = 2
TEE_TYPE_TDX = 0x81
QE_VENDOR = bytes.fromhex("939a7233f79c4ca9940a0db3957f0607")  # Intel's quoting enclave
QE_SIGNER = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
QE_PRODUCT = 2  # the quoting enclave for TDX
QE_DEBUG = 0x02  # in the first byte of an enclave's attributes
CERTIFICATION_QE_REPORT = 6
CERTIFICATION_PCK_CHAIN = 5

BODY_END = 632
SIGNATURE_DATA = 636
QE_REPORT = 770
QE_REPORT_BYTES = 384
AUTH_SIZE = 1218
MEASURED = ("mrtd", "rtmr0", "rtmr1", "rtmr2", "rtmr3", "mrconfigid")

_HEX = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2})+)")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote whose layout is sound. `raw` is all of it; fields are bytes as they stand there."""

    raw: bytes
    version: int
    key_type: int
    tee_type: int
    qe_vendor: bytes
    seam_signer: bytes
    td_attributes: bytes
    mrtd: bytes
    mrconfigid: bytes
    rtmrs: tuple[bytes, bytes, bytes, bytes]
    report_data: bytes
    signature: bytes  # r‖s of the attestation key over `signed`
    attestation_key: bytes  # x‖y on P-256
    qe_report: bytes
    qe_report_signature: bytes  # r‖s of the certified key over `qe_report`
    auth_data: bytes
    chain: bytes  # PEM: leaf, intermediate, root; without the zero byte at its end
    chain_offset: int

    @property
    def signed(self) -> bytes:
        return self.raw[:BODY_END]

    @property
    def measurements(self) -> dict[str, str]:
        """What identifies the software of the machine, as hex, by the names in `MEASURED`."""
        values = (self.mrtd, *self.rtmrs, self.mrconfigid)
        return {name: value.hex() for name, value in zip(MEASURED, values, strict=True)}


def decode_quote(text: str) -> bytes:
    """The bytes of a quote written as hex (what services send) or base64 (what their guide says). Raises `Damaged`."""
    text = text.strip()
    match = _HEX.fullmatch(text)
    if match is not None:
        return bytes.fromhex(match[1])
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        wrong = re.search(r"[^0-9A-Za-z+/=]", text)
        offset = wrong.start() if wrong is not None else len(text)
        raise Damaged("quote", offset, tr("The quote is neither hex nor base64.")) from None


def read_quote(raw: bytes) -> Quote:
    """Return the fields of a quote. Raises `Damaged` with the offset of the first byte that cannot be right."""
    if not MIN_BYTES <= len(raw) <= MAX_BYTES:
        raise Damaged("quote", len(raw), tr("The quote has an unexpected size: {size} bytes.", size=len(raw)))
    size = _number(raw, BODY_END, 4)
    end = SIGNATURE_DATA + size
    if end > len(raw) or size < AUTH_SIZE + 2 - SIGNATURE_DATA:
        raise Damaged("quote", BODY_END, tr("The quote’s signature data is cut off."))
    padding = raw[end:].lstrip(b"\0")
    if padding:
        raise Damaged("quote", len(raw) - len(padding), tr("The quote contains extra data after its end."))
    if _number(raw, 764, 2) != CERTIFICATION_QE_REPORT:
        raise Damaged("quote", 764, tr("The quote’s certification has an unknown type."))
    if QE_REPORT + _number(raw, 766, 4) != end:
        raise Damaged("quote", 766, tr("The quote’s certification has the wrong size."))
    auth_end = AUTH_SIZE + 2 + _number(raw, AUTH_SIZE, 2)
    if auth_end + 6 > end:
        raise Damaged("quote", AUTH_SIZE, tr("The quote’s authentication data is cut off."))
    if _number(raw, auth_end, 2) != CERTIFICATION_PCK_CHAIN:
        raise Damaged("quote", auth_end, tr("The quote contains no certificate chain."))
    if auth_end + 6 + _number(raw, auth_end + 2, 4) != end:
        raise Damaged("quote", auth_end + 2, tr("The quote’s certificate chain has the wrong size."))
    return Quote(
        raw=raw,
        version=_number(raw, 0, 2),
        key_type=_number(raw, 2, 2),
        tee_type=_number(raw, 4, 4),
        qe_vendor=raw[12:28],
        seam_signer=raw[112:160],
        td_attributes=raw[168:176],
        mrtd=raw[184:232],
        mrconfigid=raw[232:280],
        rtmrs=(raw[376:424], raw[424:472], raw[472:520], raw[520:568]),
        report_data=raw[568:632],
        signature=raw[636:700],
        attestation_key=raw[700:764],
        qe_report=raw[QE_REPORT : QE_REPORT + QE_REPORT_BYTES],
        qe_report_signature=raw[1154:AUTH_SIZE],
        auth_data=raw[AUTH_SIZE + 2 : auth_end],
        chain=raw[auth_end + 6 : end].removesuffix(b"\0"),
        chain_offset=auth_end + 6,
    )


def check_header(raw: bytes) -> list[Check]:
    """Whether this is a quote of a kind that we know, before anything else of it is read. Raises `CheckFailed`.

    Needs `MIN_BYTES`; raises `Damaged` for fewer.
    """
    if len(raw) < MIN_BYTES:
        raise Damaged("quote", len(raw), tr("The quote has an unexpected size: {size} bytes.", size=len(raw)))
    version, key_type, tee_type = _number(raw, 0, 2), _number(raw, 2, 2), _number(raw, 4, 4)
    return [
        require(
            version == VERSION,
            "version",
            tr("Quote version"),
            str(version),
            tr("The quote has version {version}. Rialto can check version 4 only.", version=version),
        ),
        require(
            key_type == KEY_TYPE_ECDSA_P256,
            "key_type",
            tr("Signature type"),
            "ECDSA P-256" if key_type == KEY_TYPE_ECDSA_P256 else str(key_type),
            tr("The quote is signed by an unknown kind of key."),
        ),
        require(
            tee_type == TEE_TYPE_TDX,
            "tee_type",
            tr("Enclave type"),
            "Intel TDX" if tee_type == TEE_TYPE_TDX else f"0x{tee_type:08x}",
            tr("The quote is not from an Intel TDX machine."),
        ),
    ]


def check_machine(quote: Quote) -> list[Check]:
    """What the fixed fields of a quote must say. Raises `CheckFailed`."""
    untrusted, debug = quote.td_attributes[0], bool(quote.td_attributes[0] & 1)
    without_ve = bool(quote.td_attributes[3] & 0x10)  # bit 28, SEPT_VE_DISABLE
    return [
        require(
            quote.qe_vendor == QE_VENDOR,
            "qe_vendor",
            tr("Quoting enclave"),
            quote.qe_vendor.hex(),
            tr("The quote was not made by Intel’s quoting enclave."),
        ),
        require(
            quote.seam_signer == bytes(48),
            "tdx_module",
            tr("TDX module"),
            tr("names Intel") if quote.seam_signer == bytes(48) else quote.seam_signer.hex(),
            tr("The machine’s TDX module is not Intel’s."),
        ),
        require(
            not debug,
            "debug",
            tr("Debug mode"),
            tr("on") if debug else tr("off"),
            tr("The enclave runs in debug mode. Its operator can read its memory."),
        ),
        require(
            not untrusted,
            "attributes",
            tr("Enclave attributes"),
            tr("none that weaken it") if not untrusted else f"0x{untrusted:02x}",
            tr("The enclave has an attribute that Intel reserves for enclaves that must not be trusted."),
        ),
        require(
            without_ve,
            "sept_ve",
            tr("Missing memory"),
            tr("stops the enclave") if without_ve else tr("reported to its program"),
            tr("The enclave’s operator could mislead its program by taking memory away."),
        ),
    ]


def check_quoting_enclave(quote: Quote) -> Check:
    """Whether the enclave that signed is Intel's own, not in debug mode. Its report is signed: see `chain`."""
    report = quote.qe_report
    good = report[128:160] == QE_SIGNER and _number(report, 256, 2) == QE_PRODUCT and not report[48] & QE_DEBUG
    return require(
        good,
        "qe_identity",
        tr("Quoting enclave identity"),
        report[128:160].hex(),
        tr("The quoting enclave is not Intel’s release for TDX."),
    )


def _number(raw: bytes, offset: int, size: int) -> int:
    return int.from_bytes(raw[offset : offset + size], "little")
