"""Contracts' interfaces (ABIs) that a person loaded: one plain text file for each contract address.

A file holds what was loaded, as it was: a compiler's JSON, or signatures, one a line. Nothing in it is secret.
"""

from __future__ import annotations

import re
from pathlib import Path

from app.storage.atomic_files import make_folder, write_atomically
from app.storage.errors import unavailable
from app.translation import tr

MAX_INTERFACE_BYTES = 8 * 1024 * 1024
_ADDRESS = re.compile(r"0x[0-9a-f]{40}")


class RpcInterfaces:
    """The files of one folder. Blocking: call its methods in a thread. All raise `StorageUnavailable`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read_all(self) -> dict[str, str]:
        """The text for each address, in lower case. What is too large or no text is left out."""
        found: dict[str, str] = {}
        try:
            paths = sorted(self.folder.glob("0x*.abi")) if self.folder.exists() else []
            for path in paths:
                if _ADDRESS.fullmatch(path.stem) and path.stat().st_size <= MAX_INTERFACE_BYTES:
                    found[path.stem] = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise unavailable(error, self.folder, tr("Reading the contracts’ interfaces")) from error
        return found

    def save(self, address: str, text: str) -> None:
        """Keep the interface of a contract. Raises `ValueError` for what is no address."""
        name = address.lower()
        if not _ADDRESS.fullmatch(name):
            raise ValueError("an interface belongs to an address of 0x and 40 digits")
        make_folder(self.folder)
        write_atomically(self.folder / f"{name}.abi", text.encode())

    def remove(self, address: str) -> None:
        path = self.folder / f"{address.lower()}.abi"
        if _ADDRESS.fullmatch(path.stem):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise unavailable(error, path, tr("Removing an interface")) from error
