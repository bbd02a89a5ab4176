"""Contracts in the Console: calls written from an interface, answers read with one.

A module of its own: the presenter knows calls, this knows contracts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.service.rpc_methods import estimate
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.decoding import STANDARD_TEXT, decoded_outcomes
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.sending import NotSent, estimate_words
from app.ui.crypto_rpc.state import CONTRACT_CALLS
from app.wallet.abi import encode_call, read_interface

if TYPE_CHECKING:
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces


TOKEN_FACTS = ("symbol", "decimals")


def token_rows(address: str) -> tuple[CallRow, ...]:
    """The calls that read what a token calls itself."""
    entries = read_interface(STANDARD_TEXT)
    return tuple(
        CallRow(place, "eth_call", [{"to": address, "data": encode_call(entries.function(name), [])}, "latest"])
        for place, name in enumerate(TOKEN_FACTS, start=1)
    )


class ContractPresenter:
    """Works on the presenter's draft and on the run that it shows."""

    def __init__(self, presenter: CryptoRpcPresenter, interfaces: ContractInterfaces) -> None:
        self._presenter = presenter
        self.interfaces = interfaces

    @property
    def network(self) -> str:
        """The network that calls are written for."""
        return self._presenter.draft.network

    def read_token_words(self) -> str:
        """The button that reads what a token calls itself, with its price."""
        price = estimate(self.network, ("eth_call",) * len(TOKEN_FACTS))
        return tr(
            "Read the token’s symbol and decimals, {price}",
            price=estimate_words(price.credits, price.low_usd, price.high_usd),
        )

    async def read_token(self, network: str, address: str) -> str:
        """Read what a token calls itself; a sentence when that did not work. The answers are kept with the others."""
        try:
            _, outcomes = await self._presenter.jobs.send(network, token_rows(address), key="", batch=True)
        except NotSent as error:
            return str(error.problem)
        except StorageError as error:
            return error.sentence
        if self.interfaces.interfaces(network).token(address).is_whole:
            return ""
        said = next((outcome.message for outcome in outcomes if outcome.is_error), "")
        return said or tr("This contract does not say that it is a token.")

    def called_address(self) -> str:
        """The contract that the selected call is for, "" when it is for none."""
        to = (self._asked() or {}).get("to")
        return to if isinstance(to, str) else ""

    def _asked(self) -> dict[str, object] | None:
        row = self._presenter.draft.current
        params = row.params if row is not None and isinstance(row.params, Sequence) else ()
        first = params[0] if params else None
        return {str(name): value for name, value in first.items()} if isinstance(first, Mapping) else None

    async def take_call(self, call: dict[str, str], interface: str) -> None:
        """Put a contract's call into the selected call, or into a new one, and keep the contract's interface."""
        presenter, row, asked = self._presenter, self._presenter.draft.current, self._asked()
        if row is not None and row.method in CONTRACT_CALLS and asked is not None:
            params: list[object] = [{**asked, **call}, *list(row.params)[1:]]
            presenter.edit(lambda draft: draft.set_params(params))
        else:
            presenter.edit(lambda draft: draft.add("eth_call", [call, "latest"]))
        if interface.strip() != STANDARD_TEXT.strip():
            await self.interfaces.keep(call["to"], interface)

    async def decoded(self) -> tuple[CallOutcome, ...]:
        """The outcomes of the run on screen with what their bytes say."""
        run = self._presenter.run
        if run is None:
            return ()
        return await asyncio.to_thread(decoded_outcomes, run.items, run.outcomes, self.interfaces.interfaces(run.slug))
