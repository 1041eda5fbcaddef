"""Which types a base describes, and what *something* means."""

from typing import Any, cast

import numpy as np
import pytest

from search.domain.graph import Field, NodeType, Schema
from search.interfaces import NodeStore
from search.stages.plan.knowledge.described import described, described_type

SIX, TWO = "a tent for two in storms", "blue tent"
VALUES = {
    ("tent", "about"): [SIX, SIX, TWO, "https://example.org/a/b c d e f g h"],
    ("tent", "colour"): [SIX],
    ("person", "about"): [TWO],
    ("person", "lost"): [],
}


class Told:
    """Nodes of which only the values of fields are known."""

    def values(self, label: str, field: str, n: int) -> list[Any]:
        return VALUES[label, field]


def schema(*types: NodeType) -> Schema:
    return Schema(types, (), ())


def test_words_of_prose_are_counted_over_all_nodes_that_have_the_field() -> None:
    tent = NodeType("tent", 40, (Field("about", coverage=30), Field("colour", "keyword", coverage=40)))
    person = NodeType("person", 9, (Field("about", coverage=9), Field("lost"), Field("lost", coverage=2)))
    found = described(cast(NodeStore, Told()), schema(tent, person, NodeType("empty")))
    # Of three texts that are no links two are prose, of six words each: four a node, and 30 nodes have the field.
    assert found.tolist() == [120.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([10, 51, 40], 1),
        ([0, 50, 50], None),  # half is not most
        ([0, 10, 90], None),  # nodes of type 2 are no answers
        ([0, 0, 0], None),
        ([], None),
    ],
)
def test_the_type_that_most_words_are_about_and_that_may_be_answers(words: list[float], code: int | None) -> None:
    assert described_type(np.array(words, dtype=np.float64), {0, 1}) == code
