"""Play money on a real chain: the token's own contract verifies the authorization and moves the money.

The chain is that of the crypto proxy, so a top-up's transaction can be looked up there, and the wallet's play dollars
are those that `eth_call` shows. The faucet pays the gas, as a facilitator does.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.sandbox.accounts.faucet import FAUCET_ADDRESS, FAUCET_KEY
from app.sandbox.accounts.x402_payment import Payment
from app.sandbox.accounts.x402_settlement import Payable, SettlementFailed
from app.sandbox.chains.networks import PAYMENTS, Chains
from app.sandbox.chains.rpc_values import RpcError

if TYPE_CHECKING:
    from app.sandbox.chains.evm_chain import EvmChain

GAS = 200_000
TIP_WEI = 1_000_000
BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address)
TRANSFER = bytes.fromhex("a9059cbb")  # transfer(address,uint256)
# transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
TRANSFER_WITH_AUTHORIZATION = bytes.fromhex("e3ee160e")


class ChainMoney:
    """One token on the chain. The chain is made by the first use, which takes a second."""

    def __init__(self, chains: Chains, token: str) -> None:
        self._chains = chains
        self._token = bytes.fromhex(token[2:])

    async def balance(self, address: str) -> int:
        return await asyncio.to_thread(self._balance, address)

    async def wei(self, address: str) -> int | None:
        return await asyncio.to_thread(self._wei, address)

    async def give(self, address: str, amount: int, wei: int = 0) -> None:
        if wei:
            await asyncio.to_thread(self._send, b"", bytes.fromhex(address[2:]), wei)
        await asyncio.to_thread(self._send, TRANSFER + _word(address) + _word(amount))

    async def transfer(self, payment: Payable) -> str:
        assert isinstance(payment, Payment)  # of the EVM rail, which this ledger is for
        paid = payment.authorization
        r, s, v = payment.signature[:32], payment.signature[32:64], payment.signature[64]
        words = (_word(paid.sender), _word(paid.receiver), _word(paid.value), _word(paid.valid_after))
        data = b"".join((*words, _word(paid.valid_before), paid.nonce, _word(v if v >= 27 else v + 27), r, s))
        return await asyncio.to_thread(self._send, TRANSFER_WITH_AUTHORIZATION + data)

    def _balance(self, address: str) -> int:
        from app.sandbox.chains.evm_chain import CallRequest

        with self._chains.lock(PAYMENTS):
            self._chains.fund(PAYMENTS, bytes.fromhex(address[2:]))
            chain = self._chains.evm(PAYMENTS)
            request = CallRequest(bytes.fromhex(address[2:]), self._token, GAS, 0, BALANCE_OF + _word(address))
            return int.from_bytes(chain.call(request, chain.head).output, "big")

    def _wei(self, address: str) -> int:
        from eth_typing import Address

        with self._chains.lock(PAYMENTS):
            chain = self._chains.evm(PAYMENTS)
            return int(chain.state(chain.head).get_balance(Address(bytes.fromhex(address[2:]))))

    def _send(self, data: bytes, to: bytes = b"", wei: int = 0) -> str:
        """Mine one call by the faucet, of the token unless `to` says otherwise. Raises `SettlementFailed`.

        Returns the transaction's hash.
        """
        from app.sandbox.chains.evm_chain import reason_of

        with self._chains.lock(PAYMENTS):
            chain = self._chains.evm(PAYMENTS)
            try:
                transaction_hash = chain.send(chain.decode(self._signed(chain, data, to or self._token, wei)))
            except RpcError as error:
                raise SettlementFailed(str(error)) from error
            block, index = chain.by_hash[transaction_hash]
            mined = block.mined[index]
        if not mined.succeeded:
            raise SettlementFailed(reason_of(mined.frame.output) or "The transfer was reverted")
        return "0x" + transaction_hash.hex()

    def _signed(self, chain: EvmChain, data: bytes, to: bytes, wei: int) -> bytes:
        from eth_account import Account
        from eth_typing import Address

        faucet = Address(bytes.fromhex(FAUCET_ADDRESS[2:]))
        transaction = {
            "type": 2,
            "chainId": chain.chain_id,
            "nonce": chain.state(chain.head).get_nonce(faucet),
            "gas": GAS,
            "maxFeePerGas": 2 * chain.next_base_fee() + TIP_WEI,
            "maxPriorityFeePerGas": TIP_WEI,
            "to": to,
            "value": wei,
            "data": data,
        }
        return bytes(Account.sign_transaction(transaction, FAUCET_KEY).raw_transaction)


def _word(value: str | int) -> bytes:
    """An address or a number as the 32 bytes of an argument."""
    return (int(value, 16) if isinstance(value, str) else value).to_bytes(32, "big")
