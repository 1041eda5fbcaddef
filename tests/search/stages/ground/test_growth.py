"""How the number of candidates grows, and when growing stops; answers found by fewer candidates are known as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triplets import Symbol, Triplet, TripletQuery
from search.interfaces.triplets import Grounding, SymbolCandidates
from search.stages.ground import Ground, growth
from tests.oracle import Graph
from tests.search.stages.ground.test_fixpoint import adjacency_of


@pytest.mark.parametrize(
    ("most", "rule", "numbers"),
    [
        # 1; 1.5; 2.337; 4.073; 8.720; 26.25; 135.0: rounded, each once, and the last is always l_max.
        (100, "power", [1, 2, 4, 9, 26, 100]),
        (333, "power", [1, 2, 4, 9, 26, 135, 333]),
        (1, "power", [1]),
        (2, "power", [1, 2]),
        (3, "power", [1, 2, 3]),
        (26, "power", [1, 2, 4, 9, 26]),
        # ⌊1.5 + 0.5⌋ = 2, ⌊3.5⌋ = 3, ⌊5⌋ = 5, ⌊8⌋ = 8, ⌊12.5⌋ = 12 …
        (100, "factor", [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 100]),
        (3, "factor", [1, 2, 3]),
    ],
)
def test_the_number_of_candidates_grows_by_the_rule_up_to_l_max(most: int, rule: str, numbers: list[int]) -> None:
    assert list(growth(most, rule)) == numbers


# Persons 0 to 9 (candidates in this order); films 10 to 29: person k directed films 10 + 2k and 11 + 2k, k > 0.
WORLD = Graph(
    (
        *(Node(key, f"{key:02}", "person", f"Person {key}") for key in range(10)),
        *(Node(key, f"{key:02}", "film", f"Film {key}") for key in range(10, 30)),
    ),
    tuple((film, "directed_by", (film - 10) // 2) for film in range(12, 30)),
)
QUERY = TripletQuery(
    (Symbol("y", ("film",)), Symbol("p", ("person",), "Person")), (Triplet("y", "directed_by", "p"),), (), "y"
)


def ground(folder: Path, k: int, candidates: tuple[int, ...] = tuple(range(10)), **options: object) -> Grounding:
    stage = Ground(adjacency_of(folder, WORLD, ()), answers=k, **options)  # type: ignore[arg-type]
    return stage(Question("?", k=1), QUERY, SymbolCandidates({"p": candidates}), (), Limit())


def test_it_begins_with_one_candidate_and_stops_as_soon_as_there_are_k_answers(tmp_path: Path) -> None:
    # Person 0 directed nothing; persons 0 and 1 two films; 0 to 3 six.
    found = ground(tmp_path, 5)
    assert found.rounds == ((1, 0), (2, 2), (4, 6))
    assert found.answers == [12, 13, 14, 15, 16, 17]
    assert found.found_in == {12: 1, 13: 1, 14: 2, 15: 2, 16: 2, 17: 2}
    assert found.entities == {1, 2, 3}
    assert found.detail == "Answers by number of entities tried for each name: 1 → 0, 2 → 2, 4 → 6."


def test_it_goes_on_to_the_last_candidate_if_there_are_never_enough(tmp_path: Path) -> None:
    assert ground(tmp_path, 100).rounds == ((1, 0), (2, 2), (4, 6), (9, 16), (10, 18))


def test_the_factor_rule_takes_smaller_steps(tmp_path: Path) -> None:
    assert ground(tmp_path, 5, growth="factor").rounds == ((1, 0), (2, 2), (3, 4), (5, 8))


def test_a_name_without_candidates_grounds_nothing(tmp_path: Path) -> None:
    assert ground(tmp_path, 5, ()).answers == []


def test_more_answers_are_sought_if_more_results_are_shown(tmp_path: Path) -> None:
    stage = Ground(adjacency_of(tmp_path, WORLD, ()), answers=2)
    found = stage(Question("?", k=8), QUERY, SymbolCandidates({"p": tuple(range(10))}), (), Limit())
    assert (found.rounds[-1], found.wanted) == ((9, 16), 8)


def test_without_a_constant_nothing_is_grounded_and_it_is_said(tmp_path: Path) -> None:
    query = TripletQuery((Symbol("y", ("film",)), Symbol("p", ("person",))), QUERY.triplets, (), "y")
    found = Ground(adjacency_of(tmp_path, WORLD, ()))(Question("?"), query, SymbolCandidates({}), (), Limit())
    assert (found.answers, found.rounds) == ([], ())
    assert found.detail == "No entity is named from which the triplets could be followed. The documents alone answer."


def test_the_answers_have_the_type_of_the_query_else_the_predicted_one(tmp_path: Path) -> None:
    either = TripletQuery((Symbol("y"), Symbol("x", (), "Film")), (Triplet("x", None, "y", False),), (), "y")
    stage = Ground(adjacency_of(tmp_path, WORLD, ()), answers=1)
    for labels, answers in ((("person",), [1]), (("film",), []), ((), [1])):
        assert stage(Question("?", k=1), either, SymbolCandidates({"x": (12,)}), labels, Limit()).answers == answers
