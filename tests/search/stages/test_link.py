"""Anchors are bound by K and τ, by ids where they carry them, and never to anything else."""

from pathlib import Path

import numpy as np
import pytest

from search.adapters import adjacency_memmap, mentions_memmap, near_names
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.errors import DeadlineExceeded
from search.domain.graph import Node
from search.domain.plan import Anchor, Plan, ScoredPlan, Target
from search.domain.trace import Limit, StepOutput
from search.stages.link import Link
from tests.graphs import Nodes, edge_arrays, schema_of
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines

TYPES = {key: "film" if key < 8 else "person" for key in range(12)}
GRAPH = Graph(tuple(Node(key, f"id{key}", kind, f"name {key}") for key, kind in TYPES.items()), ())
COSINES = {
    "name": {
        "Alien": {0: 0.80, 1: 0.77, 2: 0.7601, 3: 0.7599, 9: 0.90},
        "many": dict.fromkeys(range(12), 0.9),
        "cold": {0: -0.2, 1: -0.3},
    },
    "document+relations": {"a film about a ship": {0: 0.50, 1: 0.46, 2: 0.4501, 3: 0.4499}},
}


def link(*anchors: Anchor, **options: float) -> tuple[StepOutput, Cosines]:
    cosines = Cosines(COSINES, TYPES)
    stage = Link(cosines, cosines, Nodes(GRAPH, schema_of(GRAPH)), **options)
    plan = Plan(anchors)
    return stage([ScoredPlan(plan, "schema", 0.6), ScoredPlan(plan, "llm", 0.4)], Limit()), cosines


def bound(linked: StepOutput, var: str = "a") -> dict[int, float]:
    return {binding.node.key: binding.score for binding in linked[0].bindings_of(var)}


def test_a_name_is_bound_to_nodes_of_its_label_within_a_twentieth_of_the_best() -> None:
    # 0.95 × 0.80 = 0.76: nodes 0, 1 and 2 reach it, 3 does not, and 9 is a person.
    linked, _ = link(Anchor("a", "Alien", "film"))
    assert bound(linked) == {0: 0.80, 1: 0.77, 2: 0.7601}


def test_a_name_of_any_label_is_looked_up_among_all() -> None:
    # 0.95 × 0.90 = 0.855: only the person.
    assert bound(link(Anchor("a", "Alien"))[0]) == {9: 0.90}


def test_a_description_is_looked_up_among_documents_within_a_tenth_of_the_best() -> None:
    # 0.90 × 0.50 = 0.45.
    linked, _ = link(Anchor("a", "a film about a ship", "film", "doc"))
    assert bound(linked) == {0: 0.50, 1: 0.46, 2: 0.4501}


def test_at_most_k_nodes_are_bound() -> None:
    assert list(bound(link(Anchor("a", "many"))[0])) == [0, 1, 2, 3, 4]
    assert list(bound(link(Anchor("a", "many"), name_k=2)[0])) == [0, 1]


def test_tau_is_a_setting() -> None:
    assert list(bound(link(Anchor("a", "Alien", "film"), name_tau=1.0)[0])) == [0]


def test_the_best_node_is_bound_even_where_its_cosine_is_below_zero() -> None:
    assert bound(link(Anchor("a", "cold"))[0]) == {0: -0.2}


def test_an_anchor_with_ids_is_bound_to_them_and_nothing_is_looked_up() -> None:
    linked, cosines = link(Anchor("a", "Alien", ids=("id7", "id3")))
    assert bound(linked) == {7: 1.0, 3: 1.0}
    assert cosines.encoded == []
    assert linked.detail == ""


def test_an_id_of_no_node_is_said_and_the_others_are_bound() -> None:
    linked, _ = link(Anchor("a", "Alien", ids=("id7", "nobody")))
    assert bound(linked) == {7: 1.0}
    assert linked.detail == "1 of the ids given for a does not exist."


def test_an_anchor_without_a_hit_stays_unbound_and_is_named() -> None:
    linked, _ = link(Anchor("a", "Alien", "film"), Anchor("b", "a film about a ship"))
    assert bound(linked, "b") == {}
    assert linked.detail == "Nothing was found for 'a film about a ship'."


def test_texts_shared_by_plans_are_embedded_and_looked_up_once() -> None:
    _, cosines = link(Anchor("a", "Alien", "film"), Anchor("b", "Alien", "film"), Anchor("c", "Alien"))
    assert cosines.encoded == ["Alien"]
    assert cosines.looked_up == ["Alien", "Alien"]


def test_plans_keep_their_order_source_and_probability() -> None:
    linked, _ = link(Anchor("a", "Alien", "film"))
    assert [(plan.index, plan.source, plan.probability) for plan in linked] == [(0, "schema", 0.6), (1, "llm", 0.4)]


def test_plans_without_anchors_need_no_tool() -> None:
    linked, cosines = link()
    assert [plan.bindings for plan in linked] == [(), ()]
    assert cosines.encoded == []


def test_nothing_is_looked_up_once_the_time_has_run_out() -> None:
    cosines = Cosines(COSINES, TYPES)
    with pytest.raises(DeadlineExceeded):
        Link(cosines, cosines, Nodes(GRAPH, schema_of(GRAPH)))(
            [ScoredPlan(Plan((Anchor("a", "Alien"),)), "llm", 1.0)], Limit.seconds(0)
        )


def test_it_tells_how_given_names_were_read_and_who_is_better_known(tmp_path: Path) -> None:
    """Hanna Holm has one film, Hana Holm six: who says *Hanna Holm* may mean Hana."""
    people = (Node(0, "p0", "person", "Hanna Holm"), Node(1, "p1", "person", "Hana Holm"))
    films = tuple(Node(key, f"f{key}", "film", f"Film {key}") for key in range(2, 9))
    edges = ((2, "by", 0), *((key, "by", 1) for key in range(3, 9)))
    graph = Graph(nodes=(*people, *films), edges=edges)
    schema = schema_of(graph)
    for part in ("mentions", "near_names", "adjacency"):
        (tmp_path / part).mkdir()
    mentions_memmap.build(tmp_path / "mentions", [(node.key, node.name, False) for node in graph.nodes])
    near_names.build(tmp_path / "near_names", tmp_path / "mentions")
    relation, source, target = (np.array(column) for column in ([0] * 7, [e[0] for e in edges], [e[2] for e in edges]))
    types = np.array([schema.type_codes[node.type] for node in graph.nodes], dtype=np.int16)
    adjacency_memmap.build(
        tmp_path / "adjacency",
        nodes=9,
        types=types,
        relations=1,
        edges=edge_arrays(
            source=source.astype(np.int32), relation=relation.astype(np.int16), target=target.astype(np.int32)
        ),
    )
    cosines = Cosines({}, {})
    link = Link(
        cosines, cosines, Nodes(graph, schema),
        mentions=MemmapMentions(tmp_path / "mentions", near=tmp_path / "near_names"),
        adjacency=MemmapAdjacency(tmp_path / "adjacency", schema),
    )  # fmt: skip

    def read(text: str, *ids: str) -> object:
        plan = Plan(anchors=(Anchor("A", text, "person", "name", ids),), target=Target("T"))
        (linked,) = link([ScoredPlan(plan, "schema", 1.0)], Limit())
        return linked.to_json()[0].get("reading")

    assert read("Hanna Holm", "p0") == {"how": "name", "others": [people[1].to_json()]}
    assert read("Hana Holm", "p1") is None
    assert read("Hanna Hlom", "p0") == {"how": "spelling", "others": []}
    assert read("H. Holm", "p0", "p1") == {"how": "initials", "others": []}
    assert read("somebody", "p0") is None
