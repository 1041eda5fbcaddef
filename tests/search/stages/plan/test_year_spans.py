"""Spans of years where years are nodes; the right films are read in the facts below."""

from __future__ import annotations

import pytest

from search.bindings import own_bindings
from search.domain.linking import LinkedPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.search.stages.plan.films import graph_of, planner_of

GRAPH = graph_of(
    (
        ("film", "Alpha Rising"), ("film", "Beta Falls"), ("film", "Gamma Light"), ("film", "Delta Song"),
        ("person", "Ann Arbor"), ("person", "Bob Berg"),
        ("year", "1989"), ("year", "1994"), ("year", "1999"), ("year", "2004"), ("tag", "90s"),
    ),
    (
        ("Alpha Rising", "DIRECTED_BY", "Ann Arbor"), ("Beta Falls", "DIRECTED_BY", "Ann Arbor"),
        ("Gamma Light", "DIRECTED_BY", "Ann Arbor"), ("Delta Song", "DIRECTED_BY", "Bob Berg"),
        ("Alpha Rising", "RELEASE_YEAR", "1989"), ("Beta Falls", "RELEASE_YEAR", "1994"),
        ("Gamma Light", "RELEASE_YEAR", "2004"), ("Delta Song", "RELEASE_YEAR", "1999"),
        ("Alpha Rising", "HAS_TAGS", "90s"),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("years"), GRAPH)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("films directed by Ann Arbor since 1994", {"Beta Falls", "Gamma Light"}),
        ("films directed by Ann Arbor before 1994", {"Alpha Rising"}),
        ("films directed by Ann Arbor between 1985 and 1995", {"Alpha Rising", "Beta Falls"}),
        # A span of years comes before what is merely called so.
        ("films directed by Ann Arbor in the 90s", {"Beta Falls"}),
        ("films directed by Ann Arbor not from the 1990s", {"Alpha Rising", "Gamma Light"}),
        ("films directed by Ann Arbor that are not in the 1990s", {"Alpha Rising", "Gamma Light"}),
        ("films directed by Ann Arbor in 1994", {"Beta Falls"}),
    ],
)
def test_a_span_of_years_names_every_year_within_it(planner: Planner, text: str, found: set[str]) -> None:
    best = planner(Question(text), Limit())[0].plan
    linked = LinkedPlan(best, own_bindings(best, planner.nodes))
    names = {GRAPH.nodes[key].name for key in oracle.candidates(GRAPH, linked)}
    assert (names, best.target.relevance_text) == (found, "")
