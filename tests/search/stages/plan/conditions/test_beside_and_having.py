"""Values of nodes beside the answers, and answers that have a field; what is found is worked out by hand.

Ash is an antibiotic and treats flu; Birch is an antibiotic that must not be used in gout; Cedar treats gout.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.adapters import field_values, values_memmap
from search.domain.graph import Field, Node, Relation
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import answers, planner_of

NODES = (
    Node(0, "n0", "drug", "Ash", fields={"drug_class": "antibiotic"}),
    Node(1, "n1", "drug", "Birch", fields={"drug_class": "antibiotic"}),
    Node(2, "n2", "drug", "Cedar", fields={"drug_class": "balm"}),
    Node(3, "n3", "disease", "gout", fields={"inheritance": "dominant"}),
    Node(4, "n4", "disease", "flu"),
    Node(5, "n5", "disease", "rash", fields={"inheritance": "recessive"}),
)
GRAPH = Graph(NODES, ((0, "TREATS", 4), (2, "TREATS", 3), (1, "CONTRAINDICATED_IN", 3), (0, "TREATS", 5)))
WORDED = {
    "CONTRAINDICATED_IN": Relation("CONTRAINDICATED_IN", "must not be used in", "rules out the use of"),
    "TREATS": Relation("TREATS", "treats", "is treated with"),
}
FIELDS = {"drug": (Field("drug_class", "keyword", coverage=3),),
          "disease": (Field("inheritance", "keyword", coverage=2),)}  # fmt: skip


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    schema = replace(
        plain,
        node_types=tuple(replace(one, fields=FIELDS[one.name]) for one in plain.node_types),
        relations=tuple(WORDED[one.name] for one in plain.relations),
    )
    folder: Path = tmp_path_factory.mktemp("classes")
    (folder / "values").mkdir()
    field_values.build(folder / "values", schema, NODES)
    planner = planner_of(folder, GRAPH, schema)
    return replace(planner, values=values_memmap.MemmapValues(folder / "values", schema))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("diseases treated with antibiotics", {"flu", "rash"}),
        ("which diseases are treated with a balm", {"gout"}),
        # Only a question that denies means the relation that denies.
        ("diseases in which antibiotics are contraindicated", {"gout"}),
        ("drugs that are antibiotics", {"Ash", "Birch"}),
        ("inherited diseases", {"gout", "rash"}),
        ("inherited diseases that Cedar treats", {"gout"}),
    ],
)
def test_a_condition_of_a_value_or_a_field_selects_what_it_says(planner: Planner, text: str, names: set[str]) -> None:
    plan = planner(Question(text), Limit())[0].plan
    assert (answers(GRAPH, plan), plan.target.relevance_text) == (names, "")


def test_what_is_said_to_have_the_value_is_asked_for_itself(planner: Planner) -> None:
    plan = planner(Question("which drugs, antibiotics, treat diseases"), Limit())[0].plan
    assert (plan.target.labels, answers(GRAPH, plan)) == (("drug",), {"Ash", "Birch"})


def test_the_field_itself_is_shown_where_its_name_is_said(planner: Planner) -> None:
    plan = planner(Question("inheritance of gout"), Limit())[0].plan
    assert (answers(GRAPH, plan), plan.show, plan.filters) == ({"gout"}, "inheritance", ())
