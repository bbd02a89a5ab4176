"""The Sandbox as a distribution of its own, installed where nothing else is: without Qt, engines and a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import httpx
import pytest
import sandbox_wheel
from packaging.requirements import Requirement
from progress import Refusal

from app.sandbox.http.routes import ROUTES

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "packaging" / "sandbox" / "README.md"
EPOCH = 1_800_000_000
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("made")
    wheel, source = sandbox_wheel.make(folder / "work", folder, EPOCH)
    return {"wheel": wheel, "source": source}


def with_needs(names: tuple[str, ...]) -> Iterator[str]:
    """Yield distributions of this environment with all that they need."""
    seen: set[str] = set()
    left = list(names)
    while left:
        name = left.pop().lower()
        if name in seen:
            continue
        seen.add(name)
        yield name
        for line in distribution(name).requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                left.append(wanted.name)


def bare(folder: Path, names: tuple[str, ...], package: Path) -> Path:
    """Make an environment with copies of some of our distributions, install `package` there, and return its Python."""
    venv.create(folder, with_pip=False)
    python = folder / SCRIPTS / ("python.exe" if os.name == "nt" else "python")
    told = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
    )
    place = Path(told.stdout.strip())
    for name in with_needs(names):
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), place / file)
    command = [sys.executable, "-m", "pip", "--isolated", "--python", str(python), "install", "--no-index", "-q"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run([*command, str(package)], capture_output=True, text=True, env=environ)
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_a_clone_on_windows_has_the_line_ends_of_every_other() -> None:
    """Git for Windows turns LF into CRLF unless told otherwise; the wheel of one version would have other bytes."""
    names = ("app/sandbox/server.py", "app/sandbox/README.md", "packaging/requirements.lock")
    told = subprocess.run(
        ["git", "check-attr", "eol", "--", *names], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert [line.rpartition(": ")[2] for line in told.stdout.splitlines()] == ["lf"] * len(names)


def test_two_builds_have_the_same_bytes_and_nothing_of_the_window(made: dict[str, Path], tmp_path: Path) -> None:
    again = sandbox_wheel.make(tmp_path / "work", tmp_path, EPOCH)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in made.values()]
    with zipfile.ZipFile(made["wheel"]) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {
            "rialto_sandbox",
            again[0].name.removesuffix("-py3-none-any.whl") + ".dist-info",
        }
        for name in archive.namelist():
            if name.endswith(".py"):
                assert not re.search(r"^\s*(from|import) app\b", archive.read(name).decode(), re.MULTILINE), name
    assert made["wheel"].stat().st_size < 1_000_000


def test_a_module_that_imports_what_is_not_packed_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_wheel, "renamed", lambda text: text)
    with pytest.raises(Refusal, match="no part of the Sandbox"):
        sandbox_wheel.make(tmp_path / "work", tmp_path, EPOCH)


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_installed_alone_it_serves_and_says_what_an_engine_would_need(
    kind: str, made: dict[str, Path], tmp_path: Path
) -> None:
    python = bare(tmp_path / "bare", ("h11", "python-multipart"), made[kind])
    program = python.with_name("rialto-sandbox.exe" if os.name == "nt" else "rialto-sandbox")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    arguments = ["--api-key", "my-key", "--no-local", "--no-limits", "--speed", "0"]
    kept = subprocess.run([program, "--data", "."], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert kept.returncode == 1
    assert "library msgspec" in kept.stderr and "Traceback" not in kept.stderr
    with (
        subprocess.Popen(
            [program, *arguments], cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        ExitStack() as ending,
    ):
        assert process.stdout is not None and process.stderr is not None
        ending.callback(process.terminate)  # whatever fails: leaving the process would wait for it forever
        base_url = process.stdout.readline().strip()
        headers = {"Authorization": "Bearer my-key"}
        with httpx.Client(headers=headers, trust_env=False, timeout=60) as http:
            asked = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "Where are my chats kept?"}]}
            said = http.post(f"{base_url}/chat/completions", json=asked).json()
            assert "Rialto" in said["choices"][0]["message"]["content"]
            embedded = {"model": "text-embedding-bge-m3", "input": "Oslo"}
            assert http.post(f"{base_url}/embeddings", json=embedded).status_code == 200
            speech = {"model": "tts-kokoro", "voice": "af_sky", "input": "Hi."}
            image = {"model": "rialto-canvas", "prompt": "A lake"}
            block = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
            for path, body in (
                ("/audio/speech", speech),
                ("/image/generate", image),
                ("/crypto/rpc/base-mainnet", block),
            ):
                refused = http.post(f"{base_url}{path}", json=body)
                assert refused.status_code == 501
                assert "Install the extra rialto-sandbox[engines]" in refused.json()["error"]
            sealed = http.get(f"{base_url}/tee/attestation", params={"model": "rialto-sealed", "nonce": "00" * 32})
            assert sealed.status_code == 501 and "rialto-sandbox[engines]" in sealed.json()["error"]
            origin = base_url.removesuffix("/api/v1")
            assert http.get(origin, headers={"Accept": "text/html"}).text.startswith("<!doctype html>")
            assert {http.get(f"{origin}/page/page.{kind}").status_code for kind in ("css", "js")} == {200}
            for route in ROUTES:
                path = "/".join("x" if part.startswith("{") else part for part in route.path)
                if path != "sandbox/watch":  # it never ends
                    for method in route.methods:
                        assert http.request(method, f"{origin}/{path}").status_code != 500, (method, path)
        process.terminate()
        assert process.wait(timeout=60) == 0 or os.name == "nt"
        assert process.stderr.read() == ""


def test_the_tests_of_its_page_pass_with_nothing_but_the_page(made: dict[str, Path], tmp_path: Path) -> None:
    python = bare(tmp_path / "bare", ("h11", "python-multipart", "pytest", "openai"), made["wheel"])
    pieces = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for number, code in enumerate(pieces):
        (tmp_path / f"test_piece_{number}.py").write_text(code, encoding="utf-8")
    rows = re.findall(r"^\| `(sandbox\..*?)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 10
    code = f"import json\n\ndef test_rows(sandbox):\n    {'; '.join(rows)}\n"
    (tmp_path / "test_rows.py").write_text(code, encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert len(pieces) == 2 and "3 passed" in done.stdout, done.stdout + done.stderr


def test_engines_are_extras_and_the_base_needs_none_of_them(made: dict[str, Path]) -> None:
    with zipfile.ZipFile(made["wheel"]) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(name).decode()
    needed = [Requirement(line) for line in re.findall(r"^Requires-Dist: (.+)$", text, re.MULTILINE)]
    (pythons,) = re.findall(r"^Requires-Python: (.+)$", text, re.MULTILINE)
    assert pythons == ">=3.11"  # without an upper bound, which pip would take for a promise
    assert {one.name for one in needed if one.marker is None} == {"h11", "python-multipart"}
    everything = {one.name for one in needed if one.marker is not None and one.marker.evaluate({"extra": "engines"})}
    assert {"py-evm", "pillow", "av", "espeakng-loader", "numpy", "cryptography"} <= everything
    here = (one for one in needed if one.marker is None or one.marker.evaluate({"extra": "engines"}))
    for one in here:
        try:
            assert one.specifier.contains(distribution(one.name).version, prereleases=True)
        except PackageNotFoundError:
            assert one.name in ("pocketsphinx", "coincurve")


def test_the_container_needs_no_more_than_the_wheel() -> None:
    lines = (README.parent / "Containerfile").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 10
    assert [line.split()[1] for line in lines if line.startswith("COPY")] == ["rialto_sandbox-*.whl"]
