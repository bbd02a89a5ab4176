"""The official `openai` client, unmodified, against `python -m app.sandbox`."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionUserMessageParam

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-this-test"
HEADERS = {"authorization": f"Bearer {KEY}"}
ASK: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "How do I stop an answer?"}]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    command = [sys.executable, "-m", "app.sandbox", "--port", "0", "--api-key", KEY, "--speed", "0", "--no-local"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(timeout=60) == 0


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    httpx.post(base_url.replace("/api/v1", "/sandbox/reset"), headers=HEADERS, trust_env=False, timeout=60)
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as one:
        yield one


def arm(base_url: str, name: str, **values: object) -> None:
    address = base_url.replace("/api/v1", f"/sandbox/faults/{name}")
    httpx.put(address, json=values, headers=HEADERS, trust_env=False, timeout=60).raise_for_status()


def test_R_GEN_05_a_whole_chat(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="rialto-handbook", messages=ASK)
    assert "Esc" in (answer.choices[0].message.content or "")
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None and answer.usage.total_tokens > 0


def test_R_GEN_05_a_streamed_chat(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="rialto-handbook", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    text, usage = "", None
    for chunk in stream:
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        usage = chunk.usage or usage
    assert "Esc" in text
    assert usage is not None and usage.prompt_tokens > 0


def test_R_GEN_05_models(client: openai.OpenAI) -> None:
    ids = [model.id for model in client.models.list()]
    assert "rialto-handbook" in ids
    assert client.models.retrieve("rialto-vision").id == "rialto-vision"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("vendor/unknown")


def test_service_parameters_go_into_the_extra_body(client: openai.OpenAI) -> None:
    extension = {"enable_web_search": "on", "enable_web_citations": True, "character_slug": "night-editor"}
    answer = client.chat.completions.create(
        model="rialto-handbook", messages=ASK, extra_body={"service_parameters": extension}
    )
    text = answer.choices[0].message.content or ""
    assert text.startswith("Page one closes") and re.search(r"\[REF\]0\[/REF\]", text)
    echo = (answer.model_extra or {})["service_parameters"]
    assert echo["web_search_citations"][0]["url"].endswith("/handbook/chat#stop-an-answer")


def test_tools_and_their_answers(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="rialto-handbook",
        messages=[{"role": "user", "content": "What is the time in Oslo?"}],
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "get_time",
                    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
                },
            }
        ],
    )
    calls = answer.choices[0].message.tool_calls or []
    assert [call.type for call in calls] == ["function"]
    assert '"Oslo"' in calls[0].model_dump()["function"]["arguments"]


def test_401_without_the_right_key(base_url: str) -> None:
    with (
        openai.OpenAI(base_url=base_url, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        client.chat.completions.create(model="rialto-handbook", messages=ASK)
    assert caught.value.response.json() == {"error": "Authentication failed"}


def test_404_for_an_unknown_model(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="no-such-model", messages=ASK)


def test_400_carries_the_tree(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="rialto-handbook", messages=ASK, temperature=3, top_p=2)
    body = caught.value.response.json()
    assert set(body["details"]) == {"_errors", "temperature", "top_p"}


def test_429_is_tried_again_until_it_works(base_url: str, client: openai.OpenAI) -> None:
    arm(base_url, "answer", status=429, times=2, headers={"retry-after-ms": "1"})
    answer = client.with_options(max_retries=3).chat.completions.create(model="rialto-handbook", messages=ASK)
    assert answer.choices[0].message.content
    arm(base_url, "answer", status=429, times=1)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(model="rialto-handbook", messages=ASK)


def test_500_and_an_error_inside_the_stream(base_url: str, client: openai.OpenAI) -> None:
    arm(base_url, "answer", status=503, times=1)
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="rialto-handbook", messages=ASK)
    arm(base_url, "in_band_error", after=10, times=1)
    with pytest.raises(openai.APIError, match="overloaded"):
        for _ in client.chat.completions.create(model="rialto-handbook", messages=ASK, stream=True):
            pass


def test_structured_output_is_parsed(client: openai.OpenAI) -> None:
    from pydantic import BaseModel

    class Answer(BaseModel):
        answer: str
        pages: list[str]

    parsed = client.chat.completions.parse(model="rialto-handbook", messages=ASK, response_format=Answer)
    found = parsed.choices[0].message.parsed
    assert found is not None and "Esc" in found.answer and found.pages


async def test_the_asynchronous_client_streams_as_well(base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        text = ""
        async for chunk in await client.chat.completions.create(
            model="rialto-reasoning", messages=ASK, stream=True, reasoning_effort="low"
        ):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
    assert "Esc" in text
