"""Contracts in the Console: calls written from an interface, answers read with one.

A module of its own: the presenter knows calls, this knows contracts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.ui.crypto_rpc.session.decoding import STANDARD_TEXT, decoded_outcomes
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.state import CONTRACT_CALLS

if TYPE_CHECKING:
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces


class ContractPresenter:
    """Works on the presenter's draft and on the run that it shows."""

    def __init__(self, presenter: CryptoRpcPresenter, interfaces: ContractInterfaces) -> None:
        self._presenter = presenter
        self._interfaces = interfaces

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
            await self._interfaces.keep(call["to"], interface)

    async def decoded(self) -> tuple[CallOutcome, ...]:
        """The outcomes of the run on screen with what their bytes say."""
        run = self._presenter.run
        if run is None:
            return ()
        return await asyncio.to_thread(decoded_outcomes, run.items, run.outcomes, self._interfaces.interfaces())
