"""The Request page: one class for every tab. It lists every header of the response, and copies never contain a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.core.shown_call import ShownCall, shown_call
from app.service.dialect import DIALECTS
from app.service.exchange import Exchange, FormPart, RequestRecord
from app.service.response_info import read_response_info
from app.ui.kit import copy_command as copying
from app.ui.kit.call_pane import CallPane, shown_body
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label

URL = "https://service.example/api/v1/things"
SENT_AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HEADERS = (
    ("Content-Type", "application/json"),
    ("CF-RAY", "8c1f02be-AMS"),
    ("x-service-timestamp", "2026-03-04T05:06:07Z"),
    ("x-service-host-name", "node-7"),
    ("x-service-model-router", "west"),
    ("x-auth-refreshed", "true"),
    ("x-retry-count", "2"),
    ("x-nobody-knows", "this one"),
    ("x-empty", ""),
    ("x-long", "v" * 9_000),
    ("x-bidi", "a\u202eb"),
)


def call(body: object) -> Exchange:
    info = read_response_info(200, HEADERS, DIALECTS["service"], SENT_AT)
    return Exchange("1", SENT_AT, RequestRecord("POST", "/things", URL, (), body), status=200, info=info)


@pytest.mark.parametrize("body", [{"model": "m"}, (FormPart("model", "m"),), None])
def test_the_call_that_is_shown_is_copied_as_a_command_without_the_key(
    body: object, theme: Theme, qtbot: QtBot
) -> None:
    page = CallPane(theme)
    qtbot.addWidget(page)
    told: list[str] = []
    page.copied.connect(told.append)
    page.show()
    assert not page.curl.isVisible()
    page.copy_curl()
    assert told == [], "there is no call yet"
    page.show_call(shown_call(call(body)))
    assert page.curl.isVisible()
    page.curl.click()
    assert told == ["Copied without the key, which is read from $RIALTO_API_KEY."]
    command = QGuiApplication.clipboard().text()
    assert command.startswith(f"curl --request POST {URL}") and "$RIALTO_API_KEY" in command


def test_every_header_is_listed_and_copied_whole_also_one_that_nobody_knows(theme: Theme, qtbot: QtBot) -> None:
    """R-HDR-16 R-HDR-17 R-HDR-18 R-HDR-28 R-HDR-29."""
    page = CallPane(theme)
    qtbot.addWidget(page)
    page.show_call(shown_call(call({"model": "m"})))
    page.show()
    names = [label.accessibleName() for label in page.findChildren(Label)]
    for name, value in page.rows:
        assert not value or f"{name}: {value}" in names, name
    assert [name for name, _ in page.rows] == [name.lower() for name, _ in HEADERS]
    page.copy_headers.click()
    copied = QGuiApplication.clipboard().text()
    assert "x-nobody-knows: this one" in copied and "x-retry-count: 2" in copied
    assert "\u202e" not in copied


def test_a_refused_call_shows_tries_headers_and_body(theme: Theme, qtbot: QtBot) -> None:
    page = CallPane(theme)
    qtbot.addWidget(page)
    page.show()
    refused = replace(call({"model": "m"}), status=503, attempts=3, error="Busy", refused_body='{"error": "Busy"}')
    page.show_call(shown_call(refused))
    assert page.refusal.isVisible() and "Busy" in page.refusal.toPlainText()
    assert page.outcome.text().startswith("503") and "3 tries" in page.outcome.text()
    assert dict(page.rows)["cf-ray"] == "8c1f02be-AMS"
    page.show_call(shown_call(call({"model": "m"})))
    assert not page.refusal.isVisible()


def test_several_calls_are_stepped_through_and_the_newest_is_followed(theme: Theme, qtbot: QtBot) -> None:
    page = CallPane(theme)
    qtbot.addWidget(page)
    page.show()
    calls = [ShownCall(RequestRecord("POST", f"/part/{number}", URL), f"Part {number} of 3") for number in (1, 2, 3)]
    page.show_calls(calls[:2])
    assert (page.path.text(), page.which.text()) == ("/part/2", "Part 2 of 3")
    page.show_calls(calls)
    assert page.path.text() == "/part/3"
    page.before.click()
    page.show_calls(calls)
    assert page.path.text() == "/part/2", "nobody is moved away from what they read"
    page.show_call(None, "Gone.")
    assert page.nothing.text() == "Gone." and page.record is None and not page.path.isVisible()


def test_a_call_of_an_earlier_session_shows_what_was_kept_and_no_command(theme: Theme, qtbot: QtBot) -> None:
    page = CallPane(theme)
    qtbot.addWidget(page)
    page.show()
    page.show_call(ShownCall(RequestRecord("POST", "/things", "", body={"a": 1}), facts=(("Status", "200"),)))
    assert page.rows == (("Status", "200"),)
    assert not page.curl.isVisible() and not page.outcome.isVisible()


def test_bodies_are_shown_by_name_and_images_in_them_only_begun() -> None:
    assert shown_body(
        (FormPart("model", "m"), FormPart("file", file_name="a.wav"), FormPart("t", "1"), FormPart("t", "2"))
    ) == {
        "model": "m",
        "file": "a.wav",
        "t": ["1", "2"],
    }
    body = shown_body({"image_url": "data:image/png;base64," + "A" * 100_000, "deep": [{"text": "kept"}]})
    assert isinstance(body, dict)
    assert len(str(body["image_url"])) < 120 and "100,022 characters" in str(body["image_url"])
    assert body["deep"] == [{"text": "kept"}]


def test_only_the_built_in_sandbox_is_said_to_move(monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    monkeypatch.setattr(copying, "built_in", [lambda: "http://127.0.0.1:4001/api/v1"])
    moves = "new address and key each time"
    assert moves in copying.copy_command("curl", "http://127.0.0.1:4001/api/v1/crypto/rpc/base-mainnet")
    assert moves not in copying.copy_command("curl", "http://127.0.0.1:1234/v1/chat/completions")  # as LM Studio has it
