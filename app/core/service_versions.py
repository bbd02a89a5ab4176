"""Which version of the service each account calls, and since when: what the responses say of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.time_format import day
from app.translation import tr

if TYPE_CHECKING:
    from app.service.exchange import Exchange
    from app.storage.settings import SettingsStore

MAX_VERSION_CHARS = 60
MOST_ACCOUNTS = 200


class ServiceVersion(NamedTuple):
    """`since` is when it was first seen; `changed` is False for the first version that was ever seen."""

    text: str
    since: datetime
    changed: bool

    @property
    def words(self) -> str:
        """`Service version 20261118.091455, changed Nov 18, 2026`."""
        date = day(self.since)
        if self.changed:
            return tr("Service version {version}, changed {date}", version=self.text, date=date)
        return tr("Service version {version}, first seen {date}", version=self.text, date=date)


class ServiceVersions(QObject):
    """`changed` names the account whose service has another version now."""

    changed = Signal(str)

    def __init__(self, settings: SettingsStore, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__()
        self._settings = settings
        self._now = now

    def hear(self, account_id: str, exchange: Exchange) -> None:
        """Take the version of a response; kept with the settings."""
        version = (exchange.info.service_version or "")[:MAX_VERSION_CHARS] if exchange.info is not None else ""
        known = self._settings.value.service_versions
        before = self.of(account_id)
        if not version or (before is not None and before.text == version):
            return
        note = " ".join((self._now().isoformat(), "changed" if before is not None else "first", version))
        kept = {**{key: value for key, value in known.items() if key != account_id}, account_id: note}
        self._settings.remember(service_versions=dict(list(kept.items())[-MOST_ACCOUNTS:]))
        self.changed.emit(account_id)

    def of(self, account_id: str) -> ServiceVersion | None:
        """Return what was seen last; None before the first response, and where it cannot be read."""
        since, _, rest = self._settings.value.service_versions.get(account_id, "").partition(" ")
        how, _, version = rest.partition(" ")
        try:
            return ServiceVersion(version, datetime.fromisoformat(since), how == "changed") if version else None
        except ValueError:
            return None
