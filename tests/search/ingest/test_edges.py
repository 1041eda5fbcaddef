"""Edges as columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search.domain.graph import Field, Relation, RelationType
from search.ingest.edges import EdgeCollector, count_relation_types

ENDS = st.integers(0, 5), st.sampled_from("RSTU"), st.integers(0, 5)
PLAIN = st.tuples(*ENDS, st.none())
EDGE = st.tuples(*ENDS, st.none() | st.just({"since": 1}))
HUGE = 2**31 - 1
"""Largest key: edges of several relations between so many nodes do not fit into one number of 63 bits."""


@given(
    listed=st.lists(EDGE, max_size=40) | st.lists(PLAIN, max_size=40),
    first_key=st.sampled_from([0, HUGE - 6]),
    turned=st.booleans(),
)
def test_edges_come_out_sorted_and_once_whatever_came_in(
    listed: list[tuple[int, str, int, dict[str, int] | None]], first_key: int, turned: bool
) -> None:
    collector = EdgeCollector((Relation("T", "tells"), Relation("unused")))
    for source, relation, target, properties in listed:
        collector.add(source, relation, target, properties)
    key_of = first_key + np.arange(6, dtype=np.int32)[:: -1 if turned else 1]
    found, relations = collector.finish(key_of, first_key + 6)
    names = [relation.name for relation in relations]
    first: dict[tuple[int, int, int], bytes] = {}
    for source, relation, target, properties in listed:
        edge = (int(key_of[source]), names.index(relation), int(key_of[target]))
        first.setdefault(edge, b'{"since":1}' if properties else b"")
    columns = zip(found.source.tolist(), found.relation.tolist(), found.target.tolist(), strict=True)
    assert list(columns) == sorted(first)
    assert [found.property_of(at) for at in range(len(found))] == [first[edge] for edge in sorted(first)]
    assert found.doubles == len(listed) - len(first)
    # Declared relations come first, and only relations with edges stay.
    order = dict.fromkeys(["T", *(relation for _, relation, _, _ in listed)])
    used = {relation for _, relation, _, _ in listed}
    assert names == [name for name in order if name in used]


def test_relation_types_are_counted_by_both_ends() -> None:
    collector = EdgeCollector(())
    for source, relation, target in [(0, "R", 2), (1, "R", 2), (2, "R", 0), (0, "S", 1), (0, "R", 2)]:
        collector.add(source, relation, target, None)
    found, _ = collector.finish(np.arange(3, dtype=np.int32), 3)
    types = np.array([0, 0, 1], np.int16)
    assert count_relation_types(found, types, ("film", "person"), ("R", "S")) == (
        RelationType("film", "R", "person", 2),
        RelationType("film", "S", "film", 1),
        RelationType("person", "R", "film", 1),
    )


def test_the_fields_of_edges_are_counted_by_relation_and_their_values_fitted() -> None:
    collector = EdgeCollector((Relation("SOLD_AT", "is sold at"), Relation("unused")))
    for source, relation, target, properties in [
        (0, "SOLD_AT", 2, {"price": "18.5", "since": "20150301", "note": "new"}),
        (1, "SOLD_AT", 2, {"price": 24, "since": "2016-02-01", "note": 7}),
        (1, "WORKS_AT", 2, {"price": "none"}),
        (0, "WORKS_AT", 1, None),
        # An edge that is there already is left out, with what it says.
        (0, "WORKS_AT", 1, {"left out": 1}),
    ]:
        collector.add(source, relation, target, properties)
    found, relations = collector.finish(np.arange(3, dtype=np.int32), 3)
    assert relations == (
        Relation(
            "SOLD_AT",
            "is sold at",
            fields=(
                Field("note", "keyword", False, 2),
                Field("price", "number", False, 2),
                Field("since", "date", False, 2),
            ),
        ),
        Relation("WORKS_AT", fields=(Field("price", "keyword", False, 1),)),
    )
    assert [found.property_of(at) for at in range(len(found))] == [
        b'{"price":18.5,"since":"2015-03-01","note":"new"}', b"",
        b'{"price":24,"since":"2016-02-01","note":"7"}', b'{"price":"none"}',
    ]  # fmt: skip
