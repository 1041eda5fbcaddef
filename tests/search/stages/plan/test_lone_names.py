"""A name asked alone: what it names comes first, and what belongs to it follows."""

from __future__ import annotations

import pytest

from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.search.stages.plan.demo_planners import PlannedDemo, planned
from tests.search.stages.plan.films import graph_of, planner_of

NAMES = (
    "C++", "C", ".NET", "$$$", "*", "🎉🎸", "Málaga", "Malaga", "It", "THE FILM", "the film", "千と千尋の神隠し",
    "北京",
    "O'Brien's Day", "No Country", "Why?", "The Second", "القاهرة", "ירושלים", "กรุงเทพมหานคร", "서울",
)  # fmt: skip


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Films with odd names, each of one director."""
    names = [("film", name) for name in NAMES] + [("person", "Ann Arbor")]
    return planner_of(
        tmp_path_factory.mktemp("odd"), graph_of(names, [(name, "DIRECTED_BY", "Ann Arbor") for name in NAMES])
    )


def plans(planner: Planner, text: str) -> list[ScoredPlan]:
    return planner(Question(text), Limit())


@pytest.mark.parametrize("name", NAMES)
def test_a_name_asked_alone_is_its_own_answer_and_what_belongs_to_it_is_behind(odd: Planner, name: str) -> None:
    first, *others = plans(odd, name)
    assert [anchor.ids for anchor in first.plan.anchors] == [(f"n{NAMES.index(name):03}",)]
    assert (first.plan.anchors[0].var, first.plan.hops, first.plan.target.relevance_text) == ("T", (), "")
    assert any(one.plan.hops for one in others)
    assert first.probability > max(one.probability for one in others)


@pytest.mark.parametrize(
    ("text", "name"), [("c++", "C++"), ("IT", "It"), (" Why? ", "Why?"), ("no country", "No Country")]
)
def test_case_and_spaces_around_it_do_not_matter(odd: Planner, text: str, name: str) -> None:
    plan = plans(odd, text)[0].plan
    assert [anchor.ids for anchor in plan.anchors] == [(f"n{NAMES.index(name):03}",)]
    assert plan.hops == ()


def test_what_is_spelled_in_other_letters_comes_behind(odd: Planner) -> None:
    ids = [plan.plan.anchors[0].ids for plan in plans(odd, "Malaga")[:2]]
    assert ids == [(f"n{NAMES.index('Malaga'):03}",), (f"n{NAMES.index('Málaga'):03}",)]


@pytest.mark.parametrize("name", ["$$$", "*", "🎉🎸", "C++"])
def test_names_of_symbols_are_anchors_of_questions(odd: Planner, name: str) -> None:
    plan = plans(odd, f"who is {name} directed by?")[0].plan
    assert [anchor.ids for anchor in plan.anchors] == [(f"n{NAMES.index(name):03}",)]
    assert [hop.rel for hop in plan.hops] == ["DIRECTED_BY"]


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> PlannedDemo:
    return planned("products", tmp_path_factory.mktemp("products"))


@pytest.mark.parametrize("name", ["Ostervik", "ostervik", "Norway", "norway", "Godwit 2 Tent"])
def test_so_it_is_in_a_shop(products: PlannedDemo, name: str) -> None:
    plans = products.planner(Question(name), Limit())
    assert [one.casefold() for one in products.demo.answers(plans[0].plan)] == [name.casefold()]
    assert any(one.plan.hops for one in plans[1:])
