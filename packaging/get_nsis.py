#!/usr/bin/env python3
"""Downloads the NSIS that makes the installer and puts it on the PATH of a workflow: `python packaging/get_nsis.py`.

The release is named by its SHA-256, so that nobody can put another program in its place.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path

VERSION = "3.11"
ADDRESS = f"https://downloads.sourceforge.net/project/nsis/NSIS%203/{VERSION}/nsis-{VERSION}.zip"
SHA256 = "c7d27f780ddb6cffb4730138cd1591e841f4b7edb155856901cdf5f214394fa1"
WITHIN_S = 120


def main(environ: Mapping[str, str] = os.environ, address: str = ADDRESS) -> int:
    with urllib.request.urlopen(address, timeout=WITHIN_S) as answer:
        data = answer.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256:
        print(f"NSIS {VERSION} is not the one that was checked: its SHA-256 is {digest}.", file=sys.stderr)
        return 1
    folder = Path(environ["RUNNER_TEMP"])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    with Path(environ["GITHUB_PATH"]).open("a", encoding="utf-8") as path:
        path.write(f"{folder / f'nsis-{VERSION}'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
