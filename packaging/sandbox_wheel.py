"""The Sandbox as a distribution of its own, `rialto-sandbox`: a wheel and a source distribution of the same tree.

Its package is called `rialto_sandbox`, because `app` would collide with what other programs call theirs. It needs no Qt
and no engine; those are extras.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path

import wheel_backend
from environments import ROOT
from progress import Refusal, step

NAME, PACKAGE = "rialto-sandbox", "rialto_sandbox"
HERE = ROOT / "packaging" / "sandbox"
NEEDED = ("h11", "python-multipart")
OF_CHAINS = ("py-evm", "eth-account", "coincurve", "pycryptodome", "cryptography")
EXTRAS = {
    "speech": ("espeakng-loader", "soundfile", "numpy"),
    "transcription": ("pocketsphinx", "soundfile", "numpy", "av"),
    "images": ("pillow",),
    "video": ("av", "pillow", "numpy"),
    "chains": OF_CHAINS,  # and wallets that sign in or pay, and sealed chats
    "record": ("httpx",),
    "yaml": ("ruamel.yaml",),
}
BESIDE_ENGINES = ("msgspec", "httpx")  # for --data, and for model servers on the same computer


def make(work: Path, target: Path, epoch: int) -> list[Path]:
    """Write the wheel and the source distribution into `target`, made in the folder `work`. Raises `Refusal`."""
    with step("Packing the Sandbox as a wheel"):
        shutil.rmtree(work, ignore_errors=True)
        _lay_out(work)
        return [wheel_backend.wheel(work, target, epoch), wheel_backend.source(work, target, epoch)]


def _lay_out(work: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = work / PACKAGE
    for path in sorted((ROOT / "app" / "sandbox").rglob("*.py")):
        written = package / path.relative_to(ROOT / "app" / "sandbox")
        written.parent.mkdir(parents=True, exist_ok=True)
        text = renamed(path.read_text(encoding="utf-8"))
        if strangers := _imports_of_app(text):
            raise Refusal(f"{path.relative_to(ROOT)} imports {strangers[0]}, which is no part of the Sandbox.")
        written.write_text(text, encoding="utf-8", newline="\n")
    with (package / "__init__.py").open("a", encoding="utf-8", newline="\n") as first:
        first.write(f"__version__ = {json.dumps(project['version'])}\n")
    for name in ("data", "handbook", "sandbox_page"):
        shutil.copytree(ROOT / "resources" / name, package / "resources" / name)
    for path in (ROOT / "LICENSE", *HERE.iterdir(), ROOT / "packaging" / "wheel_backend.py"):
        shutil.copy(path, work / path.name)
    (work / "pyproject.toml").write_text(_pyproject(project), encoding="utf-8", newline="\n")


def renamed(text: str) -> str:
    """Return a module's text with the package's other name."""
    text = re.sub(r"\bapp[./]sandbox\b", PACKAGE, text)
    return re.sub(r"^from app import __version__$", f"from {PACKAGE} import __version__", text, flags=re.MULTILINE)


def _imports_of_app(text: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return [name for name in found if name.partition(".")[0] == "app"]


def _pyproject(project: dict[str, object]) -> str:
    known = _requirements(project)

    def lines(names: Iterable[str]) -> str:
        return json.dumps([requirement for name in dict.fromkeys(names) for requirement in known[name]])

    everything = [name for names in EXTRAS.values() for name in names] + list(BESIDE_ENGINES)
    extras = "".join(f"{extra} = {lines(names)}\n" for extra, names in EXTRAS.items())
    return f"""[build-system]
requires = []
build-backend = "wheel_backend"
backend-path = ["."]

[project]
name = "{NAME}"
version = {json.dumps(project["version"])}
description = "A test double for AI, media and chain services with OpenAI-compatible endpoints"
readme = "README.md"
license = "MIT"
license-files = ["LICENSE"]
requires-python = {json.dumps(str(project["requires-python"]).partition(",")[0])}
dependencies = {lines(NEEDED)}

[project.scripts]
{NAME} = "{PACKAGE}.__main__:main"

[project.entry-points.pytest11]
{NAME} = "{PACKAGE}.pytest_plugin"

[project.optional-dependencies]
{extras}engines = {lines(everything)}
"""


def _requirements(project: dict[str, object]) -> dict[str, list[str]]:
    """Return what the program asks for, by package: the same floors hold here."""
    dependencies, optional = project["dependencies"], project["optional-dependencies"]
    assert isinstance(dependencies, list) and isinstance(optional, dict)
    found: dict[str, list[str]] = {}
    for requirement in dict.fromkeys([*dependencies, *optional["sandbox"], *optional["yaml"]]):
        named = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert named is not None
        found.setdefault(named[0].lower(), []).append(requirement)
    return found
