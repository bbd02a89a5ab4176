"""`GET /models`, one model, traits and the compatibility mapping."""

from __future__ import annotations

from app.sandbox.accounts.api_keys import is_for_private_models
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import Checker
from app.sandbox.media.media_models import MediaModel
from app.sandbox.model_catalog import TYPES, ModelEntry, deprecation


def _type_of(call: Call, allowed: tuple[str, ...]) -> str:
    check = Checker(flat_list=True)
    wanted = check.choice(("type",), call.value("type"), allowed)
    check.finish()
    return wanted or "text"


async def list_models(call: Call) -> Response:
    wanted = _type_of(call, (*TYPES, "all", "code"))
    entries = await call.site.models.listed(wanted)
    data = [_record(call, entry) for entry in entries]
    if is_for_private_models(call):
        data = [each for each in data if each["model_spec"]["privacy"] == "private"]
    return json_answer({"object": "list", "type": wanted, "data": data})


def _record(call: Call, entry: ModelEntry | MediaModel) -> Json:
    now = call.world.clock.utc()
    record = entry.as_json(now, call.names.owner)
    replaced_by = call.site.models.replacement_of(entry.id, call.world.settings.leaving_model)
    if replaced_by is not None:
        record["model_spec"]["deprecation"] = deprecation(now, replaced_by)
    return record


async def one_model(call: Call) -> Response:
    entries = await call.site.models.listed("all")
    wanted = call.site.models.listed_id(call.path_values["id"])
    for entry in entries:
        if entry.id == wanted:
            return json_answer(_record(call, entry))
    raise HttpError(404, "The model was not found")


async def list_traits(call: Call) -> Response:
    wanted = _type_of(call, TYPES)
    return json_answer({"object": "list", "type": wanted, "data": call.site.models.traits(wanted)})


async def list_aliases(call: Call) -> Response:
    wanted = _type_of(call, TYPES)
    return json_answer({"object": "list", "type": wanted, "data": call.site.models.aliases(wanted)})
