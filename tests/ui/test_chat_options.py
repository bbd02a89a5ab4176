"""What a chat's options mean for a request: what the model ignores is not sent, and the control says why."""

from __future__ import annotations

import pytest

from app.core.extra_json import parse_extra_json
from app.service.chat_body import chat_body
from app.service.models import Model
from app.ui.chat.session.chat_options import ChatOptions, effort_of, judge, service_parameters
from app.ui.chat.session.requests import build_request
from tests.kit.chat import model_body


def model(**capabilities: object) -> Model:
    return Model.model_validate(model_body(capabilities=capabilities))


def sent(options: ChatOptions, asked: Model | None) -> dict[str, object]:
    request = build_request(
        chat_id="c",
        model_id="plain",
        model=asked,
        options=options,
        character_slug=None,
        branch=(),
    )
    from dataclasses import replace

    from app.service.chat_types import ChatMessage

    body = chat_body(replace(request, messages=(ChatMessage("user", "x"),)), "service_parameters", stream=True)
    return {name: value for name, value in body.items() if name not in ("messages", "stream", "stream_options")}


def test_every_option_survives_being_stored() -> None:
    options = ChatOptions(
        system_prompt="p",
        service_prompt=False,
        web_search="on",
        citations=False,
        read_links=True,
        social_posts=True,
        thinking=False,
        remove_think_tags=True,
        temperature=0.5,
        top_p=0.9,
        reply_limit=100,
        results_in_stream=False,
        results_as_documents=True,
        effort="high",
        seed=7,
        stop=("END", "###"),
        cache_attachments=False,
        keep_cache=True,
        extra_json='{"top_k": 4}',
    )
    import json

    assert ChatOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options
    assert ChatOptions.from_dict({"stop": 3, "seed": "x", "effort": 2}) == ChatOptions()


def test_native_search_replaces_the_services_own_where_the_model_has_one_r_ext_16() -> None:
    options = ChatOptions(web_search="on", social_posts=True)
    with_search, without = model(supportsXSearch=True), model(supportsXSearch=False)
    assert not judge(options, with_search).web_search.usable
    parameters = service_parameters(options, with_search, None)
    assert (parameters.enable_x_search, parameters.enable_web_search) == (True, "off")
    parameters = service_parameters(options, without, None)
    assert (parameters.enable_x_search, parameters.enable_web_search) == (False, "on")
    assert judge(options, without).social_posts.why == "Plain has no search of its own."


@pytest.mark.parametrize(
    ("options", "in_stream", "documents"),
    [
        (ChatOptions(web_search="on"), True, False),
        (ChatOptions(web_search="on", results_in_stream=False), False, False),
        (ChatOptions(web_search="on", results_as_documents=True), False, True),
        (ChatOptions(results_as_documents=True), False, False),
        (ChatOptions(read_links=True), True, False),
    ],
)
def test_results_come_as_the_person_chose_r_ext_21_r_ext_23(
    options: ChatOptions, in_stream: bool, documents: bool
) -> None:
    extension = sent(options, model()).get("service_parameters", {})
    assert isinstance(extension, dict)
    assert extension.get("include_search_results_in_stream", False) is in_stream
    assert extension.get("return_search_results_as_documents", False) is documents


def test_effort_is_sent_only_in_words_that_the_model_knows() -> None:
    able = model(supportsReasoningEffort=True, reasoningEffortOptions=["low", "high"])
    assert effort_of(ChatOptions(effort="low"), able) == "low"
    assert effort_of(ChatOptions(effort="max"), able) is None
    assert effort_of(ChatOptions(effort="low", thinking=False), able) is None
    assert effort_of(ChatOptions(effort="low"), model()) is None
    assert judge(ChatOptions(), model()).effort.why == "Plain has no effort setting."
    assert effort_of(ChatOptions(effort="low"), None) == "low"


def test_seed_stop_and_the_experts_box_reach_the_body_and_the_box_wins() -> None:
    options = ChatOptions(seed=7, stop=("END",), temperature=0.5, extra_json='{"temperature": 1.5, "top_k": 3}')
    body = sent(options, model())
    assert (body["seed"], body["stop"], body["temperature"], body["top_k"]) == (7, ["END"], 1.5, 3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ""),
        ("  ", ""),
        ('{"a": 1}', ""),
        ("[1]", "Enter an object"),
        ('{"a": }', "Line 1, column 7"),
        ('{"a": NaN}', "not allow NaN"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_the_experts_box_says_what_is_wrong(text: str, sentence: str) -> None:
    value, problem = parse_extra_json(text)
    assert sentence in problem
    assert bool(sentence) == bool(problem)
    assert value == ({"a": 1} if text == '{"a": 1}' else {})
