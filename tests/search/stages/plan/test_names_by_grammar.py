"""Names of signs and of ordinary words, and types that may not be answers, read by the grammar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.search.stages.plan.films import FILMS, SCHEMA, graph_of, planner_of
from tests.search.stages.plan.grammar_planners import by_grammar, found
from tests.search.stages.plan.test_lone_names import NAMES


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Films with odd names, each of one director."""
    names = [("film", name) for name in NAMES] + [("person", "Ann Arbor")]
    graph = graph_of(names, [(name, "DIRECTED_BY", "Ann Arbor") for name in NAMES])
    folder = tmp_path_factory.mktemp("odd")
    return by_grammar(planner_of(folder, graph), folder, graph)


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
def test_case_and_spaces_around_a_name_do_not_matter(odd: Planner, text: str, name: str) -> None:
    plan = plans(odd, text)[0].plan
    assert [anchor.ids for anchor in plan.anchors] == [(f"n{NAMES.index(name):03}",)]
    assert plan.hops == ()


def test_what_is_spelled_in_other_letters_comes_behind(odd: Planner) -> None:
    ids = [plan.plan.anchors[0].ids for plan in plans(odd, "Malaga")[:2]]
    assert ids == [(f"n{NAMES.index('Malaga'):03}",), (f"n{NAMES.index('Málaga'):03}",)]


@pytest.mark.parametrize("name", ["$$$", "*", "🎉🎸", "C++"])
def test_names_of_signs_are_anchors_of_questions(odd: Planner, name: str) -> None:
    plan = plans(odd, f"who is {name} directed by?")[0].plan
    assert [anchor.ids for anchor in plan.anchors] == [(f"n{NAMES.index(name):03}",)]
    assert [hop.rel for hop in plan.hops] == ["DIRECTED_BY"]


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    folder = tmp_path_factory.mktemp("films")
    return by_grammar(planner_of(folder, FILMS), folder, FILMS)


@pytest.mark.parametrize("text", ['who directed "What?"', "who directed What?", "who directed “what?”"])
def test_ordinary_words_that_a_question_marks_are_names(films: Planner, text: str) -> None:
    assert found(films, FILMS, text) == {"Bob Berg"}


def test_types_that_may_not_be_answers_are_no_targets(tmp_path: Path) -> None:
    types = tuple(replace(kind, answerable=kind.name == "film") for kind in SCHEMA.node_types)
    films_only = by_grammar(planner_of(tmp_path, FILMS, replace(SCHEMA, node_types=types)), tmp_path, FILMS)
    for entry in plans(films_only, "who directed Alpha Rising"):
        assert entry.plan.target.labels in ((), ("film",))
