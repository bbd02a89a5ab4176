"""A stand-in for the service, on this computer."""

from pathlib import Path

_INSIDE = Path(__file__).resolve().parent / "resources"  # where this package is a distribution of its own
RESOURCES = _INSIDE if _INSIDE.is_dir() else Path(__file__).resolve().parents[2] / "resources"
