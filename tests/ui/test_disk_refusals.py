"""What the disk refuses reaches the one place that says so, and makes no crash report."""

from __future__ import annotations

import asyncio
import errno
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.audio.devices import AudioHost
from app.core.tasks import TaskScope
from app.storage.atomic_files import StoredFile
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import StorageError, StorageUnavailable
from app.storage.form_drafts import FormDraftStore
from app.storage.presets import Presets
from app.storage.service_cache import ServiceCache
from app.storage.settings import SettingsStore
from app.storage.voices import Voices
from app.ui.crypto_rpc.session.tools import _append
from app.ui.shell.crash_reports import CrashReporter
from app.ui.speech.session.speech_player import SpeechPlayer
from app.ui.transcription.session.upload_preparation import Folders, clean_up
from tests.kit.settings import change_settings
from tests.read_only import read_only


@pytest.fixture
def crashes(tmp_path: Path, qapp) -> CrashReporter:
    return CrashReporter(tmp_path / "crashes", redact=str, version="test")


@pytest.mark.parametrize(
    "error",
    [
        StorageUnavailable("The disk is full, so nothing more can be saved."),
        OSError(errno.ENOSPC, "No space left on device", "/data/x"),
        OSError(errno.EFBIG, "File too large", "/data/x"),
        OSError(errno.EROFS, "Read-only file system", "/data/x"),
        ExceptionGroup("two", [OSError(errno.EDQUOT, "Quota"), StorageUnavailable("Full.")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_the_disk_refuses_is_no_crash(crashes: CrashReporter, error: Exception) -> None:
    told: list[StorageError] = []
    crashes.refused.connect(told.append)
    assert crashes.report(error) is None
    assert len(told) == 1
    assert crashes.left_behind() == ()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOENT, "No such file"), ValueError("x"), ExceptionGroup("y", [KeyError()])]
)
def test_everything_else_still_is_one(crashes: CrashReporter, error: Exception) -> None:
    told: list[object] = []
    crashes.refused.connect(told.append)
    assert crashes.report(error) is not None
    assert told == []


async def test_every_kind_of_write_into_a_store_that_refuses_is_told_and_none_crashes(
    crashes: CrashReporter, tmp_path: Path
) -> None:
    """Read only, by SQLite itself; and folders in which nothing can be written."""
    database = await Database.open(tmp_path / "data" / "rialto.db")
    history = ChatStore(database)
    chat = await history.create_chat(title="Before")
    config = tmp_path / "config"
    config.mkdir()
    settings = SettingsStore(config / "settings.json")
    await database._writer.execute("PRAGMA query_only=ON")
    writes = {
        "a chat": lambda: history.create_chat(title="x"),
        "its title": lambda: history.change_chat(chat.id, title="y"),
        "a message": lambda: history.add_message(chat.id, "user", "x"),
        "a chat into the trash": lambda: history.trash(chat.id),
        "a list of models": lambda: ServiceCache(database).save("a", "models", "tts", []),
        "what is being written": lambda: FormDraftStore(database, "speech").save({"text": "x"}),
        "a preset": lambda: Presets(database).save("prompt", "x", {}),
        "a voice that was used": lambda: Voices(database).used("m", "v"),
        "settings": lambda: asyncio.to_thread(lambda: change_settings(settings, show_adult=True)),
        "a small file": lambda: asyncio.to_thread(StoredFile(config / "x.json").save, b"{}"),
    }
    told: list[StorageError] = []
    crashes.refused.connect(told.append)
    tasks = TaskScope(crashes.report)
    try:
        with read_only(config):
            for name, write in writes.items():
                told.clear()
                tasks.start_unless_running(name, write)
                await tasks.idle()
                assert [type(error) for error in told] == [StorageUnavailable], name
    finally:
        await tasks.aclose()
        await database.close()
    assert crashes.left_behind() == ()


def test_what_cannot_be_removed_after_an_upload_makes_no_failure_of_it(tmp_path: Path) -> None:
    folders = Folders(tmp_path, tmp_path)
    row: Any = SimpleNamespace(id="x")
    flac = folders.upload_of(row, ".flac")
    flac.mkdir(parents=True)  # which `unlink` refuses, whoever asks
    clean_up(folders, row)
    assert flac.exists()


def test_results_of_a_job_that_the_disk_refuses_are_told_in_words(tmp_path: Path) -> None:
    blocked = tmp_path / "jobs"
    blocked.write_text("a file is where the folder should be")
    with pytest.raises(StorageUnavailable, match="Saving the results failed"):
        _append(blocked / "job.jsonl", [1])


def test_nothing_but_the_database_opens_sqlite_for_writing() -> None:
    """Each of its writes says in words what SQLite refuses, so that a store cannot forget to."""
    app = Path(__file__).resolve().parents[2] / "app"
    openers = {
        path.relative_to(app).as_posix()
        for path in app.rglob("*.py")
        if re.search(r"sqlite3?\.connect\(", path.read_text(encoding="utf-8"))
    }
    inner = {opener for opener in openers if not opener.startswith(("sandbox/", "documents/"))}  # other processes
    assert inner == {"storage/backups.py", "storage/database.py", "storage/schema.py"}


async def test_sound_that_the_disk_takes_no_place_for_is_refused_by_the_disk(
    crashes: CrashReporter, tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()  # no folder can be made below it
    tasks = TaskScope(crashes.report)
    player = SpeechPlayer(AudioHost(), tasks, tmp_path / "cache" / "speech")
    try:
        with pytest.raises(StorageUnavailable, match="Preparing audio"):
            player.new_spool()
    finally:
        player.player.close()
        await tasks.aclose()
