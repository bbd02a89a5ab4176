"""Checks a signed feed for a newer version of Rialto.

The feed follows The Update Framework (TUF 1.0): its keys are those of the `root.json` that the program was built with,
or of a later one that those have signed. What is not signed, has been changed, has expired or is older than what was
seen before is not believed. The one file that is read, `releases.json`, names the newest version and a page about it;
nothing is downloaded beyond that, and nothing is ever installed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.service.addresses import is_loopback
from app.service.errors import ServiceError
from app.service.http.anonymous_client import AnonymousClient
from app.service.http.network import Network
from app.translation import tr

INDEX = "releases.json"
MAX_INDEX_BYTES = 64 * 1024
MAX_FILE_BYTES = 1024 * 1024  # of the feed's own files
MAX_PAGE_CHARS = 500
WITHIN_S = 30.0  # each file of the feed
_Ask = Callable[[str], bytes]
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}")


class UpdatesUnknown(Exception):
    """It cannot be said whether there is a newer version; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Feed:
    """Where to ask, and whose signatures to believe at first. Both addresses end with a slash."""

    metadata: str
    targets: str
    root: bytes  # root.json as the packager gave it

    @property
    def host(self) -> str:
        return urlsplit(self.metadata).hostname or ""


@dataclass(frozen=True, slots=True)
class Release:
    version: str
    page: str  # an https address about it, or ""


def read_feed(folder: Path) -> Feed | None:
    """Return the feed that this copy was built with, None when it was built without one; blocks.

    `feed.json` names the addresses, `root.json` is the beginning of trust. Raises `UpdatesUnknown` for half of them,
    or for addresses that are not https.
    """
    about, root = folder / "feed.json", folder / "root.json"
    if not about.is_file() and not root.is_file():
        return None
    try:
        told = json.loads(about.read_bytes())
        feed = Feed(str(told["metadata"]), str(told["targets"]), root.read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        raise UpdatesUnknown(tr("This build has an incomplete update source, so it cannot check.")) from None
    for address in (feed.metadata, feed.targets):
        if not address.startswith("https://") and not is_loopback(address):
            raise UpdatesUnknown(tr("This build’s update source is not at a secure address."))
    return feed


def is_newer(version: str, than: str) -> bool:
    """Compare versions of two to four numbers. Raises ValueError for anything else."""
    return _numbers(version) > _numbers(than)


async def newest(
    feed: Feed, network: Network, folder: Path, asked: Callable[[str], object] = lambda _host: None
) -> Release:
    """Ask the feed for the newest release. What was believed is kept below `folder`, so that nothing older ever is.

    `asked` is called with the host of each request. Raises `UpdatesUnknown`.
    """
    questions: asyncio.Queue[_Question] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    problem: BaseException | None = None
    index = b""

    def ask(address: str) -> bytes:
        question = _Question(address)
        loop.call_soon_threadsafe(questions.put_nowait, question)
        return question.answer.result(WITHIN_S * 2)

    client = AnonymousClient(network, WITHIN_S, asked)

    async def answer_all() -> None:
        while True:
            await _answer(client, await questions.get())

    try:
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(answer_all())
            try:
                index = await asyncio.to_thread(_believed, feed, folder, ask)
            finally:
                answering.cancel()
    except* UpdatesUnknown as raised:  # a task group wraps what its body raises
        problem = next(iter(raised.exceptions))
    finally:
        await client.aclose()
    if problem is not None:
        raise problem
    return _release(index)


class _Question:
    """One file that the thread wants; its answer comes from the loop."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answer: concurrent.futures.Future[bytes] = concurrent.futures.Future()


async def _answer(client: AnonymousClient, question: _Question) -> None:
    """Fetch one file of the feed; whatever goes wrong is the thread's answer."""
    try:
        question.answer.set_result(await client.get(question.address, MAX_FILE_BYTES))
    except ServiceError as error:
        question.answer.set_exception(error)
    finally:
        question.answer.cancel()  # does nothing to an answer that is there


def _believed(feed: Feed, folder: Path, ask: _Ask) -> bytes:
    """Return the index as the feed has signed it. Runs in a worker. Raises `UpdatesUnknown`."""
    from tuf.api import exceptions
    from tuf.ngclient.fetcher import FetcherInterface
    from tuf.ngclient.updater import Updater

    class Fetcher(FetcherInterface):
        def _fetch(self, url: str) -> Iterator[bytes]:
            try:
                return iter((ask(url),))
            except ServiceError as error:
                if error.status is None:
                    raise
                raise exceptions.DownloadHTTPError(str(error), error.status) from None

    kept = folder / "metadata"
    try:
        kept.mkdir(parents=True, exist_ok=True)
        updater = Updater(
            str(kept),
            feed.metadata,
            target_dir=str(folder),
            target_base_url=feed.targets,
            fetcher=Fetcher(),
            bootstrap=feed.root,
        )
        updater.refresh()
        target = updater.get_targetinfo(INDEX)
        if target is None or target.length > MAX_INDEX_BYTES:
            raise UpdatesUnknown(tr("The update feed does not name the latest version."))
        index = Path(updater.download_target(target)).read_bytes()
        target.verify_length_and_hashes(index)  # the file may have been changed between writing and reading
        return index
    except exceptions.ExpiredMetadataError:
        raise UpdatesUnknown(
            tr("The update feed is out of date, so Rialto does not trust it. Someone may be blocking newer versions.")
        ) from None
    except exceptions.BadVersionNumberError:
        raise UpdatesUnknown(
            tr("The update feed is older than one seen before, so Rialto does not trust it.")
        ) from None
    except (exceptions.DownloadError, concurrent.futures.CancelledError) as error:
        raise UpdatesUnknown(_why_no_answer(error)) from None
    except exceptions.RepositoryError:
        raise UpdatesUnknown(
            tr("The update feed’s signature is wrong, or the feed was changed in transit, so Rialto does not trust it.")
        ) from None
    except OSError as error:
        raise UpdatesUnknown(
            tr("The update feed could not be saved: {strerror}.", strerror=error.strerror or error)
        ) from None
    finally:
        with suppress(OSError):
            (folder / INDEX).unlink(missing_ok=True)


def _why_no_answer(error: BaseException) -> str:
    """What the thread was told when a file did not come: a sentence of the network's where there is one."""
    cause = error.__cause__
    if isinstance(cause, ServiceError):
        return str(cause)
    status = getattr(error, "status_code", 0)
    return (
        tr("The update feed answered with an error ({status}).", status=status)
        if status
        else tr("The update feed did not answer.")
    )


def _release(index: bytes) -> Release:
    """Read the index; signed as it is, it is still held to its form."""
    try:
        told = json.loads(index)
        version, page = str(told["version"]), str(told.get("page", ""))
        _numbers(version)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UpdatesUnknown(tr("The update feed does not name the latest version.")) from None
    good_page = page.startswith("https://") and len(page) <= MAX_PAGE_CHARS and page.isprintable()
    return Release(version, page if good_page else "")


def _numbers(version: str) -> tuple[int, ...]:
    if not _VERSION.fullmatch(version):
        raise ValueError(f"{version[:40]!r} is no version")
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:  # 1.2 is 1.2.0
        numbers.pop()
    return tuple(numbers)
