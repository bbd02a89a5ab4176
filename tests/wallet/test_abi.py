"""Contracts' interfaces: bytes mean what another library says they mean, both ways."""

import contextlib
import json

import pytest
from eth_abi import encode as eth_encode
from eth_utils import function_abi_to_4byte_selector, keccak
from hypothesis import given
from hypothesis import strategies as st
from web3 import Web3

from app.wallet.abi import DecodedValues, decode, encode, encode_call, read_interface
from app.wallet.abi_signatures import read_signature
from app.wallet.abi_types import Parameter
from app.wallet.addresses import keccak256
from app.wallet.errors import AbiRefused
from tests.reported_inputs import reported
from tests.wallet.figures import ADDRESS

OTHER = "0x3535353535353535353535353535353535353535"
TOKEN = [
    {
        "type": "function",
        "name": "transfer",
        "stateMutability": "nonpayable",
        "inputs": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
        "outputs": [{"name": "", "type": "bool"}],
    },
    {
        "type": "function",
        "name": "fill",
        "stateMutability": "payable",
        "inputs": [
            {
                "name": "orders",
                "type": "tuple[]",
                "components": [
                    {"name": "maker", "type": "address"},
                    {"name": "amounts", "type": "uint128[2]"},
                    {"name": "note", "type": "string"},
                ],
            },
            {"name": "salt", "type": "bytes32"},
        ],
        "outputs": [],
    },
    {
        "type": "event",
        "name": "Transfer",
        "inputs": [
            {"name": "from", "type": "address", "indexed": True},
            {"name": "to", "type": "address", "indexed": True},
            {"name": "value", "type": "uint256"},
        ],
    },
    {
        "type": "event",
        "name": "Named",
        "inputs": [{"name": "name", "type": "string", "indexed": True}, {"name": "plain", "type": "string"}],
    },
    {"type": "error", "name": "Paused", "inputs": [{"name": "until", "type": "uint64"}]},
    {"type": "constructor", "inputs": [{"name": "owner", "type": "address"}]},
    {"type": "fallback"},
]
INTERFACE = read_interface(json.dumps(TOKEN))


def values_of(decoded: DecodedValues | None) -> dict[str, object]:
    assert decoded is not None
    return {parameter.name: value for parameter, value in decoded.values}


def test_a_selector_is_the_one_that_another_library_computes() -> None:
    for entry, written in zip(INTERFACE.of_kind("function"), TOKEN, strict=False):
        assert entry.selector == function_abi_to_4byte_selector(written)
    assert INTERFACE.function("transfer").selector.hex() == "a9059cbb"
    assert INTERFACE.skipped == ()


def test_a_call_is_encoded_as_web3_encodes_it() -> None:
    contract = Web3().eth.contract(abi=TOKEN)
    orders = [{"maker": ADDRESS, "amounts": [1, 2**128 - 1], "note": "naïve ✓"}]
    salt = "0x" + "ab" * 32
    ours = encode_call(INTERFACE.function("fill"), [json.dumps(orders), salt])
    theirs = contract.encode_abi("fill", args=[[(ADDRESS, [1, 2**128 - 1], "naïve ✓")], bytes.fromhex(salt[2:])])
    assert ours == theirs
    decoded = INTERFACE.decode_call(bytes.fromhex(ours[2:]))
    assert values_of(decoded) == {"orders": [[ADDRESS, [1, 2**128 - 1], "naïve ✓"]], "salt": salt}


def test_arguments_are_read_as_people_write_them() -> None:
    transfer = INTERFACE.function("transfer(address,uint256)")
    wanted = encode_call(transfer, [ADDRESS, 15 * 10**17])
    for amount in ("1.5 ether", "1500000000000000000", "0x14d1120d7b160000", "1_500_000_000 gwei"):
        assert encode_call(transfer, [ADDRESS.lower(), amount]) == wanted


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        ([OTHER], "", "2 arguments"),
        (["0x12", "5"], "to", "40 hexadecimal"),
        ([OTHER, "-5"], "amount", "negative"),
        ([OTHER, str(2**256)], "amount", "256 bits"),
        ([OTHER, True], "amount", "whole number"),
        ([OTHER, 1.5], "amount", "whole number"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(arguments: list[object], field: str, words: str) -> None:
    with pytest.raises(AbiRefused) as caught:
        encode_call(INTERFACE.function("transfer"), arguments)
    assert caught.value.field == field
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("orders", "place"),
    [
        ("[", "orders"),
        ('["x"]', "orders[0]"),
        ('[{"maker": "0x1"}]', "orders[0]"),
        ('[["0x1", [1, 2], "n"]]', "orders[0].maker"),
        (f'[["{OTHER}", [1], "n"]]', "orders[0].amounts"),
        (f'[["{OTHER}", [1, {2**128}], "n"]]', "orders[0].amounts[1]"),
    ],
)
def test_a_wrong_part_of_a_tuple_is_named_by_its_place(orders: str, place: str) -> None:
    with pytest.raises(AbiRefused) as caught:
        encode_call(INTERFACE.function("fill"), [orders, "0x" + "00" * 32])
    assert caught.value.field == place


def test_a_log_is_decoded_with_its_indexed_values_in_their_places() -> None:
    topics = [
        keccak(text="Transfer(address,address,uint256)"),
        *(eth_encode(["address"], [a]) for a in (ADDRESS, OTHER)),
    ]
    decoded = INTERFACE.decode_log(topics, eth_encode(["uint256"], [5]))
    assert values_of(decoded) == {"from": ADDRESS, "to": OTHER, "value": 5}
    assert decoded is not None
    assert decoded.sentence == f"Transfer(from: {ADDRESS}, to: {OTHER}, value: 5)"
    assert INTERFACE.decode_log([b"\x00" * 32], b"") is None
    assert INTERFACE.decode_log(topics[:2], b"") is None  # the same event with another number of indexed values


def test_indexed_text_is_known_by_its_hash_only() -> None:
    digest = keccak(text="a name")
    topics = [keccak(text="Named(string,string)"), digest]
    assert values_of(INTERFACE.decode_log(topics, eth_encode(["string"], ["open"]))) == {
        "name": "hash 0x" + digest.hex(),
        "plain": "open",
    }


def test_text_that_looks_like_an_address_stays_as_it_is() -> None:
    data = eth_encode(["string"], [OTHER.replace("35", "ab")])
    assert decode((Parameter("text", "string"),), data)[0][1] == OTHER.replace("35", "ab")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes.fromhex("08c379a0") + eth_encode(["string"], ["paused"]), "paused"),
        (
            bytes.fromhex("4e487b71") + eth_encode(["uint256"], [0x11]),
            "a number overflowed (panic 0x11)",
        ),
        (bytes.fromhex("4e487b71") + eth_encode(["uint256"], [0x99]), "a fault in the contract (panic 0x99)"),
        (keccak(text="Paused(uint64)")[:4] + eth_encode(["uint64"], [7]), "Paused(until: 7)"),
        (b"", None),
        (bytes.fromhex("08c379a0"), None),
        (b"\x01\x02\x03\x04", None),
    ],
)
def test_a_revert_says_why(data: bytes, words: str | None) -> None:
    assert INTERFACE.decode_revert(data) == words


@pytest.mark.parametrize(
    ("line", "signature", "outputs"),
    [
        ("transfer(address to, uint amount)", "transfer(address,uint256)", []),
        ("function balanceOf(address) external view returns (uint256)", "balanceOf(address)", ["uint256"]),
        (
            "fill((address maker, uint256[2] amounts)[] orders) returns ((bool ok, bytes data)[] memory)",
            "fill((address,uint256[2])[])",
            ["(bool,bytes)[]"],
        ),
        ("f(tuple(int8 a, (string b) c) x)", "f((int8,(string)))", []),
        ("stop()", "stop()", []),
    ],
)
def test_a_signature_is_read_as_people_write_it(line: str, signature: str, outputs: list[str]) -> None:
    entry = read_signature(line)
    assert entry.signature == signature
    assert [parameter.type for parameter in entry.outputs] == outputs


def test_a_signature_tells_reading_from_writing() -> None:
    assert read_signature("function f() view").only_reads
    assert not read_signature("function f() payable").only_reads
    event = read_signature("event Transfer(address indexed from, uint256 value)")
    assert [parameter.indexed for parameter in event.inputs] == [True, False]


@pytest.mark.parametrize(
    "line", ["", "f", "f(", "f)", "f(uint7)", "f(address to", "f(,)", "f(address a b)", "1f()", "f() returns"]
)
def test_what_is_no_signature_is_refused(line: str) -> None:
    with pytest.raises(AbiRefused):
        read_signature(line)


@pytest.mark.parametrize("text", ["", "[", "{}", "[]", "[1]", '[{"type": "fallback"}]', "5", '{"abi": 5}'])
def test_what_is_no_interface_is_refused(text: str) -> None:
    with pytest.raises(AbiRefused):
        read_interface(text)


def test_an_interface_is_read_from_a_compilers_file_and_from_lines() -> None:
    assert read_interface(json.dumps({"abi": TOKEN, "bytecode": "0x"})).entries == INTERFACE.entries
    lines = read_interface("transfer(address to, uint256 amount);\n\nerror Paused(uint64 until)\n")
    assert [entry.name for entry in lines.entries] == ["transfer", "Paused"]


@pytest.mark.parametrize(
    "name",
    [
        "k23-abi-ethers-list.json",
        "k23-abi-comment.txt",
        "k23-abi-quoted-lines.txt",
        "k23-abi-solidity.sol",
        "k23-abi-explorer-answer.json",
        "k23-abi-one-bad-line.txt",
    ],
)
def test_interfaces_of_other_tools_are_read(name: str) -> None:
    interface = read_interface(reported(name).decode())
    entry = interface.function("balanceOf")
    assert (entry.signature, entry.only_reads) == ("balanceOf(address)", "explorer" not in name)
    assert [each.type for each in entry.outputs] == ["uint256"]
    assert interface.skipped == (("this line is not one",) if "bad" in name else ())
    others = {"k23-abi-quoted-lines.txt": ["totalSupply"], "k23-abi-solidity.sol": ["Transfer"]}
    assert [each.name for each in interface.entries][1:] == others.get(name, ["Transfer"] if "ethers" in name else [])


def test_the_mutability_of_old_compilers_is_read() -> None:
    reading = {"type": "function", "name": "a", "inputs": [], "constant": True, "payable": False}
    paying = {**reading, "name": "b", "constant": False, "payable": True}
    interface = read_interface(json.dumps([reading, paying]))
    assert [each.mutability for each in interface.entries] == ["view", "payable"]


def test_structs_are_tuples() -> None:
    interface = read_interface(reported("k23-abi-struct.txt").decode())
    assert [each.signature for each in interface.entries] == ["fill((address,uint256))"]
    assert [each.name for each in interface.entries[0].inputs[0].parts] == ["maker", "amount"]


SOLIDITY = """
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20; import "https://example.org/x.sol";
library Shapes { struct Point { int128 x; int128 y; } enum Color { Red, Blue } }
abstract contract Base is Other, Another(1, 2) {
    type Price is uint128;
    struct Path { Shapes.Point[] points; Inner inner; }
    struct Inner { Shapes.Color color; Base next; }
    uint256 public total;
    /* function hidden() external; */
    error TooLate(
        uint64 until,
        Price price
    );
    modifier onlyOwner() { require(msg.sender == owner); _; }
    constructor(address payable owner) Base(owner) { total = 1; }
    function draw(
        Path calldata path,
        address payable to
    )
        external
        payable
        virtual
        override(Other, Another)
        onlyRole(ADMIN)
        returns (Shapes.Color, Price[] memory)
    {
        if (total > 0) { emit Drawn(path); }
    }
    function _helper(uint a) internal pure returns (uint) { return a; }
    receive() external payable {}
    event Drawn(Path path, address indexed by);
}
"""


def test_solidity_source_is_read_with_its_types_and_without_its_bodies() -> None:
    interface = read_interface(SOLIDITY)
    path = "((int128,int128)[],(uint8,address))"
    assert [(each.kind, each.signature) for each in interface.entries] == [
        ("error", "TooLate(uint64,uint128)"),
        ("constructor", "(address)"),
        ("function", f"draw({path},address)"),
        ("event", f"Drawn({path},address)"),
    ]
    draw = interface.function("draw")
    assert ([each.type for each in draw.outputs], draw.mutability) == (["uint8", "uint128[]"], "payable")
    assert interface.skipped == ("uint256 public total",)


def test_a_struct_that_holds_itself_is_refused() -> None:
    interface = read_interface("struct A { A[] more; }\nf(A a)\ng()")
    assert ([each.name for each in interface.entries], interface.skipped) == (["g"], ("f(A a)",))


@pytest.mark.parametrize("part", ["(", "{", "struct A { A a; }", "//", "/*", "f(", "\n", '"', "contract A {"])
def test_a_large_source_ends_soon(part: str) -> None:
    text = part * 20_000
    with contextlib.suppress(AbiRefused):
        read_interface(text)


def test_an_event_with_a_name_comes_before_an_anonymous_one() -> None:
    interface = read_interface(reported("k21-anonymous-first.abi.txt").decode())
    topics = [keccak256(b"Transfer(address,address,uint256)"), *(number.to_bytes(32, "big") for number in (1, 2, 7))]
    decoded = interface.decode_log(topics, b"")
    assert decoded is not None
    assert decoded.entry.name == "Transfer"
    assert values_of(decoded)["tokenId"] == 7
    interface = read_interface(reported("k21-anonymous-one-topic.abi.txt").decode())
    decoded = interface.decode_log([keccak256(b"Ping(uint256)")], (5).to_bytes(32, "big"))
    assert decoded is not None
    assert (decoded.entry.name, values_of(decoded)) == ("Ping", {"b": 5})


def test_of_two_anonymous_events_the_one_that_fits_is_taken() -> None:
    interface = read_interface("event A(uint256 indexed a, string b) anonymous\nevent B(uint256 indexed a) anonymous")
    decoded = interface.decode_log([(1).to_bytes(32, "big")], b"")
    assert decoded is not None
    assert decoded.entry.name == "B"


def test_two_functions_of_one_name_are_told_apart_by_their_signature() -> None:
    both = read_interface("f(uint256 a)\nf(address a)")
    with pytest.raises(AbiRefused):
        both.function("f")
    assert both.function("f(address)").inputs[0].type == "address"


@given(
    st.lists(st.tuples(st.binary(min_size=20, max_size=20), st.integers(-(2**127), 2**127 - 1), st.text()), max_size=4),
    st.booleans(),
    st.binary(max_size=40),
)
def test_what_was_encoded_comes_back(rows: list[tuple[bytes, int, str]], flag: bool, data: bytes) -> None:
    parts = (Parameter("who", "address"), Parameter("number", "int128"), Parameter("text", "string"))
    parameters = (
        Parameter("rows", "(address,int128,string)[]", parts),
        Parameter("flag", "bool"),
        Parameter("data", "bytes"),
    )
    written = [[Web3.to_checksum_address("0x" + who.hex()), number, text] for who, number, text in rows]
    encoded = encode(parameters, [written, flag, "0x" + data.hex()])
    assert [value for _, value in decode(parameters, encoded)] == [written, flag, "0x" + data.hex()]
    assert encoded == eth_encode(["(address,int128,string)[]", "bool", "bytes"], [written, flag, data])


@given(st.binary(max_size=300))
def test_no_bytes_end_in_anything_but_values_or_a_refusal(data: bytes) -> None:
    for entry in INTERFACE.entries:
        try:
            decode(entry.inputs, data)
            INTERFACE.decode_call(entry.selector + data)
        except AbiRefused:
            pass
    INTERFACE.decode_revert(data)
