"""The words of a relation say which of several nodes a name behind them means; what is found is worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.adapters import near_names
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.graph import Relation
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.search.stages.plan.films import answers, graph_of, planner_of

GRAPH = graph_of(
    (
        ("product", "Inishglas"), ("product", "Currach"), ("product", "Dock Chair"),
        ("category", "Woollens"), ("category", "Furniture"),
        ("material", "Merino Wool"), ("material", "Lamb Wool"), ("material", "Oak"),
        ("brand", "Cairn Wool"),
    ),
    (
        ("Inishglas", "MADE_OF", "Merino Wool"), ("Currach", "MADE_OF", "Lamb Wool"), ("Dock Chair", "MADE_OF", "Oak"),
        ("Dock Chair", "MADE_OF", "Lamb Wool"),
        ("Currach", "IN_CATEGORY", "Woollens"), ("Dock Chair", "IN_CATEGORY", "Furniture"),
        ("Dock Chair", "HAS_BRAND", "Cairn Wool"), ("Inishglas", "HAS_BRAND", "Cairn Wool"),
    ),
)  # fmt: skip
WORDED = {
    "MADE_OF": Relation("MADE_OF", "consists of", "is the material of"),
    "IN_CATEGORY": Relation("IN_CATEGORY", "belongs to the category", "contains"),
    "HAS_BRAND": Relation("HAS_BRAND", "is sold by", "sells"),
}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    schema = replace(plain, relations=tuple(WORDED[one.name] for one in plain.relations))
    folder: Path = tmp_path_factory.mktemp("kinds")
    planner = planner_of(folder, GRAPH, schema)
    (folder / "near").mkdir()
    near_names.build(folder / "near", folder / "mentions", "en")
    return replace(planner, mentions=MemmapMentions(folder / "mentions", near=folder / "near"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("products made of wool", {"Inishglas", "Currach", "Dock Chair"}),
        ("products sold by wool", {"Inishglas", "Dock Chair"}),
        ("products made of Merino Wool", {"Inishglas"}),
        ("products made of oak and wool", {"Dock Chair"}),
        ("products made of wool and oak", {"Dock Chair"}),
        ("products in the category woollens", {"Currach"}),
    ],
)
def test_a_word_behind_a_relation_names_all_nodes_of_that_kind_at_its_end(
    planner: Planner, text: str, names: set[str]
) -> None:
    plan = planner(Question(text), Limit())[0].plan
    assert (answers(GRAPH, plan), plan.target.relevance_text) == (names, "")


@pytest.mark.parametrize("text", ["chairs", "chair", "do you have any chairs"])
def test_a_word_alone_that_ends_names_asks_for_what_bears_them(planner: Planner, text: str) -> None:
    listed = planner(Question(text), Limit())
    assert (answers(GRAPH, listed[0].plan), listed[0].plan.hops) == ({"Dock Chair"}, ())
    # More things may be chairs than the names say.
    assert listed[0].probability <= 0.85
