"""Whom a built program asks for newer versions: an address and the first root.json of a TUF repository, or nobody.

Both or neither, like the credentials for signing. The repository holds `metadata/` and `targets/releases.json`, which
is `{"version": "1.2.0", "page": "https://…"}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from progress import Refusal

ADDRESS, ROOT_FILE = "RIALTO_UPDATE_FEED", "RIALTO_UPDATE_ROOT"


def check(environ: Mapping[str, str]) -> bool:
    """Return whether there is a feed. Raises `Refusal` for half of one, an open address or a root that is none."""
    missing = [name for name in (ADDRESS, ROOT_FILE) if not environ.get(name)]
    if missing:
        if len(missing) == 1:
            raise Refusal(f"An update feed needs {missing[0]} too: set {ADDRESS} and {ROOT_FILE}, or neither.")
        return False
    if not environ[ADDRESS].startswith("https://"):
        raise Refusal(f"{ADDRESS} must begin with https://.")
    try:
        signed = json.loads(Path(environ[ROOT_FILE]).read_bytes())["signed"]
        if signed["_type"] != "root":
            raise ValueError("not a root")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{ROOT_FILE} names no root.json of a TUF repository: {error}.") from error
    return True


def write(folder: Path, environ: Mapping[str, str]) -> bool:
    """Write the two files that the program reads, if there is a feed. Raises `Refusal`."""
    if not check(environ):
        return False
    base = environ[ADDRESS].rstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    told = {"metadata": f"{base}/metadata/", "targets": f"{base}/targets/"}
    (folder / "feed.json").write_text(json.dumps(told, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    (folder / "root.json").write_bytes(Path(environ[ROOT_FILE]).read_bytes())
    return True
