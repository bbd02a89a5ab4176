"""Attachments on the disk: kept once, found again, swept when nothing names them; never a path from a stranger."""

import os
from pathlib import Path

import pytest

from app.storage.attachment_files import AttachmentFiles
from app.storage.chat_file import duplicate_chat
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.errors import NotStored
from tests.kit.portable import has_mode

ONE_DAY_S = 2 * 24 * 3600


def age(path: Path) -> None:
    then = path.stat().st_mtime - ONE_DAY_S
    os.utime(path, (then, then))


def test_the_same_bytes_are_kept_once_and_only_for_their_owner(tmp_path: Path) -> None:
    files = AttachmentFiles(tmp_path / "attachments")
    name = files.keep(b"a picture")
    assert files.keep(b"a picture") == name
    assert files.read(name) == b"a picture"
    (path,) = (tmp_path / "attachments").iterdir()
    assert has_mode(path, 0o600)


def test_old_bytes_that_are_attached_anew_are_young_again(tmp_path: Path) -> None:
    """Nothing names them until the draft is saved, and what is in use was asked before that."""
    files = AttachmentFiles(tmp_path / "attachments")
    age(files.path(files.keep(b"a picture")))
    name = files.keep(b"a picture")
    assert files.sweep(()) == 0
    assert files.read(name) == b"a picture"


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_what_is_no_hash_names_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotStored):
        AttachmentFiles(tmp_path).path(name)


def test_a_file_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(NotStored, match="no longer on this computer"):
        AttachmentFiles(tmp_path).read("0" * 64)


async def test_what_no_message_and_no_draft_names_is_swept(history: ChatStore, database: Database) -> None:
    kept = [history.files.keep(data) for data in (b"sent", b"draft", b"nobody's", b"young")]
    for name in kept[:3]:
        age(history.files.path(name))
    chat = await history.create_chat()
    await history.add_message(chat.id, "user", "look", attachments=({"sha256": kept[0], "kind": "image"},))
    await history.change_chat(chat.id, draft_attachments=({"sha256": kept[1], "kind": "text"},))
    used = await history.used_attachments()
    assert used == set(kept[:2])
    assert history.files.sweep(used) == 1
    assert history.files.read(kept[3]) == b"young"
    with pytest.raises(NotStored):
        history.files.read(kept[2])


async def test_a_duplicate_keeps_what_was_attached(history: ChatStore, database: Database) -> None:
    chat = await history.create_chat()
    message = await history.add_message(chat.id, "user", "look", attachments=({"sha256": "0" * 64, "name": "a.png"},))
    assert message.attachments == ({"sha256": "0" * 64, "name": "a.png"},)
    copy = await duplicate_chat(database, chat.id)
    (again,) = await history.messages(copy.id)
    assert again.attachments == message.attachments
