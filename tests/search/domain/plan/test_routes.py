"""Shortest walks between variables, worked out by hand."""

from __future__ import annotations

from search.domain.plan.routes import Leg, routes

#   A --0--> B --1--> T <--2-- C,   A --3--> T
HOPS = [("A", "B"), ("B", "T"), ("C", "T"), ("A", "T")]


def test_the_shortest_walk_is_taken_whichever_way_the_hops_are_written() -> None:
    found = routes(HOPS, "A")
    assert found["T"] == (Leg(3, "A", "T", False),)
    assert found["C"] == (Leg(3, "A", "T", False), Leg(2, "T", "C", True))
    assert found["A"] == ()


def test_what_no_hop_reaches_is_absent() -> None:
    assert set(routes(HOPS, "Z")) == {"Z"}


def test_of_equally_short_walks_the_first_by_hops_is_taken() -> None:
    square = [("A", "X"), ("A", "Y"), ("Y", "T"), ("X", "T")]
    assert [leg.hop for leg in routes(square, "A")["T"]] == [0, 3]
