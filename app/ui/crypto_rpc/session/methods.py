"""Which methods there are: what each does, what it takes, what it costs, and why some are not offered.

The lists are data (`resources/data/rpc_methods.json`, `rpc_method_help.json`); prices and refusals are the service
layer's, so that what is shown is what is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.service.rpc_methods import STATE_CHANGING, Family, Tier, call_credits, family_of, refusal_of, tier_of
from app.ui.crypto_rpc.session.method_help import HELP

MAX_FOUND = 400
# What stands for any address in the examples, and what is there in the Sandbox: a token with transfers in its logs, and
# an account with money.
ANY_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
SANDBOX_CONTRACT = "0xA434427E4FE827775149d3A2212c83ec6Fb83033"
SANDBOX_ACCOUNT = "0x32039A48f9599f57eCee4dCced9c86A746Efe1dd"
_TOTAL_SUPPLY = "0x18160ddd"  # totalSupply()
USUAL = ("eth_call", "eth_getBalance", "eth_getLogs", "eth_blockNumber")
_OF_ACCOUNTS = ("eth_getBalance", "eth_getTransactionCount")


@dataclass(frozen=True, slots=True)
class ParameterHelp:
    """One parameter of a method. `kind` is "address", "block", "hash", "quantity", "bool", "hex", "list", … ."""

    name: str
    kind: str
    example: object
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """One method as the picker shows it on a network. `refusal` is "" when it can be sent."""

    name: str
    help: str
    parameters: tuple[ParameterHelp, ...]
    tier: Tier
    credits: int
    refusal: str = ""

    @property
    def only_reads(self) -> bool:
        return self.name not in STATE_CHANGING

    @property
    def example(self) -> list[object]:
        """Parameters to begin with: an example for each that is needed."""
        return [parameter.example for parameter in self.parameters if not parameter.optional]


def sandbox_example(method: str, example: Sequence[object]) -> list[object]:
    """The same example with addresses under which the Sandbox's chains have something to show."""
    address = SANDBOX_ACCOUNT if method in _OF_ACCOUNTS else SANDBOX_CONTRACT

    def shown(value: object) -> object:
        if isinstance(value, Mapping):
            fields = {name: shown(one) for name, one in value.items()}
            if fields.get("data") == "0x" and fields.get("to") == SANDBOX_CONTRACT:
                fields["data"] = _TOTAL_SUPPLY
            return fields | ({"fromBlock": "0x0"} if method == "eth_getLogs" else {})
        if isinstance(value, list):
            return [shown(one) for one in value]
        return address if value == ANY_ADDRESS else value

    return [shown(value) for value in example]


class MethodCatalog:
    """All known methods, by family of network. Built once from the data files (in a thread: some 30 kB of JSON)."""

    def __init__(self, methods: Mapping[str, object], help_of: Mapping[str, Mapping[str, object]]) -> None:
        self._help = help_of
        self._names: dict[Family, tuple[str, ...]] = {}
        self._offered: dict[str, tuple[MethodInfo, ...]] = {}  # by the network
        families = methods.get("families")
        assert isinstance(families, Mapping)
        for family, tiers in families.items():
            listed = [name for names in tiers.values() for name in names]
            beginnings = tuple(name[:-1] for name in listed if name.endswith("*"))
            known = [name for name in listed if not name.endswith("*")]
            known += [name for name in help_of if beginnings and name.startswith(beginnings)]
            self._names[family] = tuple(dict.fromkeys(known))
        never = methods.get("never")
        assert isinstance(never, Mapping)
        self._refused: tuple[str, ...] = tuple(name for names in never.values() for name in names)

    @classmethod
    def read(cls, folder: Path) -> MethodCatalog:
        """Read the files of `resources/data`."""
        return cls(
            json.loads((folder / "rpc_methods.json").read_text(encoding="utf-8")),
            json.loads((folder / "rpc_method_help.json").read_text(encoding="utf-8")),
        )

    def info(self, network: str, method: str) -> MethodInfo:
        """What is known of a method, also of one that nobody listed."""
        entry = self._help.get(method, {})
        parameters = entry.get("params", ())
        assert isinstance(parameters, Sequence)
        return MethodInfo(
            method,
            HELP.get(method, ""),
            tuple(_parameter(each) for each in parameters),
            tier_of(method),
            call_credits(network, method),
            refusal_of(method) or "",
        )

    def offered(self, network: str) -> tuple[MethodInfo, ...]:
        """Every method that the network's family knows, in the order of the specification."""
        if network not in self._offered:
            names = self._names.get(family_of(network), ())
            self._offered[network] = tuple(self.info(network, name) for name in names)
        return self._offered[network]

    def refused(self, network: str) -> tuple[MethodInfo, ...]:
        """The methods that the service never carries out, each with its reason."""
        if family_of(network) != "evm":
            return ()
        return tuple(self.info(network, name) for name in self._refused)

    def is_known(self, network: str, method: str) -> bool:
        return method in self._names.get(family_of(network), ()) or tier_of(method) != "unknown"

    def fits(self, network: str, method: str) -> bool:
        """False for a method that belongs to networks of another family: the service would refuse it."""
        family = family_of(network)
        others = {name for each, names in self._names.items() if each != family for name in names}
        return method in self._names.get(family, ()) or method not in others


def search(methods: Sequence[MethodInfo], text: str, used: Sequence[str] = ()) -> tuple[MethodInfo, ...]:
    """The methods that hold every word of `text`, in the name first, then in the help; best first.

    Without a text those in `used` come first (latest first), then the usual ones; a cheap one before a dear one, as
    Enter takes the first.
    """
    words = text.lower().split()
    if not words:
        places = {name: place for place, name in reversed([*enumerate((*used, *USUAL))])}

        def order(method: MethodInfo) -> tuple[bool, bool, int, int]:
            return method.name not in used, method.name not in USUAL, method.credits, places.get(method.name, 0)

        return tuple(sorted(methods, key=order)[:MAX_FOUND])
    found = []
    for place, method in enumerate(methods):
        name, text_of_help = method.name.lower(), method.help.lower()
        if all(word in name or word in text_of_help for word in words):
            missed = sum(word not in name for word in words)
            begins = not any(part.startswith(words[0]) for part in (name, name.partition("_")[2]))
            found.append((missed, begins, place, method))
    return tuple(method for *_, method in sorted(found, key=lambda row: row[:3])[:MAX_FOUND])


def _parameter(entry: Mapping[str, object]) -> ParameterHelp:
    return ParameterHelp(str(entry["name"]), str(entry["type"]), entry["example"], entry.get("optional") is True)
