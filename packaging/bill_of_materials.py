"""The software bill of materials: CycloneDX 1.5 JSON of everything that the lock file pins for this system."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

BLOCK = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)[^\n]*\n((?:[ \t]+[^\n]*\n?)*)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, object]]:
    """Return one component for each pinned package, in the order of their names."""
    found = []
    for name, version, rest in BLOCK.findall(lock):
        plain = re.sub(r"[-_.]+", "-", name).lower()
        address = f"pkg:pypi/{plain}@{version}"
        found.append(
            {
                "type": "library",
                "bom-ref": address,
                "name": plain,
                "version": version,
                "purl": address,
                # the hashes of every wheel that the version may be installed from
                "properties": [{"name": "rialto:wheel-sha256", "value": digest} for digest in HASH.findall(rest)],
            }
        )
    return sorted(found, key=lambda part: str(part["bom-ref"]))


def write(lock: Path, target: Path, version: str, epoch: int) -> None:
    """Write the bill of a release made at `epoch` (seconds). No serial number, so that it can be made again."""
    when = datetime.datetime.fromtimestamp(epoch, datetime.UTC).isoformat().replace("+00:00", "Z")
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when,
            "component": {"type": "application", "bom-ref": "rialto", "name": "rialto", "version": version},
        },
        "components": components(lock.read_text(encoding="utf-8")),
    }
    target.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8", newline="\n")
