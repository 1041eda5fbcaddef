"""All paths of a result, asked of the graph after the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.list_paths import list_paths
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db(transaction=True)

NODES = [
    {"id": "ada", "type": "person", "name": "Ada Holm", "fields": {}},
    {"id": "bob", "type": "person", "name": "Bob Berg", "fields": {}},
    *({"id": f"f{at}", "type": "film", "name": f"Film {at}", "fields": {}} for at in range(60)),
]
COLLEAGUES = {
    "anchors": [{"var": "A1", "text": "Ada Holm", "label": "person", "ids": ["ada"]}],
    "hops": [
        {"from": "A1", "rel": "DIRECTED_BY", "to_var": "x1", "to_label": "film", "direction": "in"},
        {"from": "x1", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "person", "direction": "out"},
    ],
    "target": {"var": "T", "labels": ["person"], "relevance_text": ""},
    "filters": [],
    "risk_level": "normal",
}


@pytest.fixture
def asked(tmp_path: Path, settings: Settings, services: object) -> Iterator[Callable[[int], SearchRun]]:
    """Ask for the colleagues of Ada Holm where she and Bob Berg have made so many films together."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()

    def ask(films: int) -> SearchRun:
        together = [
            {"source": f"f{at}", "relation": "DIRECTED_BY", "target": person}
            for at in range(films)
            for person in ("ada", "bob")
        ]
        import_snapshot(source=bundles.write(tmp_path / "bundle", NODES, together))
        run = request_search(knowledge_base="films", question="Who?", plan=COLLEAGUES, k=5, enqueue=False)
        return run_search(run.pk)

    yield ask
    wiring.forget()


def rank_of(run: SearchRun, node_type: str) -> int:
    [explained] = run.steps.filter(name="explain")
    return next(int(result["rank"]) for result in explained.output if result["node"]["type"] == node_type)


def test_every_way_to_a_result_is_listed(asked: Callable[[int], SearchRun]) -> None:
    run = asked(3)
    found = list_paths(run, rank_of(run, "person"))
    assert found is not None
    assert (found.plan_index, found.more, found.reason) == (0, False, "")
    walks = [[step["node"]["id"] for step in path if "node" in step] for [path] in found.matches]
    assert sorted(walks) == [["ada", "f0", "bob"], ["ada", "f1", "bob"], ["ada", "f2", "bob"]]


def test_more_ways_than_anybody_reads_are_cut_and_counted_on(asked: Callable[[int], SearchRun]) -> None:
    run = asked(51)
    found = list_paths(run, rank_of(run, "person"))
    assert found is not None
    assert (len(found.matches), found.more) == (50, True)


def test_a_result_of_the_text_has_no_paths_and_a_rank_that_is_none_gives_nothing(
    asked: Callable[[int], SearchRun],
) -> None:
    run = asked(1)
    found = list_paths(run, rank_of(run, "film"))
    assert found is not None
    assert (found.matches, found.reason) == ((), "No path of a plan leads to this result; text retrieval found it.")
    assert list_paths(run, 99) is None


def test_a_release_that_is_gone_is_said(asked: Callable[[int], SearchRun]) -> None:
    run = asked(1)
    rank = rank_of(run, "person")
    KnowledgeBase.objects.filter(name="films").update(active_release=None)
    assert run.release is not None
    run.release.delete()
    run.refresh_from_db()
    found = list_paths(run, rank)
    assert found is not None
    assert found.reason == "The release that was searched has been deleted, so its paths cannot be shown."


def test_the_page_draws_each_way_and_is_linked_from_the_result(
    asked: Callable[[int], SearchRun], client: Client
) -> None:
    run = asked(2)
    rank = rank_of(run, "person")
    address = f"/search/{run.pk}/results/{rank}/paths/"
    assert f'href="{address}"' in client.get(f"/search/{run.pk}/results/{rank}/why/").content.decode()
    page = client.get(address)
    html = page.content.decode()
    assert page.status_code == 200
    assert "2 ways to meet plan 1, best first." in html
    assert html.count("<svg viewBox") >= 2
    assert "Film 0" in html
    assert "Film 1" in html
    assert client.get(f"/search/{run.pk}/results/99/paths/").status_code == 404
    assert client.get(f"/search/{uuid4()}/results/1/paths/").status_code == 404
