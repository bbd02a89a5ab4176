"""The OpenAPI document says what is served: every route, every documented field, and nothing that is not there."""

from __future__ import annotations

import re
from typing import Any

import httpx
import jsonschema
import pytest

from app.sandbox.http.openapi import BODIES as TOLD
from app.sandbox.http.openapi import CONTROLS as TOLD_CONTROLS
from app.sandbox.http.openapi import FORMS, MEDIA
from app.sandbox.http.routes import API_ROOT, ROUTES
from tests.sandbox.support import Client
from tests.sandbox.test_wrong_values import BODIES, CONTROLS

PATHS = {f"/{'/'.join(route.path)}" for route in ROUTES}


@pytest.fixture
def document(sandbox: Client, bare: httpx.Client) -> Any:
    answer = bare.get(f"{sandbox.running.origin}/openapi.json")
    assert answer.status_code == 200, "without a key"
    return answer.json()


def test_every_route_is_in_it_once_and_nothing_else(document: Any, sandbox: Client) -> None:
    assert document["openapi"].startswith("3.1") and document["servers"] == [{"url": sandbox.running.origin}]
    told = {(method.upper(), path) for path, operations in document["paths"].items() for method in operations}
    assert told == {(method, f"/{'/'.join(route.path)}") for route in ROUTES for method in route.methods}
    operations = [one for operations in document["paths"].values() for one in operations.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert {name for one in operations for way in one["security"] for name in way} <= set(
        document["components"]["securitySchemes"]
    )
    for path, row in document["paths"].items():
        for one in row.values():
            assert {parameter["name"] for parameter in one.get("parameters", ())} == set(re.findall(r"\{(\w+)\}", path))


def test_what_it_says_of_bodies_holds_for_every_documented_field(document: Any) -> None:
    for path, body in BODIES.values():
        schema = document["paths"][f"{API_ROOT}{path}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(schema).validate(body)
        assert set(body) <= set(schema["properties"]), path
    for path, body in CONTROLS.values():
        whole = re.sub("0x1+$", "{address}", re.sub("/answer$", "/{name}", f"/sandbox{path}"))
        schema = next(iter(document["paths"][whole].values()), {})
        content = document["paths"][whole]["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(content | {"properties": {**content["properties"], "body": {}}}).validate(body)
        assert schema and set(body) <= set(content["properties"]), path


def test_required_fields_are_the_ones_that_are_missed(sandbox: Client, document: Any) -> None:
    for path, fields in TOLD.items():
        required = set(re.findall(r"(\w+):\w+\*", fields))
        if path in ("/crypto/rpc/{network}", "/x402/top-up"):
            continue
        answer = sandbox.post(path, {})
        if required:
            assert answer.status_code == 400, path
            missed = set(answer.json()["details"]) - {"_errors"}
            assert missed <= set(re.findall(r"(\w+):", fields)) and required & missed, (path, missed)


def test_its_tables_name_only_what_is_served() -> None:
    for path in (*TOLD, *FORMS):
        assert f"{API_ROOT}{path}" in PATHS
    assert {f"/sandbox{path}" for path in TOLD_CONTROLS} <= PATHS
    assert all(path in PATHS or f"{API_ROOT}{path}" in PATHS for path in MEDIA)
