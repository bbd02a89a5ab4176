"""Small files made after public bug reports of other programs; the tests that use one state its right value."""

from pathlib import Path

HERE = Path(__file__).parent


def reported(name: str) -> bytes:
    """Return the bytes of one file."""
    return (HERE / name).read_bytes()
