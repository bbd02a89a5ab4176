"""What the pages of Settings show besides accounts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.ui.shared.call_log import HostCalls


@dataclass(frozen=True, slots=True)
class Choices:
    """What the person chose, as the pages draw it."""

    theme: Literal["system", "light", "dark"] = "system"
    text_percent: int = 100
    system_font: bool = False
    reduced_motion: bool = False
    enter_sends: bool = True
    load_remote_pictures: bool = False
    confirm_links: bool = True


@dataclass(frozen=True, slots=True)
class UsageRow:
    """How much of the disk one kind of data takes. `color` is a chart role."""

    title: str
    size_bytes: int
    color: str


@dataclass(frozen=True, slots=True)
class SettingsState:
    choices: Choices = Choices()
    folder: str = ""
    usage: tuple[UsageRow, ...] = ()
    last_backup: datetime | None = None
    looked: bool = False  # whether usage and backups were read yet
    hosts: tuple[HostCalls, ...] = ()
    problem: str = ""
