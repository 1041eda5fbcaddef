"""Elements and words of meanings by hand, and what a trained planner adds to their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.graph import Field, NodeType, Relation, Schema
from search.domain.question import Question
from search.domain.trace import Limit
from search.language.tokens import tokens
from search.neural.plan_scorer import LoadedPlanScorers, PairWeights
from search.stages.plan import Planner
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation
from search.stages.plan.sets import (
    Asked,
    Compared,
    Counted,
    Either,
    Kind,
    Meet,
    Named,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
)
from search.stages.plan.sparse import Elements, LearnedScorer, names_of, words_of
from tests.fakes import HashEncoder
from tests.search.stages.plan.films import FILMS, planner_of

FILM, PERSON, GENRE, YEAR = 1, 2, 4, 8
SCHEMA = Schema(
    (NodeType("film", 9, (Field("length", "number"),)), *(NodeType(name, 9) for name in ("person", "genre", "year"))),
    (Relation("DIRECTED_BY"), Relation("STARRED")),
    (),
)
HEAT = Named(FILM, (3,), "Heat")
DIRECTOR = Walk(PERSON, HEAT, 0, "out")
STARRED = Counted(1, "out", PERSON)


@pytest.mark.parametrize(
    ("asked", "elements"),
    [
        (Asked(DIRECTOR), ["path DIRECTED_BY>person(film)", "type person", "ask which", "step DIRECTED_BY>person"]),
        (
            Asked(Walk(FILM, DIRECTOR, 1, "in"), "how many"),
            ["path STARRED<film(DIRECTED_BY>person(film))", "type film", "ask how many", "step STARRED<film",
             "step DIRECTED_BY>person"],
        ),
        (Asked(HEAT, show="length"), ["path film", "type film", "ask which", "show length"]),
        (Asked(Kind(FILM | GENRE)), ["path all film|genre", "type film|genre", "ask which"]),
        (Asked(Kind(FILM | PERSON | GENRE | YEAR)), ["path all any", "type any", "ask which"]),
        (
            Asked(Top(FILM, Kind(FILM), "length", "desc")),
            ["path desc length(all film)", "type film", "ask which", "condition desc length"],
        ),
        (
            Asked(WhereCount(FILM, Where(FILM, Kind(FILM), "length", ">", 90), STARRED, ">", 3)),
            ["path number STARRED>person >(length >(all film))", "type film", "ask which",
             "condition number STARRED>person >", "condition length >"],
        ),
        (
            Asked(Compared(FILM, Kind(FILM), "length", ">", HEAT, "length")),
            ["path length > other(all film)", "type film", "ask which", "condition length > other"],
        ),
        (Asked(Without(FILM, Kind(FILM), HEAT)), ["path all film-film", "type film", "ask which", "without"]),
        (None, ["text"]),
    ],
)  # fmt: skip
def test_elements_are_written_with_names(asked: Asked | None, elements: list[str]) -> None:
    assert list(Elements(SCHEMA)(asked)) == elements


@pytest.mark.parametrize("made", [Meet, Either])
def test_the_order_of_two_sets_makes_no_difference(made: type[Meet] | type[Either]) -> None:
    other = Walk(PERSON, HEAT, 1, "out")
    elements = Elements(SCHEMA)
    one, turned = (set(elements(Asked(made(PERSON, *pair)))) for pair in ((DIRECTOR, other), (other, DIRECTOR)))
    assert one == turned


def test_a_schema_in_another_order_gives_the_same_elements() -> None:
    turned = Schema(SCHEMA.node_types[::-1], SCHEMA.relations[::-1], ())
    asked = Asked(Walk(4, Named(8, (3,), "Heat"), 1, "out"))
    assert Elements(turned)(asked) == Elements(SCHEMA)(Asked(DIRECTOR))


def said(text: str, *names: tuple[int, int]) -> list[str]:
    """Return the words of a meaning that starts from the names at these places."""
    found = [Derivation(start, end, "S", HEAT, 0.0, "name-exact") for start, end in names]
    root = Derivation(0, 9, "ROOT", Asked(HEAT), 0.0, "", children=tuple(found))
    return list(words_of(names_of(root), Annotated(text, tokens(text), [], [])))


def test_words_are_stems_outside_names_and_function_words_only_in_pairs() -> None:
    text = "who directed the films of Ann Arbor in 1999"
    assert said(text, (5, 7)) == [
        "", "who", "direct", "film", "#", "who direct", "direct the", "the film", "film of", "of *", "* in", "in #",
    ]  # fmt: skip
    assert said("Heat Heat", (0, 1), (1, 2)) == [""]


def learned(weights: Mapping[str, Mapping[str, float]]) -> LearnedScorer:
    return LearnedScorer(PairWeights("a", weights), Elements(SCHEMA))


def test_what_was_learned_is_added_and_puts_meanings_in_a_new_order() -> None:
    text = Annotated("who made Heat", tokens("who made Heat"), [], [])
    name = Derivation(2, 3, "S", HEAT, 0.0, "name-exact")
    meanings = [DIRECTOR, Walk(PERSON, HEAT, 1, "out")]
    roots = [Derivation(0, 3, "ROOT", Asked(one), 2.0 - at, "", children=(name,)) for at, one in enumerate(meanings)]
    weights = {
        "step STARRED>person": {"mad": 1.5, "direct": 9.0}, "type person": {"": 0.25, "who mad": 0.25},
        "path DIRECTED_BY>person(film)": {"who": -0.125},
    }  # fmt: skip
    first, second = learned(weights)(roots, text)
    assert (first.meaning, first.score) == (Asked(meanings[1]), 1.0 + 1.5 + 0.5)
    assert (second.meaning, second.score) == (Asked(meanings[0]), 2.0 + 0.5 - 0.125)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """A planner over the films without an artifact."""
    made = planner_of(tmp_path_factory.mktemp("films"), FILMS)
    return replace(made, encoder=HashEncoder(dimensions=32))


class Kept:
    """One trained planner, whatever is asked for (interfaces.PlanScorers)."""

    def __init__(self, weights: PairWeights) -> None:
        self.weights = weights

    def get(self, artifact: str, fold: int = -1) -> PairWeights:
        return self.weights


QUESTION = Question("who directed Alpha Rising")


def test_a_trained_planner_changes_the_first_plan_and_says_who_chose_it(plain: Planner) -> None:
    before = plain(QUESTION, Limit())
    assert [hop.rel for hop in before[0].plan.hops] == ["DIRECTED_BY"]
    assert {one.source for one in before} == {"schema"}
    weights = PairWeights("a", {"path STARRED_ACTORS>person(film)": {"direct": 50.0}})
    after = replace(plain, plan_scorers=Kept(weights), artifact="a")(QUESTION, Limit())
    assert [hop.rel for hop in after[0].plan.hops] == ["STARRED_ACTORS"]
    assert {one.source for one in after} == {"learned"}


def test_weights_that_know_nothing_of_a_question_change_no_plan(plain: Planner) -> None:
    weights = PairWeights("a", {"step GONE>thing": {"direct": 50.0}})
    found = replace(plain, plan_scorers=Kept(weights), artifact="a")(QUESTION, Limit())
    assert [replace(one, source="schema") for one in found] == list(plain(QUESTION, Limit()))


def test_a_temperature_above_1_makes_the_first_plan_less_sure(plain: Planner) -> None:
    sure, unsure = (
        replace(plain, plan_scorers=Kept(PairWeights("a", {}, temperature)), artifact="a")(QUESTION, Limit())[0]
        for temperature in (1.0, 4.0)
    )
    assert unsure.plan.hops == sure.plan.hops
    assert unsure.probability < sure.probability


def test_a_site_that_reads_no_artifacts_says_so_and_searches_on(plain: Planner) -> None:
    found = replace(plain, artifact="a")(QUESTION, Limit())
    assert list(found) == list(plain(QUESTION, Limit()))
    assert getattr(found, "detail", "") == (
        "Plans are scored without the trained planner: this site reads no trained parts."
    )
    assert getattr(found, "status", "") == "degraded"


@pytest.mark.parametrize("text", ["", "who", "nothing named in here", "x" * 5_000, "\0"])
def test_any_question_gets_a_plan(plain: Planner, text: str) -> None:
    weights = PairWeights("a", {"text": {"": 50.0}})
    found = replace(plain, plan_scorers=Kept(weights), artifact="a")(Question(text), Limit())
    assert found[0].plan.hops == ()


def test_an_artifact_that_is_not_there_is_done_without(plain: Planner, tmp_path: Path) -> None:
    found = replace(plain, plan_scorers=LoadedPlanScorers(tmp_path), artifact="planner-2")(QUESTION, Limit())
    assert list(found) == list(plain(QUESTION, Limit()))
    assert "there is no trained part planner-2 on this machine" in getattr(found, "detail", "")
