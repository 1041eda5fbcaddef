"""Every address of the site with every verb, asked by every role, answers as the table in docs/roles.md says."""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, models, transaction
from django.template.backends.django import Template
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, SearchRun
from search.services.access.roles import ADMIN, ANNOTATOR, ROLES, SEARCHER, make_roles
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests import built_docs
from tests.search import small
from tests.search.conftest import films, small_pipelines  # noqa: F401

pytestmark = pytest.mark.django_db

TABLE = Path(__file__).resolve().parents[2] / "docs" / "roles.md"
ASKERS = ("nobody", SEARCHER, ANNOTATOR, ADMIN)
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ANY = "any"
YES = ("yes", "✓")
SIGN_IN = ("/account/sign-in/", "/admin/login/")


@dataclass(frozen=True)
class Row:
    """A row of the table: an address, where `*` stands for anything, its verbs, and who is let through."""

    address: str
    verbs: tuple[str, ...]
    lets: tuple[bool, ...]


def rows() -> list[Row]:
    """Return the rows of the tables, read from the page."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `/") and len(cells) >= 6:
            verbs = VERBS if cells[1] == ANY else tuple(cells[1].split())
            for written in re.findall(r"`([^`]+)`", cells[0]):
                lets = tuple(cell in YES for cell in cells[2:6])
                found += [Row(address, verbs, lets) for address in each_of(written)]
    return found


def each_of(written: str) -> list[str]:
    """Return the addresses that one with braces stands for: `/{a,b}/` for `/a/` and `/b/`."""
    braces = re.search(r"\{([^}]*)\}", written)
    if braces is None:
        return [written]
    before, after = written[: braces.start()], written[braces.end() :]
    return [address for one in braces[1].split(",") for address in each_of(before + one + after)]


def row_of(table: list[Row], address: str, verb: str) -> Row | None:
    """Return the row with the most letters that fits an address and a verb; HEAD without a row is answered like GET."""
    fitting = [row for row in table if verb in row.verbs and fnmatchcase(address, row.address)]
    found = max(fitting, key=lambda row: (len(row.address.replace("*", "")), row.address), default=None)
    return row_of(table, address, "GET") if found is None and verb == "HEAD" else found


def addresses(found: list[Any], before: str = "/") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each address of the site as `/search/<run_id>/`, with its parameters."""
    for pattern in found:
        part = str(pattern.pattern)
        if part.startswith("^"):
            part = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", part.strip("^$").replace("\\Z", ""))
            part = "" if part == "(?:.*/)?" else part.replace("(?:", "").replace(")", "").replace(".*", "")
        shown = before + re.sub(r"<\w+:(\w+)>", r"<\1>", part)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, shown)
        elif isinstance(pattern, URLPattern):
            yield shown, pattern.pattern.converters


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """Keep the end of a request from closing the connection that the test's own transaction is open on."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    # Thousands of refusals would hide the few lines that matter.
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def askers(films: KnowledgeBase, settings: Settings, tmp_path: Path) -> dict[str, Client]:  # noqa: F811
    """A client of each role, and something of every kind to look at, none of it their own."""
    settings.GRASP_HOME = tmp_path
    settings.GRASP_QUEUE_LENGTH = 0
    built_docs.place(settings, tmp_path)
    settings.GRASP_TOOLS = small.TOOLS | {"graph": small.POSTGRES}
    wiring.forget()
    make_roles()
    run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk)
    clients = {}
    for name in ASKERS:
        clients[name] = Client(raise_request_exception=False)
        if name != "nobody":
            user = User.objects.create_user(name)
            user.groups.add(Group.objects.get(name=name))
            user.refresh_from_db()
            clients[name].force_login(user)
    for model in admin.site._registry:
        an_object(model)
    return clients


def an_object(model: type[models.Model]) -> models.Model | None:
    """Return a row of a model; where there is none, one is made of the least that its columns take."""
    manager = model._default_manager
    if not model._meta.managed:
        return None
    there = manager.first()
    if there is not None:
        return there
    values = {
        field.name: _least(field)
        for field in model._meta.concrete_fields
        if not (field.has_default() or field.null or isinstance(field, models.AutoField))
        and not (getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False))
    }  # fmt: skip
    return manager.bulk_create([model(**values)])[0]


def _least(field: Any) -> Any:
    if isinstance(field, models.ForeignKey):
        return an_object(field.related_model)
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.DateTimeField):
        return KnowledgeBase.objects.first().created  # type: ignore[union-attr]
    if isinstance(field, models.DateField):
        return KnowledgeBase.objects.first().created.date()  # type: ignore[union-attr]
    if isinstance(field, models.CharField | models.TextField):
        return field.choices[0][0] if field.choices else "x"
    if isinstance(field, models.BooleanField):
        return False
    return [] if "Array" in type(field).__name__ else 1


def filled(address: str) -> str:
    """Return an address with a value for each parameter. Raises KeyError where the walk knows none."""
    known = {
        **{
            parameter: lambda model=model: an_object(model).pk  # type: ignore[misc,union-attr]
            for model in apps.get_models()
            if model._meta.managed
            for parameter in (f"{model._meta.model_name}_id",)
        },
        "run_id": lambda: SearchRun.objects.first().pk,  # type: ignore[union-attr]
        "name": lambda: "films", "node_id": lambda: "film/1", "rank": lambda: 1, "token": lambda: "x" * 22,
        "app_label": lambda: "search", "url": lambda: "nothing/", "object_id": lambda: _of_admin(address),
        "id": lambda: _of_admin(address), "pk": lambda: _of_admin(address.replace("knowledgebase/import", "upload")),
        "content_type_id": lambda: ContentType.objects.get_for_model(KnowledgeBase).pk,
        "queue_id": lambda: an_object(apps.get_model("training", "AnnotationQueue")).pk,  # type: ignore[union-attr]
        "item_id": lambda: an_object(apps.get_model("training", "AnnotationItem")).pk  # type: ignore[union-attr]
        if "/annotat" in address else 1,
        "set_id": lambda: an_object(apps.get_model("training", "QuestionSet")).pk,  # type: ignore[union-attr]
        "schedule_id": lambda: an_object(apps.get_model("search", "JobSchedule")).pk,  # type: ignore[union-attr]
        "file_id": lambda: an_object(apps.get_model("search", "UploadFile")).pk,  # type: ignore[union-attr]
        "position": lambda: 0, "version": lambda: 1, "path": lambda: "index.html", "component": lambda: "results",
        "before_id": lambda: SearchRun.objects.first().pk,  # type: ignore[union-attr]
        "saved_id": uuid.uuid4, "entry_id": lambda: 1, "key": lambda: "x", "kind": lambda: "csv",
        "part": lambda: "next",
    }  # fmt: skip
    for parameter in re.findall(r"<(\w+)>", address):
        address = address.replace(f"<{parameter}>", str(known[parameter]()))
    return address


def _of_admin(address: str) -> object:
    """Return the key of a row of the model that an address of the admin is about."""
    _, app, model, *_ = address.strip("/").split("/")
    if app == "r":
        return KnowledgeBase.objects.first().pk  # type: ignore[union-attr]
    found = an_object(apps.get_model(app, model))
    assert found is not None
    return found.pk


@contextmanager
def unrendered() -> Iterator[None]:
    """Leave pages empty: views decide who is let through, and GET shows already that every page can be rendered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "render", lambda self, context=None, request=None: "")
        yield


def let_through(client: Client, verb: str, address: str) -> tuple[bool, int]:
    """Ask, take back whatever that changed, and return whether the asker was let through, with the status."""
    api = address.startswith("/api/")
    with transaction.atomic():
        content = {"content_type": "application/json", "data": json.dumps({})} if api else {}
        if not api and verb in ("POST", "PUT", "PATCH"):
            content = {"content_type": "application/x-www-form-urlencoded", "data": ""}
        kept = dict(client.cookies)
        with nullcontext() if verb == "GET" else unrendered():
            answer = client.generic(verb, address, **content)
        client.cookies.clear()  # A request may sign out; the asker stays who they are.
        client.cookies.update(kept)
        transaction.set_rollback(True)
    to = answer.headers.get("Location", "")
    # The admin sends whoever may not see a page to its first one.
    refused = answer.status_code in (401, 403, 405) or to.startswith(SIGN_IN) or to == "/admin/"
    return not refused, answer.status_code


class Findings:
    """What contradicts the page, gathered so that one line says one thing, and missing rows can be copied to it."""

    def __init__(self) -> None:
        self.plain: list[str] = []
        self._missing: dict[tuple[str, str], dict[str, str]] = {}
        self._wrong: dict[tuple[str, str, str, str], dict[str, int]] = {}

    def missing(self, address: str, verb: str, answers: list[tuple[bool, int]]) -> None:
        """Take note of an address and verb that somebody is let through to, and that has no row."""
        cells = " | ".join("yes" if yes else "no" for yes, _ in answers)
        self._missing.setdefault((address, cells), {})[verb] = "/".join(str(status) for _, status in answers)

    def wrong(self, address: str, verb: str, row: Row, name: str, yes: bool, status: int) -> None:
        """Take note of somebody who is let through, or refused, against the row."""
        told = "is let through, though the row says no" if yes else "is refused, though the row says yes"
        self._wrong.setdefault((address, name, told, row.address), {})[verb] = status

    def lines(self) -> list[str]:
        """Return what was found."""
        found = [*self.plain]
        for (address, name, told, row), verbs in self._wrong.items():
            shown = ", ".join(f"{verb} {status}" for verb, status in verbs.items())
            found.append(f"{address}: {name} {told} ({shown}; row `{row}`)")
        if self._missing:
            found.append(
                "These have no row in docs/roles.md. Copy what is meant to be so; refuse the rest in the code:"
            )
        for (address, cells), verbs in self._missing.items():
            shown = ANY if set(VERBS) <= set(verbs) else " ".join(verbs)
            found.append(f"| `{address}` | {shown} | {cells} |   (answered {', '.join(sorted(set(verbs.values())))})")
        return found


def test_every_address_answers_every_verb_of_every_role_as_the_page_says(askers: dict[str, Client]) -> None:
    table, found, used = rows(), Findings(), set()
    for address in sorted({address for address, _ in addresses(get_resolver().url_patterns)}):
        try:
            path = filled(address)
        except KeyError as error:
            found.plain.append(f"{address}: the walk has no value for <{error.args[0]}>; add one to `filled`")
            continue
        # Pages of the admin do not tell HEAD from GET.
        for verb in VERBS if address.startswith("/admin/") else (*VERBS, "HEAD"):
            row = row_of(table, address, verb)
            answers = [let_through(askers[name], verb, path) for name in ASKERS]
            if any(status >= 500 for _, status in answers) and address != "/api/v1/readyz/":
                found.plain.append(f"{address} {verb}: the server failed ({answers})")
            if row is None:
                if any(yes for yes, _ in answers):
                    found.missing(address, verb, answers)
                continue
            used.add(row)
            for name, expected, (yes, status) in zip(ASKERS, row.lets, answers, strict=True):
                if yes != expected:
                    found.wrong(address, verb, row, name, yes, status)
    found.plain += [
        f"`{row.address}` {' '.join(row.verbs)}: no address fits this row" for row in table if row not in used
    ]
    if lines := found.lines():
        pytest.fail("\n" + "\n".join(lines), pytrace=False)


def test_the_groups_have_exactly_the_rights_of_their_roles_after_every_start() -> None:
    make_roles()
    annotator = Group.objects.get(name=ANNOTATOR)
    annotator.permissions.clear()
    Group.objects.get(name=SEARCHER).permissions.set(Group.objects.get(name=ADMIN).permissions.all())
    make_roles()
    held = {
        f"{one.content_type.app_label}.{one.codename}" for one in annotator.permissions.select_related("content_type")
    }
    assert held <= set(ROLES[ANNOTATOR])
    assert "training.add_questionset" in held
    assert not Group.objects.get(name=SEARCHER).permissions.exists()


def test_members_of_a_staff_role_are_staff_for_as_long() -> None:
    make_roles()
    user = User.objects.create_user("ada")
    for role, staff in ((SEARCHER, False), (ANNOTATOR, True)):
        user.groups.add(Group.objects.get(name=role))
        user.refresh_from_db()
        assert user.is_staff is staff
    user.groups.clear()
    user.refresh_from_db()
    assert not user.is_staff
    Group.objects.get(name=ADMIN).user_set.add(user)
    user.refresh_from_db()
    assert user.is_staff
    Group.objects.get(name=ADMIN).user_set.remove(user)
    user.refresh_from_db()
    assert not user.is_staff
