"""Reads certificates: describes one, and loads a CA file to be trusted in addition to the system's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import ExtensionOID, NameOID

from app.files import TooLarge, read_regular
from app.formats import current, written
from app.translation import tr

MAX_FILE_BYTES = 2 * 1024 * 1024  # a whole system's bundle is a quarter of that
MAX_TEXT_CHARS = 80
MAX_NAMES = 8
_NAMES_IN_ORDER = (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME)


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate in words. The texts are bounded and printable; they are whatever its maker wrote."""

    subject: str
    issuer: str
    valid_from: datetime
    valid_until: datetime
    hosts: tuple[str, ...] = ()

    @property
    def is_self_signed(self) -> bool:
        return self.subject == self.issuer


class CertificateRefused(ValueError):
    """A file that cannot be used; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def read_ca_file(path: Path, *, now: datetime | None = None) -> tuple[Certificate, ...]:
    """Return the certificates of a PEM file that hold today. Waits for the disk. Raises `CertificateRefused`."""
    name = _text(path.name)
    try:
        data = read_regular(path, MAX_FILE_BYTES)
    except TooLarge:
        raise CertificateRefused(tr("{name} is too large to be a certificate.", name=name)) from None
    except OSError as error:
        raise CertificateRefused(
            tr("{name} cannot be read: {strerror}.", name=name, strerror=error.strerror or tr("it is not a file"))
        ) from None
    if b"PRIVATE KEY" in data:
        raise CertificateRefused(
            tr(
                "{name} contains a private key, which only its server should see. Choose the certificate alone.",
                name=name,
            )
        )
    found = _certificates(data, name)
    now = now or datetime.now(UTC)
    valid = tuple(each for each in found if each.valid_from <= now <= each.valid_until)
    if valid:
        return valid
    first = found[0]
    if first.valid_from > now:
        raise CertificateRefused(
            tr(
                "The certificate in {name} is valid from {valid_from} only.",
                name=name,
                valid_from=day(first.valid_from),
            )
        )
    raise CertificateRefused(
        tr("The certificate in {name} expired on {valid_until}.", name=name, valid_until=day(first.valid_until))
    )


def read_certificate(der: bytes) -> Certificate | None:
    """Return what a certificate in its binary form says, None when it cannot be read."""
    try:
        return _described(x509.load_der_x509_certificate(der))
    except (ValueError, x509.ExtensionNotFound):
        return None


def day(moment: datetime) -> str:
    return written(moment, current().date.replace("MMM", "MMMM"))


def _certificates(data: bytes, name: str) -> list[Certificate]:
    if b"-----BEGIN CERTIFICATE-----" not in data:
        if read_certificate(data) is not None:
            raise CertificateRefused(
                tr("{name} contains a certificate in binary form. Save it as PEM and choose that file.", name=name)
            )
        raise CertificateRefused(tr("{name} contains no certificate.", name=name))
    try:
        return [_described(each) for each in x509.load_pem_x509_certificates(data)]
    except ValueError:
        raise CertificateRefused(tr("The certificate in {name} is damaged.", name=name)) from None


def _described(certificate: x509.Certificate) -> Certificate:
    return Certificate(
        subject=_name(certificate.subject),
        issuer=_name(certificate.issuer),
        valid_from=certificate.not_valid_before_utc,
        valid_until=certificate.not_valid_after_utc,
        hosts=_hosts(certificate),
    )


def _name(name: x509.Name) -> str:
    for wanted in _NAMES_IN_ORDER:
        for attribute in name.get_attributes_for_oid(wanted):
            text = _text(str(attribute.value))
            if text:
                return text
    return _text(name.rfc4514_string()) or "nobody"


def _hosts(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    if not isinstance(names, x509.SubjectAlternativeName):
        return ()
    hosts = [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
    return tuple(_text(host) for host in hosts[:MAX_NAMES])


def _text(text: str) -> str:
    """A stranger's text, as it may be shown."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(shown.split())[:MAX_TEXT_CHARS]
