"""What stays when the program is removed is listed with its place and its size, and nothing of it is touched."""

import os
import subprocess
import sys
from pathlib import Path

from app.storage.disk_usage import uninstall_info, written_folders
from app.storage.paths import Paths

ROOT = Path(__file__).resolve().parents[2]


def test_every_folder_is_named_once_even_where_one_holds_another(tmp_path: Path) -> None:
    one = tmp_path / "Rialto"
    paths = Paths(data=one, config=one, logs=one / "Logs", crashes=one / "Logs" / "crashes", cache=one / "Cache")
    assert [path for path, _ in written_folders(paths)] == [one]
    apart = Paths.below(tmp_path)
    assert [path for path, _ in written_folders(apart)] == [apart.data, apart.config, apart.logs, apart.cache]


def test_the_report_names_places_and_sizes_and_changes_nothing(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    paths.data.mkdir()
    (paths.data / "rialto.db").write_bytes(b"x" * 2_500_000)
    words = uninstall_info(paths)
    assert f"{paths.data}\n      2.5 MB" in words
    assert f"{paths.cache}\n      not found" in words
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data", "rialto.db"]


def test_the_program_prints_it_without_a_window(tmp_path: Path) -> None:
    environ = {**os.environ, "QT_QPA_PLATFORM": "none-of-them"}
    command = [sys.executable, "-m", "app", "--portable", str(tmp_path), "--uninstall-info"]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(tmp_path / "data") in done.stdout
    assert not (tmp_path / "data").exists()
