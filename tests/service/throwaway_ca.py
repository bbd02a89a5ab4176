"""A certificate authority that lives for one test, and servers' certificates of every quality."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@cache
def _key(_name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _made(
    subject: str, issuer: str, *, hosts: tuple[str, ...] = (), from_day: int = -1, to_day: int = 30, is_ca: bool = False
) -> x509.Certificate:
    now = datetime.now(UTC)
    key, issuer_key = _key(subject), _key(issuer)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + from_day * DAY)
        .not_valid_after(now + to_day * DAY)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if is_ca:
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
    if hosts:
        names = [_host(host) for host in hosts]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@dataclass(frozen=True, slots=True)
class Authority:
    """`file` is what a person chooses in Settings; `folder` is where servers' files are written."""

    name: str
    folder: Path

    @property
    def file(self) -> Path:
        path = self.folder / f"{self.name}.pem"
        if not path.exists():
            certificate = _made(self.name, self.name, is_ca=True, to_day=60)
            path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return path

    def server(self, *hosts: str, from_day: int = -1, to_day: int = 30, subject: str = "") -> ssl.SSLContext:
        """A server's context with a certificate for `hosts`, valid between two days from now."""
        subject = subject or hosts[0]
        certificate = _made(subject, self.name, hosts=hosts, from_day=from_day, to_day=to_day)
        path = self.folder / f"{subject}-{from_day}-{to_day}.pem"
        key = _key(subject).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(key + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def pem(subject: str = "Old Office", **options: int) -> bytes:
    """One self-signed certificate as PEM."""
    return _made(subject, subject, **options).public_bytes(serialization.Encoding.PEM)  # type: ignore[arg-type] # days
