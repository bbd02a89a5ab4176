"""When the Sandbox began to keep books: at its first start, or when it was last set back."""

from __future__ import annotations

from datetime import datetime

from app.service.errors import ServiceError
from app.service.sandbox_controls import SandboxControls


async def books_since(running: tuple[str, str] | None) -> datetime | None:
    """Ask the Sandbox at an address, with its key. None while none runs, or when it does not say."""
    if running is None:
        return None

    controls = SandboxControls(*running)
    try:
        return (await controls.status()).books_since
    except ServiceError:
        return None
    finally:
        await controls.aclose()
