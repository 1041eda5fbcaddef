"""A pipeline that shares no name with GRASP is shown, followed, exported and told by every door with its own words."""

from __future__ import annotations

import csv
import io
import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from search import checks
from search.domain.errors import StageError
from search.models import KnowledgeBase, SearchRun
from search.services.searches.describe_search import describe_search
from search.services.searches.follow_search import follow_search
from search.services.searches.list_paths import list_paths
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.views.shown.search import show_search
from tests.search import small, strange

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Who lives here?"
FLOW = [
    ("wander", "graph list", "Wander"), ("peruse", "text list", "Peruse"), ("gossip", "list", "Gossip"),
    ("blend", "fusion", "Blend"), ("polish", "rerank", "Polish"), ("tell", "explain", "Tell"),
]  # fmt: skip


@pytest.fixture
def town(films: KnowledgeBase, settings: Settings, services: object) -> KnowledgeBase:
    """The films, searched by pipelines that have nothing of GRASP."""
    settings.GRASP_PIPELINES = strange.PIPELINES
    settings.GRASP_DEFAULT_PIPELINE = "wandering"
    return films


def asked(**more: object) -> SearchRun:
    return request_search(knowledge_base="films", question=QUESTION, enqueue=False, **more)  # type: ignore[arg-type]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_checks_have_nothing_against_it(town: KnowledgeBase) -> None:
    assert checks.check_pipelines() == []


def test_the_description_has_its_steps_lists_and_titles(town: KnowledgeBase) -> None:
    described = describe_search(run_search(asked().pk))
    assert [(step["name"], step["role"], step["title"]) for step in described["steps"]] == FLOW
    assert described["pipeline"]["title"] == "Wandering about"
    assert described["fusion"]["titles"] == {
        "walks": "Walks from door to door", "shelves": "Shelves and books", "gossip": "Gossip",
    }  # fmt: skip
    # By hand, k is 1: film/1 is second of the walks and first of the shelves, film/2 first and second.
    assert [(r["node"]["id"], r["score"]) for r in described["results"]] == [
        ("film/1", pytest.approx(1 / 3 + 1 / 2)), ("film/2", pytest.approx(1 / 2 + 1 / 3)),
        ("film/3", pytest.approx(1 / 4 + 1 / 2)),
    ]  # fmt: skip
    assert described["results"][0]["scores"].keys() == {"walks", "shelves", "gossip"}
    assert (described["plan"], described["plan_index"], described["plans"]) == (None, None, [])


def test_its_page_says_its_own_words(client: Client, town: KnowledgeBase) -> None:
    run = run_search(asked().pk)
    said = words(client.get(f"/search/{run.pk}/").content.decode())
    for expected in (
        "Walks from door to door", "Shelves and books", "Gossip", "weight of Walks from door to door",
        "Wander", "Peruse", "Blend", "Tell", "by Wandering about",
    ):  # fmt: skip
        assert expected in said
    why = [words(client.get(f"/search/{run.pk}/results/{rank}/why/").content.decode()) for rank in (1, 2)]
    assert any("Ada Holm ← directed by — Amber Road" in one for one in why)
    trace = words(client.get(f"/search/{run.pk}/trace/").content.decode())
    assert all(title in trace for _, _, title in FLOW)


def test_its_events_come_with_the_names_of_its_lists(town: KnowledgeBase) -> None:
    events, ended = follow_search(run_search(asked().pk).pk)
    assert ended
    assert [(event.name, event.data.get("list")) for event in events] == [
        ("candidates", "walks"), ("candidates", "shelves"), ("candidates", "gossip"), ("fused", None),
        ("reranked", None), ("done", None),
    ]  # fmt: skip
    assert [event.data["ids"] for event in events[:3]] == [
        ["film/2", "film/1"], ["film/1", "film/2", "film/3"], ["film/3"],
    ]  # fmt: skip
    assert events[3].data["fusion"]["titles"]["walks"] == "Walks from door to door"


def test_the_api_and_the_table_have_its_lists(client: Client, town: KnowledgeBase) -> None:
    run = run_search(asked().pk)
    told = client.get(f"/api/v1/searches/{run.pk}/").json()
    assert [step["role"] for step in told["steps"]] == [role for _, role, _ in FLOW]
    assert [(part["name"], part["role"]) for part in told["pipeline"]["flow"]] == [
        (name, role) for name, role, _ in FLOW if name != "polish"
    ]
    content = b"".join(client.get(f"/search/{run.pk}/results.csv").streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    header, first, *_ = csv.reader(io.StringIO(content))
    assert {name for name in header if name.endswith(" rank")} == {"walks rank", "shelves rank", "gossip rank"}
    assert dict(zip(header, first, strict=True))["walks rank"] == "2"


def test_the_command_tells_it_too(town: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("ask", "films", QUESTION)
    said = capsys.readouterr().out
    assert "shelves #1 0.5000 + walks #2 0.3333" in said
    assert "wander" in said


def test_the_paths_of_a_result_without_a_plan_are_no_error(town: KnowledgeBase) -> None:
    found = list_paths(run_search(asked().pk), 1)
    assert found is not None
    assert found.reason


def test_what_is_still_to_come_is_read_off_its_own_flow(town: KnowledgeBase) -> None:
    run = asked()
    SearchRun.objects.filter(pk=run.pk).update(status="running")
    run.steps.create(position=0, name="wander", role="graph list", version=2, status="ok", output=None)
    shown = show_search(describe_search(SearchRun.objects.get(pk=run.pk)))
    assert [(step.title, step.status) for step in shown.steps] == [
        ("Wander", "ok"), ("Peruse", "current"), ("Gossip", "waiting"), ("Blend", "waiting"), ("Tell", "waiting"),
    ]  # fmt: skip
    assert shown.current is not None
    assert shown.current.doing == "Perusing the shelves"


def test_a_stage_of_it_that_fails_is_named_by_its_title(client: Client, town: KnowledgeBase) -> None:
    def away(limit: object) -> None:
        raise StageError("wander", "the street is closed")

    small.HOOKS[f"graph: {QUESTION}"] = away
    run = run_search_that_fails()
    said = words(client.get(f"/search/{run.pk}/").content.decode())
    assert "Wander : The street is closed" in said
    assert describe_search(run)["degraded"] == [{"stage": "wander", "reason": "the street is closed"}]


def run_search_that_fails() -> SearchRun:
    run = asked()
    with pytest.raises(StageError):
        run_search(run.pk)
    return SearchRun.objects.get(pk=run.pk)


def test_what_it_answered_stays_readable_when_the_site_has_it_no_more(
    client: Client, town: KnowledgeBase, settings: Settings
) -> None:
    run = run_search(asked().pk)
    settings.GRASP_PIPELINES = small.PIPELINES
    settings.GRASP_DEFAULT_PIPELINE = "path"
    described = describe_search(SearchRun.objects.get(pk=run.pk))
    assert described["fusion"]["titles"]["walks"] == "Walks"
    assert described["steps"][0]["title"] == "Wander"
    assert [result["node"]["id"] for result in described["results"]] == ["film/1", "film/2", "film/3"]
    assert client.get(f"/search/{run.pk}/").status_code == 200


def test_a_variant_is_chosen_by_an_option_and_frozen_with_the_run(town: KnowledgeBase) -> None:
    plain, polished = run_search(asked().pk), run_search(asked(settings={"polish": "reverse", "polish.rate": 1}).pk)
    assert polished.specification["stages"]["polish"] == {
        "VARIANT": "reverse", "BACKEND": "tests.search.strange.Reverse", "OPTIONS": {"rate": 1.0},
    }  # fmt: skip
    assert plain.specification["stages"]["polish"] == {"VARIANT": "none", "BACKEND": None, "OPTIONS": {}}
    assert plain.specification_hash != polished.specification_hash
    described = describe_search(polished)
    assert [result["node"]["id"] for result in described["results"]] == ["film/3", "film/2", "film/1"]
    assert described["fusion"]["titles"] == {"polish": "Polish"}
    assert [step["status"] for step in described["steps"] if step["role"] == "rerank"] == ["ok"]


def test_the_command_chooses_a_variant_too(town: KnowledgeBase) -> None:
    out = StringIO()
    call_command("ask", "films", QUESTION, "--set", "polish=reverse", "--json", stdout=out)
    assert json.loads(out.getvalue())["results"][0]["node"]["id"] == "film/3"
