"""The whole program in this process, as bootstrap puts it together, with a data folder of its own."""

import asyncio
import inspect
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

import app
from app import files
from app.bootstrap import prebuild_tabs, sandbox_process
from app.bootstrap.options import Options
from app.bootstrap.rialto import Rialto
from app.bootstrap.startup_context import StartupContext
from app.core.problems import hide_secrets_with
from app.credentials import keyring_store
from app.credentials.keyring_backends import NoBackend
from app.credentials.redaction import Redactor
from app.storage.paths import Paths
from app.ui.shell.crash_reports import CrashReporter
from app.ui.shell.single_instance import SingleInstance
from tests.kit.waiting import until


def no_keychain() -> dict[str, object]:
    """What `KeyringStore` is made with where it is to find no keyring."""

    def find() -> NoReturn:
        raise NoBackend("absent", "none", "No system keyring was found on this computer.")

    return {"time_limit_s": 60.0, "find": find}


@pytest.fixture(autouse=True)
def _no_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journey never meets the keychain of this computer, nor a stand-in that another test left to `keyring`."""
    monkeypatch.setattr(keyring_store.KeyringStore.__init__, "__kwdefaults__", no_keychain())


FORKED_SANDBOX = Path(__file__).with_name("forked_sandbox.py")
LIBRARIES = ("storage", "credentials")  # of the program: who calls these decides in which thread
APP = Path(app.__file__).parent


@contextmanager
def no_write_by_the_window() -> Iterator[None]:
    """Fail where the window's thread puts a file in place: it would wait for the disk. What tests write is theirs."""
    found: list[str] = []
    replace = files.replace  # every file that must not be lost goes through it

    def noted(*args: object) -> None:
        if threading.current_thread() is threading.main_thread():
            frames = [each for each in inspect.stack(0)[1:] if Path(each.filename).is_relative_to(APP.parent)]
            libraries = [APP, *(APP / name for name in LIBRARIES)]
            caller = next(each for each in frames if Path(each.filename).parent not in libraries)
            if Path(caller.filename).is_relative_to(APP):
                found.append(f"{caller.filename}:{caller.lineno} {caller.function}")
        replace(*args)

    files.replace = noted
    try:
        yield
    finally:
        files.replace = replace
    assert found == []


@pytest.fixture(autouse=True)
def _tabs_are_built_when_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building all tabs ahead takes longer than most journeys, which go to one or two; test_tabs_ahead.py does it."""
    monkeypatch.setattr(prebuild_tabs, "SETTLE_S", 3600.0)


@pytest.fixture(scope="session")
def forked_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str] | None]:
    """The beginning of the command that is a Sandbox at once, or None where processes do not fork."""
    if sys.platform != "linux":
        yield None
        return
    path = tmp_path_factory.mktemp("sandboxes") / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        serve = [sys.executable, "-m", "tests.journeys.forked_sandbox", "serve", str(listening.fileno())]
        server = subprocess.Popen(serve, stdin=subprocess.PIPE, pass_fds=(listening.fileno(),), cwd=APP.parent)
    yield [sys.executable, "-I", "-S", str(FORKED_SANDBOX), "join", str(path)]
    server.communicate()


@pytest.fixture(autouse=True)
def _sandboxes_are_forked(monkeypatch: pytest.MonkeyPatch, forked_sandbox: list[str] | None) -> None:
    """To start one takes longer than most journeys take with it; test_sandbox_process.py does it."""
    if forked_sandbox is not None:
        monkeypatch.setattr(sandbox_process, "own_command", lambda: forked_sandbox)


@asynccontextmanager
async def opened(
    qapp: QApplication,
    home: Path,
    painted: Callable[[Rialto], object] = lambda _rialto: None,
    *,
    with_history: bool = True,
) -> AsyncIterator[Rialto]:
    """Start Rialto, wait until its window is painted and its history open; close it as a person would.

    `painted` is called when the first frame stands and nothing else was begun. Without `with_history` it is not
    waited for.
    """
    qapp.setQuitOnLastWindowClosed(False)
    paths = Paths.below(home)
    paths.make()
    secrets = Redactor()
    hide_secrets_with(secrets.redact)
    crashes = CrashReporter(paths.crashes, redact=secrets.redact, version="test")
    instance = SingleInstance(paths.data)
    assert instance.try_lock()
    rialto = Rialto(qapp, StartupContext(Options(theme="light"), paths, instance, secrets, crashes))
    with no_write_by_the_window():
        rialto.open().over.connect(lambda: painted(rialto))
    life = asyncio.get_running_loop().create_task(rialto.live())
    try:
        with no_write_by_the_window():
            await until(lambda: rialto.chat.library is not None or not with_history)
            yield rialto
    finally:
        rialto.places.lost_at_quit = frozenset  # type: ignore[method-assign] # keys in memory go without a question
        rialto.window.close()
        code = await asyncio.wait_for(life, 60)
        instance.release()
        rialto.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        qapp.setStyleSheet("")  # as a process begins: whatever is built under a sheet is styled many times
        hide_secrets_with(lambda text: text)
    assert code == 0
    assert crashes.left_behind() == (), [report.text for report in crashes.left_behind()]


async def settled(rialto: Rialto) -> None:
    """Wait until nothing is under way but what never ends, and the building of tabs, which rests on a busy computer."""
    scopes = (rialto.tasks, rialto.account_services.bookkeeping)
    await until(lambda: {name for scope in scopes for name in scope.names} <= {"make tabs ready", "video tick"})


@pytest.fixture
def start(qapp: QApplication, tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Rialto]]:
    """`async with start() as rialto`: may be used again for a restart in the same data folder."""
    return lambda **more: opened(qapp, tmp_path / "home", **more)


@pytest.fixture
def without_history(qapp: QApplication, tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Rialto]]:
    """The same for a start whose history cannot be opened."""
    return lambda **more: opened(qapp, tmp_path / "home", with_history=False, **more)
