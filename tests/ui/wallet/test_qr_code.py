"""QR codes of addresses. Each digest was pinned after ZXing, which shares no code with ours, had read that code."""

from __future__ import annotations

import hashlib

import pytest

from app.ui.wallet.qr_code import qr_code

READ = {
    "0x32039A48f9599f57eCee4dCced9c86A746Efe1dd": (
        29,
        "eeb744f3245d3b8532d8ff93026168363924d6c1bcce5ff621ccacbdb01f8a12",
    ),
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": (
        33,
        "2dd3f142dcd999f615a930297b05270c0b7b61224daffc7d33400ddd7a90b18d",
    ),
    "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913@8453": (
        33,
        "ee36edbd158b0d5092969fe4584fe00e93d6fae0b4a64654795c46a3b0dba0e0",
    ),
}


@pytest.mark.parametrize("text", READ)
def test_a_code_is_the_one_that_another_program_could_read(text: str) -> None:
    grid = qr_code(text.encode())
    modules = "".join("1" if dark else "0" for row in grid for dark in row)
    assert (len(grid), hashlib.sha256(modules.encode()).hexdigest()) == READ[text]


def test_what_does_not_fit_is_refused_instead_of_being_cut() -> None:
    assert len(qr_code(b"x" * 62)) == 33
    with pytest.raises(ValueError, match="too long"):
        qr_code(b"x" * 63)
