"""All nodes of a type are selected from where a name of the graph is only another word for a type."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.plan import Count, Order
from search.domain.question import Question
from search.domain.trace import Limit
from tests.search.stages.plan.films import answers, graph_of, planner_of

FILMS = graph_of(
    (
        ("film", "Alpha Rising"), ("film", "Beta Falls"), ("film", "Gamma Light"), ("film", "Movies"),
        ("person", "Ann Arbor"), ("person", "Bob Berg"), ("person", "Cy Clone"),
    ),
    (
        ("Alpha Rising", "DIRECTED_BY", "Ann Arbor"), ("Beta Falls", "DIRECTED_BY", "Ann Arbor"),
        ("Gamma Light", "DIRECTED_BY", "Bob Berg"), ("Movies", "DIRECTED_BY", "Cy Clone"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("text", ["who directed the most movies", "who directed the most films"])
def test_what_is_counted_is_no_name_where_it_is_a_word_for_a_type(tmp_path: Path, text: str) -> None:
    plan = planner_of(tmp_path, FILMS)(Question(text), Limit())[0].plan
    assert (plan.anchors, plan.target.labels) == ((), ("person",))
    assert plan.order == Order(Count("DIRECTED_BY", "in", "film"), "desc", 1)


@pytest.mark.parametrize("text", ["who directed Movies", "who directed movies"])
def test_where_nothing_is_counted_it_is_a_name(tmp_path: Path, text: str) -> None:
    assert answers(FILMS, planner_of(tmp_path, FILMS)(Question(text), Limit())[0].plan) == {"Cy Clone"}
