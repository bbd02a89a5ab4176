"""The index against its files, through the process that reads: changes, pauses, kills, and files that end a reader."""

import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.documents.reading import Reason
from app.documents.watcher import DocumentWatcher, Progress
from tests.documents import samples
from tests.kit.portable import not_on_windows

PATIENCE_S = 60.0


class Watched:
    """A watcher whose states can be waited for."""

    def __init__(self, index: Path, patience_s: float = PATIENCE_S) -> None:
        self.index = index
        self.said: list[Progress] = []
        self._new = threading.Condition()
        self.watcher = DocumentWatcher(index, self._take, patience_s)

    def _take(self, progress: Progress) -> None:
        with self._new:
            self.said.append(progress)
            self._new.notify_all()

    def wait_for(self, *states: str) -> Progress:
        """Wait for the next of these states that nobody waited for."""
        with self._new:
            assert self._new.wait_for(lambda: any(each.state in states for each in self.said), PATIENCE_S)
            found = next(each for each in self.said if each.state in states)
            del self.said[: self.said.index(found) + 1]
            return found

    def wait_for_rows(self, query: str, answer: list[tuple[object, ...]]) -> None:
        """Wait until the index says so, state by state."""
        while (found := rows(self.index, query)) != answer:
            assert self.wait_for("idle", "failed").state == "idle", found


def rows(index: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(index)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path / "index" / "index.db")
    yield made
    made.watcher.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "a.md").write_text("# Rent\nThe flat costs 900 euros.")
    (made / "b.docx").write_bytes(samples.docx())
    (made / "scan.pdf").write_bytes(samples.pdf(""))
    return made


def test_files_are_read_and_what_is_left_out_says_why(watched: Watched, folder: Path) -> None:
    watched.watcher.follow((str(folder),))
    watched.wait_for("idle")
    assert rows(watched.index, "SELECT kind, reason FROM files ORDER BY path") == [
        ("markdown", ""),
        ("docx", ""),
        ("", "no_text"),
    ]
    assert rows(watched.index, "SELECT count(*) FROM words WHERE words MATCH 'euro'") == [(2,)]


def test_only_what_changed_is_read_again(watched: Watched, folder: Path) -> None:
    watched.watcher.follow((str(folder),))
    watched.wait_for("idle")
    with closing(sqlite3.connect(watched.index)) as connection:
        connection.execute("UPDATE files SET chars = -1")  # stays where nothing is read
        connection.commit()
    (folder / "a.md").write_text("# Rent\nThe flat costs 950 dollars.")
    watched.wait_for_rows("SELECT count(*) FROM words WHERE words MATCH 'dollars'", [(1,)])
    assert rows(watched.index, "SELECT count(*) FROM words WHERE words MATCH 'euro'") == [(1,)]
    assert rows(watched.index, "SELECT kind FROM files WHERE chars = -1 ORDER BY path") == [("docx",), ("",)]
    (folder / "a.md").unlink()
    watched.wait_for_rows("SELECT count(*) FROM words WHERE words MATCH 'dollars'", [(0,)])
    watched.watcher.follow(())
    watched.wait_for_rows("SELECT count(*) FROM files", [(0,)])


def test_a_pause_reads_nothing_and_going_on_reads_it_all(watched: Watched, folder: Path) -> None:
    watched.watcher.follow((str(folder),), paused=True)
    watched.wait_for("paused")
    assert rows(watched.index, "SELECT count(*) FROM files") == [(0,)]
    watched.watcher.pause(False)
    watched.wait_for("idle")
    assert rows(watched.index, "SELECT count(*) FROM files") == [(3,)]


def test_who_is_killed_while_reading_loses_nothing(tmp_path: Path, folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.txt").write_text(f"number{number} " + "word " * 2000)
    first = Watched(tmp_path / "index.db")
    first.watcher.follow((str(folder),))
    first.wait_for("reading")
    first.watcher.close()  # kills it
    again = Watched(tmp_path / "index.db")
    again.watcher.follow((str(folder),))
    again.wait_for("idle")
    again.watcher.close()
    assert rows(tmp_path / "index.db", "SELECT count(*) FROM files WHERE reason = ''") == [(402,)]
    assert rows(tmp_path / "index.db", "SELECT count(*) FROM words WHERE words MATCH 'number399'") == [(1,)]
    assert rows(tmp_path / "index.db", "PRAGMA integrity_check") == [("ok",)]
    with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def test_a_file_that_takes_too_long_is_given_up_and_the_others_are_read(tmp_path: Path, folder: Path) -> None:
    rows_of_cells = "".join(f'<row r="{2 * n}"><c><v>{n}</v></c></row>' for n in range(1, 700_000))
    sheet = f"<worksheet><sheetData>{rows_of_cells}</sheetData></worksheet>"
    book = {"xl/workbook.xml": f'<workbook {samples.R}><sheets><sheet name="S" r:id="x"/></sheets></workbook>'}
    book["xl/_rels/workbook.xml.rels"] = samples.relations(("x", "worksheet", "sheet.xml"))
    (folder / "slow.xlsx").write_bytes(samples.zipped({**book, "xl/sheet.xml": sheet}))
    watched = Watched(tmp_path / "index.db", patience_s=0.3)
    watched.watcher.follow((str(folder),))
    watched.wait_for("idle")
    watched.watcher.close()
    found = dict(
        rows(tmp_path / "index.db", "SELECT replace(path, rtrim(path, replace(path, '/', '')), ''), reason FROM files")
    )
    assert found["slow.xlsx"] == Reason.TIME.value
    assert set(found) == {"a.md", "b.docx", "scan.pdf", "slow.xlsx"}


def test_a_damaged_index_is_made_again(watched: Watched, folder: Path) -> None:
    watched.index.parent.mkdir()
    watched.index.write_bytes(b"no database" * 999)
    watched.watcher.follow((str(folder),))
    watched.wait_for("idle")
    assert rows(watched.index, "SELECT count(*) FROM files") == [(3,)]


@not_on_windows
def test_each_bad_input_is_a_line_with_its_reason_and_stops_nothing_else(watched: Watched, folder: Path) -> None:
    files: dict[str, bytes] = {
        "lie.pdf": b"I am a text",
        "lie.txt": samples.pdf("Hello"),
        "bomb.docx": samples.zipped({"word/document.xml": b" " * 70_000_000}),
        "secret.pdf": samples.locked_pdf(),
        "secret.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "cut.docx": samples.docx()[:-40],
        "nothing.txt": b"",
        "film.mp4": b"\0\1\2\3" * 99,
        "b\x1b[31mad\n.txt": b"red",
        "utf16.txt": "größe zwölf".encode("utf-16"),
        "windows.txt": "größe zehn".encode("cp1252"),
        "wrong.txt": b"gr\xc3\xb6\xc3\x9fe \xff\xfe elf",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "circle").mkdir()
    (folder / "circle" / "up").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "not here")
    os.mkfifo(folder / "pipe.txt")
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(folder / "socket.txt"))
        watched.watcher.follow((str(folder), str(folder / "circle"), "/dev/zero", str(folder.parent / "gone.txt")))
        watched.wait_for("idle")
    found = {Path(str(path)).name: reason for path, reason in rows(watched.index, "SELECT path, reason FROM files")}
    assert found == {
        **dict.fromkeys(("a.md", "b.docx", "utf16.txt", "windows.txt", "wrong.txt"), ""),
        **dict.fromkeys(("lie.pdf", "lie.txt"), "kind"),
        **dict.fromkeys(("secret.pdf", "secret.docx"), "password"),
        **dict.fromkeys(("pipe.txt", "socket.txt", "zero"), "special"),
        **dict.fromkeys(("up", "nowhere"), "link"),
        "bomb.docx": "bomb",
        "b\x1b[31mad\n.txt": "name",
        "circle": "circle",
        "cut.docx": "damaged",
        "film.mp4": "unknown",
        "gone.txt": "vanished",
        "nothing.txt": "empty",
        "scan.pdf": "no_text",
    }
    assert rows(watched.index, "SELECT count(*) FROM words WHERE words MATCH 'große'") == [(2,)]


def test_a_file_that_vanishes_before_its_turn_is_gone_from_the_list(watched: Watched, folder: Path) -> None:
    for number in range(200):
        (folder / f"{number}.txt").write_text("word " * 2000)
    watched.watcher.follow((str(folder),))
    watched.wait_for("reading")
    (folder / "99.txt").unlink()
    (folder / "98.txt").rename(folder / "98.new")
    watched.wait_for_rows(
        "SELECT count(*), sum(path LIKE '%/99.txt'), sum(path LIKE '%/98.new') FROM files", [(202, 0, 1)]
    )
