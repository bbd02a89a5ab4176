"""Writes what changes often (a dragged splitter, a moved window) a moment later and off the UI thread.

A module of its own: it is between the window and the disk and knows nothing of widgets.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.storage.errors import StorageUnavailable
from app.storage.settings import Settings, SettingsStore
from app.translation import tr
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool

_WAIT_MS = 600


class SettingsSaver(QObject):
    """Brings what changes in `store` to the disk, together and in a thread."""

    failed = Signal(str)  # a sentence: the disk refused

    def __init__(self, store: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self._save)
        store.subscribe(self._changed)

    def _changed(self, _settings: Settings) -> None:
        if alive(self):
            self._timer.start()

    @property
    def is_done(self) -> bool:
        """Whether everything is on the disk."""
        return not self._timer.isActive() and self._store.is_saved

    def save_now(self) -> None:
        """Begin to write at once: the window is closing."""
        self._timer.stop()
        self._save()

    def _save(self) -> None:
        run_in_pool(self, partial(_trouble_saving, self._store), self._publish)

    def _publish(self, sentence: str) -> None:
        if sentence:
            self.failed.emit(tr("{sentence}. Changes last until you quit Rialto.", sentence=sentence))


def _trouble_saving(store: SettingsStore) -> str:
    """Write the settings; return why that was not possible, or "". Runs in a thread of the pool."""
    try:
        store.save()
    except StorageUnavailable as error:
        return error.sentence
    return ""
