"""`GET /models`, one model, traits and the compatibility mapping."""

import pytest

from tests.sandbox.support import Client


def test_R_EP_12_the_list_names_its_type_and_is_text_when_omitted(sandbox: Client) -> None:
    body = sandbox.get("/models").json()
    assert (body["object"], body["type"]) == ("list", "text")
    assert {model["type"] for model in body["data"]} == {"text"}
    assert body["data"] == sandbox.get("/models?type=text").json()["data"]


@pytest.mark.parametrize(
    "kind", ["image", "video", "inpaint", "upscale", "tts", "asr", "embedding", "music", "all", "code"]
)
def test_R_EP_12_every_documented_type_is_a_filter(sandbox: Client, kind: str) -> None:
    body = sandbox.get(f"/models?type={kind}").json()
    assert body["type"] == kind
    if kind not in ("all", "code"):
        assert all(model["type"] == kind for model in body["data"])


def test_an_unknown_type_is_a_400_tree_with_issues(sandbox: Client) -> None:
    answer = sandbox.get("/models?type=poems")
    assert answer.status_code == 400
    assert answer.json()["details"]["type"]["_errors"]
    assert answer.json()["issues"][0]["path"] == ["type"]


def test_R_NS_03_every_record_has_the_required_fields(sandbox: Client) -> None:
    for model in sandbox.get("/models?type=text").json()["data"]:
        spec = model["model_spec"]
        assert {"id", "object", "type", "owned_by", "model_spec"} <= set(model)
        assert model["object"] == "model"
        assert spec["privacy"] in ("private", "anonymized")
        assert {"usd", "diem"} == set(spec["pricing"]["input"]) == set(spec["pricing"]["output"])
        assert model["context_length"] == spec["availableContextTokens"]
        flags = {name: flag for name, flag in spec["capabilities"].items() if name.startswith("supports")}
        assert len(flags) == 13 and all(isinstance(flag, bool) for flag in flags.values())
        assert spec["constraints"]["temperature"]["default"] and spec["constraints"]["top_p"]["default"]


def test_the_catalog_has_one_of_each_kind(sandbox: Client) -> None:
    models = sandbox.get("/models").json()["data"]
    specs = {model["id"]: model["model_spec"] for model in models}
    assert specs["rialto-night-shift"]["offline"] is True
    gone = specs["rialto-handbook-2025"]["deprecation"]
    assert (gone["date"], gone["replacementModelId"], gone["autoRemap"]) == ("2026-12-09", "rialto-handbook", True)
    assert specs["rialto-vision"]["capabilities"]["supportsVision"] is True
    assert specs["rialto-reasoning"]["capabilities"]["reasoningEffortOptions"] == ["low", "medium", "high"]
    assert specs["rialto-search"]["capabilities"]["supportsXSearch"] is True
    assert specs["rialto-search"]["pricing"]["extended"]["context_token_threshold"] == 20_000
    assert not any(flag for flag in specs["rialto-plain"]["capabilities"].values() if flag is True)
    assert "cache_input" in specs["rialto-handbook"]["pricing"]


def test_R_EP_13_one_model_is_the_bare_record(sandbox: Client) -> None:
    listed = {model["id"]: model for model in sandbox.get("/models").json()["data"]}
    assert sandbox.get("/models/rialto-vision").json() == listed["rialto-vision"]
    missing = sandbox.get("/models/vendor%2Fmodel")
    assert (missing.status_code, set(missing.json())) == (404, {"error"})


def test_traits_and_mapping_lead_to_listed_models(sandbox: Client) -> None:
    listed = {model["id"] for model in sandbox.get("/models").json()["data"]}
    traits = sandbox.get("/models/traits").json()
    assert traits["data"]["default"] == "rialto-handbook"
    assert {"default", "default_vision", "default_reasoning", "function_calling_default"} <= set(traits["data"])
    mapping = sandbox.get("/models/compatibility_mapping").json()
    assert (traits["object"], mapping["type"]) == ("list", "text")
    assert set(traits["data"].values()) | set(mapping["data"].values()) <= listed
    assert sandbox.get("/models/traits?type=all").status_code == 400
    assert sandbox.get("/models/traits?type=tts").json()["data"] == {}


def test_a_long_prompt_is_charged_at_the_extended_rate_as_a_whole(sandbox: Client) -> None:
    short = sandbox.chat("receipt", model="rialto-search")
    long = sandbox.chat("receipt " * 21_000, model="rialto-search")

    def per_token(answer: dict[str, object]) -> float:
        usage, cost = answer["usage"], answer["cost"]
        assert isinstance(usage, dict) and isinstance(cost, dict)
        return float(cost["usd"]) / int(usage["prompt_tokens"])

    assert per_token(long) == pytest.approx(4.53e-6, rel=0.1)
    assert per_token(long) != pytest.approx(2.27e-6, rel=0.3)
    assert short["cost"]["usd"] < long["cost"]["usd"]
