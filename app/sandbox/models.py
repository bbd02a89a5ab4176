"""`GET /models`, one model, traits and the compatibility mapping."""

from __future__ import annotations

from app.sandbox.accounts.api_keys import is_for_private_models
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError
from app.sandbox.http.validation import Checker
from app.sandbox.model_catalog import TYPES


def _type_of(call: Call, allowed: tuple[str, ...]) -> str:
    check = Checker(flat_list=True)
    wanted = check.choice(("type",), call.value("type"), allowed)
    check.finish()
    return wanted or "text"


async def list_models(call: Call) -> Response:
    wanted = _type_of(call, (*TYPES, "all", "code"))
    now = call.world.clock.utc()
    entries = await call.site.models.listed(wanted)
    data = [entry.as_json(now, call.names.owner) for entry in entries]
    if is_for_private_models(call):
        data = [each for each in data if each["model_spec"]["privacy"] == "private"]
    return json_answer({"object": "list", "type": wanted, "data": data})


async def one_model(call: Call) -> Response:
    entries = await call.site.models.listed("all")
    wanted = call.site.models.listed_id(call.path_values["id"])
    for entry in entries:
        if entry.id == wanted:
            return json_answer(entry.as_json(call.world.clock.utc(), call.names.owner))
    raise HttpError(404, "The model was not found")


async def list_traits(call: Call) -> Response:
    wanted = _type_of(call, TYPES)
    return json_answer({"object": "list", "type": wanted, "data": call.site.models.traits(wanted)})


async def list_aliases(call: Call) -> Response:
    wanted = _type_of(call, TYPES)
    return json_answer({"object": "list", "type": wanted, "data": call.site.models.aliases(wanted)})
