"""Puts what the service sent on the disk; only what was then decoded from end to end is called an image."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.media_types import HEAD_BYTES, sniff
from app.service.images import GeneratedImage
from app.storage.atomic_files import write_atomically
from app.storage.images import ImageFiles, StoredImage
from app.translation import tr
from app.ui.images.image_processing import checked_size
from app.ui.kit.image_decoding import UndecodableImage
from app.ui.kit.image_metadata import NotWhole, check_whole, with_metadata

Finish = Callable[[bytes], bytes]  # makes the image of what the service sent; runs in a thread
WITHHELD = tr("The service’s policy does not allow this image, so it sent a blank one. Rialto did not save it.")
ABOUT_A_MINOR = tr("The service detected a minor in this request and sent a blank image. Rialto did not save it.")
ADULT = tr("This model does not generate adult images, so the service sent a blank one. Rialto did not save it.")
BLURRED = tr("The service blurred this image because safe mode is on and it looks adult.")
BROKEN = tr("The service sent an incomplete image. It is saved and may have been charged.")
NOT_FINISHED = tr("The mask could not be applied. This is the image as the service sent it.")


def verdict(image: GeneratedImage) -> str:
    """Return the sentence about an image that policy withholds, "" for one that may be kept."""
    if image.contains_minor:
        return ABOUT_A_MINOR
    if image.adult_violation:
        return ADULT
    return WITHHELD if image.violation else ""


def facts_of(image: StoredImage) -> dict[str, Any]:
    """What is written into the file."""
    facts: dict[str, Any] = {
        "prompt": image.prompt,
        "negative_prompt": str(image.options.get("negative_prompt") or ""),
        "model": image.model,
        "kind": image.kind,
        "seed": image.seed,
        "size": f"{image.width}x{image.height}" if image.width else "",
        "style": str(image.options.get("style") or ""),
        "made": image.created_at.isoformat(timespec="seconds"),
    }
    return {name: value for name, value in facts.items() if value not in (None, "")}


async def keep(
    files: ImageFiles, image: StoredImage, picture: GeneratedImage, finish: Finish | None = None
) -> StoredImage:
    """Write the bytes and return how the image stands now. Raises `StorageError`."""
    withheld = verdict(picture)
    if withheld:
        return replace(image, state="withheld", note=withheld)
    kept = await asyncio.to_thread(_write, files, image, picture.data, picture.kind, finish)
    if picture.blurred and kept.state == "saved":
        kept = replace(kept, blurred=True, note=BLURRED)
    return kept


async def adopt(files: ImageFiles, image: StoredImage) -> StoredImage | None:
    """After a kill: return the image whose bytes had arrived already, None when none had."""
    return await asyncio.to_thread(_adopt, files, image)


def _adopt(files: ImageFiles, image: StoredImage) -> StoredImage | None:
    with contextlib.suppress(OSError):
        path = files.found(image.id)
        if path is not None:
            data = path.read_bytes()
            form = sniff(data[:HEAD_BYTES]) or ""
            return _checked(files, replace(image, file=path.name), data, form)
        original = files.original(image.id)
        if original.is_file():
            data = original.read_bytes()
            found = _write(files, image, data, sniff(data[:HEAD_BYTES]) or "", None)
            return replace(found, note=found.note or NOT_FINISHED)
    return None


def _write(files: ImageFiles, image: StoredImage, data: bytes, form: str, finish: Finish | None) -> StoredImage:
    """Runs in a thread. What was paid for is on the disk before anything is done with it."""
    files.make()
    note = ""
    if finish is not None:
        write_atomically(files.original(image.id), data)
        try:
            data, form = finish(data), "png"
        except UndecodableImage:
            note = NOT_FINISHED
    try:
        width, height = _size(data, form)
    except (NotWhole, UndecodableImage):
        return _set_aside(files, image, data)
    image = replace(image, width=width, height=height)
    with contextlib.suppress(NotWhole):  # an image without facts is better than none
        data = with_metadata(data, form, facts_of(image))
    name = files.name(image.id, form)
    write_atomically(files.folder / name, data)
    return replace(image, state="saved", file=name, form=form, size_bytes=len(data), note=note)


def _checked(files: ImageFiles, image: StoredImage, data: bytes, form: str) -> StoredImage:
    try:
        width, height = _size(data, form)
    except (NotWhole, UndecodableImage):
        return _set_aside(files, image, data)
    return replace(image, state="saved", form=form, width=width, height=height, size_bytes=len(data), note="")


def _size(data: bytes, form: str) -> tuple[int, int]:
    check_whole(data, form)
    return checked_size(data)


def _set_aside(files: ImageFiles, image: StoredImage, data: bytes) -> StoredImage:
    write_atomically(files.broken(image.id), data)
    return replace(image, state="broken", file="", size_bytes=len(data), note=BROKEN)
