"""Images are asked for through the page, kept with what made them, and what goes wrong is said as it is."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path

import pytest
from PIL import Image

from app.sandbox.server import RunningSandbox
from app.storage.images import Images
from app.storage.paid_call_intents import Intents
from app.ui.kit.image_metadata import metadata_of
from app.ui.kit.theme import Theme
from tests.kit.images import ImagesHarness, open_images
from tests.kit.waiting import until

pytestmark = pytest.mark.usefixtures("images")


async def test_an_image_is_asked_for_kept_and_shown_with_its_facts(images: ImagesHarness) -> None:
    images.write("Travel poster, one wide landscape")
    assert images.make_button.text() == "Generate an image for $0.01"
    (image,) = await images.made()
    assert (image.state, image.form, image.title) == ("saved", "webp", "Travel poster")
    picture = Image.open(io.BytesIO(images.file_of(image)))
    assert picture.size == (image.width, image.height) == (1024, 1024)
    facts = metadata_of(images.file_of(image), "webp")
    assert facts["prompt"] == "Travel poster, one wide landscape"
    assert (facts["seed"], facts["model"]) == (image.seed, "rialto-canvas")
    assert image.cost_usd == Decimal("0.01")
    (intent,) = await Intents(images.database).recent("images")
    assert (intent.state, intent.reference, intent.id) == ("answered", image.id, image.call_id)
    details = images.changes.details(image.id)
    assert details is not None
    assert dict(details.facts)["Cost"] == "$0.01, play money"
    assert details.policy == "No issues"


async def test_an_example_is_counted_and_the_caret_stands_behind_it(images: ImagesHarness) -> None:
    images.page.set_prompt("Desk lamp")
    form = images.page.form
    assert form.counter.text().startswith("9 / ")
    assert form.prompt.textCursor().position() == len("Desk lamp")


async def test_images_that_are_ready_are_said_once(images: ImagesHarness, heard: list[str]) -> None:
    images.page.gallery.show()
    images.write("Travel poster, one wide landscape")
    await images.made()
    await until(lambda: images.presenter.calls == 0)
    assert heard.count("Image ready") == 1


async def test_four_at_once_have_seeds_of_their_own_and_can_each_be_made_again(images: ImagesHarness) -> None:
    images.write("Night market study")
    images.presenter.set_field("count", 4)
    images.presenter.set_field("seed", 100)
    assert images.make_button.text() == "Generate 4 images for $0.04"
    made = await images.made()
    assert [(image.number, image.seed) for image in made] == [(1, 100), (2, 101), (3, 102), (4, 103)]
    assert len(images.paid) == 4
    images.select(made[2].id)
    images.page.rerun()
    assert (images.presenter.form.seed, images.presenter.form.count) == (102, 1)
    (again,) = await images.made()
    assert pixels(images.file_of(again)) == pixels(images.file_of(made[2]))


async def test_all_in_one_call_is_one_receipt_and_one_known_seed(images: ImagesHarness) -> None:
    images.write("Desk lamp")
    images.presenter.set_field("count", 3)
    images.presenter.set_field("in_one_call", True)
    made = await images.made()
    assert len(images.paid) == 1
    assert [image.state for image in made] == ["saved"] * 3
    assert [image.seed is None for image in made] == [False, True, True]
    assert len({image.call_id for image in made}) == 1
    assert sum(image.cost_usd or 0 for image in made) == Decimal("0.03")


async def test_an_order_past_a_limit_is_stopped_as_a_whole_and_leaves_no_tile(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    """Two of the four would fit."""
    async with open_images(tmp_path, sandbox, theme, limits={"hard day": "0.02"}) as images:
        images.write("Night market study")
        images.presenter.set_field("count", 4)
        assert await images.made() == []
        assert [each.request.path for each in images.paid] == []
        problem = images.presenter.problem
        assert problem is not None
        assert problem.what == "This would exceed your daily limit of $0.02"
        assert problem.meaning == "All 4 images together may cost $0.04. Nothing was sent."
        assert [action.text for action in problem.actions] == ["Change the limit…"]
        assert images.tiles == ()
        assert await Images(images.database).recent() == ()
        intents = await Intents(images.database).recent("images")
        assert [intent.state for intent in intents] == ["failed"] * 4
        assert images.prompt_text() == "Night market study"
        images.presenter.set_field("count", 2)
        assert [image.state for image in await images.made()] == ["saved"] * 2


async def test_what_an_order_leaves_follows_the_balance_of_the_last_one(images: ImagesHarness) -> None:
    """Four calls at once, each of which tells the balance without the others."""
    images.write("Night market study")
    images.presenter.set_field("count", 4)
    form = images.page.form
    await images.made()
    await until(lambda: images.current_account.balance == Decimal("99.96"))
    assert form.sum.text() == "4 × $0.01, play money, balance after $99.92"


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).tobytes()
