"""The wallet's sign-in header: forms, texts, times, signatures, and a code for every failure (R-AUTH-03 to 08)."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.sandbox.accounts.sign_in import Nonces, check_sign_in, check_signature, read_sign_in
from app.sandbox.accounts.sign_in_codes import CODES, SignInRefused
from tests.sandbox.support import NOON
from tests.sandbox.wallet_support import EvmWallet, SolanaWallet, WalletClient, packed, stamp, unpacked
from tests.wallet import figures

OTHER = EvmWallet(byte=3)
HIGH_R = "0x" + "ff" * 32 + "11" * 32 + "1b"


def refusal(wallet: WalletClient, headers: dict[str, str]) -> str:
    """Return the code that a chat is refused with, without its prefix."""
    answer = wallet.chat(headers)
    assert answer.status_code == 401, answer.text
    body = answer.json()
    assert set(body) == {"error", "code"}
    return str(body["code"]).removeprefix("X402_SIGN_IN_")


@pytest.fixture
def rich(wallet: WalletClient) -> WalletClient:
    wallet.credit("5")
    return wallet


@pytest.mark.parametrize("name", ["X-Sign-In-With-X", "SIGN-IN-WITH-X", "sign-in-with-x", "x-SIGN-in-with-X"])
def test_R_AUTH_03_both_header_names_are_taken_in_any_case(rich: WalletClient, name: str) -> None:
    value = rich.wallet.header()["X-Sign-In-With-X"]
    assert rich.chat({name: value}).status_code == 200


def test_R_AUTH_03_in_the_other_dialect_as_well(venice_wallet: WalletClient) -> None:
    venice_wallet.credit("5")
    for name in ("SIGN-IN-WITH-X", "X-Sign-In-With-X"):
        assert venice_wallet.chat({name: venice_wallet.wallet.header()["X-Sign-In-With-X"]}).status_code == 200


def test_R_AUTH_04_the_wallet_wins_over_the_key(rich: WalletClient) -> None:
    key = {"Authorization": f"Bearer {rich.sandbox.running.api_key}"}
    before = rich.sandbox.balance()
    answer = rich.chat({**key, **rich.wallet.header()})
    assert answer.status_code == 200 and "X-Balance-Remaining" in answer.headers
    assert rich.sandbox.balance() == before
    assert refusal(rich, {**key, "X-Sign-In-With-X": "nonsense"}) == "INVALID_PAYLOAD"


@pytest.mark.parametrize(
    "value",
    [
        "not base64!",
        "e30",  # no padding
        packed([]),
        packed("text"),
        base64.b64encode(b"{").decode(),
        base64.b64encode(b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(b'{"a":"\xc3\xbf\xc3\xbf>?"}').decode(),
        base64.b64encode(b"[" * 20_000).decode(),
    ],
)
def test_R_AUTH_05_a_header_that_is_not_base64_of_an_object_is_401(rich: WalletClient, value: str) -> None:
    assert refusal(rich, {"X-Sign-In-With-X": value}) == "INVALID_PAYLOAD"


def test_R_AUTH_05_two_headers_of_one_name_are_no_header(rich: WalletClient) -> None:
    value = rich.wallet.header()["X-Sign-In-With-X"]
    assert refusal(rich, {"X-Sign-In-With-X": f"{value}, {value}"}) == "INVALID_PAYLOAD"


@pytest.mark.parametrize("chain_id", [8453, "8453", "eip155:8453", None])
def test_R_AUTH_06_the_chain_may_be_written_in_three_ways_or_left_out(rich: WalletClient, chain_id: object) -> None:
    assert rich.chat(rich.wallet.header(chainId=chain_id)).status_code == 200


def test_R_AUTH_06_timestamp_and_statement_are_optional(rich: WalletClient) -> None:
    assert rich.chat(rich.wallet.header(timestamp=int(NOON * 1000))).status_code == 200
    assert rich.chat(rich.wallet.header(rich.wallet.text(statement=None))).status_code == 200
    lower = rich.wallet.address.lower()
    assert rich.chat(rich.wallet.header(address=lower, type="eip191")).status_code == 200


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("INVALID_PAYLOAD", {"message": 5}),
        ("INVALID_PAYLOAD", {"message": None}),
        ("INVALID_PAYLOAD", {"signature": None}),
        ("INVALID_PAYLOAD", {"signature": ["0x"]}),
        ("INVALID_PAYLOAD", {"timestamp": "now"}),
        ("INVALID_PAYLOAD", {"timestamp": True}),
        ("INVALID_PAYLOAD", {"type": "ed25519"}),
        ("INVALID_WALLET", {"address": None}),
        ("INVALID_WALLET", {"address": "0x1234"}),
        ("INVALID_WALLET", {"address": 7}),
        ("ADDRESS_MISMATCH", {"address": OTHER.address}),
        ("INVALID_CHAIN_ID", {"chainId": "eip155:"}),
        ("INVALID_CHAIN_ID", {"chainId": "solana:8453"}),
        ("INVALID_CHAIN_ID", {"chainId": 8453.5}),
        ("INVALID_CHAIN_ID", {"chainId": True}),
        ("CHAIN_MISMATCH", {"chainId": 1}),
        ("TIMESTAMP_MISMATCH", {"timestamp": int(NOON * 1000) + 30_001}),
        ("TIMESTAMP_MISMATCH", {"timestamp": int(NOON)}),
        ("TIMESTAMP_MISMATCH", {"timestamp": 10**400}),
        ("INVALID_SIGNATURE", {"signature": "0x" + "11" * 64}),
        ("INVALID_SIGNATURE", {"signature": "0x" + "11" * 64 + "20"}),
        ("INVALID_SIGNATURE", {"signature": "0x" + "00" * 64 + "1b"}),
        ("INVALID_SIGNATURE", {"signature": HIGH_R}),
        ("INVALID_SIGNATURE", {"signature": "0x" + f"{5:064x}" + "11" * 32 + "1b"}),  # no point has this r
        ("INVALID_SIGNATURE", {"signature": OTHER.signed("something else")}),
    ],
)
def test_R_AUTH_06_what_is_wrong_in_the_header_has_its_code(
    rich: WalletClient, code: str, changes: dict[str, Any]
) -> None:
    assert refusal(rich, rich.wallet.header(**changes)) == code


def test_R_AUTH_06_a_signature_without_its_0x_is_refused(rich: WalletClient) -> None:
    text = rich.wallet.text()
    assert refusal(rich, rich.wallet.header(text, signature=rich.wallet.signed(text)[2:])) == "INVALID_SIGNATURE"


def test_R_AUTH_06_a_signature_may_end_with_0_or_1_as_some_wallets_write_it(rich: WalletClient) -> None:
    text = rich.wallet.text()
    signature = rich.wallet.signed(text)
    signature = signature[:-2] + f"{int(signature[-2:], 16) - 27:02x}"
    assert rich.chat(rich.wallet.header(text, signature=signature)).status_code == 200


def test_R_AUTH_06_a_text_changed_after_signing_is_refused(rich: WalletClient) -> None:
    text = rich.wallet.text()
    signature = rich.wallet.signed(text)
    changed = text.replace("Sign in to", "Sign up to")
    assert refusal(rich, rich.wallet.header(changed, signature=signature)) == "INVALID_SIGNATURE"


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("PARSE_ERROR", {"domain": "a b"}),
        ("PARSE_ERROR", {"statement": "two\nlines"}),
        ("PARSE_ERROR", {"statement": "caf\u00e9"}),
        ("PARSE_ERROR", {"URI": None}),
        ("PARSE_ERROR", {"Version": None}),
        ("PARSE_ERROR", {"Issued At": None}),
        ("PARSE_ERROR", {"Colour": "blue"}),
        ("INVALID_MESSAGE", {"Version": "2"}),
        ("INVALID_MESSAGE", {"URI": "not a uri"}),
        ("INVALID_MESSAGE", {"Nonce": "short"}),
        ("INVALID_MESSAGE", {"Nonce": "with-a-dash-in-it"}),
        ("INVALID_MESSAGE", {"Issued At": "yesterday"}),
        ("INVALID_MESSAGE", {"Issued At": "2026-13-01T00:00:00Z"}),
        ("INVALID_MESSAGE", {"Issued At": "2026-11-25T12:00:00"}),
        ("INVALID_MESSAGE", {"Issued At": "0001-01-01T00:00:00+23:59"}),
        ("INVALID_MESSAGE", {"Expiration Time": "soon"}),
        ("MISSING_NONCE", {"Nonce": None}),
        ("MISSING_NONCE", {"Nonce": ""}),
        ("INVALID_WALLET", {"address": "0x12"}),
        ("INVALID_WALLET", {"address": figures.ADDRESS.lower()}),
        ("INVALID_WALLET", {"address": figures.SOLANA_ADDRESS}),
        ("ADDRESS_MISMATCH", {"address": OTHER.address}),
        ("INVALID_CHAIN_ID", {"Chain ID": "eip155:8453"}),
        ("CHAIN_MISMATCH", {"Chain ID": "1"}),
        ("DOMAIN_MISMATCH", {"domain": "api.venice.ai"}),
        ("DOMAIN_MISMATCH", {"domain": "127.0.0.1:1"}),
        ("DOMAIN_MISMATCH", {"domain": "127.0.0.1.example.org"}),
    ],
)
def test_R_AUTH_06_what_is_wrong_in_the_text_has_its_code(
    rich: WalletClient, code: str, changes: dict[str, Any]
) -> None:
    assert refusal(rich, rich.wallet.header(rich.wallet.text(**changes))) == code


def test_R_AUTH_06_another_chain_is_not_served(rich: WalletClient) -> None:
    text = rich.wallet.text(**{"Chain ID": "1"})
    assert refusal(rich, rich.wallet.header(text, chainId=1)) == "UNSUPPORTED_CHAIN"


@pytest.mark.parametrize("change", ["{}\n", "\n{}", "{}\nResources:\n", " {}"])
def test_R_AUTH_06_nothing_may_stand_around_the_text(rich: WalletClient, change: str) -> None:
    assert refusal(rich, rich.wallet.header(change.format(rich.wallet.text()))) == "PARSE_ERROR"


def test_R_AUTH_06_line_ends_and_order_matter(rich: WalletClient) -> None:
    text = rich.wallet.text()
    assert refusal(rich, rich.wallet.header(text.replace("\n", "\r\n"))) == "PARSE_ERROR"
    lines = text.split("\n")
    lines[-1], lines[-2] = lines[-2], lines[-1]
    assert refusal(rich, rich.wallet.header("\n".join(lines))) == "PARSE_ERROR"
    one_gap = rich.wallet.text(statement=None).replace("\n\n\n", "\n\n")
    assert refusal(rich, rich.wallet.header(one_gap)) == "PARSE_ERROR"
    assert refusal(rich, rich.wallet.header(text + "\nRequest ID: " + "a" * 20_000)) == "PARSE_ERROR"


def test_R_AUTH_06_request_id_resources_and_a_scheme_are_read(rich: WalletClient) -> None:
    text = rich.wallet.text(**{"Not Before": stamp(NOON), "Request ID": "one"})
    text += "\nResources:\n- https://example.org/a\n- urn:b"
    assert rich.chat(rich.wallet.header(text)).status_code == 200
    domain = "http://" + rich.wallet.origin.partition("://")[2]
    assert rich.chat(rich.wallet.header(rich.wallet.text(domain=domain))).status_code == 200
    wrong = rich.wallet.text() + "\nResources:\n- not a uri"
    assert refusal(rich, rich.wallet.header(wrong)) == "INVALID_MESSAGE"


def test_R_AUTH_06_the_domain_is_the_sandbox_with_its_port_or_bare(rich: WalletClient) -> None:
    port = rich.wallet.origin.rpartition(":")[2]
    for domain in (f"127.0.0.1:{port}", "127.0.0.1", f"localhost:{port}", "LOCALHOST"):
        assert rich.chat(rich.wallet.header(rich.wallet.text(domain=domain))).status_code == 200


@pytest.mark.parametrize(
    ("age_s", "code"), [(300, None), (300.001, "EXPIRED"), (-30, None), (-30.001, "FUTURE_TIMESTAMP"), (9e9, "EXPIRED")]
)
def test_R_AUTH_06_five_minutes_old_and_thirty_seconds_early_at_most(
    rich: WalletClient, age_s: float, code: str | None
) -> None:
    issued = datetime.fromtimestamp(NOON, UTC) - timedelta(seconds=min(age_s, 1e9))
    headers = rich.wallet.header(rich.wallet.text(**{"Issued At": stamp(issued), "Expiration Time": None}))
    if code is None:
        assert rich.chat(headers).status_code == 200
    else:
        assert refusal(rich, headers) == code


def test_R_AUTH_06_expiration_and_not_before_are_kept(rich: WalletClient) -> None:
    expired = rich.wallet.text(**{"Expiration Time": stamp(NOON)})
    assert refusal(rich, rich.wallet.header(expired)) == "EXPIRED"
    early = rich.wallet.text(**{"Not Before": stamp(NOON + 0.001)})
    assert refusal(rich, rich.wallet.header(early)) == "NOT_BEFORE"


def test_R_AUTH_06_the_sandboxs_own_clock_decides_and_date_tells_it(rich: WalletClient) -> None:
    """The fault "skewed clock": a client that follows the `Date` header gets in again."""
    for offset_s, code in ((400, "EXPIRED"), (-400, "FUTURE_TIMESTAMP")):
        rich.sandbox.turn_clock(offset_s)
        rich.wallet.now = NOON
        assert refusal(rich, rich.wallet.header()) == code
        rich.wallet.now = NOON + offset_s
        answer = rich.chat()
        assert answer.status_code == 200
        assert answer.headers["date"] == datetime.fromtimestamp(NOON + offset_s, UTC).strftime(
            "%a, %d %b %Y %H:%M:%S GMT"
        )


def test_R_AUTH_06_a_header_is_used_once(rich: WalletClient) -> None:
    headers = rich.wallet.header()
    assert rich.chat(headers).status_code == 200
    assert refusal(rich, headers) == "NONCE_REUSED"
    same_nonce = rich.wallet.text(Nonce="0123456789abcdef")
    assert rich.chat(rich.wallet.header(same_nonce)).status_code == 200
    again = rich.wallet.text(Nonce="0123456789abcdef", statement="Another text")
    assert refusal(rich, rich.wallet.header(again)) == "NONCE_REUSED"


def test_R_AUTH_06_a_nonce_is_the_wallets_own_and_forgotten_after_five_and_a_half_minutes() -> None:
    nonces = Nonces()
    nonces.use("0xA", "n", 0)
    nonces.use("0xB", "n", 0)
    with pytest.raises(SignInRefused, match="NONCE_REUSED"):
        nonces.use("0xA", "n", 329.9)
    nonces.use("0xA", "n", 330)
    with pytest.raises(SignInRefused):
        nonces.use("0xA", "n", 331)


def test_R_AUTH_06_the_nonce_is_used_up_even_when_the_request_fails(wallet: WalletClient) -> None:
    headers = wallet.wallet.header()
    assert wallet.chat(headers).status_code == 402
    wallet.credit("5")
    assert refusal(wallet, headers) == "NONCE_REUSED"


def test_R_AUTH_06_a_header_that_was_refused_has_used_nothing_up(rich: WalletClient) -> None:
    rich.sandbox.turn_clock(-400)
    headers = rich.wallet.header()
    assert refusal(rich, headers) == "FUTURE_TIMESTAMP"
    rich.sandbox.turn_clock(0)
    assert rich.chat(headers).status_code == 200


def test_a_fault_refuses_fresh_nonces(rich: WalletClient) -> None:
    rich.sandbox.fault("nonce_reused", times=1)
    assert refusal(rich, rich.wallet.header()) == "NONCE_REUSED"
    assert rich.chat().status_code == 200


@pytest.mark.parametrize("as_base64", [False, True])
def test_R_AUTH_07_the_other_wallet_kind_signs_with_ed25519(wallet: WalletClient, as_base64: bool) -> None:
    solana = SolanaWallet(origin=wallet.wallet.origin)
    wallet.credit("5", solana)
    answer = wallet.chat(solana.header(as_base64=as_base64))
    assert answer.status_code == 200
    assert float(answer.headers["x-balance-remaining"]) < 5


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("INVALID_PAYLOAD", {"type": None}),
        ("INVALID_PAYLOAD", {"type": "eip191"}),
        ("INVALID_SIGNATURE", {"signature": "1" * 64}),
        ("INVALID_SIGNATURE", {"signature": "0OIl"}),
        ("INVALID_SIGNATURE", {"signature": "z" * 300}),
        ("INVALID_SIGNATURE", {"signature": "1" * 63}),
        ("INVALID_WALLET", {"address": "1" * 44}),
        ("ADDRESS_MISMATCH", {"address": figures.SOLANA_ADDRESS.replace("9h", "9H")}),
        ("INVALID_CHAIN_ID", {"chainId": "eip155:8453"}),
        ("CHAIN_MISMATCH", {"chainId": "solana:devnet"}),
    ],
)
def test_R_AUTH_07_its_failures_have_codes_too(wallet: WalletClient, code: str, changes: dict[str, Any]) -> None:
    assert refusal(wallet, SolanaWallet(origin=wallet.wallet.origin).header(**changes)) == code


def test_R_AUTH_07_a_signature_of_another_key_is_refused(wallet: WalletClient) -> None:
    one, other = SolanaWallet(origin=wallet.wallet.origin), SolanaWallet(byte=4)
    text = one.text()
    stolen = json.loads(base64.b64decode(other.header(text)["SIGN-IN-WITH-X"]))["signature"]
    assert refusal(wallet, one.header(text, signature=stolen)) == "INVALID_SIGNATURE"


def test_R_AUTH_07_another_cluster_is_not_served(wallet: WalletClient) -> None:
    solana = SolanaWallet(origin=wallet.wallet.origin)
    text = solana.text(**{"Chain ID": "devnet"})
    assert refusal(wallet, solana.header(text, chainId="solana:devnet")) == "UNSUPPORTED_CHAIN"


def structured(wallet: EvmWallet, **changes: Any) -> dict[str, str]:
    """A header that sends its fields instead of the text that was signed."""
    nonce, issued = "fedcba9876543210", stamp(wallet.now)
    text = wallet.text(Nonce=nonce, **{"Issued At": issued, "Expiration Time": None, "Request ID": "r1"})
    text += "\nResources:\n- https://example.org/a"
    content: dict[str, Any] = {
        "domain": wallet.origin.partition("://")[2],
        "address": wallet.address,
        "statement": "Sign in to the service",
        "uri": wallet.origin,
        "version": "1",
        "chainId": "eip155:8453",
        "type": "eip191",
        "nonce": nonce,
        "issuedAt": issued,
        "requestId": "r1",
        "resources": ["https://example.org/a"],
        "signature": wallet.signed(text),
    }
    content |= changes
    return {"SIGN-IN-WITH-X": packed({name: value for name, value in content.items() if value is not None})}


def test_R_AUTH_05_fields_instead_of_the_text_are_put_together_again(rich: WalletClient) -> None:
    assert rich.chat(structured(rich.wallet)).status_code == 200
    assert refusal(rich, structured(rich.wallet, statement="Another")) == "INVALID_SIGNATURE"
    assert refusal(rich, structured(rich.wallet, uri=None)) == "INVALID_PAYLOAD"
    assert refusal(rich, structured(rich.wallet, nonce=5)) == "INVALID_PAYLOAD"
    assert refusal(rich, structured(rich.wallet, resources="https://example.org/a")) == "INVALID_PAYLOAD"
    assert refusal(rich, structured(rich.wallet, nonce=None)) == "MISSING_NONCE"
    assert refusal(rich, structured(rich.wallet, statement=None)) == "INVALID_SIGNATURE"


def test_R_AUTH_05_R_AUTH_07_the_other_wallet_kind_may_send_fields_as_well(wallet: WalletClient) -> None:
    solana = SolanaWallet(origin=wallet.wallet.origin)
    wallet.credit("5", solana)
    nonce, issued = "fedcba9876543210", stamp(solana.now)
    fields: dict[str, Any] = {
        "domain": solana.origin.partition("://")[2],
        "uri": solana.origin,
        "version": "1",
        "nonce": nonce,
        "issuedAt": issued,
    }
    content = unpacked(solana.header(solana.text(Nonce=nonce, **{"Issued At": issued}))["SIGN-IN-WITH-X"])
    del content["message"]
    assert wallet.chat({"SIGN-IN-WITH-X": packed(content | fields)}).status_code == 200


@pytest.mark.parametrize("chain", ["evm", "solana"])
def test_R_AUTH_06_R_AUTH_07_R_NS_10_the_published_vectors_hold(chain: Any) -> None:
    evm = {"address": figures.ADDRESS, "signature": figures.SIGN_IN_SIGNATURE, "chainId": 8453}
    solana = {
        "address": figures.SOLANA_ADDRESS,
        "signature": figures.SOLANA_SIGNATURE,
        "chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "type": "ed25519",
    }
    content = {"message": figures.message_of(chain), "timestamp": 1767323045678, **(evm if chain == "evm" else solana)}
    sign_in = read_sign_in(packed(content))
    check_sign_in(sign_in, {"api.venice.ai"}, figures.SIGNED_AT)
    check_signature(sign_in)
    assert sign_in.message.nonce == figures.NONCE_TEXT
    with pytest.raises(SignInRefused, match="EXPIRED"):
        check_sign_in(sign_in, {"api.venice.ai"}, figures.SIGNED_AT + timedelta(minutes=4))


def test_every_code_is_proved_in_this_file() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert [code for code in CODES if f'"{code}"' not in here] == []
    assert len(CODES) == 16
