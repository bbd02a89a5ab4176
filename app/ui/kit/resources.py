"""Where the files that ship with the program are."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def resources_folder() -> Path:
    """Return the folder with icons, themes and fonts: beside `app` in a checkout and in a frozen build."""
    return Path(__file__).resolve().parents[3] / "resources"
