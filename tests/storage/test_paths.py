import subprocess
import sys
from pathlib import Path

import pytest

from app.storage.errors import StorageUnavailable
from app.storage.paths import Paths, resources
from tests.kit.portable import has_mode


def test_everything_is_below_rialto_home_when_that_is_set(tmp_path: Path) -> None:
    paths = Paths.for_user({"RIALTO_HOME": str(tmp_path / "home")})
    every = [paths.data, paths.config, paths.logs, paths.crashes, paths.cache, paths.database, paths.settings]
    every += [paths.accounts, paths.vault, paths.backups, paths.lock, paths.log]
    assert all(path.is_relative_to(tmp_path / "home") for path in every)
    assert len(set(every)) == len(every)


def test_without_it_the_platform_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ({}, {"RIALTO_HOME": "  "}):
        paths = Paths.for_user(value)
        assert "rialto" in str(paths.data).lower()
        assert paths.data.is_absolute()


def test_folders_are_made_for_the_owner_only(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path / "home")
    paths.make()
    paths.make()
    for folder in (paths.data, paths.config, paths.logs, paths.crashes, paths.cache):
        assert has_mode(folder, 0o700)


def test_a_home_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file stands here")
    with pytest.raises(StorageUnavailable) as caught:
        Paths.below(tmp_path / "home").make()
    assert "Creating a folder" in caught.value.sentence


def test_resources_lie_beside_the_package() -> None:
    assert resources().name == "resources"
    assert (resources().parent / "app" / "storage").is_dir()


def test_what_the_window_needs_before_its_first_paint_imports_nothing_heavy() -> None:
    """Contract with the start-up goal: plain modules of the standard library only."""
    code = (
        "import sys; import app.storage.paths, app.storage.settings, app.storage.atomic_files, app.storage.log;"
        "import app.credentials.accounts, app.credentials.redaction; app.credentials.redaction.Redactor();"
        "heavy = {'platformdirs', 'aiosqlite', 'asyncio', 'keyring', 'cryptography', 'pydantic', 'sqlite3'};"
        "heavy |= {'hashlib', 'secrets', 'logging.handlers', 'socket', 'ssl'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=resources().parent
    )
    assert done.stdout.strip() == "[]"
