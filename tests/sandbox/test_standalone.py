"""`python -m app.sandbox` as a program: what it prints, how it ends, what it leaves behind."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from app.sandbox.__main__ import local_ports, read_arguments
from app.sandbox.accounts.faucet import FAUCET_ADDRESS, notice
from app.sandbox.media.sound import encode
from app.sandbox.server import LOCAL_PORTS

ROOT = Path(__file__).resolve().parents[2]
QUIET = ["--no-local", "--speed", "0"]


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "app.sandbox", *QUIET, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_base_url_and_serves_until_a_signal(number: signal.Signals) -> None:
    with start("--api-key", "my-key") as process:
        assert process.stdout is not None and process.stderr is not None
        base_url = process.stdout.readline().strip()
        with httpx.Client(
            trust_env=False, verify=False, headers={"authorization": "Bearer my-key"}, timeout=60
        ) as http:
            assert http.get(f"{base_url}/characters").status_code == 200
            process.send_signal(number)
            assert process.wait(timeout=60) == 0
        rest, errors = process.stdout.read(), process.stderr.read()
    assert base_url.startswith("http://127.0.0.1:") and base_url.endswith("/api/v1")
    assert rest == notice() + "\n" and FAUCET_ADDRESS in rest
    assert errors == ""


def test_R_AUTH_09_R_AUTH_10_a_fixed_key_works_out_of_the_box_and_is_not_printed() -> None:
    with start("--dialect", "venice") as process:
        assert process.stdout is not None and process.stderr is not None
        base_url = process.stdout.readline().strip()
        headers = {"authorization": "Bearer local-dev-key"}
        answer = httpx.get(f"{base_url}/characters", headers=headers, trust_env=False, verify=False, timeout=60)
        process.terminate()
        printed = base_url + process.stdout.read() + process.stderr.read()
    assert answer.status_code == 200 and "x-venice-version" in answer.headers
    assert "local-dev-key" not in printed


def test_a_port_in_use_ends_with_a_sentence() -> None:
    with start() as first:
        assert first.stdout is not None
        port = first.stdout.readline().strip().rpartition(":")[2].partition("/")[0]
        with start("--port", port) as second:
            assert second.stderr is not None
            assert second.wait(timeout=60) == 1
            assert f"Port {port} cannot be used" in second.stderr.read()
        first.terminate()


def test_arguments_say_which_model_servers_are_looked_for() -> None:
    assert local_ports(read_arguments([])) == dict(LOCAL_PORTS)
    assert local_ports(read_arguments(["--no-local"])) == {}
    assert local_ports(read_arguments(["--local", "mine=5001", "--local", "other=5002"])) == {
        "mine": 5001,
        "other": 5002,
    }


def test_only_what_is_needed_is_imported_at_the_start() -> None:
    """A Sandbox that serves models and a chat needs no HTTP client, no pydantic and nothing of the window."""
    script = (
        "import sys, pathlib, urllib.request\n"
        "from app.sandbox.server import Options, start_sandbox\n"
        f"resources = pathlib.Path({str(ROOT / 'resources')!r})\n"
        "with start_sandbox(pathlib.Path('.'), resources, options=Options(local_ports={})) as sandbox:\n"
        "    urllib.request.urlopen(sandbox.base_url + '/models').read()\n"
        "heavy = {'httpx', 'pydantic', 'PySide6', 'numpy', 'starlette', 'uvicorn', 'app.service'}\n"
        "wallets = {'eth', 'eth_account', 'Crypto', 'cryptography'}\n"
        "wallets |= {'app.sandbox.accounts.wallets', 'app.sandbox.accounts.x402'}\n"
        "print(sorted((heavy | wallets) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--api-key", ""],
        ["--api-key", "  "],
        ["--port", "99999"],
        ["--port", "-1"],
        ["--local", "bad"],
        ["--local", "a=x"],
        ["--local", "=5001"],
        ["--speed", "nan"],
        ["--speed", "inf"],
        ["--speed", "-5"],
        ["--data", "no/such/folder"],
        ["--host", "::1"],
        ["--host", "here"],
        ["--allow-host", "sandbox:8787"],
        ["--allow-host", "http://sandbox"],
        ["--clock", "noon"],
        ["--clock", "1999-12-31"],
    ],
)
def test_a_wrong_argument_is_told_in_a_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments(arguments)
    assert ended.value.code == 2
    assert f"argument {arguments[0]}: " in capsys.readouterr().err.splitlines()[-1]


def test_with_a_folder_it_keeps_its_state_and_another_one_there_is_refused(tmp_path: Path) -> None:
    def balance(base_url: str) -> float:
        headers = {"authorization": "Bearer local-dev-key"}
        asked = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}
        with httpx.Client(base_url=base_url, headers=headers, trust_env=False, timeout=60) as http:
            http.post("/chat/completions", json=asked).raise_for_status()
            return float(http.get("/billing/balance").json()["balances"]["usd"])

    left = []
    for number in range(2):
        with start("--data", str(tmp_path)) as process:
            assert process.stdout is not None
            left.append(balance(process.stdout.readline().strip()))
            if number:
                with start("--data", str(tmp_path)) as second:
                    assert second.stderr is not None and second.wait(timeout=60) == 1
                    assert f"{tmp_path} cannot be used" in second.stderr.read()
            process.terminate()
            process.wait(timeout=60)
    assert left[1] < left[0] < 100


@pytest.mark.parametrize("again", [True, False])
def test_a_signal_ends_it_while_a_chain_still_computes(again: bool) -> None:
    """After 3 s, or at once when it is told twice. The loop would run for 5 s."""
    with start("--api-key", "my-key") as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        address = "0x" + "12" * 20
        overrides = {address: {"code": "0x5b600056"}}
        endless = {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [{"to": address}, "latest", overrides]}
        headers = {"authorization": "Bearer my-key"}
        with httpx.Client(base_url=base_url, headers=headers, trust_env=False, timeout=60) as http:
            http.post("/crypto/rpc/base-mainnet", json={**endless, "method": "eth_blockNumber", "params": []})
            thread = threading.Thread(target=_ignoring, args=(http, endless))
            thread.start()
            time.sleep(0.5)  # the call is under way; nothing tells when
            process.terminate()
            if again:
                time.sleep(0.2)  # two signals at once are one
                process.send_signal(signal.SIGTERM)
            code = process.wait(timeout=4.5)
            thread.join(timeout=60)
    assert code == (1 if again else 0)


def _ignoring(http: httpx.Client, body: object) -> None:
    with contextlib.suppress(httpx.HTTPError):
        http.post("/crypto/rpc/base-mainnet", json=body)


def test_lines_of_libraries_say_whose_they_are() -> None:
    """One is written by Python's logging, one by a decoder in C to the file descriptor itself."""
    with start("--api-key", "my-key") as process:
        assert process.stdout is not None and process.stderr is not None
        base_url = process.stdout.readline().strip()
        headers = {"authorization": "Bearer my-key"}
        wave = (np.sin(np.arange(32_000) * 0.1) * 9_000).astype(np.int16)
        sound = encode(wave, 16_000, "mp3")
        broken = sound[:2000] + b"x" * 3000 + sound[2000:]
        file = b'--zz\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n%b\r\n' % broken
        model = b'--zz\r\ncontent-disposition: form-data; name="model"\r\n\r\nnvidia/parakeet-tdt-0.6b-v3\r\n'
        with httpx.Client(base_url=base_url, headers=headers, trust_env=False, timeout=60) as http:
            form = {"content-type": "multipart/form-data; boundary=zz"}
            for content in (model + file + b"--zz--\r\n", b"--zzX no boundary"):
                http.post("/audio/transcriptions", content=content, headers=form)
        process.terminate()
        process.wait(timeout=60)
        lines = process.stderr.read().splitlines()
    assert any("from python_multipart" in line for line in lines), lines
    assert any(line.startswith("Sandbox, from a library: ") for line in lines), lines
    assert [line for line in lines if not line.startswith("Sandbox, from ")] == []


def test_other_computers_reach_it_when_told_so_by_the_names_that_it_was_told() -> None:
    good = ("sandbox:{}", "SANDBOX:{}", "ci.example:{}", "localhost:{}", "sandbox")
    bad = ("rebound.example", "sandbox.example", "sandbox:{}:1", "0.0.0.0", "", "sandbox:")
    with start("--host", "0.0.0.0", "--allow-host", "Sandbox", "--allow-host", "ci.example") as process:
        assert process.stdout is not None and process.stderr is not None
        base_url = process.stdout.readline().strip()
        port = base_url.rpartition(":")[2].partition("/")[0]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as http:
            codes = {
                name: http.get("/api/v1/models", headers={"Host": name.format(port)}).status_code
                for name in (*good, *bad)
            }
            pages = http.get("/handbook").text
        process.terminate()
        process.wait(timeout=60)
        warned = process.stderr.read()
    assert base_url == f"http://sandbox:{port}/api/v1"
    assert f"http://sandbox:{port}/handbook/" in pages
    assert codes == {**dict.fromkeys(good, 200), **dict.fromkeys(bad, 421)}
    assert warned.count("\n") == 1
    assert "other computers can reach 0.0.0.0" in warned and "--api-key" in warned and "sandbox, ci.example" in warned


def test_the_clock_starts_where_it_was_told_to_and_again_after_a_reset() -> None:
    with start("--clock", "2026-01-01T00:00Z") as process:
        assert process.stdout is not None
        origin = process.stdout.readline().strip().removesuffix("/api/v1")
        headers = {"authorization": "Bearer local-dev-key"}
        with httpx.Client(base_url=f"{origin}/sandbox", headers=headers, trust_env=False, timeout=60) as http:
            first = http.get("/state").json()
            ahead = http.put("/clock", json={"offset_s": 86_400}).json()["now"]
            http.post("/reset")
            again = http.get("/state").json()["now"]
        process.terminate()
    assert (first["now"][:15], first["clock_offset_s"]) == ("2026-01-01T00:0", 0)
    assert (ahead[:15], again[:15]) == ("2026-01-02T00:0", "2026-01-01T00:0")
