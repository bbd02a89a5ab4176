"""What seals chats: whose root counts, and where first measurements and evidence are kept.

A module of its own because it loads cryptography, in the moment in which a chat is first sealed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.sealed_sessions import SealedSessions, TrustAnchors, sandbox_trust
from app.service.errors import ConnectionFailed
from app.storage.service_cache import Enclaves
from app.translation import tr

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database


def make_sealed_sessions(rialto: Rialto, database: Database) -> SealedSessions:
    """The sessions of all chats, made when the first chat is sealed."""

    async def trust() -> TrustAnchors:
        address = rialto.account_services.sandbox.address()
        if address is None:
            raise ConnectionFailed(tr("The Sandbox is not running."))
        return await sandbox_trust(*address)

    settings = rialto.settings
    return SealedSessions(
        Enclaves(database), trust, lambda: settings.value.ask_intel, lambda: settings.value.ask_nvidia
    )
