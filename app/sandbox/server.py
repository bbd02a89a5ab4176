"""Starts and stops the Sandbox: 127.0.0.1, a free port, its own thread and event loop.

Importing this module is cheap; everything that serves is imported on the Sandbox's own thread.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.sandbox import RESOURCES

if TYPE_CHECKING:
    import asyncio

    from app.sandbox.http.recording import Exchange, Recorder
    from app.sandbox.http.scripted_responses import ScriptedResponse

HOST = "127.0.0.1"
BACKLOG = 128
ENDS_WITHIN_S = 3.0
# Where these programs listen unless told otherwise; each serves the OpenAI-compatible paths under /v1.
LOCAL_PORTS: Mapping[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}


class Options(NamedTuple):
    """How a Sandbox behaves from its first second; most can be changed later under /sandbox/settings."""

    dialect: str = "service"  # or "venice": whose names the answers carry
    tokens_per_second: float = 80.0  # 0: no pacing
    partner: bool = False  # the partner tier of rate limits
    any_key: bool = False  # every non-empty key is accepted, each with a balance of its own
    local_ports: Mapping[str, int] = LOCAL_PORTS
    no_limits: bool = False  # no rate limits, no caps, no block after failures
    fund_any: bool = False  # every address on a chain has a first balance of play money
    default_models: bool = False  # OpenAI's names of models and voices work
    seed: int | None = None  # of ids and images; None: new ones at every start
    cors: tuple[str, ...] = ()  # origins whose web pages may call, such as http://localhost:5173
    answers: tuple[ScriptedResponse, ...] = ()  # given in place of the Sandbox's own; see `answers.load`
    record: tuple[Path, str] | None = None  # the file for calls that are passed on, and the address of the service
    replay: tuple[Exchange, ...] | None = None  # given in place of everything; see `recording.load`
    starts_at: float | None = None  # what the clock shows first, in Unix seconds; None: the real time
    hosts: tuple[str, ...] = ()  # further names in a Host header that are answered; the first one is in links
    keep: bool = False  # accounts, jobs and chains are in a file of the data folder and there again after a restart


def end_soon() -> None:
    """End this process within 3 s, whatever its threads still compute. For a process that does nothing but serve."""
    killer = threading.Timer(ENDS_WITHIN_S, os._exit, (0,))
    killer.daemon = True
    killer.start()


def listen(port: int, host: str = HOST) -> socket.socket:
    """Return a socket that already takes connections. Raises `OSError` when the port is in use."""
    listener = socket.create_server((host, port), backlog=BACKLOG)
    listener.setblocking(False)
    return listener


class RunningSandbox:
    """A Sandbox that serves until `stop()`; also a context manager."""

    def __init__(self, listener: socket.socket, api_key: str, serve: Callable[..., Any]) -> None:
        self.origin = f"http://{HOST}:{listener.getsockname()[1]}"
        self.base_url = f"{self.origin}/api/v1"
        self.api_key = api_key
        self._stop: Callable[[], object] | None = None
        self._can_stop = threading.Event()
        self._thread = threading.Thread(target=serve, args=(listener, self), name="sandbox", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"RunningSandbox({self.base_url!r})"  # without the key

    def __enter__(self) -> RunningSandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End every connection and the thread. May be called more than once, from any other thread."""
        if not self._thread.is_alive():
            return
        self._can_stop.wait(timeout=10)
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()
        self._thread.join(timeout=10)

    def started(self, loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
        """Called once by the serving thread, as soon as it can be told to stop."""
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        self._can_stop.set()


def start_sandbox(
    data_dir: Path,
    resources: Path = RESOURCES,
    *,
    port: int = 0,
    api_key: str | None = None,
    clock: Callable[[], float] | None = None,
    options: Options | None = None,
) -> RunningSandbox:
    """Start a Sandbox and return as soon as its port takes connections.

    `clock` returns Unix seconds; a random `api_key` is made when none is given. Raises `OSError` for a port in use.
    """
    chosen = options or Options()
    key = api_key or f"sandbox-{secrets.token_urlsafe(24)}"

    def serve(listener: socket.socket, running: RunningSandbox) -> None:
        import asyncio

        async def main() -> None:
            stopped = asyncio.Event()
            running.started(asyncio.get_running_loop(), stopped)
            await serve_until(stopped, listener, data_dir, resources, key, clock, chosen)

        asyncio.run(main())

    return RunningSandbox(listen(port), key, serve)


async def serve_until(
    stopped: asyncio.Event,
    listener: socket.socket,
    data_dir: Path,
    resources: Path,
    api_key: str,
    clock: Callable[[], float] | None,
    options: Options,
    serving: Callable[[str], None] = lambda _base_url: None,
) -> None:
    """Serve one listening socket on the running loop until `stopped` is set; then end all connections.

    `serving` is told the base address as soon as requests are answered. Raises `OSError` where nothing can be kept.
    """
    import asyncio

    from app.sandbox.error_output import LoopErrors
    from app.sandbox.http.connections import Connections
    from app.sandbox.http.middleware import Middleware
    from app.sandbox.site import Site
    from app.sandbox.world import Clock, Settings, World

    settings = Settings(
        dialect=options.dialect,
        tokens_per_second=options.tokens_per_second,
        partner=options.partner,
        any_key=options.any_key,
        no_limits=options.no_limits,
        default_models=options.default_models,
        fund_any=options.fund_any,
    )
    store = None
    if options.keep:
        from app.sandbox.store import Store

        store = Store(data_dir)
    world = World(api_key, settings, Clock(clock, options.starts_at), store, options.answers, options.seed)
    origin = f"http://{options.hosts[0] if options.hosts else HOST}:{listener.getsockname()[1]}"
    site = Site(world, origin, data_dir, resources, options.local_ports)
    handle = Middleware(site, frozenset(options.cors), frozenset(options.hosts)).handle
    recorder: Recorder | None = None
    if options.record is not None or options.replay is not None:
        from app.sandbox.http import recording

        if options.record is not None:
            recorder = recording.Recorder(*options.record, handle, options.hosts)
            handle = recorder.handle
        else:
            handle = recording.Replayer(options.replay or (), handle, with_pauses=options.tokens_per_second > 0).handle
    connections = Connections(handle)
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
    server = await asyncio.start_server(connections.serve, sock=listener)
    serving(f"{origin}/api/v1")
    try:
        await stopped.wait()
    finally:
        server.close()
        await connections.close()
        await server.wait_closed()
        if recorder is not None:
            await recorder.close()
        await site.close()
        world.save()
        if store is not None:
            store.close()
