"""Rules of the wire that the chat keeps: what it sends by itself, and what follows from what."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QLabel

from app.service.chat_body import chat_body
from app.service.models import Model
from app.service.pricing import SCRAPED_URL_USD, WEB_SEARCH_USD
from app.ui.chat.inspector.parameters_page import ParametersPage
from app.ui.chat.session.chat_options import MAX_LINKS_READ, ChatOptions, judge, service_parameters
from app.ui.chat.session.estimate import turn_cap_usd
from app.ui.chat.session.requests import build_request
from app.ui.chat.state import ChatHead
from app.ui.kit.markdown.citations import MARKER, indexes_of
from app.ui.kit.theme import Theme
from tests.kit.chat import model_body


def model(**capabilities: object) -> Model:
    return Model.model_validate(model_body(capabilities={"supportsWebSearch": True, **capabilities}))


def turn(role: str, content: str) -> Any:
    return SimpleNamespace(role=role, content=content, attachments=(), extra={}, id=content, parts=())


def body(
    options: ChatOptions, *, chat_id: str = "chat-1", asked: Model | None = None, turns: tuple[str, ...] = ("hi",)
) -> dict[str, object]:
    branch = [turn("user" if number % 2 == 0 else "assistant", text) for number, text in enumerate(turns)]
    request = build_request(
        chat_id=chat_id, model_id="plain", model=asked, options=options, character_slug=None, branch=cast(Any, branch)
    )
    return chat_body(request, "service_parameters", stream=True)


def extension(options: ChatOptions, asked: Model | None = None) -> dict[str, object]:
    found = body(options, asked=asked).get("service_parameters", {})
    assert isinstance(found, dict)
    return found


def test_r_chat_01_r_ext_26_the_services_prompt_is_left_to_it_unless_switched_off() -> None:
    assert "include_venice_system_prompt" not in extension(ChatOptions())
    own = ChatOptions(system_prompt="Be brief.")
    assert "include_venice_system_prompt" not in extension(own), "both go together"
    assert cast(Any, body(own))["messages"][0] == {"role": "system", "content": "Be brief."}
    assert extension(ChatOptions(service_prompt=False)) == {"include_venice_system_prompt": False}


def test_r_chat_06_r_chat_07_every_turn_of_a_chat_has_its_key_and_no_other_chat_has() -> None:
    first = body(ChatOptions())
    later = body(ChatOptions(web_search="on"), turns=("hi", "hello", "more"))
    assert first["prompt_cache_key"] == later["prompt_cache_key"] == "chat-1"
    assert body(ChatOptions(), chat_id="chat-2")["prompt_cache_key"] == "chat-2"


def test_r_chat_04_earlier_turns_are_written_the_same_in_every_request() -> None:
    first, later = (cast(Any, body(ChatOptions(), turns=turns))["messages"] for turns in (("a", "b", "c"), ("a",)))
    assert first[: len(later)] == later


def test_r_ext_05_thinking_is_switched_off_only_where_a_model_thinks() -> None:
    off = ChatOptions(thinking=False)
    assert extension(off, model(supportsReasoning=True)) == {"disable_thinking": True}
    assert judge(off, model(supportsReasoning=True)).thinking.usable
    assert extension(off, model(supportsReasoning=False)) == {}
    assert not judge(off, model(supportsReasoning=False)).thinking.usable


def test_r_ext_11_reading_links_announces_no_search() -> None:
    both = ChatOptions(web_search="on", read_links=True)
    assert judge(both, model()).web_search.why == "Reading links replaces web search."
    assert "enable_web_search" not in extension(both, model())
    assert extension(both, model())["enable_web_scraping"] is True


def test_r_ext_20_citations_are_asked_for_with_a_search_only() -> None:
    assert judge(ChatOptions(citations=True), model()).citations.why == "Needs web search."
    assert extension(ChatOptions(citations=True), model()) == {}
    searching = extension(ChatOptions(citations=True, web_search="auto"), model())
    assert searching["enable_web_citations"] is True


def test_r_ext_12_r_ext_13_r_lim_24_never_more_than_five_links_are_reckoned() -> None:
    asked = model()
    plain = turn_cap_usd(asked, ChatOptions(), 1_000, 0)
    assert plain is not None and MAX_LINKS_READ == 5
    costs = [turn_cap_usd(asked, ChatOptions(read_links=True), 1_000, links) for links in (0, 1, 5, 6, 50)]
    assert costs == [plain + SCRAPED_URL_USD * n for n in (0, 1, 5, 5, 5)]
    assert turn_cap_usd(asked, ChatOptions(web_search="on"), 1_000, 0) == plain + WEB_SEARCH_USD
    assert Decimal("0.01") == SCRAPED_URL_USD == WEB_SEARCH_USD


def test_r_ext_19_both_styles_of_citation_lead_to_the_same_source() -> None:
    text = "[REF]0[/REF] [REF]0, 2[/REF] ^1^ ^1,3^"
    assert [indexes_of(found) for found in MARKER.finditer(text)] == [(0,), (0, 2), (0,), (0, 2)]


@pytest.mark.parametrize("name", ["service_parameters", "venice_parameters"])
def test_r_ext_15_the_third_partys_search_is_offered_only_where_a_model_has_it(name: str) -> None:
    wanted = ChatOptions(social_posts=True)
    able, unable = model(supportsXSearch=True), model(supportsXSearch=False)
    assert judge(wanted, able).social_posts.usable
    assert judge(wanted, unable).social_posts.why.endswith("has no search of its own.")
    sent = chat_body(build(wanted, able), name, stream=False)[name]
    assert isinstance(sent, dict)
    assert sent["enable_x_search"] is True
    assert name not in chat_body(build(wanted, unable), name, stream=False)


def build(options: ChatOptions, asked: Model) -> Any:
    from app.service.chat_types import ChatMessage, ChatRequest

    return ChatRequest("plain", (ChatMessage("user", "x"),), service_parameters(options, asked, None))


@pytest.mark.parametrize(
    ("rule", "option", "words"),
    [
        ("R-CHAT-01", "service_prompt", "Sent before yours"),
        ("R-EXT-07", "web", "Auto: the model decides"),
        ("R-EXT-08", "web", "Searches cost extra"),
        ("R-EXT-10", "links", "Up to 5 pages"),
        ("R-EXT-13", "links", "Each costs extra"),
        ("R-EXT-15", "social", "by a third party"),
        ("R-EXT-17", "social", "Each result costs extra"),
    ],
)
def test_the_page_says_what_an_option_does_and_costs(
    qtbot: object, theme: Theme, rule: str, option: str, words: str
) -> None:
    page = ParametersPage(theme)
    page.show_head(ChatHead()._replace(controls=judge(ChatOptions(), model(supportsXSearch=True))))
    control = getattr(page, option)
    assert words in control.accessibleDescription(), rule
    shown = [label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page)]
    assert any(words in text for text in shown), rule
    page.deleteLater()


def test_r_gen_16_the_experts_box_says_that_nobody_checks_it(qtbot: object, theme: Theme) -> None:
    parameters = ParametersPage(theme)
    parameters.show_head(ChatHead())
    words = "Not validated."
    assert words in parameters.more.extra.box.accessibleDescription()
    assert words in parameters.more.extra.note.text()
    body = chat_body(
        replace(build(ChatOptions(), model()), extra={"a_field_of_next_year": {"deep": [1]}}),
        "service_parameters",
        stream=False,
    )
    assert body["a_field_of_next_year"] == {"deep": [1]}, "and it is passed on as it stands"
    parameters.deleteLater()
