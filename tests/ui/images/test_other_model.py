"""A model that the service does not list makes images, once someone names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.model_lists import added_models
from app.sandbox.server import RunningSandbox
from app.storage.service_cache import ServiceCache
from app.ui.kit.theme import Theme
from tests.kit.images import open_images
from tests.kit.other_model import choose_other, shorten_lists, use
from tests.kit.waiting import until


async def test_another_model_makes_images(
    monkeypatch: pytest.MonkeyPatch, theme: Theme, tmp_path: Path, sandbox: RunningSandbox
) -> None:
    shorten_lists(monkeypatch)
    async with open_images(tmp_path, sandbox, theme) as images:
        field = images.model_field
        QTest.keyClick(field, Qt.Key.Key_End)
        assert images.presenter.form.model != "rialto-poster" and field.currentIndex() < field.count() - 1
        choose_other(field)
        record = await use("rialto-poster")
        assert "Prices: " in record and "$" in record
        await until(lambda: images.presenter.form.model == "rialto-poster")
        assert field.currentData() == "rialto-poster" and "$" in images.price_text()
        images.write("A harbor")
        (image,) = await images.made()
        assert image.model == "rialto-poster" and image.state == "saved"
        (kept,) = await added_models(ServiceCache(images.database), "box", "image")
        assert kept.id == "rialto-poster"
        images.presenter.refresh_models()
        await until(lambda: not images.tasks.running("images models"))
        assert any(model.id == "rialto-poster" for model in images.presenter.models), "a new list keeps it"
