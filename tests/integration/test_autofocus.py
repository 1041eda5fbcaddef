"""AF-Retriever and FocusedRetriever in real searches: Postgres, vectors, a server over HTTP, the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import Endpoint, LanguageModelCall
from search.models.sealed import Secret
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests import misbehaving
from tests.misbehaving import KEY, Body, Reply
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db

QUESTION = "Which films did Ada Holm direct in this millennium?"
CYPHER = "MATCH (y:film)-[:DIRECTED_BY]->(p:person {name: 'Ada Holm'}) WHERE y.year > 2000 RETURN y.title"


@pytest.fixture
def films(tmp_path: Path, settings: Settings) -> Iterator[None]:
    """The films, indexed with vectors that mean nothing."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=bundles.write(tmp_path, bundles.NODES, bundles.EDGES))
    yield
    wiring.forget()
    wiring.encoder.cache_clear()


def search(pipeline: str, **options: Any) -> dict[str, Any]:
    settings = {key.replace("__", "."): value for key, value in options.items()}
    run = request_search(
        knowledge_base="films", question=QUESTION, pipeline=pipeline, settings=settings, enqueue=False
    )  # fmt: skip
    return describe_search(run_search(run.pk))


def answers(body: Body) -> Reply:
    rules = body["messages"][0]["content"]
    said = {"type": "film"} if '{"type"' in rules else {"cypher": CYPHER} if '{"cypher"' in rules else {"better": 2}
    return Reply.says(json.dumps(said))


@pytest.mark.parametrize("pipeline", ["af_retriever", "focused"])
def test_a_search_with_a_model_shows_the_grounded_triplets_as_paths(pipeline: str, films: None) -> None:
    with misbehaving.running() as server:
        server.respond = answers
        row = Endpoint(name="kestrel", base_url=server.url, model="tiny-1")
        row.api_key = Secret(KEY)
        row.save()
        shown = search(pipeline, triplets__edges="strict")
    assert (shown["status"], shown["degraded"]) == ("done", [])
    [first, *rest] = shown["results"]
    assert first["node"]["id"] == "f1"
    assert first["scores"]["grounded"]["rank"] == first["scores"]["judged"]["rank"] == 1
    walk = [part["node"]["name"] if "node" in part else part["relation"] for part in first["evidence"]["paths"][0]]
    assert walk == ["Ada Holm", "DIRECTED_BY", first["node"]["name"]]
    # Amber Road is of 1999, so only the text found it.
    assert {result["node"]["id"]: result["evidence"] for result in rest}["f2"] is None
    assert {call.purpose for call in LanguageModelCall.objects.all()} >= {"cypher", "compare"}
    page = Client().get(f"/search/{shown['id']}/results/1/why/").content.decode()
    assert "Grounded triplets" in page
    assert "directed by" in page


@pytest.mark.parametrize("pipeline", ["af_retriever", "focused"])
@pytest.mark.parametrize("judge", ["none", "pointwise", "listwise", "pairwise"])
def test_a_search_without_a_model_answers_and_says_what_it_did_instead(
    pipeline: str, judge: str, films: None
) -> None:  # fmt: skip
    shown = search(pipeline, judge=judge)
    assert (shown["status"], shown["error"]) == ("done", None)
    assert {result["node"]["id"] for result in shown["results"]} >= {"f1", "f2"}
    reasons = " ".join(one["reason"] for one in shown["degraded"])
    assert "the best plan that can be listed without a model is read as triplets" in reasons
    for path in ("", "trace/"):
        assert Client().get(f"/search/{shown['id']}/{path}").status_code == 200
