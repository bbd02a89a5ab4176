"""Which engines do the Sandbox's real work, whether they are installed here, and what to install when not.

Looking is cheap: nothing is imported before it works.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from app import __version__
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json

# Of Rialto, or of the Sandbox as a distribution of its own.
EXTRA = "rialto[sandbox]" if __name__.startswith("app.") else "rialto-sandbox[engines]"
DEBIAN_PACKAGE = "rialto-sandbox"


class Engine(NamedTuple):
    """`modules` must all be importable; `title` is how a person is told about it."""

    title: str
    does: str
    modules: tuple[str, ...] = ()
    packages: str = ""  # what to install, as pip names it
    licence: str = ""
    part: str = ""  # our own module below app.sandbox that works with it, imported by the first call that needs it
    newest_python: tuple[int, int] | None = None  # for which its packages are released; None: any

    @property
    def state(self) -> str:
        """missing: cannot work here; idle: nothing has asked for it yet; loaded: it takes memory now."""
        if self.missing():
            return "missing"
        return "loaded" if f"app.sandbox.{self.part}" in sys.modules else "idle"

    @property
    def version(self) -> str:
        """Of the first package it needs; of Rialto where it needs none; "" where that is not known."""
        if not self.packages:
            return __version__
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(self.packages.split()[0])
        except PackageNotFoundError:
            return ""

    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.modules if find_spec(name) is None)


ENGINES: Mapping[str, Engine] = {
    "chat": Engine(
        "handbook reader", "Finds passages in the handbook. Not a language model.", licence="MIT", part="chat.handbook"
    ),
    "speech": Engine(
        "espeak-ng speech synthesizer",
        "Speaks text with rule-based voices in the languages of the service’s voices.",
        ("espeakng_loader", "soundfile", "numpy"),
        "espeakng-loader soundfile numpy",
        "GPL-3.0-or-later",
        "media.speech_engine",
    ),
    "aac": Engine(
        "PyAV media encoder",
        "Writes AAC, and reads uploads that are M4A, AAC, MP4 or WEBM.",
        ("av", "numpy"),
        "av numpy",
        "GPL-2.0-or-later in its wheels",
        "media.sound",
    ),
    "transcription": Engine(
        "PocketSphinx speech recognizer",
        "Recognizes English speech word by word. A stand-in: expect about one word in four to be wrong.",
        ("pocketsphinx", "soundfile", "numpy", "av"),
        "pocketsphinx soundfile numpy av",
        "BSD-2-Clause",
        "media.transcription_engine",
        (3, 13),
    ),
    "chains": Engine(
        "py-evm Ethereum virtual machine",
        "Runs one real chain per network, in memory, with play money.",
        ("eth", "eth_account"),
        "py-evm eth-account",
        "MIT",
        "chains.evm_chain",
    ),
    "images": Engine(
        "Pillow drawing",
        "Draws a composition from the prompt. Not an image model.",
        ("PIL",),
        "pillow",
        "MIT-CMU",
        "media.image_engine",
    ),
    "embeddings": Engine(
        "word hashing",
        "Counts words and letter groups into vectors. Not an embedding model.",
        licence="MIT",
        part="chat.embeddings",
    ),
    "video": Engine(
        "PyAV video maker",
        "Draws a short video from the prompt, with audio. Not a video model.",
        ("av", "PIL", "numpy"),
        "av pillow numpy",
        "GPL-2.0-or-later in its wheels",
        "media.video_engine",
    ),
}


def installed(name: str) -> bool:
    return not ENGINES[name].missing()


def need(name: str) -> None:
    """Raise `HttpError` 501, naming the engine and what to install, unless it is installed. Clients retry a 503."""
    engine = ENGINES[name]
    missing = engine.missing()
    if missing:
        raise HttpError(
            501,
            f"The Sandbox’s {engine.title} is not installed here (no {', '.join(missing)}). {remedy(engine)}",
        )


def without_library(error: ModuleNotFoundError) -> str:
    """Say what to install for a call that needs a library which is not here. Raises one of our own modules again."""
    library = (error.name or "").partition(".")[0]
    if library == __name__.partition(".")[0]:
        raise error
    return f"This needs the library {library}, which is not installed here. Install the extra {EXTRA}."


def remedy(
    engine: Engine,
    program: Path | None = None,
    python: tuple[int, int] = (sys.version_info.major, sys.version_info.minor),
) -> str:
    """Return how to get the engine: with pip for a checkout, from a package for the built program `program`."""
    if program is None and getattr(sys, "frozen", False):
        program = Path(sys.executable).resolve()
    if program is None:
        if engine.newest_python is not None and python > engine.newest_python:
            newest = ".".join(map(str, engine.newest_python))
            return f"It is not released for Python {python[0]}.{python[1]} yet. Use Python {newest} for it."
        return f"Install the extra {EXTRA}, or: pip install {engine.packages}"
    if program.is_relative_to("/usr"):
        return f"It comes with the package {DEBIAN_PACKAGE}: sudo apt install {DEBIAN_PACKAGE}"
    return "Part of this copy of Rialto is missing. Install Rialto again."


async def listed(_: Call) -> Response:
    """`GET /sandbox/engines`: every engine, what it does and whether it can work here."""
    data: list[Json] = []
    for name, engine in ENGINES.items():
        data.append(
            {
                "name": name,
                "title": engine.title,
                "does": engine.does,
                "installed": not engine.missing(),
                "state": engine.state,
                "version": engine.version,
                "missing": list(engine.missing()),
                "install": engine.packages,
                "remedy": remedy(engine) if engine.missing() else "",
                "licence": engine.licence,
            }
        )
    return json_answer({"object": "list", "extra": EXTRA, "data": data})
