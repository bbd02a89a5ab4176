from app.storage.database import Database
from app.storage.service_cache import KEPT_KEYS, ServiceCache
from tests.storage.conftest import Clock


async def test_what_was_saved_is_there_with_its_age(database: Database, clock: Clock) -> None:
    service_cache = ServiceCache(database)
    models = {"data": [{"id": "rialto-handbook", "name": "Handbook ≥ 1"}]}
    await service_cache.save("a1", "models", "text", models)
    saved_at = clock.time
    clock.turn(hours=3)
    saved = await service_cache.load("a1", "models", "text")
    assert saved is not None
    assert (saved.value, saved.saved_at) == (models, saved_at)
    assert await service_cache.load("a2", "models", "text") is None
    assert await service_cache.load("a1", "models") is None


async def test_newer_replaces_older(database: Database, clock: Clock) -> None:
    service_cache = ServiceCache(database)
    await service_cache.save("a1", "models", "text", [1])
    clock.turn(hours=1)
    await service_cache.save("a1", "models", "text", [2])
    saved = await service_cache.load("a1", "models", "text")
    assert saved is not None
    assert (saved.value, saved.saved_at) == ([2], clock.time)


async def test_it_does_not_grow_without_end(database: Database, clock: Clock) -> None:
    service_cache = ServiceCache(database)
    for number in range(KEPT_KEYS + 5):
        clock.turn(seconds=1)
        await service_cache.save("a1", "characters", f"search {number}", [number])
    await service_cache.save("a1", "models", "text", [])
    assert await service_cache.load("a1", "characters", "search 4") is None
    assert await service_cache.load("a1", "characters", "search 5") is not None
    assert await service_cache.load("a1", "models", "text") is not None


async def test_a_removed_account_is_forgotten(database: Database) -> None:
    service_cache = ServiceCache(database)
    await service_cache.save("a1", "models", "", [])
    await service_cache.save("a2", "models", "", [])
    await service_cache.forget("a1")
    assert await service_cache.load("a1", "models") is None
    assert await service_cache.load("a2", "models") is not None


async def test_a_body_that_cannot_be_read_counts_as_absent(database: Database) -> None:
    service_cache = ServiceCache(database)
    await service_cache.save("a1", "models", "", [])
    await database.execute("UPDATE catalogue SET body = '{'")
    assert await service_cache.load("a1", "models") is None
