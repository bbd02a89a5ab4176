"""Settings as a test wants them, on the disk at once."""

from __future__ import annotations

from typing import Any

from app.storage.settings import SettingsStore


def change_settings(store: SettingsStore, **changes: Any) -> None:
    """Raises `StorageUnavailable` when the disk refuses."""
    store.remember(**changes)
    store.save()
