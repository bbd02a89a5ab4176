import pytest

from app.credentials.keyring_backends import NoBackend
from app.credentials.vault import KeyringStore, PassphraseStore, SessionStore, StoreChoice, choose_store
from tests.credentials.test_passphrase_store import CHEAP, PASSPHRASE, Shelf
from tests.fakes.keyrings import FakeKeyring


def no_keyring() -> FakeKeyring:
    raise NoBackend("absent", "", "No system keyring was found on this computer.")


async def choose(remembered: str, *, keyring: bool, vault: bool) -> tuple[StoreChoice, str]:
    shelf = Shelf()
    passphrase = PassphraseStore(shelf, derivation=CHEAP)
    if vault:
        await passphrase.create(PASSPHRASE)
        passphrase.lock()
    stores = {
        "keyring": KeyringStore(find=FakeKeyring if keyring else no_keyring),
        "session": SessionStore(),
        "passphrase": passphrase,
    }
    choice = await choose_store(remembered, keyring=stores["keyring"], session=stores["session"], passphrase=passphrase)
    return choice, next((name for name, store in stores.items() if store is choice.store), "ask")


@pytest.mark.parametrize(
    ("remembered", "keyring", "vault", "expected"),
    [
        ("", True, False, "keyring"),
        ("", True, True, "keyring"),
        ("", False, True, "passphrase"),
        ("", False, False, "ask"),
        ("keyring", True, True, "keyring"),
        ("keyring", False, False, "ask"),
        ("keyring", False, True, "ask"),
        ("session", True, True, "session"),
        ("session", False, False, "session"),
        ("passphrase", True, True, "passphrase"),
        ("passphrase", False, True, "passphrase"),
        ("passphrase", True, False, "ask"),
        ("passphrase", False, False, "ask"),
    ],
)
async def test_no_place_is_ever_taken_silently(remembered: str, keyring: bool, vault: bool, expected: str) -> None:
    choice, chosen = await choose(remembered, keyring=keyring, vault=vault)
    assert chosen == expected
    assert choice.status.sentence.endswith(".")
    assert (choice.store is None) == bool(choice.options)


async def test_the_question_says_what_is_missing_and_offers_no_plain_text() -> None:
    choice, _ = await choose("", keyring=False, vault=False)
    assert choice.status.sentence == "No system keyring was found on this computer."
    assert choice.options == ("passphrase", "session")
    choice, _ = await choose("passphrase", keyring=True, vault=False)
    assert choice.options == ("keyring", "passphrase", "session")
    assert "no longer exists" in choice.status.sentence


async def test_the_session_forgets_when_told_and_is_always_ready() -> None:
    store = SessionStore()
    await store.write("a1", "api_key", "sk-short-lived")
    assert await store.read("a1", "api_key") == "sk-short-lived"
    assert "sk-short" not in repr(vars(store))
    await store.delete("a1", "api_key")
    await store.delete("a1", "api_key")
    assert await store.read("a1", "api_key") is None
    assert (await store.status()).state == "ready"
    assert await SessionStore().read("a1", "api_key") is None
