"""A denied relation and the end of it that is denied, read by the grammar; the answers are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Relation
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.search.stages.plan.films import graph_of, planner_of
from tests.search.stages.plan.grammar_planners import best, by_grammar, found

GRAPH = graph_of(
    (
        ("lamp", "Alba"), ("lamp", "Bruma"), ("lamp", "Dune"), ("brand", "Ostervik"), ("brand", "Norling"),
        ("designer", "Ann Arbor"), ("designer", "Bob Berg"),
        ("paper", "First Light"), ("paper", "Second Light"), ("paper", "Third Light"),
        ("film", "Alpha Rising"), ("film", "Beta Falls"), ("film", "Gamma Light"),
    ),
    (
        ("Alba", "MADE_BY", "Ostervik"), ("Bruma", "MADE_BY", "Ostervik"), ("Dune", "MADE_BY", "Norling"),
        ("Alba", "DESIGNED_BY", "Ann Arbor"), ("Bruma", "DESIGNED_BY", "Bob Berg"),
        ("Dune", "DESIGNED_BY", "Ann Arbor"),
        ("Second Light", "CITES", "First Light"), ("Third Light", "CITES", "First Light"),
        ("Third Light", "CITES", "Second Light"),
        ("Alpha Rising", "WRITTEN_BY", "Ann Arbor"), ("Alpha Rising", "DIRECTED_BY", "Ann Arbor"),
        ("Beta Falls", "WRITTEN_BY", "Ann Arbor"), ("Beta Falls", "DIRECTED_BY", "Bob Berg"),
        ("Gamma Light", "WRITTEN_BY", "Bob Berg"), ("Gamma Light", "DIRECTED_BY", "Bob Berg"),
    ),
)  # fmt: skip
WORDED = {
    "MADE_BY": Relation("MADE_BY", "is made by", "makes"),
    "DESIGNED_BY": Relation("DESIGNED_BY", "was designed by", "designed"),
    "CITES": Relation("CITES", "cites", "is cited by"),
}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    schema = replace(plain, relations=tuple(WORDED.get(one.name, one) for one in plain.relations))
    folder = tmp_path_factory.mktemp("ends")
    return by_grammar(planner_of(folder, GRAPH, schema), folder, GRAPH)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("papers nobody has cited", {"Third Light"}),
        ("papers that nobody cites", {"Third Light"}),
        ("papers that have never been cited", {"Third Light"}),
        ("papers that are not cited", {"Third Light"}),
        ("papers that no paper cites", {"Third Light"}),
        ("papers that cite nothing", {"First Light"}),
        ("papers that do not cite any paper", {"First Light"}),
        ("films Ann Arbor wrote but didnt direct", {"Beta Falls"}),
        ("films Ann Arbor wrote but didn't direct", {"Beta Falls"}),
        ("films Ann Arbor wrote and did not direct", {"Beta Falls"}),
        ("films ann arbor wrote but never directed", {"Beta Falls"}),
        ("lamps made by Ostervik not designed by Bob Berg", {"Alba"}),
        ("lamps made by Norling not designed by Ann Arbor", set()),
    ],
)
def test_what_is_denied_is_that_end_of_the_relation_that_the_words_say(
    planner: Planner, text: str, names: set[str]
) -> None:
    assert best(planner, text).target.relevance_text == ""
    assert found(planner, GRAPH, text) == names
