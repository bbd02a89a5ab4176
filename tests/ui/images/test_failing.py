"""What goes wrong is said as it is: policy, lies, refusals, stops. None of it is ever "done" or paid twice."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import httpx
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.sandbox.server import RunningSandbox
from app.service.images import GeneratedImage
from app.service.service import open_service
from app.storage.images import ImageFiles, Images
from app.storage.paid_call_intents import Intents
from app.ui.images.session import image_maker
from app.ui.images.session.image_files import keep
from app.ui.images.tile_model import TILE_ROLE
from app.ui.kit.theme import Theme
from tests.kit.images import SANDBOX, ImagesHarness, open_images
from tests.kit.sandbox import controls_of
from tests.kit.waiting import entered, until
from tests.ui.test_image_metadata import picture


async def state_of_intent(images: ImagesHarness) -> str:
    return (await Intents(images.database).recent("images"))[0].state


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("sandbox-violation", "policy does not allow this image"),
        ("sandbox-adult-violation", "does not generate adult images"),
        ("sandbox-minor", "detected a minor"),
    ],
)
async def test_what_policy_withholds_is_said_and_not_kept(images: ImagesHarness, word: str, sentence: str) -> None:
    images.write(f"A harbour {word}")
    (image,) = await images.made()
    assert (image.state, image.file) == ("withheld", "")
    assert sentence in image.note
    assert list(images.folder.glob("*")) == []
    assert await state_of_intent(images) == "answered"
    images.select(image.id)
    assert sentence in images.details.note.text()
    assert images.policy_text() == "Withheld"
    assert images.details.save.isHidden()


async def test_a_blurred_image_is_kept_and_called_blurred(images: ImagesHarness) -> None:
    images.write("A harbour sandbox-blurred")
    (image,) = await images.made()
    assert (image.state, image.blurred) == ("saved", True)
    assert "safe mode" in image.note
    assert "Blurred" in images.tile_data(image.id, Qt.ItemDataRole.AccessibleTextRole)


async def test_without_the_blur_it_is_sent_so(images: ImagesHarness) -> None:
    images.write("A harbour sandbox-blurred")
    images.presenter.set_field("safe_mode", False)
    (image,) = await images.made()
    assert not image.blurred


async def test_too_long_a_prompt_is_refused_here_with_the_limit_named(images: ImagesHarness) -> None:
    images.presenter.set_field("model", "rialto-poster")
    images.write("x" * 2501)
    assert not images.can_make()
    assert "Poster takes up to 2,500 characters. This is 2,501." in images.price_text()
    assert not images.presenter.make()
    assert images.paid == []
    assert await Intents(images.database).recent("images") == ()


async def test_sides_that_the_model_does_not_take_are_refused_here(images: ImagesHarness) -> None:
    images.write("A harbour")
    for side, words in ((1001, "multiples of 8"), (1288, "up to 1,280")):
        images.presenter.set_field("width", side)
        assert words in images.price_text()
        assert not images.presenter.make()
    assert images.paid == []


async def test_a_refusal_of_the_service_is_failed_and_costs_nothing(images: ImagesHarness) -> None:
    await images.fault("answer", status=400, times=1, path="/image/generate")
    images.write("A harbour")
    (image,) = await images.made()
    assert (image.state, image.cost_usd) == ("failed", None)
    assert await state_of_intent(images) == "failed"
    assert not images.error_card.isHidden()


async def test_a_connection_that_drops_is_unknown_and_is_not_sent_again(images: ImagesHarness) -> None:
    await images.fault("drop", times=1, path="/image/generate")
    images.write("A harbour")
    (image,) = await images.made()
    assert image.state == "unknown"
    assert await state_of_intent(images) == "unknown"
    assert len(images.paid) == 1
    tile = images.tile_data(image.id, TILE_ROLE)
    assert tile.cost == "possibly $0.01"


@pytest.mark.parametrize("kind", ["html", "json", "empty", "length"])
async def test_a_lying_answer_is_never_done(images: ImagesHarness, kind: str) -> None:
    await images.fault("lie", kind=kind, times=1, path="/image/generate")
    images.write("A harbour")
    (image,) = await images.made()
    assert image.state in ("unknown", "broken"), image
    assert not image.has_file
    assert await state_of_intent(images) in ("unknown", "answered")
    assert len(images.paid) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"<!doctype html><title>502 Bad Gateway</title>",
        picture("png")[:-40],
        picture("webp")[: len(picture("webp")) // 2],
        picture("jpeg")[:200],
        b"",
    ],
)
async def test_bytes_that_are_no_whole_image_are_kept_aside_and_never_shown_as_done(
    tmp_path: Path, data: bytes, images: ImagesHarness
) -> None:
    files = ImageFiles(tmp_path / "pictures")
    maker = images.presenter.maker
    assert maker is not None
    planned = maker.images.planned("generate", "call", maker.images.now())
    kept = await keep(files, planned, GeneratedImage(data, "png"))
    assert (kept.state, kept.file) == ("broken", "")
    assert files.broken(kept.id).read_bytes() == data
    assert "incomplete image" in kept.note


async def test_a_small_file_that_unpacks_to_a_wall_of_pixels_is_refused(tmp_path: Path, images: ImagesHarness) -> None:
    file = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(file, "png")
    maker = images.presenter.maker
    assert maker is not None
    planned = maker.images.planned("generate", "call", maker.images.now())
    kept = await keep(ImageFiles(tmp_path / "pictures"), planned, GeneratedImage(file.getvalue(), "png"))
    assert kept.state == "broken"


async def test_stopped_on_its_way_it_may_have_been_charged_and_says_so(images: ImagesHarness) -> None:
    await images.fault("slow", seconds=20, times=1, path="/image/generate")
    images.write("A harbour")
    images.press_make()
    await until(lambda: images.presenter.calls == 1 and images.rows)
    assert images.page.badge() == 1
    image = next(iter(images.rows.values()))
    assert image.state == "sending"
    await until(lambda: not images.stop_button.isHidden())
    async with asyncio.timeout(60):
        while "slow" in await controls_of(images.sandbox).faults():  # until the call has arrived there
            await asyncio.sleep(0.01)
    images.stop_button.click()
    await images.still()
    image = next(iter(images.rows.values()))
    assert image.state == "unknown"
    assert "may have been processed and charged" in image.note
    assert await state_of_intent(images) == "unknown"


async def test_stopped_as_it_comes_it_is_kept(images: ImagesHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    came = entered(monkeypatch, image_maker, "keep")
    images.write("A harbour")
    images.press_make()
    await came.wait()
    images.stop_button.click()
    await images.still()
    assert [each.state for each in images.rows.values()] == ["saved"]
    assert await state_of_intent(images) == "answered"


@pytest.mark.parametrize(("owner", "step"), [(image_maker, "keep"), (Images, "save")], ids=["comes", "is saved"])
async def test_an_image_that_is_starred_as_it_comes_is_kept_with_its_star(
    images: ImagesHarness, monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    came = entered(monkeypatch, owner, step)
    images.write("A harbour")
    images.press_make()
    await came.wait()
    (image_id,) = images.rows
    images.presenter.library.star(image_id)
    await images.still()
    for image in (images.rows[image_id], await Images(images.database).one(image_id)):
        assert (image.state, image.starred, bool(image.file)) == ("saved", True, True)


async def test_the_form_is_there_again_after_a_restart(tmp_path: Path, sandbox: RunningSandbox, theme: Theme) -> None:
    async with open_images(tmp_path, sandbox, theme) as images:
        images.write("Half a thought about a har")
        images.presenter.set_field("count", 3)
        images.presenter.set_field("seed", -5)
    async with open_images(tmp_path, sandbox, theme) as images:
        assert images.prompt_text() == "Half a thought about a har"
        assert images.count_chosen() == "3"
        assert images.seed_text() == "-5"


async def test_words_typed_while_the_images_are_read_stay(
    images: ImagesHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = images.presenter.library.load

    async def load_and_type() -> None:
        await load()
        QTest.keyClicks(images.page.form.prompt, "A harbour at dawn")

    monkeypatch.setattr(images.presenter.library, "load", load_and_type)
    await images.presenter.start(images.database)
    assert images.prompt_text() == "A harbour at dawn"


@pytest.mark.parametrize("models", [[], ["rialto-canvas"]])
async def test_missing_styles_are_no_problem_of_images(images: ImagesHarness, models: list[str]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": each, "type": "image"} for each in models]})
        return httpx.Response(404, json={"error": "Not found"})

    service = open_service(
        "http://service.test/v1", "service", None, lambda _: None, transport=httpx.MockTransport(answer)
    )
    try:
        images.current_account.use(SANDBOX, service)
        await images.tasks.idle()
        assert [each.id for each in images.presenter.models] == models
        assert images.presenter.problem is None
    finally:
        await service.aclose()
