"""Keyrings with a plug to pull: one that works, and what can be wrong with others."""

import threading
from collections.abc import Callable

from keyring.errors import PasswordDeleteError


class FakeKeyring:
    """Keeps secrets in a dictionary and notes in which thread it was asked. `trouble` runs before every call."""

    def __init__(self, trouble: Callable[[], None] | None = None) -> None:
        self.items: dict[tuple[str, str], str] = {}
        self.threads: set[str] = set()
        self.trouble = trouble

    def _asked(self) -> None:
        self.threads.add(threading.current_thread().name)
        if self.trouble is not None:
            self.trouble()

    def get_password(self, service: str, username: str) -> str | None:
        self._asked()
        return self.items.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._asked()
        self.items[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._asked()
        if (service, username) not in self.items:
            raise PasswordDeleteError("No such password!")
        del self.items[service, username]


class ForgetfulKeyring(FakeKeyring):
    """Takes everything and keeps nothing, as KWallet does when its window is cancelled."""

    def set_password(self, service: str, username: str, password: str) -> None:
        self._asked()


class HoldingKeyring(FakeKeyring):
    """Deleting fails although the item is there: somebody said no."""

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("Cancelled by user")
