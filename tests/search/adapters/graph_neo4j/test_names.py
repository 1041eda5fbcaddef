from hypothesis import example, given
from hypothesis import strategies as st

from search.adapters.graph_neo4j.names import Names, folded, number, ordered
from search.domain.graph import Field, Node, NodeType, Schema

SCHEMA = Schema((NodeType("film", 1, (Field("year"), Field("tags"), Field("name"))),), (), ())


def test_a_node_is_written_with_its_texts_as_they_are_and_folded_and_its_numbers_apart() -> None:
    node = Node(7, "f7", "film", "Émile", fields={"year": 1999, "tags": ["Noir", "ART"]})
    assert Names(12, SCHEMA).properties(node) == {
        "key": 7, "id": "f7", "f0s": ["Émile"], "f0t": ["émile"], "f2n": [1999],
        "f1s": ["Noir", "ART"], "f1t": ["noir", "art"],
    }  # fmt: skip


def test_the_name_is_field_0_even_where_a_field_is_called_name() -> None:
    node = Node(0, "f", "film", "Heat", fields={"name": "something else"})
    assert Names(1, SCHEMA).properties(node)["f0s"] == ["Heat"]


def test_a_list_of_whole_and_broken_numbers_is_stored_as_broken_ones() -> None:
    node = Node(0, "f", "film", "", fields={"year": [1, 2.5]})
    stored = Names(1, SCHEMA).properties(node)["f2n"]
    assert [(type(item), item) for item in stored] == [(float, 1.0), (float, 2.5)]


def test_a_number_of_more_than_64_bits_becomes_a_broken_one() -> None:
    assert (number(2**63), number(2**63 - 1), number(-(2**63))) == (2.0**63, 2**63 - 1, -(2**63))
    assert isinstance(number(2**63), float)


def test_texts_are_folded_letter_by_letter_as_postgres_does() -> None:
    assert folded("ΟΔΟΣ İZMİR Straße") == "οδοσ izmir straße"


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
@example("\uff5e", "\U0001f642")
def test_texts_in_the_order_of_16_bit_units_are_in_the_order_of_code_points(one: str, other: str) -> None:
    def units(text: str) -> bytes:
        return ordered(text).encode("utf-16-be")

    assert (units(one) < units(other)) == (one < other)
    assert (units(one) == units(other)) == (one == other)


def test_another_schema_under_the_same_number_has_another_fingerprint() -> None:
    more = Schema((NodeType("film", 2),), (), ())
    prints = {Names(number, schema).fingerprint for number in (1, 2) for schema in (SCHEMA, more)}
    assert len(prints) == 4


def test_nothing_a_bundle_says_stands_in_a_name() -> None:
    hostile = Schema((NodeType("`) DETACH DELETE n //", 1, (Field("a`b"), Field("\\u0060"))),), (), ())
    names = Names(3, hostile)
    assert (names.nodes, names.type(0), names.relation(4), names.field("a`b"), names.field("no such field")) == (
        "S3", "T0", "R4", "f2", None,
    )  # fmt: skip
