"""Certificate files that a person chooses: what is in them, or in one sentence why they cannot be used."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from app.service.http.certificates import MAX_FILE_BYTES, CertificateRefused, read_ca_file, read_certificate
from tests.service.throwaway_ca import Authority, pem


def test_a_good_file_says_whose_it_is(tmp_path: Path) -> None:
    (found,) = read_ca_file(Authority("Office CA", tmp_path).file)
    assert (found.subject, found.issuer, found.is_self_signed) == ("Office CA", "Office CA", True)
    assert found.hosts == ()


def test_a_bundle_counts_by_what_still_holds(tmp_path: Path) -> None:
    path = tmp_path / "bundle.pem"
    path.write_bytes(pem("Old", from_day=-9, to_day=-2) + b"some words between\n" + pem("New"))
    assert [each.subject for each in read_ca_file(path)] == ["New"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello", "contains no certificate."),
        (b"", "contains no certificate."),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is damaged."),
        (b"-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "contains a private key"),
        (pem() + b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "contains a private key"),
        (pem(from_day=-9, to_day=-2), "expired on "),
        (pem(from_day=2), "is valid from "),
        (ssl.PEM_cert_to_DER_cert(pem().decode()), "in binary form. Save it as PEM"),
        (b"x" * (MAX_FILE_BYTES + 1), "too large to be a certificate."),
    ],
    ids=["text", "empty", "damaged", "key", "key beside it", "expired", "not yet", "binary", "huge"],
)
def test_a_file_that_cannot_be_used_says_why(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "office.pem"
    path.write_bytes(content)
    with pytest.raises(CertificateRefused) as caught:
        read_ca_file(path)
    assert words in caught.value.sentence
    assert "office.pem" in caught.value.sentence


def test_what_is_no_file_says_so(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.pem"):
        with pytest.raises(CertificateRefused) as caught:
            read_ca_file(path)
        assert "cannot be read" in caught.value.sentence


def test_texts_of_strangers_are_bounded_and_printable(tmp_path: Path) -> None:
    path = tmp_path / "odd.pem"
    path.write_bytes(pem("a\n\u202eb" + "c" * 40))
    (found,) = read_ca_file(path)
    assert found.subject == "a b" + "c" * 40
    assert read_certificate(b"nothing") is None


def test_hosts_of_a_servers_certificate(tmp_path: Path) -> None:
    Authority("Office CA", tmp_path).server("a.example", "192.0.2.1")
    text = next(tmp_path.glob("a.example*")).read_text()
    found = read_certificate(ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERT") :]))
    assert found is not None
    assert found.hosts == ("a.example", "192.0.2.1")
    assert not found.is_self_signed


def test_a_certificate_without_a_common_name_is_called_by_what_it_has() -> None:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    from app.service.http.certificates import _name

    organisation = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Contoso")
    assert _name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, " \u200b "), organisation])) == "Contoso"
    assert _name(x509.Name([x509.NameAttribute(NameOID.COUNTRY_NAME, "IS")])) == "C=IS"
    assert _name(x509.Name([])) == "nobody"
