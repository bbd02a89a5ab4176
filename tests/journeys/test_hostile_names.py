"""Every tab with names as hostile as a service can make them: nothing is wider than its room or read backwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QScrollArea,
    QWidget,
)

from app.bootstrap.chat_tab import show_characters
from app.bootstrap.rialto import Rialto
from app.sandbox.accounts import x402, x402_terms
from app.sandbox.chains import crypto_rpc
from app.sandbox.chat import completion
from app.sandbox.http import call, gate
from app.sandbox.server import RunningSandbox, start_sandbox
from app.storage.paths import Paths, resources
from app.storage.settings import SettingsStore
from app.ui.settings.accounts.presenter import AccountDraft
from tests.journeys.conftest import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]
KEY = "hostile-key-0123456789abcdef"
HOSTILE = "ev\u202egpj.exe\u2067 \x07" + "W" * 10_000
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
DECEIVING = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e]")
NAMES = ("name", "description", "author", "tags", "notes", "sku", "text", "message", "category", "modelName", "content")


def hostile(value: Any, key: str = "") -> Any:
    """The same answer with a hostile end behind everything that is a name or a text."""
    if isinstance(value, dict):
        return {name: hostile(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [hostile(inner, key) for inner in value]
    return value + HOSTILE if isinstance(value, str) and key in NAMES else value


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSandbox]:
    dump = call.dump
    for module in (call, completion, crypto_rpc, gate, x402, x402_terms):  # one that is imported later would keep it
        monkeypatch.setattr(module, "dump", lambda value: dump(hostile(value)))
    with start_sandbox(tmp_path / "service", resources(), api_key=KEY) as running:
        yield running


def shown(parent: QWidget) -> list[QWidget]:
    return [each for each in parent.findChildren(QWidget) if each.isVisible()]


def texts(parent: QWidget) -> Iterator[str]:
    """Everything that stands on screen, in tips and for screen readers."""
    for widget in shown(parent):
        yield widget.toolTip()
        yield widget.accessibleName()
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        if isinstance(widget, QComboBox):
            yield from (widget.itemText(place) for place in range(widget.count()))
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            for place in range(min(model.rowCount(), 50)):
                for role in (
                    Qt.ItemDataRole.DisplayRole,
                    Qt.ItemDataRole.ToolTipRole,
                    Qt.ItemDataRole.AccessibleTextRole,
                ):
                    found = model.index(place, 0).data(role)
                    yield found if isinstance(found, str) else ""


def too_wide(parent: QWidget) -> Iterator[str]:
    """Widgets that reach beyond the pane they stand in, where nobody could scroll to them."""
    for area in shown(parent):
        if isinstance(area, QScrollArea) and area.widget() is not None:
            inner, room = area.widget(), area.viewport().width()
            if inner.width() > room and not area.horizontalScrollBar().isVisible():
                yield f"{name_of(area)}: {inner.width()} px in a room of {room}"
    for widget in shown(parent):
        if widget.width() > parent.window().width():
            yield f"{name_of(widget)} is {widget.width()} px wide"


def name_of(widget: QWidget) -> str:
    parent = widget.parentWidget()
    return f"{type(widget).__name__} {widget.accessibleName()[:40]!r} in {type(parent).__name__}"


def found_in(tab: str, window: QWidget) -> list[str]:
    found = [f"{tab}: {each}" for each in too_wide(window)]
    found += sorted({f"{tab}: {each[:60]!r} is shown" for each in texts(window) if DECEIVING.search(each)})
    return found


async def test_no_name_widens_a_pane_or_is_read_backwards_in_any_tab(
    start: Start, service: RunningSandbox, tmp_path: Path
) -> None:
    paths = Paths.below(tmp_path / "home")
    paths.make()
    SettingsStore(paths.settings).change(welcome_done=True)
    found: list[str] = []
    async with start() as rialto:
        window = rialto.window
        window.resize(QSize(1440, 900))
        await until(lambda: rialto.places.state.kind or rialto.places.state.sentence)
        rialto.places.keep_for_session()
        await until(lambda: rialto.places.state.is_ready)
        rialto.accounts.add(AccountDraft(service.base_url, KEY, name="Elsewhere"))
        await until(lambda: rialto.caller.account is not None and rialto.caller.account.name == "Elsewhere")
        for tab in window.tab_names():
            window.show_tab(tab)
            await until(lambda tab=tab: tab in window.tab_frames.by_name)
            await until(rialto_is_quiet(rialto))
            found += found_in(tab, window)
        window.show_tab("chat")
        show_characters(rialto)
        page = rialto.characters_page
        await until(lambda: page.presenter.state.rows)
        page.presenter.select(page.presenter.state.rows[0].slug)
        await until(rialto_is_quiet(rialto))
        found += found_in("characters", window)
        assert window.width() == 1440
    assert found == []


def rialto_is_quiet(rialto: Rialto) -> Callable[[], bool]:
    """True once the models are known and the loop has turned often enough to lay everything out."""
    turns = [0]

    def is_quiet() -> bool:
        turns[0] += 1
        return bool(rialto.caller.models) and turns[0] > 60

    return is_quiet
