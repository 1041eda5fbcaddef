"""Runs of before stay readable, and the plan that is shown first is the most probable one that found something."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from search.models import KnowledgeBase, SearchRun, SearchStep
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(films: KnowledgeBase) -> SearchRun:
    asked = request_search(knowledge_base="films", question="Who made Amber Road?", enqueue=False)
    return run_search(asked.pk)


def rewritten(run: SearchRun, role: str, change: Any) -> None:
    """Change what the step of a role has recorded."""
    step = SearchStep.objects.get(run=run, role=role)
    step.output = change(step.output)
    step.save()


def test_steps_of_before_get_the_role_of_their_name(run: SearchRun) -> None:
    before = describe_search(run)
    # There was no step of the role `check` then.
    SearchStep.objects.exclude(role="check").update(role="other", version=1)
    assert describe_search(run)["results"] == []
    import_module("search.migrations.0009_roles_of_steps").give_roles(apps, connection.schema_editor())
    assert describe_search(SearchRun.objects.get(pk=run.pk)) == before


def test_what_version_1_did_not_record_yet_is_no_error(run: SearchRun) -> None:
    def without(*names: str) -> Any:
        return lambda output: {name: value for name, value in output.items() if name not in names}

    before = describe_search(run)
    SearchStep.objects.update(version=1)
    rewritten(run, "graph list", without("plans", "shares", "probability"))
    rewritten(run, "fusion", without("leads"))
    rewritten(run, "explain", lambda results: [
        result | {"evidence": result["evidence"] and without("filters")(result["evidence"])} for result in results
    ])  # fmt: skip
    after = describe_search(run)
    assert after["fusion"] == before["fusion"]
    assert after["results"] == before["results"]


def test_the_newest_role_of_a_step_is_its_rows(run: SearchRun) -> None:
    found = list(run.steps.values_list("name", "role", "version"))
    assert found == [
        ("plan", "plan", 2), ("link", "link", 2), ("traverse", "graph", 2), ("rescore", "graph list", 2),
        ("retrieve", "text list", 2), ("fuse", "fusion", 2), ("check", "check", 2),
        ("rerank", "rerank", 2), ("explain", "explain", 2),
    ]  # fmt: skip


@pytest.fixture
def mixed(run: SearchRun) -> SearchRun:
    """A search with two plans: the second found film/1, which is first, the first found film/2; the text film/3."""
    rewritten(run, "plan", lambda plans: [plans[0] | {"probability": 0.6}, plans[0] | {"probability": 0.4}])
    rewritten(run, "graph", lambda found: [found[0], found[0] | {"plan_index": 1, "query": "SELECT 2"}])
    rewritten(run, "graph list", lambda listed: listed | {"plans": [1, 0]})
    rewritten(run, "explain", lambda results: [results[0] | {"evidence": results[0]["evidence"] | {"plan_index": 1}},
                                               *results[1:]])  # fmt: skip
    return run


def empty(run: SearchRun, index: int) -> None:
    """Let the plan with this index have found nothing."""
    nothing = {"keys": [], "scores": [], "total": 0}
    rewritten(run, "graph", lambda found: [
        one | ({name: value for name, value in nothing.items() if name in one} if one["plan_index"] == index else {})
        for one in found
    ])  # fmt: skip


def test_the_plan_is_the_most_probable_one_that_found_something_and_others_are_named(mixed: SearchRun) -> None:
    rewritten(mixed, "explain", lambda results: [
        result | {"evidence": result["evidence"] and result["evidence"] | {"whole": "met"}} for result in results
    ])  # fmt: skip
    shown = describe_search(mixed)
    assert [entry["probability"] for entry in shown["plans"]] == [0.6, 0.4]
    assert (shown["plan_index"], shown["plan"]) == (0, shown["plans"][0]["plan"])
    assert shown["other_plans"] == [{"plan_index": 1, "ranks": [1]}]
    # The result of the other reading is no answer of this plan, the one of this plan is.
    assert [result["answers"] for result in shown["results"]][:2] == [False, True]


def test_a_plan_that_found_nothing_is_not_shown_where_a_less_probable_one_found_something(mixed: SearchRun) -> None:
    empty(mixed, 0)
    shown = describe_search(mixed)
    assert (shown["plan_index"], shown["plan"]) == (1, shown["plans"][1]["plan"])


def test_a_result_that_only_the_text_found_is_no_other_readings(mixed: SearchRun) -> None:
    evidence = {"plan_index": 0, "anchors": [], "hops": [], "filters": [], "paths": [],
                "residual": {"text": "", "status": "unknown", "score": None, "threshold": None}}  # fmt: skip
    rewritten(mixed, "explain", lambda results: [*results[:2], results[2] | {"evidence": evidence | {"plan_index": 1}}])
    assert describe_search(mixed)["other_plans"] == [{"plan_index": 1, "ranks": [1]}]


def test_without_results_the_most_probable_plan_is_shown(mixed: SearchRun) -> None:
    rewritten(mixed, "explain", lambda results: [])
    shown = describe_search(mixed)
    assert (shown["plan_index"], shown["other_plans"]) == (0, [])


def test_the_page_shows_that_plan_first_and_says_where_others_mixed_in(
    client: Client, mixed: SearchRun, services: object
) -> None:
    html = client.get(f"/search/{mixed.pk}/").content.decode()
    assert "This is plan" not in html
    assert "Result 1 comes from plan 2: Ada Holm — is “directed by” of → film." in html
    assert html.index("SELECT 1") < html.index("SELECT 2")
    empty(mixed, 0)
    html = client.get(f"/search/{mixed.pk}/").content.decode()
    assert "This is plan 2 of 2: nothing meets the more probable ones." in html
    assert f"/search/{mixed.pk}/plan/?plan=2" in html
    assert '<li value="1">' in client.get(f"/search/{mixed.pk}/plans/").content.decode()
    # Plan 2's query stands before those of the other plans.
    assert html.index("SELECT 2") < html.index("SELECT 1")


def test_a_search_with_one_reading_says_nothing_of_others(client: Client, run: SearchRun, services: object) -> None:
    html = client.get(f"/search/{run.pk}/").content.decode()
    assert "another meaning" not in html
    assert "This is plan" not in html
    assert small.PLAN.to_json() == describe_search(run)["plan"]
