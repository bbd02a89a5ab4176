"""Sign-in messages: written and read to the letter, and read the same by the standard's own grammar."""

from __future__ import annotations

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.wallet.errors import SignInRefused
from app.wallet.sign_in_message import SignInMessage, read_moment, read_sign_in_message, write_moment
from tests.wallet.figures import ADDRESS, SOLANA_ADDRESS, message_of
from tests.wallet.outside_implementations import grammar_fields, x402_solana

GOOD = message_of("evm")
MESSAGE = read_sign_in_message(GOOD)
STANDARD_EXAMPLE = """{domain} wants you to sign in with your Ethereum account:
0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2

I accept the ExampleOrg Terms of Service: https://example.com/tos

URI: https://example.com/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2021-09-30T16:25:24Z
Resources:
- ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/
- https://example.com/my-web2-claim.json"""


@pytest.mark.parametrize("chain", ["evm", "solana"])
def test_r_auth_06_r_auth_07_the_message_is_written_and_read_to_the_letter(chain) -> None:
    text = message_of(chain)
    message = read_sign_in_message(text)
    assert message.text == text
    assert (message.chain, message.domain, message.uri) == (chain, "api.venice.ai", "https://api.venice.ai")
    assert message.address == {"evm": ADDRESS, "solana": SOLANA_ADDRESS}[chain]
    assert message.expiry_moment is not None
    assert message.expiry_moment - message.issued_moment == timedelta(minutes=4)


def test_the_message_has_the_length_that_was_measured_elsewhere() -> None:
    assert len(GOOD.encode()) == 283


@pytest.mark.parametrize("domain", ["example.com", "example.com:3388", "https://example.com", "[::1]:8080"])
def test_the_standards_own_example_is_read(domain: str) -> None:
    message = read_sign_in_message(STANDARD_EXAMPLE.format(domain=domain))
    assert message.scheme == ("https" if "//" in domain else "")
    assert message.domain == domain.removeprefix("https://")
    assert message.resources[1] == "https://example.com/my-web2-claim.json"
    assert message.text == STANDARD_EXAMPLE.format(domain=domain)
    assert grammar_fields(message.text) is not None


def test_a_message_without_a_statement_has_two_empty_lines() -> None:
    text = replace(MESSAGE, statement="").text
    assert f"{ADDRESS}\n\n\nURI: " in text
    assert grammar_fields(text) is not None
    assert read_sign_in_message(text).statement == ""


def test_every_field_that_may_be_left_out_may_be_there() -> None:
    message = replace(
        MESSAGE, not_before="2026-01-02T03:00:00Z", request_id="", resources=("did:key:z6Mk", "https://a.test/?x#y")
    )
    assert read_sign_in_message(message.text) == message
    assert grammar_fields(message.text) is not None


def lines(**changes: str | None) -> str:
    """The good message with lines replaced, left out (None) or added, by number."""
    found = GOOD.split("\n")
    for name, line in changes.items():
        at = int(name.lstrip("l"))
        found[at] = "\0" if line is None else line
    return "\n".join(line for line in found if line != "\0")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        GOOD + "\n",
        GOOD + " ",
        " " + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("Ethereum", "Bitcoin"),
        GOOD.replace("wants you", "Wants you"),
        lines(l0="user@api.venice.ai wants you to sign in with your Ethereum account:"),
        lines(l0="api.venice.ai/path wants you to sign in with your Ethereum account:"),
        lines(l0="api.venice.ai: wants you to sign in with your Ethereum account:x"),
        lines(l0=" wants you to sign in with your Ethereum account:"),
        lines(l0="api venice.ai wants you to sign in with your Ethereum account:"),
        lines(l0="[1:2] wants you to sign in with your Ethereum account:"),
        lines(l0="аpi.venice.ai wants you to sign in with your Ethereum account:"),
        lines(l1=ADDRESS.lower()),
        lines(l1=ADDRESS[:-1]),
        lines(l1=SOLANA_ADDRESS),
        lines(l2="x"),
        lines(l2=None),
        lines(l3="Größe"),
        lines(l3='say "yes"'),
        lines(l3="zero\u200bwidth"),
        lines(l4="x"),
        lines(l5="URI: not a uri"),
        lines(l5="URI: //no.scheme"),
        lines(l5="URI:https://api.venice.ai"),
        lines(l5="URI: https://[1:2]/"),
        lines(l5="URI: https://a/%zz"),
        lines(l6="Version: 2"),
        lines(l6="Version: 1 "),
        lines(l7="Chain ID: 0x2105"),
        lines(l7="Chain ID: eip155:8453"),
        lines(l7="Chain ID: "),
        lines(l8="Nonce: 1234567"),
        lines(l8="Nonce: 1234-5678"),
        lines(l9="Issued At: yesterday"),
        lines(l9="Issued At: 2026-02-30T03:04:05Z"),
        lines(l9="Issued At: 2026-01-02T25:04:05Z"),
        lines(l9="Issued At: 2026-01-02 03:04:05Z"),
        lines(l9="Issued At: 2026-01-02T03:04:05"),
        lines(l9=None),
        lines(l9="Expiration Time: 2026-01-02T03:08:05.678Z", l10="Issued At: 2026-01-02T03:04:05.678Z"),
        GOOD + "\nExpiration Time: 2026-01-02T03:08:05.678Z",
        GOOD + "\nResources:",
        GOOD + "\nResources:\n- ",
        GOOD + "\nResources:\nhttps://a.test",
        GOOD + "\nResources:" + "\n- https://a.test" * 65,
        GOOD + "\nRequest ID: a b",
        GOOD + "\nPS: more",
        GOOD.replace("Sign in to Venice AI", "x" * 9000),
    ],
)  # fmt: skip
def test_what_is_not_a_message_is_refused(text: str) -> None:
    with pytest.raises(SignInRefused) as caught:
        read_sign_in_message(text)
    assert caught.value.sentence.endswith(".")


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": "two\nlines"},
        {"statement": "x\n\nURI: https://evil.test"},
        {"domain": "evil.test wants"},
        {"uri": "https://a.test\nVersion: 1"},
        {"nonce": "short"},
        {"issued_at": "now"},
        {"address": ADDRESS.lower()},
        {"chain": "solana"},
        {"request_id": "a\nResources:"},
        {"version": "2"},
    ],
)
def test_a_field_that_would_read_as_another_is_never_written(changes: dict[str, str]) -> None:
    with pytest.raises(SignInRefused):
        _ = replace(MESSAGE, **changes).text  # type: ignore[arg-type] # the test names real fields


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.5+02:00", datetime(2026, 1, 2, 1, 4, 5, 500000, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
    ],
)
def test_moments_are_read(text: str, moment: datetime) -> None:
    assert read_moment(text) == moment


moments = st.integers(0, 2**42).map(
    lambda number: datetime(1971, 1, 1, tzinfo=UTC) + timedelta(microseconds=number * 997)
)


@given(moments)
def test_moments_are_written_with_milliseconds_and_never_in_the_future(moment: datetime) -> None:
    text = write_moment(moment)
    assert len(text) == 24
    assert timedelta() <= moment - read_moment(text) < timedelta(milliseconds=1)


host = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?(:[0-9]{1,5})?", fullmatch=True)
statement = st.text(st.sampled_from(string.ascii_letters + string.digits + " -._~:/?#[]@!$&'()*+,;="), max_size=60)
uri = st.from_regex(
    r"https://[a-z0-9.]{1,12}(:[0-9]{1,4})?(/[a-zA-Z0-9._~!$&'()*+,;=:@-]{0,6}){0,3}(\?[a-z=&/?]{0,9})?(#[a-z?/]{0,5})?",
    fullmatch=True,
)
nonce = st.text(string.ascii_letters + string.digits, min_size=8, max_size=40)
moment = moments.map(write_moment)
messages = st.builds(
    SignInMessage,
    chain=st.just("evm"),
    domain=host,
    address=st.just(ADDRESS),
    statement=statement,
    uri=uri,
    chain_id=st.integers(0, 10**30).map(str),
    nonce=nonce,
    issued_at=moment,
    expires_at=st.just("") | moment,
    not_before=st.just("") | moment,
    request_id=st.none()
    | st.text(string.ascii_letters + ":@%7E", max_size=8).map(lambda text: text.replace("%", "%41")),
    resources=st.lists(uri, max_size=3).map(tuple),
    scheme=st.sampled_from(["", "https", "http"]),
)


@given(messages)
def test_every_message_reads_as_it_was_written_and_so_says_the_grammar(message: SignInMessage) -> None:
    text = message.text
    assert read_sign_in_message(text) == message
    fields = grammar_fields(text)
    assert fields is not None
    assert (fields["domain"], fields["address"], fields["nonce"]) == (message.domain, ADDRESS, message.nonce)
    assert fields.get("statement", "") == message.statement
    assert fields.get("expiration-time", "") == message.expires_at


@given(messages, st.data())
def test_a_damaged_message_is_never_read_where_the_grammar_refuses_it(
    message: SignInMessage, data: st.DataObject
) -> None:
    text = message.text
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    put = data.draw(st.text(st.sampled_from(string.printable + "é\u202e"), max_size=3))
    damaged = text[:at] + put + text[at + cut :]
    try:
        found = read_sign_in_message(damaged)
    except SignInRefused:
        return
    assert found.text == damaged
    assert grammar_fields(damaged) is not None


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*GOOD.split("\n"), "Resources:", "- x:y"]), max_size=14).map("\n".join)
)
def test_any_text_ends_in_a_message_or_a_refusal(text: str) -> None:
    try:
        found = read_sign_in_message(text)
    except SignInRefused:
        return
    assert found.text == text


@given(statement, uri, nonce, moment)
def test_r_auth_07_the_other_chains_message_is_the_one_that_x402_writes(
    said: str, where: str, once: str, when: str
) -> None:
    assume(said)
    message = SignInMessage(
        chain="solana",
        domain="service.test",
        address=SOLANA_ADDRESS,
        statement=said,
        uri=where,
        chain_id="5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        nonce=once,
        issued_at=when,
        expires_at=when,
    )
    info = {
        "domain": message.domain,
        "statement": said,
        "uri": where,
        "version": "1",
        "chainId": x402_solana.SOLANA_MAINNET,
        "nonce": once,
        "issuedAt": when,
        "expirationTime": when,
    }
    assert message.text == x402_solana.format_siws_message(info, SOLANA_ADDRESS)
