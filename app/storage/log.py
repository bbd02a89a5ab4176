"""The log: one JSON object a line, five small files, readable by the owner only, with nothing secret in it.

A module of its own: it is loaded before the first paint, and what it imports late is not.

What counts as secret is for the caller to say (`redact`): this layer does not know the credentials.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.storage.atomic_files import make_folder
from app.storage.errors import unavailable
from app.storage.paths import Paths
from app.translation import tr

LOGGER = "app"  # every logger of ours is below it; libraries only get through from WARNING up


def setup_logging(paths: Paths, redact: Callable[[str], str], level: int = logging.INFO) -> logging.Handler:
    """Start writing to `paths.log` and return the handler; `stop_logging` ends it.

    Raises `StorageUnavailable` when the folder refuses; the program can go on without a log.
    """
    from app.storage.log_file import JsonLines, PrivateRotatingFile  # sockets and pickles: not before the window

    make_folder(paths.log.parent)
    try:
        handler = PrivateRotatingFile(paths.log)
    except OSError as error:
        raise unavailable(error, paths.log, tr("Opening the log")) from error
    handler.setFormatter(JsonLines(redact))
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.split(".")[0] == LOGGER)
    logging.getLogger().addHandler(handler)
    logging.getLogger(LOGGER).setLevel(level)
    return handler


def stop_logging(handler: logging.Handler) -> None:
    logging.getLogger().removeHandler(handler)
    handler.close()
