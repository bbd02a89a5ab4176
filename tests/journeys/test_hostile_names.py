"""Every tab with names as hostile as a service can make them: nothing is wider than its room or read backwards."""

from __future__ import annotations

import json
import re
import wave
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import QAbstractTableModel, QMimeData, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QScrollArea,
    QTextEdit,
    QWidget,
)

from app.bootstrap.chat_tab import show_characters
from app.bootstrap.rialto import Rialto
from app.sandbox.accounts import x402, x402_terms
from app.sandbox.chains import crypto_rpc
from app.sandbox.chat import completion
from app.sandbox.http import call, middleware
from app.sandbox.server import RunningSandbox, start_sandbox
from app.storage.chat_store import ChatStore
from app.storage.clips import ClipStore
from app.storage.database import Database
from app.storage.images import Images
from app.storage.paths import Paths, resources
from app.storage.receipts import Receipts, receipt_of
from app.storage.rpc_calls import RpcCalls
from app.storage.settings import SettingsStore
from app.storage.transcripts import Transcripts
from app.storage.video_jobs import VideoJobs
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.settings.accounts.presenter import AccountDraft
from app.ui.video.form_parts import MediaSlot
from app.ui.video.reference_media_parts import FileList
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, images, problem_of, transcription, video
from tests.journeys.test_undo_and_trash import LISTS, go_to
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.chat import dropped
from tests.kit.settings import change_settings
from tests.kit.video import IMAGE_MODEL
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]
KEY = "hostile-key-0123456789abcdef"
MARKUP = "<img src=http://evil.example/x>"
HOSTILE = f"ev\u202egpj.exe\u2067 \x07\x00\r\n\u200d<b>{MARKUP}[a](http://evil.example)/../CON" + "W" * 600
FILE_NAME = f"ev\u202egpj.exe\u200d{MARKUP.replace('/', '')}" + "W" * 150
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
DECEIVING = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e]|\u2067[^\u2069]*$")
BREAK = re.compile("[\n\r\u2028\u2029]")
TYPES = ("text", "tts", "asr", "image", "video", "embedding", "upscale", "inpaint")
DROPPED = ("W" * 240, "ev\u202egpj.exe\x07\u2067", "one\nline", f"{MARKUP.replace('/', '')}")  # names without suffix
NAMES = ("name", "description", "author", "tags", "notes", "sku", "text", "message", "category", "modelName", "content")
LISTED = ("voices", "networks")  # these hold nothing but names
VIDEO_MODELS = (IMAGE_MODEL, "rialto-reel-omni-reference")
SUFFIX_OF = {"chat": ".txt", "transcription": ".wav", "images": ".png", "video": ".png"}
SOON_MS = 100  # what waits longer saves what was typed, or clips a notice away
SIZES = [(1440, 900, 100), (1024, 640, 200)]


def hostile(value: Any, key: str = "", types: tuple[str, ...] = ("text",)) -> Any:
    """The same answer with a hostile end behind everything that is a name or a text, and ids of models of `types`."""
    if isinstance(value, dict):
        changed = {name: hostile(inner, name, types) for name, inner in value.items()}
        return (
            changed | {"id": f"{value['id']}{HOSTILE}"}
            if "model_spec" in value and value.get("type") in types
            else changed
        )
    if isinstance(value, list | tuple):
        return [hostile(inner, key, types) for inner in value]
    return value + HOSTILE if isinstance(value, str) and key in (*NAMES, *LISTED) else value


@pytest.fixture
def service(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningSandbox]:
    """With the types of models as its parameter: those whose ids are hostile, by itself text."""
    dump, types = call.dump, getattr(request, "param", ("text",))
    # one that is imported later would keep it
    for module in (call, completion, crypto_rpc, middleware, x402, x402_terms):
        monkeypatch.setattr(module, "dump", lambda value: dump(hostile(value, types=types)))
    with start_sandbox(tmp_path / "service", resources(), api_key=KEY) as running:
        yield running


def shown(parent: QWidget) -> list[QWidget]:
    return [each for each in parent.findChildren(QWidget) if each.isVisible()]


def texts(widgets: list[QWidget], *, spoken: bool = True) -> Iterator[str]:
    """Everything that stands on screen and in tips, and what screen readers say of it."""
    for widget in widgets:
        yield widget.toolTip()
        yield widget.accessibleName() if spoken else ""
        yield widget.accessibleDescription() if spoken else ""
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        if isinstance(widget, QComboBox):
            yield from (widget.itemText(place) for place in range(widget.count()))
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from (found for role in ROLES for found in data_of(widget, role))


def data_of(view: QAbstractItemView, role: Qt.ItemDataRole) -> Iterator[str]:
    model = view.model()
    for place in range(min(model.rowCount(), 50)):
        for column in range(model.columnCount() if isinstance(model, QAbstractTableModel) else 1):
            found = model.index(place, column).data(role)
            yield found if isinstance(found, str) else ""


def drawn_as_html(widgets: list[QWidget]) -> Iterator[str]:
    """Where Qt would take a stranger's words for HTML."""
    for widget in widgets:
        tips = [widget.toolTip()]
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            tips += data_of(widget, Qt.ItemDataRole.ToolTipRole)
        if any(MARKUP[:8] in tip for tip in tips):
            yield f"tip of {name_of(widget)}"
        is_plain = not isinstance(widget, QLabel) or widget.textFormat() == Qt.TextFormat.PlainText
        if not is_plain and MARKUP[:8] in widget.text():
            yield name_of(widget)
        if isinstance(widget, QTextEdit) and "\ufffc" in widget.toPlainText():
            yield f"a picture in {name_of(widget)}"


def too_wide(widgets: list[QWidget]) -> Iterator[str]:
    """Widgets that reach beyond the pane they stand in, where nobody could scroll to them."""
    for area in widgets:
        if isinstance(area, QScrollArea) and area.widget() is not None:
            inner, room = area.widget(), area.viewport().width()
            if inner.width() > room and not area.horizontalScrollBar().isVisible():
                yield f"{name_of(area)}: {inner.width()} px in a room of {room}"
    for widget in widgets:
        if widget.width() > widget.window().width():
            yield f"{name_of(widget)} is {widget.width()} px wide"


def name_of(widget: QWidget) -> str:
    parent = widget.parentWidget()
    return f"{type(widget).__name__} {widget.accessibleName()[:40]!r} in {type(parent).__name__}"


def found_in(tab: str, window: QWidget, *, spoken: bool = True) -> list[str]:
    """What is wrong with a tab. Without `spoken` a screen reader may read out what is kept as it was written."""
    widgets = shown(window)
    found = [f"{tab}: {each}" for each in too_wide(widgets)]
    found += [f"{tab}: HTML in {each}" for each in drawn_as_html(widgets)]
    found += sorted(
        {f"{tab}: {each[:60]!r} is shown" for each in texts(widgets, spoken=spoken) if DECEIVING.search(each)}
    )
    if spoken:
        names = {widget.accessibleName() for widget in widgets}
        found += sorted(f"{tab}: {name[:80]!r} is spoken as several lines" for name in names if BREAK.search(name))
    return found


def home_of(folder: Path, percent: int) -> Path:
    paths = Paths.below(folder / "home")
    paths.make()
    change_settings(SettingsStore(paths.settings), welcome_done=True, text_percent=percent)
    return folder / "home"


async def use(rialto: Rialto, service: RunningSandbox) -> None:
    await until(lambda: rialto.places.state.kind or rialto.places.state.sentence)
    rialto.places.keep_for_session()
    await until(lambda: rialto.places.state.is_ready)
    rialto.accounts.add(AccountDraft(service.base_url, KEY, name="Elsewhere"))
    await until(
        lambda: rialto.current_account.service is not None and rialto.current_account.account.name == "Elsewhere"
    )


@pytest.mark.parametrize("service", [TYPES], indirect=True, ids=["every id"])
@pytest.mark.parametrize(("width", "height", "percent"), SIZES)
async def test_no_name_widens_a_pane_or_is_read_backwards_in_any_tab(
    start: Start, service: RunningSandbox, tmp_path: Path, width: int, height: int, percent: int
) -> None:
    home_of(tmp_path, percent)
    found: list[str] = []
    async with start() as rialto:
        window = rialto.window
        window.resize(QSize(width, height))
        await use(rialto, service)
        for tab in window.tab_names():
            window.show_tab(tab)
            await until(lambda tab=tab: tab in window.tab_frames.by_name)
            await quiet(rialto)
            found += found_in(tab, window)
        window.show_tab("chat")
        show_characters(rialto)
        page = rialto.characters_page
        await until(lambda: page.presenter.state.rows)
        page.presenter.select(page.presenter.state.rows[0].slug)
        await quiet(rialto)
        found += found_in("characters", window)
        assert window.width() == width
    assert not found, "\n".join(sorted(set(found)))


@pytest.mark.parametrize(("width", "height", "percent"), SIZES)
async def test_what_is_kept_of_strangers_widens_nothing_and_is_no_html_in_any_tab(
    start: Start, service: RunningSandbox, tmp_path: Path, width: int, height: int, percent: int
) -> None:
    await fill(home_of(tmp_path, percent))
    found: list[str] = []
    async with start() as rialto:
        window = rialto.window
        window.resize(QSize(width, height))
        await use(rialto, service)
        for name, one in LISTS.items():
            window.show_tab(one.tab)
            page = window.tab(one.tab)
            await until(lambda one=one, page=page: one.keys(page))
            for key in one.keys(page):
                go_to(one, page, key)
                QTest.keyClick(one.view(page), Qt.Key.Key_Return)
                await quiet(rialto)
                found += found_in(name, window, spoken=False)
        assert window.width() == width
    assert not found, "\n".join(sorted(set(found)))


@pytest.mark.parametrize(("width", "height", "percent"), SIZES)
async def test_no_refusal_widens_a_pane_or_is_drawn_as_html(
    start: Start, service: RunningSandbox, tmp_path: Path, width: int, height: int, percent: int
) -> None:
    home_of(tmp_path, percent)
    found: list[str] = []
    refusal = {
        "status": 400,
        "body": {"error": HOSTILE, "details": {"prompt": {"_errors": [HOSTILE]}}},
        "headers": {"x-request-id": f"<b>{MARKUP}" + "W" * 1_500},
    }
    async with start() as rialto, httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as http:
        window = rialto.window
        window.resize(QSize(width, height))
        await use(rialto, service)
        for tab, action in PAID_ACTIONS.items():
            window.show_tab(tab)
            await until(lambda tab=tab: tab in window.tab_frames.by_name)
            await action.prepare(rialto, tmp_path)
            await http.put(f"{service.origin}/sandbox/faults/answer", json=refusal)
            action.begin(rialto)
            await until(lambda tab=tab: problem_of(rialto, tab))
            await http.delete(f"{service.origin}/sandbox/faults/answer")
            for card in window.findChildren(ErrorCard):
                if card.isVisible():
                    card.details_link.click()
            await quiet(rialto)
            found += found_in(tab, window)
        window.show_tab("wallet")
        await quiet(rialto)
        found += found_in("wallet", window)
        assert window.width() == width
    assert not found, "\n".join(sorted(set(found)))


def write_dropped(folder: Path, tab: str) -> list[Path]:
    """Real files under hostile names, of a kind that the tab takes, and one that it does not."""
    paths = []
    for name in DROPPED:
        path = folder / f"{name}{SUFFIX_OF[tab]}"
        if path.suffix == ".png":
            image = QImage(64, 48, QImage.Format.Format_RGB32)
            image.fill(Qt.GlobalColor.darkCyan)
            image.save(str(path))
        elif path.suffix == ".wav":
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(16_000)
                file.writeframes(b"\x01\x20" * 16_000)
        else:
            path.write_text("Some words.")
        paths.append(path)
    wrong = folder / f"{DROPPED[1]}{DROPPED[0][:200]}.xyz"
    wrong.write_bytes(b"\x00\x01")
    return [*paths, wrong]


@pytest.mark.parametrize(("width", "height", "percent"), SIZES)
async def test_no_dropped_file_widens_a_pane_or_deceives(
    start: Start, tmp_path: Path, width: int, height: int, percent: int
) -> None:
    home_of(tmp_path, percent)
    found: list[str] = []
    async with start() as rialto:
        window = rialto.window
        window.resize(QSize(width, height))
        await in_the_sandbox(rialto)
        for tab in SUFFIX_OF:
            folder = tmp_path / tab
            folder.mkdir()
            files = write_dropped(folder, tab)
            window.show_tab(tab)
            await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
            for target, paths in drop_places(rialto, tab, files):
                mime = QMimeData()
                mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
                assert dropped(target, mime), tab
                await quiet(rialto)
                found += found_in(tab, window)
        assert window.width() == width
    assert not found, "\n".join(sorted(set(found)))


def drop_places(rialto: Rialto, tab: str, files: list[Path]) -> Iterator[tuple[QWidget, list[Path]]]:
    if tab == "chat":
        yield rialto.chat_page.main, files
    elif tab == "transcription":
        yield from ((transcription(rialto).main, [path]) for path in files)
        yield transcription(rialto).main, files
    elif tab == "images":
        yield from ((images(rialto).gallery, [path]) for path in files)
    else:
        page = video(rialto)
        for model in VIDEO_MODELS:
            page.presenter.form.set(model=model)
            slots = [each for each in page.form.findChildren(MediaSlot) if each.isVisibleTo(page.form)]
            assert slots or model != VIDEO_MODELS[0]
            yield from ((slot, [path]) for slot in slots for path in files)
            yield from ((each, files) for each in page.form.findChildren(FileList) if each.isVisibleTo(page.form))


async def quiet(rialto: Rialto) -> None:
    """Wait until the models are known, nothing is under way, and what was to be shown a moment later is laid out."""
    await until(lambda: rialto.current_account.models)
    await settled(rialto)
    await until(lambda: not any(map(rings_soon, rialto.window.findChildren(QTimer))))
    QApplication.processEvents()


def rings_soon(timer: QTimer) -> bool:
    return timer.isSingleShot() and timer.isActive() and timer.interval() <= SOON_MS


async def fill(home: Path) -> None:
    """What an earlier run kept of strangers: titles, texts, names of files, models, voices and networks."""
    paths = Paths.below(home)
    folder = paths.data / "collections"
    folder.mkdir(parents=True)
    request = {"name": HOSTILE, "network": "ethereum-mainnet", "items": [{"method": f"eth_{HOSTILE}"}]}
    collection = {"format": "rialto-collection", "version": 1, "name": HOSTILE, "variables": {HOSTILE: HOSTILE}}
    (folder / "team.json").write_text(json.dumps({**collection, "requests": [request]}))
    database = await Database.open(paths.database, backups=paths.backups)
    now = datetime.now(UTC)
    history = ChatStore(database)
    chat = await history.create_chat(title=HOSTILE, model=HOSTILE, character_slug=HOSTILE, character_name=HOSTILE)
    attached = [
        {"kind": kind, "name": FILE_NAME, "media_type": "text/plain", "size": 10, "sha256": "0" * 64, "note": HOSTILE}
        for kind in ("text", "image", "audio", "video", "pdf")
    ]
    await history.add_message(chat.id, "user", HOSTILE, attachments=attached)
    await history.change_chat(chat.id, draft=HOSTILE, draft_attachments=tuple(attached))
    source = {"title": HOSTILE, "url": "https://evil.example/" + "W" * 3_000, "content": HOSTILE}
    answer = await history.add_message(chat.id, "assistant", HOSTILE, sources=[source], model=HOSTILE)
    await history.finish_message(answer.id, state="failed", error=HOSTILE, reasoning=HOSTILE, model=HOSTILE)
    await ClipStore(database).add(
        text=f"{HOSTILE} A line.",
        title=HOSTILE,
        account_id="box",
        model=HOSTILE,
        voice=HOSTILE,
        voice_name=HOSTILE,
        format="mp3",
        options={},
        spans=[(0, 7)],
    )
    transcripts = Transcripts(database)
    for state in ("done", "failed"):
        row = await transcripts.add(
            title=FILE_NAME, origin="file", sound_path=f"/{FILE_NAME}.wav", state=state, model=HOSTILE, note=HOSTILE
        )
        words = [[HOSTILE, 0.0, 1.0], [f"{HOSTILE}:", 1.0, 2.0]]
        document = {"estimated": "", "duration": 2.0, "segments": [{"start": 0.0, "end": 2.0, "words": words}]}
        await transcripts.save_text(
            row.id,
            document,
            HOSTILE,
            received={"text": HOSTILE},
            problem={"what": HOSTILE, "meaning": HOSTILE},
            marks=({"at": 1.0, "text": HOSTILE},),
            receipt={"request_id": HOSTILE, "model": HOSTILE},
        )
    images = Images(database)
    names = {"title": HOSTILE, "prompt": HOSTILE, "model": HOSTILE, "model_name": HOSTILE, "note": HOSTILE}
    more = {"enhanced_prompt": HOSTILE, "request_id": HOSTILE}
    await images.add([images.planned("generate", "call", now, state="failed", **names, **more)])
    job = await VideoJobs(database).add(
        account_id="box",
        model=HOSTILE,
        model_name=HOSTILE,
        prompt=HOSTILE,
        form={},
        file="",
        quote_usd=None,
        clean_after=False,
        charged=False,
    )
    await VideoJobs(database).change(job.id, state="cancelled", note=HOSTILE, told=HOSTILE, request_id=HOSTILE)
    calls = RpcCalls(database)
    items = json.dumps([{"method": f"eth_{HOSTILE}", "params": [HOSTILE]}])
    answer_body = [{"jsonrpc": "2.0", "id": 1, "result": {HOSTILE: [{HOSTILE: HOSTILE, "b": 1}, {HOSTILE: "c"}]}}]
    call = await calls.begin("box", HOSTILE, items, at=now, digest="1", batch=True)
    told = {"x-odd": f"<b>{MARKUP}"}
    body = json.dumps(answer_body).encode()
    await calls.answered(call.id, body, status=200, credits=1, cost_usd=None, request_id=HOSTILE, headers=told)
    call = await calls.begin("box", "ethereum-mainnet", items, at=now, digest="2")
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": HOSTILE, "data": HOSTILE}}
    await calls.answered(call.id, json.dumps(error).encode(), status=200, credits=1, cost_usd=None, errors=1)
    call = await calls.begin("box", "ethereum-mainnet", items, at=now, digest="3")
    await calls.failed(call.id, HOSTILE, request_id=HOSTILE)
    receipt = receipt_of(
        id="r1", at=now, account_id="box", tab="chat", endpoint=f"POST /{HOSTILE}", model=HOSTILE, request_id=HOSTILE
    )
    await Receipts(database).add(receipt)
    await database.close()
