"""What the Console keeps between two starts: the draft, favorites, methods used, how the canvas is divided."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.service_cache import ServiceCache
    from app.ui.crypto_rpc.session.draft import Draft
    from app.ui.crypto_rpc.session.network_list import NetworkList

KEEP_AFTER_S = 0.4  # a pause in typing after which the draft is on disk
MAX_USED = 50
_NOWHERE = ""  # the draft belongs to no account


class DraftKeeper:
    """Keeps nothing before what was kept is read: that would be overwritten.

    `used` are methods that were added, the last one first.
    """

    def __init__(self, tasks: TaskScope, draft: Callable[[], Draft], network_list: NetworkList) -> None:
        self._tasks = tasks
        self._draft = draft
        self._network_list = network_list
        self._catalog: ServiceCache | None = None
        self.split: int | None = None  # thousandths of the canvas that the request has
        self.used: tuple[str, ...] = ()

    async def read(self, catalog: ServiceCache) -> None:
        """Take what was kept, as far as it can be read, and keep what is written from now on."""
        kept = await catalog.load(_NOWHERE, "crypto_rpc", "draft")
        self._catalog = catalog
        if kept is None or not isinstance(kept.value, dict):
            return
        if self._draft().join_kept(kept.value):
            self.soon()
        self._network_list.set_favorites(kept.value.get("favourites"))
        split, used = kept.value.get("split"), kept.value.get("used")
        if isinstance(split, int):
            self.split = split
        if isinstance(used, list):
            self.used = tuple(name for name in used if isinstance(name, str))[:MAX_USED]

    def record_used(self, method: str) -> None:
        """Somebody added a call of this method."""
        self.used = (method, *(each for each in self.used if each != method))[:MAX_USED]

    def record_split(self, thousandths: int) -> None:
        self.split = thousandths
        self.soon()

    def soon(self) -> None:
        """Keep everything after a pause."""
        self._tasks.replace("rpc draft", self._keep_soon)

    async def _keep_soon(self) -> None:
        await asyncio.sleep(KEEP_AFTER_S)
        await self.keep()

    async def keep(self) -> None:
        if self._catalog is not None:
            more = {"favourites": list(self._network_list.favourites), "split": self.split, "used": list(self.used)}
            await self._catalog.save(_NOWHERE, "crypto_rpc", "draft", {**self._draft().kept(), **more})
