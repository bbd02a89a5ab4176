"""Qt brings ICU's data for everything that ICU can do, 32 MB; Qt itself asks it for order, letters and calendars.

The library that holds the data is made anew without the parts that nothing of Qt reads: names of countries, languages,
currencies, units and time zones, breaking of lines, spelling out of numbers, transliteration, and the converters of old
encodings. What was asked for and is not there, ICU answers by its root: a name in English, never an error.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from pathlib import Path

from progress import CommandFailed, Refusal, quietly

LEFT_OUT = ("brkitr", "curr", "lang", "rbnf", "region", "translit", "unit", "zone")
TOOLS = ("ld", "objcopy")
_FORMAT = b"CmnD"  # stands 12 bytes behind the beginning of a package of data
_FORMAT_AT = 12
_ALIGNMENT = 16


def shrink(library: Path) -> int:
    """Make `libicudata.so.NN` smaller, in place; return how many bytes that saved. Raises `Refusal`.

    Without binutils nothing happens.
    """
    if any(shutil.which(tool) is None for tool in TOOLS):
        return 0
    before = library.stat().st_size
    version = library.name.rpartition(".")[2]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        try:
            quietly(["objcopy", "-O", "binary", "--only-section=.rodata", str(library), "rodata"], cwd=folder)
            (folder / "icudata").write_bytes(kept((folder / "rodata").read_bytes()))
            quietly(["ld", "-r", "-b", "binary", "-o", "icudata.o", "icudata"], cwd=folder)
            section = ".data=.rodata,alloc,load,readonly,data,contents"
            rename = ["--redefine-sym", f"_binary_icudata_start=icudt{version}_dat", "--rename-section", section]
            quietly(["objcopy", *rename, "--set-section-alignment", f".rodata={_ALIGNMENT}", "icudata.o"], cwd=folder)
            shared = ["-shared", "-z", "noexecstack", "-soname", library.name, "-o", "icudata.so"]
            quietly(["ld", *shared, "icudata.o"], cwd=folder)
        except CommandFailed as failure:
            raise Refusal(f"{library.name} could not be made smaller:\n\n{failure.tail}\n") from failure
        shutil.copyfile(folder / "icudata.so", library)
    return before - library.stat().st_size


def kept(rodata: bytes) -> bytes:
    """Return the package of data in `rodata` without what is left out. Raises `Refusal` when there is none.

    A header, then a table of contents (how many; for each where its name and its data are, counted from the table),
    the names in their order, the data, each at a multiple of 16.
    """
    begin = rodata.find(_FORMAT) - _FORMAT_AT
    if begin < 0:
        raise Refusal("There is no ICU data in the library that should hold it.")
    header_bytes = int.from_bytes(rodata[begin : begin + 2], "little")
    table = begin + header_bytes
    items = [item for item in _items(rodata, table) if _is_wanted(item[0])]
    names, name_at, names_bytes = b"", [], 4 + 8 * len(items)
    for name, _ in items:
        name_at.append(names_bytes + len(names))
        names += name.encode() + b"\0"
    first = _aligned(names_bytes + len(names))
    pieces, data_at, end = [], [], first
    for _, data in items:
        data_at.append(end)
        pieces.append(data.ljust(_aligned(len(data)), b"\0"))
        end += len(pieces[-1])
    entries = b"".join(struct.pack("<II", *place) for place in zip(name_at, data_at, strict=True))
    contents = (struct.pack("<I", len(items)) + entries + names).ljust(first, b"\0")
    return rodata[begin:table] + contents + b"".join(pieces)


def _items(rodata: bytes, table: int) -> list[tuple[str, bytes]]:
    """Return the name and the data of every item, in their order."""
    (count,) = struct.unpack_from("<I", rodata, table)
    places = [struct.unpack_from("<II", rodata, table + 4 + 8 * index) for index in range(count)]
    ends = [table + data_at for _, data_at in places[1:]] + [len(rodata)]
    items = []
    for (name_at, data_at), end in zip(places, ends, strict=True):
        name = rodata[table + name_at : rodata.index(b"\0", table + name_at)].decode()
        items.append((name, rodata[table + data_at : end]))
    return items


def _is_wanted(name: str) -> bool:
    """`icudt73l/curr/de.res`: the package, then perhaps a folder."""
    parts = name.split("/")
    return not name.endswith(".cnv") and not (len(parts) > 2 and parts[1] in LEFT_OUT)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
