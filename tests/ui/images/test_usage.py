"""What images take on the disk is shown below them: originals and the trash with it, and gone when it is gone."""

from __future__ import annotations

from pathlib import Path

from app.core import number_format
from app.ui.images.image_processing import encoded, small_image
from app.ui.images.session.image_edits import EditChoice
from tests.kit.images import ImagesHarness
from tests.kit.waiting import until


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


async def shows(images: ImagesHarness, start: str) -> str:
    usage = images.usage_label
    await until(lambda: usage.text().startswith(start))
    assert usage.isVisible()
    return usage.text()


async def test_the_line_below_the_gallery_says_what_all_images_take_on_this_disk(images: ImagesHarness) -> None:
    gallery, folder = images.page.gallery, images.folder
    assert gallery.usage.text() == "No images"
    images.write("A harbor at dawn")
    images.presenter.set_field("width", 512)
    images.presenter.set_field("height", 256)
    (harbour,) = await images.made()
    assert await shows(images, "1 image, ") == f"1 image, {number_format.size(on_disk(folder))}"
    mask = gallery.grab().toImage().scaled(512, 256)
    images.changes.edit(harbour.id, EditChoice("firered-image-edit", "Make it night", mask=encoded(mask, "PNG")))
    await until(lambda: len(images.rows) == 2)
    await images.still()
    assert len(list(folder.iterdir())) == 3, "two images, and what the service sent for the second"
    assert await shows(images, "2 images, ") == f"2 images, {number_format.size(on_disk(folder))}"
    images.presenter.library.move_to_trash([harbour.id])
    trashed = number_format.size(harbour.size_bytes)
    await until(lambda: gallery.usage.text().endswith(f" · trash {trashed}"))
    left = number_format.size(on_disk(folder) - harbour.size_bytes)
    assert gallery.usage.text() == f"1 image, {left} · trash {trashed}"
    assert gallery.count.text() == "1 image"
    path = images.path_of(harbour)
    small = small_image(path, images.home / "cache")
    await until(small.exists)
    images.presenter.library.empty_trash()
    await until(lambda: "trash" not in gallery.usage.text())
    assert gallery.usage.text() == f"1 image, {number_format.size(on_disk(folder))}"
    assert not path.exists() and not small.exists(), "nor does the small picture of it stay"


async def test_an_image_that_was_withheld_is_in_the_gallery_and_takes_nothing(images: ImagesHarness) -> None:
    images.write("A harbour sandbox-violation")
    await images.made()
    await until(lambda: not images.tasks.running("images usage"))
    assert images.count_text() == "1 image"
    assert images.usage_label.text() == "No images"
