"""What a schema allows, with rare and odd ends folded into the main ones."""

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.stages.plan.knowledge.shape import GraphShape

FILM, YEAR, PERSON = range(3)
RELEASED, MADE = range(2)
SHAPE = GraphShape(
    Schema(
        (NodeType("film", 1000), NodeType("year", 50), NodeType("person", 300)),
        (Relation("RELEASED"), Relation("MADE")),
        (
            RelationType("film", "RELEASED", "year", 900),
            RelationType("film", "RELEASED", "film", 90),
            RelationType("person", "MADE", "film", 600),
            RelationType("person", "MADE", "year", 60),
        ),
    )
)


def test_a_film_at_the_end_of_a_release_plays_the_year() -> None:
    assert SHAPE.role(RELEASED, "in", FILM) == YEAR
    assert SHAPE.role(RELEASED, "out", FILM) == FILM
    assert SHAPE.roles(RELEASED, "in").tolist() == [YEAR, YEAR, PERSON]


def test_a_rare_type_that_is_at_home_there_stays_itself() -> None:
    """60 edges for 50 years: years are mostly reached this way, so they are no homonyms of films."""
    assert SHAPE.role(MADE, "in", YEAR) == YEAR
    assert SHAPE.far_ends(PERSON, MADE, "out") == {FILM, YEAR}


def test_hops_end_at_roles() -> None:
    assert SHAPE.far_ends(FILM, RELEASED, "out") == {YEAR}
    assert SHAPE.far_ends(YEAR, RELEASED, "in") == {FILM}
    assert SHAPE.far_ends(PERSON, RELEASED, "out") == frozenset()
