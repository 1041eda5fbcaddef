"""How many searches an asker may ask, and how many may wait: counted in the real Valkey, by every process together."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from grasp_site import gate
from grasp_site.heartbeat import broker, worker_key, workers_key
from search.models import KnowledgeBase, RefusedRequests, SearchRun
from search.services.access.limits import expected_wait
from search.services.access.tokens import make_token
from search.services.access.visitors import Visitor
from search.services.health import forget
from search.services.searches.send_search import QUEUE
from search.services.searches.sent import SENT

pytestmark = pytest.mark.django_db
BODY = json.dumps({"knowledge_base": "films", "question": "Who made Amber Road?"})


@pytest.fixture(autouse=True)
def nothing_counted(services: object) -> Iterator[None]:
    """Tests count from nothing on, whatever others asked within the last minute."""
    client = broker(site.REDIS_URL)
    for key in client.scan_iter(f"{gate.PREFIX}*"):
        client.delete(key)
    yield
    client.delete(QUEUE)


@pytest.fixture
def few(settings: Settings) -> Settings:
    """Limits that are soon reached, a different one for each kind of asker."""
    settings.GRASP_SEARCHES_PER_MINUTE = 2
    settings.GRASP_SEARCHES_PER_MINUTE_USER = 3
    settings.GRASP_SEARCHES_PER_MINUTE_TOKEN = 4
    return settings


def ask(client: Client, **extra: Any) -> Any:
    return client.post("/api/v1/searches/", BODY, content_type="application/json", **extra)


def taken(client: Client, **extra: Any) -> int:
    """How many searches in a row are taken before one is refused."""
    for number in range(10):
        if ask(client, **extra).status_code == 429:
            return number
    return 10


def test_of_many_that_come_at_once_exactly_as_many_are_let_in_as_may(services: object) -> None:
    name = uuid.uuid4().hex
    with ThreadPoolExecutor(16) as together:
        waits = list(together.map(lambda _: gate.take(name, 25, 60.0), range(200)))
    assert waits.count(0) == 25
    assert all(59 < wait <= 60 for wait in waits if wait)


def test_what_is_refused_does_not_lengthen_the_wait_and_what_is_given_back_is_free(services: object) -> None:
    name = uuid.uuid4().hex
    assert gate.take(name, 1, 0.2) == 0
    waits = []
    while wait := gate.take(name, 1, 0.2):
        waits.append(wait)
    assert waits == sorted(waits, reverse=True)
    gate.give_back(name)
    assert gate.take(name, 1, 60.0) == 0


def test_address_account_and_token_each_have_their_limit(films: KnowledgeBase, few: Settings) -> None:
    member = Client()
    member.force_login(User.objects.create_user("member"))
    _, text = make_token(User.objects.create_user("program"))
    program = {"headers": {"Authorization": f"Token {text}"}}
    assert (taken(Client()), taken(member), taken(Client(), **program)) == (2, 3, 4)
    assert taken(Client(REMOTE_ADDR="192.0.2.7")) == 2


def test_the_refusal_is_a_problem_that_says_when_to_ask_again_and_leaves_no_search(
    films: KnowledgeBase, few: Settings
) -> None:
    client = Client()
    taken(client)
    before = SearchRun.objects.count()
    answer = ask(client)
    assert (answer.status_code, answer["Content-Type"]) == (429, "application/problem+json")
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert "An address may ask 2 searches a minute" in answer.json()["detail"]
    assert SearchRun.objects.count() == before == 2
    assert RefusedRequests.objects.get(kind="too many").number == 2


def test_the_page_says_it_in_a_sentence_and_keeps_what_was_typed(films: KnowledgeBase, few: Settings) -> None:
    client = Client()
    taken(client)
    page = client.post("/", {"kb": "films", "q": "And who made Birch Street?"})
    assert page.status_code == 429
    assert int(page["Retry-After"]) >= 1
    assert "An address may ask 2 searches a minute; ask again in" in page.content.decode()
    assert "And who made Birch Street?</textarea>" in page.content.decode()


def test_a_header_that_anybody_can_send_makes_no_new_address(films: KnowledgeBase, few: Settings) -> None:
    client = Client()
    answers = [ask(client, headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code for n in range(4)]
    assert answers == [202, 202, 429, 429]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""), ("testclient", "testclient"),
    ],
)  # fmt: skip
def test_addresses_of_one_network_count_together(address: str, network: str) -> None:
    assert Visitor(address=address).network == network


def test_a_full_queue_says_so_at_once_and_leaves_no_search(films: KnowledgeBase, settings: Settings) -> None:
    settings.GRASP_QUEUE_LENGTH = 3
    broker(site.REDIS_URL).rpush(QUEUE, *["a task that waits"] * 3)
    client = Client()
    answer, page = ask(client), client.post("/", {"kb": "films", "q": "Who?"})
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert "3 searches are waiting already" in answer.json()["detail"]
    assert page.status_code == 503
    assert "3 searches are waiting already" in page.content.decode()
    assert answer["Retry-After"] == page["Retry-After"] == "2"
    assert not SearchRun.objects.exists()


def waiting(seconds: float) -> str:
    """Return a task of the queue as the sender of searches writes it, sent so many seconds ago."""
    return json.dumps({"body": "", "headers": {SENT: time.time() - seconds}})


@pytest.fixture
def queued(services: object) -> Iterator[redis.Redis]:
    """Yield the broker with an empty queue of searches and a live worker."""
    client = broker(site.REDIS_URL)
    client.set(worker_key(QUEUE), json.dumps({"worker": "search@test", "pid": 1}), px=30_000)
    forget()
    yield client
    client.delete(QUEUE, worker_key(QUEUE), workers_key(QUEUE))
    forget()


def test_searches_that_would_wait_too_long_are_refused_with_the_time_to_wait(
    films: KnowledgeBase, settings: Settings, queued: redis.Redis
) -> None:
    settings.GRASP_QUEUE_SECONDS = 2
    # The sender pushes on the left, the worker takes from the right: the oldest is the last.
    queued.rpush(QUEUE, waiting(0.1), waiting(6.5))
    client = Client()
    answer, page = ask(client), client.post("/", {"kb": "films", "q": "Who?"})
    assert (answer.status_code, page.status_code) == (503, 503)
    assert "A search would wait for 7 s; ask again in 7 s." in answer.json()["detail"]
    assert answer["Retry-After"] == page["Retry-After"] == "7"
    assert not SearchRun.objects.exists()


@pytest.mark.parametrize("tasks", [[], [6.5, 0.5], ["a task of another kind"]])
def test_searches_are_accepted_while_the_oldest_has_not_waited_long(
    films: KnowledgeBase, settings: Settings, queued: redis.Redis, tasks: list[float | str]
) -> None:
    """Only the oldest task counts, and one that does not say since when it waits counts for nothing."""
    settings.GRASP_QUEUE_SECONDS = 2
    for task in tasks:
        queued.rpush(QUEUE, task if isinstance(task, str) else waiting(task))
    assert ask(Client()).status_code in (201, 202)


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        # Two workers, 0.2 s a search: one in 0.1 s. The third has done nothing yet, and counts as well.
        ([0.2, 0.2, 0.0], 20 * 0.2 / 3),
        ([1.0, 0.5], 20 / 3),
        ([0.0], 0.1),
    ],
)
def test_the_wait_is_what_the_workers_need_for_all_who_are_before_one(
    settings: Settings, queued: redis.Redis, reports: list[float], expected: float
) -> None:
    queued.rpush(QUEUE, *[waiting(0.1)] * 20)
    now = int(time.time() * 1000)
    for number, seconds in enumerate(reports):
        report = {"worker": f"search{number}@test", "pid": number, "seconds": seconds}
        queued.zadd(workers_key(QUEUE), {json.dumps(report): now + 60_000})
    forget()
    assert expected_wait(QUEUE) == pytest.approx(expected, abs=0.09)


def test_nobody_is_refused_for_the_wait_while_no_worker_lives(
    films: KnowledgeBase, settings: Settings, queued: redis.Redis
) -> None:
    settings.GRASP_QUEUE_SECONDS = 2
    queued.rpush(QUEUE, waiting(6.5))
    queued.delete(worker_key(QUEUE))
    forget()
    assert ask(Client()).status_code in (201, 202)


@pytest.mark.django_db(transaction=True)
def test_a_search_says_in_the_queue_when_it_was_sent(films: KnowledgeBase, queued: redis.Redis) -> None:
    before = time.time()
    assert ask(Client()).status_code in (201, 202)
    [task] = queued.lrange(QUEUE, 0, -1)
    assert before <= json.loads(task)["headers"][SENT] <= time.time()


def test_places_are_never_given_twice_however_many_come_at_once(services: object) -> None:
    queue = f"test-{uuid.uuid4().hex}"
    broker(site.REDIS_URL).rpush(queue, "one")
    with ThreadPoolExecutor(16) as together:
        places = [place for place in together.map(lambda _: gate.reserve(queue, 10), range(100)) if place]
    assert len(places) == 9
    gate.release(queue, places[0])
    assert gate.reserve(queue, 10) is not None
    assert gate.reserve(queue, 10) is None
    broker(site.REDIS_URL).delete(queue)


def test_checks_of_plans_are_counted_with_the_searches(films: KnowledgeBase, few: Settings) -> None:
    client, place = Client(), "/api/v1/knowledge-bases/films/plans/check/"
    answers = [client.post(place, {}, content_type="application/json") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert ask(client).status_code == 429
