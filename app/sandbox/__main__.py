"""`python -m app.sandbox`: serves the Sandbox alone and prints its base URL, until SIGINT or SIGTERM.

A second signal ends the process at once. So do 3 seconds after the first: speech or a chain may still be computing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import json
import math
import os
import re
import signal
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from app.sandbox import RESOURCES
from app.sandbox.accounts import faucet
from app.sandbox.crash_dumps import forbid_crash_dumps
from app.sandbox.error_output import label_libraries
from app.sandbox.http.recording import Exchange, service_address, warn
from app.sandbox.http.recording import load as load_recording
from app.sandbox.http.scripted_responses import ScriptedResponse, load
from app.sandbox.installed_engines import without_library
from app.sandbox.server import HOST, LOCAL_PORTS, Options, end_soon, listen, serve_until

LOCAL_KEY = "local-dev-key"  # the fixed key that works out of the box when none is given


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m app.sandbox", description="A local stand-in for the service.")
    parser.add_argument("--port", type=_port, default=0, help="0 (the default): any free port")
    parser.add_argument(
        "--host",
        type=_address,
        default=HOST,
        metavar="ADDRESS",
        help=f"listen on this IPv4 address; other computers reach any but {HOST} (0.0.0.0: on every network)",
    )
    parser.add_argument(
        "--allow-host",
        type=_host_name,
        action="append",
        default=[],
        metavar="NAME",
        help="answer requests for this host name; links use the first one; can be repeated",
    )
    parser.add_argument("--api-key", type=_key, default=LOCAL_KEY, help=f"the API key it accepts (default {LOCAL_KEY})")
    parser.add_argument(
        "--dialect", choices=("service", "venice"), default="service", help="the API style of its answers"
    )
    parser.add_argument("--speed", type=_speed, default=80.0, metavar="N", help="tokens per second; 0 means no pauses")
    parser.add_argument("--partner", action="store_true", help="rate limits of the partner tier")
    parser.add_argument("--any-key", action="store_true", help="accept any key, each with its own balance")
    parser.add_argument(
        "--local",
        type=_server,
        action="append",
        metavar="NAME=PORT",
        help="forward chats to an OpenAI-compatible server on this port (default: the usual ports of four programs)",
    )
    parser.add_argument("--no-local", action="store_true", help="do not look for model servers on this computer")
    parser.add_argument(
        "--data",
        type=_folder,
        metavar="FOLDER",
        help="save accounts, jobs and chains in this folder for the next start (default: start over each time)",
    )
    parser.add_argument("--no-limits", action="store_true", help="no rate limits, and no block after failed calls")
    parser.add_argument("--fund-any", action="store_true", help="give every address an initial balance of play money")
    parser.add_argument("--default-models", action="store_true", help="accept OpenAI’s model and voice names")
    parser.add_argument("--seed", type=int, metavar="N", help="the same requests get the same ids and images again")
    parser.add_argument(
        "--clock", type=_moment, metavar="TIME", help="start the clock at this time, such as 2026-01-01T00:00Z"
    )
    parser.add_argument(
        "--cors",
        type=_origin,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let web pages from this origin send requests, such as http://localhost:5173; can be repeated",
    )
    parser.add_argument(
        "--ready-file",
        type=_new_file,
        metavar="FILE",
        help="write its address and process ID to this file when it is ready",
    )
    parser.add_argument(
        "--answers",
        type=_answers,
        default=(),
        metavar="FILE",
        help="scripted answers to give, as JSON or YAML; see /sandbox/answers",
    )
    parser.add_argument(
        "--record", type=_new_file, metavar="FILE", help="pass every call on to --service and append it to this file"
    )
    parser.add_argument("--service", type=_service, metavar="URL", help="where --record passes calls on to")
    parser.add_argument(
        "--replay", type=_recording, metavar="FILE", help="answer with what --record wrote, or an HTTP Archive (.har)"
    )
    chosen = parser.parse_args(arguments)
    if (chosen.record is None) != (chosen.service is None):
        parser.error("--record FILE and --service URL need each other")
    if chosen.record is not None and find_spec("httpx") is None:
        parser.error("--record needs httpx, which is not installed: pip install httpx")
    if chosen.record is not None and chosen.replay is not None:
        parser.error("--record and --replay cannot be combined")
    return chosen


def _service(text: str) -> str:
    try:
        return service_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _recording(text: str) -> tuple[Exchange, ...]:
    try:
        return load_recording(Path(text))
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an IPv4 address such as 0.0.0.0") from None


def _host_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,253}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a host name without a port or path")
    return text.lower()


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-01-01T00:00Z") from None
    if not 2000 <= moment.year <= 2100:
        raise argparse.ArgumentTypeError(f"{text!r} is not between the years 2000 and 2100")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def names_of(chosen: argparse.Namespace) -> tuple[str, ...]:
    """Return the names that it may be called by, beside those of this computer itself."""
    host = ipaddress.IPv4Address(chosen.host)
    return (*chosen.allow_host, *(() if host.is_loopback or host.is_unspecified else (chosen.host,)))


def _key(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the key is empty. Is its variable set?")
    return text.strip()


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not 0 <= speed < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens per second, 0 or more")
    return speed


def _server(text: str) -> tuple[str, int]:
    name, _, port = text.partition("=")
    if not name or not port or not _port(port):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PORT")
    return name, int(port)


def _folder(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return folder


def _origin(text: str) -> str:
    if not re.fullmatch(r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin such as http://localhost:5173")
    return text


def _new_file(text: str) -> Path:
    file = Path(text)
    if file.is_dir() or not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder, or is in a folder that does not exist")
    return file


def _answers(text: str) -> tuple[ScriptedResponse, ...]:
    try:
        return load(Path(text))
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


def local_ports(chosen: argparse.Namespace) -> dict[str, int]:
    if chosen.no_local:
        return {}
    return dict(chosen.local or LOCAL_PORTS)


def _open_to_others(chosen: argparse.Namespace, names: tuple[str, ...]) -> str:
    key = "its key, which everybody knows: give another with --api-key" if chosen.api_key == LOCAL_KEY else "its key"
    called = (
        f"It answers to {', '.join(names)} and localhost." if names else "It answers to localhost: see --allow-host."
    )
    return f"other computers can reach {chosen.host} and use this Sandbox with {key}. {called}"


async def serve(chosen: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if stopped.is_set():
            os._exit(1)
        stopped.set()
        end_soon()

    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows: its loop knows no signals
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    try:
        listener = listen(chosen.port, chosen.host)
    except OSError as error:
        place = "" if chosen.host == HOST else f" of {chosen.host}"
        sys.exit(f"Port {chosen.port}{place} cannot be used: {error.strerror}")
    names = names_of(chosen)
    if not ipaddress.IPv4Address(chosen.host).is_loopback:
        print(f"Warning: {_open_to_others(chosen, names)}", file=sys.stderr, flush=True)
    base_url = f"http://{names[0] if names else HOST}:{listener.getsockname()[1]}/api/v1"
    print(f"{base_url}\n{faucet.notice()}", flush=True)  # at once: some who start this read one line only
    keep = chosen.data is not None
    options = Options(
        dialect=chosen.dialect,
        tokens_per_second=chosen.speed,
        partner=chosen.partner,
        any_key=chosen.any_key,
        local_ports=local_ports(chosen),
        no_limits=chosen.no_limits,
        default_models=chosen.default_models,
        fund_any=chosen.fund_any,
        seed=chosen.seed,
        cors=tuple(chosen.cors),
        starts_at=chosen.clock,
        hosts=names,
        answers=chosen.answers,
        record=None if chosen.record is None else (chosen.record, chosen.service),
        replay=chosen.replay,
        keep=keep,
    )
    if chosen.service is not None:
        warn(chosen.service)
    ready: Path | None = chosen.ready_file

    def serving(url: str) -> None:
        gc.freeze()  # all of this stays; to look through it now and then holds every stream up for 25 ms
        if ready is not None:  # whole or not at all: somebody looks for it again and again
            half = ready.with_name(f"{ready.name}.{os.getpid()}")
            half.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
            half.replace(ready)

    folder = chosen.data or Path.cwd()
    try:
        await serve_until(stopped, listener, folder, RESOURCES, chosen.api_key, None, options, serving=serving)
    except ModuleNotFoundError as error:
        sys.exit(without_library(error))
    except OSError as error:
        sys.exit(f"{error.filename or chosen.data} cannot be used: {error}")


def main() -> None:
    forbid_crash_dumps()
    chosen = read_arguments()
    label_libraries()
    ready: Path | None = chosen.ready_file
    if ready is None:
        asyncio.run(serve(chosen))
        return
    ready.unlink(missing_ok=True)  # of one that was killed
    try:
        asyncio.run(serve(chosen))
    finally:
        ready.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
