"""The archives that people download: readable by the tools of every system, and the same bytes from the same files."""

import lzma
import os
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import archives
import icu_data
import package
import pytest
from progress import Refusal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "usr/bin/thing").write_bytes(b"\x7fELF" + bytes(range(256)) * 50)
    (folder / "usr/bin/thing").chmod(0o755)
    (folder / "usr/bin/alias").symlink_to("thing")
    return folder


def test_the_same_files_give_the_same_bytes_whenever_they_were_written(tree: Path, tmp_path: Path) -> None:
    package.tarball(tree, tmp_path / "one.tar.xz", 86400)
    other = tmp_path / "other"
    shutil.copytree(tree, other, symlinks=True)  # other inodes, another order in the folder
    (other / "usr/bin/thing").touch()
    package.tarball(other, tmp_path / "two.tar.xz", 86400)
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()


def test_the_tarball_is_one_folder_and_belongs_to_nobody(tree: Path, tmp_path: Path) -> None:
    package.tarball(tree, tmp_path / "thing.tar.xz", 86400)
    with tarfile.open(tmp_path / "thing.tar.xz") as archive:
        entries = archive.getmembers()
    assert {entry.name.split("/")[0] for entry in entries} == {"rialto"}
    assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries} == {(0, 0, "root", 86400)}


def test_the_filter_for_x86_is_for_x86() -> None:
    assert archives.filters("x86_64")[0]["id"] == lzma.FILTER_X86
    assert [one["id"] for one in archives.filters("aarch64")] == [lzma.FILTER_LZMA2]


def icu_package(names: dict[str, bytes]) -> bytes:
    """A package of ICU data as its tools write it: header, table, names, data at multiples of 16."""
    header = struct.pack("<HBB", 32, 0xDA, 0x27) + struct.pack("<HHBBBB", 20, 0, 0, 0, 2, 0) + b"CmnD"
    texts, at, places = b"", 4 + 8 * len(names), []
    for name in names:
        places.append(at + len(texts))
        texts += name.encode() + b"\0"
    begin = -(-(at + len(texts)) // 16) * 16
    table, body = struct.pack("<I", len(names)), b""
    for place, data in zip(places, names.values(), strict=True):
        table += struct.pack("<II", place, begin + len(body))
        body += data.ljust(-(-len(data) // 16) * 16, b"\0")
    return b"\0" * 64 + header.ljust(32, b"\0") + (table + texts).ljust(begin, b"\0") + body


def test_icu_keeps_what_qt_reads_and_loses_the_rest() -> None:
    before = {
        "icudt73l/coll/de.res": b"order",
        "icudt73l/curr/de.res": b"money",
        "icudt73l/de.res": b"numbers",
        "icudt73l/gb18030.cnv": b"letters",
        "icudt73l/zone/de.res": b"places",
        "icudt73l/zoneinfo64.res": b"time",
    }
    kept = icu_data.kept(icu_package(before))
    items = dict(icu_data._items(kept, int.from_bytes(kept[:2], "little")))
    assert {name: data.rstrip(b"\0") for name, data in items.items()} == {
        "icudt73l/coll/de.res": b"order",
        "icudt73l/de.res": b"numbers",
        "icudt73l/zoneinfo64.res": b"time",
    }
    with pytest.raises(Refusal, match="no ICU data"):
        icu_data.kept(b"nothing of it")


def test_the_icons_are_drawn_in_every_size_and_kind(tmp_path: Path) -> None:
    script = ROOT / "packaging" / "build_files" / "draw_icons.py"
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run([sys.executable, str(script), str(tmp_path)], env=environ, check=True, timeout=60)
    sizes = {path.stem for path in tmp_path.glob("*.png")}
    assert sizes == {"16", "22", "24", "32", "48", "64", "128", "256", "512", "1024"}
    assert (tmp_path / "rialto.ico").read_bytes()[:4] == b"\0\0\1\0"
    icns = (tmp_path / "rialto.icns").read_bytes()
    assert icns[:4] == b"icns" and int.from_bytes(icns[4:8], "big") == len(icns)
