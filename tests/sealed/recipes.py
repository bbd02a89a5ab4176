"""`python -m tests.sealed.recipes`: published clients meet every lie of the Sandbox, as a table in Markdown.

It needs `npm` and package indexes, so it is no part of the suite. What Rialto does with the same lies is held by
`tests/service/test_sealed.py` and `tests/ui/test_chat_sealed.py`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.sealed import MODEL
from tests.sandbox.support import Client, running
from tests.service.test_sealed import BROKEN, REFUSED

NPM, PYPI = "venice-e2ee@0.5.3", "venice-py[e2ee,e2ee-verify]==2.9.0"
ALIAS = "e2ee-rialto"  # the second one seals for names with this beginning only
NOT_REFUSED: tuple[tuple[int, str, dict[str, object]], ...] = (  # Rialto says these, and goes on
    (16, "gpu", {"kind": "empty"}),
    (17, "measurements", {}),
    (24, "lost_chunk", {"kind": "blank"}),
    (24, "lost_chunk", {"kind": "dropped"}),
    (27, "receipt", {"kind": "other_text"}),
    (27, "receipt", {"kind": "other_key"}),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    title: str
    command: tuple[str, ...]  # takes base address, key and model behind it
    model: str
    more: tuple[str, ...] = ()
    strip: str = ""  # of the base address

    def ask(self, sandbox: Client, folder: Path) -> dict[str, Any]:
        """What one chat of the client came to."""
        base = sandbox.running.base_url.removesuffix(self.strip)
        call = [*self.command, base, sandbox.running.api_key, self.model, *self.more]
        ended = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
        said: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return said


def install(folder: Path) -> tuple[Recipe, ...]:
    """Unmodified, from their package indexes."""
    for name in ("recipe.mjs", "recipe.py"):
        shutil.copy(Path(__file__).with_name(name), folder)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", NPM], cwd=folder, check=True, stdout=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "own"], cwd=folder, check=True)
    python = str(folder / "own" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", PYPI], cwd=folder, check=True, stdout=sys.stderr)
    run = (python, "recipe.py")
    return (
        Recipe(NPM, ("node", "recipe.mjs"), MODEL, strip="/api/v1"),
        Recipe(PYPI, run, ALIAS, ("usual",)),
        Recipe(f"{PYPI}, checking quotes", run, ALIAS, ("quotes",)),
        Recipe(f"{PYPI}, with an earlier answer", run, ALIAS, ("history",)),
    )


def lies() -> Iterator[tuple[int, str, dict[str, object]]]:
    """The number, name and values of every lie, in order."""
    rows = [(number, name, values) for number, name, values, *_ in (*REFUSED, *BROKEN)]
    yield from sorted([*rows, *NOT_REFUSED], key=lambda row: row[0])


def outcome(said: dict[str, Any]) -> str:
    if said["stage"] == "done":
        return "not noticed"
    reason = " ".join(said["reason"].split()).replace("|", "/")
    return f"refused at the {said['stage']}: {reason[:90]}"


def main() -> int:
    """Return what the process ends with: 0 when the honest chats went well."""
    well = True
    with tempfile.TemporaryDirectory() as name, running(Path(name) / "sandbox", dialect="venice") as sandbox:
        folder = Path(name)
        *recipes, with_history = install(folder)
        for recipe in (*recipes, with_history):
            said, clear = recipe.ask(sandbox, folder), len(sandbox.control("/sealed/seen", method="GET")["clear"])
            well &= recipe is with_history or (said["stage"] == "done" and not clear)
            print(f"{recipe.title}: an honest chat: {outcome(said)}, turns in the clear: {clear}\n")
        print("| # | Lie |", " | ".join(recipe.title for recipe in recipes), "|")
        print("|---" * (len(recipes) + 2) + "|")
        for number, lie, values in lies():
            cells = []
            for place, recipe in enumerate(recipes):
                sandbox.control("/faults", method="DELETE")
                sandbox.fault(f"sealed_{lie}", **values)
                sandbox.turn_clock(61 * (len(recipes) * number + place + 1))  # ten attestations a minute
                cells.append(outcome(recipe.ask(sandbox, folder)))
            print(f"| {number} | {lie} {values.get('kind', '')} |", " | ".join(cells), "|", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
