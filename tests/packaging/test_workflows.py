"""The workflows: valid, audited, pinned, and with the secrets in one job only."""

import json
import re
import subprocess
import sys
import tomllib
import warnings
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import get_nsis
import pytest
import release
import signing
import update_feed
from bootstrap import SUPPORTED
from progress import Refusal
from ruamel.yaml import YAML

from app import __version__

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github/workflows"
WORKFLOWS = {path.stem: YAML(typ="safe").load(path) for path in sorted(FOLDER.glob("*.yml"))}
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yml"))}
SECRETS = {*signing.WINDOWS, *signing.MACOS, *signing.NOTARY}
# Systems that GitHub retires are ended with an error; these three went, or go in April 2027.
RETIRED = ("macos-13", "macos-14", "ubuntu-22.04")


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [(file, name, job) for file, workflow in WORKFLOWS.items() for name, job in workflow["jobs"].items()]


SCHEMAS = {
    "workflows/*.yml": "vendor.github-workflows",
    "dependabot.yml": "vendor.dependabot",
    "ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
}


@pytest.mark.parametrize(("files", "schema"), SCHEMAS.items(), ids=SCHEMAS.values())
def test_the_files_of_github_follow_their_schemas(files: str, schema: str) -> None:
    paths = sorted((ROOT / ".github").glob(files))
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_a_commit_is_checked_by_the_tools_of_the_lock_as_the_job_for_lint_and_types_does() -> None:
    """A hook with versions of its own would drift from the lock."""
    (repository,) = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert repository["repo"] == "local" and "rev" not in repository and "additional_dependencies" not in hook
    lines = [step["run"] for step in WORKFLOWS["tests"]["jobs"]["checks"]["steps"] if "run" in step]
    assert [hook["entry"].replace("python3", "python")] == lines


def test_every_list_of_pinned_versions_is_renewed_by_something() -> None:
    lists = {path.parent for name in ("package.json", "requirements*.txt") for path in (ROOT / "tests").rglob(name)}
    by_dependabot = YAML(typ="safe").load(ROOT / ".github/dependabot.yml")["updates"]
    renewed = {(each["package-ecosystem"], each["directory"]) for each in by_dependabot}
    clients = "/tests/sandbox/clients"
    assert {f"/{path.relative_to(ROOT).as_posix()}" for path in lists} == {clients, f"{clients}/no-browser-wallets"}
    assert renewed == {("github-actions", "/"), ("npm", clients), ("pip", clients)}
    steps = str(WORKFLOWS["weekly"]["jobs"]["renew"]["steps"])
    assert "bootstrap.py lock --upgrade" in steps and "packaging/*.lock" in steps


def test_zizmor_finds_nothing() -> None:
    """An audit without a network: template injection, credentials that stay, permissions, pins, poisoned caches."""
    command = [str(Path(sys.prefix) / ("Scripts" if sys.platform == "win32" else "bin") / "zizmor")]
    command += ["--offline", "--no-progress", "--format", "json", str(ROOT / ".github")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found = [each["ident"] for each in json.loads(done.stdout)]
    assert (done.returncode, found) == (0, []), done.stderr


def test_every_action_is_named_by_its_commit_and_its_version() -> None:
    used = [line for text in TEXTS.values() for line in re.findall(r"uses: (\S+@.*)", text)]
    assert used
    for line in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_no_job_runs_on_a_retired_system() -> None:
    assert [(name, system) for name, text in TEXTS.items() for system in RETIRED if system in text] == []


def test_the_suite_runs_on_every_python_that_rialto_supports_and_on_debian() -> None:
    rows = WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]["include"]
    on_linux = {row["python"] for row in rows if row["system"].startswith("ubuntu")}
    assert on_linux == {f"{major}.{minor}" for major, minor in SUPPORTED}
    assert {row["system"].partition("-")[0] for row in rows} == {"ubuntu", "windows", "macos"}
    assert WORKFLOWS["tests"]["jobs"]["debian"]["strategy"]["matrix"]["release"] == ["12", "13"]


def test_only_the_job_that_signs_sees_a_secret_and_it_asks_for_approval_and_installs_nothing() -> None:
    with_secrets = {(file, name) for file, name, job in jobs() if "secrets." in str(job)}
    assert with_secrets == {("release", "sign")}
    job = WORKFLOWS["release"]["jobs"]["sign"]
    assert job["environment"] == "signing"
    assert "env" not in job and "secrets." not in str(WORKFLOWS["release"].get("env", ""))
    seen = {name for step in job["steps"] for name in step.get("env", {})}
    assert seen == SECRETS
    for step in job["steps"]:
        for name, value in step.get("env", {}).items():
            assert value == f"${{{{ secrets.{name} }}}}"
        if "env" in step:
            assert step["run"] == "python packaging/signing.py build/package/program.tar dist"
    assert not re.search(r"\bpip\b|bootstrap\.py|choco|brew", str(job))


def test_the_build_knows_every_variable_of_updates() -> None:
    assert set(WORKFLOWS["packages"]["env"]) == {"RIALTO_PAGES", update_feed.ADDRESS, update_feed.ROOT_FILE}


def test_a_job_that_may_write_runs_no_code_of_others() -> None:
    writing = {(file, name) for file, name, job in jobs() if "write" in str(job.get("permissions", ""))}
    assert writing == {("release", "draft"), ("weekly", "propose")}
    for file, name in writing:
        job = WORKFLOWS[file]["jobs"][name]
        assert not re.search(r"\bpip\b|bootstrap\.py", str(job))
    for file, workflow in WORKFLOWS.items():
        assert workflow["permissions"] in ({}, {"contents": "read"}), file
        assert "concurrency" in workflow, file
    for file, name, job in jobs():
        assert "uses" in job or "timeout-minutes" in job, (file, name)


@pytest.mark.parametrize("name", ["packages", "bench"])
def test_packages_and_figures_are_made_each_night(name: str) -> None:
    (start,) = WORKFLOWS[name]["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", start["cron"])


def test_what_is_left_of_failed_tests_is_kept() -> None:
    for name in ("tests", "debian"):
        steps = WORKFLOWS["tests"]["jobs"][name]["steps"]
        (run,) = (step["run"] for step in steps if "bootstrap.py" in step.get("run", ""))
        (upload,) = (step for step in steps if step.get("if") == "failure()")
        assert f"--basetemp={upload['with']['path'].rstrip('/')}" in run
        assert "tmp_path_retention_policy=failed" in run


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_line_of_a_workflow_that_starts_one_of_our_programs_is_one_that_exists(name: str) -> None:
    for path in re.findall(r"python3? (\S+\.py)", TEXTS[name]):
        assert (ROOT / path).is_file(), path


CHANGELOG = (
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2027-01-01\n\n### Chat\n\n- Faster.\n\n## [1.1.0]\n\n- Old.\n"
)


def test_the_notes_of_a_release_are_its_section_of_the_changelog() -> None:
    assert release.section(CHANGELOG, "1.2.0") == "### Chat\n\n- Faster.\n"
    with pytest.raises(Refusal, match=r"no section for 1\.3\.0"):
        release.section(CHANGELOG, "1.3.0")


def test_a_release_is_whole_and_its_checksums_can_be_checked(tmp_path: Path) -> None:
    assert len(release.missing_files(tmp_path, "1.2.0")) == len(release.FILES)
    for pattern in release.FILES:
        (tmp_path / pattern.format(version="1.2.0").replace("*", "any")).write_bytes(pattern.encode())
    (tmp_path / "one.sha256").write_text("x")
    assert release.missing_files(tmp_path, "1.2.0") == []
    assert release.missing_files(tmp_path, "1.2.1") != []
    release.write_sums(tmp_path)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    if sys.platform == "linux":
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == len(release.FILES)


def test_the_program_and_its_packages_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_files_that_a_page_names_are_those_of_a_release(page: str) -> None:
    """Which disk image is for which Mac follows from its name alone."""
    named = re.findall(r"`(?:\./)?(rialto[-_]\*[^ `]*)`", (ROOT / page).read_text(encoding="utf-8"))
    made = [pattern.format(version="1.2.0").replace("*", "amd64") for pattern in release.FILES]
    assert named
    for pattern in named:
        assert any(fnmatch(name, pattern) for name in made), pattern


def test_another_nsis_than_the_one_that_was_checked_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nsis.zip").write_bytes(b"another program")
    environ = {"RUNNER_TEMP": str(tmp_path / "tools"), "GITHUB_PATH": str(tmp_path / "path")}
    assert get_nsis.main(environ, (tmp_path / "nsis.zip").as_uri()) == 1
    assert "not the one that was checked" in capsys.readouterr().err
    assert not (tmp_path / "path").exists() and not (tmp_path / "tools").exists()


def test_what_a_newer_numpy_says_of_sounddevice_is_no_error() -> None:
    """numpy 2.5, which Python 3.12 and 3.13 get, warns in each callback of a stream: an error there ends the sound."""
    said = "Setting the shape on a NumPy array has been deprecated in NumPy 2.5."
    warnings.warn_explicit(said, DeprecationWarning, "sounddevice.py", 1, module="sounddevice")
