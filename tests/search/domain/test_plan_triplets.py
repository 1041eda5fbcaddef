"""A plan read as triplets: anchors are constants, hops keep their stored direction, the rest is said to be left out."""

from __future__ import annotations

from search.domain.plan import Anchor, Exclusion, Filter, Hop, Order, Plan, Target
from search.domain.plan_triplets import triplets_of
from search.domain.triplets import Symbol, Triplet


def test_hops_become_triplets_in_their_stored_direction() -> None:
    plan = Plan(
        (Anchor("a", "Ann", "person", ids=("p1",)), Anchor("g", "noir", "*")),
        (
            Hop("a", "directed_by", "T", "film", "in"),
            Hop("g", "*", "m", "film"),
            Hop("m", "sequel", "T", "film", "out"),
        ),
        Target("T", ("film",)),
    )
    query, left_out = triplets_of(plan)
    assert query.triplets == (
        Triplet("T", "directed_by", "a"), Triplet("g", None, "m", directed=False), Triplet("m", "sequel", "T")
    )  # fmt: skip
    assert query.constants == (Symbol("a", ("person",), "Ann", ("p1",)), Symbol("g", (), "noir"))
    assert query.symbol("T") == Symbol("T", ("film",))
    assert (query.target, left_out) == ("T", [])
    assert query.text() == (
        'MATCH (T:film)-[:directed_by]->(a:person {name: "Ann"}), (g {name: "noir"})--(m:film), (m)-[:sequel]->(T) '
        "RETURN T"
    )


def test_an_interval_becomes_two_filters_and_what_triplets_cannot_say_is_named() -> None:
    plan = Plan(
        (Anchor("a", "Ann"),),
        (Hop("a", "directed", "T"),),
        filters=(Filter("T", "year", "between", [1990, 1999]), Filter("T", "genre", "!=", "noir")),
        exclude=(Exclusion((Anchor("b", "Bo"),), (Hop("b", "acted", "T"),)),),
        order=Order("year"),
    )
    query, left_out = triplets_of(plan)
    assert query.filters == (Filter("T", "year", ">=", 1990), Filter("T", "year", "<=", 1999))
    assert left_out == [
        "Conditions on genre are left out.", "Exclusions are left out.", "The order is left out."
    ]  # fmt: skip
