"""Between collections on disk and calls in the editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.storage.rpc_collections import Collection, RpcCollections, SavedRequest
from app.ui.crypto_rpc.batch import CallRow
from app.ui.crypto_rpc.variables import used_in


def rows_of(request: object) -> tuple[CallRow, ...]:
    """The calls of a saved request."""
    assert isinstance(request, SavedRequest)
    return tuple(
        CallRow(place, str(item["method"]), item.get("params", [])) for place, item in enumerate(request.items, start=1)
    )


def values_of(collection: object) -> dict[str, Any]:
    assert isinstance(collection, Collection)
    return dict(collection.variables)


def saved_into(
    shelf: RpcCollections,
    name: str,
    title: str,
    network: str,
    items: Sequence[Mapping[str, Any]],
    batch: bool,
    variables: Mapping[str, Any],
) -> Collection:
    """Add a request to the collection of that name, which is made when it is not there; one of the same title is
    replaced. Blocking: call it in a thread. Raises `StorageUnavailable`."""
    found, _ = shelf.read_all()
    collection = next((each for each in found if each.name.casefold() == name.casefold()), Collection(name))
    request = SavedRequest(title, network, tuple(items), batch)
    others = tuple(each for each in collection.requests if each.name != title)
    used = used_in(rows_of(request))
    values = {**collection.variables, **{each: variables[each] for each in used if each in variables}}
    return shelf.save(Collection(collection.name, (*others, request), values, collection.file))
