"""What holds for each route there is, so that a new one is held to it as well."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

import httpx
import pytest

from app.sandbox.http.routes import API_ROOT, ROUTES, Route
from tests.sandbox.support import NOON, Client

API = [route for route in ROUTES if "/".join(route.path).startswith(API_ROOT.strip("/"))]
GUARDED = [route for route in API if not route.public and not route.open and route.credentials != "wallet"]
VALUES = {"{network}": "base-mainnet", "{wallet}": "0x" + "1" * 40}


def url_of(route: Route) -> str:
    return "/" + "/".join(VALUES.get(part, "any") if part.startswith("{") else part for part in route.path)


def ask(http: httpx.Client, sandbox: Client, route: Route) -> httpx.Response:
    method = route.methods[0]
    return http.request(method, sandbox.running.origin + url_of(route), json={} if method == "POST" else None)


def test_the_routes_were_found() -> None:
    assert len(API) >= 35 and len(GUARDED) >= 22


@pytest.mark.parametrize("route", GUARDED, ids=url_of)
def test_R_AUTH_01_R_AUTH_02_R_AUTH_11_without_a_key_nothing_is_told(
    sandbox: Client, bare: httpx.Client, route: Route
) -> None:
    answer = ask(bare, sandbox, route)
    assert (answer.status_code, answer.json()) == (401, {"error": "Authentication failed"})
    bare.headers["authorization"] = "Bearer not-the-key"
    assert ask(bare, sandbox, route).status_code == 401


@pytest.mark.parametrize("route", API, ids=url_of)
@pytest.mark.parametrize("dialect", ["service", "venice"])
def test_R_HDR_04_R_HDR_05_R_HDR_06_R_HDR_11_R_HDR_14_R_HDR_15_every_answer_has_its_headers(
    sandbox: Client, route: Route, dialect: str
) -> None:
    sandbox.control("/settings", {"dialect": dialect})
    answer = ask(sandbox.http, sandbox, route)
    headers = answer.headers
    limit, left = (int(headers[f"x-ratelimit-{name}-requests"]) for name in ("limit", "remaining"))
    assert 0 <= left <= limit
    assert NOON < int(headers["x-ratelimit-reset-requests"]) <= NOON + 60
    assert parsedate_to_datetime(headers["date"]).timestamp() == NOON and headers["content-type"]
    assert re.fullmatch(r"[0-9a-f]{16}-[A-Z]{3}", headers["cf-ray"])
    assert re.fullmatch(r"\d{8}\.\d{6}", headers[f"x-{dialect}-version"])
    other = "venice" if dialect == "service" else "service"
    assert not [name for name in headers if name.startswith(f"x-{other}-")]
