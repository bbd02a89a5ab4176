"""What the pages of Settings show besides accounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from app.core.call_log import HostCalls
from app.translation import tr

LIMIT_SCOPES = (
    ("day", tr("Per day, all accounts")),
    ("call", tr("Per request")),
    ("tab chat", tr("Per day in Chat")),
    ("tab speech", tr("Per day in Speech")),
    ("tab transcription", tr("Per day in Transcribe")),
    ("tab images", tr("Per day in Images")),
    ("tab video", tr("Per day in Video")),
    ("tab crypto_rpc", tr("Per day in Console")),
)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the person chose, as the pages draw it."""

    theme: Literal["system", "light", "dark"] = "system"
    text_percent: int = 100
    system_font: bool = False
    reduced_motion: bool = False
    high_contrast: bool = False
    notice_seconds: str = "6"  # "" until they are closed
    enter_sends: bool = True
    load_remote_pictures: bool = False
    anon_user_id: str = ""
    ask_intel: bool = False
    ask_nvidia: bool = False
    show_adult: bool = False
    notify: bool = True
    budgets: Mapping[str, str] = field(default_factory=dict)  # "soft day" -> USD as text
    chat_defaults: Mapping[str, Any] = field(default_factory=dict)  # option of new chats -> what the person chose


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """Names of the text models of the account in use, by id; `default` is the person's own choice, "" for none."""

    account: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    default: str = ""
    favourites: tuple[str, ...] = ()
    is_sandbox: bool = False  # whether the account in use is the Sandbox's


@dataclass(frozen=True, slots=True)
class UsageRow:
    """How much of the disk one kind of data takes, and where it is. `color` is a role."""

    title: str
    size_bytes: int
    color: str
    folder: str
    exists: bool = True


@dataclass(frozen=True, slots=True)
class SettingsState:
    choices: Choices = Choices()
    models: ModelChoices = ModelChoices()
    folder: str = ""
    usage: tuple[UsageRow, ...] = ()
    last_backup: datetime | None = None
    looked: bool = False  # whether usage and backups were read yet
    hosts: tuple[HostCalls, ...] = ()
    problem: str = ""
    notification_problem: str = ""  # why the last notification could not be shown
