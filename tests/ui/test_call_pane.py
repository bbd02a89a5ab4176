"""The Request pages of all tabs: each copies the call that it shows as a command, and never a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QTextBrowser
from pytestqt.qtbot import QtBot

from app.core.answer_rows import answer_rows
from app.service.exchange import Exchange, FormPart, RequestRecord
from app.service.response_info import ResponseInfo
from app.ui.chat.inspector.request_page import RequestPage as ChatRequest
from app.ui.chat.session.requests import view_of
from app.ui.images.inspector import RequestPage as ImagesRequest
from app.ui.kit.call_pane import CallPane
from app.ui.kit.theme import Theme
from app.ui.speech.request_page import RequestPage as SpeechRequest
from app.ui.speech.state import CallView
from app.ui.transcription.details_page import RequestPage as TranscriptionRequest
from app.ui.video.request_page import RequestPage as VideoRequest
from app.ui.video.state import Detail

URL = "https://service.example/api/v1/things"
SENT_AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def call(body: object) -> Exchange:
    return Exchange("1", SENT_AT, RequestRecord("POST", "/things", URL, (), body), status=200)


def chat(theme: Theme) -> tuple[CallPane, Callable[[Exchange], None]]:
    page = ChatRequest(theme)
    return page, lambda call: page.show_request(view_of(call))


def images(theme: Theme) -> tuple[CallPane, Callable[[Exchange], None]]:
    page = ImagesRequest(theme)
    return page, page.show_exchange


def speech(theme: Theme) -> tuple[CallPane, Callable[[Exchange], None]]:
    page = SpeechRequest(theme)
    return page, lambda call: page.show_calls((CallView("", call.request, answer_rows(call)),))


def transcription(theme: Theme) -> tuple[CallPane, Callable[[Exchange], None]]:
    page = TranscriptionRequest(theme)
    return page, page.show_exchange


def video(theme: Theme) -> tuple[CallPane, Callable[[Exchange], None]]:
    page = VideoRequest(theme)
    return page, lambda call: page.show_detail(Detail(id="1", body={"model": "m"}, exchange=call))


@pytest.mark.parametrize("make", [chat, images, speech, transcription, video])
def test_the_call_that_is_shown_is_copied_as_a_command_without_the_key(
    make: Callable[[Theme], tuple[CallPane, Callable[[Exchange], None]]], theme: Theme, qtbot: QtBot
) -> None:
    page, show = make(theme)
    qtbot.addWidget(page)
    told: list[str] = []
    page.copied.connect(told.append)
    page.show()
    assert not page.curl.isVisible()
    page.copy_curl()
    assert told == [], "there is no call yet"
    body = (FormPart("model", "m"),) if make is transcription else {"model": "m"}
    show(call(body))
    assert page.curl.isVisible()
    page.curl.click()
    assert told == ["Copied without the key, which is read from $RIALTO_API_KEY."]
    command = QGuiApplication.clipboard().text()
    assert command.startswith(f"curl --request POST {URL}") and "$RIALTO_API_KEY" in command


@pytest.mark.parametrize("make", [chat, images, speech, transcription, video])
def test_a_refused_call_shows_tries_headers_and_body(
    make: Callable[[Theme], tuple[CallPane, Callable[[Exchange], None]]], theme: Theme, qtbot: QtBot
) -> None:
    page, show = make(theme)
    qtbot.addWidget(page)
    page.show()
    body = (FormPart("model", "m"),) if make is transcription else {"model": "m"}
    info = ResponseInfo(503, SENT_AT, headers=(("cf-ray", "ray-1"),))
    show(replace(call(body), status=503, attempts=3, error="Busy", refused_body='{"error": "Busy"}', info=info))
    QApplication.processEvents()
    shown = " ".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())
    shown += " ".join(view.toPlainText() for view in page.findChildren(QTextBrowser) if view.isVisible())
    for words in ("503", "3", "cf-ray", "ray-1", "Busy"):
        assert words in shown
