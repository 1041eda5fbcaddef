"""What is asked is checked, recorded and frozen; what is wrong is said, all of it at once."""

from __future__ import annotations

from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import AnonymousUser, User
from kombu.exceptions import OperationalError as BrokerError

from grasp_site import settings as site_settings
from search.domain.errors import Fault, ServiceUnavailable
from search.models import KnowledgeBase, KnowledgeBaseSettings, PipelineVersion, RefusedRequests, SearchRun
from search.services.searches.check_request import SearchRejected
from search.services.searches.request_search import request_search

pytestmark = pytest.mark.django_db


def ask(**asked: Any) -> SearchRun:
    return request_search(**{"knowledge_base": "films", "question": "Who made Amber Road?", "enqueue": False} | asked)


def pointers(**asked: Any) -> list[str]:
    """Return where the faults of a request are, and check that it was counted and left no run behind."""
    before = SearchRun.objects.count(), counted()
    with pytest.raises(SearchRejected) as rejected:
        ask(**asked)
    assert (SearchRun.objects.count(), counted() - 1) == before
    return [fault.pointer for fault in rejected.value.faults]


def counted() -> int:
    return sum(RefusedRequests.objects.values_list("number", flat=True))


def test_asking_does_not_read_the_snapshot_whose_schema_is_large(
    films: KnowledgeBase, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(5) as seen:
        ask()
    assert not [query["sql"] for query in seen.captured_queries if "search_snapshot" in query["sql"]]


def test_a_search_is_recorded_with_all_that_it_will_use(films: KnowledgeBase) -> None:
    films.active_settings = KnowledgeBaseSettings.objects.create(knowledge_base=films, version=3)
    films.save()
    run = SearchRun.objects.get(pk=ask(k=7, settings={"fuse.k": 9}).pk)
    assert (run.status, run.k, run.pipeline, run.release_name) == ("queued", 7, "path", "films-1")
    assert (run.settings_version, run.pipeline_number, run.user) == (3, 0, None)
    assert run.specification["stages"]["fuse"]["OPTIONS"] == {"k": 9.0, "weights": [2.0, 1.0], "method": "static"}
    assert run.code_version.startswith("0.")
    assert len(run.specification_hash) == 32


def test_options_of_the_active_version_lie_over_the_site_and_under_the_askers(films: KnowledgeBase) -> None:
    options = {"fuse.k": 50, "retrieve.depth": 3}
    PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=4, options=options, active=True)
    run = ask(settings={"fuse.k": 60})
    assert run.pipeline_number == 4
    assert run.specification["stages"]["fuse"]["OPTIONS"]["k"] == 60
    assert run.specification["stages"]["retrieve"]["OPTIONS"]["depth"] == 3


@pytest.mark.parametrize(
    "question",
    [
        "¿Quién hizo el camino de ámbar?", "谁拍了这部电影？", "🎬🍿", "👩‍🚀", "x\ud800y",
        "'; DROP TABLE search_node; --",
        "MATCH (n) DETACH DELETE n", '<script>alert("x")</script>', "a\nb\tc", "\"'`´",
        "%s %(name)s {0} \\x00", "x" * 2000,
    ],
)  # fmt: skip
def test_a_question_in_any_words_is_taken(films: KnowledgeBase, question: str) -> None:
    run = SearchRun.objects.get(pk=ask(question=question).pk)
    assert run.question == question.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    "question", ["", "   ", "\n\t", "\u200b\u00a0", "x" * 10_000, "nul\x00", "\x00", None, 5, ["who?"], {"q": 1}, True]
)
def test_a_question_that_says_nothing_is_a_fault(films: KnowledgeBase, question: object) -> None:
    assert pointers(question=question) == ["/question"]


@pytest.mark.parametrize("k", [0, -1, 101, 1_000_000, 10**30, 2.5, "20", "x", None, True, [], float("nan")])
def test_k_is_a_whole_number_from_1_to_100(films: KnowledgeBase, k: object) -> None:
    assert pointers(k=k) == ["/k"]


@pytest.mark.parametrize("name", ["nothing", "Films", "fi\x00lms", 3, [], {}, "x" * 5000, "\ud800"])
def test_a_knowledge_base_that_is_not_there_is_a_fault_that_names_those_which_are(
    films: KnowledgeBase, name: object
) -> None:
    with pytest.raises(SearchRejected, match="There are: films") as rejected:
        ask(knowledge_base=name)
    assert [fault.pointer for fault in rejected.value.faults] == ["/knowledge_base"]


@pytest.mark.parametrize("name", ["", None])
def test_the_only_knowledge_base_is_asked_where_none_is_named(films: KnowledgeBase, name: object) -> None:
    run = ask(knowledge_base=name)
    assert (run.knowledge_base_name, run.other_bases) == ("films", [])


def test_a_knowledge_base_whose_name_was_misspelt_is_offered(films: KnowledgeBase) -> None:
    with pytest.raises(SearchRejected) as rejected:
        ask(knowledge_base="filsm")
    assert rejected.value.faults[0].nearest == "films"


def test_a_knowledge_base_without_an_active_release_cannot_answer(films: KnowledgeBase) -> None:
    films.active_release = None
    films.save()
    with pytest.raises(SearchRejected, match="no active release"):
        ask()


def test_a_knowledge_base_for_staff_is_not_there_for_others(films: KnowledgeBase) -> None:
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()
    staff = User.objects.create_user("staff", is_staff=True)
    assert pointers(user=AnonymousUser()) == ["/knowledge_base"]
    assert pointers(user=User.objects.create_user("somebody")) == ["/knowledge_base"]
    assert ask(user=staff).user == staff
    assert ask(user=None).user is None


@pytest.mark.parametrize("pipeline", ["nothing", "gr\x00asp", 5, ["path"], "\ud800", "x" * 500])
def test_a_pipeline_that_is_not_there_is_a_fault(films: KnowledgeBase, pipeline: object) -> None:
    assert pointers(pipeline=pipeline) == ["/pipeline"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fuse.z": 1}, ["/settings/fuse.z"]),
        ({"a/b~c": 1}, ["/settings/a~1b~0c"]),
        ({"fuse.k": "5"}, ["/settings/fuse.k"]),
        ({"fuse.k": 0}, ["/settings/fuse.k"]),
        ({"fuse.k": float("inf")}, ["/settings/fuse.k"]),
        ({"fuse.k": float("nan")}, ["/settings/fuse.k"]),
        ({"retrieve.depth": 10**400}, ["/settings/retrieve.depth"]),
        ({"retrieve.depth": 2.5}, ["/settings/retrieve.depth"]),
        ({"retrieve.exact": 1}, ["/settings/retrieve.exact"]),
        ({"fuse.weights": [1]}, ["/settings/fuse.weights"]),
        ({"fuse.weights": [1, "x"]}, ["/settings/fuse.weights"]),
        ({"fuse.method": "best"}, ["/settings/fuse.method"]),
        ({"nul\x00": 1}, ["/settings"]),
        ({"fuse.k": 0, "fuse.z": 1}, ["/settings/fuse.k", "/settings/fuse.z"]),
        ([], ["/settings"]), ([1], ["/settings"]), ("x", ["/settings"]), (5, ["/settings"]),
    ],
)  # fmt: skip
def test_settings_are_held_against_the_pipelines_options(
    films: KnowledgeBase, options: object, expected: list[str]
) -> None:
    assert pointers(settings=options) == expected


def test_a_whole_number_written_with_a_point_is_one(films: KnowledgeBase) -> None:
    depth = ask(settings={"retrieve.depth": 5.0}).specification["stages"]["retrieve"]["OPTIONS"]["depth"]
    assert (depth, type(depth)) == (5, int)


def deep(levels: int) -> object:
    return [deep(levels - 1)] if levels else 1


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ([], ["/plan"]), ("x", ["/plan"]), (5, ["/plan"]), (True, ["/plan"]),
        ({}, ["/plan/target"]),
        ({"target": {"var": "T", "labels": ["flim"]}}, ["/plan/target/labels/0"]),
        ({"target": {"var": "T", "relevance_text": "\x00"}}, ["/plan/target/relevance_text"]),
        ({"target": {"var": "T", "relevance_text": "\ud800"}}, ["/plan/target/relevance_text"]),
        ({"target": {"var": "T"}, "filters": [{"var": "T", "field": "year", "op": "=", "value": float("inf")}]},
         ["/plan/filters/0/value"]),
        ({"target": {"var": "T"}, "x\x00": 1}, ["/plan"]),
        ({"target": {"var": "T"}, "anchors": 5, "hops": [1], "nonsense": 1},
         ["/plan/nonsense", "/plan/anchors", "/plan/hops/0"]),
    ],
)  # fmt: skip
def test_every_fault_of_a_plan_is_named_with_its_place(films: KnowledgeBase, plan: object, expected: list[str]) -> None:
    assert pointers(plan=plan) == expected


def test_a_plan_nested_without_end_is_refused(films: KnowledgeBase) -> None:
    assert pointers(plan={"target": {"var": "T"}, "x": deep(500)})[0].startswith("/plan/x/0/0")


def test_everything_that_is_wrong_is_said_at_once(films: KnowledgeBase) -> None:
    found = pointers(question="", k=0, pipeline="nothing", plan=[], settings=None)
    assert found == ["/question", "/k", "/pipeline", "/plan"]


def test_what_is_refused_is_counted_by_day_door_and_the_first_part_that_is_wrong(films: KnowledgeBase) -> None:
    for wrong in ({"question": ""}, {"question": "", "k": 0}, {"settings": {"fuse.z": 1}}):
        pointers(**wrong)
    with pytest.raises(SearchRejected):
        ask(origin=SearchRun.Origin.PAGE, faults=[Fault("/nonsense", "It is nonsense.")])
    rows = set(RefusedRequests.objects.values_list("origin", "kind", "number"))
    assert rows == {("api", "question", 2), ("api", "settings", 1), ("page", "other", 1)}
    assert not SearchRun.objects.exists()


SPENDTHRIFT = {"plan.llm_samples": 10, "plan.llm_seconds": 300, "traverse.rows": 1_000_000, "plan.artifact": "mine"}


def test_a_visitor_is_refused_what_costs_others_with_a_sentence_that_names_the_bound(
    films: KnowledgeBase, settings: Any
) -> None:
    settings.GRASP_PIPELINES = site_settings.GRASP_PIPELINES
    asked = {"pipeline": "grasp", "settings": SPENDTHRIFT}
    for user in (AnonymousUser(), User.objects.create_user("somebody")):
        with pytest.raises(SearchRejected) as rejected:
            ask(user=user, **asked)
        assert {fault.pointer: fault.message for fault in rejected.value.faults} == {
            "/settings/plan.llm_samples": "plan.llm_samples may be 1 at most, not 10; staff may set it up to 10.",
            "/settings/plan.llm_seconds": "plan.llm_seconds may be 8 at most, not 300; staff may set it up to 300.",
            "/settings/traverse.rows":
                "traverse.rows may be 10,000 at most, not 1000000; staff may set it up to 1,000,000.",
            "/settings/plan.artifact":
                "plan.artifact is a setting for staff; leave it out, or sign in with a staff account.",
        }  # fmt: skip
    staff = User.objects.create_user("staff", is_staff=True)
    assert ask(user=staff, **asked).options == ask(user=None, **asked).options == SPENDTHRIFT


def test_what_an_administrator_has_set_holds_for_visitors_too(films: KnowledgeBase, settings: Any) -> None:
    settings.GRASP_PIPELINES = site_settings.GRASP_PIPELINES
    PipelineVersion.objects.create(
        knowledge_base=films, pipeline="grasp", version=1, options={"plan.llm_samples": 5}, active=True
    )
    run = ask(user=AnonymousUser(), pipeline="grasp", settings={"fuse.k": 9})
    assert run.specification["stages"]["plan"]["OPTIONS"]["llm_samples"] == 5


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_does_not_answer_a_question_is_not_given_a_task(films: KnowledgeBase, settings: Any) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    with pytest.raises(ServiceUnavailable, match="Valkey"):
        ask(enqueue=True)
    assert not SearchRun.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_is_named_and_the_run_says_so(films: KnowledgeBase) -> None:
    away = "redis+socket:///nowhere/valkey.sock"
    kept = current_app.conf.broker_write_url, current_app.conf.broker_url
    current_app.conf.broker_write_url = current_app.conf.broker_url = away
    current_app.amqp._producer_pool = None
    current_app._pool = None
    try:
        with pytest.raises(ServiceUnavailable, match="Valkey") as raised:
            ask(enqueue=True)
    finally:
        current_app.conf.broker_write_url, current_app.conf.broker_url = kept
        current_app.amqp._producer_pool = None
        current_app._pool = None
    assert isinstance(raised.value.__cause__, BrokerError | OSError)
    run = SearchRun.objects.get()
    assert run.status == SearchRun.Status.FAILED
    assert run.error is not None
    assert "Valkey" in run.error["title"]
