"""What a person chose about the window. No secrets, no history. Standard library only.

The reader takes anything: a value of the wrong kind becomes its default, a number out of range moves to the
nearest end, keys it does not know (a newer Rialto's) are kept and written back.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from app.storage.atomic_files import StoredFile
from app.storage.errors import StorageUnavailable
from app.translation import tr

THEMES = ("system", "light", "dark")
NOTICE_SECONDS = ("6", "15", "30", "")
MODEL_SORTS = ("name", "price", "context", "newest")
SECRET_STORES = ("", "keyring", "session", "passphrase")
PROXY_MODES = ("system", "none", "manual")
PROXY_KINDS = ("http", "https", "socks5")
TEXT_PERCENT_MIN, TEXT_PERCENT_MAX = 80, 200
_MAX_TEXT = 200_000  # characters; window geometry is about 100
_NONE: Mapping[str, Any] = MappingProxyType({})


class Settings(NamedTuple):
    """What the person chose, and what the window remembers of itself."""

    theme: str = "system"
    text_percent: int = 100  # 80 to 200
    system_font: bool = False
    reduced_motion: bool = False
    high_contrast: bool = False  # also where the system does not ask for it
    notice_seconds: str = "6"  # how long notices stay, "" until they are closed
    welcome_done: bool = False
    secret_store: str = ""  # "" until there is a choice to make; then what the person chose
    default_model: Mapping[str, str] = _NONE  # account id -> model id
    chat_defaults: Mapping[str, Any] = _NONE  # option of new chats -> value, as in a chat's row
    window_geometry: str = ""  # Qt's saveGeometry(), base64
    panes: Mapping[str, Mapping[str, Any]] = _NONE  # tab -> sizes in px, open or not
    shortcuts: Mapping[str, str] = _NONE  # action id -> key sequence, "" for none
    favourite_models: tuple[str, ...] = ()
    model_sort: str = "name"  # the order of the model picker
    told_retiring: tuple[str, ...] = ()  # "model id, date" of models whose end was told
    service_versions: Mapping[str, str] = _NONE  # account id -> since when, how it is known, and the version
    palette_recent: tuple[str, ...] = ()  # what was run from the palette, newest first
    dialog_folders: Mapping[str, str] = _NONE  # title of a file dialog -> folder chosen last
    last_tab: str = "chat"
    last_chat: str = ""
    glimpse: Mapping[str, str] = _NONE  # what the first frame shows of the usual model
    enter_sends: bool = True
    load_remote_pictures: bool = False
    show_adult: bool = False
    anon_user_id: str = ""  # random: tells apart people who share a key; "" while chats go without one
    ask_intel: bool = False  # ask Intel's servers whether an enclave's processor is current and not revoked
    solana_node: str = ""  # asked for a block where payment terms name none, "" until the person enters it
    ask_nvidia: bool = False  # ask NVIDIA's servers about the evidence of graphics processors
    notify: bool = True  # say outside the window what happens while another program is in front
    transcription: Mapping[str, str] = _NONE  # what the tab remembers: microphone, model, …
    budgets: Mapping[str, str] = _NONE  # "soft day" -> USD as text; see app/core/spending_limits.py
    wallet_lock_minutes: str = "15"  # how long after the last signature wallets lock themselves, "" for never
    look_for_updates: bool = False  # at a start, at most once a day
    updates_looked_at: str = ""  # ISO time of the last look
    proxy_mode: str = "system"
    proxy_kind: str = "http"
    proxy_host: str = ""
    proxy_port: int = 0  # 0 while there is none
    proxy_user: str = ""  # "" for a proxy without a user; its password is never here
    proxy_secret: str = ""  # random: whose password it is, of all copies of Rialto; "" before there was one
    proxy_bypass: tuple[str, ...] = ()  # hosts that are called straight
    ca_files: tuple[str, ...] = ()  # paths of PEM files that are believed besides the system's certificates
    unknown: Mapping[str, Any] = _NONE  # keys of a newer version, kept as they came


_ONE_OF: Mapping[str, tuple[str, ...]] = {
    "model_sort": MODEL_SORTS,
    "theme": THEMES,
    "notice_seconds": NOTICE_SECONDS,
    "secret_store": SECRET_STORES,
    "proxy_mode": PROXY_MODES,
    "proxy_kind": PROXY_KINDS,
}
_KEYS = tuple(name for name in Settings._fields if name != "unknown")
_GONE = (  # of earlier versions
    "active_account",  # the list of accounts itself says which one is in use
    "confirm_links",  # links are always confirmed
)
_DEFAULTS = Settings()


def settings_from(body: object) -> Settings:
    """Return the settings that `body` (decoded JSON, of any shape) states. Never raises."""
    if not isinstance(body, Mapping):
        return Settings()
    known = {name: _tolerant(name, body[name]) for name in _KEYS if name in body}
    unknown = {str(name): value for name, value in body.items() if name not in (*_KEYS, *_GONE)}
    return Settings(**known, unknown=unknown)


def settings_to(settings: Settings) -> dict[str, Any]:
    """Return the JSON object to write: what a newer version left, then every key of ours."""
    body = dict(settings.unknown)
    for name in _KEYS:
        value = getattr(settings, name)
        if isinstance(value, Mapping):
            value = {key: dict(inner) if isinstance(inner, Mapping) else inner for key, inner in value.items()}
        body[name] = list(value) if isinstance(value, tuple) else value
    return body


def _has_other_types(body: Mapping[str, Any], read: Mapping[str, Any]) -> bool:
    """Whether a value of ours has another type in the file than it can have: it was not written by any Rialto."""
    return any(_shape(body[name]) != _shape(read[name]) for name in _KEYS if name in body)


def _shape(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


def _tolerant(name: str, value: object) -> Any:
    default = getattr(_DEFAULTS, name)
    if name in _ONE_OF:
        return value if value in _ONE_OF[name] else default
    if name == "proxy_port":
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 65536 else default
    if name == "panes":
        return _panes(value)
    if name == "chat_defaults":
        return _plain_values(value)
    if isinstance(default, bool):
        return value if isinstance(value, bool) else default
    if isinstance(default, int):
        return _percent(value, default)
    if isinstance(default, str):
        return value if isinstance(value, str) and len(value) <= _MAX_TEXT else default
    if isinstance(default, tuple):
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else default
    items = value.items() if isinstance(value, Mapping) else ()
    return {key: text for key, text in items if isinstance(key, str) and isinstance(text, str)}


def _percent(value: object, default: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # the last is NaN
        return default
    return int(min(max(value, TEXT_PERCENT_MIN), TEXT_PERCENT_MAX))


def _panes(value: object) -> dict[str, dict[str, Any]]:
    """Keep sizes (numbers), switches and short texts; everything else in a pane is not ours."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(tab): {str(k): v for k, v in pane.items() if isinstance(v, bool | int | str)}
        for tab, pane in value.items()
        if isinstance(pane, Mapping)
    }


def _plain_values(value: object) -> dict[str, bool | int | float | str]:
    """Keep switches, finite numbers and texts; what else they have to be knows who uses them."""
    items = value.items() if isinstance(value, Mapping) else ()
    return {
        str(name): each
        for name, each in items
        if (isinstance(each, int | float) and abs(each) < math.inf)
        or (isinstance(each, str) and len(each) <= _MAX_TEXT)
    }


class SettingsStore:
    """The settings file. `value` is always whole; `note` is a sentence when the file could not be used at start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = StoredFile(path, keeps_copy=True)
        self.note = ""
        self._writing = threading.Lock()
        self._listeners: list[Callable[[Settings], None]] = []
        self.value = self._read()
        self._written = self.value

    def remember(self, **changes: Any) -> None:
        """Set some values; whoever subscribed writes them soon. Raises `TypeError` for a name that is no setting."""
        checked = {name: _tolerant(name, value) if name in _KEYS else value for name, value in changes.items()}
        value = Settings(**{**self.value._asdict(), **checked})
        if value != self.value:
            self.value = value
            for listener in tuple(self._listeners):
                listener(value)

    @property
    def is_saved(self) -> bool:
        """Whether the file has what `remember` collected, as far as this store knows."""
        return self.value == self._written

    def save(self) -> None:
        """Write what `remember` collected, if anything. Waits for the disk: call it in a thread."""
        with self._writing:
            value = self.value
            if value == self._written and self.path.exists():
                return
            text = json.dumps(settings_to(value), indent=2, ensure_ascii=False, sort_keys=True)
            self.file.save(text.encode("utf-8", "surrogatepass"))
            self._written = value

    def restore(self, data: bytes) -> None:
        """Go by the copy of a damaged file, which `save` then writes in its place. Raises `ValueError` for no JSON."""
        self.note = ""
        self.file.end_offer()
        self.remember(**settings_from(json.loads(data))._asdict())

    def subscribe(self, listener: Callable[[Settings], None]) -> None:
        """Call `listener` with the new value after every change, in the thread that changed it."""
        self._listeners.append(listener)

    def _read(self) -> Settings:
        try:
            data = self.file.load()
        except StorageUnavailable as error:
            self.note = tr("{sentence}. Rialto uses the default settings.", sentence=error.sentence)
            return Settings()
        if data is None:
            return Settings()
        try:
            body = json.loads(data)
            if not isinstance(body, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            aside = self.file.set_aside()
            told = tr("The settings file could not be read, so Rialto uses the default settings.")
            self.note = f"{told} {tr('It is kept as {aside}.', aside=aside)}" if aside else told
            return Settings()
        settings = settings_from(body)
        if _has_other_types(body, settings_to(settings)):
            aside = self.file.set_aside()
            told = tr("Some settings could not be read, so Rialto uses the defaults for them.")
            self.note = f"{told} {tr('The file is kept as {aside}.', aside=aside)}" if aside else told
        return settings
