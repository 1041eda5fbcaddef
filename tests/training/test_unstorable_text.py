"""Text that nothing can store, at every operation of the API and in every field of every form: none breaks the site."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from search.domain.unstorable import may_be_unstorable, unstorable
from search.models import SearchRun
from tests.training.test_doors import Door, Site, doors, site
from training.models import QuestionSet

__all__ = ["site"]

pytestmark = pytest.mark.django_db(transaction=True)

HALF, NUL = "half \ud800", "nul \x00"
IN_ADDRESS = "a%00b"
PROJECT = Path(__file__).resolve().parents[2]


def person(superuser: bool) -> Client:
    client = Client(raise_request_exception=False)
    if superuser:
        client.force_login(User.objects.create_superuser("root", password="root"))
    return client


def operations() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield path, method, operation and the schema of its JSON body, empty if it takes none."""
    description = SchemaGenerator().get_schema(request=None, public=True)
    schemas = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            reference = schema.get("$ref", "").rpartition("/")[2]
            yield path, method.upper(), operation, schemas.get(reference, schema)


def bodies(schema: dict[str, Any], text: str) -> Iterator[Any]:
    """Yield bodies with an unstorable text in each place that the schema has, alone and in an object or a list."""
    fields = list(schema.get("properties", {}))
    plain: dict[str, Any] = {
        "knowledge_base": "films",
        "question": "Who?",
        "name": "x",
        "kind": "index",
        "node": "film/1",
    }
    known = {key: value for key, value in plain.items() if key in fields}
    for field in fields:
        for value in (text, {text: [text]}, [text, json.dumps({"text": text})]):
            yield known | {field: value}
    yield {text: 1}
    yield text
    yield [text]
    yield dict.fromkeys(fields, text)


def filled(path: str, values: dict[str, Any]) -> str:
    return re.sub(r"{(\w+)}", lambda found: quote(str(values.get(found[1], "1")), safe=""), path)


@pytest.mark.parametrize("superuser", [True, False], ids=["superuser", "visitor"])
@pytest.mark.parametrize("text", [HALF, NUL], ids=["half", "nul"])
def test_no_operation_of_the_api_fails_for_text_that_nothing_can_store(site: Site, text: str, superuser: bool) -> None:
    client, broken, refused = person(superuser), [], 0
    for path, method, operation, schema in operations():
        address = filled(path, site.values)
        if method in ("POST", "PUT", "PATCH") and schema:
            for body in bodies(schema, text):
                answer = client.generic(method, address, json.dumps(body), content_type="application/json")
                refused += answer.status_code == 400
                if answer.status_code == 500:
                    broken.append(f"{method} {address} {body!a}")
        names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        queries = [f"{name}={IN_ADDRESS}" for name in names]
        for query in queries if method == "GET" else queries[:1]:
            if client.generic(method, f"{address}?{query}").status_code == 500:
                broken.append(f"{method} {address}?{query}")
        for name in re.findall(r"{(\w+)}", path):
            hostile = re.sub(rf"{{{name}}}", IN_ADDRESS, path)
            if client.generic(method, filled(hostile, site.values)).status_code == 500:
                broken.append(f"{method} {hostile}")
    assert not broken, "\n".join(broken)
    assert refused > 0


def test_the_fault_names_every_place(site: Site) -> None:
    body = {"knowledge_base": "films", "question": HALF, "settings": {"a": [1, NUL], HALF: 2}, "plan": {"x/y": HALF}}
    answer = person(True).post("/api/v1/searches/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 400
    faults = answer.json()["errors"]
    assert [fault["pointer"] for fault in faults] == ["/question", "/settings", "/settings/a/1", "/plan/x~1y"]
    assert all("half of a character" in fault["message"] for fault in faults)
    assert not SearchRun.objects.filter(question__startswith="half").exists()


def test_characters_beyond_the_first_plane_are_whole_characters() -> None:
    body = json.dumps({"question": "🎬", "note": "\\u0000"})
    assert "\\ud83c" in body
    assert may_be_unstorable(body.encode())
    assert unstorable(json.loads(body)) == []


def test_as_many_texts_and_as_deep_as_a_body_can_have_are_fifty_faults_and_no_failure() -> None:
    assert len(unstorable({"questions": [HALF] * 10_000})) == 50
    deep: Any = NUL
    for _ in range(5_000):
        deep = [deep]
    [fault] = unstorable(deep)
    assert fault.pointer == "/0" * 5_000


def fields_of(page: str) -> list[str]:
    """Return the names of the fields that people can fill in on a page."""
    found = re.findall(r"<(?:input|textarea|select|button)\b[^>]*?\sname=\"([^\"]+)\"", page)
    return list(dict.fromkeys(map(unescape, found)))


MOST_FIELDS = 12
"""Fields of a page that are tried alone, where the fault of another one cannot hide theirs."""
EVERYWHERE = (
    "q",
    "kb",
    "name",
    "note",
    "do",
    "node",
    "missing",
    "search",
    "run",
    "next",
    "username",
    "password",
    "text",
)


def addressed(found: Iterator[Door]) -> list[Door]:
    """Return the doors of people: pages, not the API."""
    return [door for door in found if not door.name.startswith(("api:", "training-api:"))]


@pytest.mark.parametrize("superuser", [True, False], ids=["superuser", "visitor"])
def test_no_page_and_no_form_fails_for_text_that_nothing_can_store(site: Site, superuser: bool) -> None:
    client, broken, tried = person(superuser), [], 0
    for door in addressed(doors(site)):
        if "logout" in door.address or "sign-out" in door.address or "delete" in door.name:
            continue
        shown = client.get(door.address)
        page = "" if shown.streaming else shown.content.decode("utf-8", "replace")
        names = [*dict.fromkeys([*fields_of(page), *EVERYWHERE])]
        every = "&".join(f"{quote(name)}={IN_ADDRESS}" for name in names)
        asked = [("GET", every, ""), ("POST", "", every), ("POST", "", every.replace("%00", "%ed%a0%80"))]
        alone = [name for name in fields_of(page) if not name.startswith(("csrf", "_"))][:MOST_FIELDS]
        asked += [("POST", "", f"{quote(name)}={IN_ADDRESS}") for name in alone]
        for method, query, body in asked:
            tried += 1
            address = f"{door.address}?{query}" if query else door.address
            answer = client.generic(method, address, body, content_type="application/x-www-form-urlencoded")
            if answer.status_code == 500:
                broken.append(f"{method} {address} {body}")
    assert not broken, f"{len(broken)} of {tried}:\n" + "\n".join(broken)


@pytest.mark.parametrize("cookie", [site_settings.SESSION_COOKIE_NAME, "csrftoken", "visitor", "theme", "messages"])
def test_no_cookie_fails_for_text_that_nothing_can_store(site: Site, cookie: str) -> None:
    for value in ('"a\\000b"', "a\x00b"):
        answer = person(False).get("/searches/", headers={"cookie": f"{cookie}={value}"})
        assert answer.status_code < 500


def test_a_name_with_nul_signs_nobody_in(site: Site) -> None:
    for path in ("/api/v1/jobs/",):
        answer = person(False).get(path, headers={"authorization": "Basic YQBiOmM="})
        assert answer.status_code in (401, 403)


def test_a_file_of_questions_says_where_half_a_character_is(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [
        {"id": "1", "text": "Who?", "answers": ["film/1"]},
        {"id": "2", "text": HALF, "answers": ["film/1", HALF], "split": HALF, HALF: "x"},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    told = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_questions", "films", str(file), stdout=StringIO(), stderr=told)
    assert ended.value.code == 2
    for place in ("/text", "/answers/1", "/split"):
        assert f"questions.jsonl:2: {place}: " in told.getvalue()
    assert QuestionSet.objects.count() == 1


def test_a_command_refuses_an_argument_that_is_no_utf8() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "create_token", b"ad\xffa"], cwd=PROJECT, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("The argument 'ad\\udcffa' is no UTF-8")
