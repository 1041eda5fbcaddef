"""What a schema allows, with rare and odd ends folded into the main ones."""

import pytest

from search.domain.graph import NodeType, Relation, RelationType, Schema
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape

FILM, YEAR, PERSON = range(3)
RELEASED, MADE = range(2)
SHAPE = Shape(
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
    assert SHAPE.allows(YEAR, RELEASED, "in")
    assert not SHAPE.allows(FILM, RELEASED, "in")


def test_a_rare_type_that_is_at_home_there_stays_itself() -> None:
    """60 edges for 50 years: years are mostly reached this way, so they are no homonyms of films."""
    assert SHAPE.role(MADE, "in", YEAR) == YEAR
    assert SHAPE.far_ends(PERSON, MADE, "out") == {FILM, YEAR}


def test_hops_end_at_roles() -> None:
    assert SHAPE.far_ends(FILM, RELEASED, "out") == {YEAR}
    assert SHAPE.far_ends(YEAR, RELEASED, "in") == {FILM}
    assert SHAPE.far_ends(PERSON, RELEASED, "out") == frozenset()


def test_a_hop_is_mixed_where_homonyms_play_its_only_type() -> None:
    assert SHAPE.mixed(SchemaStep(RELEASED, "out", YEAR))
    assert not SHAPE.mixed(SchemaStep(RELEASED, "in", FILM))
    assert not SHAPE.mixed(SchemaStep(MADE, "out", FILM))


def test_a_relation_has_its_share_of_the_edges_of_a_type() -> None:
    assert SHAPE.share(PERSON, MADE, "out") == 1.0
    assert SHAPE.share(FILM, MADE, "in") == pytest.approx(600 / (900 + 90 + 90 + 600))
    assert Shape(Schema((NodeType("film"),), (), ())).share(FILM, MADE, "in") == 0.0


def test_a_walk_ends_where_its_last_step_does() -> None:
    assert Metapath(FILM).end == FILM
    assert Metapath(FILM).then(SchemaStep(RELEASED, "out", YEAR)).end == YEAR
