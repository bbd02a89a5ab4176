"""Exports that would take all memory or time: read in a process of its own that is bounded in both."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.storage.imports import chat_import
from app.storage.imports.chat_import import NotAnExport
from app.storage.imports.export_reading import ExportReading
from tests.kit.exports import read_export
from tests.kit.peak_memory import peak_memory
from tests.storage.test_chat_import import openai_chat, written

MB = 1_000_000


def read_apart(path: Path) -> tuple[list[str], ExportReading]:
    """The kinds of pieces as the window gets them."""
    kinds = []
    with ExportReading(path) as reading:
        while (piece := reading.next()) is not None:
            kinds.append(piece.kind)
    return kinds, reading


def zipped(folder: Path, size: int) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        file.write(b"[")
        for _ in range(size // (3 * MB)):
            file.write(b"[]," * MB)
        file.write(b"[]]")
    return path


def plain(folder: Path, size: int) -> Path:
    path = folder / "conversations.json"
    path.write_bytes(b"[" + b"[]," * (size // 3) + b"[]]")
    return path


@pytest.mark.parametrize(("made", "size", "words"), [(zipped, 60 * MB, "unpacks to far more"), (plain, 60 * MB, "")])
def test_a_file_of_nothing_is_refused_and_takes_no_memory_of_the_window(
    made: Callable[[Path, int], Path], size: int, words: str, tmp_path: Path
) -> None:
    path = made(tmp_path, size)
    before = peak_memory()
    with pytest.raises(NotAnExport, match=words or "no chat|too much memory"):
        read_apart(path)
    assert peak_memory() - before < 50 * MB  # 1.5 GB when the window read it


def test_a_file_that_begins_with_a_thousand_other_things_is_no_export(tmp_path: Path) -> None:
    path = written(tmp_path, [*({"what": number} for number in range(1_000)), openai_chat()])
    with pytest.raises(NotAnExport, match="contains no chat"):
        read_export(path)
    assert read_export(written(tmp_path, [*({"what": number} for number in range(999)), openai_chat()])).chats


def test_what_is_read_apart_is_what_is_in_the_file(tmp_path: Path) -> None:
    kinds, reading = read_apart(written(tmp_path, [openai_chat(), openai_chat(), {"what": 1}]))
    assert kinds == ["chat", "chat"]
    assert reading.sources == ("ChatGPT",)
    assert reading.left["entries that are not chats in a known format"] == 1


def test_attachments_of_our_own_file_come_one_by_one_before_their_chat(tmp_path: Path) -> None:
    contents = [b"a" * 10, b"b" * 10]
    files = {hashlib.sha256(each).hexdigest(): base64.b64encode(each).decode() for each in contents}
    chat = {"format": "rialto-chat", "messages": [{"role": "user", "content": "Hi"}], "files": files}
    path = written(tmp_path, chat)
    assert read_apart(path)[0] == ["file", "file", "chat"]
    export = read_export(path)
    assert export.files == files and "files" not in export.chats[0]


def test_half_a_sign_costs_nothing_but_itself(tmp_path: Path) -> None:
    """Programs that cut texts in UTF-16 write such halves."""
    chat = {"format": "rialto-chat", "messages": [{"role": "user", "content": "\ud800"}]}
    assert read_export(written(tmp_path, [chat])).chats == [chat]


def test_one_huge_chat_is_left_out_and_the_others_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = openai_chat(), openai_chat()
    large["padding"] = "x" * 10_000
    monkeypatch.setattr(chat_import, "MAX_CHAT_BYTES", 9_000)
    export = read_export(written(tmp_path, [large, small]))
    assert len(export.chats) == 1
    assert export.left["chats and projects that are too large"] == 1


def test_an_archive_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([openai_chat()]))
    monkeypatch.setattr(chat_import, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(NotAnExport, match="unpacks to far more"):
        read_export(path)


def test_a_reading_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = plain(tmp_path, 30 * MB)
    with ExportReading(path, patience_s=0.05) as reading, pytest.raises(NotAnExport, match="took too long or failed"):
        reading.next()
