"""File names that every system takes, made of titles that somebody else may have written."""

from __future__ import annotations

import re
from pathlib import Path

# Disks take 255 bytes; this leaves room for a number behind the name and for the name of a file that is being written.
MAX_BYTES = 200
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
# Windows keeps these for devices, whatever follows behind a dot.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(\.|$))", re.IGNORECASE)


def file_name(title: str, suffix: str = "", *, otherwise: str) -> str:
    """Return `title` as the name of a file that ends in `suffix` (".mp3"), at most 200 bytes long.

    What no disk takes, or what would change the direction of the text, becomes a space; a name that Windows keeps for
    itself gets an underscore in front. `otherwise` is the stem when nothing is left.
    """
    words = " ".join(_UNSAFE.sub(" ", title).split()).strip(". ")
    room = MAX_BYTES - len(suffix.encode())
    stem = words.encode()[:room].decode("utf-8", "ignore").rstrip(". ") or otherwise
    return f"_{stem}{suffix}" if is_reserved(stem) else f"{stem}{suffix}"


def is_reserved(name: str) -> bool:
    """Whether Windows keeps a name for one of its devices: "nul", "COM1", "con.txt"."""
    return _RESERVED.match(name) is not None


def free_path(path: Path) -> Path:
    """Return the path, with a number behind its name where a file is there already. Blocking."""
    names = (path, *(path.with_name(f"{path.stem} ({number}){path.suffix}") for number in range(2, 10_000)))
    return next((each for each in names if not each.exists()), path)
