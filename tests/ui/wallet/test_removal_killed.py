"""A program that is killed while a wallet is removed, restored or deleted: no key is lost, and none loses its owner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.killing import KilledPrograms, killed_programs
from tests.ui.wallet.killed_removal import ACTS, DELETES, KEY, open_home, prepare

LIST, VAULT = ("list:before", "list:after"), ("vault:before", "vault:after")
KILLS = [(what, point) for what in ACTS for point in ((*VAULT, *LIST) if what in (*DELETES, "import again") else LIST)]


@pytest.fixture(scope="module")
def killed() -> Iterator[KilledPrograms]:
    with killed_programs("tests.ui.wallet.killed_removal") as found:
        yield found


@pytest.mark.parametrize(("what", "point"), KILLS)
async def test_r_wal_a_killed_removal_loses_no_key_and_leaves_none_without_an_owner(
    killed: KilledPrograms, tmp_path: Path, what: str, point: str
) -> None:
    await prepare(tmp_path, what)
    before = json.loads((tmp_path / "accounts.json").read_text())
    assert await killed.kill(str(tmp_path), what, point) == point
    home = await open_home(tmp_path)
    is_done = point == "list:after"
    assert home.book.note == ""
    if is_done and what in DELETES:
        assert home.book.removed() == () and len(home.book.list()) == 1
        assert await home.vault.read(before["removed"][0]["id"], "api_key") is None, "a key without an owner"
        return
    wallet = home.wallet  # its id is known, so nothing in the vault is without an owner
    is_changed = point != "vault:before" and what in (*DELETES, "import again")
    assert await home.key() == (KEY if is_changed == (what == "import again") else None)
    if not is_done:
        assert json.loads((tmp_path / "accounts.json").read_text()) == before
    await home.act(what)  # the person, or the next start, does it once more
    home.keys.close()
    await home.tasks.aclose()
    again = await open_home(tmp_path)
    if what in DELETES:
        assert again.book.removed() == () and len(again.book.list()) == 1
        assert await again.vault.read(wallet.id, "api_key") is None
    else:
        assert (again.wallet.id, await again.key()) == (wallet.id, KEY)
        listed = again.book.get(wallet.id)
        if what == "remove":
            assert listed is None
        else:
            assert listed is not None and listed.watch_only == (what == "remove key")
