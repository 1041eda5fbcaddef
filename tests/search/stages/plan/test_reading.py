"""Questions over a small base of states, cities and rivers, read by the grammar; the answers are worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from search.adapters import adjacency_memmap, columns_memmap, field_values, mentions_memmap, values_memmap
from search.domain.graph import Field, Node, NodeType, Schema
from search.domain.plan import Plan, ScoredPlan
from search.domain.trace import Limit
from search.interfaces import GraphStore, VectorIndex
from search.stages.link import Link
from search.stages.plan.grammar import GrammarWeights, grammar
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.read import Reader
from tests import oracle
from tests.fakes import HashEncoder, MemoryVectors
from tests.graphs import Nodes, write_adjacency
from tests.search.stages.plan.follow_up.backtracking import Backtracking
from tests.search.stages.plan.land import land_graph


@dataclass(frozen=True)
class Land:
    """The base with what reads its questions and what executes their plans."""

    graph: oracle.Graph
    reader: Reader
    link: Link

    def best(self, text: str) -> Plan:
        """Return the first plan of a question."""
        return self.reader(text, Limit())[0].plan

    def answers(self, text: str) -> list[str]:
        """Return the names that the first plan of a question finds, sorted."""
        [linked] = self.link([ScoredPlan(self.best(text), "user", 1.0)], Limit())
        found = cast(GraphStore, Backtracking(self.graph)).execute(linked, Limit()).candidates
        return sorted(self.graph.nodes[one.key].name for one in found)


@pytest.fixture(scope="module")
def land(tmp_path_factory: pytest.TempPathFactory) -> Land:
    folder = tmp_path_factory.mktemp("land")
    graph, schema = land_graph()
    nodes = graph.nodes
    for part in ("adjacency", "mentions", "values", "columns"):
        (folder / part).mkdir()
    write_adjacency(graph, schema, folder / "adjacency")
    mentions_memmap.build(folder / "mentions", [(node.key, node.name, False) for node in nodes])
    field_values.build(folder / "values", schema, nodes)
    columns_memmap.build(folder / "columns", schema, nodes)
    encoder, store = HashEncoder(dimensions=256), Nodes(graph, schema)
    reader = Reader(
        Knowledge(schema, encoder),
        mentions_memmap.MemmapMentions(folder / "mentions"),
        adjacency_memmap.MemmapAdjacency(folder / "adjacency", schema),
        store,
        columns_memmap.MemmapColumns(folder / "columns", schema),
        values_memmap.MemmapValues(folder / "values", schema),
        # The vectors here mean nothing.
        weights=GrammarWeights({**GrammarWeights.read().of, "wording": 0.0}),
    )
    vectors = cast(VectorIndex, MemoryVectors({}))
    return Land(graph, reader, Link(encoder, vectors, store, graph=cast(GraphStore, Backtracking(graph))))


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("rivers in Corvia", ["Lorne", "Sheaf"]),
        ("which states border Belmora", ["Arvonia", "Corvia"]),
        ("states that border states that border Arvonia", ["Arvonia", "Corvia"]),
        ("through which states does the Lorne run", ["Arvonia", "Belmora", "Corvia"]),
        ("largest city in Corvia", ["Cranford"]),
        ("what is the capital of Belmora", ["Bexley"]),
        ("rivers that run through the state with the most cities", ["Lorne", "Sheaf"]),
        ("what is the capital of the largest state", ["Cranford"]),
        ("which state has the most rivers", ["Belmora", "Corvia"]),
        ("states without rivers", ["Dalmora"]),
        ("rivers that do not run through Corvia", ["Medwin"]),
        ("states with a population over 150", ["Belmora", "Corvia"]),
        ("rivers longer than the Medwin", ["Lorne"]),
        ("which is longer, the Medwin or the Sheaf", ["Medwin"]),
        ("the Medwin or the Sheaf: which is longer", ["Medwin"]),
        ("which has more cities, Corvia or Belmora", ["Corvia"]),
        ("states with more than 2 cities", ["Corvia"]),
        ("cities in Arvonia or Belmora", ["Astead", "Aymouth", "Bexley"]),
        ("list the states", ["Arvonia", "Belmora", "Corvia", "Dalmora"]),
    ],
)
def test_the_first_plan_finds_what_was_asked_for(land: Land, question: str, answers: list[str]) -> None:
    assert land.answers(question) == answers


@pytest.mark.parametrize(
    ("question", "ask", "show", "answers"),
    [
        ("how many cities are in Corvia", "how many", "", ["Cranford", "Cypress Falls", "Czerny"]),
        ("what is the population of Arvonia", "which", "population", ["Arvonia"]),
        ("how long is the Medwin", "which", "length", ["Medwin"]),
        ("population of the capital of the largest state", "which", "population", ["Cranford"]),
        ("average population of the cities in Arvonia", "mean", "population", ["Astead", "Aymouth"]),
    ],
)
def test_values_and_numbers_are_asked_of_what_is_found(
    land: Land, question: str, ask: str, show: str, answers: list[str]
) -> None:
    plan = land.best(question)
    assert (plan.ask, plan.show) == (ask, show)
    assert land.answers(question) == answers


def test_yes_or_no_is_asked_of_a_named_thing(land: Land) -> None:
    [yes, *_] = land.reader.read("is Astead in Arvonia", Limit())
    [no, *_] = land.reader.read("does the Medwin run through Corvia", Limit())
    assert (yes.plan.ask, [land.graph.nodes[key].name for key in yes.found]) == ("whether", ["Astead"])
    assert (no.plan.ask, list(no.found)) == ("whether", [])


def test_words_that_mean_nothing_here_are_left_to_texts(land: Land) -> None:
    plan = land.best("rivers in Corvia with otters")
    assert plan.target.relevance_text == "otters"
    assert land.best("wobbly purple unicycles").target.relevance_text == "wobbly purple unicycles"


def test_each_rule_has_an_id_of_its_own_and_an_example() -> None:
    rules = grammar().rules
    assert len({rule.id for rule in rules}) == len(rules)
    assert all(rule.example for rule in rules)


def test_a_long_question_is_read_to_its_end(land: Land) -> None:
    plan = land.best("rivers in Corvia " + "with otters and herons " * 800)
    assert "otters" in plan.target.relevance_text


def test_columns_are_found_by_number_value_and_presence(tmp_path: Path) -> None:
    schema = Schema((NodeType("film", 3, (Field("year", "number"), Field("seen", "date"), Field("place"))),), (), ())
    nodes = [
        Node(0, "a", "film", "A", fields={"year": 1999, "place": "Umeå, Sweden"}),
        Node(1, "b", "film", "B", fields={"year": [2001, 1990], "seen": "2020-05-03"}),
        Node(2, "c", "film", "C", fields={"place": "Sweden"}),
    ]
    columns_memmap.build(tmp_path, schema, nodes)
    columns = columns_memmap.MemmapColumns(tmp_path, schema)
    keys, numbers = columns.numbers("film", "year")
    assert (keys.tolist(), numbers.tolist()) == ([0, 1, 1], [1999.0, 2001.0, 1990.0])
    assert columns.numbers("film", "seen")[1].tolist() == [20200503.0]
    assert columns.having("film", "place").tolist() == [0, 2]
    assert columns.equal("film", "place", "Sweden").tolist() == [2]
    assert columns.equal("film", "place", "Sweden", part=True).tolist() == [0, 2]
    assert columns.equal("film", "price", 3).tolist() == []
