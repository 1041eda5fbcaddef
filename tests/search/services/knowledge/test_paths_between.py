"""Paths between two nodes and what is like a node, over a graph that was really imported, and their pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, Release
from search.services.knowledge import alike_nodes as module
from search.services.knowledge.alike_nodes import alike_nodes
from search.services.knowledge.describe_node import describe_node
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.paths_between import paths_between
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db(transaction=True)

TOGETHER = 60
PEOPLE = ("ada", "bob", "cleo")


@pytest.fixture
def release(tmp_path: Path, settings: Settings, services: object) -> Iterator[Release]:
    """Ada and Bob directed 60 films together, the first of them (its name is a formula) with Cleo."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    nodes = [{"id": person, "type": "person", "name": person.title(), "fields": {}} for person in PEOPLE]
    names = ["=1+1", *(f"Film {at}" for at in range(1, TOGETHER))]
    nodes += [{"id": f"f{at}", "type": "film", "name": name, "fields": {}} for at, name in enumerate(names)]
    edges = [
        {"source": f"f{at}", "relation": "DIRECTED_BY", "target": person}
        for at in range(TOGETHER)
        for person in (PEOPLE if at == 0 else PEOPLE[:2])
    ]
    import_snapshot(source=bundles.write(tmp_path / "bundle", nodes, edges))
    active = KnowledgeBase.objects.select_related("active_release__snapshot").get(name="films").active_release
    assert active is not None
    yield active
    wiring.forget()


def test_nodes_between_are_a_group_that_opens_and_counts_stay_exact(release: Release) -> None:
    """Film f0 has three edges, the other 59 have two, so those come first: 12 of them alone, 48 in the rest."""
    found = paths_between(release, "ada", "bob")
    assert found is not None
    assert (found.count, found.between.hops) == (TOGETHER, 2)
    assert [(box.type, box.count, box.node) for box in found.layers[1]] == [("film", TOGETHER, None)]
    assert [(link.relation, link.direction, link.count) for step in found.links for link in step] == [
        ("DIRECTED_BY", "in", TOGETHER), ("DIRECTED_BY", "out", TOGETHER),
    ]  # fmt: skip

    opened = paths_between(release, "ada", "bob", opened=[(1, "film")])
    assert opened is not None
    assert [box.count for box in opened.layers[1]] == [1] * 12 + [48]
    assert "f0" not in {box.node.id for box in opened.layers[1] if box.node}
    assert opened.members((1, "film"), 58, 50)[1][-1].id == "f0"

    without = paths_between(release, "ada", "bob", without=["film"])
    assert without is not None
    assert "without the types that are left out" in without.reason
    assert paths_between(release, "ada", "nobody") is None


def test_a_node_counts_from_the_graph_and_what_is_like_it_shares_neighbours(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first scan of a process loads a library, which takes seconds on a busy machine.
    monkeypatch.setattr(module, "SECONDS", 60.0)
    described = describe_node(release, "ada", ("DIRECTED_BY", "in"), 2)
    assert described is not None
    [group] = described["relations"]
    assert (group["count"], group["more"], group["pages"], len(group["items"])) == (TOGETHER, False, 2, 10)

    alike = alike_nodes(release, "ada")
    assert alike is not None
    assert [(one["id"], one["shared"]) for one in alike.by_graph] == [("bob", TOGETHER), ("cleo", 1)]
    assert (alike.no_meaning, {one["id"] for one in alike.by_meaning}) == ("", {"bob", "cleo"})


def test_the_pages_resolve_names_list_the_paths_and_give_both_files(release: Release, client: Client) -> None:
    page = client.get("/kb/films/paths/", {"from": "Ada", "to": "bob"}).content.decode()
    assert "60 shortest paths" in page
    assert "60 of them" in page
    assert "<strong>60</strong> films " in page
    assert page.count('<li class="path">') == 50

    table = client.get("/kb/films/paths.csv", {"from": "ada", "to": "cleo"})
    rows = b"".join(table.streaming_content).decode("utf-8-sig").splitlines()  # type: ignore[attr-defined]
    assert len(rows) == 2
    assert "'=1+1" in rows[1]
    drawing = client.get("/kb/films/paths.svg", {"from": "ada", "to": "cleo"})
    assert drawing["Content-Type"].startswith("image/svg+xml")
    assert "=1+1" in drawing.content.decode()
    assert client.get("/kb/films/paths.svg", {"from": "ada", "to": "ada"}).status_code == 404

    offered = client.get("/kb/films/paths/", {"from": "ada", "to": "Film"}).content.decode()
    assert "Which one is meant?" in offered
    assert "Nothing here is called" in client.get("/kb/films/paths/", {"from": "ada", "to": "zzz\x00"}).content.decode()
    assert client.get("/kb/films/alike/", {"id": "nobody"}).status_code == 404


def test_a_base_that_somebody_may_not_see_has_no_pages_of_its_graph(release: Release, client: Client) -> None:
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.STAFF)
    for address in (
        "paths/?from=ada&to=bob",
        "paths.csv?from=ada&to=bob",
        "paths.svg?from=ada&to=bob",
        "alike/?id=ada",
    ):
        assert client.get(f"/kb/films/{address}").status_code == 404
