"""A plan of the asker's that finds nothing, from the request to the page: found after dropping a part, and it is said.

Linking, execution in Postgres, recovery, rescoring and explanation are the real ones; cosines stand in a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.models import KnowledgeBase, SearchRun
from search.services.searches.describe_search import describe_search
from search.services.searches.follow_search import follow_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small
from tests.search.stages.doubles import Cosines

pytestmark = pytest.mark.django_db
QUESTION = "Which film of Ada Holm and Odd 1 is it?"
ADA, ODD = Anchor("a", "Ada Holm", "person", ids=("person/1",)), Anchor("b", "Odd 1", "person", ids=("a/b",))
PLAN = Plan(
    (ADA, ODD),
    (Hop("T", "directed by", "a", "person", "out"), Hop("T", "directed by", "b", "person", "out")),
    Target("T", ("film",)),
    risk_level="aggressive",
)
LEFT = "directed by Odd 1"
COSINES = {"document+relations": {LEFT: {0: 0.1, 1: 0.6, 2: 0.9}, QUESTION: {0: 0.5, 1: 0.5}}}
SAID = [
    "By itself, “Odd 1” (person) finds nothing.",
    "Found after dropping “Odd 1” (person), which counts as text now.",
]


def cosines(name: str = "", **_: Any) -> Cosines:
    """Return encoder and vectors, as `GRASP_TOOLS` builds a tool."""
    made = Cosines(COSINES, {node.key: node.type for node in small.GRAPH.nodes})
    made.name = name
    return made


@pytest.fixture
def recovering(films: KnowledgeBase, settings: Settings) -> Iterator[KnowledgeBase]:
    """The films, searched by the site's own stages but for planning, text retrieval and fusion."""
    known = settings.GRASP_PIPELINES["path"]["STAGES"]
    stages = {name: {"BACKEND": f"search.stages.{name}.{name.capitalize()}"} for name in
              ("link", "traverse", "recover", "rescore", "check", "explain")}  # fmt: skip
    settings.GRASP_PIPELINES = {"path": {**small.PIPELINES["path"], "STAGES": known | stages}}
    double = {"BACKEND": f"{__name__}.cosines"}
    settings.GRASP_TOOLS = {
        **small.TOOLS, "encoder": double, "vectors": double, "no_vectors": double,
        "graph": small.POSTGRES,
        **{name: {"BACKEND": "tests.search.small.no_tool"} for name in ("mentions", "text", "columns")},
    }  # fmt: skip
    wiring.forget()
    wiring.encoder.cache_clear()
    yield films
    wiring.encoder.cache_clear()


def searched(plan: Plan = PLAN, **more: Any) -> SearchRun:
    return run_search(
        request_search(
            **{"knowledge_base": "films", "question": QUESTION, "enqueue": False, "plan": plan.to_json()} | more
        ).pk
    )


def test_the_plan_that_found_the_results_is_shown_with_what_was_dropped(recovering: KnowledgeBase) -> None:
    run = searched()
    shown = describe_search(run)
    assert [step["detail"] for step in shown["steps"] if step["name"] == "recover"] == SAID
    assert shown["degraded"] == []
    [entry] = shown["plans"]
    assert entry["given"] == PLAN.to_json()
    assert (entry["dropped"], entry["source"], entry["found"]) == ([LEFT], "user", 2)
    assert shown["plan"] == entry["plan"]
    assert [anchor["text"] for anchor in shown["plan"]["anchors"]] == ["Ada Holm"]
    assert (shown["plan"]["target"]["relevance_text"], shown["plan"]["risk_level"]) == (LEFT, "normal")
    assert [linked["anchor"] for linked in shown["linked"]] == ["a"]
    assert shown["graph"]["candidates"] == 2
    assert len(shown["graph"]["queries"]) == 1
    # By hand: 0.5 × (1 + 0.6) for film/2, 0.5 × (1 + 0.1) for film/1, and the text puts film/1 first.
    scores = {result["node"]["id"]: result["scores"]["graph"] for result in shown["results"]}
    assert (scores["film/2"]["rank"], scores["film/2"]["score"]) == (1, pytest.approx(0.8))
    assert (scores["film/1"]["rank"], scores["film/1"]["score"]) == (2, pytest.approx(0.55))


def test_evidence_is_that_of_the_changed_plan(recovering: KnowledgeBase) -> None:
    results = {result["node"]["id"]: result["evidence"] for result in describe_search(searched())["results"]}
    assert results["film/1"]["anchors"] == [{"var": "a", "status": "met"}]
    assert results["film/1"]["hops"] == [{"index": 0, "status": "met"}]
    [[start, _, end]] = results["film/1"]["paths"]
    assert (start["node"]["name"], end["node"]["name"]) == ("Ada Holm", "Amber Road")
    assert results["film/3"]["anchors"] == [{"var": "a", "status": "not_met"}]
    assert results["film/2"]["residual"]["text"] == LEFT


def test_readers_of_events_are_told_what_was_found_in_the_end(recovering: KnowledgeBase) -> None:
    events, ended = follow_search(searched().pk)
    paths = [event.data for event in events if event.name == "paths"]
    assert ended
    assert [data["step"]["name"] for data in paths] == ["traverse", "recover", "recover"]
    assert not [event for event in events if event.name == "problem"]


def test_a_filter_that_leaves_nothing_is_dropped(recovering: KnowledgeBase) -> None:
    late = Plan((ADA,), PLAN.hops[:1], PLAN.target, (Filter("T", "year", ">", 2010),))
    shown = describe_search(searched(late))
    assert shown["steps"][3]["detail"] == "Found after dropping “year after 2010”, which counts as text now."
    assert shown["plan"]["filters"] == []
    assert shown["plans"][0]["found"] == 2


def test_switched_off_by_a_setting_the_text_answers_alone(recovering: KnowledgeBase) -> None:
    shown = describe_search(searched(settings={"recover.on": False}))
    assert [(step["status"], step["detail"]) for step in shown["steps"] if step["name"] == "recover"] == [
        ("skipped", "No exact match, and recovery is switched off; similar texts follow.")
    ]
    assert (shown["plan"], shown["plans"][0]["found"]) == (PLAN.to_json(), 0)
    assert all("graph" not in result["scores"] or result["scores"]["graph"]["rank"] is None
               for result in shown["results"])  # fmt: skip


def test_where_nothing_helps_the_search_is_degraded_and_holds_results_against_the_plan_as_it_was(
    recovering: KnowledgeBase,
) -> None:
    shown = describe_search(searched(Plan((ODD,), PLAN.hops[1:], PLAN.target)))
    reason = "No exact match; similar texts follow."
    assert shown["degraded"] == [{"stage": "recover", "reason": reason}]
    assert [result["node"]["id"] for result in shown["results"]] == ["film/1", "film/2", "film/3"]
    assert shown["results"][0]["evidence"]["anchors"] == [{"var": "b", "status": "not_met"}]
    assert "given" not in shown["plans"][0]


def test_the_page_says_how_it_was_found_and_keeps_the_plan_as_it_was(
    client: Client, recovering: KnowledgeBase, services: object
) -> None:
    html = client.get(f"/search/{searched().pk}/").content.decode()
    said = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert f"How this was found. {SAID[1]} 1 step before that {SAID[0]}" in said
    before = "Ada Holm — is “directed by” of → and Odd 1 — is “directed by” of → film"
    assert f"It found nothing as it was: {before}." in said
    assert f"Directed by “Ada Holm”, but not: {LEFT}." in said
    assert "Answered with less than usual" not in said


def test_the_page_of_a_plan_that_nothing_helped_says_what_was_tried(
    client: Client, recovering: KnowledgeBase, services: object
) -> None:
    html = client.get(f"/search/{searched(Plan((ODD,), PLAN.hops[1:], PLAN.target)).pk}/").content.decode()
    said = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert "What was tried. No exact match; similar texts follow." in said
    assert "It found nothing as it was" not in said


def test_the_command_says_it_too(recovering: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(PLAN.to_json()))
    call_command("ask", "films", QUESTION, "--plan", str(file))
    said = capsys.readouterr().out
    assert "\n".join(SAID) in said
    assert "without recover" not in said
    assert f'T film about "{LEFT}"' in said
