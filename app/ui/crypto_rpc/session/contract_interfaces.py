"""Contracts' interfaces: kept on disk by address, used to write calls and to read what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from app.storage.rpc_interfaces import RpcInterfaces
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.decoding import STANDARD_TEXT, Interfaces
from app.ui.crypto_rpc.session.tokens import TokenBook, TokenFacts, amount_place, smallest_units
from app.wallet.abi import Interface, encode_call, read_interface
from app.wallet.abi_types import Entry
from app.wallet.addresses import read_evm_address
from app.wallet.errors import AbiRefused, WalletError

Function = Entry  # of kind "function"


class ContractInterfaces:
    """`known` is what was read from disk; a file that holds no interface is left alone and not used."""

    def __init__(self, files: RpcInterfaces, tokens: TokenBook) -> None:
        self._files = files
        self.tokens = tokens
        self.texts: dict[str, str] = {}
        self.known: dict[str, Interface] = {}

    async def read(self) -> None:
        self.texts = await asyncio.to_thread(self._files.read_all)
        self.known = await asyncio.to_thread(_all, self.texts)

    def interfaces(self, network: str = "") -> Interfaces:
        """What answers are read with; on a network, its tokens too."""
        return Interfaces(dict(self.known), self.tokens.on(network) if network else {})

    def text_for(self, address: str) -> str:
        """The interface that was loaded for a contract, else the one of tokens."""
        return self.texts.get(address.strip().lower(), STANDARD_TEXT)

    async def keep(self, address: str, text: str) -> None:
        """Keep the interface of a contract. Raises `StorageError`, or `WalletError` for what is none."""
        name = read_evm_address(address).lower()
        interface = await asyncio.to_thread(read_interface, text)
        await asyncio.to_thread(self._files.save, name, text)
        self.texts[name], self.known[name] = text, interface


def _all(texts: Mapping[str, str]) -> dict[str, Interface]:
    found = {}
    for address, text in texts.items():
        try:
            found[address] = read_interface(text)
        except AbiRefused:
            continue
    return found


def functions_in(text: str) -> tuple[tuple[Entry, ...], str]:
    """The functions of an interface's text, and a sentence when it holds none."""
    if not text.strip():
        return (), tr(
            "Paste an interface (ABI), or signatures such as balanceOf(address) returns (uint256), one per line."
        )
    try:
        interface = read_interface(text)
    except AbiRefused as error:
        return (), error.sentence
    functions = interface.of_kind("function")
    if not functions:
        return (), tr("This interface has no functions.")
    skipped = interface.skipped
    words = ""
    if skipped:
        words = tr_n(
            "{n} entry could not be read: {names}.",
            "{n} entries could not be read: {names}.",
            len(skipped),
            names=", ".join(f"“{name}”" for name in skipped[:3]) + (", …" if len(skipped) > 3 else ""),
        )
    return functions, words


def is_address(text: str) -> bool:
    """Whether this is an address, with the right checksum where it has one."""
    try:
        read_evm_address(text)
    except WalletError:
        return False
    return True


def call_data(entry: Entry, address: str, arguments: Sequence[str], token: TokenFacts) -> tuple[dict[str, str], str]:
    """The object of `eth_call` and its like, and a sentence when something in it does not fit.

    An amount of a token whose decimals are known may be written with a point or with the token's symbol.
    """
    place = amount_place(entry)
    try:
        given = [smallest_units(each, token) if at == place else each for at, each in enumerate(arguments)]
        return {"to": read_evm_address(address.strip()), "data": encode_call(entry, given)}, ""
    except WalletError as error:
        return {}, error.sentence
