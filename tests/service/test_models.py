"""The model list, one model, traits, and prices."""

import json
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.chat_types import Usage
from app.service.errors import BadResponse, LimitExceeded, NotFound, ServiceError
from app.service.models import Model
from app.service.wire import ListEnvelope, read_model
from tests.service.loopback import Watched, answering

KOKORO = {
    "id": "tts-kokoro",
    "object": "model",
    "type": "tts",
    "created": 1742418046,
    "owned_by": "somebody",
    "model_spec": {
        "name": "Kokoro Text to Speech",
        "privacy": "private",
        "voices": ["af_sky", "af_bella"],
        "supported_formats": ["mp3"],
        "default_format": "mp3",
        "pricing": {"input": {"usd": 3.5, "diem": 3.5}},
        "new_field": {"kept": True},
    },
}
CHAT = {
    "id": "glm/5",
    "type": "text",
    "context_length": 1000,
    "model_spec": {
        "availableContextTokens": 200000,
        "offline": True,
        "deprecation": {"date": "2026-06-01", "removesAt": "2026-06-15T00:00:00Z", "replacementModelId": "glm-6"},
        "capabilities": {"supportsVision": True, "reasoningEffortOptions": ["low", "high"]},
        "pricing": {"input": {"usd": 1.54}, "output": {"usd": 4.84}, "cache_input": {"usd": 0.29}},
    },
}


def listing(*models: object) -> dict[str, object]:
    return {"object": "list", "type": "text", "data": list(models)}


async def test_r_ep_12_the_list_is_asked_by_type_and_read() -> None:
    async with Watched(handler=answering(listing(CHAT, KOKORO))) as watched:
        chat, kokoro = await watched.service.models.list("all")
        assert watched.requests[0].url.query == b"type=all"
        assert (chat.name, chat.context_tokens, chat.offline, chat.privacy) == ("glm/5", 200000, True, "")
        assert chat.capabilities.supports_vision
        assert not chat.capabilities.supports_web_search
        assert chat.capabilities.reasoning_efforts == ("low", "high")
        assert (chat.price_input, chat.price_output) == (Decimal("1.54"), Decimal("4.84"))
        assert chat.deprecation is not None
        assert (chat.deprecation.ends, chat.deprecation.replacement_model_id) == ("2026-06-15T00:00:00Z", "glm-6")
        assert (kokoro.name, kokoro.model_spec.voices) == ("Kokoro Text to Speech", ("af_sky", "af_bella"))
        assert (kokoro.model_spec.model_extra or {})["new_field"] == {"kept": True}


async def test_one_broken_model_does_not_hide_the_others() -> None:
    odd = {"id": "odd", "context_length": "many", "model_spec": {"name": 5, "voices": "all", "pricing": []}}
    async with Watched(handler=answering(listing(CHAT, 3, {"no": "id"}, odd, {"id": ""}))) as watched:
        models = await watched.service.models.list()
        assert [model.id for model in models] == ["glm/5", "odd"]
        assert (models[1].name, models[1].context_tokens, models[1].price_input) == ("odd", None, None)
    envelope = ListEnvelope.read(Model, listing(CHAT, 3, {"no": "id"}))
    assert (len(envelope.data), envelope.broken) == (1, 2)


@pytest.mark.parametrize("body", [[], {"data": {}}, {"object": "list"}, "x", None])
async def test_no_list_is_a_bad_answer(body: object) -> None:
    async with Watched(handler=answering(body)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.models.list()


async def test_an_unknown_type_is_refused_before_sending() -> None:
    async with Watched(handler=answering({})) as watched:
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.models.list("talk")
        assert caught.value.field == "type"
        with pytest.raises(LimitExceeded):
            await watched.service.models.one(" ")
        assert watched.requests == []


async def test_r_ep_13_one_model_is_asked_by_its_encoded_id() -> None:
    async with Watched(handler=answering(CHAT)) as watched:
        assert (await watched.service.models.one("glm/5")).id == "glm/5"
        assert watched.requests[0].url.raw_path == b"/api/v1/models/glm%2F5"
    async with Watched(handler=answering({"data": CHAT})) as watched:
        assert (await watched.service.models.one("glm/5")).id == "glm/5"


@pytest.mark.parametrize("dialect", ["service", "venice"])
async def test_r_ep_13_where_the_path_is_missing_the_list_is_searched(dialect: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json=listing(KOKORO, CHAT))
        return httpx.Response(404, json={"error": "no such path"})

    async with Watched(handler=answer, dialect=dialect) as watched:
        assert (await watched.service.models.one("glm/5")).name == "glm/5"
        with pytest.raises(NotFound):
            await watched.service.models.one("absent")
        assert len(watched.requests) == (4 if dialect == "service" else 2)


@pytest.mark.parametrize(
    ("spec", "cloning"),
    [
        ({}, None),
        ({"voice_cloning": {"mode": "zero_shot"}}, {"mode": "zero_shot"}),
        ({"voice_cloning": True}, {}),
        ({"voice_cloning": False}, None),
        ({"capabilities": {"voice_cloning": True}}, {}),
        ({"capabilities": {"voice_cloning": {"mode": "persistent"}}}, {"mode": "persistent"}),
    ],
)
def test_r_voi_05_cloning_is_supported_when_it_is_present(spec: dict[str, object], cloning: object) -> None:
    assert read_model(Model, {"id": "m", "model_spec": spec}).voice_cloning == cloning


def test_a_model_prices_its_own_answers() -> None:
    model = read_model(Model, CHAT)
    assert model.chat_cost(Usage(prompt=1_000_000, completion=1_000_000, cached=500_000)) == Decimal("5.755")
    assert read_model(Model, {"id": "m"}).chat_cost(Usage(prompt=5)) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from([*CHAT["model_spec"], *KOKORO["model_spec"], "id", "type", "model_spec", "usd", "input"]),  # type: ignore[misc] # both are dicts
            below,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(values)
def test_no_list_makes_the_reader_raise_anything_else(content: object) -> None:
    content = json.loads(json.dumps(content))
    for body in (content, {"data": content}, {"data": [content, {"id": "x", "model_spec": content}]}):
        try:
            for model in ListEnvelope.read(Model, body).data:
                assert model.name
                assert model.price_input is None or model.price_input.is_finite()
                assert model.context_tokens is None or isinstance(model.context_tokens, int)
                assert model.voice_cloning is None or isinstance(model.voice_cloning, dict)
        except ServiceError:
            continue
