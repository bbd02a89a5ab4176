"""Copies a secret: clipboard histories are asked to leave it out, and it is removed again after a minute.

It is a module of its own so that no other place decides how a secret is copied.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QMimeData, QObject, QTimer
from PySide6.QtGui import QGuiApplication

from app.ui.kit.discard import discard

CLEARED_AFTER_S = 60
_WINDOWS = 'application/x-qt-windows-mime;value="{}"'
# How clipboard managers are told: KDE's Klipper and those after it; Windows' history and its copy in the cloud.
_HINTS = {
    "x-kde-passwordManagerHint": b"secret",
    _WINDOWS.format("ExcludeClipboardContentFromMonitorProcessing"): b"\x01",
    _WINDOWS.format("CanIncludeInClipboardHistory"): bytes(4),
    _WINDOWS.format("CanUploadToCloudClipboard"): bytes(4),
}


def copy_secret(secret: str) -> None:
    """Copy for as long as a paste takes. What else was copied since is left alone."""
    data = QMimeData()
    data.setText(secret)
    for name, value in _HINTS.items():
        data.setData(name, value)
    QGuiApplication.clipboard().setMimeData(data)
    _Clearing(secret)


class _Clearing(QObject):
    """Clears the clipboard after a minute, or when the program ends before that."""

    def __init__(self, secret: str) -> None:
        application = QCoreApplication.instance()
        super().__init__(application)
        self._secret = secret
        QTimer.singleShot(CLEARED_AFTER_S * 1000, self, self._clear)
        if application is not None:
            application.aboutToQuit.connect(self._clear)

    def _clear(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if self._secret and clipboard.text() == self._secret:
            clipboard.clear()
        self._secret = ""
        discard(self)
