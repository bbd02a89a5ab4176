"""The lock files: complete, hashed, consistent with each other and with pyproject.toml, and nobody's host in them."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import locks
import pytest
from locks import DEV_LOCK, PYTHONS, RUN_LOCK, UV_LOCK, host_lines, pinned

ROOT = Path(__file__).resolve().parents[2]
BOTH = pytest.mark.parametrize("path", [RUN_LOCK, DEV_LOCK], ids=lambda path: path.name)


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names_of(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in requirements}


@BOTH
def test_a_lock_file_names_no_host_and_no_index(path: Path) -> None:
    assert host_lines(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.org/simple",
        "--extra-index-url x",
        "-f file:///wheels --find-links x",
        "thing @ git+ssh://host/thing",
        "--trusted-host x",
    ],
)
def test_a_line_that_names_a_host_is_seen(line: str) -> None:
    assert host_lines(f"httpx==0.28.1 \\\n{line}\n") == [line]


@BOTH
def test_every_package_is_pinned_with_at_least_one_hash(path: Path) -> None:
    blocks = re.split(r"^(?=[A-Za-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(blocks) > 20
    for block in blocks:
        assert re.match(r"[\w.\-\[\],]+==\S+", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


def test_the_run_lock_holds_what_the_program_and_the_sandbox_ask_for_and_no_test_tools() -> None:
    wanted = project()
    locked = set(pinned(RUN_LOCK.read_text(encoding="utf-8")))
    assert names_of(wanted["dependencies"]) | names_of(wanted["optional-dependencies"]["sandbox"]) <= locked
    assert not {"pytest", "ruff", "mypy", "openai"} & locked


def test_the_dev_lock_adds_the_tools_and_changes_no_version() -> None:
    run, dev = (pinned(path.read_text(encoding="utf-8")) for path in (RUN_LOCK, DEV_LOCK))
    assert names_of(project()["optional-dependencies"]["dev"]) <= set(dev)
    assert {name: dev.get(name) for name in run} == run


# Needed without an import of their own: a part of a shared package, and what another library imports for us.
NOT_IMPORTED = {"pyside6-addons", "linkify-it-py"}


def test_every_dependency_is_imported_by_the_program() -> None:
    """One that nothing uses is downloaded, shipped and renewed for nothing."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    imported = set(re.findall(r'(?:^ *(?:from|import) |import_module[(,] ?")(\w+)', text, re.MULTILINE))
    modules = packages_distributions()
    used = {name.lower().replace("_", "-") for module in imported for name in modules.get(module, ())}
    assert names_of(project()["dependencies"]) - used - NOT_IMPORTED == set()


def test_pyside_is_locked_to_the_version_that_python_3_11_survives() -> None:
    assert pinned(RUN_LOCK.read_text(encoding="utf-8"))["pyside6-essentials"] == {"6.11.3"}


def test_the_pythons_that_are_locked_for_are_the_ones_that_the_project_names() -> None:
    assert PYTHONS == ("3.11", "3.12", "3.13", "3.14")
    assert project()["requires-python"] == ">=3.11,<3.15"


def test_the_maker_of_the_locks_is_itself_named_by_its_hashes() -> None:
    text = UV_LOCK.read_text(encoding="utf-8")
    assert set(pinned(text)) == {"uv"}
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= 5
    assert host_lines(text) == []


def test_every_lock_file_is_renewed_by_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[Path] = []
    monkeypatch.setattr(locks, "_uv", lambda: ["uv"])
    monkeypatch.setattr(locks, "compile_lock", lambda uv, target, **options: renewed.append(target))
    monkeypatch.setattr(locks, "prove_wheels", lambda uv, path: None)
    locks.lock(upgrade=True)
    assert sorted(renewed) == sorted((ROOT / "packaging").glob("*.lock"))
