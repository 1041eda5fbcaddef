"""Nodes as JSON, hubs included."""

from dataclasses import replace

import pytest

from search.domain.graph import Field, Node
from search.models import KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge import describe_node as module
from search.services.knowledge.describe_node import describe_node
from tests.graphs import schema_of, store
from tests.oracle import Graph

pytestmark = pytest.mark.django_db

FOLLOWERS = 120


@pytest.fixture
def star() -> Release:
    """A hub that 120 leaves point to, and that points to one of them."""
    leaves = [Node(1 + i, f"leaf/{i:03}", "leaf", f"Leaf {FOLLOWERS - i:03}") for i in range(FOLLOWERS)]
    hub = Node(0, "hub", "hub", "Hub", fields={"size": 3, "motto": "", "extra": [], "note": "round"})
    edges = [(leaf.key, "points to", 0) for leaf in leaves]
    graph = Graph((hub, *leaves), (*edges, (0, "likes", 5)))
    schema = schema_of(graph)
    hubs, others = schema.node_types
    schema = replace(
        schema, node_types=(replace(hubs, fields=(Field("note", "text"), Field("size", "number"))), others)
    )
    base = KnowledgeBase.objects.create(name="star")
    snapshot = Snapshot.objects.create(knowledge_base=base, status=BuildStatus.READY, schema_json=schema.to_json())
    store(graph, schema, snapshot.pk)
    return Release.objects.create(knowledge_base=base, number=1, snapshot=snapshot, status=BuildStatus.READY)


def test_fields_are_in_the_order_of_the_type_and_empty_ones_are_left_out(star: Release) -> None:
    described = describe_node(star, "hub")

    assert described is not None
    assert described["fields"] == [
        {"name": "note", "kind": "text", "value": "round"},
        {"name": "size", "kind": "number", "value": 3},
    ]
    assert (described["release"], described["knowledge_base"]) == ("star-1", "star")


def test_relations_are_grouped_by_direction_with_counts_and_the_first_page_by_name(star: Release) -> None:
    described = describe_node(star, "hub")

    assert described is not None
    groups = {(group["relation"], group["direction"]): group for group in described["relations"]}
    assert {key: group["count"] for key, group in groups.items()} == {("points to", "in"): 120, ("likes", "out"): 1}
    names = [item["name"] for item in groups["points to", "in"]["items"]]
    assert names == [f"Leaf {i:03}" for i in range(1, 51)]
    assert groups["points to", "in"]["pages"] == 3


def test_one_group_is_turned_to_a_page_and_the_others_stay(star: Release) -> None:
    described = describe_node(star, "hub", ("points to", "in"), 3)

    assert described is not None
    pages = {group["relation"]: (group["page"], len(group["items"])) for group in described["relations"]}
    assert pages == {"points to": (3, 20), "likes": (1, 1)}


@pytest.mark.parametrize(("asked", "shown"), [(-3, 1), (0, 1), (4, 3), (10**30, 3)])
def test_a_page_beyond_the_last_is_the_last(star: Release, asked: int, shown: int) -> None:
    described = describe_node(star, "hub", ("points to", "in"), asked)

    assert described is not None
    assert next(g["page"] for g in described["relations"] if g["relation"] == "points to") == shown


def test_a_hub_costs_no_more_than_what_is_counted(star: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COUNTED", 60)
    monkeypatch.setattr(module, "MOST_SORTED", 10)

    described = describe_node(star, "hub", ("points to", "in"), 2)

    assert described is not None
    group = next(g for g in described["relations"] if g["relation"] == "points to")
    assert (group["count"], group["more"], group["pages"]) == (60, True, 2)
    assert [item["id"] for item in group["items"]] == [f"leaf/{i:03}" for i in range(50, 100)]


@pytest.mark.parametrize("node_id", ["nobody", "", "\x00", "HUB"])
def test_an_id_that_no_node_has_is_none(star: Release, node_id: str) -> None:
    assert describe_node(star, node_id) is None


def test_parallel_edges_lead_to_one_neighbour_and_to_no_empty_page() -> None:
    """Sixty edges to thirty nodes fill one page of fifty."""
    leaves = [Node(1 + i, f"leaf/{i}", "leaf", f"Leaf {i}") for i in range(30)]
    graph = Graph((Node(0, "hub", "hub", "Hub"), *leaves), tuple((0, "likes", 1 + i % 30) for i in range(60)))
    base = KnowledgeBase.objects.create(name="parallel")
    snapshot = Snapshot.objects.create(
        knowledge_base=base, status=BuildStatus.READY, schema_json=schema_of(graph).to_json()
    )
    store(graph, schema_of(graph), snapshot.pk)
    release = Release.objects.create(knowledge_base=base, number=1, snapshot=snapshot, status=BuildStatus.READY)
    for sorted_up_to in (module.MOST_SORTED, 10):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MOST_SORTED", sorted_up_to)
            described = describe_node(release, "hub", ("likes", "out"), 2)
            assert described is not None
            [group] = described["relations"]
            assert (group["count"], group["pages"], group["page"]) == (30, 1, 1)
            assert len({item["id"] for item in group["items"]}) == 30
