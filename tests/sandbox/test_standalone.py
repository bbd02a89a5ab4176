"""`python -m app.sandbox` as a program: what it prints, how it ends, what it leaves behind."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app.sandbox.__main__ import local_ports, read_arguments
from app.sandbox.server import LOCAL_PORTS
from app.sandbox.wallets_faucet import FAUCET_ADDRESS, notice

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
        "wallets = {'eth', 'eth_account', 'Crypto', 'cryptography', 'app.sandbox.wallets', 'app.sandbox.x402'}\n"
        "print(sorted((heavy | wallets) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
