"""Every command that a page prints: run where it can be, otherwise checked against what it names.

`packaging/try_source.py` runs README's own two commands in bare systems, and `tests/sandbox/test_own_code.py` the code
on the page about the Sandbox.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import commands
import debian_package
import pytest
from environments import MARK, stamp_of
from locks import DEV_LOCK, RUN_LOCK, pinned

from app.bootstrap.options import Printed, read_options
from app.sandbox.__main__ import read_arguments
from tests.kit.waiting import block_until

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/README.md")),
    *(ROOT / name for name in ("packaging/sandbox/README.md", "resources/own-code.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "resources" / "handbook").glob("*.md")),
]
PROGRAMS = (
    r"(?:[A-Z_]+=\S+ )*(?:git clone|git ls-files|python3?|py|pip|pytest|sudo|apt|rialto|rialto-sandbox|npx|node|go"
    r"|lintian|curl|desktop-file-validate|\.venv(?:-test)?/bin/python)"
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(rf"^    ({PROGRAMS} .+?)(?:   .*)?$", re.MULTILINE)  # what follows three spaces explains it
INLINE = re.compile(rf"`({PROGRAMS} [^`]+)`")
BOOTSTRAP = re.compile(r"(?:[A-Z_]+=\S+ )*python3 (?:rialto/)?packaging/bootstrap\.py (.+)")
# Tried by a test with what they need: clients of the Sandbox by test_own_code.py, packages by try_deb.py.
ELSEWHERE = ("curl ", "node --test", "npx vitest run", "go test", "lintian ", "desktop-file-validate ", "git ls-files ")


def printed() -> list[str]:
    """Return each command of the pages once."""
    found: dict[str, None] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for language, code in FENCE.findall(text):
            lines = code.replace("\\\n", "").splitlines() if language == "sh" else []
            found |= dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("export "))
        rest = FENCE.sub("", text)
        found |= dict.fromkeys([*INDENTED.findall(rest), *(" ".join(line.split()) for line in INLINE.findall(rest))])
    return list(found)


def problem(command: str) -> str | None:
    """Return what is wrong with a command; None if it can work."""
    if match := BOOTSTRAP.fullmatch(command):
        options, rest = commands.read_command_line(shlex.split(match[1]))
        if options.command is commands.sandbox:
            return _refusal(rest)
        elif options.command is commands.test:
            missing = [each for each in rest if each.startswith("tests") and not (ROOT / each).exists()]
            return f"there is no {missing[0]}" if missing else None
        return None
    words = shlex.split(re.sub(r"^(?:[A-Z_]+=\S+ )*(?:sudo )?", "", command))
    match words:
        case ["git", "clone", _, "rialto"]:
            return None
        case ["git", "clone", *_]:
            return "README’s next line starts rialto/packaging/bootstrap.py"
        case ["rialto", *arguments]:
            read = read_options(arguments)
            return read.text if isinstance(read, Printed) and read.code else None
        case ["rialto-sandbox", *arguments]:
            return _refusal(arguments)
        case ["python3", script, *_] if script.startswith("packaging/"):
            return None if (ROOT / script).is_file() else f"there is no {script}"
        case [".venv/bin/python" | ".venv-test/bin/python", "-m", module, *_]:
            return None if module == "pytest" or (ROOT / module.replace(".", "/") / "__main__.py").exists() else module
        case ["python3", "-m", module, *_] if module.startswith("tests."):
            return None if (ROOT / f"{module.replace('.', '/')}.py").exists() else f"there is no {module}"
        case ["pip", "install", *names]:
            known = {*pinned(DEV_LOCK.read_text(encoding="utf-8")), "rialto-sandbox", *_optional()}
            unknown = [each for each in names if each not in known and not each.startswith("dist/rialto_sandbox-")]
            return f"nothing here uses {unknown[0]}" if unknown else None
        case ["apt", "install", *files]:
            names = {Path(each).name.partition("_")[0] for each in files}
            return None if names <= set(debian_package.DESCRIPTIONS) else "no such package is made"
        case ["apt", "remove", name]:
            return None if name in debian_package.DESCRIPTIONS else "no such package is made"
    return None if command.startswith(ELSEWHERE) else "it cannot run in a fresh clone"


def _refusal(arguments: list[str]) -> str | None:
    try:
        read_arguments(arguments)
    except SystemExit as ended:
        return f"the Sandbox refuses it with {ended.code}" if ended.code else None
    return None


def _optional() -> set[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return {re.split(r"[><=;\[ ]", line)[0].lower() for lines in extras.values() for line in lines}


@pytest.mark.parametrize("command", printed())
def test_a_printed_command_can_work(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.jsonl").touch()  # what one line records, the next one replays
    assert problem(re.sub(r"<[^>]+>", "address", command)) is None


def test_the_pages_print_commands() -> None:
    assert len(printed()) > 30
    assert {"python3 rialto/packaging/bootstrap.py run", "python3 packaging/bootstrap.py package"} <= set(printed())


@pytest.mark.parametrize(
    "command",
    [
        "python -m app.sandbox --port 8787",  # Debian has no `python`, and its python3 no h11
        "python3 -m app.sandbox --port 8787",
        "python3 packaging/gone.py",
        "python3 packaging/bootstrap.py test -- tests/gone",
        "rialto --no-such-option",
        "pytest -p app.sandbox.pytest_plugin",
        "git clone address somewhere",
    ],
)
def test_a_command_that_cannot_work_is_seen(command: str) -> None:
    assert problem(command)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """README's first line, with this folder as the address; an environment is there, as after a first start."""
    folder = tmp_path_factory.mktemp("fresh") / "rialto"
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(folder)], check=True)
    changed = subprocess.run(
        ["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, changed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)
    environment = folder / ".venv"
    environment.mkdir()
    for part in Path(sys.prefix).iterdir():
        if not part.name.startswith(MARK):
            (environment / part.name).symlink_to(part)
    (environment / MARK).write_text(stamp_of(RUN_LOCK), encoding="utf-8")
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    yield {**kept, "RIALTO_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"}


def test_run_opens_the_window_from_a_fresh_clone(clone: Path, environ: dict[str, str], tmp_path: Path) -> None:
    assert "python3 rialto/packaging/bootstrap.py run" in printed()
    environ |= {"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "rialto/packaging/bootstrap.py", "run"]
    with subprocess.Popen(command, cwd=clone.parent, env=environ) as program:
        try:
            # with its history open, the start is over
            block_until(lambda: program.poll() is not None or [*(tmp_path / "home").rglob("rialto.db")])
        finally:
            program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0


def test_the_sandbox_starts_from_a_fresh_clone_and_keeps_to_the_current_folder(
    clone: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (line,) = (each for each in printed() if each.endswith("sandbox -- --port 8787 --api-key my-key"))
    words = shlex.split(line)
    words[0], words[1], words[words.index("--port") + 1] = sys.executable, str(clone / words[1]), "0"
    command = [*words, "--ready-file", "ready.json", "--no-local"]
    with subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        said = program.stdout.readline()
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/api/v1", said.strip())
