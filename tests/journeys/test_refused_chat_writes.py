"""Presets, attachments and characters on a disk that refuses: said once, nothing lies, and later it works."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap.rialto import Rialto
from app.storage.presets import Preset, to_file
from app.ui.chat.state import CharacterHead
from tests.journeys.conftest import settled
from tests.journeys.test_refusing_disk import READ_ONLY, allow, refuse
from tests.journeys.test_typing import box, enter_sandbox, written
from tests.kit.waiting import until
from tests.read_only import read_only

Start = Callable[..., Any]
ADA = CharacterHead("ada", "Ada", "A mathematician", 0.0, 0, "")


def told(rialto: Rialto) -> list[str]:
    """Every place that says now what was refused."""
    problem = rialto.chat.head().problem
    chips = [view.refusal for view in rialto.chat.attaching.views()]
    toasts = [toast.accessibleName() for toast in rialto.window.overlays.toasts.toasts]
    return [text for text in (problem.what if problem is not None else "", *chips, *toasts) if text]


def names(rialto: Rialto) -> list[str]:
    return [row.name for row in rialto.chat.presets.rows()]


def first(rialto: Rialto) -> str:
    return rialto.chat.presets.rows()[0].id


def chips(rialto: Rialto) -> list[str]:
    return [view.name for view in rialto.chat.attaching.views() if not view.refusal and not view.busy]


@dataclass(frozen=True)
class Change:
    do: Callable[[Rialto, Path], object]
    is_done: Callable[[Rialto], bool]


CHANGES = {
    "a new preset": Change(lambda r, _f: r.chat.presets.save("prompt", "New"), lambda r: "New" in names(r)),
    "its name": Change(lambda r, _f: r.chat.presets.rename(first(r), "Curt"), lambda r: names(r) == ["Curt"]),
    "its removal": Change(lambda r, _f: r.chat.presets.remove(first(r)), lambda r: not names(r)),
    "presets of a file": Change(
        lambda r, folder: r.chat.presets.import_file(folder / "presets.json"), lambda r: "Brought" in names(r)
    ),
    "an attachment": Change(
        lambda r, folder: r.chat.attaching.add_files([folder / "notes.txt"]), lambda r: "notes.txt" in chips(r)
    ),
}


async def prepare(rialto: Rialto, folder: Path) -> None:
    await enter_sandbox(rialto)
    box(rialto).insertPlainText("a question")
    (folder / "notes.txt").write_text("The tide turns at noon.")
    (folder / "presets.json").write_text(json.dumps(to_file((Preset("", "prompt", "Brought", {"text": "Be brief."}),))))
    rialto.chat.presets.keep("prompt", "Terse", {"text": "Be terse."})
    await until(lambda: names(rialto) == ["Terse"] and rialto.chat.opened.chat_id is not None)
    await settled(rialto)
    assert rialto.chat_page.box.presets is not None  # it says what became of a file
    for toast in rialto.window.overlays.toasts.toasts:
        toast.close_toast()


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_that_the_disk_refuses_is_said_once_and_works_once_there_is_room(
    start: Start, tmp_path: Path, name: str
) -> None:
    change = CHANGES[name]
    async with start() as rialto:
        await prepare(rialto, tmp_path)
        before = names(rialto), chips(rialto)
        await refuse(rialto, READ_ONLY)
        with read_only(rialto.paths.data):
            change.do(rialto, tmp_path)
            await settled(rialto)
            assert len(told(rialto)) == 1, told(rialto)
            assert not change.is_done(rialto) and (names(rialto), chips(rialto)) == before
            assert written(rialto) == "a question" and rialto.chat.head().can_send
        await allow(rialto)
        change.do(rialto, tmp_path)
        await until(lambda: change.is_done(rialto))


async def test_an_attachment_whose_draft_the_disk_refuses_can_be_sent(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        await prepare(rialto, tmp_path)
        await refuse(rialto, READ_ONLY)
        rialto.chat.attaching.add_files([tmp_path / "notes.txt"])
        await settled(rialto)
        assert chips(rialto) == ["notes.txt"] and len(told(rialto)) == 1
        assert rialto.chat.head().can_send
        await allow(rialto)
        rialto.chat_page.send(written(rialto))
        await until(lambda: written(rialto) == "" and not chips(rialto))
        await settled(rialto)


async def test_what_a_chat_asks_for_and_its_draft_are_written_once_there_is_room(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        await prepare(rialto, tmp_path)
        chat_id = rialto.chat.opened.chat_id
        await refuse(rialto, READ_ONLY)
        rialto.chat.use_character(ADA)
        await settled(rialto)
        rialto.chat.set_option("temperature", 0.5)
        box(rialto).insertPlainText(" more")
        await until(lambda: rialto.chat.library.get(chat_id).draft == "a question more")
        await settled(rialto)
        assert told(rialto) == ["This could not be saved"]
        await allow(rialto)
    async with start() as rialto:
        await until(lambda: rialto.chat.opened.chat_id == chat_id)
        await until(lambda: written(rialto) == "a question more")
        assert rialto.chat.opened.character.name == "Ada"
        assert rialto.chat.opened.options.temperature == 0.5
