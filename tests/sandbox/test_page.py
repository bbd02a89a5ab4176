"""The Sandbox's own page at `/`: what is sent, and what a person does with it in a real Chromium, by keyboard alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from app.sandbox.http.faults import NAMES
from app.sandbox.http.routes import ROUTES
from tests.sandbox.chromium import PROGRAM, Tab, browser, browsing
from tests.sandbox.support import Client

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGE_FILES = ("/", "/page/page.css", "/page/page.js")
in_chromium = pytest.mark.skipif(not PROGRAM, reason="needs Chromium")


def test_a_browser_gets_a_page_and_everyone_else_the_plain_text(sandbox: Client, bare: httpx.Client) -> None:
    origin = sandbox.running.origin
    assert bare.get(origin, headers=HTML).headers["content-type"] == "text/html; charset=utf-8"
    assert bare.get(origin).headers["content-type"].startswith("text/plain")
    assert bare.get(f"{origin}/page/page.html").status_code == 404
    assert bare.get(f"{origin}/page/..%2fdata%2fvoices.json").status_code == 404


@pytest.mark.parametrize("path", PAGE_FILES)
def test_the_page_runs_nothing_but_its_own_files_and_is_in_nobodys_frame(
    path: str, sandbox: Client, bare: httpx.Client
) -> None:
    answer = bare.get(f"{sandbox.running.origin}{path}", headers=HTML)
    assert answer.status_code == 200 and sandbox.running.api_key not in answer.text
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not re.search(
        r"<script>|\son\w+=|\sstyle=|innerHTML|insertAdjacent|document\.write|eval\(|https?://", answer.text
    )


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
def tab(chromium: str) -> Iterator[Tab]:
    with browsing(chromium) as opened:
        yield opened


def signed_in(tab: Tab, sandbox: Client) -> None:
    tab.open(f"{sandbox.running.origin}/")
    tab.type_into("key", sandbox.running.api_key)
    tab.press("Enter")
    tab.shows("!document.getElementById('connected').hidden")


def text_of(element_id: str) -> str:
    return f"document.getElementById('{element_id}').textContent"


@in_chromium
def test_requests_appear_as_they_arrive_and_are_text_whatever_they_hold(sandbox: Client, tab: Tab) -> None:
    signed_in(tab, sandbox)
    hostile = "<img src=x onerror=document.title='taken'>"
    sandbox.control("/answers", {"answer": {"text": hostile}, "name": hostile}, method="POST")
    sandbox.chat(hostile, model=hostile)
    sandbox.get("/models/<script>document.title='taken'</script>")
    tab.shows("document.querySelectorAll('#log tr').length === 2")
    rows = tab.value("[...document.querySelectorAll('#log tr')].map((row) => [...row.cells].map((c) => c.textContent))")
    assert rows[0][1].startswith("GET /api/v1/models/%3Cscript%3E") and rows[0][2] == "404"
    assert rows[1][1:3] == ["POST /api/v1/chat/completions", "200"]
    assert rows[1][4] == rows[1][6] == hostile
    tab.value("document.querySelectorAll('#log button')[1].focus()")
    tab.press("Enter")
    tab.shows("document.getElementById('details').open")
    told = tab.value(text_of("details-text"))
    assert json.dumps(hostile, ensure_ascii=False)[1:-1] in told and "Response" in told
    assert sandbox.running.api_key not in told
    tab.press("Escape")
    tab.shows("!document.getElementById('details').open")
    assert tab.value("document.activeElement.textContent") == rows[1][1]
    assert tab.value("document.querySelectorAll('img, script:not([src])').length") == 0
    assert tab.value("document.title") == "Rialto Sandbox"
    sandbox.control("/reset", method="POST")
    tab.shows("document.querySelectorAll('#log tr').length === 0")
    assert tab.problems == []


@in_chromium
def test_the_key_stays_in_the_tab_until_it_is_forgotten(sandbox: Client, tab: Tab) -> None:
    tab.open(f"{sandbox.running.origin}/")
    assert tab.value("document.getElementById('fault-fields').disabled")
    tab.type_into("key", "not-the-key")
    tab.press("Enter")
    tab.shows(f"{text_of('key-error')} === 'The Sandbox does not know this key.'")
    assert tab.value("document.activeElement.id") == "key" and tab.value("sessionStorage.length") == 0
    assert len(tab.problems) == 1 and "401" in tab.problems.pop()
    signed_in(tab, sandbox)
    key = sandbox.running.api_key
    in_page = (
        "document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((i) => i.value) + location"
    )
    assert key not in tab.value(in_page)
    assert tab.value("JSON.stringify(localStorage) + document.cookie") == "{}"
    assert tab.value("document.activeElement.id") == "forget"
    tab.reload()
    tab.shows("!document.getElementById('connected').hidden")
    assert key not in tab.value(in_page)
    tab.go_to("forget")
    tab.press("Enter")
    tab.shows("!document.getElementById('sign-in').hidden && document.activeElement.id === 'key'")
    assert tab.value("sessionStorage.length") == 0 and tab.value("document.getElementById('fault-fields').disabled")
    assert tab.problems == []


@in_chromium
def test_a_failure_is_turned_on_and_off_by_keyboard(sandbox: Client, tab: Tab) -> None:
    signed_in(tab, sandbox)
    assert tab.value("[...document.getElementById('fault-name').options].map((one) => one.value)") == list(NAMES)
    tab.go_to("fault-name")
    assert not tab.value("document.getElementById('fault-seconds').closest('.field').hidden")
    tab.press("ArrowDown")
    tab.shows("document.getElementById('fault-name').value === 'answer'")
    assert tab.value("document.getElementById('fault-seconds').closest('.field').hidden")
    tab.type_into("fault-status", "99")
    tab.press("Enter")
    tab.shows(f"{text_of('fault-status-error')} !== ''")
    assert tab.value("document.activeElement.id") == "fault-status"
    assert tab.value("document.activeElement.getAttribute('aria-invalid')") == "true"
    tab.value("document.activeElement.select()")
    tab.send("Input.insertText", text="503")
    tab.type_into("fault-times", "2")
    tab.press("Enter")
    tab.shows("document.querySelectorAll('#faults button').length === 1")
    assert tab.value(text_of("fault-status-error")) == ""
    assert sandbox.get("/models").status_code == 503
    tab.go_to("fault-own")
    tab.press(" ")
    tab.press("Tab")
    tab.press("Enter")
    tab.shows("document.querySelectorAll('#faults button').length === 2")
    assert "only for this API key" in tab.value(text_of("faults"))
    assert sandbox.control("/faults?scope=key", method="GET")["armed"]["answer"]["status"] == 503
    tab.go_to("faults-off")
    tab.press("Enter")
    tab.shows(f"{text_of('faults')} === 'None'")
    assert sandbox.get("/models").status_code == 200
    assert [problem for problem in tab.problems if "400" not in problem] == []


@in_chromium
def test_answers_are_scripted_by_keyboard(sandbox: Client, tab: Tab) -> None:
    signed_in(tab, sandbox)
    tab.type_into("answer-words", "weather Oslo")
    tab.type_into("answer-times", "1")
    tab.type_into("answer-text", "Rain.")
    tab.press("Tab")
    tab.press("Enter")
    tab.shows("document.querySelectorAll('#scripted button').length === 1")
    assert sandbox.said("What weather in Oslo?") == "Rain."
    tab.shows(f"""{text_of("scripted")}.includes('"used":1')""")
    for name, text in (("answer-words", ""), ("answer-times", ""), ("answer-path", "/api/v1/models")):
        tab.value(f"document.getElementById('{name}').value = {text!r}")
    tab.value("document.getElementById('answer-kind').focus()")
    tab.press("ArrowDown")
    tab.type_into("answer-status", "418")
    tab.type_into("answer-body", '{"short": true}')
    tab.press("Tab")
    tab.press("Enter")
    tab.shows("document.querySelectorAll('#scripted button').length === 2")
    answer = sandbox.get("/models")
    assert (answer.status_code, answer.json()) == (418, {"short": True})
    tab.value("document.getElementById('answer-kind').focus()")
    tab.press("ArrowDown")
    tab.type_into("answer-json", "{")
    tab.press("Tab")
    tab.press("Enter")
    tab.shows(f"{text_of('answer-json-error')} === 'Enter valid JSON.'")
    tab.value("document.activeElement.select()")
    tab.send("Input.insertText", text='{"temper": 1}')
    tab.press("Tab")
    tab.press("Enter")
    tab.shows(f"!['', 'Enter valid JSON.'].includes({text_of('answer-json-error')})")
    tab.value("document.querySelector('#scripted button').focus()")
    tab.press("Enter")
    tab.shows("document.querySelectorAll('#scripted button').length === 1")
    assert [one["name"] for one in sandbox.control("/answers", method="GET")["answers"]] == ["answer-2"]
    tab.go_to("answers-off")
    tab.press("Enter")
    tab.shows(f"{text_of('scripted')} === 'None'")
    assert [problem for problem in tab.problems if "400" not in problem and "418" not in problem] == []


@in_chromium
def test_what_is_served_is_what_the_routes_are_and_its_pieces_run(sandbox: Client, tab: Tab) -> None:
    tab.open(f"{sandbox.running.origin}/")
    operations = {(method, "/" + "/".join(route.path)) for route in ROUTES for method in route.methods}
    tab.shows(f"document.querySelectorAll('#routes tr').length === {len(operations)}")
    shown = tab.value(
        "[...document.querySelectorAll('#routes tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    )
    assert {(method, path) for method, path, *_ in shown} == operations
    (chat,) = (row for row in shown if row[1] == "/api/v1/chat/completions")
    assert chat[2] == "API key or wallet" and chat[3].startswith("model*, messages*, ")
    tab.type_into("served-filter", "embeddings")
    tab.shows("[...document.querySelectorAll('#routes tr')].filter((row) => !row.hidden).length === 1")
    tab.value("document.querySelector('#pieces button').focus()")
    tab.press("Enter")
    tab.shows("/ Copied|Ctrl/.test(document.querySelector('#pieces [role=status]').textContent)")
    names = tab.value("[...document.querySelectorAll('#pieces h3')].map((one) => one.textContent)")
    codes = tab.value("[...document.querySelectorAll('#pieces pre')].map((one) => one.textContent)")
    pieces = dict(zip(names, codes, strict=True))
    commands = {
        "curl": ["sh", "-c"] if shutil.which("curl") else [],
        "Python": [sys.executable, "-c"],
        "JavaScript": [shutil.which("node") or "", "--input-type=module", "-e"] if shutil.which("node") else [],
    }
    assert set(pieces) == set(commands)
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environ["SANDBOX_KEY"] = sandbox.running.api_key
    for name, command in commands.items():
        if command:
            done = subprocess.run([*command, pieces[name]], env=environ, capture_output=True, text=True)
            assert done.returncode == 0 and "Rialto" in done.stdout, (name, done.stderr)
    assert tab.problems == []


@in_chromium
def test_everything_has_a_name_and_its_colors_follow_the_system(sandbox: Client, tab: Tab) -> None:
    signed_in(tab, sandbox)
    sandbox.fault("slow", seconds=0)
    sandbox.chat()
    tab.shows("document.querySelectorAll('#faults button, #log button').length === 2")
    nodes = tab.send("Accessibility.getFullAXTree")["nodes"]
    asked = ("textbox", "searchbox", "combobox", "button", "checkbox", "link", "table", "region")
    found = [node for node in nodes if not node["ignored"] and node["role"]["value"] in asked]
    assert len(found) > 30
    assert [node["role"]["value"] for node in found if not node.get("name", {}).get("value")] == []
    colors = {}
    for scheme in ("light", "dark"):
        tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colors[scheme] = tab.value(
            "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
    assert colors == {
        "light": ["rgb(27, 31, 33)", "rgb(252, 251, 249)"],
        "dark": ["rgb(232, 234, 232)", "rgb(20, 23, 26)"],
    }
    tab.send("Emulation.setDeviceMetricsOverride", width=360, height=800, deviceScaleFactor=1, mobile=False)
    assert tab.value("document.documentElement.scrollWidth") <= 360
    assert tab.problems == []
