"""Collections of calls: plain JSON files, one a collection, made to be read, shared and compared line by line.

A collection holds no secret: a signed transaction in it becomes a variable, and there is no account, key or answer. A
file that another program changed is read tolerantly; one that cannot be read is left as it is and named.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.storage.atomic_files import make_folder, write_atomically
from app.storage.errors import StorageUnavailable, unavailable
from app.storage.file_names import is_reserved
from app.storage.values import micros_of, moment_of
from app.translation import tr

FORMAT = "rialto-collection"
VERSION = 1
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_NAME_CHARS = 80
SIGNED = "{{signed_transaction}}"
_SIGNED_METHODS = frozenset(
    {"eth_sendRawTransaction", "trace_rawTransaction", "eth_sendUserOperation", "sendTransaction"}
)
_ID_TYPES = (int, str, type(None))
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class SavedRequest:
    """One request of a collection. `items`: method and params of each call, and the id of those that have their own."""

    name: str
    network: str
    items: tuple[Mapping[str, Any], ...]
    batch: bool = False


@dataclass(frozen=True, slots=True)
class Collection:
    """`file` is the file's name, "" before the first saving."""

    name: str
    requests: tuple[SavedRequest, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True, slots=True)
class TrashedCollection:
    """`name` is that of its file in the trash; `collection` holds what was removed and names the file it was in."""

    name: str
    collection: Collection
    trashed_at: datetime


class NotACollection(ValueError):
    """The text is no collection; the message is a sentence."""


class RpcCollections:
    """The files of one folder. Blocking: call its methods in a thread. All raise `StorageUnavailable`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._has_trash = False  # from then on a trash that is not there is a disk that is away

    def read_all(self) -> tuple[tuple[Collection, ...], tuple[str, ...]]:
        """Every collection by name, and the names of the files that are none."""
        found, broken = [], []
        try:
            paths = sorted(self.folder.glob("*.json")) if self.folder.exists() else []
        except OSError as error:
            raise unavailable(error, self.folder, tr("Reading the collections")) from error
        for path in paths:
            try:
                if path.stat().st_size > MAX_FILE_BYTES:
                    raise NotACollection(tr("This file is too large for a collection."))
                found.append(replace(read_collection(path.read_text(encoding="utf-8")), file=path.name))
            except (OSError, UnicodeDecodeError, NotACollection):
                broken.append(path.name)
        return tuple(sorted(found, key=lambda each: each.name.casefold())), tuple(broken)

    def save(self, collection: Collection) -> Collection:
        """Write a collection, whole, under the name that it has or gets now."""
        make_folder(self.folder)
        file = collection.file or self._free_name(collection.name)
        write_atomically(self.folder / file, collection_text(collection).encode())
        return replace(collection, file=file)

    # The trash: files beside the others in a folder of its own, each named after the one that it was in and the moment.

    def trash(self, collection: Collection, place: int | None, at: datetime) -> str:
        """Move a collection, or one of its requests, to the trash; return its id there."""
        left = tuple(request for number, request in enumerate(collection.requests) if number != place)
        gone = collection if place is None else replace(collection, requests=(collection.requests[place],))
        name = f"{Path(collection.file).stem}~{micros_of(at)}.json"
        make_folder(self._trash_folder)
        write_atomically(self._trash_folder / name, collection_text(gone).encode())
        self._has_trash = True
        if place is None:
            self._unlink(self.folder / collection.file)
        else:
            self.save(replace(collection, requests=left))
        return name

    def trashed(self) -> tuple[TrashedCollection, ...]:
        """What is in the trash, whatever can be read of it."""
        found = []
        try:
            paths = sorted(path for path in self._trash_folder.iterdir() if path.match("*~*.json"))
            self._has_trash = True
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) and not self._has_trash:
                return ()
            raise unavailable(error, self._trash_folder, tr("Reading the trash")) from error
        for path in paths:
            stem, _, moment = path.stem.rpartition("~")
            try:
                collection = read_collection(path.read_text(encoding="utf-8"))
                at = moment_of(int(moment))
            except (OSError, ValueError, OverflowError, NotACollection):
                continue
            found.append(TrashedCollection(path.name, replace(collection, file=f"{stem}.json"), at))
        return tuple(found)

    def restore(self, name: str) -> None:
        """Put it back: into the file it was in, behind what that holds now."""
        back = next((each.collection for each in self.trashed() if each.name == name), None)
        if back is None:
            return
        found, broken = self.read_all()
        there = next((each for each in found if each.file == back.file), None)
        if there is not None:
            back = replace(
                there, requests=(*there.requests, *back.requests), variables={**back.variables, **there.variables}
            )
        elif back.file in broken:  # nobody knows what is in it: it stays as it is
            back = replace(back, file="")
        self.save(back)
        self.delete(name)

    def delete(self, name: str) -> None:
        """Delete what is in the trash for good."""
        self._unlink(self._trash_folder / name)

    @property
    def _trash_folder(self) -> Path:
        return self.folder / ".trash"

    def _unlink(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unavailable(error, path, tr("Removing a collection")) from error

    def _free_name(self, name: str) -> str:
        stem = file_stem(name)
        for number in range(1, 10_000):
            file = f"{stem}.json" if number == 1 else f"{stem}-{number}.json"
            if not (self.folder / file).exists():
                return file
        raise StorageUnavailable(tr("There are too many collections with this name."), self.folder)


def file_stem(name: str) -> str:
    """A file's name for a collection's: letters and digits of ASCII, never a name that a system keeps for itself."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60]
    return f"collection-{stem}".rstrip("-") if not stem or is_reserved(stem) else stem


def collection_text(collection: Collection) -> str:
    """The file: two spaces, one line a value, a line break at the end, so that two versions compare well."""
    value = {
        "format": FORMAT,
        "version": VERSION,
        "name": collection.name,
        "variables": dict(sorted(collection.variables.items())),
        "requests": [
            {
                "name": request.name,
                "network": request.network,
                "batch": request.batch,
                "items": [_without_secrets(item) for item in request.items],
            }
            for request in collection.requests
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def read_collection(text: str) -> Collection:
    """Read what `collection_text` wrote, or somebody by hand. Raises `NotACollection`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotACollection(tr("This file is not JSON.")) from error
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise NotACollection(tr("This file is not a Rialto collection."))
    version = value.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise NotACollection(tr("This collection was saved by a newer version of Rialto."))
    variables = value.get("variables")
    requests = value.get("requests")
    return Collection(
        _name(value.get("name"), tr("Collection")),
        tuple(request for each in _list(requests) if (request := _request(each)) is not None),
        {
            name: each
            for name, each in (variables.items() if isinstance(variables, Mapping) else ())
            if _VARIABLE_NAME.fullmatch(name)
        },
    )


def _request(value: object) -> SavedRequest | None:
    if not isinstance(value, Mapping):
        return None
    items = tuple(
        {
            "method": item["method"],
            "params": item.get("params", []),
            **({"id": item["id"]} if type(item.get("id", False)) in _ID_TYPES else {}),
        }
        for item in _list(value.get("items"))
        if isinstance(item, Mapping)
        and isinstance(item.get("method"), str)
        and isinstance(item.get("params", []), list | Mapping)
    )
    network = value.get("network")
    if not items or not isinstance(network, str):
        return None
    return SavedRequest(_name(value.get("name"), items[0]["method"]), network, items, value.get("batch") is True)


def _without_secrets(item: Mapping[str, Any]) -> dict[str, Any]:
    params = item.get("params", [])
    if item["method"] in _SIGNED_METHODS and isinstance(params, list) and params and params[0] != SIGNED:
        params = [SIGNED, *params[1:]]
    return {**item, "params": params}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _name(value: object, otherwise: str) -> str:
    return value.strip()[:MAX_NAME_CHARS] if isinstance(value, str) and value.strip() else otherwise
