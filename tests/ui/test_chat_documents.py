"""Documents of a project in the window: followed, read, found, shown before anything is sent, and sent exactly so."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.documents.reading import Kind
from app.documents.search import FoundPassages
from app.storage.attachment_files import AttachmentFiles
from app.ui.chat.document_viewer import DocumentViewer
from app.ui.chat.documents_dialog import DocumentsDialog
from app.ui.chat.project_dialog import ProjectDialog
from app.ui.chat.session.chat_documents import ChatDocuments, place_words
from app.ui.chat.session.requests import CITE_PASSAGES
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from tests.documents import samples
from tests.kit.chat import ChatHarness, open_chat, whole
from tests.kit.waiting import until
from tests.ui.test_chat_projects import made


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.pdf").write_bytes(samples.pdf("Preamble", "The monthly rent is 900 euros."))
    (folder / "notes.md").write_text("# Cats\nThe cat sleeps.")
    (folder / "scan.pdf").write_bytes(samples.pdf(""))
    return folder


async def read(documents: ChatDocuments, project: str) -> None:
    await until(lambda: documents.progress(project).state == "idle")


def said(shown: ChatHarness) -> str:
    """What the last message says, with the text of what is attached."""
    parts = shown.fake.requests[-1]["messages"][-1]["content"]
    files = [part["file"] for part in parts if part["type"] == "file"]
    texts = [base64.b64decode(each["file_data"].partition(",")[2]).decode() for each in files]
    return "\n".join([*(each["filename"] for each in files), *texts])


async def with_papers(shown: ChatHarness, papers: Path) -> str:
    project = await made(shown, "Flat")
    shown.presenter.documents.add(project, [papers])
    await shown.tasks.idle()
    await read(shown.presenter.documents, project)
    shown.page.new_chat(project)
    await shown.settle()
    return project


async def test_passages_are_seen_before_they_are_sent_and_no_more_is_sent(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            shown.presenter.set_draft("How much is the rent?")
            before = len(shown.fake.requests)
            shown.page.controller.find_passages()
            await until(lambda: [view.name for view in shown.presenter.attaching.views()] == ["lease.pdf, page 2"])
            await shown.tasks.idle()
            assert len(shown.fake.requests) == before
            shown.page.controller.find_passages()  # once more adds nothing
            await shown.tasks.idle()
            assert len(shown.presenter.attaching.views()) == 1
            await shown.say("How much is the rent?")
            sent = said(shown)
            assert "The monthly rent is 900 euros." in sent
            assert "lease.pdf, page 2" in sent
            assert "Preamble" not in sent
            assert "cat" not in sent.lower()
        finally:
            shown.presenter.documents.close()


async def test_send_shows_the_passages_first_and_sends_exactly_those(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            assert shown.composer.documents.isChecked()
            assert not shown.composer.documents.isHidden()
            main = shown.page.main
            assert main.welcome.handbook.isHidden(), "no sample project is offered where there are documents"
            await shown.say("Does the cat pay rent?")
            assert not shown.fake.requests
            assert shown.composer_text() == "Does the cat pay rent?"
            chips = shown.presenter.attaching.views()
            assert sorted(view.name for view in chips) == ["lease.pdf, page 2", "notes.md, lines 1 to 2"]
            tokens = shown.presenter.opened.cost().tokens
            assert tokens != ""
            cat = next(view for view in chips if "notes" in view.name)
            shown.presenter.attaching.remove(cat.key)
            await shown.say("?")  # another text: looked up again, and what was taken out stays out
            assert len(shown.fake.requests) == 1
            sent = said(shown)
            assert "The monthly rent is 900 euros." in sent
            assert "The cat sleeps." not in sent
            assert shown.composer_text() == ""
        finally:
            shown.presenter.documents.close()


async def test_comparing_models_shows_the_passages_first_and_sends_them_to_each(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            models = ("plain", "other")
            told: list[object] = []
            shown.presenter.notice.connect(told.append)
            shown.message_box.setPlainText("How much is the rent?")
            for count in (0, 2):
                shown.presenter.find_or_send("How much is the rent?", models)
                await shown.settle()
                await shown.tasks.idle()
                assert len(shown.fake.requests) == count
            assert [str(each).rpartition(", then ")[2] for each in told] == ["compare again."]
            assert {each["model"] for each in shown.fake.requests} == set(models)  # they leave at the same time
            assert "The monthly rent is 900 euros." in said(shown)
        finally:
            shown.presenter.documents.close()


async def test_another_question_has_other_passages(theme: Theme, tmp_home: Path, papers: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            (papers / "own.txt").write_text("What the person attaches.")
            shown.presenter.attaching.add_files([papers / "own.txt"])
            await shown.settle()
            await shown.say("How much is the rent?")
            assert [view.name for view in shown.presenter.attaching.views()] == ["own.txt", "lease.pdf, page 2"]
            shown.message_box.selectAll()
            await shown.say("Where is the cat?")
            names = [view.name for view in shown.presenter.attaching.views()]
            assert names == ["own.txt", "notes.md, lines 1 to 2"]
            assert not shown.fake.requests
            await shown.say("")
            assert len(shown.fake.requests) == 1
            assert "900" not in said(shown)
        finally:
            shown.presenter.documents.close()


async def test_nothing_is_looked_up_where_that_is_off_or_nothing_fits(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            await shown.say("Hello there")  # no passage has these words
            assert len(shown.fake.requests) == 1
            shown.composer.documents.click()
            await shown.settle()
            await shown.say("How much is the rent?")
            assert len(shown.fake.requests) == 2
            assert shown.presenter.opened.options.to_dict() == {"documents": False}
            assert "documents" not in shown.fake.requests[-1]
            shown.page.new_chat()
            await shown.settle()
            assert shown.composer.documents.isHidden()
        finally:
            shown.presenter.documents.close()


async def test_a_private_chat_says_why_it_shows_no_passages(theme: Theme, tmp_home: Path, papers: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            project = await with_papers(shown, papers)
            shown.presenter.new_chat(project_id=project, private=True)
            await shown.settle()
            assert not shown.composer.documents.isEnabled()
            assert shown.composer.documents.accessibleDescription()
            assert not shown.presenter.passages.are_wanted("How much is the rent?")
        finally:
            shown.presenter.documents.close()


async def test_a_passage_that_was_taken_out_is_not_sent(theme: Theme, tmp_home: Path, papers: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            shown.presenter.set_draft("Does the cat pay rent?")
            shown.page.controller.find_passages()
            await until(lambda: len(shown.presenter.attaching.views()) == 2)
            await shown.tasks.idle()
            lease = next(view for view in shown.presenter.attaching.views() if "lease" in view.name)
            shown.presenter.attaching.remove(lease.key)
            await shown.say("Does the cat pay rent?")
            sent = said(shown)
            assert "The cat sleeps." in sent
            assert "900 euros" not in sent
        finally:
            shown.presenter.documents.close()


async def test_the_window_of_documents_adds_pauses_removes_and_says_what_was_left_out(
    theme: Theme, tmp_home: Path, papers: Path, heard: list[str]
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        documents = shown.presenter.documents
        try:
            project = await made(shown, "Flat")
            shown.page.controller.open_documents(project)
            await until(lambda: any(isinstance(each, DocumentsDialog) for each in QApplication.topLevelWidgets()))
            dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, DocumentsDialog))
            assert not dialog.empty.isHidden()
            documents.add(project, [papers])
            await until(lambda: "2 files read, 3 passages" in dialog.progress.text())
            assert [each for each in heard if " read, " in each] == [dialog.progress.text()], "its end is said once"
            assert dialog.empty.isHidden()
            assert "scan.pdf: Its pages are images" in dialog.unread.toPlainText()
            dialog.pause.click()
            await until(lambda: dialog.pause.text() == "Continue reading")
            await until(lambda: documents.progress(project).state == "paused")
            dialog.pause.click()
            await until(lambda: documents.progress(project).state == "idle")
            away = [each for each in dialog.findChildren(QPushButton) if each.text() == "Close"]
            documents.remove(project, str(papers))
            await until(lambda: not dialog.empty.isHidden())
            assert (papers / "notes.md").exists()
            away[0].click()
            await until(lambda: not any(isinstance(each, DocumentsDialog) for each in QApplication.topLevelWidgets()))
        finally:
            documents.close()


async def test_documents_are_there_after_a_start_and_go_with_their_project(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            project = await with_papers(shown, papers)
            again = ChatDocuments(shown.database, AttachmentFiles(tmp_home))
            await again.start(shown.presenter.do, shown.current_account)
            assert again.paths(project) == (str(papers),)
            found, _ = await again.find(project, "rent")
            assert [each.first for each in found] == [2]
            again.close()
            shown.presenter.documents.forget(project)
            assert await shown.presenter.documents.overview(project) == (await again.overview("nobody"))
        finally:
            shown.presenter.documents.close()


async def test_doc_and_a_name_attach_a_whole_document(theme: Theme, tmp_home: Path, papers: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            box, main, attaching = shown.page.box, shown.page.main, shown.presenter.attaching

            async def choose(typed: str, word: str) -> None:
                main.composer.set_text(typed)
                box.complete(typed)
                await until(lambda: [each.word for each in box.completion.entries][:1] == [word])
                QTest.keyClick(main.composer.box, Qt.Key.Key_Return)

            await choose("/doc", "doc")
            assert main.composer.text() == "/doc "
            await until(lambda: len(box.completion.entries) == 2)
            assert "38 characters" in box.completion.entries[1].detail
            await choose("/doc LEASE", "doc lease.pdf")
            await until(lambda: [each.name for each in attaching.views()] == ["lease.pdf, all text"])
            await choose("/doc note", "doc notes.md")
            await until(lambda: [each.name for each in attaching.views()] == ["lease.pdf, all text", "notes.md"])
            await shown.tasks.idle()
            assert not shown.fake.requests or "lease" not in str(shown.fake.requests[-1])
            main.composer.set_text("/doc nothing")
            box.complete("/doc nothing")
            await until(lambda: "No document" in box.completion.entries[0].detail)
            main.composer.set_text("")
            box.complete("")
            await shown.say("What does it say?")
            sent = said(shown)
            assert "Preamble\n" in sent
            assert "The monthly rent is 900 euros." in sent
            assert "# Cats\nThe cat sleeps." in sent
            assert [each.title for each in shown.page.rows()[-1].sources] == ["lease.pdf, all text", "notes.md"]
            shown.page.box.ask_source(shown.page.rows()[-1].id, 1)
            dialog = await viewer(shown)
            assert dialog.note.text() == "The text as read on this computer."
            assert dialog.text.toPlainText() == "# Cats\nThe cat sleeps."
            await closed(shown, dialog)
        finally:
            shown.presenter.documents.close()


async def test_doc_is_no_command_in_a_chat_without_documents(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        box = shown.page.box
        box.complete("/doc")
        assert "doc" not in [each.word for each in box.completion.entries]
        box.complete("/doc ")
        assert "doc" not in [each.word for each in box.completion.entries]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.PDF, "a.x, page 2"),
        (Kind.PPTX, "a.x, slide 2"),
        (Kind.EPUB, "a.x, chapter 2"),
        (Kind.XLSX, "a.x, Sheet, rows 2 to 3"),
        (Kind.ODT, "a.x, paragraphs 2 to 3"),
        (Kind.CODE, "a.x, lines 2 to 3"),
    ],
)
def test_each_kind_counts_its_own_places(kind: Kind, words: str) -> None:
    assert place_words(FoundPassages(1, "/b/a.x", kind, 2, 3, "Sheet", "text")) == words


async def viewer(shown: ChatHarness) -> DocumentViewer:
    """The viewer that opens next."""
    await until(lambda: any(isinstance(each, DocumentViewer) for each in QApplication.topLevelWidgets()))
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, DocumentViewer))


async def closed(shown: ChatHarness, dialog: DocumentViewer) -> None:
    dialog.accept()
    await shown.tasks.idle()


def marked_in(dialog: DocumentViewer) -> str:
    return "".join(each.cursor.selectedText() for each in dialog.text.extraSelections())


async def test_an_answer_cites_its_passages_and_they_open_the_document_at_the_place(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    lines = [f"Line {number}\n\n{'word ' * 200}\n" for number in range(300)]
    (papers / "long.md").write_text("\n".join([*lines[:150], "The <b>zebra</b> is striped.", *lines[150:]]))
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            shown.presenter.set_draft("zebra")
            shown.page.controller.find_passages()
            await until(lambda: len(shown.presenter.attaching.views()) == 1)
            await shown.tasks.idle()
            (chip,) = shown.composer.strip.chips.values()
            QTest.mouseClick(chip, Qt.MouseButton.LeftButton)  # above the composer
            dialog = await viewer(shown)
            assert "<b>zebra</b> is striped." in marked_in(dialog)
            assert dialog.text.toPlainText().count("Line ") > 10
            assert dialog.text.cursorForPosition(dialog.text.viewport().rect().center()).position() > 1_000
            assert dialog.show_folder.isEnabled()
            await closed(shown, dialog)
            shown.fake.answers.append(whole("Striped [1](#passage-1), not dotted [2](#passage-2)."))
            await shown.say("zebra")
            system, asked = shown.fake.requests[-1]["messages"]
            assert (system["role"], system["content"]) == ("system", CITE_PASSAGES)
            assert [part["type"] for part in asked["content"]] == ["text", "file"]
            assert said(shown).startswith("Passages.txt\n## Passage 1: long.md, lines ")
            question, answer = shown.page.rows()
            (source,) = answer.sources
            assert source.title.startswith("long.md, lines ")
            shown.page.box.ask_source(answer.id, 0)  # below the answer
            dialog = await viewer(shown)
            assert "zebra" in marked_in(dialog)
            await closed(shown, dialog)
            (papers / "long.md").write_text("The zebra has left.")
            documents, project = shown.presenter.documents, shown.presenter.opened.project_id
            assert project is not None
            while not any("left" in each.text for each in (await documents.find(project, "zebra"))[0]):
                await until(lambda: documents.progress(project).state == "idle")
            shown.page.box.open_attachment(question.id, 0)  # in the question
            dialog = await viewer(shown)
            assert "has changed since" in dialog.note.text()
            assert "<b>zebra</b> is striped." in dialog.text.toPlainText()
            await closed(shown, dialog)
            documents.close()
            (papers / "long.md").unlink()
            shown.page.box.ask_source(answer.id, 0)
            dialog = await viewer(shown)
            assert "no longer exists" in dialog.note.text()
            assert "<b>zebra</b> is striped." in dialog.text.toPlainText()
            assert not dialog.show_folder.isEnabled()
            await closed(shown, dialog)
        finally:
            shown.presenter.documents.close()


async def test_the_handbook_is_a_project_to_try_documents_on(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        documents, projects = shown.presenter.documents, shown.presenter.projects
        try:
            assert projects.all == (), "made on demand alone"
            shown.welcome.handbook.click()
            await until(lambda: shown.presenter.opened.project_id is not None)
            (project,) = projects.all
            assert project.name == "Rialto’s handbook"
            await until(lambda: documents.progress(project.id).state == "idle")
            found, _ = await documents.find(project.id, "Where does Rialto keep my API key?")
            assert any(Path(each.path).name == "09-secrets.md" for each in found)
            shown.welcome.handbook.click()  # once more makes no other
            await shown.settle()
            assert len(projects.all) == 1
            projects.remove((project.id,))
            await until(lambda: projects.all == ())
            shown.welcome.handbook.click()
            await until(lambda: len(projects.all) == 1)
        finally:
            documents.close()


async def test_a_project_comes_back_with_the_list_of_its_documents_once_that_is_agreed_to(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        documents, projects = shown.presenter.documents, shown.presenter.projects
        said: list[object] = []
        shown.presenter.notice.connect(said.append)
        try:
            project = await with_papers(shown, papers)
            shown.presenter.transfers.export_project(project, tmp_home / "flat.json")
            await shown.settle()
            assert "lists the 1 file or folder it follows, without their contents" in str(said[-1])
            assert "900 euros" not in (tmp_home / "flat.json").read_text()
            for answer in (False, True):
                before = {each.id for each in projects.all}
                shown.presenter.transfers.import_files((tmp_home / "flat.json",))
                await until(lambda: bool(shown.canvas.findChildren(Dialog)))
                (dialog,) = shown.canvas.findChildren(Dialog)
                (copy,) = {each.id for each in projects.all} - before
                assert documents.paths(copy) == ()
                assert str(papers) in " ".join(each.text() for each in dialog.findChildren(Label))
                (dialog.accept if answer else dialog.reject)()
                await shown.tasks.idle()
                assert documents.paths(copy) == ((str(papers),) if answer else ())
        finally:
            documents.close()


async def test_the_page_of_a_project_counts_its_documents_and_opens_them(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    async with open_chat(theme, tmp_home) as shown:
        try:
            project = await with_papers(shown, papers)
            shown.page.controller.edit_project(project)
            await until(lambda: bool(shown.canvas.findChildren(ProjectDialog)))
            (page,) = shown.canvas.findChildren(ProjectDialog)
            words = [each.text() for each in page.findChildren(Label)]
            assert (words[words.index("Documents") + 1]) == "2"
            left = page.documents.parentWidget().layout().contentsMargins().left()
            assert page.documents.geometry().left() == left, "it begins where the footer begins"
            page.documents.click()
            await until(lambda: bool(page.findChildren(DocumentsDialog)))
            page.findChildren(DocumentsDialog)[0].accept()
            await until(lambda: not page.findChildren(DocumentsDialog))
            page.reject()
            await shown.tasks.idle()
        finally:
            shown.presenter.documents.close()


async def test_passages_go_in_one_file_and_leave_room_for_four_more_R_AUG_10_R_EXT_10(
    theme: Theme, tmp_home: Path, papers: Path
) -> None:
    for number in range(5):
        (papers / f"zebra{number}.md").write_text(f"A zebra at https://zoo.example/{number}.")
    own = [papers.parent / f"own{number}.txt" for number in range(4)]
    for file in own:
        file.write_text("mine")
    async with open_chat(theme, tmp_home) as shown:
        try:
            await with_papers(shown, papers)
            shown.presenter.attaching.add_files([own[0]])
            shown.presenter.attaching.add_files(
                [papers / "zebra0.md"], as_documents=True
            )  # counts as the first passage
            shown.presenter.set_draft("zebra")
            shown.page.controller.find_passages()
            await until(lambda: len(shown.presenter.attaching.views()) == 7)
            shown.presenter.attaching.add_files(own[1:3])
            await shown.tasks.idle()
            assert not any(view.refusal for view in shown.presenter.attaching.views())
            await shown.say("zebra")
            parts = shown.fake.requests[-1]["messages"][-1]["content"]
            assert [part["type"] for part in parts] == ["text", *["file"] * 5]
            assert parts[0]["text"] == "zebra", "the service opens links in it"
            text = said(shown)
            assert [f"## Passage {number}: " in text for number in range(1, 8)] == [False, *[True] * 5, False]
            numbered = dict(re.findall(r"## Passage (\d): (zebra\d.md)", text))
            sources = shown.page.rows()[-1].sources
            assert sources[0].title == "zebra0.md"
            assert [sources[int(number) - 1].title.split(",")[0] for number in numbered] == list(numbered.values())
        finally:
            shown.presenter.documents.close()
