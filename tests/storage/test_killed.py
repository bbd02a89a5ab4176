"""A program killed without a word, and what the next start finds."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.storage.backups import integrity_fault
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.projects.project_store import Projects

ROOT = Path(__file__).resolve().parents[2]


def run_and_kill(what: str, path: Path, lines: int) -> int:
    """Start the writer, SIGKILL it after so many reports, and return the last number it reported."""
    command = [sys.executable, "-m", "tests.storage.killed_writer", what, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        last = 0
        for _ in range(lines):
            last = int(writer.stdout.readline())
        writer.kill()
        writer.wait()
        for rest in writer.stdout:
            last = int(rest)
    assert writer.returncode != 0
    return last


async def test_a_streamed_answer_is_there_after_a_kill_and_marked_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "data" / "rialto.db"
    reported = run_and_kill("stream", path, lines=4)
    database = await Database.open(path)
    history = ChatStore(database)
    (chat,) = await history.chats()
    question, answer = await history.path_to(chat.head_id)
    assert question.content == "Tell me everything."
    assert (answer.state, answer.reasoning) == ("streaming", "thinking")
    assert len(answer.content) >= reported >= 4 * 125
    assert await history.mark_interrupted() == 1
    answer = await history.message(answer.id)
    assert (answer.state, len(answer.content) >= reported) == ("interrupted", True)
    assert [hit.message_id for hit in await history.search("word")] == [answer.id]
    await database.close()


@pytest.mark.parametrize("lines", [1, 17, 60])
async def test_every_turn_that_was_said_to_be_kept_is_kept_whole(lines: int, tmp_path: Path) -> None:
    path = tmp_path / "data" / "rialto.db"
    reported = run_and_kill("hurry", path, lines)
    database = await Database.open(path)
    history = ChatStore(database)
    (chat,) = await history.chats()
    turns = await history.path_to(chat.head_id)
    assert [turn.content for turn in turns] == [f"turn {number}" for number in range(len(turns))]
    assert len(turns) >= reported
    assert chat.message_count == len(turns)
    assert integrity_fault(path) == ""
    await database.close()


@pytest.mark.parametrize("lines", [3, 17, 40])
async def test_chats_moved_together_are_together_after_a_kill(lines: int, tmp_path: Path) -> None:
    path = tmp_path / "data" / "rialto.db"
    run_and_kill("move", path, lines)
    database = await Database.open(path)
    chats = await ChatStore(database).chats()
    one, other = await Projects(database).all()
    assert len(chats) == 50
    (place,) = {chat.project_id for chat in chats}
    assert place in (one.id, other.id)
    assert integrity_fault(path) == ""
    await database.close()
