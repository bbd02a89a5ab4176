"""The licences of everything that is shipped, read from the installed packages themselves."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from environments import ROOT
from locks import pinned

NAMES = ("licen", "copying", "notice", "authors")


def text(environment: Path, lock: Path) -> str:
    """Return Rialto's licence, the fonts', and each package's name, version, licence and licence files."""
    shipped = pinned(lock.read_text(encoding="utf-8"))
    parts = [
        "Rialto's own code is under the MIT licence. With the Sandbox's engines (espeak-ng, and x264 within PyAV),\n"
        "the whole is under the GNU General Public License, version 3 or later.\n",
        (ROOT / "LICENSE").read_text(encoding="utf-8"),
    ]
    for path in sorted((ROOT / "resources" / "fonts").glob("*-OFL.txt")):
        parts.append(f"{path.name.partition('-')[0]} (font)\n\n{path.read_text(encoding='utf-8')}")
    for distribution in sorted(_distributions(environment), key=lambda one: one.metadata["Name"].lower()):
        name = distribution.metadata["Name"]
        if name.lower().replace("_", "-") in shipped:
            parts.append(f"{name} {distribution.version}: {licence_of(distribution)}\n\n{_files(distribution)}")
    return f"\n{'=' * 100}\n\n".join(parts)


def licence_of(distribution: metadata.Distribution) -> str:
    """Return the licence as the authors name it, in one line."""
    said = distribution.metadata
    words = _first(said, "License-Expression") or _first(said, "License").strip().partition("\n")[0]
    trove = [value.rpartition(" :: ")[2] for value in said.get_all("Classifier") or [] if value.startswith("License")]
    return words[:120] or ", ".join(trove) or "see its files"


def _first(said: metadata.PackageMetadata, key: str) -> str:
    return str(next(iter(said.get_all(key) or [""])))


def _distributions(environment: Path) -> list[metadata.Distribution]:
    folders = [
        str(path) for path in (*environment.glob("lib/python*/site-packages"), environment / "Lib/site-packages")
    ]
    return list(metadata.distributions(path=folders))


def _files(distribution: metadata.Distribution) -> str:
    found = []
    for entry in distribution.files or []:
        name = entry.name.lower()
        if ".dist-info" in str(entry) and any(name.startswith(word) for word in NAMES):
            found.append(Path(str(distribution.locate_file(entry))).read_text(encoding="utf-8", errors="replace"))
    return "\n".join(found)
