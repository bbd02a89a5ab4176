"""Looks for a new version on request, and lists the licenses of what the program contains."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.tasks import TaskScope
from app.service.updates import UpdatesUnknown, is_newer, newest, read_feed
from app.storage.errors import StorageUnavailable
from app.storage.licenses import shipped
from app.translation import tr
from app.ui.settings.about.state import AboutState, Part

if TYPE_CHECKING:
    from app.service.http.network import Network
    from app.service.updates import Feed
    from app.storage.settings import Settings, SettingsStore

ONCE_IN = timedelta(days=1)  # how often a start looks
NO_FEED = tr("This build has no update source.")


class AboutPresenter(QObject):
    state_changed = Signal(object)  # AboutState

    def __init__(
        self,
        settings_store: SettingsStore,
        network: Callable[[], Network],
        tasks: TaskScope,
        *,
        root: Path,
        kept: Path,
        version: str,
        asked: Callable[[str], object] = lambda _host: None,
    ) -> None:
        """`root` is the folder of `resources`; `kept` is where what was believed of the feed is written down.

        `asked` is called with the host of each request.
        """
        super().__init__()
        self._store = settings_store
        self._network = network
        self._tasks = tasks
        self._root = root
        self._kept = kept
        self._version = version
        self._asked = asked
        self._feed: Feed | None = None
        self.state = AboutState(looks_at_start=settings_store.value.look_for_updates)

    def begin(self) -> None:
        """Read which feed this copy has, and the licenses; once."""
        if not self.state.known:
            self._tasks.start_unless_running("about", self._begin)

    async def _begin(self) -> None:
        await self._read_feed()
        parts = await asyncio.to_thread(_parts, self._root)
        self._change(parts=parts, known=True)

    def look(self) -> None:
        """Ask the feed now."""
        self._tasks.start_unless_running("look for updates", self._look)

    def choose(self, *, looks_at_start: bool) -> None:
        """Look at each start, at most once a day, or not."""
        self._store.remember(look_for_updates=looks_at_start)
        self._change(looks_at_start=looks_at_start)
        self._tasks.replace("save updates", self._save)

    async def check_at_start(self) -> str:
        """Look when the person wants that and the last look was a day ago; return a newer version, or ""."""
        if not is_due(self._store.value):
            return ""
        await self._look()
        return self.state.newer

    async def _read_feed(self) -> None:
        try:
            self._feed = await asyncio.to_thread(read_feed, self._root / "resources" / "updates")
        except UpdatesUnknown as error:
            self._change(sentence=error.sentence, tone="bad")
            return
        if self._feed is None:
            self._change(sentence=NO_FEED)
        else:
            self._change(host=self._feed.host)

    async def _look(self) -> None:
        if self._feed is None:
            await self._read_feed()
        if self._feed is None:
            return
        self._change(looking=True, sentence="", tone="", newer="", page="")
        try:
            release = await newest(self._feed, self._network(), self._kept, self._asked)
        except UpdatesUnknown as error:
            self._change(sentence=error.sentence, tone="bad")
        else:
            if is_newer(release.version, than=self._version):
                said = tr(
                    "Rialto {version} is available. You have {version2}. Rialto never installs updates automatically.",
                    version=release.version,
                    version2=self._version,
                )
                self._change(sentence=said, newer=release.version, page=release.page)
            else:
                self._change(sentence=tr("This is the latest version, {version}.", version=self._version), tone="ok")
        finally:
            self._change(looking=False)
        self._store.remember(updates_looked_at=datetime.now(UTC).isoformat(timespec="seconds"))
        await self._save()

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(self._store.save)
        except StorageUnavailable as error:
            self._change(
                sentence=tr("{sentence}. Your change lasts until you quit Rialto.", sentence=error.sentence),
                tone="bad",
            )

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state_changed.emit(self.state)


def is_due(settings: Settings) -> bool:
    """Whether a start is to look for a new version."""
    if not settings.look_for_updates:
        return False
    try:
        looked_at = datetime.fromisoformat(settings.updates_looked_at)
        return not timedelta() <= datetime.now(UTC) - looked_at < ONCE_IN
    except (ValueError, TypeError):  # never yet, or nothing of ours
        return True


def _parts(root: Path) -> tuple[Part, ...]:
    """Everything that is shipped, with its license. Runs in a worker."""
    try:
        return tuple(Part(one.title, one.words, one.text) for one in shipped(root))
    except OSError as error:
        return (Part(tr("The licenses cannot be read"), error.strerror or "", ""),)
