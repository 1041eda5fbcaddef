"""Every address of the site, asked by people who may not see a knowledge base: none tells anything of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from pytest_django.fixtures import Settings

from search.models import (
    Artifact,
    Collection,
    CollectionItem,
    Feedback,
    Job,
    JobSchedule,
    KnowledgeBase,
    Node,
    PipelineVersion,
    Release,
    SavedSearch,
    SearchRun,
    Snapshot,
    VectorSet,
)
from search.models.knowledge import BuildStatus
from search.services.access.roles import ADMIN, make_roles
from search.services.access.visible import path_to_base
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.services.upkeep.alerts.gather import forget_alerts
from tests.graphs import store
from tests.search import small
from tests.training.annotating import asked_evaluation, queue_of
from training.models import (
    AnnotationItem,
    Correction,
    Judgement,
    Question,
    QuestionSet,
)

pytestmark = pytest.mark.django_db(transaction=True)

OLD, LATER = "Amber", "Zebrawood"
"""A word of the names in the release that the search used, and one of a name in a later release."""
SECRETS = (OLD, "Birch", "Ada Holm", LATER, "Cinnabar vault", "films-1", "films-2", "whispered")
"""What only the knowledge base, its searches, and what people said of them have in them."""
STORED = {
    "search-results", "search-live", "search-trace", "search-csv", "search-plans", "search-save", "search-forget",
    "search-cancel", "search-changes", "search-changes-live", "api:search", "api:search-events", "api:search-cancel",
    "api:search-feedback", "search-feedback", "search-saved",
}  # fmt: skip
"""Doors at which somebody who was removed has their own old searches, as these were stored."""
EMPTY = {
    "admin:search_artifact_download", "admin:search_job_bad_rows", "search-paths-between-csv",
    "search-paths-between-svg", "corrections-changed", "annotation-export", "evaluation-file",
    "search-written", "search-explore-file",
}  # fmt: skip
"""Doors of files, figures and answers that the knowledge base of this test does not have."""
SAFE, CHANGING = ("GET", "HEAD", "OPTIONS"), ("POST", "PUT", "PATCH", "DELETE")
OPEN = {
    "collection", "collection-shared", "collection-export", "collection-shared-export", "collection-change",
    "search-compare", "search-compare-live", "api:searches-compare",
}  # fmt: skip
"""Doors that open for who was removed, with less behind them: own collections without the items of the base."""


@dataclass(frozen=True)
class Site:
    """A knowledge base with everything that can be of one, and the values of the addresses that lead to it."""

    base: KnowledgeBase
    run: SearchRun
    member: User
    values: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def site(films: KnowledgeBase, services: object, settings: Settings, tmp_path: Path) -> Site:
    """The films, for members only; a member asked, saved, collected, judged, and a later release has another film."""
    settings.GRASP_HOME = tmp_path
    settings.GRASP_TOOLS = {
        **settings.GRASP_TOOLS,
        "graph": small.POSTGRES,
    }
    make_roles()
    cache.clear()
    forget_alerts()
    member = User.objects.create_user("ann", password="ann")
    films.members.add(member)
    films.title, films.visibility = "Cinnabar vault", KnowledgeBase.Visibility.MEMBERS
    films.save()
    run, before = (
        run_search(
            request_search(
                knowledge_base="films", question="Which whispered films did Ada Holm direct?", user=member,
                origin=SearchRun.Origin.PAGE, enqueue=False,
            ).pk
        )
        for _ in range(2)
    )  # fmt: skip
    evaluation = asked_evaluation(films, {"whispered question": ["film/1"]}, {"path": [{"ids": ["film/1"]}]})
    Feedback.objects.create(run=run, node_id="film/1", node_name="Amber Road", kind="right", user=member)
    saved = SavedSearch.objects.create(run=run, user=member, name="kept")
    collection = Collection.objects.create(user=member, name="mine", key="a-key")
    entry = CollectionItem.objects.create(
        collection=collection, position=1, knowledge_base=films, knowledge_base_name="films", node_id="film/1",
        node_name="Amber Road", run=run.pk, question=run.question,
    )  # fmt: skip
    queue = queue_of(films, 2)
    AnnotationItem.objects.update(question="whispered question", node_name="Amber Road", shown={"name": "Amber Road"})
    item = queue.items.first()
    assert item is not None
    Judgement.objects.create(item=item, annotator=member, annotator_name="ann", verdict="graded", grade=3)
    questions = QuestionSet.objects.create(
        knowledge_base=films, name="whispered", version=1, content_hash="1", questions_count=1, splits={"": 1}
    )
    Question.objects.create(
        question_set=questions, position=0, identifier="q", text="whispered question", answers=["film/1"], hash="1"
    )
    correction = Correction.objects.create(
        knowledge_base=films, question="whispered question", text_hash="1", answers=["film/1"]
    )
    release = films.active_release
    assert release is not None
    VectorSet.objects.create(
        snapshot=release.snapshot, encoder="whispered encoder", dimensions=3, status=BuildStatus.READY
    )
    version = PipelineVersion.objects.create(
        knowledge_base=films, pipeline="path", version=1, options={"fuse.k": 9.0}, note="whispered"
    )
    Artifact.objects.create(id="whispered-1", kind="ranker", knowledge_base=films, data_hash="1", code_version="1")
    job = Job.objects.create(
        kind="index", knowledge_base=films, knowledge_base_name="films", specification_hash="1", state="failed",
        reason="whispered reason", result={"release": "films-1"}, release=release, release_name="films-1",
        arguments={"note": "whispered"},
    )  # fmt: skip
    schedule = JobSchedule.objects.create(
        name="whispered schedule", cron="0 0 * * *", kind="index", knowledge_base=films, last_outcome="whispered"
    )
    _later_release(films)
    values = {
        "run_id": run.pk, "before_id": before.pk, "rank": 1, "saved_id": saved.pk, "collection_id": collection.pk,
        "entry_id": entry.pk, "key": "a-key", "kind": "csv", "name": "films", "node_id": "film/1",
        "evaluation_id": evaluation.pk, "position": 0, "queue_id": queue.pk, "item_id": item.pk,
        "correction_id": correction.pk, "set_id": questions.pk, "job_id": job.pk, "schedule_id": schedule.pk,
        "version": version.version,
    }  # fmt: skip
    return Site(films, run, member, values)


def _later_release(films: KnowledgeBase) -> None:
    snapshot = Snapshot.objects.create(
        knowledge_base=films, status=BuildStatus.READY, schema_json=small.schema().to_json(), nodes=14, edges=3
    )
    store(small.GRAPH, small.schema(), snapshot.pk)
    Node.objects.filter(snapshot_id=snapshot.pk, id="film/2").update(name=f"{LATER} Light")
    films.active_release = Release.objects.create(
        knowledge_base=films, number=2, snapshot=snapshot, status=BuildStatus.READY
    )
    films.save()


@dataclass(frozen=True)
class Door:
    """An address of the site, with its name."""

    name: str
    address: str
    about: bool
    """Whether the address names something of the knowledge base."""


ELSEWHERE = {
    "admin:view_on_site": {"content_type_id": 0, "object_id": "1"},
    "admin:app_list": {"app_label": "search"},
    "admin:jsi18n": {},
    "documentation-file": {"path": "index.html"},
    "internal-file": {"name": "nothing"},
    "gallery-state": {"component": "nothing", "name": "nothing"},
    "gallery-framed": {"component": "nothing", "name": "nothing"},
    "gallery-data": {"component": "nothing", "name": "nothing", "part": "nothing"},
    "api:pipeline-versions": {"name": "path"},
    "api:pipeline-version-activate": {"name": "path", "version": 1},
    "api:pipeline-rollback": {"name": "path"},
    "admin:auth_user_password_change": {"id": 1},
}
"""The values of addresses whose parameters mean something else there."""
UPLOADS = ("upload_id", "file_id", "token")
"""Parameters of what is of no knowledge base yet."""


def doors(site: Site) -> Iterator[Door]:
    """Yield every address that has a name, each with values that lead to the knowledge base."""
    yield from _doors(get_resolver(), "", site)


def _doors(resolver: URLResolver, namespace: str, site: Site) -> Iterator[Door]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _doors(pattern, inner, site)
        elif pattern.name:
            yield from _addresses(pattern, f"{namespace}{pattern.name}", site)


def _addresses(pattern: URLPattern, name: str, site: Site) -> Iterator[Door]:
    names = list(pattern.pattern.converters) or list(pattern.pattern.regex.groupindex)
    if name in ELSEWHERE:
        values: dict[str, Any] = ELSEWHERE[name]
        yield Door(name, reverse(name, kwargs={one: values[one] for one in names if one in values}), False)
    elif any(one in UPLOADS for one in names) or name == "api:nothing" or name == "admin:catch_all":
        return
    elif name.startswith("admin:") and names:
        row = _row_of(name)
        if row is not None:
            yield Door(name, reverse(name, kwargs=dict.fromkeys(names, row)), True)
    else:
        missing = [one for one in names if one not in site.values]
        assert not missing, f"{name} has the parameters {missing}: give them values that lead to the knowledge base"
        yield Door(name, reverse(name, kwargs={one: site.values[one] for one in names}), bool(names))


def _row_of(name: str) -> Any:
    """Return the key of a row of the admin page with this name, None for pages of what is of no knowledge base."""
    for model in admin.site._registry:
        start = f"admin:{model._meta.app_label}_{model._meta.model_name}_"
        if name.startswith(start) and path_to_base(model) is not None:
            row = model._default_manager.order_by("pk").first()
            assert row is not None, f"the fixture has no {model.__name__}"
            return row.pk
    return None


def text_of(answer: HttpResponseBase) -> str:
    """Return the body of an answer; a stream of events that goes on is read to its first pieces."""
    if not answer.streaming:
        return answer.content.decode("utf-8", "replace")  # type: ignore[attr-defined]
    content = answer.streaming_content  # type: ignore[attr-defined]
    return b"".join(content).decode("utf-8", "replace") if hasattr(content, "__iter__") else ""


def removed(site: Site) -> Client:
    """Return the member who asked, and who was removed from the knowledge base."""
    site.base.members.remove(site.member)
    return _signed_in(site.member)


def stranger(site: Site) -> Client:
    """Return somebody who never was a member."""
    return _signed_in(User.objects.create_user("bob", password="bob"))


def visitor(site: Site) -> Client:
    """Return somebody without an account."""
    return Client(raise_request_exception=False)


def bare_staff(site: Site) -> Client:
    """Return staff without any right."""
    return _signed_in(User.objects.create_user("cleo", password="cleo", is_staff=True))


def administrator(site: Site) -> Client:
    """Return staff with every right there is, and no member of the knowledge base."""
    user = User.objects.create_user("dora", password="dora")
    user.groups.add(Group.objects.get(name=ADMIN))
    return _signed_in(User.objects.get(pk=user.pk))


def removed_administrator(site: Site) -> Client:
    """Return the member who asked, removed from the knowledge base, with every right there is."""
    site.member.groups.add(Group.objects.get(name=ADMIN))
    return removed(site)


def _signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


Person = Callable[[Site], Client]
OTHERS = (stranger, visitor, bare_staff, administrator)
QUERY = (
    "?id=film/1&search={run}&search={before}&kb=films&knowledge_base=films&node=film/1&from=film/1&to=film/2&q=film"
    "&prefix=a&pipeline=path&kind=index&like={job}&a={evaluation}&b={evaluation}&saved=1&programs=1&wait=0"
)
"""What an address may need to show something of the knowledge base."""


def asked(client: Client, door: Door, method: str, site: Site) -> tuple[int, str]:
    """Ask at a door, with values that lead to the knowledge base in query and body; return status and text."""
    value = site.values
    query = QUERY.format(
        run=value["run_id"], before=value["before_id"], job=value["job_id"], evaluation=value["evaluation_id"]
    )
    if "download" in door.name or "export" in door.name:
        query = f"{query}&format=csv"
    if door.name == "api:searches-compare":
        query = f"?id={value['run_id']}&id={value['before_id']}"
    if door.name.startswith("admin:") and not door.about:
        query = ""
    address = f"{door.address}{query}"
    if method in SAFE:
        answer = client.generic(method, address)
    else:
        body = {
            "knowledge_base": "films", "question": "Which films?", "kb": "films", "q": "Which films?", "node": "film/1",
            "search": str(value["run_id"]), "follows": str(value["run_id"]), "kind": "right", "right": "film/1",
            "missing": LATER, "do": "check", "name": "another", "run": str(value["run_id"]), "queue_id": 1,
        }  # fmt: skip
        program = door.name.startswith(("api:", "training-api:"))
        answer = (
            client.generic(method, address, json.dumps(body), content_type="application/json")
            if program
            else client.post(address, body)
        )
    return answer.status_code, text_of(answer)


def told(text: str) -> list[str]:
    """Return the secrets that a text has."""
    return [secret for secret in SECRETS if secret.lower() in text.lower()]


@pytest.mark.parametrize("person", OTHERS, ids=lambda one: one.__name__)
def test_no_address_tells_anything_of_a_knowledge_base_that_the_asker_may_not_see(site: Site, person: Person) -> None:
    client = person(site)
    leaks = []
    for door in doors(site):
        for method in (*SAFE, *CHANGING):
            status, text = asked(client, door, method, site)
            if found := told(text):
                leaks.append(f"{method} {door.name} {door.address}: {status} {found}")
            if status == 500:
                leaks.append(f"{method} {door.name} {door.address}: {status}")
    assert not leaks, "\n".join(leaks)


@pytest.mark.parametrize("person", [removed, removed_administrator], ids=lambda one: one.__name__)
def test_who_was_removed_has_what_their_own_searches_stored_and_nothing_else(site: Site, person: Person) -> None:
    client = person(site)
    open_doors = []
    for door in chain(doors(site)):
        for method in (*SAFE, *(() if door.name in STORED else CHANGING)):
            status, text = asked(client, door, method, site)
            found = told(text)
            if door.name in STORED or (not door.about and door.name in ("search-own", "search-home", "search-compare")):
                found = [secret for secret in found if secret in (LATER, "films-2", "Cinnabar vault")]
            if found or status == 500:
                open_doors.append(f"{method} {door.name} {door.address}: {status} {found}")
            if door.about and status < 300 and door.name not in STORED | OPEN and method != "OPTIONS":
                open_doors.append(f"{method} {door.name} {door.address}: {status}, and is open")
    assert not open_doors, "\n".join(open_doors)


def test_the_addresses_lead_to_the_knowledge_base_for_whoever_may_see_it(site: Site) -> None:
    client = _signed_in(User.objects.create_superuser("root", password="root"))
    shut = [
        f"{door.name} {door.address}: {status}"
        for door in doors(site)
        if door.about
        and door.name not in EMPTY | OPEN
        and not door.name.endswith("_delete")
        and (status := asked(client, door, "GET", site)[0]) not in (200, 204, 302, 400, 405)
    ]
    assert not shut, "\n".join(shut)


def test_every_admin_of_rows_of_knowledge_bases_shows_only_those_that_the_reader_may_see(site: Site) -> None:
    administrator(site)
    reader = User.objects.get(username="dora")
    for model, shown in admin.site._registry.items():
        if path_to_base(model) is None:
            continue
        request = type("Request", (), {"user": reader, "resolver_match": None, "GET": {}})()
        assert model._default_manager.exists(), f"the fixture has no {model.__name__}"
        assert not shown.get_queryset(request).exists(), model.__name__
