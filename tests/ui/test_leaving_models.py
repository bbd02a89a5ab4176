"""What lists and responses say of models that leave, heard in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.leaving_models import FormModel, LeavingModels
from app.core.undo import UndoStack
from app.service.exchange import Exchange, RequestRecord
from app.service.models import Model
from app.service.response_info import ResponseInfo
from app.ui.video.session.job_store import WaitingJobs
from tests.kit.chat import model_body
from tests.kit.tasks import CheckedTasks

NOW = datetime(2026, 11, 18, 14, 5, tzinfo=UTC)
GONE = {"removesAt": "2027-02-01T00:00:00Z", "replacementModelId": "next"}


def listed(*bodies: dict[str, object]) -> tuple[Model, ...]:
    return tuple(Model.model_validate(body) for body in bodies)


OLD, NEXT = model_body("old", "Old", deprecation=GONE), model_body("next", "Next")


def answered(**info: object) -> Exchange:
    told = replace(ResponseInfo(200, NOW), **info)  # type: ignore[arg-type]  # its own fields
    return Exchange("x", NOW, RequestRecord("POST", "/x", "https://example.com/x"), info=told, model="asked")


def test_a_list_names_what_comes_instead_and_takes_back_what_stays() -> None:
    leaving = LeavingModels()
    leaving.hear_models("a", listed(OLD, NEXT))
    found = leaving.one("a", "old")
    assert found is not None
    assert (found.name, found.retires, found.replacement_name) == ("Old", "retires Feb 1, 2027", "Next")
    assert leaving.one("a", "old:web_search=on") == found, "an id with a suffix is the same model"
    assert leaving.one("b", "old") is None, "another account"
    leaving.hear_models("a", listed(model_body("old", "Old"), NEXT))
    assert leaving.one("a", "old") is None


def test_a_saved_list_never_takes_back_what_the_service_said_since() -> None:
    leaving = LeavingModels()
    leaving.hear_models("a", listed(OLD), is_saved=True)
    leaving.hear_models("a", listed(model_body("old", "Old")), is_saved=True)
    assert leaving.one("a", "old") is not None


def test_a_response_is_enough_and_a_silent_list_takes_nothing_back() -> None:
    leaving = LeavingModels()
    changes: list[int] = []
    leaving.changed.connect(lambda: changes.append(1))
    leaving.hear("a", answered(model_id="old", model_name="Old"))
    assert leaving.one("a", "old") is None and not changes
    leaving.hear("a", answered(model_id="old", model_name="Old", deprecation_date="2027-02-01"))
    leaving.hear("a", answered(model_id="old", model_name="Old", deprecation_date="2027-02-01"))
    leaving.hear_models("a", listed(model_body("old", "Old")))
    found = leaving.one("a", "old")
    assert found is not None and found.retires == "retires Feb 1, 2027"
    assert len(changes) == 1
    leaving.hear("a", answered(deprecated=True, deprecated_replacement="next"))
    asked = leaving.one("a", "asked")
    assert asked is not None and (asked.retires, asked.replacement) == ("retires soon", "next")


@pytest.mark.parametrize("date", ["", "soon", "2027-13-45", "\u202e2027", "9" * 9_000])
def test_an_odd_date_is_soon(date: str) -> None:
    leaving = LeavingModels()
    leaving.hear("a", answered(model_id="old", deprecation_warning="gone", deprecation_date=date))
    found = leaving.one("a", "old")
    assert found is not None and found.retires == "retires soon"


def test_an_endless_list_is_bounded() -> None:
    leaving = LeavingModels()
    leaving.hear_models("a", listed(*(model_body(f"m{n}", deprecation=GONE) for n in range(700))))
    assert len(leaving.all("a")) == 500


class Jobs:
    """A store with jobs that wait and one that was sent."""

    def __init__(self) -> None:
        self.models = {"waits": "old", "sent": "old"}

    def jobs(self) -> Sequence[object]:
        from types import SimpleNamespace

        states = {"waits": "waiting", "sent": "running"}
        return [SimpleNamespace(id=key, state=states[key], model=model) for key, model in self.models.items()]

    async def record(self, job_id: str, **values: str) -> None:
        self.models[job_id] = values["model"]


async def test_forms_and_waiting_videos_move_together_and_back() -> None:
    leaving = LeavingModels()
    leaving.hear_models("a", listed(OLD, NEXT))
    form, jobs = {"model": "old"}, Jobs()
    leaving.add_user(FormModel("Speech", lambda: form["model"], lambda model: form.update(model=model)))
    leaving.add_user(WaitingJobs(jobs, str))  # type: ignore[arg-type]  # as much of one as it asks for
    assert leaving.uses("old") == "Speech, 1 waiting video" and leaving.uses("next") == ""
    tasks = CheckedTasks()
    undo_stack = UndoStack(tasks)
    await leaving.move(undo_stack, "speech", "old", "next", "a")
    assert (form["model"], jobs.models) == ("next", {"waits": "next", "sent": "old"})
    (command,) = undo_stack.newest("speech")
    assert command.text == "Now using Next instead of Old"
    undone = command.undo()
    assert undone is not None
    await undone
    assert (form["model"], jobs.models) == ("old", {"waits": "old", "sent": "old"})
    await tasks.aclose()
