"""The lists of models of all tabs: asked of the service, kept for the next start, never another account's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.current_account import CurrentAccount
from app.core.model_lists import (
    MODEL_LISTS,
    MOST_ADDED,
    add_model,
    added_models,
    list_models,
    save_models,
    saved_models,
)
from app.service.models import Model
from app.storage.database import Database
from app.storage.service_cache import CachedValue, ServiceCache
from tests.kit.chat import ACCOUNT, SANDBOX
from tests.kit.service import with_key

KINDS = ("text", "image", "inpaint", "video", "tts", "asr")


@pytest.fixture
async def service_cache(tmp_path: Path) -> AsyncIterator[ServiceCache]:
    database = await Database.open(tmp_path / "rialto.sqlite3")
    yield ServiceCache(database)
    await database.close()


async def test_what_the_service_lists_is_there_at_the_next_start(service_cache: ServiceCache, tmp_path: Path) -> None:
    current_account = CurrentAccount()
    async with with_key(tmp_path) as at:
        current_account.use(ACCOUNT, at.service)
        for kind in KINDS:
            assert await saved_models(service_cache, ACCOUNT.id, kind) == ((), None)
            listed = await list_models(current_account, service_cache, kind)
            saved, saved_at = await saved_models(service_cache, ACCOUNT.id, kind)
            assert listed and saved_at is not None, kind
            assert [model.id for model in saved] == [model.id for model in listed], kind


@pytest.mark.parametrize("rows", [{}, [{"another": "shape"}], "text", None])
async def test_a_list_of_another_version_counts_as_none(service_cache: ServiceCache, rows: object) -> None:
    await service_cache.save(ACCOUNT.id, MODEL_LISTS, "text", rows)
    assert await saved_models(service_cache, ACCOUNT.id, "text") == ((), None)


async def test_a_list_that_comes_after_a_switch_of_accounts_is_nobodys(
    service_cache: ServiceCache, tmp_path: Path
) -> None:
    current_account = CurrentAccount()
    async with with_key(tmp_path) as at:
        current_account.use(ACCOUNT, at.service)
        asked = asyncio.ensure_future(list_models(current_account, service_cache, "text"))
        await asyncio.sleep(0)  # the question is on its way
        current_account.use(SANDBOX, None)
        assert await asked is None
        assert await saved_models(service_cache, ACCOUNT.id, "text") == ((), None)


async def test_a_list_is_nobodys_where_the_account_changes_while_it_is_saved(
    service_cache: ServiceCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    current_account = CurrentAccount()
    load = service_cache.load

    async def switch(account_id: str, kind: str, key: str = "") -> CachedValue | None:
        current_account.use(SANDBOX, None)
        return await load(account_id, kind, key)

    async with with_key(tmp_path) as at:
        current_account.use(ACCOUNT, at.service)
        monkeypatch.setattr(service_cache, "load", switch)
        assert await list_models(current_account, service_cache, "text") is None


async def test_added_models_join_every_list_of_their_kind_and_the_newest_are_kept(service_cache: ServiceCache) -> None:
    listed = (Model(id="a"), Model(id="b"))
    await save_models(service_cache, ACCOUNT.id, "text", listed)
    for number in range(MOST_ADDED + 1):
        await add_model(service_cache, ACCOUNT.id, "text", Model(id=f"m{number}"))
    await add_model(service_cache, ACCOUNT.id, "text", Model(id="b"))
    saved, _ = await saved_models(service_cache, ACCOUNT.id, "text")
    ids = [model.id for model in saved]
    assert ids[:2] == ["a", "b"] and ids.count("b") == 1, "the list's own record stays"
    assert ids[2:] == [f"m{number}" for number in range(2, MOST_ADDED + 1)]
    assert await added_models(service_cache, ACCOUNT.id, "image") == ()
    assert await saved_models(service_cache, "other", "text") == ((), None)
