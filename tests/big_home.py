"""`python -m tests.big_home FOLDER [--scale 0.01]`: make the data folder of somebody who used Rialto heavily for years.

20,000 chats with a million messages, 300,000 receipts, 30,000 images, 5,000 clips, 3,000 transcripts, 2,000 videos and
100,000 requests to blockchains; start it with `RIALTO_HOME=FOLDER`. Clips, images, transcripts and videos go through
the program's own stores. What would take hours that way is written with the same columns by plain `sqlite3`. Sounds,
images and videos are one tiny file each under many names. The same scale always gives the same texts and times.
"""

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import json
import math
import os
import random
import shutil
import sqlite3
import struct
import time
import wave
import zlib
from collections.abc import Awaitable, Iterator
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from app.credentials.accounts import SANDBOX_ADDRESS, Accounts, Kind, new_account
from app.sandbox.media.video_engine import render_video
from app.storage.atomic_files import write_atomically
from app.storage.chat_rows import preview_of
from app.storage.clips import ClipFiles, ClipStore
from app.storage.database import Database
from app.storage.images import ImageFiles, Images, title_of
from app.storage.paths import Paths
from app.storage.search_index import KEY, TRIGGERS, ensure_index
from app.storage.settings import SettingsStore
from app.storage.transcripts import Transcripts
from app.storage.values import micros_of
from app.storage.video_jobs import VideoJobs
from app.ui.transcription.session.document import Document, Segment, Word
from tests.kit.settings import change_settings

YEARS = 10
LONG_CHATS = 3
IMAGES_AT_ONCE = 500
TRASHED = 50  # one row in so many lies in the trash
VOCABULARY = 20_000
PNG_SIDE = 256
RATE_HZ, SOUND_S = 8_000, 1.0
FILM_SIZE = 160, 90
TEXT_MODELS = ("rialto-handbook", "rialto-plain", "rialto-reasoning")
IMAGE_MODEL, VOICE_MODEL, HEARING_MODEL = "rialto-image", "rialto-voice", "rialto-transcribe"
VIDEO_MODEL = "rialto-reel-text-to-video"
NETWORKS = ("ethereum-mainnet", "base-mainnet", "polygon-mainnet", "arbitrum-mainnet")
TABS = (
    ("chat", "POST /chat/completions"),
    ("images", "POST /image/generate"),
    ("speech", "POST /audio/speech"),
    ("crypto", "POST /crypto/rpc/ethereum-mainnet"),
    ("models", "GET /models"),
)
NEEDLE = "quixotic zeppelin"  # in one message, a third of the way in


@dataclass(frozen=True, slots=True)
class Amounts:
    """How many rows of each kind. `long_chat` is how many messages each of the `LONG_CHATS` has, within `messages`."""

    chats: int = 20_000
    messages: int = 1_000_000
    long_chat: int = 20_000
    receipts: int = 300_000
    images: int = 30_000
    clips: int = 5_000
    transcripts: int = 3_000
    videos: int = 2_000
    calls: int = 100_000

    def scaled(self, scale: float) -> "Amounts":
        return Amounts(*(max(LONG_CHATS + 1, math.ceil(count * scale)) for count in astuple(self)))


class Times:
    """A clock that is set: the rows of one kind are spread over ten years, oldest first."""

    def __init__(self, end: datetime) -> None:
        self._end = end
        self.now = end

    def __call__(self) -> datetime:
        return self.now

    def at(self, number: int, count: int) -> datetime:
        """Set the clock to when row `number` of `count` was made, and return that."""
        self.now = self._end - timedelta(days=365 * YEARS) * (1 - (number + 1) / (count + 1))
        return self.now


class Texts:
    """Sentences of a vocabulary with the uneven frequencies of a language: the n-th word turns up 1/n as often."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "ou")]
        words = {"".join(chance.choices(syllables, k=chance.choice((1, 2, 2, 3, 3, 4)))) for _ in range(2 * VOCABULARY)}
        self.words = chance.sample(sorted(words), VOCABULARY)
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def some(self, count: int) -> str:
        return " ".join(self._chance.choices(self.words, cum_weights=self._weights, k=count))

    def title(self) -> str:
        return " ".join(self._chance.choices(self.words, k=4)).capitalize()

    def question(self) -> str:
        return self.some(12) + "?"

    def answer(self) -> str:
        return f"{self.some(20)}.\n\n- **{self.some(2)}**: {self.some(9)}\n- {self.some(8)}\n\n{self.some(12)}."


class Home:
    """The folder while it is being made."""

    def __init__(self, home: Path, amounts: Amounts, end: datetime) -> None:
        self.paths = Paths.below(home)
        self.amounts = amounts
        self.chance = random.Random(2026)
        self.texts = Texts(self.chance)
        self.times = Times(end)
        self.end = end
        self.account_id = ""

    def id(self) -> str:
        return f"{self.chance.getrandbits(128):032x}"

    def trashed(self, number: int) -> bool:
        return number % TRASHED == TRASHED - 1

    def cost(self) -> Decimal:
        return Decimal(self.chance.randrange(1, 90_000)).scaleb(-6)


def prepare(paths: Paths, kind: Kind) -> str:
    """Make the folders with one account in use and the welcome over; return the account's id."""
    paths.make()
    address = SANDBOX_ADDRESS if kind == "sandbox" else "http://127.0.0.1:9"
    account = new_account("Bench", address, kind=kind)
    Accounts(lambda: None, lambda data: write_atomically(paths.accounts, data)).add(account)
    change_settings(SettingsStore(paths.settings), welcome_done=True, secret_store="session")
    return account.id


async def make(folder: Path, scale: float = 1.0, *, kind: Kind = "sandbox", end: datetime | None = None) -> Amounts:
    """Fill an empty folder, and return how much lies in it. `end` is the moment of the newest rows, now by default."""
    amounts = Amounts().scaled(scale)
    home = Home(folder, amounts, end or datetime.now(UTC))
    home.account_id = prepare(home.paths, kind)
    database = await Database.open(home.paths.database, backups=home.paths.backups, now=home.times)
    try:
        for part in (_images, _clips, _transcripts, _videos):
            await _timed(part.__name__, part(home, database))
    finally:
        await database.close()
    await _timed("rows", asyncio.to_thread(_plain_rows, home))
    return amounts


async def _timed(name: str, part: Awaitable[None]) -> None:
    begun = time.monotonic()
    await part
    print(f"{name.strip('_')}: {time.monotonic() - begun:.1f} s", flush=True)


# -- files ---------------------------------------------------------------------------------------------------------


def _png() -> bytes:
    rows = b"".join(b"\0" + bytes(each for x in range(PNG_SIDE) for each in (x, y, 128)) for y in range(PNG_SIDE))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", PNG_SIDE, PNG_SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _write_wav(path: Path) -> int:
    """Write a second of a tone; return the bytes of the file."""
    tone = (round(8_000 * math.sin(2 * math.pi * 440 * n / RATE_HZ)) for n in range(round(RATE_HZ * SOUND_S)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(b"".join(struct.pack("<h", each) for each in tone))
    return path.stat().st_size


class SharedFile:
    """One file under many names; a copy where the disk knows no links, or no more of them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def link(self, name: Path) -> None:
        try:
            os.link(self._path, name)
        except OSError:
            shutil.copyfile(self._path, name)
            self._path = name


# -- through the stores --------------------------------------------------------------------------------------------


async def _images(home: Home, database: Database) -> None:
    store, files, count = Images(database), ImageFiles(home.paths.data / "images"), home.amounts.images
    files.make()
    data = _png()
    source = home.paths.cache / "one.png"
    source.write_bytes(data)
    shared = SharedFile(source)
    for start in range(0, count, IMAGES_AT_ONCE):
        rows = []
        for number in range(start, min(count, start + IMAGES_AT_ONCE)):
            at, prompt = home.times.at(number, count), home.texts.some(14)
            image_id = home.id()
            file = files.name(image_id, "png")
            shared.link(files.folder / file)
            image = store.planned("generate", home.id(), at, title=title_of(prompt), prompt=prompt, model=IMAGE_MODEL)
            image = replace(
                image,
                id=image_id,
                batch_id=image.call_id,
                model_name="Image",
                account_id=home.account_id,
                options={"style": "", "steps": 20},
                state="saved",
                file=file,
                form="png",
                width=PNG_SIDE,
                height=PNG_SIDE,
                size_bytes=len(data),
                seed=number,
                trashed_at=home.end if home.trashed(number) else None,
                starred=number % 20 == 0,
                cost_usd=home.cost(),
                duration_s=2.5,
            )
            rows.append(image)
        await store.add(rows)
    source.unlink()


async def _clips(home: Home, database: Database) -> None:
    store, files, count = ClipStore(database), ClipFiles(home.paths.data / "speech"), home.amounts.clips
    source = home.paths.cache / "one.wav"
    size = _write_wav(source)
    shared = SharedFile(source)
    for number in range(count):
        home.times.at(number, count)
        text = home.texts.some(40)
        clip = await store.add(
            text=text,
            title=home.texts.title(),
            account_id=home.account_id,
            model=VOICE_MODEL,
            voice="anna",
            voice_name="Anna",
            format="wav",
            options={"speed": 1.0},
            spans=[(0, len(text))],
        )
        part = replace(
            clip.parts[0],
            state="complete",
            file="part-01.wav",
            kind="wav",
            size_bytes=size,
            duration_s=SOUND_S,
            rate_hz=RATE_HZ,
            cost_usd=home.cost(),
        )
        shared.link(files.make(clip.id) / part.file)
        await store.save_part(part)
        if home.trashed(number):
            await store.trash(clip.id)
    source.unlink()


async def _transcripts(home: Home, database: Database) -> None:
    store, folder, count = Transcripts(database), home.paths.data / "recordings", home.amounts.transcripts
    folder.mkdir(mode=0o700, exist_ok=True)
    source = home.paths.cache / "one.wav"
    size = _write_wav(source)
    shared = SharedFile(source)
    for number in range(count):
        home.times.at(number, count)
        words = home.texts.some(150).split()
        spoken = tuple(Word(word, at / 2, (at + 1) / 2) for at, word in enumerate(words))
        segments = [
            Segment(some, some[0].start, some[-1].end) for some in (spoken[at : at + 15] for at in range(0, 150, 15))
        ]
        document = Document.of(segments, duration_s=spoken[-1].end)
        file = f"{home.id()}.wav"
        shared.link(folder / file)
        row = await store.add(
            title=home.texts.title(),
            origin="recording",
            sound_path=file,
            state="recorded",
            size_bytes=size,
            duration_s=SOUND_S,
            account_id=home.account_id,
        )
        await store.save_text(
            row.id,
            document.to_json(),
            document.text,
            received={"text": document.text},
            state="done",
            model=HEARING_MODEL,
            cost_usd=home.cost(),
        )
        if home.trashed(number):
            home.times.now = home.end
            await store.trash(row.id)
    source.unlink()


async def _videos(home: Home, database: Database) -> None:
    store, folder, count = VideoJobs(database), home.paths.data / "videos", home.amounts.videos
    folder.mkdir(mode=0o700, exist_ok=True)
    source = home.paths.cache / "one.mp4"
    source.write_bytes(render_video("a boat", 1.0, FILM_SIZE))
    size = source.stat().st_size
    poster = home.paths.cache / "one.jpg"
    poster.write_bytes(_png())
    shared, posters = SharedFile(source), SharedFile(poster)
    for number in range(count):
        at, prompt = home.times.at(number, count), home.texts.some(14)
        file = f"{number:05}-{home.id()[:8]}.mp4"
        shared.link(folder / file)
        posters.link(folder / f"{file}.jpg")
        job = await store.add(
            account_id=home.account_id,
            model=VIDEO_MODEL,
            model_name="Reel",
            prompt=prompt,
            form={"duration": "5s", "aspect_ratio": "16:9"},
            file=file,
            quote_usd=home.cost(),
            clean_after=False,
            charged=True,
        )
        await store.change(
            job.id,
            state="saved",
            queued_at=at,
            ready_at=at + timedelta(seconds=60),
            ended_at=at + timedelta(seconds=70),
            size_bytes=size,
            duration_s=1.0,
            width=FILM_SIZE[0],
            height=FILM_SIZE[1],
            trashed_at=home.end if home.trashed(number) else None,
        )
    source.unlink()
    poster.unlink()


# -- by plain SQL --------------------------------------------------------------------------------------------------


def _plain_rows(home: Home) -> None:
    with contextlib.closing(sqlite3.connect(home.paths.database, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=OFF")  # a folder that is half made is made anew
        database.execute("PRAGMA synchronous=OFF")
        database.execute("PRAGMA cache_size=-400000")
        for trigger in TRIGGERS:  # one index made of all messages takes half as long as one that grows with each
            database.execute(f"DROP TRIGGER {trigger}")
        for table, rows in (
            ("chats", _chats(home)),
            ("messages", _messages(home)),
            ("receipts", _receipts(home)),
            ("rpc_calls", _calls(home)),
            ("rpc_answers", _answers(home, database)),
        ):
            begun = time.monotonic()
            database.execute("BEGIN")
            _insert(database, table, rows)
            if table == "messages":
                _sum_up(database)
            database.execute("COMMIT")
            print(f"{table}: {time.monotonic() - begun:.1f} s", flush=True)
        begun = time.monotonic()
        database.execute("DELETE FROM meta WHERE key = ?", [KEY])
        ensure_index(database)
        print(f"search index: {time.monotonic() - begun:.1f} s", flush=True)


def _insert(database: sqlite3.Connection, table: str, rows: Iterator[dict[str, object]]) -> None:
    for first in rows:  # the first says which columns there are
        names = ", ".join(first)
        sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(first))})"
        database.executemany(sql, (tuple(row.values()) for row in itertools.chain([first], rows)))


def _chat_id(number: int) -> str:
    return hashlib.md5(f"chat {number}".encode(), usedforsecurity=False).hexdigest()


def _chats(home: Home) -> Iterator[dict[str, object]]:
    count = home.amounts.chats
    for number in range(count):
        at = micros_of(home.times.at(number, count))
        yield {
            "id": _chat_id(number),
            "title": home.texts.title(),
            "created_at": at,
            "updated_at": at,
            "pinned": number % 2_000 == 0,
            "trashed_at": micros_of(home.end) if home.trashed(number) else None,
            "account_id": home.account_id,
            "model": TEXT_MODELS[number % len(TEXT_MODELS)],
            "cost_usd": str(home.cost()),
        }


def _lengths(amounts: Amounts) -> list[int]:
    """Return how many messages each chat has: the newest three are the long ones, the others have equally many."""
    short = amounts.chats - LONG_CHATS
    rest = max(short, amounts.messages - LONG_CHATS * amounts.long_chat)
    return [rest // short + (number < rest % short) for number in range(short)] + [amounts.long_chat] * LONG_CHATS


def _messages(home: Home) -> Iterator[dict[str, object]]:
    lengths = _lengths(home.amounts)
    needle = sum(lengths) // 3
    made = itertools.count()
    for chat, length in enumerate(lengths):
        chat_id, parent = _chat_id(chat), None
        at = micros_of(home.times.at(chat, len(lengths)))
        for number in range(length):
            is_question = number % 2 == 0
            message_id = home.id()
            content = home.texts.question() if is_question else home.texts.answer()
            yield {
                "id": message_id,
                "chat_id": chat_id,
                "parent_id": parent,
                "role": "user" if is_question else "assistant",
                "content": content if next(made) != needle else f"{content} {NEEDLE}.",
                "model": "" if is_question else TEXT_MODELS[chat % len(TEXT_MODELS)],
                "usage": "{}" if is_question else '{"prompt_tokens":40,"completion_tokens":70}',
                "cost_usd": None if is_question else "0.00021",
                "created_at": at + number,
            }
            parent = message_id


def _sum_up(database: sqlite3.Connection) -> None:
    """Let every chat know its newest message, and how many it has."""
    newest = database.execute(
        "SELECT m.chat_id, m.id, m.content, n.number FROM messages m"
        " JOIN (SELECT max(seq) AS seq, count(*) AS number FROM messages GROUP BY chat_id) n ON n.seq = m.seq"
    ).fetchall()
    database.executemany(
        "UPDATE chats SET head_id = ?, preview = ?, message_count = ? WHERE id = ?",
        [(message_id, preview_of(content), number, chat_id) for chat_id, message_id, content, number in newest],
    )


def _receipts(home: Home) -> Iterator[dict[str, object]]:
    count = home.amounts.receipts
    for number in range(count):
        tab, endpoint = TABS[number % len(TABS)]
        is_free = endpoint.startswith("GET")
        yield {
            "id": home.id(),
            "at": micros_of(home.times.at(number, count)),
            "account_id": home.account_id,
            "tab": tab,
            "endpoint": endpoint,
            "model": "" if is_free else TEXT_MODELS[number % len(TEXT_MODELS)],
            "units": "{}" if is_free else '{"prompt_tokens":40,"completion_tokens":70}',
            "cost_usd": None if is_free else str(home.cost()),
            "cost_source": "none" if is_free else "stated",
            "request_id": home.id()[:16],
            "duration_s": 1.5,
            "outcome": "error" if number % 97 == 0 else "ok",
            "charged": 0,  # of the Sandbox
            "estimate_usd": None if is_free else str(home.cost()),
        }


def _calls(home: Home) -> Iterator[dict[str, object]]:
    count = home.amounts.calls
    for number in range(count):
        network = NETWORKS[number % len(NETWORKS)]
        params = [f"0x{home.chance.getrandbits(160):040x}", "latest"]
        items = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": params}])
        yield {
            "id": home.id(),
            "at": micros_of(home.times.at(number, count)),
            "account_id": home.account_id,
            "network": network,
            "items": items,
            "digest": hashlib.sha256(items.encode()).hexdigest(),
            "state": "answered",
            "status": 200,
            "estimate_credits": 20,
            "credits": 20,
            "cost_usd": "0.00002",
            "duration_s": 0.2,
            "trashed_at": micros_of(home.end) if home.trashed(number) else None,
            "words": f"{network} {items}".lower(),
        }


def _answers(home: Home, database: sqlite3.Connection) -> Iterator[dict[str, object]]:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": f"0x{home.chance.getrandbits(64):x}"}).encode()
    packed = zlib.compress(body)
    for (call_id,) in database.execute("SELECT id FROM rpc_calls").fetchall():
        yield {"call_id": call_id, "body": packed, "size_bytes": len(body)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    wanted = parser.parse_args()
    if wanted.folder.exists() and any(wanted.folder.iterdir()):
        parser.error(f"{wanted.folder} is not empty")
    print(asyncio.run(make(wanted.folder.absolute(), wanted.scale)))


if __name__ == "__main__":
    main()
