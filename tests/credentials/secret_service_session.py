"""What KeyringStore says on a real session bus. Run by test_secret_service.py, one state per process; prints JSON."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from app.credentials import keyring_store
from app.credentials.vault import KeyringStore, SecretStoreError

SECRET = "sk-in-the-real-keyring-0123456789"


@contextlib.contextmanager
def keyring_daemon() -> Iterator[None]:
    """gnome-keyring with an unlocked login keyring, ended with the block."""
    command = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as daemon:
        assert daemon.stdin is not None
        daemon.stdin.write(b"password of the login keyring")
        daemon.stdin.close()
        try:
            wait_for_service()
            yield
        finally:
            daemon.terminate()


def wait_for_service() -> None:
    import secretstorage
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import Proxy

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        absent = contextlib.suppress(secretstorage.exceptions.SecretStorageException)
        with contextlib.closing(secretstorage.dbus_init()) as bus, absent:
            # One that is asked before it is there, the bus starts itself: a second daemon, which is locked.
            if Proxy(message_bus, bus).NameHasOwner("org.freedesktop.secrets")[0]:
                secretstorage.Collection(bus)
                return
        time.sleep(0.02)
    raise TimeoutError("gnome-keyring-daemon did not come up within 60 s")


def lock() -> None:
    import secretstorage

    with contextlib.closing(secretstorage.dbus_init()) as bus:
        secretstorage.Collection(bus).lock()


async def attempt(store: KeyringStore) -> dict[str, object]:
    """Return the status, then what write, read, delete and read again did: a value or an error's name."""
    begun = time.perf_counter()
    status = await store.status()
    told: dict[str, object] = {
        "state": status.state,
        "backend": status.backend_name,
        "sentence": status.sentence,
        "status_s": time.perf_counter() - begun,
    }
    calls = {
        "write": lambda: store.write("a1", "api_key", SECRET),
        "read": lambda: store.read("a1", "api_key"),
        "delete": lambda: store.delete("a1", "api_key"),
        "read again": lambda: store.read("a1", "api_key"),
        "delete again": lambda: store.delete("a1", "api_key"),
    }
    for name, call in calls.items():
        try:
            told[name] = await call()
        except SecretStoreError as error:
            told[name] = type(error).__name__
    return told


async def main(state: str) -> dict[str, object]:
    store = KeyringStore(time_limit_s=60)
    if state == "plain":  # no D-Bus, no service, or one without any keyring: as the environment says
        return await attempt(store)
    with keyring_daemon():
        if state == "ready":
            return await attempt(store)
        await store.write("a1", "api_key", SECRET)
        lock()
        told = await attempt(store)
        told["other program"] = (await KeyringStore().status()).state
        return told


if __name__ == "__main__":
    keyring_store.STATUS_LIMIT_S = 60.0  # a busy computer takes its time to start a service
    os.environ.pop("DISPLAY", None)
    os.environ.pop("WAYLAND_DISPLAY", None)
    print(json.dumps(asyncio.run(main(sys.argv[1]))))
