"""A real browser without a window, spoken with in the DevTools protocol: what a person does, and what they then see."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.kit.waiting import block_until

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
WAIT_S = 60
EMPTY = "about:blank"
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, " ": 32}


class Tab:
    """One tab of a profile of its own. `problems` collects what the page's console and its policy complained about."""

    def __init__(self, wire: ClientConnection) -> None:
        self._wire = wire
        self._ids = itertools.count(1)
        self._session = ""
        self._loads = 0
        self.problems: list[str] = []
        profile = self.send("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        target = self.send("Target.createTarget", url=EMPTY, browserContextId=profile)["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Accessibility"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._ids)
        session = {"sessionId": self._session} if self._session else {}
        self._wire.send(json.dumps({"id": number, "method": method, "params": params, **session}))
        while True:
            told = json.loads(self._wire.recv(timeout=WAIT_S))
            if told.get("method") == "Runtime.exceptionThrown":
                self.problems.append(str(told["params"]["exceptionDetails"]))
            elif told.get("method") == "Log.entryAdded":
                self.problems.append(told["params"]["entry"]["text"])
            elif told.get("method") == "Page.loadEventFired":
                self._loads += 1
            elif told.get("id") == number:
                assert "error" not in told, told["error"]
                return dict(told["result"])

    def open(self, url: str) -> None:
        self._load("Page.navigate", url=url)

    def reload(self) -> None:
        self._load("Page.reload")

    def _load(self, method: str, **params: Any) -> None:
        before = self._loads
        self.send(method, **params)
        # Nothing is asked of the page meanwhile: the old one goes away under the question.
        # The empty page of a new tab can be late, and counts for nothing.
        block_until(lambda: self._address() != EMPTY and self._loads > before, method)
        self.shows("document.readyState === 'complete'")

    def _address(self) -> str:
        return str(self.send("Page.getFrameTree")["frameTree"]["frame"]["url"])

    def value(self, expression: str) -> Any:
        told = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, (expression, told["exceptionDetails"])
        return told["result"].get("value")

    def shows(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        block_until(lambda: self.value(condition), lambda: f"{condition}\n{self.value('document.body.innerText')}")

    def press(self, key: str) -> None:
        code = {"key": key, "windowsVirtualKeyCode": KEYS[key], **({"text": "\r"} if key == "Enter" else {})}
        code |= {"text": " "} if key == " " else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **code)
        self.send("Input.dispatchKeyEvent", type="keyUp", **{**code, "text": ""})

    def go_to(self, element_id: str) -> None:
        """Press Tab until the element has the focus."""
        for _ in range(200):
            if self.value("document.activeElement.id") == element_id:
                return
            self.press("Tab")
        raise AssertionError(f"Tab never reaches {element_id}")

    def type_into(self, element_id: str, text: str) -> None:
        self.go_to(element_id)
        self.send("Input.insertText", text=text)


@contextmanager
def browser(folder: Path) -> Iterator[str]:
    """Start a browser that knows nothing; yields the address at which it is spoken with."""
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    command = [PROGRAM, *flags, "--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-proxy-server"]
    said = folder / "said"  # a file, because a pipe that nobody reads would fill
    with said.open("wb") as told:
        process = subprocess.Popen([*command, EMPTY], stdout=subprocess.DEVNULL, stderr=told)
    try:
        listens = re.compile(r"DevTools listening on (ws://\S+)\n")
        block_until(lambda: process.poll() is not None or listens.search(said.read_text(errors="replace")), str(said))
        address = listens.search(said.read_text(errors="replace"))
        assert address is not None, said.read_text(errors="replace")
        yield address[1]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browsing(address: str) -> Iterator[Tab]:
    """A tab of a browser, which keeps nothing of it afterwards."""
    with connect(address, max_size=None, open_timeout=WAIT_S, proxy=None) as wire:
        yield Tab(wire)
