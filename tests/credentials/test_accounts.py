import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.credentials.accounts import (
    DIALECTS,
    KINDS,
    AccountRefused,
    Accounts,
    account_from,
    clean_address,
    hint_of,
    is_this_computer,
    new_account,
)


class Shelf:
    """A file in memory."""

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data
        self.aside: list[bytes | None] = []

    def load(self) -> bytes | None:
        return self.data

    def save(self, data: bytes) -> None:
        self.data = data

    def set_aside(self) -> str:
        self.aside.append(self.data)
        self.data = None
        return "accounts.json.broken"

    def book(self) -> Accounts:
        return Accounts(self.load, self.save, self.set_aside)


def test_accounts_are_there_after_a_restart() -> None:
    shelf = Shelf()
    book = shelf.book()
    first = book.add(new_account("Work", "https://api.example.com/v1/", secret_hint="abcd"))
    second = book.add(new_account("Home", "http://127.0.0.1:8080", dialect="venice", kind="wallet"))
    assert (first.base_url, first.host) == ("https://api.example.com/v1", "api.example.com")
    again = shelf.book()
    assert again.list() == (first, second)
    assert again.active == first  # the first one added is in use
    again.set_active(second.id)
    assert shelf.book().active_id == second.id


def test_an_account_is_changed_and_removed() -> None:
    shelf = Shelf()
    book = shelf.book()
    first = book.add(new_account("Work", "https://a.example"))
    second = book.add(new_account("Home", "https://b.example"))
    assert book.update(first.id, name="  Day   job ", secret_hint="not more than four").name == "Day job"
    assert book.get(first.id) == shelf.book().get(first.id)
    assert book.list()[0].secret_hint == "four"
    book.remove(first.id)
    book.remove(first.id)
    assert shelf.book().active_id == second.id
    book.remove(second.id)
    assert (shelf.book().list(), shelf.book().active) == ((), None)


def test_two_accounts_never_look_alike() -> None:
    book = Shelf().book()
    account = book.add(new_account("Work", "https://a.example"))
    with pytest.raises(AccountRefused, match="already called work"):
        book.add(new_account("work", "https://b.example"))
    with pytest.raises(AccountRefused, match="already in the list"):
        book.add(account)
    with pytest.raises(KeyError):
        book.set_active("nobody")


def test_a_change_that_cannot_be_saved_does_not_hold() -> None:
    shelf = Shelf()
    book = shelf.book()
    account = book.add(new_account("Work", "https://a.example"))

    def refuse(data: bytes) -> None:
        raise OSError("disk full")

    book._save = refuse
    with pytest.raises(OSError, match="disk full"):
        book.update(account.id, name="Other")
    with pytest.raises(OSError, match="disk full"):
        book.remove(account.id)
    assert book.list() == (account,)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" https://API.Example.com/v1/ ", "https://api.example.com/v1"),
        ("https://api.example.com:8443", "https://api.example.com:8443"),
        ("HTTP://LOCALHOST:11434/v1", "http://localhost:11434/v1"),
        ("http://[::1]:80/v1//", "http://[::1]:80/v1"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://api.venice.\u0430i", "https://api.venice.xn--i-7sb"),  # its a is a Cyrillic one
        ("https://api\u3002venice.ai/v1", "https://api.venice.ai/v1"),
        ("http://127.9.8.7", "http://127.9.8.7"),
        ("api.example.com/v1/", "https://api.example.com/v1"),
        ("api.example.com:8443/v1", "https://api.example.com:8443/v1"),
        ("127.0.0.1:8791", "http://127.0.0.1:8791"),
        ("localhost:11434/v1", "http://localhost:11434/v1"),
    ],
)
def test_an_address_is_kept_in_its_plain_form(typed: str, kept: str) -> None:
    assert clean_address(typed) == kept
    assert clean_address(kept) == kept


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter the service’s address"),
        ("mailto:you@example.com", "Leave the user name"),
        ("https:/api.example.com", "has no host name"),
        ("ftp://api.example.com", "must begin with https://"),
        ("https://", "no host name"),
        ("https:///v1", "no host name"),
        ("http://api.example.com/v1", "others on the network could read your key"),
        ("http://192.168.1.5:8080", "others on the network could read your key"),
        ("http://127.0.0.1.example.com", "others on the network could read your key"),
        ("https://me:secret@api.example.com", "Leave the user name and password out"),
        ("https://api.example.com/v1?key=1", "before any ?"),
        ("https://api.example.com/v1#part", "before any ?"),
        ("https://api.example.com/v1?", "before any ?"),
        ("https://api example.com", "a space"),
        ("https://api.example.com\\@evil.example", "not allowed"),
        ("https://api.example.com:99999", "not an address"),
        ("https://[::1", "not an address"),
        ("https://" + "a" * 3000, "Up to 2,000 characters"),
    ],
)
def test_an_address_that_would_not_work_is_refused_with_what_to_change(typed: str, said: str) -> None:
    with pytest.raises(AccountRefused) as caught:
        clean_address(typed)
    assert said in caught.value.sentence
    assert caught.value.field == "base_url"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"dialect": "other"}, "dialect"),
        ({"kind": "x"}, "kind"),
    ],
)
def test_every_other_field_is_checked_too(changes: dict[str, Any], field: str) -> None:
    book = Shelf().book()
    account = book.add(new_account("Work", "https://a.example"))
    with pytest.raises(AccountRefused) as caught:
        book.update(account.id, **changes)
    assert caught.value.field == field
    assert caught.value.sentence


def test_the_hint_never_gives_much_of_a_secret_away() -> None:
    assert hint_of("sk-0123456789abcdef") == "cdef"
    assert hint_of("short") == ""


def test_what_cannot_be_used_stays_in_the_file() -> None:
    good = {"id": "1", "name": "Work", "base_url": "https://a.example"}
    strange = {"id": "2", "name": "New kind", "base_url": "https://b.example", "kind": "hologram"}
    shelf = Shelf(json.dumps({"accounts": [good, strange, 7], "active": "1", "newer": {"x": 1}}).encode())
    book = shelf.book()
    assert [account.name for account in book.list()] == ["Work"]
    assert "could not be read: 2" in book.note
    book.update("1", name="Day job")
    assert shelf.data is not None
    body = json.loads(shelf.data)
    assert body["accounts"][1:] == [strange, 7]
    assert body["newer"] == {"x": 1}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 50_000])
def test_a_broken_file_is_set_aside_and_told(data: bytes) -> None:
    shelf = Shelf(data)
    book = shelf.book()
    assert book.list() == ()
    assert "accounts.json.broken" in book.note
    assert shelf.aside == [data]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "id": anything,
        "name": anything,
        "base_url": anything | st.sampled_from(["https://a.example", "http://localhost:1"]),
        "dialect": anything | st.sampled_from(DIALECTS),
        "kind": anything | st.sampled_from(KINDS),
        "secret_hint": anything,
        "created_at": anything | st.sampled_from(["2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00"]),
    },
)


@given(st.fixed_dictionaries({}, optional={"accounts": st.lists(entries | anything) | anything, "active": anything}))
def test_any_json_reads_as_a_book_and_survives_being_written(body: Any) -> None:
    shelf = Shelf(json.dumps(body).encode("utf-8", "surrogatepass"))
    book = shelf.book()
    before = book.list()
    assert book.active_id == "" or book.active in before
    book.add(new_account("Añadida \N{BRIDGE AT NIGHT} 1234567890", "https://added.example"))
    assert shelf.book().list()[: len(before)] == before


@given(st.text() | st.from_regex(r"https?://[^\s]*", fullmatch=True))
def test_any_address_is_kept_or_refused_with_a_sentence(text: str) -> None:
    try:
        kept = clean_address(text)
    except AccountRefused as refused:
        assert refused.sentence.endswith(".")
    else:
        assert clean_address(kept) == kept
        assert (
            kept.startswith("https://")
            or is_this_computer(kept.removeprefix("http://").split("/")[0].split(":")[0])
            or "[" in kept
        )


@given(anything)
def test_any_entry_is_an_account_or_nothing(entry: Any) -> None:
    account_from(entry)
