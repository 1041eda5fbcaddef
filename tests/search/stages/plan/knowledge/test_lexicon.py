"""Words of questions and the elements of a schema that they say."""

import numpy as np
import pytest

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.lexicon import Lexicon
from tests.fakes import HashEncoder

SCHEMA = Schema(
    (NodeType("drug", 9), NodeType("disease", 9), NodeType("film", 9), NodeType("star", 9)),
    (Relation("TREATS"), Relation("ACTED_IN")),
    (RelationType("drug", "TREATS", "disease", 9), RelationType("star", "ACTED_IN", "film", 9)),
)
ELEMENTS = ["TREATS", "ACTED_IN", "drug", "disease", "film", "star"]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Knowledge.of(SCHEMA, HashEncoder()).lexicon


@pytest.mark.parametrize(
    ("word", "element"), [("pills", "drug"), ("ailments", "disease"), ("movies", "film"), ("cures", "TREATS")]
)
def test_an_everyday_word_says_the_element_that_it_stands_for(lexicon: Lexicon, word: str, element: str) -> None:
    row = lexicon.of([word])[0]
    assert ELEMENTS[int(np.argmax(row))] == element
    assert row.max() == pytest.approx(0.9)


def test_a_word_of_the_schema_needs_no_synonym(lexicon: Lexicon) -> None:
    """`star` stands for `actor`, and so on, in other schemas; here it is a type, and no way to say anything else."""
    assert lexicon.of(["star"])[0].tolist() == [0, 0, 0, 0, 0, 1]


def test_the_language_of_the_base_decides() -> None:
    korean = Knowledge.of(
        Schema(SCHEMA.node_types, SCHEMA.relations, SCHEMA.relation_types, "ko"), HashEncoder()
    ).lexicon
    assert korean.of(["pills"])[0].max() < 0.9
