"""The bytes of attachments inside a chat's JSON: each content once, behind the messages, and kept on the way in.

`"files": {"<sha256>": "<base64>"}` stands last in the object. What a file says about itself is not believed: bytes that
do not have the hash they are named by are left behind. Every call here reads or writes files: not on the UI thread.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.storage.attachment_files import AttachmentFiles
from app.storage.chat_rows import Message
from app.storage.errors import NotStored

FILES = "files"
MAX_BYTES = 700 * 1024 * 1024  # of a whole file; as base64 this is what an import still takes
PIECE_BYTES = 3 * 256 * 1024  # a multiple of 3, so that the pieces of base64 fit together


@dataclass(frozen=True, slots=True)
class Packed:
    """How many attachments went into the file; `gone` are no longer on this computer, `too_much` had no room."""

    packed: int = 0
    gone: int = 0
    too_much: int = 0


def named_in(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the hashes that messages name, each once, in their order."""
    names = (each.get("sha256") for message in messages for each in message.attachments)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def write_chat(path: Path, body: Mapping[str, Any], names: Iterable[str], files: AttachmentFiles) -> Packed:
    """Write a chat with the bytes of its attachments, a piece at a time: they may be larger than the memory to spare.

    Raises `OSError`.
    """
    text = json.dumps(body, ensure_ascii=False, indent=1)
    packed = gone = too_much = 0
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
        out.write(text.removesuffix("\n}"))
        used = out.tell() * 3 // 4  # as if it were base64: embeddings in it may be 133 MB
        for name in names:
            try:
                data = files.read(name)
            except NotStored:
                gone += 1
                continue
            if used + len(data) > MAX_BYTES:
                too_much += 1
                continue
            used += len(data)
            out.write(f',\n  "{name}": "' if packed else f',\n "{FILES}": {{\n  "{name}": "')
            for start in range(0, len(data), PIECE_BYTES):
                out.write(base64.b64encode(data[start : start + PIECE_BYTES]).decode("ascii"))
            out.write('"')
            packed += 1
        out.write("\n }\n}" if packed else "\n}")
    return Packed(packed, gone, too_much)


def keep_files(body: Mapping[str, Any], files: AttachmentFiles) -> int:
    """Keep the bytes that a chat's file holds; return how many were damaged. Raises `StorageUnavailable`."""
    told = body.get(FILES)
    damaged = 0
    for name, text in told.items() if isinstance(told, Mapping) else ():
        try:
            data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
        except (binascii.Error, ValueError):
            data = b""
        if hashlib.sha256(data).hexdigest() != name:
            damaged += 1
            continue
        files.keep(data)
    return damaged
