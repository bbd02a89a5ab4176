import errno
import os
import stat
from pathlib import Path

import pytest

from app.storage.atomic_files import StoredFile, make_folder, read_or_none, set_aside, write_atomically
from app.storage.errors import StorageUnavailable
from tests.kit.portable import has_mode


def test_a_file_is_replaced_whole_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "settings.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert has_mode(path, 0o600)
    assert has_mode(path.parent, 0o700)
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    write_atomically(path, b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        monkeypatch.setattr(os, "open", refuse)
    elif step == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StorageUnavailable) as caught:
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert "disk is full" in caught.value.sentence
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.json"]


def test_bytes_are_pressed_to_the_disk_before_the_name_moves_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def noted_replace(path: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    write_atomically(tmp_path / "settings.json", b"{}")
    assert steps == ["file", "rename", "folder"]


def test_a_folder_that_may_not_be_written_is_named_in_a_sentence(locked_folder: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"no permission to write there.*settings\.json"):
        write_atomically(locked_folder / "settings.json", b"{}")
    with pytest.raises(StorageUnavailable, match="Creating a folder"):
        make_folder(locked_folder / "deeper")


def test_an_absent_file_is_none_and_an_unreadable_one_is_an_error(tmp_path: Path) -> None:
    assert read_or_none(tmp_path / "nothing") is None
    with pytest.raises(StorageUnavailable):
        read_or_none(tmp_path)


def test_files_set_aside_in_the_same_second_all_stay(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for text in (b"first", b"second", b"third"):
        path.write_bytes(text)
        assert set_aside(path) is not None
    assert sorted(entry.read_bytes() for entry in tmp_path.iterdir()) == [b"first", b"second", b"third"]


def test_a_stored_file_loads_what_it_saved(tmp_path: Path) -> None:
    file = StoredFile(tmp_path / "accounts.json")
    assert file.load() is None
    file.save(b"[]")
    assert file.load() == b"[]"
    assert file.set_aside().startswith("accounts.json.broken-")
    assert file.load() is None


def test_a_name_as_long_as_the_disk_takes_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 251 + ".txt")
    write_atomically(path, b"all of it")
    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_the_copy_of_a_damaged_file_stays_until_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "accounts.json"
    StoredFile(path, keeps_copy=True).save(b'{"a": 1}')
    path.write_bytes(b"garbage")
    file = StoredFile(path, keeps_copy=True)
    assert file.copied_at() is None  # nobody has looked at the file yet
    file.set_aside()
    file.save(b'{"a": 2}')
    assert file.copied_at() is not None
    assert file.good_copy() == b'{"a": 1}'
    file.end_offer()
    file.save(b'{"a": 3}')
    assert (file.copied_at(), file.good_copy()) == (None, b'{"a": 3}')


@pytest.mark.parametrize("damage", [b"", b"\x00", b"[]", b"[" * 100_000])
def test_a_copy_that_is_damaged_itself_is_not_offered(damage: bytes, tmp_path: Path) -> None:
    file = StoredFile(tmp_path / "settings.json", keeps_copy=True)
    file.save(b"{}")
    file.copy_path.write_bytes(damage)
    file.set_aside()
    assert file.copied_at() is None
