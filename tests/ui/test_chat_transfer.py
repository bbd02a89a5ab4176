"""Chats on their way into files and back: nothing in a page fetches or runs, JSON comes back identical."""

from __future__ import annotations

import json
import re
from pathlib import Path

from app.storage.chat_file import chat_to_json
from app.storage.chat_rows import Chat
from app.ui.chat.composer.attachment import Attachment
from app.ui.chat.session.export import HTML, JSON, MARKDOWN, ExportForm, name_of
from tests.kit.chat import ChatPresenterHarness, open_chat_presenter, whole

HOSTILE = """Look: <script>alert(1)</script> <img src=x onerror=alert(1)> ![pixel](https://evil.example/p.png)
[a](javascript:alert(1)) [b](data:text/html,x) [c](https://ok.example/"onmouseover="x) [REF]0[/REF]

```html
</code></pre><script>alert(2)</script>
"""


async def hostile_chat(harness: ChatPresenterHarness) -> Chat:
    chat = await harness.history.create_chat(title='</title><script>"x"</script>')
    question = await harness.history.add_message(chat.id, "user", "<b>bold?</b>\nsecond line")
    await harness.history.add_message(
        chat.id,
        "assistant",
        HOSTILE,
        parent_id=question.id,
        reasoning="Hm <script>",
        sources=[{"title": "]<script>", "url": "javascript:alert(1)"}, {"title": "T", "url": "https://t.example/>x"}],
    )
    return await harness.history.chat(chat.id)


async def saved(harness: ChatPresenterHarness, chat: Chat, path: Path, form: ExportForm) -> str:
    harness.presenter.transfers.export(chat.id, path, form)
    await harness.tasks.idle()
    assert harness.told["notice"][-1][0] == f"Saved as {path.name}"
    return path.read_text(encoding="utf-8")


async def test_a_page_holds_all_it_needs_and_nothing_in_it_runs_or_fetches(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await hostile_chat(harness)
        page = await saved(harness, chat, tmp_home / "c.html", ExportForm(HTML, thoughts=True))
        assert "<script" not in page
        assert not re.search(r"<(img|iframe|link|object|video|audio|base|form)\b", page)
        assert not re.search(r"<[^>]+\son\w+=", page)
        assert 'href="javascript:' not in page and 'href="data:' not in page
        assert "default-src 'none'" in page
        assert 'rel="noreferrer nofollow"' in page
        assert "&lt;b&gt;bold?&lt;/b&gt;<br>second line" in page
        assert '<a href="#s2-1">[1]</a>' in page
        assert "Reasoning" in page


async def test_markdown_keeps_the_words_and_closes_a_fence_that_was_cut(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await hostile_chat(harness)
        text = await saved(harness, chat, tmp_home / "c.md", ExportForm(MARKDOWN))
        assert "## You\n\n<b>bold?</b>\nsecond line" in text
        assert "Hm <script>" not in text
        assert text.count("```") == 2
        assert "2. [T](<https://t.example/%3Ex>)" in text
        assert "[1]" in text and "[REF]" not in text
        assert "javascript:" not in text.partition("Sources:")[2].partition("2. ")[0]


async def test_only_the_branch_on_screen_is_read_out_and_json_holds_all(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.fake.answers = [whole("First answer"), whole("Second answer")]
        await harness.say("A question")
        harness.presenter.message_actions.retry_last()
        await harness.tasks.idle()
        chat_id = harness.presenter.opened.chat_id or ""
        chat = await harness.history.chat(chat_id)
        text = await saved(harness, chat, tmp_home / "c.md", ExportForm(MARKDOWN, receipts=True))
        assert "Second answer" in text and "First answer" not in text
        assert "in 812" in text
        body = json.loads(await saved(harness, chat, tmp_home / "c.json", ExportForm(JSON)))
        assert len(body["messages"]) == 3


async def test_json_taken_back_after_a_deletion_is_identical(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.fake.answers = [whole("First"), whole("Second")]
        await harness.say("A question")
        harness.presenter.message_actions.retry_last()
        await harness.tasks.idle()
        chat_id = harness.presenter.opened.chat_id or ""
        before = json.loads(
            await saved(harness, await harness.history.chat(chat_id), tmp_home / "c.json", ExportForm(JSON))
        )
        harness.presenter.move_to_trash((chat_id,))
        await harness.tasks.idle()
        harness.presenter.trash.empty()
        await harness.tasks.idle()
        harness.presenter.transfers.import_files((tmp_home / "c.json",))
        await harness.tasks.idle()
        assert harness.told["notice"][-1] == ("1 chat imported",)
        opened = harness.presenter.opened.chat_id or ""
        chat, messages = await harness.history.chat(opened), await harness.history.messages(opened)
        assert json.loads(json.dumps(chat_to_json(chat, messages))) == before
        assert [row.text for row in harness.rows] == ["A question", "Second"]


async def test_a_file_cannot_claim_that_a_receipt_matches(tmp_home: Path) -> None:
    turns = [
        {"role": "user", "content": "A question"},
        {"role": "assistant", "content": "Half an", "state": "stopped", "usage": {"seal": "bound"}},
    ]
    (tmp_home / "c.json").write_text(json.dumps({"format": "rialto-chat", "version": 1, "messages": turns}))
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.transfers.import_files((tmp_home / "c.json",))
        await harness.tasks.idle()
        assert "Imported, seal not checked" in (words := [run.text for run in harness.rows[-1].receipt])
        assert "Sealed" not in words and "receipt matches" not in words
        harness.presenter.message_actions.continue_last()
        await harness.tasks.idle()
        assert harness.rows[-1].state == "stopped", "it was sealed: only a model that can be sealed continues it"


async def attached_chat(harness: ChatPresenterHarness, *contents: bytes) -> Chat:
    chat = await harness.history.create_chat(title="With things")
    await harness.history.add_message(
        chat.id,
        "user",
        "Look",
        attachments=[
            Attachment("text", f"<n>{number}.txt", "text/plain", len(data), harness.history.files.keep(data)).to_dict()
            for number, data in enumerate(contents)
        ],
    )
    return await harness.history.chat(chat.id)


async def test_json_carries_what_was_attached_to_another_computer(tmp_home: Path, tmp_path: Path) -> None:
    """The same bytes twice, none at all and some that base64 has to pad; the file made from the copy is the same."""
    contents = (b"twice", b"twice", b"", bytes(range(256)) * 5000)
    async with open_chat_presenter(tmp_home) as harness:
        first = await saved(harness, await attached_chat(harness, *contents), tmp_path / "c.json", ExportForm(JSON))
    async with open_chat_presenter(tmp_path / "another") as other:
        other.presenter.transfers.import_files((tmp_path / "c.json",))
        await other.tasks.idle()
        chat_id = other.presenter.opened.chat_id or ""
        message = (await other.history.messages(chat_id))[0]
        assert [other.history.files.read(each["sha256"]) for each in message.attachments] == list(contents)
        again = await saved(other, await other.history.chat(chat_id), tmp_path / "d.json", ExportForm(JSON))
    assert again == first
    assert len(json.loads(first)["files"]) == 3


async def test_bytes_that_are_not_what_they_are_called_stay_behind(tmp_home: Path, tmp_path: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        body = json.loads(
            await saved(harness, await attached_chat(harness, b"one", b"two"), tmp_path / "c.json", ExportForm(JSON))
        )
    names = list(body["files"])
    body["files"] = {names[0]: "AAAA", names[1]: "not base64!", "../../evil": "AAAA"}
    (tmp_path / "c.json").write_text(json.dumps(body), encoding="utf-8")
    async with open_chat_presenter(tmp_path / "another") as other:
        reports: list[tuple[str, tuple[str, ...]]] = []
        other.presenter.reported.connect(lambda title, lines: reports.append((title, lines)))
        other.presenter.transfers.import_files((tmp_path / "c.json",))
        await other.tasks.idle()
        assert reports[0][1][-1] == "Left out (3): damaged attachments."
        assert not other.history.files.folder.exists()


async def test_what_is_gone_from_the_disk_is_said_when_it_is_saved(tmp_home: Path, tmp_path: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await attached_chat(harness, b"one")
        for file in harness.history.files.folder.iterdir():
            file.unlink()
        harness.presenter.transfers.export(chat.id, tmp_path / "c.json", ExportForm(JSON))
        await harness.tasks.idle()
        said = harness.told["notice"][-1][0]
        assert said == "Saved as c.json, without 1 attachment no longer on this computer"
        assert "files" not in json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))


async def test_what_was_attached_is_named_in_text_and_page(tmp_home: Path, tmp_path: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await attached_chat(harness, b"one")
        text = await saved(harness, chat, tmp_path / "c.md", ExportForm(MARKDOWN))
        assert "*Attached: <n>0.txt (3 bytes)*" in text
        page = await saved(harness, chat, tmp_path / "c.html", ExportForm(HTML))
        assert "Attached: &lt;n&gt;0.txt (3 bytes)" in page and "<n>" not in page


async def test_the_report_says_what_was_not_taken(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        turns = [{"role": "system", "content": "s"}, {"role": "user", "content": "Q"}]
        (tmp_home / "a.json").write_text(json.dumps({"messages": turns}), encoding="utf-8")
        (tmp_home / "b.json").write_text("nothing", encoding="utf-8")
        reports: list[tuple[str, tuple[str, ...]]] = []
        harness.presenter.reported.connect(lambda title, lines: reports.append((title, lines)))
        harness.presenter.transfers.import_files((tmp_home / "a.json", tmp_home / "b.json", tmp_home / "c.json"))
        await harness.tasks.idle()
        title, lines = reports[0]
        assert title == "1 chat imported"
        assert lines[0] == "a.json, from a list of messages: 1 chat, 1 message."
        assert "b.json contains no chat" in lines[1]
        assert "c.json could not be read" in lines[2]
        assert lines[3] == "Left out (1): hidden messages, such as system prompts."


async def test_a_file_that_cannot_be_written_is_named(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await hostile_chat(harness)
        harness.presenter.transfers.export(chat.id, tmp_home / "no folder" / "c.md", ExportForm())
        await harness.tasks.idle()
        assert "c.md could not be saved" in harness.told["notice"][-1][0]


async def test_several_chats_are_saved_beside_what_is_in_the_folder(tmp_home: Path, tmp_path: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        ids = []
        for _ in range(2):
            harness.presenter.new_chat()
            await harness.say("Same words")
            ids.append(harness.presenter.opened.chat_id or "")
        folder = tmp_path / "exports"
        folder.mkdir()
        (folder / "Same words.md").write_text("mine", encoding="utf-8")
        harness.presenter.transfers.export_all(ids, folder, ExportForm(MARKDOWN))
        await harness.tasks.idle()
        assert harness.told["notice"][-1] == ("2 chats saved in exports",)
        names = sorted(each.name for each in folder.iterdir())
        assert names == ["Same words (2).md", "Same words (3).md", "Same words.md"]
        assert (folder / "Same words.md").read_text(encoding="utf-8") == "mine"


async def test_chats_that_are_taken_whole_need_no_dialog(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        (tmp_home / "a.json").write_text(json.dumps({"messages": [{"role": "user", "content": "Q"}]}), encoding="utf-8")
        reports: list[str] = []
        harness.presenter.reported.connect(lambda title, lines: reports.append(title))
        harness.presenter.transfers.import_files((tmp_home / "a.json",))
        await harness.tasks.idle()
        assert not reports
        assert harness.told["notice"][-1][0] == "1 chat imported"


def test_file_names_fit_every_system() -> None:
    assert name_of('a/b: "c"?', MARKDOWN) == "a b c.md"
    assert name_of("...", HTML) == "Chat.html"
    assert len(name_of("x" * 500, JSON)) == 200
