"""Collections: files that compare line by line, hold no secret and survive another program's hand."""

import difflib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.rpc_collections import (
    SIGNED,
    Collection,
    NotACollection,
    RpcCollections,
    SavedRequest,
    collection_text,
    file_stem,
    read_collection,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BALANCE = {"method": "eth_getBalance", "params": ["{{address}}", "latest"]}
BLOCK = {"method": "eth_blockNumber", "params": []}
TOKENS = Collection(
    "Token balances",
    (SavedRequest("Balance", "base-mainnet", (BALANCE,)), SavedRequest("Both", "base-mainnet", (BLOCK, BALANCE), True)),
    {"address": "0xabc", "blocks": 5},
)


@pytest.fixture
def folder(tmp_path: Path) -> RpcCollections:
    return RpcCollections(tmp_path / "collections")


def test_a_collection_comes_back_as_it_was_saved(folder: RpcCollections) -> None:
    saved = folder.save(TOKENS)
    assert saved.file == "token-balances.json"
    assert folder.read_all() == ((saved,), ())
    again = folder.save(replace(saved, name="Renamed"))
    assert [each.file for each in folder.read_all()[0]] == [again.file]
    folder.trash(again, None, NOON)
    assert folder.read_all() == ((), ())


def test_what_is_in_the_trash_comes_back_into_the_file_it_was_in(folder: RpcCollections) -> None:
    saved = folder.save(TOKENS)
    request = folder.trash(saved, 0, NOON)
    (left,), _ = folder.read_all()
    assert [each.name for each in left.requests] == ["Both"]
    whole = folder.trash(left, None, NOON + timedelta(minutes=1))
    assert folder.read_all() == ((), ())
    assert [(each.name, each.collection.file, each.trashed_at) for each in folder.trashed()] == [
        (request, saved.file, NOON),
        (whole, saved.file, NOON + timedelta(minutes=1)),
    ]
    folder.restore(request)
    folder.restore(whole)
    (back,), _ = folder.read_all()
    assert (back.file, back.variables, {each.name for each in back.requests}) == (
        saved.file,
        TOKENS.variables,
        {"Balance", "Both"},
    )
    assert folder.trashed() == ()
    folder.delete(folder.trash(back, None, NOON))
    folder.restore("nothing of that name")
    assert folder.read_all() == ((), ()) and folder.trashed() == ()


def test_a_file_that_cannot_be_read_is_not_overwritten_by_what_comes_back(folder: RpcCollections) -> None:
    saved = folder.save(TOKENS)
    name = folder.trash(saved, None, NOON)
    (folder.folder / saved.file).write_text("somebody's notes")
    folder.restore(name)
    (back,), broken = folder.read_all()
    assert broken == (saved.file,) and back.file != saved.file and back.requests == TOKENS.requests
    assert (folder.folder / saved.file).read_text() == "somebody's notes"


def test_two_collections_of_one_name_are_two_files(folder: RpcCollections) -> None:
    assert [folder.save(TOKENS).file, folder.save(TOKENS).file] == ["token-balances.json", "token-balances-2.json"]


def test_a_small_change_is_a_small_difference() -> None:
    changed = replace(TOKENS, variables={"blocks": 5, "address": "0xdef"})
    lines = [collection_text(each).splitlines() for each in (TOKENS, changed)]
    difference = [
        line for line in difflib.unified_diff(*lines, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))
    ]
    assert difference == ['-    "address": "0xabc",', '+    "address": "0xdef",']
    assert collection_text(TOKENS).endswith("}\n")


def test_r_rpc_41_a_signed_transaction_becomes_a_variable() -> None:
    send = {"method": "eth_sendRawTransaction", "params": ["0xf86c098504a817c800"]}
    text = collection_text(Collection("Sends", (SavedRequest("Send", "base-mainnet", (send,)),)))
    assert "0xf86c" not in text
    assert read_collection(text).requests[0].items[0]["params"] == [SIGNED]


def test_a_file_that_is_no_collection_is_named_and_left_alone(folder: RpcCollections) -> None:
    folder.save(TOKENS)
    texts = {"a.json": "{", "b.json": "[]", "c.json": json.dumps({"format": "rialto-collection", "version": 99})}
    for name, text in texts.items():
        (folder.folder / name).write_text(text)
    found, broken = folder.read_all()
    assert ([each.name for each in found], broken) == (["Token balances"], ("a.json", "b.json", "c.json"))
    assert (folder.folder / "a.json").read_text() == "{"


def test_what_is_odd_in_a_file_costs_that_part_only() -> None:
    value = json.loads(collection_text(TOKENS))
    value["requests"][0]["items"] = [5, {"method": 5}, {"method": "eth_chainId"}]
    value["requests"].append("nothing")
    value["variables"]["not a name"] = 1
    read = read_collection(json.dumps(value))
    assert read.requests[0].items == ({"method": "eth_chainId", "params": []},)
    assert (len(read.requests), set(read.variables)) == (2, {"address", "blocks"})


@given(st.text())
def test_a_files_name_is_safe_on_every_system(name: str) -> None:
    stem = file_stem(name)
    assert stem
    assert stem.isascii()
    assert all(char.isalnum() or char == "-" for char in stem)
    assert stem not in ("con", "nul", "aux", "prn", "com1", "lpt9")


@given(st.text())
def test_no_text_ends_in_anything_but_a_collection_or_a_refusal(text: str) -> None:
    with pytest.raises(NotACollection):
        read_collection(text)
