"""Attachments from the box to the wire: checked by content, kept on the disk, refused with a sentence, sent whole."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter

from app.service.http.base64_text import PLAIN_TEXT, Base64Text, text_in
from app.storage.attachment_files import AttachmentFiles
from app.storage.chat_rows import Message
from app.ui.chat.composer.attachment import Attachment, DocumentPlace, attachments_of, cached_ones, refusals
from app.ui.chat.composer.attachment_check import NotAttached, check, form_of, read_file, shrink
from app.ui.chat.session.content_parts import AttachedPart, user_messages
from app.ui.chat.session.requests import shortened_body
from app.ui.kit.image_decoding import fitted
from app.ui.kit.theme import Theme
from tests.documents import samples
from tests.kit.chat import FakeService, model_body, open_chat, open_chat_presenter
from tests.reported_inputs import reported

SEES = model_body(capabilities={"supportsVision": True, "supportsMultipleImages": True, "supportsAudioInput": True})
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes.fromhex("10000000 0100 0100 401f0000 803e0000 0200 1000") + b"data"


def picture(width: int = 100, height: int = 80, form: str = "PNG", *, noisy: bool = False) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkCyan)
    if noisy:
        painter = QPainter(image)
        for at in range(0, width * 3, 7):
            painter.setPen(Qt.GlobalColor(7 + at % 12))
            painter.drawLine(at, 0, at // 3, height)
        painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)
    return bytes(buffer.data().data())


# What it is


@pytest.mark.parametrize(
    ("name", "data", "kind", "media_type"),
    [
        ("photo.txt", picture(), "image", "image/png"),
        ("photo.jpg", picture(form="JPEG"), "image", "image/jpeg"),
        ("old.bmp", picture(form="BMP"), "image", "image/png"),
        ("voice.png", WAV, "audio", "audio/wav"),
        ("film.bin", b"\x00\x00\x00\x18ftypisom" + bytes(40), "video", "video/mp4"),
        ("paper", b"%PDF-1.7\n" + bytes(100), "pdf", "application/pdf"),
        ("notes.md", "# Über\n".encode(), "text", "text/markdown"),
        ("notes.txt", "wide".encode("utf-16"), "text", "text/plain"),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "text", "text/plain"),
        ("photo.heic", b"\x00\x00\x00\x18ftypheic" + bytes(40), "image", "image/heic"),
    ],
)
def test_bytes_say_what_they_are_and_names_do_not(name: str, data: bytes, kind: str, media_type: str) -> None:
    found = check(name, data)
    assert (found.attachment.kind, found.attachment.media_type) == (kind, media_type)
    assert found.attachment.name == name
    assert found.attachment.size == len(found.data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "It is empty."),
        (picture(63, 200), "63 × 200 pixels. Each side needs at least 64"),
        (picture()[:60], "damaged"),
        (b"PK\x03\x04" + bytes(200), "This is something else."),
        (b"\x7fELF" + bytes(200), "This is something else."),
        (bytes(25 * 1024 * 1024 + 1), "The limit is"),
    ],
)
def test_what_cannot_go_along_is_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(NotAttached) as caught:
        check("x", data)
    assert sentence in caught.value.sentence


@pytest.mark.parametrize("form", ["PNG", "JPG", "WEBP"])
def test_an_image_cut_off_is_refused_when_it_is_attached(form: str) -> None:
    data = picture(form=form, noisy=True)
    check("a.png", data)
    with pytest.raises(NotAttached, match="The image is incomplete or damaged"):
        check("a.png", data[: len(data) // 2])


def test_reported_images_are_attached_or_refused_for_the_right_reason() -> None:
    with pytest.raises(NotAttached, match="The image is incomplete or damaged"):
        check("cut.png", reported("k25-cut.png"))
    assert check("phone.jpg", reported("k25-trailing.jpg")).attachment.kind == "image"
    large = check("large.png", reported("k25-9999x9999.png")).attachment
    assert (large.width, large.height) == (9999, 9999)
    assert shrink(large, reported("k25-9999x9999.png")).attachment.width == 1568
    assert not fitted(reported("k25-9999x9999.png"), 200, 200).isNull()
    turned = check("turned.jpg", reported("k25-orient-6.jpg")).attachment
    size = fitted(reported("k25-orient-6.jpg"), 5000, 5000)
    assert (turned.width, turned.height) == (size.width(), size.height())


def test_an_image_that_takes_too_much_memory_is_not_called_damaged() -> None:
    """16 bits for each of four channels."""
    image = Image.new("I;16", (9990, 9990))
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    large = Attachment("image", "a.png", "image/png", 1, "", width=9990, height=9990)
    data = file.getvalue()
    with pytest.raises(NotAttached, match="damaged"):
        shrink(large, data[: len(data) // 2])
    wide = data[:24] + b"\x10\x06" + data[26:29]  # the same size, said to be RGBA with 16 bits
    wide += struct.pack(">I", zlib.crc32(wide[12:29])) + data[33:]
    with pytest.raises(NotAttached, match="The image is too large to be decoded"):
        shrink(large, wide)


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    large = tmp_path / "large.mp4"
    with large.open("wb") as file:
        file.truncate(26 * 1024 * 1024 + 300_000)
    with pytest.raises(NotAttached, match=r"27,562,976 bytes\. The limit is 25 MB"):
        read_file(large)
    with pytest.raises(NotAttached, match="Folders cannot be attached"):
        read_file(tmp_path)


def test_a_large_image_is_made_smaller_on_request() -> None:
    data = picture(4000, 1000, noisy=True)
    before = check("wide.png", data).attachment
    after = shrink(before, data)
    assert (after.attachment.width, after.attachment.height) == (1568, 392)
    assert after.attachment.tokens < before.tokens
    assert "made smaller" in after.attachment.detail
    assert form_of(after.data) in ("png", "jpeg")
    assert fitted(after.data, 96, 96).width() == 96
    assert fitted(b"no image", 96, 96).isNull()
    assert fitted(b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", 96, 96).isNull()


# What a model takes


def test_each_model_refuses_what_it_cannot_take_r_chat_11_r_chat_12_r_chat_13() -> None:
    from app.service.models import Model

    kinds = ("image", "audio", "video", "text", "pdf")
    attached = [Attachment(kind, "x", "", 10, "0" * 64) for kind in kinds]  # type: ignore[arg-type]  # of the tuple
    blind = Model.model_validate(model_body())
    assert refusals(attached, blind) == (
        "Plain cannot see images.",
        "Plain cannot listen to audio.",
        "Plain cannot watch videos.",
        "",
        "",
    )
    assert refusals(attached, None) == ("",) * 5
    many = [Attachment("image", "x", "", 10, "0" * 64)] * 11
    assert refusals(many, Model.model_validate(SEES))[9:] == ("", "Up to 10 images per message.")
    one = Model.model_validate(model_body(capabilities={"supportsVision": True}))
    assert refusals(many[:2], one)[1] == "Plain allows 1 image per message."
    heavy = [Attachment("text", "x", "", 15_000_000, "0" * 64)] * 2
    assert refusals(heavy, None) == ("", "Attachments can total up to 25 MB (26,214,400 bytes).")


def test_all_passages_of_a_message_are_one_of_its_five_files_R_AUG_10() -> None:
    passage = Attachment("text", "x.md, line 1", "text/plain", 10, "0" * 64, place=DocumentPlace("/x.md", 1, 1))
    file = Attachment("text", "x", "text/plain", 10, "0" * 64)
    whole_document = file._replace(place=DocumentPlace("/x.md"))
    assert refusals([file, *[passage] * 5, file, file, whole_document], None) == ("",) * 9
    too_many = refusals([*[passage] * 5, *[file] * 5], None)
    assert too_many == (*("",) * 9, "Up to 5 files per message. Passages together count as one.")
    assert refusals([file] * 6, None)[5] == "Up to 5 files per message."


def test_a_line_of_a_document_does_not_begin_another_passage(tmp_home: Path) -> None:
    files = AttachmentFiles(tmp_home)
    texts = [b"## Passage 2: mine\nText, ## Passage 3", b"Cats"]
    passages = [Attachment("text", f"{len(text)}.md", "", len(text), files.keep(text)) for text in texts]
    written = AttachedPart.of(passages[0], tuple(enumerate(passages, 1))).data(files).decode()
    first = "## Passage 1: 37.md\n\n\\## Passage 2: mine\nText, ## Passage 3"
    assert written == f"{first}\n\n## Passage 2: 4.md\n\nCats"


def test_the_first_long_attachments_are_marked_for_the_cache_r_chat_05() -> None:
    long = Attachment("text", "x", "", 10, "0" * 64, tokens=5_000)
    short = Attachment("text", "x", "", 10, "0" * 64, tokens=5)
    first = cached_ones([(short, long), (long, long)])
    assert first == {(0, 1), (1, 0), (1, 1)}
    assert first <= cached_ones([(short, long), (long, long), (long, long)])
    assert len(cached_ones([(long,) * 9])) == 4


def test_passages_are_marked_for_the_cache_as_the_one_file_they_are_r_chat_05() -> None:
    place = DocumentPlace("/x.md", 1, 1)
    passages = [Attachment("text", "x.md, line 1", "", 10, "0" * 64, tokens=1_100, place=place).to_dict()] * 4
    file = Attachment("text", "x", "", 10, "0" * 64, tokens=5_000).to_dict()
    short = {**passages[0], "tokens": 500}
    branch = [
        Message("1", "c", None, "user", attachments=(short, file)),
        Message("2", "c", "1", "user", attachments=(file, *passages, file)),
    ]
    first, second = (turn.content for turn in user_messages(branch, cache=True).values())
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert [part.cache for part in first] == [False, True]
    assert [part.cache for part in second] == [True, True, True]


def test_odd_stored_attachments_cost_themselves_only() -> None:
    stored: list[dict[str, Any]] = [{"kind": "x"}, {"kind": "image", "sha256": "a", "width": "b", "name": 3}, {}]
    (kept,) = attachments_of(stored)
    assert (kept.width, kept.name, kept.sha256) == (0, "", "")
    assert Attachment.from_dict(kept.to_dict()) == kept


# From the box to the wire


async def attach(harness: Any, *paths: Path) -> None:
    harness.presenter.attaching.add_files(paths)
    await harness.tasks.idle()


async def test_an_attachment_is_on_disk_with_the_draft_and_goes_along_with_the_text(tmp_path: Path) -> None:
    file = tmp_path / "boiler.png"
    file.write_bytes(picture())
    fake = FakeService(models=[SEES])
    async with open_chat_presenter(tmp_path / "home", fake=fake) as harness:
        harness.presenter.set_draft("What is this?")
        await attach(harness, file)
        (chat,) = await harness.history.chats()
        assert chat.draft_attachments[0]["name"] == "boiler.png"
    async with open_chat_presenter(tmp_path / "home", fake=fake) as harness:
        (view,) = harness.presenter.attaching.views()
        assert (view.name, view.refusal, view.busy) == ("boiler.png", "", False)
        assert Path(view.path).read_bytes() == picture()
        await harness.say("What is this?")
        (sent,) = fake.requests
        text, image = sent["messages"][-1]["content"]
        assert text == {"type": "text", "text": "What is this?"}
        assert image["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(picture()).decode()
        assert harness.presenter.attaching.views() == ()
        (chat,) = await harness.history.chats()
        assert chat.draft_attachments == ()
        assert (await harness.history.messages(chat.id))[0].attachments[0]["name"] == "boiler.png"
        await harness.say("And now?")
        assert fake.requests[1]["messages"][0] == sent["messages"][0], "caches need the same bytes"


async def test_an_image_alone_is_a_message_and_names_the_chat(tmp_path: Path) -> None:
    file = tmp_path / "boiler.png"
    file.write_bytes(picture())
    async with open_chat_presenter(tmp_path / "home", fake=FakeService(models=[SEES])) as harness:
        await attach(harness, file)
        await harness.say("")
        assert [part["type"] for part in harness.fake.requests[0]["messages"][0]["content"]] == ["image_url"]
        assert harness.presenter.head().title == "boiler.png"


async def test_what_the_model_refuses_keeps_the_message_in_the_box_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "boiler.png"
    file.write_bytes(picture())
    async with open_chat_presenter(
        tmp_path / "home", fake=FakeService(models=[model_body(), {**SEES, "id": "seer"}])
    ) as harness:
        await attach(harness, file)
        (view,) = harness.presenter.attaching.views()
        assert view.refusal == "Plain cannot see images."
        head = harness.presenter.head()
        assert not head.can_send
        assert head.why_not == "Plain cannot see images. Remove it, or choose another model."
        await harness.say("Look")
        assert harness.fake.requests == []
        harness.presenter.use_model("seer")
        assert harness.presenter.head().can_send
        harness.presenter.attaching.remove(view.key)
        await harness.tasks.idle()
        assert harness.presenter.attaching.views() == ()


async def test_one_press_takes_a_model_that_can_see(theme: Theme, tmp_home: Path) -> None:
    seer = {**SEES, "id": "seer", "model_spec": {**SEES["model_spec"], "name": "Seer"}}
    path = tmp_home / "a.png"
    path.write_bytes(picture(3000, 64))
    async with open_chat(theme, tmp_home, fake=FakeService(models=[model_body(), seer])) as chat:
        chat.presenter.attaching.add_files([path, path])
        await chat.settle()
        first, second = chat.composer.strip.chips.values()
        assert first.better.text() == "Use Seer"
        assert first.better.isVisible() and not second.better.isVisible()
        assert not first.smaller.isVisible(), "a smaller image cannot be seen either"
        assert not chat.presenter.head().says_why_not
        first.better.click()
        await chat.settle()
        assert chat.presenter.head().model_name == "Seer"
        assert chat.presenter.head().can_send
        assert not first.better.isVisible()


async def test_an_earlier_image_is_left_out_for_a_model_that_cannot_see(tmp_path: Path) -> None:
    file = tmp_path / "boiler.png"
    file.write_bytes(picture())
    seer = {**SEES, "id": "seer", "model_spec": {**SEES["model_spec"], "name": "Seer", "traits": []}}
    async with open_chat_presenter(tmp_path / "home", fake=FakeService(models=[model_body(), seer])) as harness:
        harness.presenter.use_model("seer")
        await attach(harness, file)
        await harness.say("Look")
        harness.presenter.use_model("plain")
        await harness.say("And?")
        first = harness.fake.requests[1]["messages"][0]["content"]
        assert [part["type"] for part in first] == ["text", "text"]
        assert first[1]["text"] == "[Image “boiler.png” is left out: Plain cannot see images.]"


async def test_a_damaged_file_says_so_at_its_chip_and_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "program.exe"
    file.write_bytes(b"MZ" + bytes(range(256)))
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, file, tmp_path / "gone.txt")
        first, second = harness.presenter.attaching.views()
        assert "something else" in first.refusal
        assert "Folders" in second.refusal
        assert harness.presenter.opened.attachments == ()
        await harness.say("Hello")
        assert harness.fake.requests[0]["messages"] == [{"role": "user", "content": "Hello"}]


async def test_a_missing_file_fails_the_answer_in_words_and_nothing_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("what I know")
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, file)
        for path in harness.history.files.folder.iterdir():
            path.unlink()
        await harness.say("Read this")
        assert harness.fake.requests == []
        row = harness.rows[-1]
        assert row.problem.what == "This message could not be sent"
        assert "no longer on this computer" in row.problem.meaning


async def test_editing_a_turn_brings_its_attachments_back_and_cancelling_the_drafts_own(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("one")
    second.write_text("two")
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, first)
        await harness.say("Read this")
        await attach(harness, second)
        harness.presenter.recall()
        assert [view.name for view in harness.presenter.attaching.views()] == ["first.txt"]
        harness.presenter.cancel_edit()
        assert [view.name for view in harness.presenter.attaching.views()] == ["second.txt"]


async def test_attachments_of_earlier_turns_count_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-AUG-10: the sum is that of all turns."""
    monkeypatch.setattr("app.ui.chat.session.open_chat.MAX_ALL_BYTES", 1_500)
    file, other = tmp_path / "first.txt", tmp_path / "second.txt"
    file.write_text("a" * 1_000)
    other.write_text("b" * 1_000)
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, file)
        await harness.say("Read this")
        await attach(harness, other)
        await harness.say("And this")
        assert len(harness.fake.requests) == 1
        head = harness.presenter.head()
        assert head.says_why_not
        assert head.why_not.startswith("Attachments from earlier messages are sent again. With these they are 2 KB,")
        harness.presenter.recall()  # the turn is sent instead of itself
        assert harness.presenter.head().can_send
        harness.presenter.cancel_edit()
        harness.presenter.attaching.remove(harness.presenter.attaching.views()[0].key)
        await harness.say("Without it")
        assert len(harness.fake.requests) == 2


async def test_a_turn_edited_on_another_branch_counts_what_stands_before_it_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ui.chat.session.open_chat.MAX_ALL_BYTES", 1_500)
    file = tmp_path / "first.txt"
    file.write_text("a" * 1_000)
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, file)
        await harness.say("Read this")
        edited = harness.presenter.opened.thread.shown()[0].id
        harness.presenter.recall()
        await harness.say("Read it well")
        assert edited not in [each.id for each in harness.presenter.opened.thread.shown()]
        harness.presenter.begin_edit(edited)
        assert harness.presenter.head().can_send, harness.presenter.head().why_not


async def test_the_request_page_says_how_long_the_bytes_are_also_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "boiler.png"
    file.write_bytes(picture(400, 400, noisy=True))
    fake = FakeService(models=[SEES])
    seen: list[Any] = []
    for number in range(2):
        async with open_chat_presenter(tmp_path / "home", fake=fake) as harness:
            assert harness.presenter.conversation is not None
            harness.presenter.conversation.request_changed.connect(seen.append)
            if number == 0:
                await attach(harness, file)
                await harness.say("Look")
            harness.presenter.show_request()
            await harness.tasks.idle()
            body = json.dumps(seen[-1].record.body)
            assert "data:image/png;base64," in body
            assert len(body) < 2_000


def test_only_long_data_is_cut_from_a_body_that_is_looked_at() -> None:
    body = {"messages": [{"content": "data: " + "word " * 900}], "n": 1}
    assert shortened_body(body) == body
    cut = shortened_body({"url": "data:image/png;base64," + "A" * 9_000})
    assert cut == {"url": "data:image/png;base64," + "A" * 38 + "… (9,022 characters)"}


def test_bytes_that_are_sent_are_cut_like_any_other() -> None:
    cut = shortened_body({"url": Base64Text.of(bytes(6_750), "data:image/png;base64,")})
    assert cut == {"url": "data:image/png;base64," + "A" * 38 + "… (9,022 characters)"}


def test_a_short_text_that_is_sent_is_looked_at_whole() -> None:
    sent = Base64Text.of(b"A passage of some length. " * 60, PLAIN_TEXT)
    assert text_in(str(shortened_body({"url": sent})["url"])) == "A passage of some length. " * 60
    assert text_in(str(shortened_body({"url": Base64Text.of(bytes(29_980), PLAIN_TEXT)})["url"])) is not None
    assert "characters)" in str(shortened_body({"url": Base64Text.of(bytes(30_000), PLAIN_TEXT)}))


# Documents: read here first, by the process that reads


async def test_the_text_of_an_office_file_goes_along_or_the_file_itself_by_choice_r_aug_10(
    theme: Theme, tmp_home: Path
) -> None:
    data = samples.docx()
    (tmp_home / "rent.docx").write_bytes(data)
    async with open_chat(theme, tmp_home) as chat:
        chat.presenter.attaching.add_files([tmp_home / "rent.docx"])
        await chat.settle()
        (chip,) = chat.composer.strip.chips.values()
        assert chip.name.text() == "rent.docx, all text"
        assert "text of a " in chip.detail.text()
        assert chip.other.text() == "Send the file"
        text_cost = chat.presenter.opened.attachments[0].tokens
        chip.other.click()
        await chat.settle()
        assert (chip.view.name, chip.other.text()) == ("rent.docx", "Send its text")
        assert chat.presenter.opened.attachments[0].tokens == text_cost > 0
        await chat.say("How much?")
        chat.presenter.attaching.add_files([tmp_home / "rent.docx"])
        await chat.settle()
        await chat.say("And as text?")
        sent = [each["content"][1]["file"] for each in chat.fake.requests[-1]["messages"] if each["role"] == "user"]
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        whole = base64.b64encode(data).decode()
        assert sent[0] == {"filename": "rent.docx", "file_data": f"data:{kind};base64,{whole}"}
        assert sent[1]["filename"] == "rent.docx, all text"
        assert "900 euros." in base64.b64decode(sent[1]["file_data"].partition(",")[2]).decode()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.xlsx", samples.xlsx(), "Budget\nItem"),
        ("a.pptx", samples.pptx(), "It is shown at once"),
        ("a.epub", samples.epub(), "Once upon a time."),
        ("a.odt", samples.odt(), "Flour"),
        ("a.pdf", samples.pdf("The rent", "is 900"), "The rent\n\nis 900"),
        ("no name", samples.pdf("The rent", "is 900"), "The rent\n\nis 900"),
    ],
)
async def test_each_kind_of_document_is_read_here(name: str, data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / name)
        (view,) = harness.presenter.attaching.views()
        assert (view.name, view.refusal) == (f"{name}, all text", "")
        assert view.other == ("" if name == "a.odt" else "Send the file"), "the service does not read it"
        (attached,) = harness.presenter.opened.attachments
        assert words in harness.history.files.read(attached.sha256).decode()


OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("scan.pdf", samples.pdf(""), "Its pages are images"),
        ("locked.pdf", samples.locked_pdf(), "It is protected by a password."),
        ("locked.docx", OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "It is protected by a password."),
        ("old.doc", OLE + bytes(600), "It is from Office 2003 or earlier."),
        ("bomb.docx", samples.zipped({"_rels/.rels": "x" * 70_000_000}), "It unpacks to far more"),
        ("lie.docx", samples.zipped({"notes.txt": "hello"}), "Its content does not match its name"),
        ("cut.pdf", samples.pdf("x")[:60], "The file is damaged"),
    ],
)
async def test_what_the_service_could_not_read_either_is_refused_here_r_aug_04_r_aug_11(
    name: str, data: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / name)
        (view,) = harness.presenter.attaching.views()
        assert sentence in view.refusal
        assert harness.presenter.opened.attachments == ()


async def test_a_table_of_an_old_excel_is_read_here_and_can_go_along_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(samples.xls())
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / "old.xls")
        (view,) = harness.presenter.attaching.views()
        assert (view.name, view.refusal, view.other) == ("old.xls, all text", "", "Send the file")
        harness.presenter.attaching.switch(view.key)
        await harness.say("Read this")
        (part,) = [p for p in harness.fake.requests[0]["messages"][0]["content"] if p["type"] == "file"]
        assert part["file"]["file_data"].startswith("data:application/vnd.ms-excel;base64,")


async def test_text_of_a_guessed_encoding_says_so_and_offers_the_others(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes("Größe und Maß".encode("cp850"))
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / "table.csv")
        seen = []
        for _ in range(5):
            (view,) = harness.presenter.attaching.views()
            assert view.other == "Try another encoding"
            (attached,) = harness.presenter.opened.attachments
            seen.append(harness.history.files.read(attached.sha256).decode())
            assert "encoding guessed: " in view.detail
            harness.presenter.attaching.switch(view.key)
        assert seen[0] == "Größe und Maß"
        assert len(set(seen)) == 4
        assert seen[4] == seen[0], "after the last comes the first again"


async def test_text_in_an_escaped_encoding_is_read_and_can_go_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("天气很好。".encode("hz"))
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / "old.txt")
        seen = []
        for _ in range(2):
            (view,) = harness.presenter.attaching.views()
            (attached,) = harness.presenter.opened.attachments
            seen.append((harness.history.files.read(attached.sha256).decode(), attached.note, view.other))
            harness.presenter.attaching.switch(view.key)
        assert seen == [
            ("天气很好。", "encoding guessed: HZ (Chinese)", "Try another encoding"),
            ("~{LlFx:\\:C!#~}", "encoding guessed: UTF-8", "Try another encoding"),
        ]


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("Grüße ".encode() * 20 + b"\xff", "Grüße " * 20 + "\ufffd", "1 damaged byte"),
        ("Ünï".encode("utf-16"), "Ünï", ""),
        (b"bell\a", "bell\a", ""),
    ],
)
async def test_text_is_judged_as_documents_are(data: bytes, text: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(data)
    async with open_chat_presenter(tmp_path / "home") as harness:
        await attach(harness, tmp_path / "a.log")
        (attached,) = harness.presenter.opened.attachments
        assert harness.history.files.read(attached.sha256).decode() == text
        assert attached.note == note
