"""The model picker: its orders, the caching pill and the tier, by the keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.service.rate_limiter import text_pace
from app.ui.chat.models.model_picker import ModelPicker
from app.ui.chat.models.model_picker_list import ROW_ROLE
from app.ui.chat.session.inspector_state import ModelRow
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from tests.kit.chat import ChatHarness, FakeService, model_body, open_chat
from tests.ui.test_chat_desk import press


def priced(model_id: str, name: str, usd: float, tokens: int, created: int, **changes: Any) -> dict[str, Any]:
    pricing = {"input": {"usd": usd}, "output": {"usd": 4 * usd}, **changes.pop("pricing", {})}
    body = model_body(model_id, name, pricing=pricing, availableContextTokens=tokens, **changes)
    return {**body, "created": created}


def models() -> FakeService:
    return FakeService(
        models=[
            priced("plain", "Birch", 2.0, 32_000, 300),
            priced("small", "Alder", 3.0, 8_000, 100),
            priced("large", "Cedar", 1.0, 256_000, 200, pricing={"cache_input": {"usd": 0.1}}),
        ]
    )


def rows(picker: ModelPicker) -> list[ModelRow]:
    found = (picker.model.index(row, 0).data(ROW_ROLE) for row in range(picker.model.rowCount()))
    return [row for row in found if isinstance(row, ModelRow)]


def opened(shown: ChatHarness) -> ModelPicker:
    press(shown, "Ctrl+Shift+M")
    picker = shown.page.picker
    assert picker is not None
    return picker


async def test_in_a_narrow_window_no_word_of_the_footer_is_cut(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        shown.page.main.window().resize(512, 700)
        picker = opened(shown)
        picker.grab()
        hints = [label for label in picker.findChildren(Label) if label.isVisible() and label.text()]
        assert "Use for new chats" in [label.text() for label in hints]
        assert [label.text() for label in hints if label.width() < label.sizeHint().width()] == []


async def test_models_are_sorted_by_key_and_the_order_is_kept(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        picker = opened(shown)
        assert [row.name for row in rows(picker)] == ["Alder", "Birch", "Cedar"]
        seen = {}
        for place, order in enumerate(("price", "context", "newest"), start=1):
            picker.sort.setFocus()
            QTest.keyClick(picker.sort, Qt.Key.Key_Space)
            menu = QApplication.activePopupWidget()
            assert menu is not None and menu is not picker
            for _ in range(place):
                QTest.keyClick(menu, Qt.Key.Key_Down)
            QTest.keyClick(menu, Qt.Key.Key_Return)
            seen[order] = [row.name for row in rows(picker)]
            assert picker.sort.text() == f"Sort: {order}"
            assert picker.view.currentIndex().data(ROW_ROLE).is_current, "the row under the keyboard stays"
        assert seen == {
            "price": ["Cedar", "Birch", "Alder"],
            "context": ["Cedar", "Birch", "Alder"],
            "newest": ["Birch", "Cedar", "Alder"],
        }
        picker.close()
        assert shown.settings.value.model_sort == "newest"
    async with open_chat(theme, tmp_home, fake=models()) as again:
        picker = opened(again)
        assert [row.name for row in rows(picker)] == ["Birch", "Cedar", "Alder"]
        picker.close()


async def test_favourites_stand_first_in_every_order(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        shown.presenter.toggle_favorite("small")
        shown.presenter.account_models.set_sort("context")
        picker = opened(shown)
        assert [row.name for row in rows(picker)] == ["Alder", "Cedar", "Birch"]
        picker.close()


async def test_models_that_keep_earlier_turns_are_found_by_their_pill(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        picker = opened(shown)
        pill = picker.pills["Caching"]
        pill.setFocus()
        QTest.keyClick(pill, Qt.Key.Key_Space)
        assert [row.name for row in rows(picker)] == ["Cedar"]
        picker.close()


async def test_the_tier_is_shown_once_the_service_has_told_the_limits(theme: Theme, tmp_home: Path) -> None:
    """The letter follows from how often the account may ask the model (R-LIM-01)."""
    async with open_chat(theme, tmp_home, fake=models()) as shown:
        service = shown.current_account.service
        assert service is not None
        picker = opened(shown)
        assert {row.tier for row in rows(picker)} == {""}
        picker.close()
        for model, requests in (("plain", 75), ("small", 500), ("large", 33)):
            service.client.limits.pace.set(text_pace(model), requests)
        picker = opened(shown)
        assert {row.id: row.tier for row in rows(picker)} == {"plain": "S", "small": "XS", "large": ""}
        spoken = picker.model.index_of("plain").data(Qt.ItemDataRole.AccessibleTextRole)
        assert "tier S" in spoken and "private" in spoken.casefold()
        picker.close()


def in_enclaves() -> FakeService:
    attested = {"supportsTeeAttestation": True}
    sealable = {**attested, "supportsE2EE": True}
    return FakeService(
        models=[
            model_body(),
            model_body("e2ee-by-name", "By name"),
            model_body("shut", "Shut", capabilities=sealable),
            model_body("hard", "Hard", capabilities=attested),
        ]
    )


async def test_r_tee_01_enclaves_and_seals_are_badges_and_filters_by_what_the_service_says(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=in_enclaves()) as shown:
        picker = opened(shown)
        badges = {row.id: row.badges[:2] for row in rows(picker)}
        assert badges["shut"] == ("Sealed", "Enclave") and badges["hard"][0] == "Enclave"
        assert not {"Sealed", "Enclave"} & {*badges["plain"], *badges["e2ee-by-name"]}
        for name, found in (("Sealed", ["Shut"]), ("Enclave", ["Hard", "Shut"])):
            picker.pills[name].click()
            assert [row.name for row in rows(picker)] == found
            picker.pills[name].click()
        picker.close()


async def test_r_tee_18_each_badge_says_what_it_does_and_does_not_promise(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=in_enclaves()) as shown:
        picker = opened(shown)
        tips = {row.id: picker.model.index_of(row.id).data(Qt.ItemDataRole.ToolTipRole) for row in rows(picker)}
        not_proved, on_the_way = "nothing proves which program runs there.", "the service can read your messages on"
        assert not_proved in tips["shut"] and on_the_way in tips["hard"]
        assert not_proved not in tips["hard"] and "enclave" not in tips["plain"]
        assert not_proved in picker.pills["Sealed"].accessibleDescription()
        assert on_the_way in picker.pills["Enclave"].toolTip()
        picker.close()


async def test_models_in_enclaves_are_told_apart_where_models_are_compared_and_in_the_palette(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=in_enclaves()) as shown:
        compare = shown.page.controller.open_comparing()
        compare.pills["Sealed"].click()
        assert [compare.model.index(row, 0).data() for row in range(compare.model.rowCount())] == ["Shut"]
        compare.close()
        found = {item.title: item.hint for item in shown.page.palette_items("sealed", 9)}
        assert found == {"Shut": "use in this chat, can be sealed"}
        found = {item.title: item.hint for item in shown.page.palette_items("enclave", 9)}
        assert found == {"Shut": "use in this chat, can be sealed", "Hard": "use in this chat, runs in an enclave"}
