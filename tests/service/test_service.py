"""Opening a service, the shapes everything else stands on, and the record a person can repeat by hand."""

import asyncio
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import truststore._openssl

from app.service.dialect import DIALECTS
from app.service.errors import BadResponse, ConnectionFailed, LimitExceeded
from app.service.exchange import FormPart, RequestRecord, curl_command
from app.service.http.bodies import size_text
from app.service.http.tls import TlsTrust, empty_context, system_context, trusted_authorities
from app.service.http.transport_failures import explain
from app.service.service import open_service
from app.service.wire import WireModel, read_model
from tests.service.throwaway_ca import Authority


async def test_a_dialect_brings_its_own_address_and_an_account_may_bring_another() -> None:
    for base_url, dialect, expected in (
        (None, "venice", "https://api.venice.ai/api/v1"),
        ("http://127.0.0.1:8080/api/v1/", "service", "http://127.0.0.1:8080/api/v1"),
    ):
        service = open_service(base_url, dialect, None, lambda exchange: None)
        assert service.client.base_url == expected
        await service.aclose()


@pytest.mark.parametrize(
    "address", [None, "", "example.org", "ftp://example.org", "https://", "http://[::1", "http://h:99999"]
)
def test_an_address_that_cannot_be_called_is_refused(address: str | None) -> None:
    with pytest.raises(LimitExceeded) as caught:
        open_service(address, "service", None, lambda exchange: None)
    assert caught.value.field == "base_url"


def test_curl_leaves_the_key_out_and_quotes_the_rest() -> None:
    record = RequestRecord("POST", "/x", "http://h/x?a=1&b=2", (("Accept", "a'b"),), {"text": "it's $HOME `x`"})
    assert curl_command(record) == (
        "curl --request POST 'http://h/x?a=1&b=2' \\\n"
        '  --header "Authorization: Bearer $RIALTO_API_KEY" \\\n'
        "  --header 'Accept: a'\"'\"'b' \\\n"
        '  --data-raw \'{"text": "it\'"\'"\'s $HOME `x`"}\''
    )


def test_the_curl_command_is_understood_by_a_shell() -> None:
    record = RequestRecord("POST", "/x", "http://h/x", (), {"text": "it's\n$HOME `x` \\"})
    command = curl_command(record).replace("curl", "printf '%s\\n'", 1)
    shown = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, env={}).stdout
    assert '{"text": "it\'s\\n$HOME `x` \\\\"}' in shown
    assert "Authorization: Bearer \n" in shown


def test_curl_of_a_form_and_of_a_call_without_key() -> None:
    form = (FormPart("model", "@m"), FormPart("file", file_name="a b.wav"))
    record = RequestRecord("POST", "/x", "http://h/x", (("Content-Type", "multipart/form-data"),), form, False)
    assert curl_command(record).splitlines()[1:] == ["  --form-string model=@m \\", "  --form 'file=@a b.wav'"]


async def test_the_tls_context_is_made_once_and_not_on_the_loop() -> None:
    threads: list[threading.Thread] = []

    def build() -> ssl.SSLContext:
        threads.append(threading.current_thread())
        return empty_context()

    trust = TlsTrust(build=build)
    first, second = await asyncio.gather(trust.context(), trust.context())
    assert first is second
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


async def test_a_certificate_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "office.pem"
    broken.write_text("no certificate")
    for path in (broken, tmp_path / "absent.pem"):
        with pytest.raises(ConnectionFailed) as caught:
            await TlsTrust((path,), empty_context).context()
        assert path.name in caught.value.message


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_the_system_s_certificates_are_verified_against(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    context = system_context()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the system knows them")
def test_the_authorities_that_this_computer_trusts_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(Authority("Office CA", tmp_path).file))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "absent"))
    assert trusted_authorities() == 1
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent"))
    monkeypatch.setattr(truststore._openssl, "_CA_FILE_CANDIDATES", [])  # a computer without ca-certificates
    assert trusted_authorities() == 0


def test_why_a_connection_failed_is_found_in_the_chain() -> None:
    def failing(cause: BaseException) -> Exception:
        error = OSError("outer")
        error.__cause__ = (
            ExceptionGroup("all attempts", [OSError("x"), cause]) if isinstance(cause, Exception) else None
        )
        return error

    untrusted = ssl.SSLCertVerificationError()
    untrusted.verify_message = "certificate is not valid for 'h'."
    assert explain(failing(untrusted), "h") == (
        "certificate",
        "The certificate of h is not trusted: certificate is not valid for 'h'.",
    )
    assert explain(failing(ssl.SSLError("x")), "h")[0] == "tls"
    assert explain(failing(ConnectionRefusedError()), "h")[0] == "refused"
    assert explain(OSError("x"), "h") == ("network", "h cannot be reached.")
    looped = OSError("x")
    looped.__context__ = failing(looped)
    assert explain(looped, "h")[0] == "network"


async def test_a_host_that_does_not_exist_is_named() -> None:
    service = open_service("http://no-such-host.invalid/v1", "service", None, lambda exchange: None)
    service.client._sleep = lambda seconds: asyncio.sleep(0)
    with pytest.raises(ConnectionFailed) as caught:
        await service.models.list()
    assert "no-such-host.invalid" in caught.value.message
    await service.aclose()


class Leaf(WireModel):
    size: int = 3


class Tree(WireModel):
    id: str
    leaf: Leaf = Leaf()
    leaves: tuple[Leaf, ...] = ()


def test_odd_fields_fall_back_and_missing_identity_does_not() -> None:
    tree = read_model(Tree, {"id": "x", "leaf": {"size": "large", "new": 1}, "leaves": [{"size": None}, {}]})
    assert (tree.leaf.size, len(tree.leaves), tree.leaves[0].size) == (3, 2, 3)
    assert read_model(Tree, {"id": "x", "leaf": 5, "leaves": "none"}) == Tree(id="x")
    for content in ({"leaf": {}}, {"id": 5}, [], "x", None):
        with pytest.raises(BadResponse):
            read_model(Tree, content)


def test_the_two_dialects_are_complete() -> None:
    assert set(DIALECTS) == {"service", "venice"}
    for dialect in DIALECTS.values():
        assert dialect.header_prefix == dialect.header_prefix.lower()
        assert dialect.documents_tool_names
    assert DIALECTS["service"].header_value({"x-venice-version": "1"}, "version") == "1"
    assert DIALECTS["service"].header_value({}, "version") is None


def test_sizes_are_worded() -> None:
    assert (size_text(16 * 1024 * 1024), size_text(64 * 1024)) == ("16 MiB", "64 KiB")


LIGHT = ("errors", "response_info", "dialect", "exchange", "chat_types")


def test_what_the_window_imports_before_it_paints_is_light() -> None:
    names = ", ".join(f"app.service.{name}" for name in LIGHT)
    heavy = ("httpx", "pydantic", "msgspec", "asyncio", "ssl")
    program = f"import sys, {names}; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
