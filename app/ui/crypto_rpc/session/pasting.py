"""What a person pastes: a call, a list of calls, or a whole curl command. Nothing in it is run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.translation import tr
from app.ui.crypto_rpc.session.batch import ReadText, TextProblem, read_text

MAX_COMMAND_CHARS = 2_000_000
_DATA = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_NETWORK = re.compile(r"/crypto/rpc/([A-Za-z0-9][A-Za-z0-9_-]{0,99})/?$")
_KEY_HEADER = "idempotency-key"


@dataclass(frozen=True, slots=True)
class PasteResult:
    """`network` and `key` where a command named them, else "". A key of another program is never kept."""

    read: ReadText
    network: str = ""
    key: str = ""


def read_pasted(text: str) -> PasteResult:
    """Read JSON or a curl command. Never raises; what is wrong is in `read.problems`."""
    stripped = text.strip()
    if not re.match(r"(?:\$\s*)?curl(?:\.exe)?\s", stripped):
        return PasteResult(read_text(stripped))
    words = _words(stripped.removeprefix("$").strip())
    if words is None:
        return PasteResult(ReadText(problems=(TextProblem(1, tr("A quote in this command is not closed.")),)))
    body, network, key = "", "", ""
    waiting = ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if waiting:
            body, key = _taken(waiting, word, body, key)
            waiting = ""
        elif name in _DATA and equals:
            body = value
        elif word in _DATA or word in ("-H", "--header"):
            waiting = word
        elif word.startswith("-d") and not word.startswith("--") and len(word) > 2:
            body = word[2:]
        elif found := _NETWORK.search(urlsplit(word).path if "://" in word else ""):
            network = found[1]
    if not body:
        return PasteResult(ReadText(problems=(TextProblem(1, tr("This command sends no data.")),)), network, key)
    if body.startswith("@"):
        return PasteResult(
            ReadText(problems=(TextProblem(1, tr("This command reads its data from a file.")),)), network, key
        )
    return PasteResult(read_text(body), network, key)


def _taken(option: str, word: str, body: str, key: str) -> tuple[str, str]:
    if option in _DATA:
        return word, key
    name, _, value = word.partition(":")
    return body, value.strip() if name.strip().lower() == _KEY_HEADER else key


def _words(command: str) -> list[str] | None:
    """The words of a POSIX shell command, or None when its quotes do not match. Windows' carets are line breaks too."""
    if len(command) > MAX_COMMAND_CHARS:
        return None
    joined = re.sub(r"[\\^]\r?\n", " ", command)
    joined = re.sub(r"(?<=\s)\$'((?:[^'\\]|\\.)*)'", _ansi_quoted, joined)
    try:
        return shlex.split(joined)
    except ValueError:
        return None


def _ansi_quoted(found: re.Match[str]) -> str:
    r"""`$'…'`, as browsers copy commands: \n and \' are escapes in it."""
    escapes = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
    text = re.sub(r"\\(.)", lambda each: escapes.get(each[1], each[0]), found[1])
    return shlex.quote(text)
