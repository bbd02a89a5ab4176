"""The dialog for any other model, with hands; and a service that does not list all of its models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.service.models import Model, ModelsResource
from app.ui.kit.forms.model_field import ModelField
from app.ui.kit.forms.other_model_dialog import OtherModelDialog
from tests.kit.video import PRIVATE_MODEL
from tests.kit.waiting import until

UNLISTED = ("rialto-search", "rialto-poster", "tts-orpheus", "openai/whisper-large-v3", PRIVATE_MODEL)


def shorten_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave `UNLISTED` out of every list; the service has them all the same."""
    whole: Callable[..., Awaitable[tuple[Model, ...]]] = ModelsResource.list

    async def shorter(self: ModelsResource, *values: Any, **more: Any) -> tuple[Model, ...]:
        return tuple(model for model in await whole(self, *values, **more) if model.id not in UNLISTED)

    monkeypatch.setattr(ModelsResource, "list", shorter)


async def dialog() -> OtherModelDialog:
    def found() -> list[OtherModelDialog]:
        return [
            each for each in QApplication.topLevelWidgets() if isinstance(each, OtherModelDialog) and each.isVisible()
        ]

    await until(found)
    return found()[0]


async def looked_up(text: str) -> OtherModelDialog:
    """Type an id into the open dialog and press Enter; wait for the answer."""
    shown = await dialog()
    shown.field.clear()
    QTest.keyClicks(shown.field, text)
    QTest.keyClick(shown.field, Qt.Key.Key_Return)
    await until(lambda: shown.found is not None or shown.problem.text())
    return shown


async def use(text: str) -> str:
    """Look an id up and use it; return the record that was shown."""
    shown = await looked_up(text)
    assert shown.problem.text() == "" and shown.record.isVisible()
    record = shown.record.text()
    QTest.keyClick(shown.field, Qt.Key.Key_Return)
    return record


def choose_other(field: ModelField) -> None:
    """Open the list with the keyboard, go to its end, and press Enter."""
    field.showPopup()
    view = field.view()
    QTest.keyClick(view, Qt.Key.Key_End)
    QTest.keyClick(view, Qt.Key.Key_Return)
