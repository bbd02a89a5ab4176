"""Which networks there are: the list that ships, the one that was saved, the one that the service gives now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.current_account import CurrentAccount
from app.service.errors import ServiceError
from app.storage.rpc_calls import RpcCalls
from app.storage.service_cache import ServiceCache
from app.translation import tr
from app.ui.crypto_rpc.session.networks import NetworkRow, network_rows

MAX_USED = 3
_ENTERED = ("crypto_rpc", "chain_ids")  # of the service, whatever account is used there


class NetworkList(QObject):
    """`changed` says that names or favorites are others now."""

    changed = Signal()

    def __init__(self, current_account: CurrentAccount) -> None:
        super().__init__()
        self._current_account = current_account
        self._slugs: tuple[str, ...] = ()
        self._chain_ids: dict[str, int | None] = {}
        self._entered_ids: dict[str, int] = {}  # by the person, for networks of this service that Rialto does not know
        self.favourites: tuple[str, ...] = ()
        self._used: tuple[str, ...] = ()
        self.catalog: ServiceCache | None = None
        self.calls: RpcCalls | None = None
        self._told_at: datetime | None = None  # by the service
        self._saved = False

    def load_bundled(self, data_folder: Path) -> None:
        """The list that ships with the program, with the chains' ids. Blocking: call it in a thread."""
        known = json.loads((data_folder / "rpc_methods.json").read_text("utf-8"))
        self._chain_ids = {slug: facts[1] for slug, facts in known["networks"].items()}
        self._slugs = tuple(self._chain_ids)

    def chain_id(self, slug: str) -> int | None:
        """The chain's id by Rialto's own list, else as the person entered it for this service."""
        return self._chain_ids.get(slug) or self._entered_ids.get(slug)

    def network_of(self, chain_id: int) -> str | None:
        """The network of Rialto's own list that has this id."""
        return next((slug for slug, known in self._chain_ids.items() if known == chain_id), None)

    async def remember_chain_id(self, slug: str, chain_id: int) -> None:
        """Keep the id that the person entered for a network of this service."""
        account = self._current_account.account
        self._entered_ids[slug] = chain_id
        if account is not None and self.catalog is not None:
            await self.catalog.save(account.base_url, *_ENTERED, self._entered_ids)

    def row(self, slug: str) -> NetworkRow:
        return network_rows((slug,), self._all_ids(), self.favourites, slug)[0]

    def rows(self, current: str) -> tuple[NetworkRow, ...]:
        return network_rows(self._slugs, self._all_ids(), self.favourites, current, self._used)

    def _all_ids(self) -> dict[str, int | None]:
        return {**self._entered_ids, **{slug: known for slug, known in self._chain_ids.items() if known is not None}}

    def star(self, slug: str) -> None:
        """Make a network a favorite, or an ordinary one again."""
        others = tuple(each for each in self.favourites if each != slug)
        self.favourites = others if slug in self.favourites else (*others, slug)
        self.changed.emit()

    def set_favorites(self, slugs: object) -> None:
        if isinstance(slugs, Iterable):
            self.favourites = tuple(slug for slug in slugs if isinstance(slug, str))

    async def load_used(self) -> None:
        """Read which networks were asked last."""
        if self.calls is not None:
            used = await self.calls.networks_used(MAX_USED)
            if used != self._used:
                self._used = used
                self.changed.emit()

    def age_words(self) -> str:
        """Where the list comes from, and how old it is."""
        if self._told_at is not None:
            return tr("List from the service, {told_at}", told_at=time_format.when(self._told_at, datetime.now(UTC)))
        return tr("Saved list") if self._saved else tr("Built-in list")

    async def refresh(self) -> None:
        """Show what was saved for the account, then ask the service.

        Where it does not answer, the saved list or the one that ships still serves; sending will say what is wrong.
        """
        service, account, catalog = self._current_account.service, self._current_account.account, self.catalog
        self._entered_ids = {}
        if account is None or catalog is None:
            return
        entered = await catalog.load(account.base_url, *_ENTERED)
        if entered is not None and isinstance(entered.value, dict):
            self._entered_ids = {slug: number for slug, number in entered.value.items() if isinstance(number, int)}
        saved = await catalog.load(account.id, "crypto_rpc", "networks")
        if saved is not None and isinstance(saved.value, list):
            self._slugs = tuple(each for each in saved.value if isinstance(each, str))
            self._saved = True
            self.changed.emit()
        if service is None:
            return
        try:
            self._slugs = await service.crypto_rpc.networks()
        except ServiceError:
            return
        self._told_at = datetime.now(UTC)
        await catalog.save(account.id, "crypto_rpc", "networks", list(self._slugs))
        self.changed.emit()
