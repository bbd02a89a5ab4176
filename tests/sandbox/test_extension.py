"""The extension object of a chat request, key by key: rules R-EXT."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from tests.sandbox.support import Client, deltas

QUESTION = "How do I stop an answer?"


def asked(
    sandbox: Client, question: str = QUESTION, model: str = "rialto-handbook", **extension: Any
) -> dict[str, Any]:
    return sandbox.chat(question, model=model, service_parameters=extension)


def text(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


def sources(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer["service_parameters"]["web_search_citations"]
    return found


def extra_cost(sandbox: Client, question: str = QUESTION, **extension: Any) -> float:
    """What a request was charged above its tokens, in cents."""
    lines = sandbox.get("/billing/usage-history").json()["data"]
    asked(sandbox, question, **extension)
    new = sandbox.get("/billing/usage-history").json()["data"][len(lines) :]
    return round(sum(-line["amount"] * 100 for line in new if "llm" not in line["sku"]), 6)


def test_R_EXT_01_a_character_is_injected_and_frames_the_answer(sandbox: Client) -> None:
    answer = asked(sandbox, character_slug="harbour-pilot")
    assert text(answer).startswith("Lines are fast")
    assert "Esc" in text(answer)
    prompt = sandbox.control("/prompt", method="GET")["messages"]
    assert any("You are Harbour Pilot" in message["content"] for message in prompt if message["role"] == "system")
    assert answer["service_parameters"]["character_slug"] == "harbour-pilot"


def test_R_EXT_01_an_unknown_character_is_404(sandbox: Client) -> None:
    answer = sandbox.chat_raw(service_parameters={"character_slug": "nobody-here"})
    assert (answer.status_code, answer.json()) == (404, {"error": "The character was not found"})


def test_a_character_greets_once_and_tells_the_same_truth(sandbox: Client) -> None:
    plain = text(asked(sandbox))
    first = text(asked(sandbox, character_slug="night-editor"))
    assert first.endswith(plain)
    later = sandbox.said(
        messages=[
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": QUESTION},
        ],
        service_parameters={"character_slug": "night-editor"},
    )
    assert later.endswith(plain) and later != first


def test_R_EXT_02_R_EXT_03_strip_thinking_removes_the_blocks_of_the_legacy_model(sandbox: Client) -> None:
    aloud = text(asked(sandbox, model="rialto-think-tags"))
    assert aloud.startswith("<think>\n") and "</think>" in aloud
    stripped = text(asked(sandbox, model="rialto-think-tags", strip_thinking_response=True))
    assert "<think>" not in stripped
    assert stripped == aloud.split("</think>")[1].strip()


def test_R_EXT_04_R_EXT_05_disabled_thinking_leaves_no_reasoning_and_no_tokens(sandbox: Client) -> None:
    thinking = sandbox.chat(model="rialto-reasoning")
    assert thinking["choices"][0]["message"]["reasoning_content"].startswith("Search words:")
    assert thinking["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    disabled = asked(sandbox, model="rialto-reasoning", disable_thinking=True)
    assert disabled["choices"][0]["message"]["reasoning_content"] is None
    assert disabled["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0
    assert "<think>" not in text(asked(sandbox, model="rialto-think-tags", disable_thinking=True))


def test_the_reasoning_is_a_true_trace_of_the_search(sandbox: Client) -> None:
    message = sandbox.chat(model="rialto-reasoning", reasoning_effort="low")["choices"][0]["message"]
    assert "Chat: Stop an answer" in message["reasoning_content"]
    assert "Answering from “Chat: Stop an answer”." in message["reasoning_content"]
    more = sandbox.chat(model="rialto-reasoning", reasoning_effort="high")["choices"][0]["message"]
    assert len(more["reasoning_content"]) > len(message["reasoning_content"])


@pytest.mark.parametrize("value", [True, "always", 1])
def test_R_EXT_06_the_search_mode_is_one_of_three_strings(sandbox: Client, value: Any) -> None:
    answer = sandbox.chat_raw(service_parameters={"enable_web_search": value})
    assert answer.status_code == 400
    assert answer.json()["details"]["service_parameters"]["enable_web_search"]["_errors"]


def test_R_EXT_07_with_auto_only_questions_are_searched(sandbox: Client) -> None:
    assert sources(asked(sandbox, QUESTION, enable_web_search="auto"))
    assert sources(asked(sandbox, "Good to see the answers and the receipts", enable_web_search="auto")) == []


def test_R_EXT_08_a_search_costs_a_cent(sandbox: Client) -> None:
    assert extra_cost(sandbox) == 0
    assert extra_cost(sandbox, enable_web_search="on") == 1


def handbook(sandbox: Client, page: str) -> str:
    return f"{sandbox.running.origin}/handbook/{page}"


def test_R_EXT_09_R_EXT_10_R_EXT_11_links_are_read_instead_of_searching(sandbox: Client) -> None:
    question = f"What does {handbook(sandbox, 'limits')} say about tiers?"
    off = asked(sandbox, question)
    assert sources(off) == []
    answer = asked(sandbox, question, enable_web_scraping=True, enable_web_search="on")
    assert [source["url"] for source in sources(answer)] == [handbook(sandbox, "limits")]
    assert "1,000,000" in text(answer)
    assert sources(asked(sandbox, QUESTION, enable_web_scraping=True, enable_web_search="on"))  # no link: it searches


def test_R_EXT_10_R_LIM_24_only_the_first_five_links_are_read(sandbox: Client) -> None:
    pages = ["chat", "data", "limits", "errors", "privacy", "models"]
    question = " ".join(handbook(sandbox, page) for page in pages)
    found = [source["url"] for source in sources(asked(sandbox, question, enable_web_scraping=True))]
    assert found == [handbook(sandbox, page) for page in pages[:5]]


def test_R_EXT_12_R_EXT_13_only_links_that_could_be_read_are_billed(sandbox: Client) -> None:
    question = f"{handbook(sandbox, 'data')} {handbook(sandbox, 'chat')}?will-fail=1 https://example.org/page"
    assert extra_cost(sandbox, question, enable_web_scraping=True) == 1
    assert extra_cost(sandbox, "https://example.org/fail", enable_web_scraping=True) == 0


@pytest.fixture
def neighbor() -> Iterator[str]:
    """Another web server on this computer."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><script>x()</script><h1>Opening hours</h1> <p>Nine to five.</p></html>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hours"
        server.shutdown()
        thread.join()


def test_a_page_of_another_server_on_this_computer_is_really_read(sandbox: Client, neighbor: str) -> None:
    answer = asked(sandbox, f"When is it open? {neighbor}", enable_web_scraping=True, enable_web_citations=True)
    assert "Opening hours Nine to five." in text(answer)
    assert "[REF]0[/REF]" in text(answer)


def test_R_EXT_14_R_EXT_15_R_EXT_16_R_EXT_17_native_search_replaces_the_own_one_and_costs(sandbox: Client) -> None:
    both = {"enable_x_search": True, "enable_web_search": "on", "enable_web_citations": True}
    answer = asked(sandbox, "Which tips are there about drafts?", model="rialto-search", **both)
    assert sources(answer)
    assert all("/notices/" in source["url"] for source in sources(answer))
    assert "[REF]0[/REF]" in text(answer)
    skus = [line["sku"] for line in sandbox.get("/billing/usage-history").json()["data"]]
    assert "x-search" in skus and "web-search" not in skus


def test_R_EXT_15_native_search_is_ignored_on_other_models(sandbox: Client) -> None:
    answer = asked(sandbox, QUESTION, enable_x_search=True, enable_web_search="on")
    assert all("/handbook/" in source["url"] for source in sources(answer))


def test_R_EXT_18_R_EXT_19_R_EXT_20_citations_count_from_zero_and_need_a_search(sandbox: Client) -> None:
    answer = asked(sandbox, enable_web_search="on", enable_web_citations=True)
    assert "[REF]0[/REF]" in text(answer)
    assert sources(answer)[0]["url"].endswith("/handbook/chat#stop-an-answer")
    assert "[REF]" not in text(asked(sandbox, enable_web_search="on"))
    assert "[REF]" not in text(asked(sandbox, enable_web_citations=True))


def test_a_cited_source_can_be_opened_without_a_key(sandbox: Client, bare: Any) -> None:
    source = sources(asked(sandbox, enable_web_search="on"))[0]
    page = bare.get(source["url"])
    assert page.headers["content-type"].startswith("text/plain")
    assert "## Stop an answer" in page.text and "<!--" not in page.text
    assert set(source) == {"title", "url", "content", "date"}


def test_R_EXT_21_R_EXT_22_the_results_are_in_the_first_chunk(sandbox: Client) -> None:
    extension = {"enable_web_search": "on", "include_search_results_in_stream": True}
    events = sandbox.stream(QUESTION, service_parameters=extension)
    assert events[0]["choices"] == []
    assert events[0]["service_parameters"]["web_search_citations"][0]["title"] == "Chat: Stop an answer"
    without = sandbox.stream(QUESTION, service_parameters={"enable_web_search": "on"})
    assert "web_search_citations" not in json.dumps(without)


def test_R_EXT_23_R_EXT_24_the_results_come_as_a_tool_call_before_the_text(sandbox: Client) -> None:
    extension = {"enable_web_search": "on", "return_search_results_as_documents": True}
    choice = sandbox.chat(QUESTION, service_parameters=extension)["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert call["function"]["name"] == "venice_web_search_documents"
    document = json.loads(call["function"]["arguments"])["documents"][0]
    assert set(document) == {"id", "title", "url", "snippet", "published_at"}
    assert "Esc" in choice["message"]["content"]
    events = sandbox.stream(QUESTION, service_parameters=extension)
    kinds = [next(iter(event["choices"][0]["delta"]), "") for event in events[1:-3]]
    assert kinds.index("content") > kinds.index("tool_calls")
    assert deltas(events, "content") == choice["message"]["content"]


def test_R_EXT_25_R_EXT_26_the_default_prompt_is_on_by_default(sandbox: Client) -> None:
    assert asked(sandbox)["service_parameters"]["include_venice_system_prompt"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("character_slug", "night-editor"),
        ("strip_thinking_response", True),
        ("disable_thinking", True),
        ("enable_web_search", "on"),
        ("enable_web_scraping", True),
        ("enable_x_search", True),
        ("enable_web_citations", True),
        ("include_search_results_in_stream", True),
        ("return_search_results_as_documents", True),
        ("include_venice_system_prompt", False),
    ],
)
def test_R_EXT_27_every_key_can_be_a_suffix_of_the_model(sandbox: Client, name: str, value: Any) -> None:
    written = quote(value) if isinstance(value, str) else str(value).lower()
    answer = sandbox.chat(model=f"rialto-search:{name}={written}")
    assert answer["service_parameters"][name] == value
    assert answer["model"] == "rialto-search"


def test_R_EXT_27_several_suffixes_beat_the_object_and_unknown_ones_are_ignored(sandbox: Client) -> None:
    model = "rialto-handbook:enable_web_search=on&enable_web_citations=true&unknown_key=1"
    answer = sandbox.chat(model=model, service_parameters={"enable_web_search": "off"})
    assert answer["service_parameters"]["enable_web_search"] == "on"
    assert "[REF]0[/REF]" in text(answer)


def test_search_is_ignored_on_a_model_that_cannot_search(sandbox: Client) -> None:
    answer = asked(sandbox, model="rialto-plain", enable_web_search="on", enable_web_citations=True)
    assert sources(answer) == [] and "[REF]" not in text(answer)


def test_a_notice_can_be_opened_and_an_unknown_one_is_404(sandbox: Client, bare: Any) -> None:
    answer = asked(sandbox, "Tips about drafts?", model="rialto-search", enable_x_search=True)
    page = bare.get(sources(answer)[0]["url"])
    assert page.status_code == 200 and sources(answer)[0]["content"] in page.text
    assert bare.get(f"{sandbox.running.origin}/notices/unwritten").status_code == 404


def test_links_that_lead_nowhere_are_not_read(sandbox: Client) -> None:
    origin = sandbox.running.origin
    paths = ("/handbook/unwritten", "/handbook/chat#no-such-part", "/api/v1/models")
    for link in (*(origin + path for path in paths), "http://127.0.0.1:9/"):
        assert sources(asked(sandbox, f"Read {link}", enable_web_scraping=True)) == [], link
