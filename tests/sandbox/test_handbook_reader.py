"""The default model answers from Rialto's handbook: the right page, true facts, honest about the rest."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from app.sandbox.chat import handbook as handbook_module
from app.sandbox.chat.handbook import Handbook
from app.ui.chat.chat_welcome import EXAMPLES
from tests.sandbox.support import RESOURCES, Client

PAGES = sorted(re.sub(r"^\d+-", "", path.stem) for path in (RESOURCES / "handbook").glob("*.md"))

# question, page that must be cited first, words that must be in the answer
QUESTIONS = [
    ("What is Rialto?", "first-steps", ["desktop program"]),
    ("How do I stop an answer?", "chat", ["Esc"]),
    ("My connection broke in the middle of an answer, is the text lost?", "chat", ["Continue", "Start over"]),
    ("How can I regenerate an answer?", "chat", ["Ctrl+R", "branch"]),
    ("Can I undo deleting a chat?", "chat", ["Ctrl+Z"]),
    ("How do I copy the request as curl?", "chat", ["RIALTO_API_KEY"]),
    ("How do I pick a character?", "characters", ["Ctrl+Shift+P"]),
    ("Why are character pictures not loaded?", "characters", ["Privacy and data"]),
    ("How do I turn on web search?", "web-search", ["Ctrl+Shift+B"]),
    ("Can it read a link in my message?", "web-search", ["five"]),
    ("How do I turn off thinking?", "thinking", ["Ctrl+Shift+T"]),
    ("How do I attach a picture?", "attachments", ["Ctrl+O"]),
    ("Why is my attachment refused?", "attachments", ["25 MB"]),
    ("Can I save a system prompt?", "prompts", ["Prompts…"]),
    ("What does a slash in the box do?", "prompts", ["Esc"]),
    ("How do I set the reasoning effort?", "thinking", ["Effort"]),
    ("How do I switch the model?", "models", ["Ctrl+Shift+M"]),
    ("How can I save money?", "costs", ["new chat"]),
    ("What does cached mean on the receipt?", "costs", ["cache"]),
    ("How do I add an API key?", "accounts", ["Check and connect"]),
    ("Can I use an http address?", "accounts", ["https://"]),
    ("Where is my API key stored?", "secrets", ["Credential Manager", "Secret Service"]),
    ("The keyring is locked, what now?", "secrets", ["Unlock"]),
    ("I forgot my passphrase", "secrets", ["cannot be recovered"]),
    ("What is the Sandbox?", "sandbox", ["stand-in"]),
    ("Which words trigger the Sandbox?", "sandbox-triggers", ["sandbox-refused"]),
    ("How do I use the Sandbox from Python?", "sandbox", ["base_url"]),
    ("Does it work with Ollama?", "local-models", ["11434"]),
    ("Do you send telemetry?", "privacy", ["no telemetry"]),
    ("How do I record with a microphone?", "transcription", ["Ctrl+Shift+R"]),
    ("My file is too large to transcribe", "transcription", ["Split on silence"]),
    ("How do I export subtitles?", "transcription", ["SRT"]),
    ("How do I send a batch to a blockchain node?", "console", ["Ctrl+Shift+M"]),
    ("What is an idempotency key for?", "console", ["24 hours"]),
    ("How do I decode the logs of a contract?", "console", ["F8"]),
    ("How do I speak a long text?", "speech", ["4,096"]),
    ("How do I make a video?", "video", ["Queue for"]),
    ("Does the service keep a copy of my video?", "video", ["Delete copy"]),
    ("Is my video lost when I close Rialto while it renders?", "video", ["next start"]),
    ("How do I choose a voice?", "speech", ["gender"]),
    ("Can I clone my voice?", "speech", ["five seconds"]),
    ("How do I hear an answer read aloud?", "speech", ["Ctrl+Shift+S"]),
    ("Where are my chats kept?", "data", ["~/.local/share/Rialto"]),
    ("How do I make a backup?", "data", ["rialto.db"]),
    ("Can I run two windows at once?", "data", ["brings the running window"]),
    ("What does RIALTO_HOME do?", "data", ["RIALTO_HOME"]),
    ("How do I change a shortcut?", "keyboard", ["refused"]),
    ("How do I switch to dark mode?", "appearance", ["Ctrl+Shift+H"]),
    ("The letters are too small", "appearance", ["200 %"]),
    ("What does error 401 mean?", "errors", ["did not accept your API key"]),
    ("Why do I get a 429?", "errors", ["counts down"]),
    ("Too many failed attempts", "limits", ["30 seconds"]),
    ("How many requests per minute can I make?", "limits", ["1,000,000"]),
    ("How do I run the tests?", "from-source", ["bootstrap.py test"]),
    ("Which Python version do I need?", "from-source", ["3.11"]),
    ("How do I seal a chat?", "sealed-chats", ["encrypted on your computer"]),
    ("What does “Seal refused” mean?", "sealed-chats", ["A check failed"]),
    ("What does a seal not promise?", "sealed-chats", ["which program runs"]),
]


# What the questions of the first screen are answered from.
FIRST_SOURCES = ("When to use the Sandbox", "The system keyring", "When an answer was cut off")


@pytest.fixture(scope="module")
def handbook() -> Iterator[Handbook]:
    with closing(Handbook(RESOURCES / "handbook", "http://127.0.0.1")) as book:
        yield book


@pytest.mark.parametrize(("question", "page", "facts"), QUESTIONS, ids=[question for question, _, _ in QUESTIONS])
def test_a_question_about_rialto_gets_a_true_cited_answer(
    sandbox: Client, question: str, page: str, facts: list[str]
) -> None:
    body = sandbox.chat(question, service_parameters={"enable_web_search": "on", "enable_web_citations": True})
    answer = body["choices"][0]["message"]["content"]
    cited = [int(number) for number in re.findall(r"\[REF\](\d+)\[/REF\]", answer)]
    sources = body["service_parameters"]["web_search_citations"]
    assert cited and all(number < len(sources) for number in cited)
    assert f"/handbook/{page}" in sources[cited[0]]["url"]
    for fact in facts:
        assert fact in answer
    assert "More in the handbook:" in answer.splitlines()[-1]


@pytest.mark.parametrize(
    ("question", "section"),
    list(zip(EXAMPLES, FIRST_SOURCES, strict=True)),
)
def test_the_questions_of_the_first_screen_get_the_section_about_them_and_no_unrelated_source(
    sandbox: Client, question: str, section: str
) -> None:
    body = sandbox.chat(question, service_parameters={"enable_web_search": "on"})
    sources = [each["title"] for each in body["service_parameters"]["web_search_citations"]]
    assert sources[0].endswith(f": {section}")
    assert not any(title.startswith("Connection") for title in sources)


@pytest.mark.parametrize("question", [question for question, _, _ in QUESTIONS[1:]])
def test_without_fts5_questions_still_find_their_page(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handbook_module._FullText, "build", classmethod(lambda cls, sections: None))
    page = next(page for asked, page, _ in QUESTIONS if asked == question)
    with closing(Handbook(RESOURCES / "handbook", "http://127.0.0.1")) as plain:
        assert page in [hit.section.page for hit in plain.find(question, 3)]


@pytest.mark.parametrize(
    "question",
    [
        "Who won the world cup in 1998?",
        "What is the capital of France?",
        "How do I bake bread?",
        "Tell me a joke about elephants",
        "Was ist der Sinn des Lebens?",
    ],
)
def test_what_the_handbook_does_not_hold_is_admitted_with_a_list_of_pages(sandbox: Client, question: str) -> None:
    answer = sandbox.said(question)
    assert "says nothing about that" in answer
    assert "not a language model" in answer
    assert answer.count("\n- **") == len(PAGES)


@pytest.mark.parametrize(
    "question", ["What are you?", "Are you a real AI?", "which model are you?", "Who are you?", "Are you ChatGPT?"]
)
@pytest.mark.parametrize("model", ["rialto-handbook", "rialto-plain"])
def test_it_says_what_it_is(sandbox: Client, question: str, model: str) -> None:
    assert "I am not a language model" in sandbox.said(question, model=model)


def test_a_character_does_not_change_what_it_is(sandbox: Client) -> None:
    answer = sandbox.said("Are you a real AI?", service_parameters={"character_slug": "night-editor"})
    assert answer.startswith("Page one closes") and "I am not a language model" in answer


@pytest.mark.parametrize("greeting", ["Hello", "hi!", "Good morning", "hey there"])
def test_greetings_are_answered_briefly(sandbox: Client, greeting: str) -> None:
    assert len(sandbox.said(greeting)) < 100


def test_thanks_and_help(sandbox: Client) -> None:
    assert len(sandbox.said("Thanks!")) < 100
    assert "- **Keyboard**" in sandbox.said("What can you do?")


@pytest.mark.parametrize(
    ("first", "second", "fact"),
    [
        ("Where are my chats kept?", "And on macOS?", "~/Library/Application Support/Rialto"),
        ("My keyring is locked", "why?", "Unlock"),
        ("How do I turn on web search?", "does it cost anything?", "cost extra"),
        ("Which keyring is used on Linux?", "and Windows?", "Credential Manager"),
    ],
)
def test_a_short_follow_up_keeps_the_topic(sandbox: Client, first: str, second: str, fact: str) -> None:
    turns = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": second},
    ]
    answer = sandbox.said(messages=turns)
    assert fact in answer.split("More in the handbook")[0].split("\n\n**")[0]


def test_a_new_question_leaves_the_old_topic(sandbox: Client) -> None:
    turns = [
        {"role": "user", "content": "Where are my chats kept?"},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": "How do I stop an answer?"},
    ]
    assert sandbox.said(messages=turns).startswith("Press **Esc**")


@pytest.mark.parametrize(("question", "page", "facts"), QUESTIONS)
def test_answers_are_well_formed_markdown(sandbox: Client, question: str, page: str, facts: list[str]) -> None:
    answer = sandbox.said(question)
    assert not answer.startswith(("-", "|", "```", "1."))
    assert answer.count("```") % 2 == 0
    assert "<!--" not in answer and "[REF]" not in answer
    for block in answer.split("\n\n"):
        if block.startswith("|"):
            rows = block.split("\n")
            assert re.fullmatch(r"\|[-|]+\|", rows[1]), block
    assert len(answer) < 3500


def test_every_section_opens_with_a_sentence_and_can_be_found(handbook: Handbook) -> None:
    for section in handbook.sections:
        assert re.match(r"[A-ZÀ-Þ“*]", section.text), f"{section.title} begins with {section.text[:20]!r}"
        pages = [hit.section for hit in handbook.find(section.heading, 5)]
        assert section in pages, section.title


def test_the_handbook_is_served_as_plain_text_without_a_key(sandbox: Client, bare: httpx.Client) -> None:
    index = bare.get(f"{sandbox.running.origin}/handbook").text.splitlines()
    assert len(index) == len(PAGES) and 12 <= len(PAGES) <= 40
    for line in index:
        page = bare.get(line.partition(": ")[2])
        assert page.status_code == 200 and page.headers["content-type"].startswith("text/plain")
        assert page.text.startswith("# ") and "<!--" not in page.text
    assert bare.get(f"{sandbox.running.origin}/handbook/unwritten").status_code == 404


def test_the_handbook_only_describes_what_is_there() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (RESOURCES / "handbook").glob("*.md")).lower()
    for word in ("coming soon", "todo"):
        assert word not in text


def test_a_handbook_of_another_folder_is_read_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "01-one.md").write_text("# One\n\nThe only page.\n\n## Second *part*\n\nAbout lanterns.\n")
    with closing(Handbook(tmp_path, "http://x")) as book:
        (hit,) = book.find("lanterns")
        assert (hit.section.anchor, book.address(hit.section)) == ("second-part", "http://x/handbook/one#second-part")
        assert book.find("submarines") == [] and book.find("the of and") == []
