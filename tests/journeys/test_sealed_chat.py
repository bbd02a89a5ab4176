"""A sealed chat through the whole program: its words are in the history and nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

from app.bootstrap.rialto import Rialto
from tests.journeys.conftest import settled
from tests.kit.sandbox import Controls
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]
PROMPT, QUESTION = "Be as terse as a pomegranate.", "How do I stop an answer, quince?"
WORDS = (b"pomegranate", b"quince")
# Where the person's own history is: the chats with their titles and drafts, the words to search by, and the requests
# as they were written, which hold the system prompt.
HISTORY = ("chats", "messages", "messages_fts", "catalogue")


async def test_r_tee_16_a_sealed_chats_words_are_in_the_history_and_nowhere_else(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        rialto._begin(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.current_account.service is not None)
        chat, composer = rialto.chat, rialto.chat_page.main.composer
        chat.refresh_models()
        await settled(rialto)
        chat.use_model("rialto-sealed")
        chat.set_option("system_prompt", PROMPT)
        composer.lock.click()
        await settled(rialto)
        assert rialto.chat_page.main.header.lock.accessibleName() == "Sealed"
        chat.send(QUESTION)
        await settled(rialto)
        answer = chat.opened.thread.last_of("assistant")
        assert answer is not None and answer.state == "complete" and answer.usage["seal"] == "bound"
        address = rialto.account_services.sandbox.address()
        assert address is not None
        controls = Controls(*address)
        calls = (await controls.send("/log"))["data"]
        heard = repr([await controls.send(f"/log/{line['request_id']}") for line in calls])
        assert not any(word.decode() in heard for word in WORDS)
        assert (await controls.send("/sealed/seen"))["clear"] == []
        database = rialto.paths.database
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file() and not path.name.startswith(database.name) and "backup" not in str(path):
            assert not any(word in path.read_bytes() for word in WORDS), path
    with closing(sqlite3.connect(database)) as rows:
        tables = [name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert {"receipts", "sealed_evidence", "enclaves"} <= set(tables)
        for table in tables:
            if not table.startswith(HISTORY):
                found = repr(rows.execute(f"SELECT * FROM {table}").fetchall()).encode()
                assert not any(word in found for word in WORDS), table
        assert rows.execute("SELECT count(*) FROM sealed_evidence").fetchone() == (1,)
        assert rows.execute("SELECT count(*) FROM messages WHERE content LIKE '%quince%'").fetchone() == (1,)
