"""Words of questions and the elements of a schema that they say."""

from dataclasses import replace

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
    assert lexicon.says(word)


def test_a_word_of_the_schema_needs_no_synonym(lexicon: Lexicon) -> None:
    """`star` stands for `actor`, and so on, in other schemas; here it is a type, and no way to say anything else."""
    assert lexicon.of(["star"])[0].tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("word", ["zumpty", "walrus", ""])
def test_other_words_say_nothing(lexicon: Lexicon, word: str) -> None:
    assert not lexicon.says(word)


def test_the_language_of_the_base_decides() -> None:
    korean = Knowledge.of(
        Schema(SCHEMA.node_types, SCHEMA.relations, SCHEMA.relation_types, "ko"), HashEncoder()
    ).lexicon
    assert not korean.says("pills")


@pytest.mark.parametrize(
    ("word", "element", "explains"),
    [
        ("drugs", "drug", True),  # its own letters
        ("pills", "drug", True),  # a synonym
        ("cures", "TREATS", True),
        ("pills", "disease", False),
        ("walrus", "drug", False),
    ],
)
def test_an_element_explains_what_says_it(lexicon: Lexicon, word: str, element: str, explains: bool) -> None:
    assert lexicon.explains([ELEMENTS.index(element)], word) is explains


def test_a_word_that_is_only_like_a_type_is_left_over() -> None:
    """`throat` is like a disease, and is none; a relation that a verb is much like is what it means."""
    alike = Knowledge.of(replace(SCHEMA), HashEncoder()).lexicon
    alike._known["throat"] = np.array([0.9, 0.6, 0.99, 0.99, 0.0, 0.0])
    assert not alike.explains([ELEMENTS.index("disease")], "throat")
    assert alike.explains([ELEMENTS.index("TREATS")], "throat")
    assert not alike.explains([ELEMENTS.index("ACTED_IN")], "throat")


def test_a_noun_of_its_phrases_names_a_type(lexicon: Lexicon) -> None:
    assert lexicon.names_types(["drugs", "walrus"]).tolist() == [True, False, False, False]
    assert lexicon.names_types(["pills"]).tolist() == [False] * 4
    assert lexicon.says_types(["pills", "movies"]).tolist() == [True, False, True, False]
