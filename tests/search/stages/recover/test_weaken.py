"""What is left of a plan without some of its conditions, and what its text says then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.errors import DeadlineExceeded, SearchCancelled
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.plan.checks import misfits
from search.domain.trace import Limit
from search.stages.recover.weaken import DroppableCondition, conditions, smallest_first, without
from tests.search.demo_schema import demo_schema

BRAND = Anchor("b", "Ostervik", "brand")
PERSON = Anchor("p", "Ingunn Aas", "designer")
PLAN = Plan(
    anchors=(BRAND, PERSON),
    hops=(
        Hop("b", "MADE_BY", "T", "product", "in"),
        Hop("p", "works with", "x", "designer"),
        Hop("x", "designed_by", "T", "product"),
        Hop("T", "has_review", "r", "*"),
    ),
    target=Target("T", (), "keeps a drink cold"),
    filters=(Filter("T", "price", "<=", 60), Filter("x", "born", "between", [1970, 1980])),
)


def named(plan: Plan) -> dict[str, DroppableCondition]:
    return {condition.words: condition for condition in conditions(plan)}


def test_filters_come_first_then_hops_to_no_anchor_then_anchors_last_ones_first() -> None:
    assert [condition.words for condition in conditions(PLAN)] == [
        "born between 1970 and 1980", "price at most 60", "has review", "designed by works with Ingunn Aas",
        "made by Ostervik",
    ]  # fmt: skip


def test_a_condition_is_told_as_people_would_name_it() -> None:
    assert [condition.shown for condition in conditions(PLAN)] == [
        "“born between 1970 and 1980”", "“price at most 60”", "“has review”", "“Ingunn Aas” (designer)",
        "“Ostervik” (brand)",
    ]  # fmt: skip
    assert DroppableCondition(Anchor("a", "Ostervik"), "").shown == "“Ostervik”"
    assert DroppableCondition(Anchor("a", "", ids=("id 1", "id 2")), "").shown == "“id 1, id 2”"


def test_an_anchor_takes_the_walk_that_only_it_needs_with_it_and_the_filters_on_it() -> None:
    left = without(PLAN, [named(PLAN)["designed by works with Ingunn Aas"]])
    assert left.anchors == (BRAND,)
    assert left.hops == (PLAN.hops[0], PLAN.hops[3])
    assert left.filters == (PLAN.filters[0],)
    assert left.target.relevance_text == "keeps a drink cold, designed by works with Ingunn Aas"


def test_a_relation_walked_there_and_back_is_said_once() -> None:
    shared = Plan(
        (Anchor("a", "Ada"), Anchor("T", "Bo")), (Hop("a", "WROTE", "x"), Hop("x", "WROTE", "T", "author", "in"))
    )
    assert [condition.words for condition in conditions(shared)] == ["Bo", "wrote Ada"]


def test_hops_that_two_anchors_share_stay_with_the_other() -> None:
    shared = Plan(
        (Anchor("a", "A"), Anchor("b", "B")), (Hop("a", "r", "x"), Hop("b", "s", "x"), Hop("x", "t", "T", "film"))
    )
    left = without(shared, [named(shared)["r A"]])
    assert (left.anchors, left.hops) == (shared.anchors[1:], shared.hops[1:])


def test_a_hop_to_no_anchor_and_a_filter_go_alone() -> None:
    left = without(PLAN, [named(PLAN)["has review"], named(PLAN)["price at most 60"]])
    assert (left.anchors, left.hops, left.filters) == (PLAN.anchors, PLAN.hops[:3], PLAN.filters[1:])
    assert left.target.relevance_text == "keeps a drink cold, has review, price at most 60"


def test_the_type_that_a_dropped_hop_gave_the_target_stays() -> None:
    plan = Plan((Anchor("a", "A"), Anchor("b", "B")), (Hop("a", "r", "T", "film"), Hop("b", "s", "T")))
    assert without(plan, [named(plan)["r A"]]).target.labels == ("film",)
    assert without(plan, [named(plan)["s B"]]).target.labels == ()


def test_an_anchor_on_a_circle_takes_its_place_in_the_walk_along() -> None:
    circle = Plan((Anchor("a", "A"), Anchor("b", "B")), (Hop("a", "r", "T"), Hop("a", "s", "y"), Hop("b", "t", "T")))
    left = without(circle, [named(circle)["r A"]])
    # The hop to y led nowhere before and stays a condition of its own, on what A stood for.
    assert left.hops == circle.hops
    both = without(circle, [named(circle)["r A"], named(circle)["s"]])
    assert both.hops == circle.hops[2:]


def test_the_least_is_dropped_first_and_one_anchor_is_always_left() -> None:
    price, review, person, brand = (
        named(PLAN)[words]
        for words in ("price at most 60", "has review", "designed by works with Ingunn Aas", "made by Ostervik")
    )
    assert list(smallest_first([], [price, person, brand], Limit())) == [
        (price,), (person,), (brand,), (price, person), (price, brand),
    ]  # fmt: skip
    assert list(smallest_first([person], [review, brand], Limit())) == [(person,), (person, review)]
    assert list(smallest_first([person, brand], [], Limit())) == []
    assert list(smallest_first([], [brand], Limit())) == []


def test_a_plan_without_an_anchor_has_no_set_to_drop_however_many_conditions_it_has() -> None:
    cheap = Plan(target=Target("T", ("product",)), filters=tuple(Filter("T", "price", "<", n) for n in range(60)))
    looked: list[int] = []
    # 2⁶⁰ sets would be walked through otherwise; the first look at the limit ends that.
    watched = Limit(cancelled=lambda: bool(looked.append(1)) or True)
    assert list(smallest_first([], conditions(cheap), watched)) == []
    assert looked == []


def test_the_sets_to_drop_end_with_the_search() -> None:
    asked = named(PLAN)
    ended = smallest_first([], [asked["price at most 60"], asked["made by Ostervik"]], Limit(cancelled=lambda: True))
    with pytest.raises(SearchCancelled):
        next(ended)
    late = smallest_first([], [asked["price at most 60"], asked["made by Ostervik"]], Limit(ends=0.0))
    with pytest.raises(DeadlineExceeded):
        next(late)


@given(st.sets(st.integers(0, 4)))
def test_whatever_is_dropped_what_is_left_is_a_plan(chosen: set[int]) -> None:
    parts = conditions(PLAN)
    left = without(PLAN, [parts[at] for at in sorted(chosen)])
    anchored = not {3, 4} <= chosen
    known = [fault for fault in misfits(left, demo_schema("products")) if "/filters/" not in fault.pointer]
    assert (not known) is (anchored or not left.hops or bool(left.filters))
    assert set(left.anchors) == {parts[at].part for at in (3, 4) if at not in chosen}
    assert all(parts[at].words in left.target.relevance_text for at in chosen)
