"""Scripted answers: what a test or a file says is what unmodified clients receive, streamed or whole."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import openai
import pytest

from app.sandbox.__main__ import read_arguments
from app.sandbox.http import scripted_responses
from app.sandbox.http.errors import HttpError
from tests.sandbox.support import RESOURCES, Client, deltas

ROOT = RESOURCES.parent
SCHEMA = json.loads((RESOURCES / "data" / "answers.schema.json").read_text(encoding="utf-8"))
CHATS = "/chat/completions"


@pytest.fixture
def client(sandbox: Client) -> Iterator[openai.OpenAI]:
    running = sandbox.running
    with openai.OpenAI(base_url=running.base_url, api_key=running.api_key, max_retries=0) as one:
        yield one


def script(sandbox: Client, *entries: dict[str, Any], method: str = "PUT") -> Any:
    return sandbox.control("/answers", {"answers": list(entries)}, method)["answers"]


def ask(client: openai.OpenAI, text: str = "Hello", model: str = "gpt-5-anything") -> Any:
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}])


def said(client: openai.OpenAI, text: str = "Hello", model: str = "gpt-5-anything") -> str:
    return str(ask(client, text, model).choices[0].message.content)


def test_the_openai_client_gets_the_text_of_a_script_for_any_model(sandbox: Client, client: openai.OpenAI) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "reasoning_tokens": 3, "cached_tokens": 2}
    answer = {"text": "Ahoy.", "reasoning": "A greeting.", "finish_reason": "length", "usage": usage}
    script(sandbox, {"answer": {**answer, "headers": {"X-Told": "yes"}}})
    raw = client.chat.completions.with_raw_response.create(
        model="gpt-5-anything", messages=[{"role": "user", "content": "Hello"}], stop=["hoy"], max_tokens=1
    )
    got = raw.parse()
    assert raw.headers["x-told"] == "yes" and got.model == "gpt-5-anything"
    assert (got.choices[0].message.content, got.choices[0].finish_reason) == ("Ahoy.", "length")
    assert (got.choices[0].message.model_extra or {})["reasoning_content"] == "A greeting."
    assert got.usage is not None and got.usage.prompt_tokens_details is not None
    assert (got.usage.total_tokens, got.usage.prompt_tokens_details.cached_tokens) == (12, 2)
    assert got.usage.completion_tokens_details is not None
    assert got.usage.completion_tokens_details.reasoning_tokens == 3


def test_the_openai_client_gets_chunks_as_they_are_written_each_in_its_time(
    sandbox: Client, client: openai.OpenAI
) -> None:
    chunks = [{"reasoning": "Hm, hm."}, {"text": "One two three"}, {"text": " four", "wait_s": 0.3}]
    script(sandbox, {"answer": {"chunks": chunks}})
    begun = time.monotonic()
    stream = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "Count"}], stream=True)
    came: list[tuple[str, float]] = []
    finish = None
    for event in stream:
        for choice in event.choices:
            text = choice.delta.content or (choice.delta.model_extra or {}).get("reasoning_content")
            came += [(text, time.monotonic())] if text else []
            finish = choice.finish_reason or finish
    assert [text for text, _ in came] == ["Hm, hm.", "One two three", " four"]
    assert came[2][1] - begun >= 0.29
    assert finish == "stop"


@pytest.mark.parametrize("stream", [True, False])
def test_tool_calls_come_whole_or_in_fragments(sandbox: Client, client: openai.OpenAI, stream: bool) -> None:
    calls = [
        {"name": "get_weather", "arguments": {"city": "Ås"}, "id": "call_1"},
        {"name": "get_time", "arguments": '{"city": '},
    ]
    script(sandbox, {"answer": {"tool_calls": calls}})
    messages: Any = [{"role": "user", "content": "Weather?"}]
    if stream:
        made: dict[int, dict[str, str]] = {}
        finish = None
        for event in client.chat.completions.create(model="any", messages=messages, stream=True):
            for choice in event.choices:
                finish = choice.finish_reason or finish
                for part in choice.delta.tool_calls or ():
                    call = made.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] += part.id or ""
                    assert part.function is not None
                    call["name"] += part.function.name or ""
                    call["arguments"] += part.function.arguments or ""
        got = list(made.values())
    else:
        choice = client.chat.completions.create(model="any", messages=messages).choices[0]
        finish = choice.finish_reason
        got = [{"id": call.id, **call.model_dump()["function"]} for call in choice.message.tool_calls or ()]
    assert finish == "tool_calls"
    assert got[0] == {"id": "call_1", "name": "get_weather", "arguments": '{"city": "Ås"}'}
    assert (got[1]["name"], got[1]["arguments"]) == ("get_time", '{"city": ') and got[1]["id"].startswith("call_")


def test_answers_are_given_in_order_so_many_times_and_then_for_ever(sandbox: Client, client: openai.OpenAI) -> None:
    script(
        sandbox,
        {"times": 1, "answer": {"text": "first"}},
        {"times": 2, "answer": {"text": "second"}},
        {"name": "last", "answer": {"text": "for ever"}},
    )
    assert [said(client) for _ in range(5)] == ["first", "second", "second", "for ever", "for ever"]
    listed = sandbox.control("/answers", method="GET")["answers"]
    assert [(one["name"], one["times"], one["used"]) for one in listed] == [
        ("answer-1", 1, 1),
        ("answer-2", 2, 2),
        ("last", None, 2),
    ]


def test_conditions_choose_the_answer(sandbox: Client, client: openai.OpenAI) -> None:
    script(
        sandbox,
        {"match": {"nth": 3, "path": CHATS}, "answer": {"text": "third"}},
        {"match": {"words": ["weather", "OSLO"]}, "answer": {"text": "rain"}},
        {"match": {"model": "gpt-5-mini"}, "answer": {"text": "mini"}},
        {"match": {"headers": {"X-Case": "seven"}, "method": "post"}, "answer": {"text": "header"}},
        {"match": {"path": CHATS}, "answer": {"text": "else"}},
    )
    assert said(client, "The weather in Oslo?") == "rain"
    assert said(client, "The weather in Rome?") == "else"
    assert said(client, "The weather in Oslo?") == "third"
    assert said(client, model="gpt-5-mini") == "mini"
    with_header = client.with_options(default_headers={"x-case": "seven"})
    assert said(with_header) == "header"
    earlier: Any = [
        {"role": "user", "content": "weather in oslo"},
        {"role": "assistant", "content": "weather in oslo"},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    answer = client.chat.completions.create(model="any", messages=earlier)
    assert answer.choices[0].message.content == "else"


def test_what_no_script_matches_is_the_sandboxs_own_work(sandbox: Client, client: openai.OpenAI) -> None:
    script(sandbox, {"match": {"words": ["zebra"]}, "answer": {"text": "stripes"}})
    assert "Esc" in said(client, "How do I stop an answer?", "rialto-handbook")
    with pytest.raises(openai.NotFoundError):
        said(client)


def test_other_paths_get_a_status_headers_and_any_body(sandbox: Client, client: openai.OpenAI) -> None:
    sound = base64.b64encode(b"\x00\xffsound").decode()
    script(
        sandbox,
        {"match": {"path": "/models"}, "times": 1, "answer": {"body": {"object": "list", "data": [{"id": "x"}]}}},
        {"match": {"path": "/audio/speech", "words": ["hi"]}, "answer": {"body_base64": sound}},
        {"match": {"path": CHATS}, "times": 1, "answer": {"status": 418, "body": {"error": {"message": "A teapot"}}}},
        {"match": {"path": "/embeddings"}, "answer": {"status": 204, "headers": {"x-why": "nothing"}}},
        {"match": {"path": "/image/styles"}, "answer": {"body": "a,b\n", "headers": {"content-type": "text/csv"}}},
    )
    assert [model.id for model in client.models.list()] == ["x"]
    assert "rialto-handbook" in [model.id for model in client.models.list()]
    assert client.audio.speech.create(model="no", voice="no", input="Hi there").content == b"\x00\xffsound"
    with pytest.raises(openai.APIStatusError, match="A teapot") as caught:
        ask(client)
    assert caught.value.status_code == 418
    nothing = sandbox.post("/embeddings", {"model": "x"})
    assert (nothing.status_code, nothing.content, nothing.headers["x-why"]) == (204, b"", "nothing")
    assert "content-length" not in nothing.headers
    table = sandbox.get("/image/styles")
    assert (table.text, table.headers.get_list("content-type")) == ("a,b\n", ["text/csv"])


def test_the_model_of_a_form_chooses_too(sandbox: Client, client: openai.OpenAI) -> None:
    script(sandbox, {"match": {"model": "whisper-9"}, "answer": {"body": {"text": "Ahoy."}}})
    heard = client.audio.transcriptions.create(model="whisper-9", file=("a.wav", b"no sound", "audio/wav"))
    assert heard.text == "Ahoy."
    with pytest.raises(openai.BadRequestError):
        client.audio.transcriptions.create(model="whisper-8", file=("a.wav", b"whisper-9", "audio/wav"))


def test_a_path_that_is_not_served_can_be_scripted_and_still_wants_the_key(
    sandbox: Client, client: openai.OpenAI, bare: httpx.Client
) -> None:
    script(sandbox, {"match": {"path": "/moderations", "words": ["fine"]}, "answer": {"body": {"results": []}}})
    assert sandbox.post("/moderations", {"input": "All is fine"}).json() == {"results": []}
    assert sandbox.post("/moderations", {"input": "Not so"}).json() == {
        "error": "No scripted answer matches this request"
    }
    assert sandbox.post("/responses", {"input": "All is fine"}).status_code == 404
    assert bare.post(f"{sandbox.running.base_url}/moderations", json={"input": "fine"}).status_code == 401


def test_the_log_names_the_answer_that_was_given(sandbox: Client, client: openai.OpenAI) -> None:
    script(sandbox, {"name": "greeting", "times": 1, "answer": {"text": "Ahoy."}})
    said(client)
    sandbox.chat()
    lines = sandbox.control("/log", method="GET")["data"]
    assert [(line["scripted_answer"], line["status"]) for line in lines] == [("greeting", 200), ("", 200)]
    assert float(lines[0]["cost_usd"]) > 0


def test_a_request_that_is_refused_uses_nothing_up(sandbox: Client, client: openai.OpenAI) -> None:
    script(sandbox, {"times": 1, "answer": {"text": "Ahoy."}})
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="any", messages=[{"role": "user", "content": "x"}], temperature=9)
    assert sandbox.control("/log", method="GET")["data"][-1]["scripted_answer"] == ""
    assert said(client) == "Ahoy."


def test_faults_and_several_choices_work_on_scripts_too(sandbox: Client) -> None:
    script(sandbox, {"answer": {"chunks": [{"text": "abc"}, {"text": "def"}]}})
    events = sandbox.stream(n=2)
    assert [deltas(events, "content", index) for index in (0, 1)] == ["abcdef", "abcdef"] and events[-1] == "[DONE]"
    sandbox.fault("in_band_error", after=4, times=1)
    events = sandbox.stream()
    assert deltas(events[:-2], "content") == "abc" and events[-2]["error"]["code"] == "model_overloaded"
    sandbox.fault("answer", status=503, times=1)
    assert sandbox.chat_raw().status_code == 503
    assert sandbox.control("/answers", method="GET")["answers"][0]["used"] == 2


def test_adding_replacing_removing_and_reset(sandbox: Client, client: openai.OpenAI) -> None:
    script(sandbox, {"name": "a", "times": 1, "answer": {"text": "one"}})
    assert said(client) == "one"
    for _ in range(2):  # may be repeated
        added = sandbox.control("/answers", {"name": "a", "times": 1, "answer": {"text": "two"}}, "POST")["answers"]
        assert [(one["name"], one["used"]) for one in added] == [("a", 0)]
    assert [one["name"] for one in script(sandbox, {"answer": {"text": "x"}}, method="POST")] == ["a", "answer-1"]
    assert [one["name"] for one in sandbox.control("/answers/a", method="DELETE")["answers"]] == ["answer-1"]
    assert sandbox.control("/answers", method="DELETE") == {"answers": []}
    script(sandbox, {"answer": {"text": "x"}})
    sandbox.control("/reset", method="POST")
    assert sandbox.control("/answers", method="GET") == {"answers": []}


def test_credentials_in_conditions_are_not_told(sandbox: Client, bare: httpx.Client) -> None:
    key = sandbox.running.api_key
    match = {"headers": {"Authorization": f"Bearer {key}"}}
    told = script(sandbox, {"match": match, "answer": {"text": "x"}})
    assert key not in json.dumps(told) and sandbox.said() == "x"
    assert bare.get(f"{sandbox.running.origin}/sandbox/answers").status_code == 401


GOOD: list[dict[str, Any]] = [
    {"answers": []},
    {"$schema": "x", "answers": [{"answer": {"text": ""}}]},
    {"answers": [{"name": "a", "times": 2, "match": {"nth": 1, "words": ["w"]}, "answer": {"status": 503}}]},
    {
        "answers": [
            {"match": {"path": "/chat"}, "answer": {"chunks": [{"text": "a", "wait_s": 1.5}, {"tool_calls": []}]}}
        ]
    },
    {"answers": [{"match": {"headers": {"a": "b"}}, "answer": {"body": None}}, {"answer": {"body_base64": "AAA="}}]},
    {"answers": [{"answer": {"text": "x", "status": 200, "usage": {"prompt_tokens": 0}, "wait_s": 600}}]},
    {"answers": [{"answer": {"tool_calls": [{"name": "f"}, {"name": "g", "arguments": "no json", "id": "1"}]}}]},
]
# What is wrong, and the field that is named for it.
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "answers"),
    ({"answers": {}}, "answers"),
    ({"answers": [{"answer": {"text": "x"}}], "more": 1}, "more"),
    ({"answers": [7]}, "answers.0"),
    ({"answers": [{}]}, "answers.0.answer"),
    ({"answers": [{"answer": {}}]}, "answers.0.answer"),
    ({"answers": [{"answer": {"headers": {"a": "b"}}}]}, "answers.0.answer"),
    ({"answers": [{"answer": {"text": 7}}]}, "answers.0.answer.text"),
    ({"answers": [{"answer": {"text": None}}]}, "answers.0.answer.text"),
    ({"answers": [{"answer": {"txt": "x", "text": "x"}}]}, "answers.0.answer.txt"),
    ({"answers": [{"answer": {"text": "x"}, "times": 0}]}, "answers.0.times"),
    ({"answers": [{"answer": {"text": "x"}, "name": ""}]}, "answers.0.name"),
    ({"answers": [{"answer": {"text": "x"}, "match": {"modle": "x"}}]}, "answers.0.match.modle"),
    ({"answers": [{"answer": {"text": "x"}, "match": {"words": "x"}}]}, "answers.0.match.words"),
    ({"answers": [{"answer": {"text": "x"}, "match": {"words": [""]}}]}, "answers.0.match.words.0"),
    ({"answers": [{"answer": {"text": "x"}, "match": {"headers": {"a": 1}}}]}, "answers.0.match.headers.a"),
    ({"answers": [{"answer": {"text": "x"}, "match": {"nth": 1.5}}]}, "answers.0.match.nth"),
    ({"answers": [{"answer": {"text": "x", "body": {}}}]}, "answers.0.answer.body"),
    ({"answers": [{"answer": {"text": "x", "status": 500}}]}, "answers.0.answer.status"),
    ({"answers": [{"answer": {"status": 100}}]}, "answers.0.answer.status"),
    ({"answers": [{"answer": {"body": 1, "body_base64": "AAA="}}]}, "answers.0.answer.body_base64"),
    ({"answers": [{"answer": {"finish_reason": "tired"}}]}, "answers.0.answer.finish_reason"),
    ({"answers": [{"answer": {"usage": {"tokens": 1}}}]}, "answers.0.answer.usage.tokens"),
    ({"answers": [{"answer": {"usage": {"prompt_tokens": -1}}}]}, "answers.0.answer.usage.prompt_tokens"),
    ({"answers": [{"answer": {"chunks": [{"text": "x", "reasoning": "y"}]}}]}, "answers.0.answer.chunks.0"),
    ({"answers": [{"answer": {"chunks": [{"wait_s": 1}]}}]}, "answers.0.answer.chunks.0"),
    ({"answers": [{"answer": {"chunks": [{"text": "x", "wait_s": -1}]}}]}, "answers.0.answer.chunks.0.wait_s"),
    ({"answers": [{"answer": {"chunks": [], "text": "x"}}]}, "answers.0.answer.text"),
    ({"answers": [{"answer": {"tool_calls": [{}]}}]}, "answers.0.answer.tool_calls.0.name"),
    (
        {"answers": [{"answer": {"tool_calls": [{"name": "f", "arguments": 7}]}}]},
        "answers.0.answer.tool_calls.0.arguments",
    ),
    ({"answers": [{"answer": {"body": "x", "wait_s": 601}}]}, "answers.0.answer.wait_s"),
]
# What the schema cannot say.
BAD_FOR_US: list[tuple[dict[str, Any], str]] = [
    ({"answers": [{"answer": {"body_base64": "?"}}]}, "answers.0.answer.body_base64"),
    ({"answers": [{"answer": {"status": 204, "body": "x"}}]}, "answers.0.answer.body"),
    ({"answers": [{"answer": {"text": "x", "headers": {"Content-Length": "3"}}}]}, "answers.0.answer.headers"),
    ({"answers": [{"answer": {"text": "x", "headers": {"a": "b\r\nc: d"}}}]}, "answers.0.answer.headers.a"),
    ({"answers": [{"match": {"path": "/models"}, "answer": {"text": "x"}}]}, "answers.0.match.path"),
    ({"answers": [{"name": "a", "answer": {"text": "x"}}] * 2}, "answers.1.name"),
]


def is_named(body: dict[str, Any], field: str) -> bool:
    level: Any = body["details"]
    for step in field.split("."):
        level = level.get(step, {})
    return bool(level)


@pytest.mark.parametrize("body", GOOD, ids=json.dumps)
def test_what_the_schema_allows_is_taken(body: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(body)
    assert len(scripted_responses.read(body)) == len(body["answers"])


@pytest.mark.parametrize(("body", "field"), BAD + BAD_FOR_US, ids=str)
def test_a_wrong_script_is_refused_with_the_name_of_the_field(body: dict[str, Any], field: str) -> None:
    if (body, field) in BAD:
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(body)
    with pytest.raises(HttpError) as caught:
        scripted_responses.read(body)
    assert caught.value.status == 400 and is_named(caught.value.body, field), caught.value.body


def test_a_wrong_script_leaves_the_ones_before(sandbox: Client) -> None:
    script(sandbox, {"answer": {"text": "x"}})
    wrong = sandbox.http.put(f"{sandbox.running.origin}/sandbox/answers", json={"answers": [{"answer": {"text": 7}}]})
    assert wrong.status_code == 400 and is_named(wrong.json(), "answers.0.answer.text")
    assert len(sandbox.control("/answers", method="GET")["answers"]) == 1


def test_the_schema_is_served_names_every_field_and_is_one(sandbox: Client, bare: httpx.Client) -> None:
    served = bare.get(f"{sandbox.running.origin}/sandbox/answers/schema")
    assert served.headers["content-type"] == "application/schema+json" and served.json() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    parts = SCHEMA["$defs"]
    for name, fields in (
        ("entry", scripted_responses.ENTRY_FIELDS),
        ("match", scripted_responses.MATCH_FIELDS),
        ("answer", scripted_responses.ANSWER_FIELDS),
        ("chunk", scripted_responses.CHUNK_FIELDS),
    ):
        assert set(parts[name]["properties"]) == set(fields)
    assert set(parts["answer"]["properties"]["usage"]["properties"]) == set(scripted_responses.USAGE_FIELDS)
    assert tuple(parts["answer"]["properties"]["finish_reason"]["enum"]) == scripted_responses.FINISH_REASONS


def test_a_file_of_answers_is_given_from_the_start_and_again_after_a_reset(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"answers": [{"times": 1, "answer": {"text": "From a file."}}]}), encoding="utf-8")
    command = [sys.executable, "-m", "app.sandbox", "--no-local", "--answers", str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        headers = {"Authorization": "Bearer local-dev-key"}
        with openai.OpenAI(base_url=base_url, api_key="local-dev-key", max_retries=0) as client:
            assert said(client) == "From a file."
            with pytest.raises(openai.NotFoundError):
                said(client)
            reset = base_url.replace("/api/v1", "/sandbox/reset")
            httpx.post(reset, headers=headers, trust_env=False, timeout=60).raise_for_status()
            assert said(client) == "From a file."
        process.terminate()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"answers": [{"answer": {"status": 99, "txt": 1}}]}', "answers.0.answer.status: Number must be"),
        ("{", "this is not JSON"),
        ("7", "answers: Expected array"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, told: str
) -> None:
    file = tmp_path / "answers.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        read_arguments(["--answers", str(file)])
    assert ended.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "argument --answers: " in line and told in line


YAML_SCRIPT = """
# As in the handbook
answers:
  - match: { words: [weather], nth: 1 }
    answer: { text: No rain in Oslo. }
  - name: busy
    answer: { status: 503, body: { state: no, until: "2026-01-01" }, headers: { retry-after: "1" } }
"""


def test_a_script_in_yaml_is_the_same_as_in_json(tmp_path: Path) -> None:
    file, same = tmp_path / "answers.yaml", tmp_path / "answers.json"
    file.write_text(YAML_SCRIPT, encoding="utf-8")
    rows = [
        {"match": {"words": ["weather"], "nth": 1}, "answer": {"text": "No rain in Oslo."}},
        {
            "name": "busy",
            "answer": {
                "status": 503,
                "body": {"state": "no", "until": "2026-01-01"},
                "headers": {"retry-after": "1"},
            },
        },
    ]
    same.write_text(json.dumps(rows), encoding="utf-8")
    assert scripted_responses.load(file) == scripted_responses.load(same)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("answers: [", "this is not YAML: "),
        ("answers: [{answer: {text: 7}}]", "answers.0.answer.text: Expected string, received number"),
        ("answers: [{answer: {body: {at: 2026-01-01}}}]", "put dates in quotes"),
        ("answers: [{answer: {body: .nan}}]", "this is not JSON: NaN"),
        ("a: !!python/object/apply:os.system ['true']", "this is not YAML: "),
        ("a: 1\na: 2", "this is not YAML: "),
    ],
)
def test_a_file_in_yaml_that_cannot_be_read_is_told_at_its_place(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "answers.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(told)):
        scripted_responses.load(file)


def test_without_a_reader_of_yaml_a_sentence_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    file = tmp_path / "answers.yaml"
    file.write_text(YAML_SCRIPT, encoding="utf-8")
    with pytest.raises(ValueError, match=r"pip install ruamel\.yaml"):
        scripted_responses.load(file)
