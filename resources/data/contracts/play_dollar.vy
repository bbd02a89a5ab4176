# pragma version 0.4.3
# pragma evm-version shanghai
"""
@title The Sandbox's play dollar
@notice A token with six decimals that pays by signed authorisation (EIP-3009). It has no constructor, so that its
        code can be laid at any address; balances are written into the first block.
"""

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

event Approval:
    owner: indexed(address)
    spender: indexed(address)
    value: uint256

event AuthorizationUsed:
    authorizer: indexed(address)
    nonce: indexed(bytes32)

event AuthorizationCanceled:
    authorizer: indexed(address)
    nonce: indexed(bytes32)

name: public(constant(String[8])) = "USD Coin"
symbol: public(constant(String[4])) = "USDC"
version: public(constant(String[1])) = "2"
decimals: public(constant(uint8)) = 6

DOMAIN: constant(bytes32) = keccak256(
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
)
TRANSFER: constant(bytes32) = keccak256(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)
CANCEL: constant(bytes32) = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)")
HIGHEST_S: constant(uint256) = 57896044618658097711785492504343953926418782139537452191302581570759080747168  # half the order of secp256k1

balanceOf: public(HashMap[address, uint256])
allowance: public(HashMap[address, HashMap[address, uint256]])
totalSupply: public(uint256)
used: HashMap[address, HashMap[bytes32, bool]]


@external
def transfer(to: address, amount: uint256) -> bool:
    self._move(msg.sender, to, amount)
    return True


@external
def approve(spender: address, amount: uint256) -> bool:
    self.allowance[msg.sender][spender] = amount
    log Approval(owner=msg.sender, spender=spender, value=amount)
    return True


@external
def transferFrom(owner: address, to: address, amount: uint256) -> bool:
    allowed: uint256 = self.allowance[owner][msg.sender]
    assert amount <= allowed, "ERC20: transfer amount exceeds allowance"
    self.allowance[owner][msg.sender] = allowed - amount
    self._move(owner, to, amount)
    return True


@external
@view
def authorizationState(authorizer: address, nonce: bytes32) -> bool:
    return self.used[authorizer][nonce]


@external
@view
def DOMAIN_SEPARATOR() -> bytes32:
    return self._domain()


@external
def transferWithAuthorization(
    owner: address,
    to: address,
    amount: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: bytes32,
    v: uint8,
    r: bytes32,
    s: bytes32,
):
    self._authorised(owner, to, amount, validAfter, validBefore, nonce, v, convert(r, uint256), convert(s, uint256))


@external
def cancelAuthorization(authorizer: address, nonce: bytes32, v: uint8, r: bytes32, s: bytes32):
    assert not self.used[authorizer][nonce], "FiatTokenV2: authorization is used or canceled"
    digest: bytes32 = keccak256(abi_encode(CANCEL, authorizer, nonce))
    self._check(authorizer, digest, v, convert(r, uint256), convert(s, uint256))
    self.used[authorizer][nonce] = True
    log AuthorizationCanceled(authorizer=authorizer, nonce=nonce)


@internal
def _authorised(
    owner: address, to: address, amount: uint256, after: uint256, before: uint256, nonce: bytes32,
    v: uint8, r: uint256, s: uint256,
):
    assert block.timestamp > after, "FiatTokenV2: authorization is not yet valid"
    assert block.timestamp < before, "FiatTokenV2: authorization is expired"
    assert not self.used[owner][nonce], "FiatTokenV2: authorization is used or canceled"
    self._check(owner, keccak256(abi_encode(TRANSFER, owner, to, amount, after, before, nonce)), v, r, s)
    self.used[owner][nonce] = True
    log AuthorizationUsed(authorizer=owner, nonce=nonce)
    self._move(owner, to, amount)


@internal
@view
def _check(signer: address, struct_hash: bytes32, v: uint8, r: uint256, s: uint256):
    assert s <= HIGHEST_S, "ECRecover: invalid signature 's' value"
    digest: bytes32 = keccak256(concat(b"\x19\x01", self._domain(), struct_hash))
    found: address = ecrecover(digest, convert(v, uint256), r, s)
    assert found != empty(address) and found == signer, "FiatTokenV2: invalid signature"


@internal
@view
def _domain() -> bytes32:
    return keccak256(abi_encode(DOMAIN, keccak256(name), keccak256(version), chain.id, self))


@internal
def _move(owner: address, to: address, amount: uint256):
    assert to != empty(address), "ERC20: transfer to the zero address"
    assert amount <= self.balanceOf[owner], "ERC20: transfer amount exceeds balance"
    self.balanceOf[owner] -= amount
    self.balanceOf[to] += amount
    log Transfer(sender=owner, receiver=to, value=amount)
