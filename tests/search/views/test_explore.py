"""Exploring a graph that was really imported: what is shown, how far it grows, and what a wrong address says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.evidence import Evidence, PathEdge, PathNode, Result
from search.domain.evidence import Path as Walk
from search.domain.graph import Node
from search.domain.payloads import Results
from search.models import KnowledgeBase, Release, SearchRun, SearchStep
from search.services.knowledge import explore as service
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db(transaction=True)

FILMS = 40
PAGE = "/kb/films/explore/"
FILE = "/kb/films/explore.json"
MORE = "in:DIRECTED_BY:ada"


@pytest.fixture
def release(tmp_path: Path, settings: Settings, services: object) -> Iterator[Release]:
    """Ada directed 40 films. Bob played in the first (whose name is a formula) and the last; Cleo did nothing."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    nodes: list[dict[str, Any]] = [
        {"id": person, "type": "person", "name": person.title(), "fields": {}} for person in ("ada", "bob", "cleo")
    ]
    names = ["=1+1", *(f"Film {at:02}" for at in range(1, FILMS))]
    nodes += [{"id": f"f/{at}", "type": "film", "name": name, "fields": {}} for at, name in enumerate(names)]
    edges = [{"source": f"f/{at}", "relation": "DIRECTED_BY", "target": "ada"} for at in range(FILMS)]
    edges += [{"source": f"f/{at}", "relation": "STARS", "target": "bob"} for at in (0, FILMS - 1)]
    import_snapshot(source=bundles.write(tmp_path / "bundle", nodes, edges))
    active = KnowledgeBase.objects.select_related("active_release__snapshot").get(name="films").active_release
    assert active is not None
    yield active
    wiring.forget()


@pytest.fixture
def run(release: Release) -> SearchRun:
    """A search whose first result is Bob: he played in a film that Ada directed. Its second has no path."""
    ada, film, bob = Node(0, "ada", "person", "Ada"), Node(3, "f/0", "film", "=1+1"), Node(1, "bob", "person", "Bob")
    path = Walk(
        (PathNode(ada, "a"), PathNode(film), PathNode(bob, "T")),
        (PathEdge("DIRECTED_BY", "in"), PathEdge("STARS", "out")),
    )
    results = Results(
        (
            Result(1, 1.0, bob, "", {}, Evidence(0, paths=(path,))),
            Result(2, 0.5, Node(4, "f/1", "film", "Film 01"), "", {}),
        )
    )
    run = SearchRun.objects.create(
        question="Who played for Ada?", knowledge_base=release.knowledge_base, knowledge_base_name="films",
        release=release, release_name=release.name, pipeline="grasp", status=SearchRun.Status.DONE,
    )  # fmt: skip
    SearchStep.objects.create(run=run, position=0, name="explain", role="explain", output=results.to_json())
    return run


def shown(client: Client, **query: Any) -> dict[str, Any]:
    """Return what is explored; the node is Ada unless the query says otherwise."""
    answer = client.get(FILE, query if "search" in query else {"id": "ada", **query})
    assert answer.status_code == 200
    return dict(answer.json())


def ids(found: dict[str, Any]) -> list[str]:
    return [node["id"] for node in found["nodes"]]


def offered(found: dict[str, Any], node_id: str) -> dict[str, tuple[int, int]]:
    """Return {step: (neighbours, shown ones)} of a node."""
    [node] = [node for node in found["nodes"] if node["id"] == node_id]
    return {offer["open"]: (offer["count"], offer["shown"]) for offer in node["relations"]}


def test_an_entity_begins_with_its_first_neighbours_by_name_and_counts_all(release: Release, client: Client) -> None:
    found = shown(client)

    assert ids(found) == ["ada", "f/0", "f/1", "f/2", "f/3", "f/4"]
    assert offered(found, "ada") == {MORE: (FILMS, 5)}
    assert offered(found, "f/0") == {"out:DIRECTED_BY:f/0": (1, 1), "out:STARS:f/0": (1, 0)}
    page = client.get(PAGE, {"id": "ada"}).content.decode()
    assert page.count('<tr id="node-') == 6
    assert f"5 of {FILMS}" in page
    assert "Undo" not in page


def test_steps_show_the_next_neighbours_and_every_edge_between_what_is_shown(release: Release, client: Client) -> None:
    twice = shown(client, open=[MORE, MORE])
    assert ids(twice)[-20:] == [f"f/{at}" for at in range(5, 25)]
    assert offered(twice, "ada") == {MORE: (FILMS, 25)}

    # Bob is opened from one film and Film 39 from Bob, and so is the edge of Film 39 to Ada, which nobody opened.
    found = shown(client, open=["out:STARS:f/0", "in:STARS:bob"])
    assert ids(found)[-2:] == ["bob", "f/39"]
    edges = {(edge["source"], edge["relation"], edge["target"]) for edge in found["edges"]}
    assert {("f/39", "STARS", "bob"), ("f/39", "DIRECTED_BY", "ada")} <= edges
    assert len(edges) == 5 + 2 + 1


def test_undo_is_the_address_without_the_last_step(release: Release, client: Client) -> None:
    page = client.get(PAGE, {"id": "ada", "open": ["out:STARS:f/0", "in:STARS:bob"]}).content.decode()

    [undo] = re.findall(r'href="(\?[^"]*)" data-undo', page)
    before = client.get(PAGE + undo.replace("&amp;", "&")).content.decode()
    assert before.count('<tr id="node-') == page.count('<tr id="node-') - 1


def test_a_result_begins_with_its_paths_and_without_one_with_its_neighbours(run: SearchRun, client: Client) -> None:
    first = shown(client, search=str(run.pk), rank=1)
    assert ids(first) == ["bob", "f/0", "ada"]
    assert {(edge["source"], edge["target"]) for edge in first["edges"]} == {("f/0", "ada"), ("f/0", "bob")}
    drawn = json.loads(
        re.findall(
            r'<script id="explore-data" type="application/json">(.*?)</script>',
            client.get(PAGE, {"search": str(run.pk), "rank": 1}).content.decode(),
        )[0]
    )
    assert [(node["name"], node["column"], node["first"]) for node in drawn["nodes"]] == [
        ("Bob", 0, True), ("=1+1", 1, False), ("Ada", 2, False),
    ]  # fmt: skip
    assert [edge["first"] for edge in drawn["edges"]] == [True, True]

    assert ids(shown(client, search=str(run.pk), rank=2)) == ["f/1", "ada"]


def test_a_hub_is_never_read_whole(release: Release, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    part = MemmapAdjacency.part

    def counted(self: MemmapAdjacency, key: int, relation: int, direction: Any, first: int, most: int) -> Any:
        asked.append(most)
        return part(self, key, relation, direction, first, most)

    monkeypatch.setattr(MemmapAdjacency, "part", counted)
    monkeypatch.setattr(service, "MOST_SORTED", 20)
    found = shown(client, open=[MORE])

    assert len(found["nodes"]) == 1 + 5 + 10
    assert asked == [1 + 5, 6 + 10]


def test_what_does_not_fit_any_more_is_said(release: Release, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_NODES", 8)
    monkeypatch.setattr(service, "FULL", "Eight are shown.")
    page = client.get(PAGE, {"id": "ada", "open": MORE}).content.decode()

    assert page.count('<tr id="node-') == 8
    assert '<p class="notice" role="note">Eight are shown.</p>' in page

    monkeypatch.setattr(service, "MOST_STEPS", 1)
    assert shown(client, open=[MORE, MORE])["notes"][-1] == "Only the first 1 steps of this address were followed."


@pytest.mark.parametrize(
    "step",
    [
        "", "nonsense", "in:DIRECTED_BY", "up:DIRECTED_BY:ada", "in:NOTHING:ada", "out:DIRECTED_BY:ada",
        # A node that exists and is not shown, one that does not exist, and a character that Postgres refuses.
        "in:STARS:bob", "in:DIRECTED_BY:nobody", "in:DIRECTED_BY:a\x00da", "in:" + "%" * 3000,
    ],
)  # fmt: skip
def test_a_step_that_does_not_fit_is_left_out_with_a_sentence(release: Release, client: Client, step: str) -> None:
    found = shown(client, open=[step, "out:STARS:f/0"])

    assert ids(found)[-1] == "bob"
    assert found["notes"] == [service.NOT_FOLLOWED]
    assert service.NOT_FOLLOWED in client.get(PAGE, {"id": "ada", "open": step}).content.decode()


def test_the_table_to_download_has_an_edge_a_row_and_no_formula(release: Release, client: Client) -> None:
    rows = b"".join(client.get("/kb/films/explore.csv", {"id": "f/0"}).streaming_content)  # type: ignore[attr-defined]

    assert rows.decode("utf-8-sig").splitlines() == [
        "id,type,name,relation,to id,to type,to name",
        "f/0,film,'=1+1,DIRECTED_BY,ada,person,Ada",
        "f/0,film,'=1+1,STARS,bob,person,Bob",
    ]
    alone = b"".join(client.get("/kb/films/explore.csv", {"id": "cleo"}).streaming_content)  # type: ignore[attr-defined]
    assert alone.decode("utf-8-sig").splitlines()[1:] == ["cleo,person,Cleo,,,,"]


def test_what_is_not_there_is_not_found(run: SearchRun, client: Client) -> None:
    other = KnowledgeBase.objects.create(name="other")
    for query in (
        {"id": "nobody"}, {"id": "a\x00da"}, {}, {"search": str(run.pk), "rank": "3"},
        {"search": str(run.pk), "rank": "x"}, {"search": "x"}, {"search": str(uuid4())},
    ):  # fmt: skip
        assert client.get(PAGE, query).status_code == 404, query
        assert client.get(FILE, query).status_code == 404, query
    assert client.get(f"/kb/{other.name}/explore/", {"search": str(run.pk), "rank": 1}).status_code == 404
    assert client.get("/kb/films/explore.exe", {"id": "ada"}).status_code == 404
    SearchRun.objects.update(release=None)
    gone = client.get(PAGE, {"search": str(run.pk), "rank": 1})
    assert gone.status_code == 404
    assert "has been deleted" in gone.content.decode()


def test_nobody_explores_a_base_that_they_may_not_see(run: SearchRun, client: Client) -> None:
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.STAFF)
    for query in ({"id": "ada"}, {"search": str(run.pk), "rank": "1"}):
        for address in (PAGE, FILE, "/kb/films/explore.csv"):
            assert client.get(address, query).status_code == 404, (address, query)
    client.force_login(User.objects.create_superuser("keeper"))
    assert client.get(PAGE, {"id": "ada"}).status_code == 200


def test_without_the_index_files_a_sentence_says_so(release: Release, client: Client) -> None:
    (release.snapshot.directory / "adjacency" / "types.npy").unlink()

    page = client.get(PAGE, {"id": "ada"})
    assert "are not on this machine" in page.content.decode()
    assert client.get(FILE, {"id": "ada"}).status_code == 404


def test_results_and_entities_lead_here(run: SearchRun, client: Client) -> None:
    assert f"{PAGE}?id=ada" in client.get("/kb/films/nodes/ada/").content.decode()
    assert f"{PAGE}?search={run.pk}&amp;rank=1" in client.get(f"/search/{run.pk}/").content.decode()
