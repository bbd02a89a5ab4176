"""The page "Use the Sandbox from your own code": every piece of code on it runs against `python -m app.sandbox`."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.sandbox import client_packages

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "resources" / "own-code.md"
README = ROOT / "README.md"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets() -> list[tuple[str, str, str]]:
    """Return (heading, language, code) of every fence on the page, in its order."""
    found = []
    for part in _HEADING.split(PAGE.read_text(encoding="utf-8"))[1:]:
        if "\n" not in part:
            heading = part
            continue
        found += [(heading, language, code) for language, code in _CODE.findall(part)]
    return found


SETUP = [(language, code) for heading, language, code in snippets() if heading == "Start it and name it"]
PYTHON = [(heading, code) for heading, language, code in snippets() if language == "python" and heading != "pytest"]
RUNNERS = ("pytest", "JavaScript tests", "Vitest", "Go")
OF_RUNNERS = {heading: code for heading, _, code in snippets() if heading in RUNNERS}
SHELL = [(heading, code) for heading, language, code in snippets() if language == "sh"][len(SETUP) :]


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    """Run the page's own command and read the page's own variables; only the port is a free one."""
    command, exports = (code for _, code in SETUP)
    words = shlex.split(command)
    assert words[:4] == [
        "python3",
        "packaging/bootstrap.py",
        "sandbox",
        "--",
    ]  # tests/packaging/test_documented_commands.py
    words[words.index("--port") + 1] = "0"
    words[:4] = [sys.executable, "-m", "app.sandbox"]
    with subprocess.Popen(
        [*words, "--speed", "0", "--no-local"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        told = dict(line.removeprefix("export ").split("=", 1) for line in exports.splitlines())
        assert set(told) == {"SANDBOX_URL", "SANDBOX_KEY"} and told["SANDBOX_URL"].endswith("/api/v1")
        yield {**told, "SANDBOX_URL": base_url}
        process.terminate()
        assert process.wait(timeout=60) == 0


def run(code: str, variables: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run one piece in this process, as a program of its own would, and return what it printed."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for call in (httpx.get, httpx.post, httpx.put, httpx.request):
        monkeypatch.setitem(call.__kwdefaults__, "timeout", 60)  # the pieces keep to httpx's five seconds
    monkeypatch.chdir(folder)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
    return printed.getvalue()


SAYS = {
    "Chat, streamed": r"(?s)\.local/share/Rialto.*\d+ tokens",
    "Models": r"(?s)rialto-handbook.*tts-kokoro",
    "Speech": r"\d+ bytes",
    "Transcription": r"(?i)today|weather|nice",
    "Images": r"\d+ bytes",
    "Embeddings": r"0\.\d\d is more than",
    "Chains with web3": r"in block \d+ and Bob has 100\.25",
    "Top up a wallet with x402": r"success",
    "Sign in with a wallet": r"balanceUsd",
    "Scripted answers": r"Rain in Oslo\.",
    "Make it fail": r"\[429, 429, 200\]",
}


def test_every_piece_is_expected_to_say_something() -> None:
    assert [heading for heading, _ in PYTHON] == list(SAYS)
    assert [heading for heading, _ in SHELL] == ["curl"]


@pytest.mark.parametrize(("heading", "code"), PYTHON, ids=[heading for heading, _ in PYTHON])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_piece_runs_and_says_what_it_should(
    heading: str, code: str, variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = run(code, variables, tmp_path, monkeypatch)
    assert re.search(SAYS[heading], printed), printed
    if heading == "Embeddings":
        more, less = re.findall(r"0\.\d\d", printed)
        assert more > less
    if heading == "Speech":
        assert (tmp_path / "good-morning.mp3").stat().st_size > 1000
    if heading == "Images":
        assert (tmp_path / "lighthouse.png").read_bytes().startswith(b"\x89PNG")


def test_the_shell_piece_runs(variables: dict[str, str], tmp_path: Path) -> None:
    (code,) = (code for _, code in SHELL)
    done = subprocess.run(
        ["sh", "-c", code],
        env={**os.environ, **variables, "NO_PROXY": "127.0.0.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "chat.completion" in done.stdout


def test_the_piece_for_pytest_is_a_test_that_passes(tmp_path: Path) -> None:
    (tmp_path / "test_weather.py").write_text(OF_RUNNERS["pytest"], encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "app.sandbox.pytest_plugin", "-p", "no:pytest-qt"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("node", [path] if (path := shutil.which("node")) else [])
def test_the_piece_for_node_is_a_test_that_passes(variables: dict[str, str], tmp_path: Path, node: str) -> None:
    (tmp_path / "weather.test.mjs").write_text(OF_RUNNERS["JavaScript tests"], encoding="utf-8")
    environment = {**os.environ, **variables}
    done = subprocess.run([node, "--test"], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "pass 1" in done.stdout, done.stdout


@pytest.mark.timeout(900)  # of which all but a few seconds are the first installation
@pytest.mark.parametrize("node", client_packages.NODE)
def test_the_piece_for_vitest_is_a_test_that_passes(variables: dict[str, str], node: str) -> None:
    folder = client_packages.from_npm()
    (folder / "weather.test.js").write_text(OF_RUNNERS["Vitest"], encoding="utf-8")
    command = [node, "node_modules/vitest/vitest.mjs", "run", "weather.test.js"]
    environment = {**os.environ, **variables, "NO_COLOR": "1"}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("go", [path] if (path := shutil.which("go")) else [])
def test_the_piece_for_go_is_a_test_that_passes(variables: dict[str, str], tmp_path: Path, go: str) -> None:
    (tmp_path / "weather_test.go").write_text(OF_RUNNERS["Go"], encoding="utf-8")
    (tmp_path / "go.mod").write_text("module weather\n\ngo 1.21\n", encoding="utf-8")
    environment = {**os.environ, **variables}
    done = subprocess.run([go, "test"], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("PASS"), done.stdout + done.stderr


def test_the_readme_leads_to_the_page() -> None:
    assert "(resources/own-code.md)" in README.read_text(encoding="utf-8")
