"""Limits on spending hold for all that one press sends: every part of a long recording, every file of a table."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.core.money import money
from app.core.spending_limits import Question, SpendingLimits
from app.core.tabs import tab_of
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.pricing import transcription_cost
from app.storage.paths import resources
from tests.audio.recorded import write_wav
from tests.kit.transcription import open_transcription_presenter
from tests.ui.test_transcription import GAP, spoken

pytestmark = pytest.mark.usefixtures("heard_once")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


async def test_parts_are_held_against_a_limit_in_whole_before_the_first_is_sent(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    path = write_wav(tmp_home / "talk.wav", np.tile(np.concatenate((GAP, spoken(), GAP)), 3))
    limits: dict[str, str] = {}
    questions: list[Question] = []

    async def ask(question: Question) -> bool:
        questions.append(question)
        return False

    async with open_transcription_presenter(
        tmp_home, sandbox, spending_limits=SpendingLimits(lambda: limits, lambda: (), ask, tab_of)
    ) as tab:
        tab.presenter.sending.longest_part_s = soundfile.info(path).duration / 2
        await tab.add(path)
        tab.presenter.set_treatment(tab.head.id or "", "split")
        await tab.done()
        model = tab.presenter.account_models.get(tab.presenter.options.model)
        price = transcription_cost(model.model_spec.pricing, Decimal(str(soundfile.info(path).duration)))
        limits["hard call"] = f"{price * 4 / 5:f}"
        await tab.send()
        parts = await tab.presenter.store.parts(tab.head.id or "")
        assert len(parts) > 1
        assert questions == [], "a limit that stops asks nothing"
        assert f"All {len(parts)} parts together" in tab.head.problem.sentence
        assert not any(part.received for part in parts)
        assert not any(each.resource == "transcription" and each.status for each in tab.exchanges)
        assert "Nothing was sent" in tab.head.problem.sentence


async def test_a_table_of_files_is_held_against_a_limit_in_whole_before_its_first_file_is_sent(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    """Each file alone would fit; together they do not."""
    limits: dict[str, str] = {}
    questions: list[Question] = []
    answers = [False, True]

    async def ask(question: Question) -> bool:
        questions.append(question)
        return answers[len(questions) - 1]

    budget = SpendingLimits(lambda: limits, lambda: (), ask, tab_of)
    async with open_transcription_presenter(tmp_home, sandbox, spending_limits=budget) as tab:
        await tab.add(*(write_wav(tmp_home / f"{name}.wav", spoken()[:12_000]) for name in "abc"))
        model = tab.presenter.account_models.get(tab.presenter.options.model)
        each = transcription_cost(model.model_spec.pricing, Decimal("0.75"))
        limits["soft day"] = f"{each * 2:f}"
        tab.presenter.batch_queue.start()
        await tab.done()
        (question,) = questions
        assert f"All 3 files together may cost {money(each * 3)}" in question.text
        assert [row.state for row in tab.presenter.batch_queue.rows()] == ["failed", "queued", "queued"]
        assert not any(each.resource == "transcription" and each.status for each in tab.exchanges)
        assert "Nothing was sent" in tab.notices[-1][0]
        assert "Nothing was sent" in tab.presenter.sending.problems[tab.presenter.batch_queue.rows()[0].id].sentence
        tab.presenter.batch_queue.start()
        await tab.done()
        assert [row.state for row in tab.presenter.batch_queue.rows()] == ["done"] * 3
        assert len(questions) == 2, "agreed to once, no further file is asked about"
        assert await budget.spent("day", tab.current_account.account) == each * 3, "nothing stays held"
