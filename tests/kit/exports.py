"""Exports of chats, read whole and in this process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.storage.imports.chat_import import Summary, export_pieces


@dataclass
class Export:
    source: str = ""
    chats: list[Any] = field(default_factory=list)
    projects: list[Any] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)

    @property
    def messages(self) -> int:
        return sum(len(chat["messages"]) for chat in self.chats)


def read_export(path: Path) -> Export:
    """Raises `NotAnExport`."""
    export, summary = Export(), Summary()
    for piece in export_pieces(path, summary):
        match piece.kind:
            case "chat":
                export.chats.append(piece.body)
            case "project":
                export.projects.append(piece.body)
            case "file":
                export.files |= piece.body["files"]
    export.source, export.left = " and ".join(sorted(summary.sources)), summary.left
    return export
