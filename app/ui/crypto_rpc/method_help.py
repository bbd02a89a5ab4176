"""What one method does, takes and costs, in a popover."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.crypto_rpc.session.methods import MethodInfo
from app.ui.crypto_rpc.state import TIER_WORDS
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.popover import Popover

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

KIND_WORDS = {
    "address": "an address, 0x and 40 digits",
    "block": "a block: its number, or latest, safe, finalized, pending, earliest",
    "hash": "a hash, 0x and 64 digits",
    "quantity": "a number in hexadecimal",
    "number": "a number",
    "bool": "true or false",
    "hex": "bytes, 0x and pairs of digits",
    "call": "a call: to, data, and where needed from, value, gas",
    "filter": "a filter: fromBlock, toBlock, address, topics",
    "list": "a list",
    "object": "an object",
    "text": "a text",
    "felt": "a field element, 0x and digits",
    "base58": "a key in base58",
}


class MethodHelp(Popover):
    def __init__(self, theme: Theme, parent: QWidget, method: MethodInfo) -> None:
        super().__init__(theme, parent, name=f"Help for {method.name}", padding=14)
        head = QHBoxLayout()
        head.addWidget(Label(theme, method.name, "code", weight=500, mono=True), 1)
        head.addWidget(Badge(theme, TIER_WORDS[method.tier]))
        head.addWidget(Label(theme, f"{method.credits} cr", tabular=True))
        self.body.addLayout(head)
        words = method.refusal or method.help or "Nobody wrote help for this method; the service may still know it."
        self.body.addWidget(Label(theme, words, wrap=True))
        for place, parameter in enumerate(method.parameters, start=1):
            optional = ", may be left out" if parameter.optional else ""
            kind = KIND_WORDS.get(parameter.kind, parameter.kind)
            self.body.addWidget(
                Label(theme, f"{place}. {parameter.name}: {kind}{optional}", "small", "text2", wrap=True)
            )
        if method.parameters:
            example = json.dumps(method.example, ensure_ascii=False)
            self.body.addWidget(Label(theme, example, "code", "text2", mono=True, wrap=True))
        if not method.only_reads:
            self.body.addWidget(
                Label(theme, "It changes something on the chain and always goes with a key.", wrap=True)
            )
