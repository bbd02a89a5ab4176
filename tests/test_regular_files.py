"""Paths that a person names are opened only if they are regular files."""

import os
import socket
import sys
from pathlib import Path

import pytest

from app.files import NotRegular, TooLarge, open_regular, read_regular
from app.service.http.certificates import CertificateRefused, read_ca_file
from app.service.http.upload_check import sound_kind
from app.ui.chat.composer.attachment_check import NotAttached, read_file
from app.ui.transcription.session.file_probe import look


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"hello")
    assert read_regular(path) == b"hello"
    assert read_regular(path, 5) == b"hello"
    with open_regular(str(path)) as file:
        assert file.read(2) == b"he"


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"hello!")
    with pytest.raises(TooLarge):
        read_regular(path, 5)


def test_a_file_that_grows_while_it_is_read_keeps_to_the_limit() -> None:
    if sys.platform != "linux":
        pytest.skip("needs /proc, whose files state a size of 0")
    with pytest.raises(TooLarge):
        read_regular("/proc/self/environ", 1)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "missing")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes or sockets among its files")
def test_a_pipe_a_socket_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (pipe, Path("/dev/zero")):
            with pytest.raises(NotRegular):
                open_regular(path)
        with pytest.raises(OSError):
            open_regular(tmp_path / "socket")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes among its files")
async def test_every_reader_refuses_a_pipe_with_a_sentence(tmp_path: Path) -> None:
    """A thread that opened one would wait for a writer forever, and the program could not end."""
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    with pytest.raises(CertificateRefused, match="cannot be read"):
        read_ca_file(pipe)
    with pytest.raises(NotAttached):
        read_file(pipe)
    assert "cannot be read" in look(pipe).problem
    with pytest.raises(Exception, match="cannot be read"):
        await sound_kind(pipe)
