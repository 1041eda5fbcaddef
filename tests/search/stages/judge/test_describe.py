"""Descriptions of candidates: relations, single neighbours, and the two steps of shortening."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.graph import Node
from search.stages.judge.describe import Describer, Shortening
from tests.graphs import Nodes
from tests.oracle import Graph
from tests.search.stages.ground.test_fixpoint import adjacency_of

# Product 0 and 1 have one brand each (n-1); 0 has two colours (n-m). Brand 2 stands in country 5.
SHOP = Graph(
    (
        Node(0, "0", "product", "Mug", fields={"text": "Keeps tea hot."}),
        Node(1, "1", "product", "Axe"),
        Node(2, "2", "brand", "Ostervik"),
        Node(3, "3", "colour", "red"),
        Node(4, "4", "colour", "blue"),
        Node(5, "5", "country", "Norway"),
    ),
    ((0, "HAS_BRAND", 2), (1, "HAS_BRAND", 2), (0, "HAS_COLOUR", 3), (0, "HAS_COLOUR", 4), (2, "IN", 5)),
)


@pytest.mark.parametrize(
    ("shortening", "lines"),
    [
        (
            0,
            [
                "product: Mug", "text: Keeps tea hot.", "has brand: Ostervik",
                "has brand → in: Norway", "has brand → has brand (of): Axe", "has colour: red; blue",
            ],
        ),
        (1, ["product: Mug", "text: Keeps tea hot.", "has colour: blue"]),
        (2, ["product: Mug", "text: Keeps tea hot."]),
    ],
)  # fmt: skip
def test_relations_are_shortened_to_grounded_entities_and_then_left_out(
    tmp_path: Path, shortening: Shortening, lines: list[str]
) -> None:
    adjacency = adjacency_of(tmp_path, SHOP, ())
    describer = Describer(Nodes(SHOP, adjacency.schema), adjacency, frozenset({4}))
    [text] = describer.describe([SHOP.nodes[0]], shortening)
    assert text.split("\n") == lines


def test_a_neighbour_is_followed_only_where_no_node_of_the_type_has_two(tmp_path: Path) -> None:
    more = Graph(SHOP.nodes, (*SHOP.edges, (1, "HAS_BRAND", 3)))
    adjacency = adjacency_of(tmp_path, more, ())
    [text] = Describer(Nodes(more, adjacency.schema), adjacency, frozenset()).describe([SHOP.nodes[0]], 0)
    assert "→" not in text


def test_long_lists_say_how_many_are_missing_and_relations_may_be_off(tmp_path: Path) -> None:
    adjacency = adjacency_of(tmp_path, SHOP, ())
    nodes = Nodes(SHOP, adjacency.schema)
    [text] = Describer(nodes, adjacency, frozenset(), names=1).describe([SHOP.nodes[0]], 0)
    assert "has colour: red; and 1 more" in text
    assert Describer(nodes, adjacency, frozenset(), relations=False).describe([SHOP.nodes[0]], 0) == [
        "product: Mug\ntext: Keeps tea hot."
    ]
