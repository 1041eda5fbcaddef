"""What words say beside single relations and types."""

import numpy as np
import pytest

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.language.question import AnalysedQuestion, RemainingWords
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.scoring.align import Table
from search.stages.plan.scoring.said import counted_once, said_to_be_shared
from tests.fakes import HashEncoder

SCHEMA = Schema(
    (NodeType("pathway", 9), NodeType("cell type", 9), NodeType("author", 9)),
    (Relation("ANNOTATED", "annotated with cell type"), Relation("WRITTEN_BY", "written by")),
    (RelationType("pathway", "ANNOTATED", "cell type", 9), RelationType("pathway", "WRITTEN_BY", "author", 9)),
)
KNOWN = Knowledge.of(SCHEMA, HashEncoder(dimensions=4096))
ANNOTATED, WRITTEN, RELATIONS = 0, 1, 2
BACK = (Metapath(0, (SchemaStep(WRITTEN, "out", 2), SchemaStep(WRITTEN, "in", 0))),)
FORTH = (Metapath(0, (SchemaStep(WRITTEN, "out", 2),)),)


def read(text: str) -> RemainingWords:
    return AnalysedQuestion(text, (), frozenset({"cell", "typ"})).without(())


def returns(text: str) -> list[float]:
    reading = read(text)
    affinities = KNOWN.lexicon.of([word.text for word in reading.content])
    table = Table.of([BACK, FORTH], KNOWN.shape, reading.sharing)
    return table.returns(affinities, RELATIONS, said_to_be_shared(reading, affinities)).tolist()


def test_a_phrase_of_several_words_says_its_relation_once() -> None:
    reading = read("pathways annotated with cell type X")
    affinities = KNOWN.lexicon.of([word.text for word in reading.content])
    said = [word.text for word in reading.content]
    counted = counted_once(reading, affinities, KNOWN.lexicon)
    assert affinities[said.index("annotated"), ANNOTATED] == affinities[said.index("cell"), ANNOTATED] == 1
    assert counted[said.index("annotated"), ANNOTATED] == 1
    assert counted[said.index("cell"), ANNOTATED] == counted[said.index("type"), ANNOTATED] == 0
    # What they say of types stays.
    assert np.array_equal(counted[:, RELATIONS:], affinities[:, RELATIONS:])


def test_words_apart_say_a_relation_as_often_as_they_stand_there() -> None:
    reading = read("pathways annotated by the annotators of X")
    affinities = KNOWN.lexicon.of([word.text for word in reading.content])
    assert counted_once(reading, affinities, KNOWN.lexicon) is affinities


@pytest.mark.parametrize(
    ("text", "back", "forth"),
    [
        ("pathways written by the writer of X", 0, 0),  # a word for each hop
        ("pathways written by X", -1, 0),  # the way back has no word
        ("pathways with the same writer as X", 1, -0.3),
        ("pathways that were written together with X", 1, -0.3),  # nothing stands behind it, so the word before it
        ("pathways with the same annotations as X", -0.3, -0.3),  # something else is the same
        ("pathways with the same zumpty as X", 1, -0.3),  # nobody knows what is the same
    ],
)
def test_a_way_there_and_back_is_said_by_two_words_or_by_what_is_shared(text: str, back: float, forth: float) -> None:
    assert returns(text) == pytest.approx([back, forth], abs=0.05)
