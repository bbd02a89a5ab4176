"""`eth_getProof`: the trie nodes that prove what an account holds to whoever knows the state root of a block.

A module of its own: the only one that reads the tries which py-evm keeps its state in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rlp
from eth.constants import BLANK_ROOT_HASH
from eth.rlp.accounts import Account
from eth_utils.crypto import keccak
from trie.hexary import HexaryTrie

from app.sandbox.chains.rpc_values import hexed
from app.sandbox.http.errors import Json

EMBEDDED_BELOW_BYTES = 32  # a shorter node lies inside the one above it


def proof_json(nodes: Any, state_root: bytes, owner: bytes, slots: Sequence[int]) -> Json:
    """`nodes`: the trie nodes by hash. An account or a slot that is not there is proven to be empty."""
    accounts = HexaryTrie(nodes, state_root)
    key = keccak(owner)
    found = accounts[key]
    account = rlp.decode(found, sedes=Account) if found else Account()
    storage = HexaryTrie(nodes, account.storage_root)
    return {
        "address": hexed(owner),
        "accountProof": _proof(accounts, key),
        "balance": hex(account.balance),
        "codeHash": hexed(account.code_hash),
        "nonce": hex(account.nonce),
        "storageHash": hexed(account.storage_root),
        "storageProof": [_slot_json(storage, slot) for slot in slots],
    }


def _slot_json(storage: Any, slot: int) -> Json:
    place = keccak(slot.to_bytes(32, "big"))
    held = storage[place]
    value = int.from_bytes(rlp.decode(held), "big") if held else 0
    return {"key": hexed(slot.to_bytes(32, "big")), "value": hex(value), "proof": _proof(storage, place)}


def _proof(trie: Any, key: bytes) -> list[str]:
    if trie.root_hash == BLANK_ROOT_HASH:
        return []
    encoded = [rlp.encode(node) for node in trie.get_proof(key)]
    return [hexed(node) for index, node in enumerate(encoded) if index == 0 or len(node) >= EMBEDDED_BELOW_BYTES]
