"""Removing everything that Rialto keeps: asked for once, the keys first, the files when nothing uses them any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.secrets import PROXY_OWNER, PROXY_PASSWORD
from app.credentials.stores import SecretStoreError
from app.ui.kit.widgets.dialogs import confirm

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto

QUESTION = (
    "Chats, recordings, clips, images, films, receipts, settings and accounts are deleted from this computer, and the "
    "accounts' keys from where they are kept. Nothing of it can be brought back, and a wallet without a backup is lost "
    "with its money. What a service keeps of yours stays there. Rialto ends afterwards."
)


async def remove_everything(rialto: Rialto) -> None:
    """Ask; then delete the keys and let the window close. `Rialto.leaves_no_trace` tells the start to do the rest."""
    agreed = await confirm(
        rialto.theme, rialto.window, "Remove everything?", QUESTION, action="Remove everything", danger=True
    )
    if not agreed:
        return
    try:
        for account in rialto.account_services.accounts.list():
            if not account.is_sandbox:
                await rialto.places.delete(account.id)
        if rialto.settings.value.proxy_user:
            await rialto.places.delete(PROXY_OWNER, PROXY_PASSWORD)
    except SecretStoreError as error:
        rialto.toast(f"{error.sentence} Nothing else was removed.")
        return
    rialto.leaves_no_trace = True
    rialto.window.close()
