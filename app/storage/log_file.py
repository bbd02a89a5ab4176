"""How a line of the log looks and where it goes."""

from __future__ import annotations

import contextlib
import json
import logging
import logging.handlers
import os
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any

MAX_BYTES = 1_000_000
KEPT_FILES = 4  # beside the one being written


class JsonLines(logging.Formatter):
    """at, level, logger, message, and the traceback when there is one. Each piece is redacted before it is joined."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # arguments that do not fit the text; the rest still tells
            message = str(record.msg)
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(message),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["traceback"] = self._redact("".join(traceback.format_exception(*record.exc_info)).rstrip())
        elif record.exc_text:
            line["traceback"] = self._redact(record.exc_text)
        if record.stack_info:
            line["stack"] = self._redact(record.stack_info)
        return json.dumps(line, ensure_ascii=True)


class PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    """A rotating file that others cannot read. A full disk costs lines, never the program."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # the last lines
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Python would print a traceback per lost line; an error in our own call is still worth one."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)
