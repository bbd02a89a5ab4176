"""Saved evidence: it is read as it was written, checked again by a command, and refused where it is damaged."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.sealed.__main__ import DAMAGED, HOLDS, NOT_INTEL, REFUSED, main
from app.sealed.chain import Root
from app.sealed.checks import Damaged
from app.sealed.evidence import MAX_FILE_BYTES, Evidence, SavedReceipt, read_evidence
from app.sealed.gpu import NVIDIA, NvidiaAnswer
from app.sealed.receipt import ReceiptOutcome
from tests.sealed.samples import SHAPES, Sample


def evidence(shape: str = "first-shape") -> Evidence:
    sample = Sample(shape)
    return Evidence(
        model=sample.body["model"],
        nonce=sample.nonce,
        checked_at=sample.at,
        attestation=json.dumps(sample.body).encode(),
        host="service.example",
        collateral=sample.collateral,
        measurements=dict(sample.verify().measurements),
        receipts=(SavedReceipt("chatcmpl-1", hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()),),
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_evidence_is_read_as_it_was_written_and_checked_again(shape: str) -> None:
    saved = evidence(shape)
    again = read_evidence(saved.to_bytes())
    assert again == saved
    verdict = again.verify()
    assert verdict.is_full and verdict.checks[-1].id == "measurements"
    assert [receipt.outcome for _, receipt in again.check_receipts(verdict)] == [ReceiptOutcome.NONE]


def test_a_receipt_with_half_of_a_surrogate_pair_is_read_as_it_was_written() -> None:
    saved = replace(evidence(), receipts=(SavedReceipt("a", bytes(32), bytes(32), {"text": "\ud800 é"}),))
    assert read_evidence(saved.to_bytes()) == saved


def test_the_command_ends_with_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "evidence.json"
    good.write_bytes(evidence().to_bytes())
    assert main(["verify", str(good)]) == HOLDS
    said = capsys.readouterr().out
    assert "genuine Intel TDX" in said and "UpToDate" in said and "chatcmpl-1: The service has no receipt" in said

    bad = tmp_path / "bad.json"
    bad.write_bytes(replace(evidence(), nonce=b"\x01" * 32).to_bytes())
    assert main(["verify", str(bad)]) == REFUSED
    assert "The attestation answers a different nonce." in capsys.readouterr().out

    bad.write_bytes(evidence().to_bytes()[:1000])
    assert main(["verify", str(bad)]) == DAMAGED
    assert "at byte" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "none.json")]) == DAMAGED
    assert main(["check"]) == DAMAGED


def test_r_tee_18_the_command_says_that_a_file_cannot_prove_nvidias_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "evidence.json"
    path.write_bytes(replace(evidence(), nvidia=NvidiaAnswer(NVIDIA, "[]", "{}")).to_bytes())
    assert main(["verify", str(path)]) == HOLDS  # this sample has no evidence of graphics processors
    assert "NVIDIA’s keys come from this file" in capsys.readouterr().out


def test_the_command_runs_without_the_window(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_bytes(evidence("second-shape").to_bytes())
    code = "import sys; from app.sealed.__main__ import main; end = main(sys.argv[1:]);"
    code += (
        "loaded = {each.partition('.')[0] for each in sys.modules}; assert not loaded & {'PySide6', 'httpx'}, loaded;"
    )
    code += "sys.exit(end)"
    run = subprocess.run([sys.executable, "-c", code, "verify", str(path)], capture_output=True, check=False)
    assert run.returncode == HOLDS, run.stderr


def test_r_tee_05_a_file_cannot_make_its_own_root_intels() -> None:
    """A root with another fingerprint stays another root, whatever name the file gives it."""
    saved = replace(evidence(), root=Root("cd" * 32, "Intel SGX Root CA"))
    again = read_evidence(saved.to_bytes())
    assert not again.root.is_intel
    assert again.verify().refused


def test_r_tee_05_a_chain_that_holds_under_another_root_proves_no_hardware() -> None:
    assert len({HOLDS, REFUSED, DAMAGED, NOT_INTEL}) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "other"),
        ("version", 2),
        ("model", 4),
        ("host", None),
        ("nonce", "00"),
        ("nonce", "G" * 64),
        ("checked_at", "yesterday"),
        ("checked_at", "2026-06-04T12:00:00"),
        ("root", {"name": "x"}),
        ("root", {"name": "x", "sha256": "Z" * 64}),
        ("attestation", {}),
        ("collateral", {}),
        ("collateral", "{}"),
        ("nvidia", "x"),
        ("nvidia", {"issuer": "x", "tokens": "x"}),
        ("nvidia", {"issuer": "x", "tokens": "x", "keys": 4}),
        ("asked", []),
        ("asked", {"intel": "x"}),
        ("asked", {"intel": [4]}),
        ("measurements", {"mrtd": 4}),
        ("receipts", {}),
        ("receipts", [{"answer": "x", "sent": "00", "received": "00"}]),
    ],
)
def test_a_member_that_cannot_be_right_is_refused_at_its_offset(name: str, value: object) -> None:
    content = json.loads(evidence().to_bytes()) | {name: value}
    data = json.dumps(content).encode()
    with pytest.raises(Damaged) as damage:
        read_evidence(data)
    if name != "version":
        assert damage.value.offset == data.index(f'"{name}"'.encode())
    del content[name]
    if name not in ("nvidia", "asked"):  # files of before have neither
        with pytest.raises(Damaged):
            read_evidence(json.dumps(content).encode())


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"4", b"{}", b"[" * 100_000])
def test_what_is_no_evidence_is_refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        read_evidence(data)


def test_a_cut_file_is_refused_where_it_was_cut() -> None:
    whole = evidence().to_bytes()
    for size in range(1, len(whole), len(whole) // 60):
        with pytest.raises(Damaged) as damage:
            read_evidence(whole[:size])
        assert 0 <= damage.value.offset <= size


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(Damaged):
        read_evidence(b" " * (MAX_FILE_BYTES + 1))
