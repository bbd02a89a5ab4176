"""What a start loads before the window is painted, and what the first frame already knows."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.credentials.accounts import SANDBOX_ADDRESS, Accounts, new_account
from app.storage.atomic_files import write_atomically
from app.storage.database import Database
from app.storage.paths import Paths
from app.storage.settings import SettingsStore
from app.ui.chat.presenter import ChatPresenter
from tests.kit.settings import change_settings
from tests.kit.waiting import until

ROOT = Path(__file__).resolve().parents[2]
AFTER_THE_PAINT = [
    "asyncio",
    "inspect",  # which PySide's import names, as it does the next two
    "shutil",
    "tempfile",
    "ssl",
    "hashlib",
    "sqlite3",
    "subprocess",
    "concurrent",
    "httpx",
    "h11",
    "pydantic",
    "msgspec",
    "aiosqlite",
    "keyring",
    "cryptography",
    "numpy",
    "sounddevice",
    "soundfile",
    "av",
    "dataclasses",  # each takes half a millisecond to make: values of the first frame are named tuples
    "eth_account",
    "html",
    "mimetypes",
    "markdown_it",
    "pygments",
    "PySide6.QtNetwork",
    "PySide6.QtMultimedia",
    "app.sandbox",
    "app.service.service",
    "app.storage.database",
    "app.ui.settings",
    "app.ui.shell.overlays",
    "app.ui.conversation.view",
]
# Of the program's own, in a first frame. Two of the modules forbid memory dumps, before anything else is imported.
MOST_MODULES, MOST_ICONS = 146, 28
UNTIL_THE_PAINT = """
    import json, os, sys
    from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
    read_no_sources()
    from app.ui.kit.qt_workarounds.pyside_signatures import LATE
    from app.bootstrap import start, startup_marks
    from app.ui.kit import icons

    def painted(loading):
        rialto = start_of["rialto"]
        page = rialto.chat_page
        print(json.dumps({
            "loaded": sorted(sys.modules),
            "signatures": sys.modules["shibokensupport.signature.mapping"].update_mapping.__self__.sys_module_count,
            "asked": [name for name in LATE if len(vars(sys.modules[name])) > 9],  # a module not run yet has 6
            "icons": len(icons._kept),
            "all_widgets": "QWizard" in vars(sys.modules["PySide6.QtWidgets"]),
            "chip": rialto.window.status.chip.text(),
            "examples": page.main.welcome.examples[0].isVisible(),
        }), flush=True)
        os._exit(0)

    start_of = {}
    show = start._show
    def keep(rialto):
        start_of["rialto"] = rialto
        show(rialto)

    start._show = keep
    startup_marks.BackgroundImport.start = painted
    start.run([])
"""


@pytest.fixture(scope="module")
def first_frame(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What is there when the window of a person who works in the Sandbox has just been painted."""
    paths = Paths.below(tmp_path_factory.mktemp("home"))
    paths.make()
    book = Accounts(lambda: None, lambda data: write_atomically(paths.accounts, data))
    book.add(new_account("Play", SANDBOX_ADDRESS, kind="sandbox"))
    change_settings(SettingsStore(paths.settings), welcome_done=True)
    environ = {**os.environ, "RIALTO_HOME": str(paths.data.parent), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(UNTIL_THE_PAINT)],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    frame: dict[str, object] = json.loads(done.stdout)
    return frame


def test_nothing_heavy_is_loaded_before_the_window_is_painted(first_frame: dict[str, object]) -> None:
    loaded = first_frame["loaded"]
    assert isinstance(loaded, list)
    assert [name for name in AFTER_THE_PAINT if name in loaded] == []


def test_the_signatures_of_qt_are_not_read_before_the_window_is_painted(first_frame: dict[str, object]) -> None:
    """PySide reads those of a whole module when somebody asks for `__doc__` of one of its methods."""
    assert first_frame["signatures"] == 0
    assert first_frame["asked"] == []


def test_no_class_is_looked_for_among_all_kinds_of_widgets(first_frame: dict[str, object]) -> None:
    """PySide does that when it is asked for a bare `QWidget` of Qt's own, as by `viewport()`, and makes all of them."""
    assert not first_frame["all_widgets"]


def test_a_first_frame_takes_no_more_modules_and_icons_than_it_shows(first_frame: dict[str, object]) -> None:
    """Each module costs about half a millisecond, each icon a third of one. Raise a number only for what is seen."""
    loaded, icons = first_frame["loaded"], first_frame["icons"]
    assert isinstance(loaded, list)
    assert isinstance(icons, int)
    assert len([name for name in loaded if name.partition(".")[0] == "app"]) <= MOST_MODULES
    assert icons <= MOST_ICONS


def test_the_first_frame_names_the_account_and_offers_its_examples(first_frame: dict[str, object]) -> None:
    assert first_frame["chip"] == "Play"
    assert first_frame["examples"] is True


def seen(rialto: Any) -> dict[str, Any]:
    """Where the parts of an empty chat stand, and what they say."""
    main = rialto.chat_page.main
    welcome, composer = main.welcome, main.composer
    parts = {
        "title": welcome.title,
        "choose": welcome.character,
        "first example": welcome.examples[0],
        "box": composer.box,
        "model": main.header.model,
        **{name: pill for name, pill in composer._pills.items() if pill.isVisible()},
    }
    return {
        "words": [welcome.title.text(), composer.box.placeholderText()],
        "places": {name: part.mapTo(rialto.window, part.rect().topLeft()).toTuple() for name, part in parts.items()},
        "pills": {name: (pill.isEnabled(), pill.isChecked()) for name, pill in composer._pills.items()},
        "shown": [part.isVisible() for part in (welcome, welcome.examples[0])],
    }


async def test_nothing_moves_between_the_first_frame_and_the_connection(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.window.show_tab("chat")
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.chat.head().can_send)
    frames: list[dict[str, Any]] = []
    async with start(painted=lambda rialto: frames.append(seen(rialto))) as rialto:
        await until(lambda: rialto.chat.head().can_send)
        await asyncio.sleep(0)
        frames.append(seen(rialto))
    assert frames[0] == frames[1]
    assert all(frames[0]["shown"])
    assert "New chat with" in frames[0]["words"][0]


async def test_an_earlier_chat_is_not_announced_as_a_new_one(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.window.show_tab("chat")
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.chat.head().can_send)
        rialto.chat_page.send("What can I try in the Sandbox?")
        await until(lambda: [row.state for row in rialto.chat_page.rows()] == ["complete", "complete"])
    shown: list[bool] = []
    async with start(painted=lambda rialto: shown.append(rialto.chat_page.main.welcome.isVisible())) as rialto:
        await until(lambda: len(rialto.chat_page.rows()) == 2)
        shown.append(rialto.chat_page.main.welcome.isVisible())
    assert shown == [False, False]


async def test_what_fails_while_the_program_ends_is_reported_and_keeps_nothing_else_from_closing(
    start: Callable[..., Any],
) -> None:
    reported: list[str] = []
    async with start() as rialto:

        async def fail() -> None:
            raise OSError("no space left on the device")

        async def look() -> None:
            for report in rialto.crashes.left_behind():
                rialto.crashes.mark_seen(report)
                reported.append(report.title)

        rialto._closers[:] = [look, *rialto._closers, fail]  # the last one closes first
    assert reported == ["OSError: no space left on the device"]


async def test_the_tab_that_was_left_opens_at_the_next_start(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        rialto._begin(rialto.account_services.sandbox_account().id)
        rialto.window.show_tab("wallet")
    async with start() as rialto:
        await until(lambda: rialto.window.current_tab == "wallet")
        rialto.window.show_tab("chat")
    async with start() as rialto:
        await until(lambda: rialto.chat_page.list.model.shown_keys() is not None)
        assert rialto.window.current_tab == "chat"


async def test_who_goes_past_the_first_page_is_led_to_an_account(start: Callable[..., Any]) -> None:
    """Nothing says “in use” before something is, and every way to an account ends the welcome."""
    async with start() as rialto:
        rialto.window.show_tab("chat")
        rows = rialto.accounts.state.accounts
        assert [row.in_use for row in rows] == [False]
        welcome = rialto.chat_page.main.welcome
        await until(lambda: welcome.sandbox.isVisible() and welcome.account.isVisible())
        assert not welcome.character.isVisible()
        welcome.account.click()
        await until(lambda: rialto.window.current_tab == "settings")
        rialto.window.show_tab("chat")
        welcome.sandbox.click()
        await until(lambda: rialto.current_account.is_sandbox and rialto.chat.head().model_id)
        assert not welcome.sandbox.isVisible() and welcome.character.isVisible()
        assert [row.in_use for row in rialto.accounts.state.accounts] == [True]
        assert rialto.settings.value.welcome_done


async def test_a_history_that_opens_while_the_program_ends_is_closed(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is left open keeps the process from ending."""
    opened, goes_on, databases = asyncio.Event(), asyncio.Event(), []
    open_database = Database.open

    async def slowly(*values: Any, **more: Any) -> Database:
        opened.set()
        await goes_on.wait()
        databases.append(await open_database(*values, **more))
        return databases[-1]

    async def last_look(_chat: ChatPresenter) -> None:
        goes_on.set()
        await until(lambda: databases)

    monkeypatch.setattr(Database, "open", slowly)
    monkeypatch.setattr(ChatPresenter, "aclose", last_look)
    async with start(with_history=False) as rialto:
        await opened.wait()
        rialto.window.close()
    with pytest.raises(ValueError, match="Connection closed"):
        await databases[0].fetch("SELECT 1")
