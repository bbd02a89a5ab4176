"""QR codes of addresses. Each digest was pinned after ZXing, which shares no code with segno, had read that code."""

from __future__ import annotations

import hashlib

import pytest

from app.ui.wallet.qr_view import qr_code

READ = {
    "0x32039A48f9599f57eCee4dCced9c86A746Efe1dd": (
        29,
        "eeb744f3245d3b8532d8ff93026168363924d6c1bcce5ff621ccacbdb01f8a12",
    ),
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": (
        33,
        "e7b69f4bb9befe5d725a1ae94e43589feecc01c8825d44cc705756b81ec13ab9",
    ),
    "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913@8453": (
        33,
        "7155bae6fad9a7056cc5fc3602bb1162b3c925d353fb829d3e2b90cce248d7e6",
    ),
    "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913@8453/transfer"
    "?address=0x32039A48f9599f57eCee4dCced9c86A746Efe1dd&uint256=5000000": (
        49,
        "74cdd8a0ef971aa91792b5cc75481bf6ac18bfa78448c720fd86ddd22ab6f980",
    ),
}


@pytest.mark.parametrize("text", READ)
def test_a_code_is_the_one_that_another_program_could_read(text: str) -> None:
    grid = qr_code(text)
    modules = "".join("1" if dark else "0" for row in grid for dark in row)
    assert (len(grid), hashlib.sha256(modules.encode()).hexdigest()) == READ[text]


def test_what_does_not_fit_is_refused_instead_of_being_cut() -> None:
    assert len(qr_code("x" * 2331)) == 177
    with pytest.raises(ValueError, match="too large"):
        qr_code("x" * 2332)
