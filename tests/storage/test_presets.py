"""Prompts and presets: named, renamed, replaced, and carried to another computer in a file."""

import json

import pytest

from app.storage.database import Database
from app.storage.presets import NameTaken, NotPresets, Presets, to_file


async def test_a_name_is_kept_once_for_each_kind_and_saving_again_replaces(database: Database) -> None:
    presets = Presets(database)
    first = await presets.save("prompt", "  Terse\n answers ", {"text": "Be terse."})
    again = await presets.save("prompt", "Terse answers", {"text": "Be very terse."})
    await presets.save("preset", "Terse answers", {"model": "m"})
    assert first == again
    prompt, preset = sorted(await presets.all(), key=lambda each: each.kind != "prompt")
    assert (prompt.name, prompt.body) == ("Terse answers", {"text": "Be very terse."})
    assert preset.kind == "preset"


async def test_a_taken_name_is_refused_and_another_kind_does_not_count(database: Database) -> None:
    presets = Presets(database)
    one = await presets.save("prompt", "One", {"text": "1"})
    await presets.save("prompt", "Two", {"text": "2"})
    await presets.save("preset", "Three", {})
    with pytest.raises(NameTaken, match="Two"):
        await presets.rename(one, "Two")
    await presets.rename(one, "Three")
    await presets.trash(one)
    assert [preset.name for preset in await presets.all()] == ["Three", "Two"]


async def test_what_is_in_the_trash_leaves_its_name_and_comes_back_beside_who_has_it_now(database: Database) -> None:
    presets = Presets(database)
    first = await presets.save("prompt", "Terse", {"text": "1"})
    await presets.trash(first)
    second = await presets.save("prompt", "Terse", {"text": "2"})
    assert first != second
    await presets.trash(second)
    assert {preset.id: (preset.kind, preset.name) for preset, _ in await presets.trashed()} == {
        first: ("prompt", "Terse"),
        second: ("prompt", "Terse"),
    }
    await presets.restore(first)
    await presets.restore(second)
    assert [(preset.name, preset.body) for preset in await presets.all()] == [
        ("Terse", {"text": "1"}),
        ("Terse 2", {"text": "2"}),
    ]
    await presets.trash(first)
    await presets.delete(first)
    assert await presets.trashed() == () and len(await presets.all()) == 1


async def test_a_file_brings_them_to_another_computer_beside_what_is_there(database: Database) -> None:
    presets = Presets(database)
    await presets.save("prompt", "Terse", {"text": "Be terse."})
    file = json.loads(json.dumps(to_file(await presets.all())))
    assert await presets.add_all(file) == 1
    assert [(each.name, each.body["text"]) for each in await presets.all()] == [
        ("Terse", "Be terse."),
        ("Terse 2", "Be terse."),
    ]


@pytest.mark.parametrize(
    "body",
    [None, [], {"presets": []}, {"format": "rialto-presets", "presets": [{"kind": "x", "name": "y", "body": {}}]}],
)
async def test_a_file_of_something_else_is_refused_whole(database: Database, body: object) -> None:
    presets = Presets(database)
    with pytest.raises(NotPresets):
        await presets.add_all(body)
    assert await presets.all() == ()
