"""Tabs that nobody has looked at: built while nobody does anything, silent until they are wanted."""

import asyncio
import importlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bootstrap import prebuild_tabs
from app.bootstrap.prebuild_tabs import LikelyTabs
from app.bootstrap.rialto import Rialto
from app.bootstrap.tabs import RAIL
from app.storage.paths import Paths
from app.storage.settings import SettingsStore
from app.storage.transcripts import Transcripts
from app.ui.kit.markdown.parser import parser
from app.ui.transcription.page import TranscriptionPage
from tests.kit.portable import KILL
from tests.kit.settings import change_settings
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]


@pytest.fixture(autouse=True)
def _tabs_are_built_when_shown() -> None:
    """Not here: the tabs are built as soon as the person comes near one of them."""


async def test_every_tab_is_built_before_it_is_looked_at_and_asks_for_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = importlib.import_module

    def noted(name: str, package: str | None = None) -> ModuleType:
        loaded.append(name)
        return load(name, package)

    monkeypatch.setattr(importlib, "import_module", noted)
    paths = Paths.below(tmp_path / "home")
    paths.make()
    change_settings(SettingsStore(paths.settings), welcome_done=True)
    async with start() as rialto:
        frames = rialto.window.tab_frames
        rialto.window.expect_tab()
        await until(lambda: all(name in frames.by_name for name in rialto.window.tab_names()))
        assert [name for name in rialto.window.tab_names() if frames.is_wanted(name)] == ["chat"]
        page = frames.by_name["transcription"].tab
        assert isinstance(page, TranscriptionPage)
        assert page.presenter.transcripts is None  # it has not begun
        assert not {"numpy", "segno"}.intersection(loaded)
        QTest.keyClick(rialto.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
        assert rialto.window.current_tab == "transcription"
        await until(lambda: page.presenter.transcripts is not None)
        await until(lambda: "numpy" in loaded)


async def test_who_only_chats_has_no_other_tab_built_and_the_one_that_is_come_near_is_built_first(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[LikelyTabs] = []
    come = LikelyTabs.come

    async def noted(expected: LikelyTabs) -> None:
        waits.append(expected)
        await come(expected)

    monkeypatch.setattr(LikelyTabs, "come", noted)
    monkeypatch.setattr(prebuild_tabs, "SETTLE_S", 0)
    parser.cache_clear()
    async with start() as rialto:
        window, built = rialto.window, list[str]()
        await until(lambda: waits)
        assert parser.cache_info().currsize == 1  # the first message need not wait for it
        assert not set(window.tab_frames.by_name) - {"chat"}
        window.tab_frames.built.connect(built.append)
        place = QPointF(5, 5)
        QApplication.sendEvent(window.rail.button("images"), QEnterEvent(place, place, place))
        await until(lambda: built)
        assert built == ["images"]
        await until(lambda: {tab.info.name for tab in RAIL} <= set(window.tab_frames.by_name))


async def test_a_look_at_a_half_built_tab_builds_the_rest_of_it(start: Start) -> None:
    async with start() as rialto:
        frames = rialto.window.tab_frames
        assert frames.build_some("images")
        assert frames.build_some("images")
        rialto.window.show_tab("images")
        assert rialto.window.current_tab == "images"
        assert not frames.build_some("images")


async def test_an_image_can_be_taken_while_a_tab_is_half_built(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """It resizes what nobody sees yet. What raised there once ended the program."""
    failures: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, trace: failures.append(f"{error!r} {trace}"))
    async with start() as rialto:
        for name in rialto.window.tab_names():
            while rialto.window.tab_frames.build_some(name):
                rialto.window.grab()
    assert failures == []


VICTIM = """
import asyncio, sys
from pathlib import Path
from app.audio.wav_file import WavWriter
from app.storage.database import Database
from app.storage.transcripts import Transcripts
from app.storage.paths import Paths

async def record():
    paths = Paths.below(Path(sys.argv[1]))
    paths.make()
    database = await Database.open(paths.database, backups=paths.backups)
    await Transcripts(database).add(
        title="Board meeting", origin="recording", sound_path="meeting.wav", state="recording"
    )
    (paths.data / "recordings").mkdir()
    writer = WavWriter(paths.data / "recordings" / "meeting.wav", 16_000)
    writer.write(bytes(2 * 16_000 * 5))
    print("recording", flush=True)
    await asyncio.sleep(60)

asyncio.run(record())
"""


async def test_a_recording_that_a_kill_cut_off_is_mended_at_the_start_and_named(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", VICTIM, str(home), stdout=-1)
    assert process.stdout is not None
    assert (await asyncio.wait_for(process.stdout.readline(), 60)).strip() == b"recording"
    os.kill(process.pid, KILL)
    await process.wait()
    async with start() as rialto:
        toasts = rialto.window.overlays.toasts
        await until(lambda: "The first 5 s are saved" in " ".join(toast.accessibleName() for toast in toasts.toasts))
        assert rialto.window.current_tab != "transcription"  # nobody looked
        assert rialto.database is not None
        (row,) = await Transcripts(rialto.database).list()
        assert (row.state, row.duration_s) == ("recorded", 5.0)


BROUGHT_BY_MODULES_OF_QT = """
    import importlib, sys
    from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
    read_no_sources()
    from app.bootstrap import prebuild_tabs, rialto
    from app.bootstrap.tabs import RAIL

    class Record:
        def find_spec(self, name, _path=None, _target=None):
            ours = name.partition(".")[0] in ("app", "PySide6")
            if module.knows_qt and not ours and "." not in name and name not in sys.stdlib_module_names:
                print(module.name, "brings", name)

    know_qt = {prebuild_tabs.QT: True}
    module = prebuild_tabs.Module("", False)
    sys.meta_path.insert(0, Record())
    for tab in RAIL:
        for module in prebuild_tabs._modules_of(tab.info.name, know_qt):
            importlib.import_module(module.name)
    for library in {library for tab in RAIL for library in tab.libraries}.intersection(sys.modules):
        print(library, "is loaded for nothing")
"""


def test_no_module_that_is_loaded_in_the_window_s_thread_brings_a_library_along() -> None:
    """A library takes up to 200 ms and 10 MB: what tabs call is loaded in a thread, by who looks at such a tab."""
    program = textwrap.dedent(BROUGHT_BY_MODULES_OF_QT)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
