"""One Rialto for each data folder: the second start raises the first window and ends.

Two programs writing one history would lose messages, so the lock is held before the database is opened.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, Signal

from app.ui.kit.discard import discard

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

_RAISE, _RAISED = b"raise\n", b"raised\n"
_ANSWER_WITHIN_MS = 5000
_LONGEST_MESSAGE = 64  # bytes; anyone of this user may write into the socket


class SingleInstance(QObject):
    """`raise_requested` says that a person started Rialto once more and wants to see this window."""

    raise_requested = Signal()

    def __init__(self, data_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = QLockFile(str(data_folder / "rialto.lock"))
        self._lock.setStaleLockTime(0)  # only a dead owner makes the lock stale, never its age
        self._folder = data_folder
        self._server: QLocalServer | None = None
        self._callers: list[QLocalSocket] = []

    @cached_property
    def _name(self) -> str:
        return _socket_name(self._folder)

    def try_lock(self, within_ms: int = 0) -> bool:
        """True when this folder is ours now. False when another Rialto has it, or when `is_refused`."""
        return self._lock.tryLock(within_ms)

    @property
    def is_refused(self) -> bool:
        """True after a `try_lock` that failed because the folder cannot be written, not because another holds it."""
        return self._lock.error() not in (QLockFile.LockError.NoError, QLockFile.LockError.LockFailedError)

    def listen(self) -> None:
        """Start to hear later starts. Call after the first paint: the network module is not needed before."""
        from PySide6.QtNetwork import QLocalServer

        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._accept)
        QLocalServer.removeServer(self._name)  # left by a process that was killed; the lock says that it is gone
        if server.listen(self._name):
            self._server = server

    def raise_other(self) -> bool:
        """Ask the Rialto that holds the lock to come to the front. False when its window does not say that it did."""
        from PySide6.QtNetwork import QLocalSocket

        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(_ANSWER_WITHIN_MS):
            return False
        socket.write(_RAISE)
        answers = socket.waitForBytesWritten(_ANSWER_WITHIN_MS) and socket.waitForReadyRead(_ANSWER_WITHIN_MS)
        answer = bytes(socket.read(_LONGEST_MESSAGE).data()) if answers else b""
        socket.abort()
        return answer == _RAISED

    def stop_listening(self) -> None:
        """The window is closed: later starts wait for the lock instead."""
        for socket in tuple(self._callers):
            self._drop(socket)
        if self._server is not None:
            self._server.close()
            self._server = None

    def release(self) -> None:
        """Give the folder back."""
        self.stop_listening()
        self._lock.unlock()

    def _accept(self) -> None:
        while self._server is not None and self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            self._callers.append(socket)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._hung_up)
            if socket.bytesAvailable():
                self._read_from(socket)

    def _read(self) -> None:
        for socket in tuple(self._callers):
            if socket.bytesAvailable():
                self._read_from(socket)

    def _read_from(self, socket: QLocalSocket) -> None:
        """One word is all that is listened to; whoever says anything else is hung up on."""
        if bytes(socket.read(_LONGEST_MESSAGE).data()) == _RAISE:
            self.raise_requested.emit()
            socket.write(_RAISED)
            socket.flush()
        else:
            self._drop(socket)

    def _hung_up(self) -> None:
        for socket in tuple(self._callers):
            if socket.state() == type(socket).LocalSocketState.UnconnectedState:
                self._drop(socket)

    def _drop(self, socket: QLocalSocket) -> None:
        """Let a socket go. Its signals are cut first: they must not reach Python while Qt takes it apart."""
        if socket in self._callers:
            self._callers.remove(socket)
            socket.readyRead.disconnect(self._read)
            socket.disconnected.disconnect(self._hung_up)
            socket.abort()
            discard(socket)


def _socket_name(data_folder: Path) -> str:
    """A short name, because a socket's whole path may not pass 100 bytes on some systems."""
    import hashlib  # brings OpenSSL along: not before the window is there

    digest = hashlib.sha256(str(data_folder.resolve()).encode()).hexdigest()
    return f"rialto-{digest[:20]}"
