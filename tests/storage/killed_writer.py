"""A program that keeps a streamed answer until somebody kills it. Started by test_killed.py."""

import asyncio
import itertools
import sys
from pathlib import Path

from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.projects.project_store import Projects

SAVE_EVERY_S = 0.25


async def stream(path: Path) -> None:
    """Say each save on standard output after it is on disk, as the number of characters kept."""
    history = ChatStore(await Database.open(path))
    chat = await history.create_chat(title="Interrupted")
    await history.add_message(chat.id, "user", "Tell me everything.")
    answer = await history.add_message(chat.id, "assistant", state="streaming")
    text = ""
    while True:
        text += "word " * 25  # 100 tokens a second
        await history.save_progress(answer.id, text, "thinking")
        print(len(text), flush=True)
        await asyncio.sleep(SAVE_EVERY_S)


async def hurry(path: Path) -> None:
    """Add turns as fast as they can be added; say each one."""
    history = ChatStore(await Database.open(path))
    chat = await history.create_chat(title="Hurried")
    number = 0
    while True:
        await history.add_message(chat.id, "user", f"turn {number}")
        number += 1
        print(number, flush=True)


async def pay(path: Path) -> None:
    """Mean, send and get one paid call after the other; say each step once it is on disk."""
    intents = Intents(await Database.open(path))
    number = 0
    while True:
        intent = await intents.open("speech", "a1", {"number": number})
        print(3 * number, flush=True)
        await intents.sent(intent.id)
        print(3 * number + 1, flush=True)
        await intents.answered(intent.id, f"take-{number}")
        print(3 * number + 2, flush=True)
        number += 1


async def move(path: Path) -> None:
    """Move many chats from one project to the other and back; say a number again and again meanwhile."""
    database = await Database.open(path)
    history, projects = ChatStore(database), Projects(database)
    chats = [(await history.create_chat(title=f"chat {number}")).id for number in range(50)]
    places = [(await projects.create(name)).id for name in ("One", "Other")]
    await projects.move(dict.fromkeys(chats, places[0]))

    async def tick() -> None:
        for number in itertools.count():
            print(number, flush=True)
            await asyncio.sleep(0.001)

    ticking = asyncio.get_running_loop().create_task(tick())
    while not ticking.done():
        for place in reversed(places):
            await projects.move(dict.fromkeys(chats, place))


if __name__ == "__main__":
    asyncio.run({"stream": stream, "hurry": hurry, "pay": pay, "move": move}[sys.argv[1]](Path(sys.argv[2])))
