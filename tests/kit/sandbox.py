"""The controls of a Sandbox that runs somewhere, without blocking the event loop."""

from __future__ import annotations

from typing import Any, Protocol

import httpx


class Sandbox(Protocol):
    """What is needed to know of one, wherever it runs."""

    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...


class Controls:
    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key

    async def send(self, path: str, method: str = "GET", /, **body: object) -> Any:
        """Call one of the controls and return what it answered."""
        address = self.base_url.removesuffix("/api/v1") + "/sandbox" + path
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60) as http:
            answer = await http.request(method, address, json=body if body or method == "PUT" else None)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def turn_clock(self, seconds: float) -> None:
        """Let so much time pass at the Sandbox, since the beginning."""
        await self.send("/clock", "PUT", offset_s=seconds)

    async def fault(self, name: str, **values: object) -> None:
        await self.send(f"/faults/{name}", "PUT", **values)

    async def faults(self) -> dict[str, Any]:
        """The faults that have not struck yet."""
        found: dict[str, Any] = (await self.send("/faults"))["armed"]
        return found

    async def reset_faults(self) -> None:
        await self.send("/faults", "DELETE")

    async def reset(self) -> None:
        await self.send("/reset", "POST")

    async def calls(self, path: str) -> list[dict[str, Any]]:
        """The requests of a path that the Sandbox answered, oldest first."""
        return [line for line in (await self.send("/log"))["data"] if line["path"].endswith(path)]

    async def paid(self, path: str) -> int:
        """How many requests of a path were granted, and so paid for."""
        return sum(line["status"] == 200 for line in await self.calls(path))


def controls_of(sandbox: Sandbox) -> Controls:
    return Controls(sandbox.base_url, sandbox.api_key)


class OnSandbox:
    """A harness whose service is a Sandbox."""

    sandbox: Any  # a RunningSandbox, or what a killed program knows of one

    async def fault(self, name: str, **values: object) -> None:
        """Arm one of the Sandbox's faults."""
        await controls_of(self.sandbox).fault(name, **values)
