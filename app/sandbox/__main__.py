"""`python -m app.sandbox`: serve the Sandbox alone, print its base URL, go on until SIGINT or SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from app.sandbox import wallets_faucet
from app.sandbox.server import HOST, LOCAL_PORTS, Options, listen, serve_until

ROOT = Path(__file__).resolve().parents[2]
LOCAL_KEY = "local-dev-key"  # the fixed key that works out of the box when none is given


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m app.sandbox", description="A local stand-in of the service.")
    parser.add_argument("--port", type=int, default=0, help="0 (the default): any free port")
    parser.add_argument("--api-key", default=LOCAL_KEY, help=f"the key that it accepts (default {LOCAL_KEY})")
    parser.add_argument(
        "--dialect", choices=("service", "venice"), default="service", help="whose names it answers with"
    )
    parser.add_argument("--speed", type=float, default=80.0, metavar="N", help="tokens per second; 0: without pauses")
    parser.add_argument("--partner", action="store_true", help="rate limits of the partner tier")
    parser.add_argument("--any-key", action="store_true", help="accept every key, each with a balance of its own")
    parser.add_argument(
        "--local",
        action="append",
        metavar="NAME=PORT",
        help="pass chats on to an OpenAI-compatible server on this port (default: the usual ports of four programs)",
    )
    parser.add_argument("--no-local", action="store_true", help="look for no model server on this computer")
    parser.add_argument(
        "--data", type=Path, default=Path.cwd(), help="folder for files that an engine may have to keep"
    )
    return parser.parse_args(arguments)


def local_ports(chosen: argparse.Namespace) -> dict[str, int]:
    if chosen.no_local:
        return {}
    if not chosen.local:
        return dict(LOCAL_PORTS)
    pairs = (entry.partition("=") for entry in chosen.local)
    return {name: int(port) for name, _, port in pairs}


async def serve(chosen: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stopped.set)
        except NotImplementedError:  # Windows: its loop knows no signals
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    try:
        listener = listen(chosen.port)
    except OSError as error:
        sys.exit(f"Port {chosen.port} cannot be used: {error.strerror}")
    base_url = f"http://{HOST}:{listener.getsockname()[1]}/api/v1"
    print(f"{base_url}\n{wallets_faucet.notice()}", flush=True)  # at once: some who start this read one line only
    options = Options(chosen.dialect, chosen.speed, chosen.partner, chosen.any_key, local_ports(chosen))
    await serve_until(stopped, listener, chosen.data, ROOT / "resources", chosen.api_key, None, options)


def main() -> None:
    asyncio.run(serve(read_arguments()))


if __name__ == "__main__":
    main()
