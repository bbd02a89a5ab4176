"""`python -m tests.sealed.recipes`: a published client meets every lie of the Sandbox, as a table in Markdown.

It needs `npm` and a package index, so it is no part of the suite. What Rialto does with the same lies is held by
`tests/service/test_sealed.py` and `tests/ui/test_chat_sealed.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.kit.sealed import MODEL
from tests.sandbox.support import Client, running
from tests.service.test_sealed import BROKEN, REFUSED

CLIENT = "venice-e2ee@0.5.3"
NOT_REFUSED: tuple[tuple[int, str, dict[str, object]], ...] = (  # Rialto says these, and goes on
    (16, "gpu", {"kind": "empty"}),
    (17, "measurements", {}),
    (24, "lost_chunk", {"kind": "blank"}),
    (24, "lost_chunk", {"kind": "dropped"}),
    (27, "receipt", {"kind": "other_text"}),
    (27, "receipt", {"kind": "other_key"}),
)


def lies() -> Iterator[tuple[int, str, dict[str, object]]]:
    """The number, name and values of every lie, in order."""
    rows = [(number, name, values) for number, name, values, *_ in (*REFUSED, *BROKEN)]
    yield from sorted([*rows, *NOT_REFUSED], key=lambda row: row[0])


def ask(sandbox: Client, folder: Path) -> dict[str, Any]:
    """What one chat of the client came to."""
    base = sandbox.running.base_url.removesuffix("/api/v1")
    call = ["node", "recipe.mjs", base, sandbox.running.api_key, MODEL]
    ended = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


def outcome(said: dict[str, Any]) -> str:
    if said["stage"] == "done":
        return "not noticed"
    reason = " ".join(said["reason"].split()).replace("|", "/")
    return f"refused at the {said['stage']}: {reason[:120]}"


def main() -> int:
    """Return what the process ends with: 0 when the honest chat went well."""
    with tempfile.TemporaryDirectory() as name, running(Path(name) / "sandbox", dialect="venice") as sandbox:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module"}', "utf-8")
        (folder / "recipe.mjs").write_text(Path(__file__).with_name("recipe.mjs").read_text("utf-8"), "utf-8")
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", CLIENT], cwd=folder, check=True, stdout=sys.stderr)
        honest = ask(sandbox, folder)
        print(f"{CLIENT}, an honest enclave: {honest['stage']}, turns in the clear: {len(honest['clear'])}\n")
        print("| # | Lie | Outcome |\n|---|---|---|")
        for number, lie, values in lies():
            sandbox.control("/faults", method="DELETE")
            sandbox.fault(f"sealed_{lie}", **values)
            sandbox.turn_clock(61 * (number + 1))  # ten attestations a minute
            print(f"| {number} | {lie} {values.get('kind', '')} | {outcome(ask(sandbox, folder))} |", flush=True)
    return 0 if honest["stage"] == "done" and not honest["clear"] else 1


if __name__ == "__main__":
    sys.exit(main())
