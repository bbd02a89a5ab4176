"""What the Console's two pickers find, and what choosing does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from app.core.number_format import credits_text
from app.translation import tr
from app.ui.crypto_rpc.picker import Picker
from app.ui.crypto_rpc.picker_rows import PickRow, Row
from app.ui.crypto_rpc.session.methods import MethodInfo, search
from app.ui.crypto_rpc.session.networks import is_test_network
from app.ui.crypto_rpc.state import TIER_WORDS
from app.ui.kit.lists.grouped_list import Heading
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.widgets.announce import announce

if TYPE_CHECKING:
    from app.ui.crypto_rpc.page import CryptoRpcPage
    from app.ui.crypto_rpc.session.networks import NetworkRow
    from app.ui.kit.theme import Theme

TIER_PILLS = {tr("Standard ×1"): "standard", tr("Advanced ×2"): "advanced", tr("Large ×4"): "large"}
MAIN, TEST, OTHER = tr("Main networks"), tr("Test networks"), tr("Non-EVM networks")
TIER_TONES = {"standard": "neutral", "advanced": "accent", "large": "warn", "unknown": "outline"}
USUAL_CREDITS = 20  # more than that is marked


class Pickers(QObject):
    """Both stand under the button that opens them and answer the same keys."""

    def __init__(self, page: CryptoRpcPage, theme: Theme) -> None:
        super().__init__(page)
        self._page = page
        self.networks = Picker(
            theme,
            page.main,
            name=tr("Networks"),
            placeholder=tr("Search by name, slug or chain ID"),
            find=self._find_networks,
            pills=(MAIN, TEST, OTHER),
            hints=(("Enter", tr("Use")), ("Ctrl+D", tr("Favorite"))),
            count=self._network_count,
            note=lambda: page.presenter.network_list.age_words(),
            columns=(tr("Network"), tr("Slug"), tr("Chain ID"), tr("Credits")),
        )
        self.methods = Picker(
            theme,
            page.main,
            name=tr("Methods"),
            placeholder=tr("Search methods"),
            find=self._find_methods,
            pills=(*TIER_PILLS, tr("Read only"), tr("Used before")),
            hints=(
                ("Enter", tr("Add to batch")),
                ("Shift+Enter", tr("Add another")),
                ("Ctrl+Enter", tr("Add and send alone")),
                ("F1", tr("Method help")),
            ),
            count=self._method_count,
            free=True,
        )
        self.networks.chosen.connect(lambda slug, _control: page.presenter.use_network(slug))
        self.networks.star_requested.connect(page.presenter.star_network)
        self.methods.chosen.connect(self._add)
        self.methods.help_requested.connect(self._help)

    def _network_count(self, rows: Sequence[Row]) -> str:
        found, everything = _number(rows), len(self._page.presenter.networks())
        return (
            tr("{found} of {everything} networks", found=found, everything=everything)
            if found != everything
            else tr("{everything} networks", everything=everything)
        )

    def _method_count(self, rows: Sequence[Row]) -> str:
        presenter = self._page.presenter
        catalog, network = presenter.methods, presenter.view().network
        everything = len(catalog.offered(network.slug)) if catalog is not None else 0
        return tr(
            "{number} of {everything} on {title}", number=_number(rows), everything=everything, title=network.title
        )

    def _find_networks(self, text: str, pills: frozenset[str]) -> Sequence[Row]:
        words, rows, group = SearchTerms(text), list[Row](), ""
        for network in self._page.presenter.networks():
            known_as = (network.title, network.slug, str(network.chain_id or ""))
            if not words.are_in(*known_as) or (pills and not pills & _pills_of(network)):
                continue
            if network.group != group:
                group = network.group
                rows.append(Heading(group))
            price = str(network.credits)
            rows.append(
                PickRow(
                    network.slug,
                    network.title,
                    badge=price if network.credits > USUAL_CREDITS else "",
                    tone="warn",
                    right=price,
                    starred=network.is_favorite,
                    columns=(network.slug, network.chain),
                    current=network.is_current,
                )
            )
        return rows

    def _find_methods(self, text: str, pills: frozenset[str]) -> Sequence[Row]:
        catalog, network = self._page.presenter.methods, self._page.presenter.draft.network
        if catalog is None:
            return ()
        used = self._page.presenter.keeper.used
        tiers = {TIER_PILLS[pill] for pill in pills if pill in TIER_PILLS}
        found = [
            method
            for method in search(catalog.offered(network), text, used)
            if (not tiers or method.tier in tiers)
            and (tr("Read only") not in pills or method.only_reads)
            and (tr("Used before") not in pills or method.name in used)
        ]
        rows: list[Row] = [_method_row(method) for method in found]
        refused = search(catalog.refused(network), text) if not pills else ()
        if refused:
            rows.append(Heading(tr("Not supported by the service")))
            rows += [
                PickRow(each.name, each.name, _reason(each), tr("Not supported"), "outline", mono=True, usable=False)
                for each in refused
            ]
        return rows

    def _add(self, name: str, alone: bool) -> None:
        page = self._page
        page.main.show_side("request")
        page.presenter.add_method(name)
        if self.methods.isVisible():
            announce(self.methods, page.main.request.params.accessibleDescription())
        else:
            page.main.request.params.setFocus(Qt.FocusReason.OtherFocusReason)
        if alone:
            page.presenter.send_alone(len(page.presenter.draft.rows))

    def _help(self, name: str) -> None:
        self.methods.close()
        self._page.show_help_of(name, self._page.main.add_method)


def _number(rows: Sequence[Row]) -> int:
    return sum(isinstance(row, PickRow) and row.usable for row in rows)


def _pills_of(network: NetworkRow) -> frozenset[str]:
    if network.family != "evm":
        return frozenset({OTHER})
    return frozenset({TEST if is_test_network(network.slug) else MAIN})


def _method_row(method: MethodInfo) -> PickRow:
    words = TIER_WORDS[method.tier]
    price = credits_text(method.credits)
    return PickRow(method.name, method.name, method.help, words, TIER_TONES[method.tier], price, mono=True)


def _reason(method: MethodInfo) -> str:
    """Why it is not offered; its name stands above."""
    words = method.refusal.removeprefix(f"{method.name} ")
    return words[:1].upper() + words[1:]
