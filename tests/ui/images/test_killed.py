"""SIGKILL at every step of a paid call: exactly one call, and after the restart its file or an honest "unknown"."""

from __future__ import annotations

import contextlib
import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paid_call_intents import Intents
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from tests.kit.images import open_images
from tests.kit.sandbox import controls_of
from tests.ui.killing import KilledPrograms, killed_programs

# step at which it is killed → state of the image and of the intent after the restart, and paid calls that arrived
TABLE = (
    ("intended", "failed", "cancelled", 0),
    ("sent", "unknown", "unknown", 0),
    ("answer came", "unknown", "unknown", 1),
    ("file written", "saved", "answered", 1),
    ("row saved", "saved", "answered", 1),
    ("answered", "saved", "answered", 1),
)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """One that no other test has asked for anything: what arrives is counted."""
    options = Options(tokens_per_second=0, any_key=True, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("killed"), resources(), options=options) as running:
        yield running


@pytest.fixture(scope="module")
def killed_programs_here() -> Iterator[KilledPrograms]:
    with killed_programs("tests.ui.images.killed_images") as found:
        yield found


async def kill_at(killed_programs_here: KilledPrograms, step: str, home: Path, sandbox: RunningSandbox) -> None:
    assert await killed_programs_here.kill(step, str(home), sandbox.base_url, sandbox.api_key) == step


async def arrived(sandbox: RunningSandbox) -> int:
    """How many calls for an image the service ever saw."""
    return len(await controls_of(sandbox).calls("/image/generate"))


@pytest.mark.parametrize(("step", "state", "intent_state", "calls"), TABLE)
async def test_killed_there_it_is_one_paid_call_with_its_file_or_the_truth(
    killed_programs_here: KilledPrograms,
    tmp_path: Path,
    sandbox: RunningSandbox,
    theme: Theme,
    step: str,
    state: str,
    intent_state: str,
    calls: int,
) -> None:
    before = await arrived(sandbox)
    await kill_at(killed_programs_here, step, tmp_path, sandbox)
    async with open_images(tmp_path, sandbox, theme) as images:
        (image,) = images.rows.values()
        assert image.state == state, image
        assert (image.prompt, image.title) == ("A harbor at dawn", "A harbor at dawn")
        intents = Intents(images.database)
        (intent,) = await intents.recent("images")
        assert (intent.state, await intents.pending("images")) == (intent_state, ())
        if state == "saved":
            assert Image.open(io.BytesIO(images.file_of(image))).size == (image.width, image.height) == (1024, 1024)
        else:
            assert not image.has_file
            assert ("Nothing was charged" in image.note) == (state == "failed")
        images.select(image.id)
        assert images.prompt_text() in ("A harbor at dawn", "")
        assert images.paid == []
    assert await arrived(sandbox) - before == calls


async def test_what_was_never_sent_says_so_behind_any_number_of_newer_calls(
    killed_programs_here: KilledPrograms, tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    await kill_at(killed_programs_here, "intended", tmp_path, sandbox)
    (file,) = tmp_path.rglob("rialto.sqlite3")
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 600)"
            " INSERT INTO intents (id, kind, account_id, created_at, changed_at, state)"
            " SELECT 'newer ' || n, 'images', 'a1', 0, 0, 'answered' FROM count"
        )
    async with open_images(tmp_path, sandbox, theme) as images:
        (image,) = images.rows.values()
        assert image.state == "failed" and "Nothing was charged" in image.note


async def test_the_next_start_says_it_once_and_not_again(
    killed_programs_here: KilledPrograms, tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    await kill_at(killed_programs_here, "sent", tmp_path, sandbox)
    told = []
    for _ in range(2):
        async with open_images(tmp_path, sandbox, theme) as images:
            told.append([words[0] for words in images.toasts])
    assert len(told[0]) == 1 and "not clear" in told[0][0]
    assert told[1] == []
