"""Pages of other sites may read and search where the site allows it, without cookies, and nothing else."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from grasp_site.cors import PATHS, read_origins

SHOP = "https://shop.example"
RUN = str(UUID(int=1))


@pytest.mark.parametrize(
    ("text", "origins"),
    [("", []), (" https://a.example , http://B.example:8080", ["https://a.example", "http://b.example:8080"]),
     ("*", ["*"]), ("http://[::1]:80", ["http://[::1]:80"])],
)  # fmt: skip
def test_origins_are_read_from_a_list(text: str, origins: list[str]) -> None:
    assert read_origins(text) == origins


@pytest.mark.parametrize(
    "text", ["https://a.example/", "a.example", "https://a.example/page", "null", "https://*.a.example"]
)
def test_what_no_browser_sends_as_an_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="an origin is https://host"):
        read_origins(text)


def test_only_reading_and_searching_are_opened() -> None:
    opened = ("searches/", "searches/compare/", f"searches/{RUN}/", f"searches/{RUN}/events/", "pipelines/")
    closed = (
        f"searches/{RUN}/feedback/", f"searches/{RUN}/cancel/", "jobs/", "uploads/", "question-sets/",
        "pipelines/grasp/rollback/",
    )  # fmt: skip
    assert all(re.match(PATHS, f"/api/v1/{path}") for path in opened)
    assert not any(re.match(PATHS, f"/api/v1/{path}") for path in closed)
    assert not re.match(PATHS, "/searches/")


@pytest.mark.django_db
def test_an_allowed_origin_may_ask_and_gets_no_credentials(client: Client, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [SHOP]
    asked = {"HTTP_ORIGIN": SHOP, "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "POST"}
    allowed = client.options("/api/v1/searches/?wait=20", **asked)
    assert allowed["Access-Control-Allow-Origin"] == SHOP
    assert "POST" in allowed["Access-Control-Allow-Methods"]
    assert "Access-Control-Allow-Credentials" not in allowed
    assert "Access-Control-Allow-Origin" not in client.options("/api/v1/jobs/", **asked)
    stranger = client.get("/api/v1/pipelines/", HTTP_ORIGIN="https://other.example")
    assert "Access-Control-Allow-Origin" not in stranger
    answer = client.get("/api/v1/pipelines/", HTTP_ORIGIN=SHOP)
    assert answer["Access-Control-Expose-Headers"] == "Location, Retry-After"
    assert "DELETE" not in allowed["Access-Control-Allow-Methods"]
