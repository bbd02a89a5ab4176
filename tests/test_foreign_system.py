"""What Rialto does with files, under the rules of a system that this computer does not run."""

import ctypes
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
from app.storage.file_names import file_name, free_path
from app.storage.rpc_collections import Collection, RpcCollections
from app.storage.video_jobs import VideoJobs
from app.ui.video.session.job_store import VideoJobStore
from tests.kit.foreign_system import HOME, LONGEST_PATH, WindowsLibraries, import_on, windows_files

JOB: dict[str, Any] = {
    "account_id": "a",
    "model": "m",
    "model_name": "M",
    "quote_usd": None,
    "clean_after": False,
    "charged": False,
}
resource = pytest.importorskip("resource", reason="not on Windows")
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
    assert (tmp_path / "chat.json").exists() and not (tmp_path / "chats.json").exists()
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


@pytest.mark.parametrize("title", ["Con", "nul.txt", "What? A <title>: yes", "ends with a dot.", "x" * 400, "é" * 400])
def test_every_title_is_a_file_that_windows_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    windows_files(monkeypatch, tmp_path)
    path = tmp_path / file_name(title, ".json", otherwise="Chat")
    write_atomically(path, b"{}")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_path_that_is_too_long_for_windows_is_refused_by_name_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows_files(monkeypatch, tmp_path)
    folder = tmp_path / "a folder of somebody"
    room = LONGEST_PATH - len(f"{HOME}{folder.name}/")
    write_atomically(folder / f"{'x' * (room - 4)}.txt", b"fits")
    with pytest.raises(StorageUnavailable, match="The path is too long"):
        write_atomically(folder / f"{'x' * (room - 3)}.txt", b"does not")
    assert [len(each.name) for each in folder.iterdir()] == [room]


def test_names_that_differ_by_case_alone_are_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows_files(monkeypatch, tmp_path)
    (tmp_path / "Export.md").write_text("of somebody")
    assert free_path(tmp_path / "export.md") == tmp_path / "export (2).md"
    (tmp_path / "Balances.json").write_text("of somebody")
    assert RpcCollections(tmp_path).save(Collection("Balances")).file == "balances-2.json"


def test_the_reader_of_documents_is_held_to_its_memory_by_a_job_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the places of JOBOBJECT_EXTENDED_LIMIT_INFORMATION on 64 bits."""
    system = WindowsLibraries(monkeypatch)
    system.answers = {"CreateJobObjectW": 70, "GetCurrentProcess": 2**64 - 1}
    import_on("win32", "app.documents.limits", monkeypatch).limit_this_process(600)
    created, told, current, joined = system.calls
    assert created == ("CreateJobObjectW", (None, None))
    job, kind, limits, size = told[1]
    assert (told[0], job, kind, size) == ("SetInformationJobObject", 70, 9, 144)
    written = ctypes.string_at(ctypes.cast(limits, ctypes.c_void_p).value or 0, size)
    assert int.from_bytes(written[16:20], "little") == 0x100 | 0x400  # the flags: process memory, end without a dialog
    assert int.from_bytes(written[112:120], "little") == 600
    assert (current[0], joined) == ("GetCurrentProcess", ("AssignProcessToJobObject", (70, 2**64 - 1)))


def test_a_windows_that_gives_no_job_reads_documents_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    system = WindowsLibraries(monkeypatch)
    system.answers = {"CreateJobObjectW": 0}
    limits = import_on("win32", "app.documents.limits", monkeypatch)
    limits.limit_this_process()
    assert [name for name, _ in system.calls] == ["CreateJobObjectW"]
    assert limits.memory_used() == 0


def test_the_reader_of_documents_is_bounded_by_both_limits_of_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS takes no notice of the limit on data, and does not let every process set the other."""
    told: list[int] = []
    steps: list[int] = []

    def refuse(kind: int, values: tuple[int, int]) -> None:
        told.append(kind)
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    monkeypatch.setattr(os, "nice", steps.append)
    limits = import_on("darwin", "app.documents.limits", monkeypatch)
    limits.limit_this_process()
    assert (told, steps) == ([resource.RLIMIT_DATA, resource.RLIMIT_RSS], [limits.NICE])
    assert limits.memory_used() == resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes there


def test_windows_writes_no_memory_of_a_crash_to_its_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """WerSetFlags is in kernel32: looked for in another library, it ended every start."""
    system = WindowsLibraries(monkeypatch)
    import_on("win32", "app.sandbox.crash_dumps", monkeypatch).forbid_crash_dumps()
    assert system.calls == [("SetErrorMode", (0x3,)), ("WerSetFlags", (0x1,))]
