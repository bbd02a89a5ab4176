"""Model servers that already run on this computer: found on their usual ports, spoken to as they are.

They serve the OpenAI-compatible paths under `/v1`. Nothing but 127.0.0.1 is ever contacted.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from app.sandbox.http.connections import SERVER_NAME
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.model_catalog import ModelEntry, local_entry

if TYPE_CHECKING:
    from app.sandbox.http.client_library import httpx

HOST = "127.0.0.1"
KNOCK_TIMEOUT_S = 0.25
LIST_TIMEOUT_S = 2.0
FRESH_S = 5.0
PASSED_ON = (
    "temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty",
    "seed", "stop", "response_format", "reasoning_effort",
    "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls",
)  # fmt: skip


class LocalServers:
    def __init__(self, ports: Mapping[str, int], own_port: int) -> None:
        self._ports = {server: port for server, port in ports.items() if port != own_port}
        self._models: list[ModelEntry] = []
        self._looked_at = -FRESH_S
        self._looking = asyncio.Lock()
        self._http: httpx.AsyncClient | None = None

    async def models(self) -> list[ModelEntry]:
        """Return what runs here now; looked up again when the last look is older than a few seconds."""
        async with self._looking:
            if time.monotonic() - self._looked_at >= FRESH_S:
                found = await asyncio.gather(*(self._models_of(server, port) for server, port in self._ports.items()))
                self._models = [entry for entries in found for entry in entries]
                self._looked_at = time.monotonic()
        return self._models

    async def answer(self, entry: ModelEntry, messages: list[Json], sent: Json) -> AsyncIterator[Json]:
        """Yield the chunks of a streamed answer as the server sends them. Raises `HttpError` when it gives none."""
        from app.sandbox.http.client_library import httpx

        body: Json = {name: sent[name] for name in PASSED_ON if sent.get(name) is not None}
        body |= {"model": entry.extra["name"], "messages": messages, "stream": True}
        body["stream_options"] = {"include_usage": True}
        url = f"http://{HOST}:{entry.extra['port']}/v1/chat/completions"
        try:
            async with self._client().stream("POST", url, json=body) as response:
                if response.status_code != 200:
                    text = (await response.aread()).decode(errors="replace")[:500]
                    raise HttpError(502, f"The model server on port {entry.extra['port']} refused: {text}")
                async for line in response.aiter_lines():
                    chunk = _chunk_of(line)
                    if chunk is not None:
                        yield chunk
        except httpx.HTTPError as error:
            raise HttpError(
                502, f"The model server on port {entry.extra['port']} stopped answering: {error}"
            ) from error

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            from app.sandbox.http.client_library import httpx  # 10 MB that a Sandbox without such a server never needs

            timeout = httpx.Timeout(10.0, read=600.0)
            self._http = httpx.AsyncClient(timeout=timeout, trust_env=False, verify=False)
        return self._http

    async def _models_of(self, server: str, port: int) -> list[ModelEntry]:
        if not await _answers(port):
            return []
        if find_spec("httpx") is None:
            return []  # nothing here could ask it
        from app.sandbox.http.client_library import httpx

        try:
            response = await self._client().get(f"http://{HOST}:{port}/v1/models", timeout=LIST_TIMEOUT_S)
            if response.headers.get("server", "").startswith(SERVER_NAME):
                return []  # another Sandbox, which serves the same path
            listed = response.json()["data"]
            names = [str(record["id"]) for record in listed]
        except (httpx.HTTPError, ValueError, TypeError, KeyError):
            return []  # something else listens there
        # A model id of ours never contains ":", because that starts the suffix form of a name.
        return [local_entry(f"{server}/{name.replace(':', '@')}", name, server, port) for name in names]


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, port), KNOCK_TIMEOUT_S)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _chunk_of(line: str) -> dict[str, Any] | None:
    if not line.startswith("data:"):
        return None
    data = line.removeprefix("data:").strip()
    if data == "[DONE]":
        return None
    try:
        chunk = json.loads(data)
    except ValueError:
        return None
    return chunk if isinstance(chunk, dict) else None
