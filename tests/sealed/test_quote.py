"""Quotes that Intel signed: they verify, and with one byte changed anywhere they do not."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from app.sealed.chain import INTEL_ROOT, Root, check_chain
from app.sealed.checks import CheckFailed, Damaged
from app.sealed.collateral import FIELDS as COLLATERAL_FIELDS
from app.sealed.collateral import Collateral, OutOfTime, check_firmware
from app.sealed.quote import check_header, check_machine, check_quoting_enclave, decode_quote, read_quote
from tests.sealed.samples import SHAPES, VECTORS, Sample

RAW = (VECTORS / "tdx-v4.quote.bin").read_bytes()
LISTS = Collateral((VECTORS / "tdx-v4.collateral.json").read_text(encoding="utf-8"))
INSIDE = datetime(2025, 7, 1, tzinfo=UTC)

# Offset and size of each field of a quote of version 4 with 32 bytes of authentication data.
FIELDS = {
    "version": (0, 2),
    "attestation key type": (2, 2),
    "TEE type": (4, 4),
    "reserved": (8, 4),
    "QE vendor": (12, 16),
    "user data": (28, 20),
    "TEE_TCB_SVN": (48, 16),
    "MRSEAM": (64, 48),
    "MRSIGNERSEAM": (112, 48),
    "SEAMATTRIBUTES": (160, 8),
    "TDATTRIBUTES": (168, 8),
    "XFAM": (176, 8),
    "MRTD": (184, 48),
    "MRCONFIGID": (232, 48),
    "MROWNER": (280, 48),
    "MROWNERCONFIG": (328, 48),
    "RTMR0": (376, 48),
    "RTMR1": (424, 48),
    "RTMR2": (472, 48),
    "RTMR3": (520, 48),
    "REPORTDATA": (568, 64),
    "size of the signature data": (632, 4),
    "signature": (636, 64),
    "attestation key": (700, 64),
    "certification type": (764, 2),
    "certification size": (766, 4),
    "QE report": (770, 384),
    "QE CPUSVN": (770, 16),
    "QE attributes": (818, 16),
    "QE MRSIGNER": (898, 32),
    "QE ISVPRODID": (1026, 2),
    "QE ISVSVN": (1028, 2),
    "QE report data": (1090, 64),
    "QE report signature": (1154, 64),
    "size of the authentication data": (1218, 2),
    "authentication data": (1220, 32),
    "chain type": (1252, 2),
    "chain size": (1254, 4),
    "chain": (1258, 3678),
    "padding": (4936, 70),
}


def verified(raw: bytes) -> str:
    """The status of a quote that passes every check; raises what refuses it."""
    check_header(raw)
    quote = read_quote(raw)
    check_machine(quote)
    check_quoting_enclave(quote)
    chain = check_chain(quote, INTEL_ROOT, INSIDE)
    return check_firmware(raw, LISTS, chain.root_der, INSIDE).value


def changed(offset: int, by: int = 1) -> bytes:
    raw = bytearray(RAW)
    raw[offset] ^= by
    return bytes(raw)


def places(offset: int, size: int) -> list[int]:
    """First, middle and last byte; of the certificates more."""
    step = 13 if size > 1000 else max(1, size // 2)
    return sorted({*range(offset, offset + size, step), offset + size - 1})


def test_r_tee_03_and_r_tee_05_a_quote_that_intel_signed_verifies() -> None:
    assert verified(RAW) == "UpToDate"


def test_the_fields_are_all_of_a_quote() -> None:
    covered = {place for offset, size in FIELDS.values() for place in range(offset, offset + size)}
    assert covered == set(range(len(RAW)))


@pytest.mark.parametrize("name", FIELDS)
def test_r_tee_03_a_quote_with_one_byte_changed_is_refused(name: str) -> None:
    for place in places(*FIELDS[name]):
        for by in (0x01, 0x80):
            with pytest.raises((CheckFailed, Damaged)):
                verified(changed(place, by))


@pytest.mark.parametrize("shape", SHAPES)
def test_r_tee_03_and_r_tee_05_no_field_of_another_real_quote_can_be_changed(shape: str) -> None:
    sample = Sample(shape)
    assert not sample.verify(collateral=sample.collateral).refused
    end = len(sample.raw)
    fields = {**FIELDS, "chain": (1258, end - 1258 - len(sample.raw) + len(sample.raw.rstrip(b"\0")) + 1)}
    del fields["padding"]
    for name, (offset, size) in fields.items():
        for place in {offset, offset + size // 2, offset + size - 1}:

            def change(raw: bytearray, place: int = place) -> None:
                raw[place] ^= 1

            changed_one = Sample(shape).with_quote(change)
            assert changed_one.verify(collateral=sample.collateral).refused, (name, place)


# not the issuer of the list of revoked processors: the library takes that from the quote's own chain
@pytest.mark.parametrize("name", [name for name in COLLATERAL_FIELDS if name != "pck_crl_issuer_chain"])
def test_r_tee_06_no_list_can_be_changed(name: str) -> None:
    root = check_chain(read_quote(RAW), INTEL_ROOT, INSIDE).root_der
    content = json.loads(LISTS.text)
    text = content[name]
    begin = len(text) // 4  # of a chain: the certificate that signed; the root that counts is the pinned one
    place = next(at for at in range(begin, len(text)) if text[at].isalnum())
    content[name] = f"{text[:place]}{'1' if text[place] != '1' else '2'}{text[place + 1 :]}"
    with pytest.raises((CheckFailed, Damaged)):
        check_firmware(RAW, Collateral(json.dumps(content)), root, INSIDE)


def test_r_tee_03_a_byte_is_found_without_intels_lists_too() -> None:
    for offset, size in FIELDS.values():
        raw = changed(offset + size - 1)
        with pytest.raises((CheckFailed, Damaged)):
            check_header(raw)
            quote = read_quote(raw)
            check_machine(quote)
            check_quoting_enclave(quote)
            check_chain(quote, INTEL_ROOT, INSIDE)


# Each bit of the byte that Intel reserves for enclaves under debug; SEPT_VE_DISABLE, which must be set.
UNTRUSTED = [*((168, 1 << bit, "attributes") for bit in range(1, 8)), (171, 0, "sept_ve")]


@pytest.mark.parametrize(
    ("offset", "value", "identifier"),
    [(0, 3, "version"), (0, 5, "version"), (2, 3, "key_type"), (4, 0, "tee_type"), (168, 1, "debug"), *UNTRUSTED],
)
def test_r_tee_03_other_kinds_of_quote_are_refused_by_name(offset: int, value: int, identifier: str) -> None:
    raw = bytearray(RAW)
    raw[offset] = value
    with pytest.raises(CheckFailed) as refused:
        check_header(bytes(raw))
        check_machine(read_quote(bytes(raw)))
    assert refused.value.check.id == identifier


def test_version_5_is_refused_by_its_version() -> None:
    with pytest.raises(CheckFailed) as refused:
        check_header((VECTORS / "tdx-v5.quote.bin").read_bytes())
    assert (refused.value.check.id, refused.value.check.value) == ("version", "5")


def test_r_tee_05_another_root_is_refused() -> None:
    with pytest.raises(CheckFailed) as refused:
        check_chain(read_quote(RAW), Root("0" * 64, "another root"), INSIDE)
    assert refused.value.check.id == "root"


@pytest.mark.parametrize("day", [datetime(2018, 1, 1, tzinfo=UTC), datetime(2050, 1, 1, tzinfo=UTC)])
def test_certificates_that_are_not_valid_are_refused(day: datetime) -> None:
    with pytest.raises(CheckFailed) as refused:
        check_chain(read_quote(RAW), INTEL_ROOT, day)
    assert refused.value.check.id == "chain"


def test_a_chain_says_whose_lists_to_ask_for() -> None:
    chain = check_chain(read_quote(RAW), INTEL_ROOT, INSIDE)
    assert (chain.fmspc, chain.issuer) == ("b0c06f000000", "platform")


@pytest.mark.parametrize(
    ("size", "offset"), [(0, 0), (699, 699), (700, 632), (1200, 632), (4935, 632)], ids=lambda each: str(each)
)
def test_a_quote_that_is_cut_names_the_offset(size: int, offset: int) -> None:
    with pytest.raises(Damaged) as damage:
        read_quote(RAW[:size])
    assert damage.value.offset == offset


@pytest.mark.parametrize(("offset", "named"), [(764, 764), (766, 766), (1252, 1252), (1254, 1254), (5000, 5000)])
def test_damage_is_named_by_its_offset(offset: int, named: int) -> None:
    with pytest.raises(Damaged) as damage:
        read_quote(changed(offset))
    assert damage.value.offset == named


def test_a_byte_between_two_certificates_is_damage_at_its_offset() -> None:
    place = RAW.index(b"-----END CERTIFICATE-----") + 25
    with pytest.raises(Damaged) as damage:
        check_chain(read_quote(changed(place, 0x01)), INTEL_ROOT, INSIDE)
    assert damage.value.offset == place


def test_quotes_come_as_hex_or_base64() -> None:
    for text in (RAW.hex(), f"0x{RAW.hex().upper()}", base64.b64encode(RAW).decode(), f" {RAW.hex()}\n"):
        assert decode_quote(text) == RAW


@pytest.mark.parametrize(("text", "offset"), [("04000", 5), ("04zz!", 4), ("", 0), ("aGVsbG8", 7)])
def test_anything_else_is_damage(text: str, offset: int) -> None:
    if not text:
        assert decode_quote(text) == b""
        return
    with pytest.raises(Damaged) as damage:
        decode_quote(text)
    assert damage.value.offset == offset


def test_r_tee_06_lists_of_another_day_are_asked_for_again() -> None:
    chain = check_chain(read_quote(RAW), INTEL_ROOT, INSIDE)
    for now in (INSIDE - timedelta(days=30), INSIDE + timedelta(days=30)):
        with pytest.raises(OutOfTime):
            check_firmware(RAW, LISTS, chain.root_der, now)


def test_r_tee_06_a_machine_behind_its_lists_is_refused() -> None:
    raw = (VECTORS / "tdx-v5.quote.bin").read_bytes()
    lists = Collateral((VECTORS / "tdx-v5.collateral.json").read_text(encoding="utf-8"))
    root = check_chain(read_quote(RAW), INTEL_ROOT, INSIDE).root_der
    with pytest.raises(CheckFailed) as refused:
        check_firmware(raw, lists, root, datetime(2026, 3, 1, tzinfo=UTC))
    assert "No matching TCB level found" in refused.value.check.reason
    assert not isinstance(refused.value, OutOfTime)


def test_r_tee_06_lists_say_how_long_they_are_good() -> None:
    assert LISTS.good_until() == datetime(2025, 7, 19, 10, 16, 3, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", LISTS.text[:4000], "[" * 100_000])
def test_damaged_lists_are_refused(text: str) -> None:
    with pytest.raises(Damaged):
        Collateral(text)
