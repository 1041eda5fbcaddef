"""Which walks are worth encoding before anybody asks."""

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.stages.plan.knowledge.ahead import likely_walks
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape

FILM, PERSON, YEAR = range(3)
BY, OF = range(2)
SHAPE = Shape(
    Schema(
        (NodeType("film", 10), NodeType("person", 5), NodeType("year", 5)),
        (Relation("BY"), Relation("OF"), Relation("UNUSED")),
        (RelationType("film", "BY", "person", 30), RelationType("film", "OF", "year", 10)),
    )
)
TO_PERSON, TO_YEAR = SchemaStep(BY, "out", PERSON), SchemaStep(OF, "out", YEAR)
OF_PERSON, OF_YEAR = SchemaStep(BY, "in", FILM), SchemaStep(OF, "in", FILM)


def test_walks_to_answers_come_in_the_order_of_their_share_of_the_edges() -> None:
    """All edges of persons and of years lead to films, three of four edges of films to persons."""
    films = [
        Metapath(PERSON, (OF_PERSON,)), Metapath(YEAR, (OF_YEAR,)),
        Metapath(FILM, (TO_PERSON, OF_PERSON)), Metapath(FILM, (TO_YEAR, OF_YEAR)),
    ]  # fmt: skip
    assert likely_walks(SHAPE, {FILM}, 10) == films
    assert likely_walks(SHAPE, {FILM}, 3) == films[:3]
    assert likely_walks(SHAPE, {FILM}, 0) == []


def test_walks_to_other_types_are_left_out() -> None:
    """To years lead a quarter of the edges of films, from films and from the persons and years that reach films."""
    assert likely_walks(SHAPE, {YEAR}, 10) == [
        Metapath(FILM, (TO_YEAR,)), Metapath(PERSON, (OF_PERSON, TO_YEAR)), Metapath(YEAR, (OF_YEAR, TO_YEAR)),
    ]  # fmt: skip
