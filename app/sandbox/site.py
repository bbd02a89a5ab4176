"""Everything one running Sandbox consists of, put together once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.sandbox.world import World

if TYPE_CHECKING:
    from app.sandbox.chat.augmentation import Notices
    from app.sandbox.chat.character_catalog import CharacterCatalog
    from app.sandbox.chat.handbook import Handbook
    from app.sandbox.chat.local_servers import LocalServers
    from app.sandbox.media.media_models import MediaModel
    from app.sandbox.model_catalog import ModelCatalog
    from app.sandbox.sealed.enclave import Enclave


class Site:
    """What handlers reach through `call.site`. Each part is made when it is first asked for."""

    def __init__(
        self, world: World, origin: str, data_dir: Path, resources: Path, local_ports: Mapping[str, int]
    ) -> None:
        self.world = world
        self.origin = origin  # http://127.0.0.1:<port>, without a path
        self.data_dir = data_dir  # where an engine may keep files; nothing is written before one has to
        self._resources = resources
        self._local_ports = local_ports

    @property
    def data_files(self) -> Path:
        """The folder of tables that come with the program: voices.json, rpc_methods.json, …"""
        return self._resources / "data"

    @property
    def page_files(self) -> Path:
        """The folder of the page at `/`."""
        return self._resources / "sandbox_page"

    @cached_property
    def models(self) -> ModelCatalog:
        from app.sandbox.model_catalog import ModelCatalog

        return ModelCatalog(self.local_servers, lambda: self.media_models, lambda: self.world.settings.default_models)

    @cached_property
    def media_models(self) -> tuple[MediaModel, ...]:
        from app.sandbox.media.media_models import load

        return load(self.data_files)

    @cached_property
    def local_servers(self) -> LocalServers:
        from app.sandbox.chat.local_servers import LocalServers

        return LocalServers(self._local_ports, own_port=int(self.origin.rpartition(":")[2]))

    @cached_property
    def characters(self) -> CharacterCatalog:
        from app.sandbox.chat.character_catalog import CharacterCatalog

        return CharacterCatalog(self._resources / "data" / "characters.json", self.origin)

    @cached_property
    def notices(self) -> Notices:
        from app.sandbox.chat.augmentation import Notices

        posts = json.loads((self._resources / "data" / "notices.json").read_text(encoding="utf-8"))
        return Notices(posts, self.origin)

    @cached_property
    def handbook(self) -> Handbook:
        from app.sandbox.chat.handbook import Handbook

        return Handbook(self._resources / "handbook", self.origin)

    @cached_property
    def enclave(self) -> Enclave:
        from app.sandbox.sealed.enclave import Enclave

        return Enclave()

    async def close(self) -> None:
        """Let go of what holds sockets and databases. Parts that were never asked for are not made for it."""
        if "local_servers" in self.__dict__:
            await self.local_servers.close()
        if "handbook" in self.__dict__:
            self.handbook.close()
