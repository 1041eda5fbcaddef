"""Everything the site answers, asked at random as nobody, as a searcher and as staff.

No answer is a failure of the server, no program is sent a page, and nobody reads what is another's. 300 requests in
every run of the tests; more with `pytest tests/integration/test_fuzz.py --fuzz-requests 10000`.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.auth.models import Permission, User
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import IntConverter, StringConverter, UUIDConverter
from drf_spectacular.generators import SchemaGenerator
from pytest_django.fixtures import Settings

from grasp_site.heartbeat import broker
from search import wiring
from search.models import KnowledgeBase, SearchRun, Upload, UploadFile
from search.services.access.tokens import make_token
from search.services.jobs.launch import launch_job
from search.services.jobs.schedules import save_schedule
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.services.searches.send_search import QUEUE
from tests import built_docs
from tests.search import small
from tests.search.conftest import films, small_pipelines  # noqa: F401
from training.data.examples import Example
from training.models import QuestionSet
from training.services.evaluate import evaluate

pytestmark = pytest.mark.django_db

SECRET = "Kestrel-0417"
"""In the question and title of what is another's, and nowhere else."""
ODD = (
    "", "0", "-1", "1", "2", "99999999999999999999", "1.5", "nan", "inf", "null", "true", "\x00", "\x00x", "\ud800",
    "é", "\u202e", "🎬" * 50, "x" * 3000, "../../etc/passwd", "a/b/", "%2e%2e", "'; DROP TABLE search_node;--",
    "<script>", "{{7*7}}", "a\nb: c", "a\r\nSet-Cookie: x=1", "[" * 2000, "{}", "[]", '{"a": [1, {"b": null}]}',
    "films", "film/1", "path", "text",
)  # fmt: skip
METHODS = ("get", "get", "get", "get", "post", "post", "head", "options", "put", "patch", "delete")
ACCEPTED = (
    *["*/*"] * 30,
    *["application/json"] * 10,
    "text/html",
    "text/event-stream",
    "application/xml",
    "nonsense",
    "*/*;q=0",
)
BODIES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "")
FIELDS = (
    "q", "kb", "pipeline", "plan", "do", "id", "relation", "direction", "page", "page_size", "prefix", "type", "next",
    "theme", "seen", "wait", "version", "knowledge_base", "username", "password", "old_password", "new_password1",
    "kind", "cron", "question_set", "a", "b", "metric", "change", "pipeline_a", "pipeline_b", "sort", "found", "state",
    "name", "/guidance", "action", "_selected_action", "format", "lang", "o", "e", "p", "_popup", "user", "settings",
)  # fmt: skip
BODY_KEYS = (
    "pipeline", "k", "plan", "settings", "question", "knowledge_base", "x", "kind", "arguments", "queue", "cron",
    "enabled", "questions", "text", "format", "duplicates", "into", "since", "title", "mapping", "dry_run",
    "judgements",
)  # fmt: skip
SHARED_STATE = ("/account/sign-out/", "/admin/logout/", "/account/password/", "/admin/auth/user/", "/admin/auth/group/")
"""Places where somebody would sign the others out or take their rights; they are read and not posted to."""


NAMED = ("run_id", "job_id", "schedule_id", "upload_id", "file_id", "evaluation_id", "set_id", "node_id")
"""Parameters of addresses that are filled with what has this name, wherever they stand."""


@dataclass
class Site:
    """The addresses of the site, what is known to be there, and what is another's."""

    known: dict[str, list[str]]
    private: list[str]
    patterns: list[str]
    operations: list[tuple[str, str, dict[str, Any]]]
    clients: dict[str, Client]
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Keep the end of a request from closing the connection that the test's own transaction is open on."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
    broker(site.REDIS_URL).delete(QUEUE)


@pytest.fixture
def whole_site(films: KnowledgeBase, settings: Settings, one_connection: None, tmp_path: Path) -> Site:  # noqa: F811
    """The films for everybody, a knowledge base and searches that are another's, and three askers."""
    settings.GRASP_QUEUE_LENGTH = 0
    built_docs.place(settings, tmp_path)
    settings.GRASP_TOOLS = small.TOOLS | {"graph": small.POSTGRES}
    wiring.forget()
    owner = User.objects.create_user("owner")
    private = small.films(f"private-{SECRET}", visibility=KnowledgeBase.Visibility.MEMBERS)
    private.title = f"Title {SECRET}"
    private.save()
    private.members.add(owner)
    asked = {"question": f"Who knows {SECRET}?", "knowledge_base": private.name, "user": owner, "enqueue": False}
    theirs = [str(run_search(request_search(**asked).pk).pk), str(request_search(**asked).pk)]
    ours = [
        str(run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk).pk),
        str(request_search(knowledge_base="films", question="Who?", enqueue=False).pk),
    ]
    searcher, staff = User.objects.create_user("searcher"), User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.exclude(content_type__app_label="auth"))
    make_token(owner, SECRET)
    clients = {name: Client(raise_request_exception=False) for name in ("nobody", "searcher", "staff")}
    clients["searcher"].force_login(searcher)
    clients["staff"].force_login(staff)
    nobodys = _beside_searches(private, owner)
    known = nobodys | {
        "run_id": ours + theirs, "uuid": ours + theirs + nobodys["job_id"], "name": ["films", private.name, "none"],
        "node_id": ["film/1", "person/1", *small.ODD_IDS],
        "version": ["1", "2"], "item_id": ["1", "2"], "queue_id": ["1", "2"], "int": ["1", "2", "3"],
        "str": [*map(str, KnowledgeBase.objects.values_list("pk", flat=True)), "1"],
    }  # fmt: skip
    description = SchemaGenerator().get_schema(request=None, public=True)
    operations = [
        (path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    return Site(known, theirs, list(_patterns(get_resolver().url_patterns)), operations, clients)


def _beside_searches(private: KnowledgeBase, owner: User) -> dict[str, list[str]]:
    """Make a job, a schedule, an upload, an evaluation and a question set that are another's; return their ids."""
    job, _ = launch_job(kind="index", knowledge_base=private.name, here=True)
    schedule = save_schedule(name=f"nightly {SECRET}", cron="30 2 * * *", kind="index", knowledge_base=private.name)
    upload = Upload.objects.create(title=f"of {SECRET}", user=owner)
    file = UploadFile.objects.create(upload=upload, name=f"{SECRET}.csv", size=3)
    asked = [Example("1", f"Which film is {SECRET}?", ("film/1",), "val")]
    told = evaluate(knowledge_base=private.name, examples=asked, split="val", pipelines=["text"], settings={})
    sets = QuestionSet.objects.values_list("pk", flat=True)
    found: dict[str, object] = {
        "job_id": job.pk, "schedule_id": schedule.pk, "upload_id": upload.pk, "file_id": file.pk,
        "evaluation_id": told["evaluation"],
    }  # fmt: skip
    return {name: [str(one)] for name, one in found.items()} | {"set_id": [*map(str, sets), "1"]}


def _patterns(found: list[Any], before: str = "/") -> Iterator[str]:
    """Give every address of the site with `{kind}` where something goes in."""
    for pattern in found:
        shown = before + str(pattern.pattern).replace("^", "").replace("$", "").replace("\\Z", "")
        for name, converter in getattr(pattern.pattern, "converters", {}).items():
            kinds = {UUIDConverter: "uuid", IntConverter: "int", StringConverter: "name" if name == "name" else "str"}
            kind = name if name in NAMED else kinds.get(type(converter), "node_id")
            shown = shown.replace(f"<{_called(shown, name)}>", f"{{{kind}}}")
        if isinstance(pattern, URLResolver):
            yield from _patterns(pattern.url_patterns, shown)
        elif isinstance(pattern, URLPattern) and "(" not in shown:
            yield shown


def _called(shown: str, name: str) -> str:
    """Return a parameter as the address writes it, `uuid:run_id` or `run_id`."""
    return next(part.split(">")[0] for part in shown.split("<")[1:] if part.split(">")[0].split(":")[-1] == name)


class Fuzzer:
    """Makes requests up; the same seed makes the same ones."""

    def __init__(self, whole: Site, seed: int) -> None:
        self.site, self.random = whole, random.Random(seed)

    def request(self) -> tuple[str, str, dict[str, Any]]:
        """Return a method, an address, and what else `Client.generic` takes."""
        usual = BODIES[0]
        if self.random.random() < 0.5:
            path, method, operation = self.random.choice(self.site.operations)
            if self.random.random() < 0.1:
                method = self.random.choice(METHODS)
            names = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "query"]
        else:
            admin = self.random.random() < 0.3
            places = [pattern for pattern in self.site.patterns if pattern.startswith("/admin/") == admin]
            path, method, names, usual = (
                self.random.choice(places),
                self.random.choice(METHODS),
                list(FIELDS),
                BODIES[1],
            )
        address = self.filled(path)
        if method not in ("get", "head", "options") and address.startswith(SHARED_STATE):
            method = "get"
        if self.random.random() < 0.05:
            address = address.rstrip("/") + self.random.choice(("", "/x", "//", "/%00", "?", "/.."))
        query = [(self.random.choice(names or list(FIELDS)), self.value()) for _ in range(self.random.randrange(3))]
        headers = {"Accept": self.random.choice(ACCEPTED)}
        if self.random.random() < 0.1:
            headers["Authorization"] = self.random.choice(
                ("Token", "Token x", "Basic eDp5", "Basic %", "Bearer x", "\x7f")
            )
        if self.random.random() < 0.1:
            headers["Cookie"] = self.random.choice(
                ("visitor=x:y:z", "sessionid=\x01", "theme=<b>", "visitor=", "csrftoken=x")
            )
        kind = usual if self.random.random() < 0.8 else self.random.choice(BODIES)
        extra = {"QUERY_STRING": _encoded(query), "content_type": kind, "data": self.body(kind), "headers": headers}
        return method, address, extra

    def filled(self, path: str) -> str:
        for kind in re.findall(r"{(\w+)}", path):
            while f"{{{kind}}}" in path:
                known = self.site.known[kind]
                value = self.random.choice(known) if self.random.random() < 0.8 else self.value()
                path = path.replace(f"{{{kind}}}", _quoted(value), 1)
        return path

    def value(self) -> str:
        found = self.random.choice((self.random.choice(ODD), self.random.choice(ODD), self.some()))
        return found if self.random.random() < 0.9 else found + self.random.choice(ODD)

    def some(self) -> str:
        return self.random.choice([value for values in self.site.known.values() for value in values])

    def body(self, kind: str) -> bytes:
        if kind == BODIES[0]:
            return json.dumps(self.json(0)).encode() if self.random.random() < 0.9 else self.raw()
        if kind == BODIES[1]:
            return _encoded(
                [(self.random.choice(FIELDS), self.value()) for _ in range(self.random.randrange(6))]
            ).encode()
        return self.raw()

    def raw(self) -> bytes:
        return self.value().encode("utf-8", "surrogatepass") + self.random.randbytes(self.random.randrange(20))

    def json(self, depth: int) -> Any:
        """A search or a plan with things out of place, or anything."""
        if depth == 0 and self.random.random() < 0.8:
            body: dict[str, Any] = {"knowledge_base": "films", "question": "Who?"}
            if self.random.random() < 0.3:
                body = {"name": "set", "kind": "index", "knowledge_base": "films", "questions": self.json(1)}
            for key in self.random.sample(BODY_KEYS, 2):
                plan = small.PLAN.to_json() | {self.random.choice(("hops", "anchors", "target")): self.json(2)}
                body[key] = self.random.choice((self.json(1), self.some(), plan, {"fuse.k": self.json(2)}))
            return body
        kind = self.random.randrange(7 if depth < 4 else 5)
        if kind == 5:
            return [self.json(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 6:
            return {self.value(): self.json(depth + 1) for _ in range(self.random.randrange(4))}
        return (None, True, self.random.randrange(-5, 500), 1e308, self.value())[kind]


def _quoted(value: str) -> str:
    return "".join(f"%{byte:02x}" for byte in value.encode("utf-8", "surrogatepass")) or "x"


def _encoded(pairs: list[tuple[str, str]]) -> str:
    return "&".join(f"{_quoted(name)}={_quoted(value) if value else ''}" for name, value in pairs)


def test_nothing_breaks_no_program_gets_a_page_and_nobody_reads_what_is_anothers(
    whole_site: Site, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    most = pytestconfig.getoption("--fuzz-requests")
    fuzzer = Fuzzer(whole_site, pytestconfig.getoption("--fuzz-seed"))
    faults = []
    for number in range(most):
        who = fuzzer.random.choice(list(whole_site.clients))
        method, address, extra = fuzzer.request()
        answer = _asked(whole_site.clients[who], method, address, extra)
        whole_site.statuses[who, answer.status_code] += 1
        body = b"" if "event-stream" in answer.headers.get("Content-Type", "") else answer.getvalue()
        wrong = [*_wrong(address, answer)]
        if who != "staff":
            wrong += _foreign(whole_site, address, answer, body)
        if wrong:
            shown = f"{answer.status_code} {body[:300]!r}"
            faults.append(f"{' '.join(wrong)} Request {number} as {who}: {method} {address!r} {extra} → {shown}")
    assert not faults, f"{len(faults)} of {most}:\n" + "\n".join(faults[:10])
    # Staff may cancel the one that waits; where anybody else could, `_foreign` has said so.
    states = {run.status for run in SearchRun.objects.filter(pk__in=whole_site.private)}
    assert states in ({"done", "queued"}, {"done", "cancelled"})
    with capsys.disabled():
        sys.stdout.write(f" {most} requests, answered with {sorted(whole_site.statuses.items())} ")
    for who in whole_site.clients:
        taken = sum(number for (asker, status), number in whole_site.statuses.items() if asker == who and status < 400)
        assert taken > most / (20 if who == "staff" else 30), (
            f"hardly anything was answered to {who}: the requests miss the site"
        )


def _asked(client: Client, method: str, address: str, extra: dict[str, Any]) -> Any:
    """Ask as a client that stays signed in: an answer to a made-up cookie may tell it to forget its session."""
    kept = client.cookies.get(site.SESSION_COOKIE_NAME)
    answer = client.generic(method.upper(), address, **extra)
    if kept is not None:
        client.cookies[site.SESSION_COOKIE_NAME] = kept.value
    return answer


def _wrong(address: str, answer: Any) -> Iterator[str]:
    """Say what no answer may be, whoever asks."""
    if address.startswith("/api/v1/readyz"):
        return  # It says with 503 that no worker runs, which is so.
    if answer.status_code >= 500:
        yield "The server failed."
    if address.startswith("/api/") and not address.startswith("/api/docs/"):
        kind = answer.headers.get("Content-Type", "")
        if "html" in kind:
            yield "A program was sent a page."
        if answer.status_code >= 400 and kind != "application/problem+json":
            yield "An error is no problem document."


def _foreign(whole: Site, address: str, answer: Any, body: bytes) -> Iterator[str]:
    """Say what nobody but its owner may read."""
    # A name that a caller brings may come back in what is said about it; it is no news to them.
    if SECRET.encode() in body.replace(f"private-{SECRET}".encode(), b""):
        yield "It tells what is another's."
    if answer.status_code == 200 and any(run in address for run in whole.private):
        yield "It shows another's search."
