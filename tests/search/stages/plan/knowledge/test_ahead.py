"""Which walks are worth encoding before anybody asks."""

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.stages.plan.knowledge.ahead import likely_walks, likely_wordings
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape
from search.stages.plan.knowledge.wording import Wording

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
        Metapath(FILM, (TO_PERSON, OF_PERSON)),
        Metapath(PERSON, (OF_PERSON, TO_PERSON, OF_PERSON)), Metapath(YEAR, (OF_YEAR, TO_PERSON, OF_PERSON)),
        Metapath(FILM, (TO_YEAR, OF_YEAR)),
        Metapath(PERSON, (OF_PERSON, TO_YEAR, OF_YEAR)), Metapath(YEAR, (OF_YEAR, TO_YEAR, OF_YEAR)),
    ]  # fmt: skip
    assert list(likely_walks(SHAPE, {FILM})) == films
    assert list(likely_walks(SHAPE, set())) == []


def test_walks_to_other_types_are_left_out() -> None:
    """To years lead a quarter of the edges of films, after a way to persons and back three sixteenths of it."""
    assert list(likely_walks(SHAPE, {YEAR})) == [
        Metapath(FILM, (TO_YEAR,)), Metapath(PERSON, (OF_PERSON, TO_YEAR)), Metapath(YEAR, (OF_YEAR, TO_YEAR)),
        Metapath(FILM, (TO_PERSON, OF_PERSON, TO_YEAR)), Metapath(FILM, (TO_YEAR, OF_YEAR, TO_YEAR)),
    ]  # fmt: skip


def test_a_wording_that_two_walks_share_is_told_once() -> None:
    """Both relations are described alike, so each of the two ways over them has one wording."""
    alike = Schema(
        (NodeType("film", 2), NodeType("person", 2)),
        (Relation("BY", description="made by"), Relation("OF", description="made by")),
        (RelationType("film", "BY", "person", 1), RelationType("film", "OF", "person", 1)),
    )
    assert likely_wordings(Shape(alike), Wording(alike), 3) == [
        "which person: film made by person", "which film: film made by person",
        "which film: film made by person, film made by person",
    ]  # fmt: skip
