"""Passages embedded when the person says so: priced before, paid once, on the disk batch by batch, and found by."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
from array import array
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QScrollArea

from app.credentials.accounts import Account
from app.documents.vectors import about, keep
from app.documents.watcher import Progress
from app.sandbox.server import RunningSandbox
from app.service.errors import RateLimited, SpendingLimit
from app.service.models import Model
from app.storage.paid_call_intents import Intents
from app.ui.chat.documents_dialog import DocumentsDialog
from app.ui.chat.session import document_embeddings
from app.ui.chat.session.document_embeddings import KIND, MOST_TEXTS, _next_batch, _rank
from app.ui.kit.theme import Theme
from tests.kit.chat import SandboxChatPresenterHarness, open_sandbox_chat, open_sandbox_chat_presenter
from tests.kit.portable import KILL
from tests.kit.sandbox import controls_of
from tests.kit.waiting import until
from tests.ui.killed_embedding import followed

PASSAGES = 2 * MOST_TEXTS + 6
PATH = "/embeddings"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(PASSAGES):
        (folder / f"{number:03}.md").write_text(f"# Part {number}\nWhat is said about number {number}.")
    return folder


async def paid_texts(tab: SandboxChatPresenterHarness) -> list[int]:
    """How many passages each answered call brought, oldest first."""
    calls = await Intents(tab.database).recent(KIND)
    return [len(call.request.get("passages", "?")) for call in reversed(calls) if call.state == "answered"]


async def read(tab: SandboxChatPresenterHarness, project: str, files: int) -> None:
    """Wait until so many files were read."""
    while (await tab.presenter.documents.overview(project)).files != files:
        await asyncio.sleep(0.01)


async def balance(tab: SandboxChatPresenterHarness) -> Decimal:
    """What the account can still spend."""
    service = tab.presenter.current_account.service
    assert service is not None
    told = (await service.account.rate_limits()).balances
    return sum((each for each in (told.usd, told.diem, told.bundled) if each is not None), Decimal(0))


async def test_everything_is_embedded_once_for_no_more_than_was_said(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path
) -> None:
    """R-EMB-01, R-EMB-04, R-EMB-07."""
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            project = await followed(tab, folder)
            embeddings = tab.presenter.documents.embeddings
            model = (await embeddings.models())[0]
            offer = await embeddings.offer(project, model)
            assert (offer.passages, offer.maybe_paid) == (PASSAGES, 0)
            assert await controls_of(swift_sandbox).paid(PATH) == 0
            assert await tab.presenter.documents.find(project, "number 7") != ((), "")
            assert await controls_of(swift_sandbox).paid(PATH) == 0  # nothing was asked for yet
            before = await balance(tab)
            embeddings.embed(project, model)
            await tab.tasks.idle()
            state = embeddings.state(project)
            assert state.about is not None
            assert (state.about.model, state.about.count, state.note) == (model.id, PASSAGES, "")
            assert await paid_texts(tab) == [MOST_TEXTS, MOST_TEXTS, 6]
            assert offer.price is not None
            assert Decimal(0) < before - await balance(tab) <= offer.price
            assert (await embeddings.offer(project, model)).passages == 0
            (folder / "new.md").write_text("# New\nSomething new.")
            await read(tab, project, PASSAGES + 1)
            assert (await embeddings.offer(project, model)).passages == 1
            embeddings.embed(project, model)
            await tab.tasks.idle()
            assert (await paid_texts(tab))[-1] == 1
        finally:
            tab.presenter.documents.close()


async def test_the_window_says_the_price_and_starts_when_its_button_is_pressed(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path
) -> None:
    """R-EMB-07."""
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as shown:
        documents = shown.presenter.documents
        try:
            project = await followed(shown, folder)
            shown.page.controller.open_documents(project)
            await until(lambda: any(isinstance(each, DocumentsDialog) for each in QApplication.topLevelWidgets()))
            dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, DocumentsDialog))
            pane = dialog.embeddings
            assert pane.start.text().startswith("Embed"), "named before its price is known"
            await until(lambda: pane.start.text().startswith("Embed for $"))
            assert pane.choice.currentText().startswith("Qwen 3 0.6B, private")
            assert f"{PASSAGES} passages to embed" in pane.price.text()
            assert "question costs up to $" in pane.price.text()
            await until(lambda: dialog.findChild(QScrollArea).verticalScrollBar().maximum() == 0)
            assert await controls_of(swift_sandbox).paid(PATH) == 0
            height = dialog.height()
            pane.start.click()
            await until(lambda: f"{PASSAGES} passages are embedded" in pane.note.text() and pane.start.isHidden())
            await until(lambda: "to embed" not in pane.price.text(), "the price of what is left")
            pane.grown.emit()  # it fits its window again
            assert dialog.height() == height, "the buttons below stay under the pointer"
            pane.switch.click()
            await until(lambda: "by words only" in pane.note.text() and pane.switch.text() == "Turn on")
            pane.choice.setCurrentIndex(1)
            pane.choice.activated.emit(1)
            await until(lambda: "deletes the other model’s embeddings" in pane.price.text())
            pane.delete.click()
            await until(lambda: pane.delete.isHidden() and f"{PASSAGES} passages to embed" in pane.price.text())
            dialog.reject()
            await shown.settle()
        finally:
            documents.close()


async def test_a_question_is_embedded_once_and_only_while_that_is_wanted(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            documents = tab.presenter.documents
            project = await followed(tab, folder)
            documents.embeddings.embed(project, (await documents.embeddings.models())[0])
            await tab.tasks.idle()
            before = await controls_of(swift_sandbox).paid(PATH)
            tab.presenter.new_chat(project_id=project)
            tab.presenter.set_draft("number 7")
            await tab.tasks.idle()
            assert "finding passages" in tab.presenter.opened.cost().detail
            tab.presenter.set_option("documents", False)
            assert "finding passages" not in tab.presenter.opened.cost().detail

            async def asked(question: str, **how: bool) -> int:
                found, why = await documents.find(project, question, **how)
                assert found
                assert not why
                return await controls_of(swift_sandbox).paid(PATH) - before

            assert await asked("number 7", words_alone=True) == 0
            assert await asked("number 7") == 1
            assert await asked("number 7") == 1
            documents.embeddings.switch(project, on=False)
            await tab.tasks.idle()
            assert await asked("number 8") == 1
            documents.embeddings.switch(project, on=True)
            await tab.tasks.idle()
            assert await asked("number 8") == 2
            await tab.fault("drop", path=PATH)
            found, why = await documents.find(project, "number 9")
            assert found
            assert "by words only" in why
        finally:
            documents.close()


async def test_a_limit_halves_the_batch_and_waits(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            project = await followed(tab, folder)
            embeddings, service = tab.presenter.documents.embeddings, tab.presenter.current_account.service
            assert service is not None
            sent, notes = [], []
            really = service.embeddings.embed

            async def embed(texts: tuple[str, ...], model: str, **how: object) -> object:
                sent.append(len(texts))
                if len(sent) == 1:
                    raise RateLimited("", status=429, retry_after_s=0.01)
                return await really(texts, model, **how)  # type: ignore[arg-type]  # passed on

            monkeypatch.setattr(service.embeddings, "embed", embed)
            embeddings.changed.connect(lambda _: notes.append(embeddings.state(project).note))
            embeddings.embed(project, (await embeddings.models())[0])
            await tab.tasks.idle()
            assert sent[:3] == [MOST_TEXTS, MOST_TEXTS // 2, MOST_TEXTS // 2]
            assert sum(sent[1:]) == PASSAGES
            assert any("Limit reached" in note for note in notes)
        finally:
            tab.presenter.documents.close()


async def test_past_a_limit_on_spending_nothing_is_sent(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            project = await followed(tab, folder)
            embeddings, service = tab.presenter.documents.embeddings, tab.presenter.current_account.service
            assert service is not None

            async def refuse(*_: object, **_how: object) -> None:
                raise SpendingLimit("Your project limit of $0.01 is reached.", rule="Your project limit is reached")

            monkeypatch.setattr(service.embeddings, "embed", refuse)
            embeddings.embed(project, (await embeddings.models())[0])
            await tab.tasks.idle()
            assert "limit" in embeddings.state(project).note
            assert await controls_of(swift_sandbox).paid(PATH) == 0
            assert [call.state for call in await Intents(tab.database).recent(KIND)] == ["failed"]
        finally:
            tab.presenter.documents.close()


async def test_killed_while_it_embeds_nothing_is_lost_and_nothing_paid_twice(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_embedding"),
        *(str(tmp_home), swift_sandbox.base_url, swift_sandbox.api_key, str(folder)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(300):
        project = (await process.stdout.readline()).decode().strip()
    os.kill(process.pid, KILL)
    await process.wait()
    await controls_of(swift_sandbox).reset_faults()
    granted = await controls_of(swift_sandbox).paid(PATH)
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            await Intents(tab.database).settle_after_start()  # as the program does before anything else
            documents, embeddings = tab.presenter.documents, tab.presenter.documents.embeddings
            state = await embeddings.read(project)
            assert state.about is not None
            assert state.about.count == 2 * MOST_TEXTS  # nothing lost
            documents.follow(project)
            await until(lambda: documents.progress(project).state == "idle")
            await tab.tasks.idle()
            assert await controls_of(swift_sandbox).paid(PATH) == granted  # nothing goes on by itself
            model = (await embeddings.models())[0]
            offer = await embeddings.offer(project, model)
            assert (offer.passages, offer.maybe_paid) == (6, 6)  # said, before anybody agrees to it
            embeddings.embed(project, model)
            await tab.tasks.idle()
            assert await paid_texts(tab) == [MOST_TEXTS, MOST_TEXTS, 6]
            assert (await embeddings.offer(project, model)).maybe_paid == 0
            assert await Intents(tab.database).pending(KIND) == ()
        finally:
            documents.close()


async def test_removed_files_take_their_embeddings_along(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\nSomething else.")
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            documents = tab.presenter.documents
            project = await followed(tab, other)
            documents.add(project, [folder])
            await read(tab, project, PASSAGES + 1)
            documents.embeddings.embed(project, (await documents.embeddings.models())[0])
            await tab.tasks.idle()
            (path,) = tmp_home.rglob("vectors.db")
            known = about(path)
            assert known is not None
            keep(path, known.served, [(b"imported by hash", array("f", [1.0] * known.dimensions))])
            seen = documents.progress

            def seen_late(project_id: str) -> Progress:
                """What a busy window sees: looking through a few files is over before it comes to it."""
                while (now := seen(project_id)).state == "looking":
                    time.sleep(0.001)
                return now

            monkeypatch.setattr(documents, "progress", seen_late)
            documents.remove(project, str(folder))
            while (known := (await documents.embeddings.read(project)).about) is not None and known.count > 2:
                await asyncio.sleep(0.01)
            await tab.tasks.idle()
            known = about(path)
            assert known is not None
            assert known.count == 2, "what was imported, and was never read here, stays"
        finally:
            documents.close()


async def test_a_project_that_was_exported_comes_back_with_what_was_paid_for(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, tmp_path: Path
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        documents, projects = tab.presenter.documents, tab.presenter.projects
        try:
            project = await followed(tab, folder)
            chosen = (await documents.embeddings.models())[0]
            documents.embeddings.embed(project, chosen)
            await tab.tasks.idle()
            files = tmp_path / "one.json", tmp_path / "two.json"
            tab.presenter.transfers.export_project(project, files[0])
            await tab.tasks.idle()
            tab.presenter.transfers.import_files((files[0],))
            await tab.tasks.idle()
            (copy,) = {each.id for each in projects.all} - {project}
            documents.add(copy, [folder])
            await read(tab, copy, PASSAGES)
            state = await documents.embeddings.read(copy)
            assert state.about is not None
            assert not state.about.is_on, "no question is embedded unasked"
            assert (await documents.embeddings.offer(copy, chosen)).passages == 0
            tab.presenter.transfers.export_project(copy, files[1])
            await tab.tasks.idle()
            first, second = (json.loads(file.read_text())["embeddings"] for file in files)
            assert first == second
        finally:
            documents.close()


async def test_an_exported_file_does_not_tell_the_address_of_a_service(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        try:
            project = await followed(tab, folder)
            monkeypatch.setattr(Account, "is_sandbox", False)
            embeddings = tab.presenter.documents.embeddings
            embeddings.embed(project, (await embeddings.models())[0])
            await tab.tasks.idle()
            tab.presenter.transfers.export_project(project, tmp_path / "one.json")
            await tab.tasks.idle()
            assert "127.0.0.1" in swift_sandbox.base_url
            assert "127.0.0.1" not in (tmp_path / "one.json").read_text()
            tab.presenter.transfers.import_files((tmp_path / "one.json",))
            await tab.tasks.idle()
            (copy,) = {each.id for each in tab.presenter.projects.all} - {project}
            state = await embeddings.read(copy)
            assert state.about is not None
            assert (state.about.count, state.fits) == (PASSAGES, True)
        finally:
            tab.presenter.documents.close()


@pytest.mark.parametrize("damage", [{"hashes": "AA"}, None])
async def test_an_import_says_that_damaged_embeddings_were_left_out(
    tmp_home: Path, swift_sandbox: RunningSandbox, folder: Path, tmp_path: Path, damage: dict[str, str] | None
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        documents = tab.presenter.documents
        try:
            project = await followed(tab, folder)
            documents.embeddings.embed(project, (await documents.embeddings.models())[0])
            await tab.tasks.idle()
            file = tmp_path / "one.json"
            tab.presenter.transfers.export_project(project, file)
            await tab.tasks.idle()
            body = json.loads(file.read_text())
            body["embeddings"] = {**body["embeddings"], **damage} if damage else "nothing like it"
            file.write_text(json.dumps(body))
            reports: list[tuple[str, ...]] = []
            tab.presenter.reported.connect(lambda _title, lines: reports.append(lines))
            tab.presenter.transfers.import_files((file,))
            await tab.tasks.idle()
            words = "The embeddings of “Papers” are damaged and were left out. You can embed its documents again."
            assert [lines[-1] for lines in reports] == [words]
        finally:
            documents.close()


async def test_a_full_disk_while_importing_is_said_as_it_is(
    tmp_home: Path, swift_sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(document_embeddings, "unpack", full)
    async with open_sandbox_chat_presenter(tmp_home, swift_sandbox) as tab:
        embeddings = tab.presenter.documents.embeddings
        assert await embeddings.take("p", {}), "not damaged"
        await tab.tasks.idle()
        note = embeddings.state("p").note
        assert "could not be changed" in note
        assert "in memory" not in note


def model(name: str, price: str | None, **spec: object) -> Model:
    pricing = {"input": {"usd": price}} if price is not None else {}
    spec = {"privacy": "private", "pricing": pricing, "embeddingDimensions": 1024, **spec}
    return Model.model_validate({"id": name, "type": "embedding", "model_spec": spec})


def test_the_first_model_is_private_of_all_languages_and_cheap() -> None:
    models = [
        model("text-embedding-3-small", "0.001", privacy="anonymized"),
        model("text-embedding-bge-m3", "0.15"),
        model("text-embedding-bge-en-icl", "0.0125"),
        model("text-embedding-qwen3-8b", "0.0125", embeddingDimensions=4096),
        model("text-embedding-multilingual-e5-large-instruct", "0.0125", maxInputTokens=512),
        model("text-embedding-qwen3-0-6b", "0.0125", maxInputTokens=8192),
        model("unpriced", None),
    ]
    names = [each.id for each in sorted(models, key=_rank)]
    assert names[0] == "text-embedding-qwen3-0-6b"
    assert names[-2:] == ["text-embedding-bge-en-icl", "text-embedding-3-small"]


def test_a_batch_has_at_most_200_000_bytes() -> None:
    waiting = [(bytes([number]), 90_000) for number in range(5)]
    sizes = []
    while waiting:
        sizes.append(len(_next_batch(waiting, MOST_TEXTS)))
    assert sizes == [2, 2, 1]
