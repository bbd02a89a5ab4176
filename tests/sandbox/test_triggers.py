"""The handbook's page about what triggers what: every row of its tables is tried."""

from __future__ import annotations

import json
import re

from app.sandbox.policy_words import BLOCKED, REFUSED, VERDICTS
from tests.sandbox.support import RESOURCES, Client
from tests.sandbox.test_wrong_values import PNG

PAGE = (RESOURCES / "handbook" / "30-sandbox-triggers.md").read_text(encoding="utf-8")
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Look up the forecast of a city", "parameters": {}},
}


def test_tools_are_called_as_the_page_says(sandbox: Client) -> None:
    def is_called(question: str, **more: object) -> bool:
        return bool(sandbox.chat(question, tools=[TOOL], **more)["choices"][0]["message"]["tool_calls"])

    assert is_called("How is the weather?"), "a word of the name"
    assert is_called("A forecast for that city"), "two of the description"
    assert not is_called("A forecast"), "one of the description"
    assert is_called("Hello", tool_choice="required")
    assert is_called("Hello", tool_choice={"type": "function", "function": {"name": "get_weather"}})


def test_the_words_for_images_do_what_the_page_says(sandbox: Client) -> None:
    assert set(re.findall(r"`(sandbox-[a-z-]+)`", PAGE)) == {*VERDICTS, REFUSED, BLOCKED}
    for word, header in VERDICTS.items():
        body = {"model": "rialto-canvas", "prompt": f"A lake {word}", "width": 64, "height": 64, "safe_mode": True}
        answer = sandbox.post("/image/generate", body)
        assert [value for name, value in answer.headers.items() if name.endswith(header)] == ["true"], word
    edit = {"image": PNG, "prompt": f"red {REFUSED}", "model": "firered-image-edit"}
    assert sandbox.post("/image/edit", edit).status_code == 422


def test_a_link_with_fail_in_it_is_not_read_and_not_charged(sandbox: Client) -> None:
    def cost(link: str) -> float:
        question = f"Read {sandbox.running.origin}/handbook/chat{link}"
        return float(sandbox.chat(question, service_parameters={"enable_web_scraping": True})["cost"]["usd"])

    assert cost("") >= 0.01 > cost("?fail")


def test_every_model_of_the_page_is_listed_and_does_its_part(sandbox: Client) -> None:
    named = set(re.findall(r"`(rialto-[a-z0-9-]+)`", PAGE))
    listed = {model["id"] for model in sandbox.get("/models?type=text").json()["data"]}
    assert named == {name for name in listed if name.startswith("rialto-")}
    assert sandbox.chat_raw(model="rialto-night-shift").status_code == 503
    assert sandbox.chat(model="rialto-reasoning")["choices"][0]["message"]["reasoning_content"]
    assert "<think>" in sandbox.said(model="rialto-think-tags")
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    assert sandbox.chat_raw(model="rialto-plain", response_format=form).status_code == 400
    assert isinstance(json.loads(sandbox.said(response_format=form)), dict)
    old = sandbox.chat_raw(model="rialto-handbook-2025")
    assert any("deprecation" in name for name in old.headers)


def test_what_it_leaves_out_is_404(sandbox: Client) -> None:
    for path in ("/responses", "/completions", "/moderations"):
        assert sandbox.post(path, {}).status_code == 404
    assert sandbox.post("/embeddings", {"model": "text-embedding-bge-m3", "input": [1, 2]}).status_code == 400
    assert sandbox.chat_raw(logprobs=True).status_code == 400
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_newFilter", "params": [{}]}
    assert "result" not in sandbox.post("/crypto/rpc/base-mainnet", call).json()
