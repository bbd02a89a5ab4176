"""What Rialto does with files, under the rules of a system that this computer does not run."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from app import files
from app.storage.atomic_files import write_atomically
from app.storage.database import Database
from app.storage.errors import StorageUnavailable
from app.storage.video_jobs import VideoJobs
from app.ui.video.session.job_store import VideoJobStore
from tests.kit.foreign_system import windows_files

JOB: dict[str, Any] = {
    "account_id": "a",
    "model": "m",
    "model_name": "M",
    "quote_usd": None,
    "clean_after": False,
    "charged": False,
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the rules are faked on Linux; Windows has its own")


def scan(path: Path, for_s: float) -> threading.Thread:
    """Hold a file open, as a virus scanner does with a new one."""
    opened = threading.Event()

    def hold() -> None:
        with path.open("rb"):
            opened.set()
            time.sleep(for_s)

    thread = threading.Thread(target=hold)
    thread.start()
    opened.wait()
    return thread


def test_the_rules_are_those_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows_files(monkeypatch, tmp_path)
    path = tmp_path / "Chat.json"
    path.write_text("1")
    with path.open(), pytest.raises(PermissionError):
        path.unlink()
    with path.open(), pytest.raises(PermissionError):
        path.replace(tmp_path / "other")
    assert (tmp_path / "chat.JSON").read_text() == "1"
    for name in ("CON", "nul.txt", "a:b", "what?", "ends with a dot.", "x" * 250):
        with pytest.raises(OSError):
            (tmp_path / name).write_text("")
    path.unlink()


def test_a_scanned_file_is_replaced_and_removed_once_it_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows_files(monkeypatch, tmp_path)
    path = tmp_path / "settings.json"
    write_atomically(path, b"old")
    scanner = scan(path, 0.3)
    write_atomically(path, b"new")
    scanner.join()
    assert path.read_bytes() == b"new"
    scanner = scan(path, 0.3)
    files.remove(path)
    scanner.join()
    assert os.listdir(tmp_path) == []  # noqa: PTH208  # names alone


def test_a_file_that_is_never_released_is_told_of_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows_files(monkeypatch, tmp_path)
    monkeypatch.setattr(files, "_LONGEST_WAIT_S", 0.1)
    path = tmp_path / "settings.json"
    write_atomically(path, b"old")
    with path.open("rb"), pytest.raises(StorageUnavailable):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]


async def test_a_video_that_a_player_holds_open_stays_in_the_trash_until_it_can_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record went first once, and the video stayed on the disk for good."""
    database = await Database.open(tmp_path / "rialto.db")
    try:
        store = VideoJobStore(tmp_path / "videos")
        await store.open(VideoJobs(database))
        job = await store.add(prompt="a boat", form={}, media={}, **JOB)
        video = store.film(job)
        video.write_bytes(b"film")
        windows_files(monkeypatch, tmp_path)
        monkeypatch.setattr(files, "_LONGEST_WAIT_S", 0.1)
        with video.open("rb"), pytest.raises(StorageUnavailable, match="Removing"):
            await store.delete(job.id)
        assert store.get(job.id) is not None and video.exists()
        await store.delete(job.id)
        assert store.get(job.id) is None and not video.exists()
    finally:
        await database.close()
