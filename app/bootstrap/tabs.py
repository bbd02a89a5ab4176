"""The tabs of the rail, top to bottom, and how each is made when it is first shown.

A tab's own file here (`speech_tab.py`, …) puts its presenter and page together, most of them in pieces; it is imported
when the tab is built ahead or by the first look at it, whichever comes first, and so costs nothing at the start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from app.core.tabs import TABS, TabInfo

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces


class RailTab(NamedTuple):
    """A tab, and whether it has something to continue after a restart: then it is built at once."""

    info: TabInfo
    has_work: Callable[[Database], Awaitable[bool]] | None = None
    libraries: tuple[str, ...] = ()  # what takes long of what it calls: loaded once it is wanted, before it is needed

    def make(self, rialto: Rialto) -> TabPieces:
        """Begin to build the tab, by `make_speech_tab` of `speech_tab.py` and so on."""
        module = import_module(f"app.bootstrap.{self.info.name}_tab")
        return cast("TabPieces", getattr(module, f"make_{self.info.name}_tab")(rialto))


async def _was_cut_off(database: Database) -> bool:
    from app.storage.transcripts import was_cut_off

    return await was_cut_off(database)


async def _has_open_jobs(database: Database) -> bool:
    from app.storage.video_jobs import has_open_jobs

    return await has_open_jobs(database)


_SOUND = ("numpy", "soundfile")

# After Chat, which is part of the first paint.
RAIL = (
    RailTab(TABS["speech"], libraries=_SOUND),
    RailTab(TABS["transcription"], _was_cut_off, _SOUND),
    RailTab(TABS["images"]),
    RailTab(TABS["video"], _has_open_jobs, _SOUND),
    RailTab(TABS["crypto_rpc"]),
    RailTab(TABS["wallet"], libraries=("segno",)),
    RailTab(TABS["settings"]),
)
