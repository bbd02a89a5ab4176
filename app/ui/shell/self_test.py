"""The program tests itself: what it was built with, and one real piece of work with each part, in the Sandbox.

`rialto --self-test` runs it in a process of its own, with a data folder made for it and no window on the screen, and
ends with 1 when something is missing. What a computer may lack without being broken (a keyring, a loudspeaker) is
said and is no failure.
"""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import sys
import tempfile
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QCollator, QCoreApplication, QLocale, Qt, qVersion
from PySide6.QtGui import QFontDatabase

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable
from app.documents.one_file import text_of
from app.documents.reading import Unreadable
from app.formats import format_number
from app.service.http.tls import trusted_authorities
from app.translation import tr, tr_n
from app.ui.kit.icons import pixmap
from app.ui.kit.resources import resources_folder
from app.ui.settings.page import SettingsPage
from app.ui.settings.sandbox.page import SandboxPage
from app.ui.shell import tour_tabs
from app.ui.shell.tour_guide import StepFailed, place_is_known
from app.ui.shell.tour_processes import TourProcesses

if TYPE_CHECKING:
    from app.ui.shell.tour_guide import TourGuide

WITHIN_S = 240.0
NAME = "self-test"
OK, LACKING, FAILED = "ok", tr("not available"), "FAILED"


def guide() -> int:
    """Run the test in a process of its own; return 0 when everything works."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # unwinds: the process below ends with this one
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    with TourProcesses("rialto-self-test-") as acts:
        images = acts.home / "pictures"
        images.mkdir()
        return 0 if acts.play(NAME, images, environ, title=tr("The self-test"), within_s=WITHIN_S) else 1


class Table:
    """Prints a line as soon as it is known."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def line(self, part: str, state: str, detail: str) -> None:
        if state == FAILED:
            self.failures.append(part)
        print(f"{part:<20} {state:<9} {detail}", flush=True)

    async def check(self, part: str, work: Callable[[], Awaitable[str]]) -> None:
        """One part; whatever goes wrong in it is its line, and the others are still looked at."""
        try:
            self.line(part, OK, await work())
        except (StepFailed, OSError, AudioUnavailable) as failure:
            self.line(part, FAILED, str(failure))


async def act(tour: TourGuide) -> None:
    """Look at every part. Raises `StepFailed` naming those that failed."""
    window, table = tour.window, Table()
    await tour.until(tr("the welcome page"), lambda: window.focusWidget() is not None)
    table.line(
        "Rialto",
        OK,
        tr(
            "{applicationVersion}, Python {python_version}, {platform}",
            applicationVersion=QCoreApplication.applicationVersion(),
            python_version=platform.python_version(),
            platform=platform.platform(terse=True),
        ),
    )
    table.line("Qt", OK, tr("{qVersion}, PySide {pyside_version}", qVersion=qVersion(), pyside_version=pyside_version))
    _pictures(tour, table)
    await asyncio.to_thread(_certificates, table)
    _environment(table)
    await tour.until(tr("the key storage to be known"), lambda: place_is_known(window))
    _keyring(tour, table)
    await asyncio.to_thread(report_audio, table)
    _order(table)
    await table.check(tr("Codecs"), _codecs)
    await table.check(tr("Documents"), lambda: asyncio.to_thread(_documents))
    tour.press(window.focusWidget() or window, Qt.Key.Key_Return)
    await table.check(tr("Sandbox"), lambda: _sandbox(tour))
    missing: set[str] = set()
    await table.check(tr("Engines"), lambda: _engines(tour, table, missing))
    window.show_tab("chat")
    await table.check(tr("Chat"), lambda: _chat(tour))
    clip: list[Path] = []
    work = {
        tr("Speech"): ("speech", lambda: _speech(tour, clip)),
        tr("Transcribe"): ("transcription", lambda: _transcription(tour, clip)),
        tr("Console"): ("chains", lambda: _crypto_rpc(tour)),
    }
    for part, (engine, does) in work.items():
        if engine in missing or (part == tr("Transcribe") and not clip):
            table.line(part, LACKING, tr("needs an engine that is missing"))
        else:
            await table.check(part, does)
    for name in window.tab_names():
        await table.check(tr("Tab {title_of}", title_of=window.title_of(name)), lambda name=name: _tab(tour, name))  # type: ignore[misc]
    if table.failures:
        raise StepFailed(tr("These parts do not work: {parts}", parts=", ".join(table.failures)))
    print(tr("Everything works."), flush=True)


def _pictures(tour: TourGuide, table: Table) -> None:
    drawn = not pixmap(tour.window.theme, "logo", 32, "text").isNull()
    table.line(tr("Images"), OK if drawn else FAILED, tr("SVG is drawn") if drawn else tr("an SVG image is empty"))
    icon = not tour.window.windowIcon().pixmap(32, 32).isNull()
    table.line(tr("Window icon"), OK if icon else FAILED, tr("is drawn") if icon else tr("there is none"))
    missing = [name for name in ("Inter", "JetBrains Mono") if not QFontDatabase.hasFamily(name)]
    words = tr("missing: {names}", names=", ".join(missing)) if missing else "Inter, JetBrains Mono"
    table.line(tr("Fonts"), FAILED if missing else OK, words)


def _certificates(table: Table) -> None:
    count = trusted_authorities()
    if count == 0:
        table.line(
            tr("Certificates"), LACKING, tr("no https address can be reached: install the package ca-certificates")
        )
    else:
        table.line(
            tr("Certificates"),
            OK,
            tr("the system’s own")
            if count is None
            else tr_n("{n} authority is trusted", "{n} authorities are trusted", count),
        )


def _keyring(tour: TourGuide, table: Table) -> None:
    secrets = tour.window.secrets
    state = secrets.state if secrets is not None else None
    found = state is not None and state.kind == "keyring"
    table.line(tr("Keyring"), OK if found else LACKING, getattr(state, "sentence", "") or getattr(state, "kind", ""))


def _order(table: Table) -> None:
    """Qt asks ICU for the order of letters, and Rialto's packages carry a part of ICU's data only."""
    order = [QCollator(QLocale(name)).compare("öl", "zebra") for name in ("sv_SE", "de_DE")]
    right = order[0] > 0 > order[1]
    table.line(tr("Order"), OK if right else FAILED, tr("by language") if right else tr("by letter only"))


_SENTENCE = "日本語の文章です。"
_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 25>>stream
BT /F 9 Tf (Rialto) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>"""
_SHEET = (
    b'<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    b' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    b' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    b'<table:table table:name="Sheet"><table:table-row><table:table-cell office:value-type="string">'
    b"<text:p>Rialto</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
)
_MANIFEST = b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'


def _documents() -> str:
    """Read a document with each of the libraries that the program carries for them."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        samples = {
            "a.pdf": (_PDF, "Rialto"),
            "b.html": (b"<p>Rialto</p>", "Rialto"),
            "c.txt": (_SENTENCE.encode("cp932"), _SENTENCE),
            "d.ods": (b"", "Sheet\nRialto"),
        }
        for name, (data, text) in samples.items():
            path = Path(folder) / name
            path.write_bytes(data)
            if not data:
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
                    archive.writestr("META-INF/manifest.xml", _MANIFEST)
                    archive.writestr("content.xml", _SHEET)
            try:
                if text_of(path, name)[0].strip() != text:
                    wrong.append(name[2:].upper())
            except Unreadable:
                wrong.append(name[2:].upper())
    if wrong:
        raise StepFailed(tr("not read: {kinds}", kinds=", ".join(wrong)))
    return tr_n("{n} kind was read", "{n} kinds were read", len(samples))


async def _codecs() -> str:
    from PySide6.QtMultimedia import QMediaFormat

    formats = QMediaFormat().supportedFileFormats(QMediaFormat.ConversionMode.Decode)
    if not formats:
        raise StepFailed(tr("QtMultimedia found no backend that decodes"))
    return tr_n("{n} file type can be read", "{n} file types can be read", len(formats))


def report_audio(table: Table) -> None:
    host = AudioHost()
    try:
        outputs, inputs = host.devices("output"), host.devices("input")
    except AudioUnavailable as failure:
        is_ours = failure.missing == AudioProblem.LIBRARY and _is_built()
        table.line(tr("Audio"), FAILED if is_ours else LACKING, f"{failure} {failure.detail}".strip())
        return
    state = OK if outputs or inputs else LACKING
    found = (
        tr_n("{n} output", "{n} outputs", len(outputs)),
        tr_n("{n} microphone", "{n} microphones", len(inputs)),
    )
    table.line(tr("Audio"), state, ", ".join(found))


async def _sandbox(tour: TourGuide) -> str:
    window = tour.window
    await tour.until(
        tr("the Sandbox"), lambda: window.current_account.is_sandbox and window.current_account.service is not None
    )
    await tour.until(tr("its models"), lambda: tour.chat.presenter.head().model_name)
    return tour.chat.presenter.head().model_name


async def _engines(tour: TourGuide, table: Table, missing: set[str]) -> str:
    """Each engine that is not here, with what brings it; a copy that should hold all of them is broken without one."""
    window = tour.window
    window.open_settings("sandbox")
    tab = window.tab("settings")
    page = tab.page("sandbox") if isinstance(tab, SettingsPage) else None
    if not isinstance(page, SandboxPage):
        raise StepFailed(tr("Settings has no page about the Sandbox"))
    await tour.until(tr("the list of engines"), lambda: page.presenter.state.engines)
    engines = page.presenter.state.engines
    for engine in engines:
        if engine.state == "missing":
            missing.add(engine.name)
            table.line(
                tr("Engine {name}", name=engine.name), FAILED if _holds_all_engines() else LACKING, engine.remedy
            )
    return tr("{count} of {count2} available", count=len(engines) - len(missing), count2=len(engines))


def _holds_all_engines() -> bool:
    """A built program does, unless it came in Debian's packages, of which the engines are one."""
    return _is_built() and not Path(sys.executable).resolve().is_relative_to("/usr")


def _is_built() -> bool:
    return getattr(sys, "frozen", False)


def _environment(table: Table) -> None:
    """What Rialto opens inherits this process's environment: a library path of ours in it breaks other programs."""
    folder = str(resources_folder().parent)
    ours = [name for name, value in os.environ.items() if _is_built() and folder in value]
    words = tr("contains the Rialto folder: {ours}", ours=", ".join(ours)) if ours else tr("unchanged since start")
    table.line(tr("Environment"), FAILED if ours else OK, words)


async def _chat(tour: TourGuide) -> str:
    await tour.ask("How does Rialto keep my API key safe?")
    await tour.until(tr("the answer"), lambda: tour.last("assistant") is not None and tour.answer().state == "complete")
    answer = tour.answer()
    if not answer.sources:
        raise StepFailed(tr("the answer cites no source"))
    found = (
        tr_n("{n} character", "{n} characters", len(answer.text)),
        tr_n("{n} source", "{n} sources", len(answer.sources)),
    )
    return ", ".join(found)


async def _speech(tour: TourGuide, clip: list[Path]) -> str:
    take, path = await tour_tabs.speak(tour)
    clip.append(path)
    return tr(
        "{duration_s} s of audio by {voice_name}",
        duration_s=format_number(take.duration_s, 1),
        voice_name=take.voice_name,
    )


async def _transcription(tour: TourGuide, clip: list[Path]) -> str:
    if not clip:
        raise StepFailed(tr("the audio is silent"))
    right, heard = await tour_tabs.transcribe(tour, clip[0])
    if right * 2 < heard:
        raise StepFailed(tr("only {right} of {heard} words were correct", right=right, heard=heard))
    return tr("{right} of {heard} words correct", right=right, heard=heard)


async def _crypto_rpc(tour: TourGuide) -> str:
    run = await tour_tabs.call_chain(tour)
    return tr(
        "{results} of {count} calls answered, {errors} refused as expected",
        results=run.results,
        count=len(run.outcomes),
        errors=run.errors,
    )


async def _tab(tour: TourGuide, name: str) -> str:
    tour.window.show_tab(name)
    await asyncio.sleep(0.2)
    if tour.window.current_tab != name:
        raise StepFailed(tr("it does not open"))
    return "opens"
