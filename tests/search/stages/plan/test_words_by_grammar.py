"""Voices of verbs, participles of fields and the nouns at the ends of names, read by the grammar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.adapters import near_names
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.graph import Field, Node
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan import pathways, test_kinds
from tests.search.stages.plan.films import planner_of
from tests.search.stages.plan.grammar_planners import best, by_grammar, found

DISEASES = Graph(
    (
        Node(0, "n0", "disease", "gout", fields={"inheritance": "dominant"}),
        Node(1, "n1", "disease", "flu"),
        Node(2, "n2", "disease", "rash", fields={"inheritance": "recessive"}),
        Node(3, "n3", "drug", "Cedar"),
    ),
    ((3, "TREATS", 0), (3, "TREATS", 1)),
)


@pytest.fixture(scope="module")
def genes(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    folder = tmp_path_factory.mktemp("pathways")
    return by_grammar(pathways.planner_in(folder), folder, pathways.PATHWAYS)


@pytest.fixture(scope="module")
def diseases(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(DISEASES)
    fields = {"disease": (Field("inheritance", "keyword", coverage=2),), "drug": ()}
    schema = replace(plain, node_types=tuple(replace(one, fields=fields[one.name]) for one in plain.node_types))
    folder = tmp_path_factory.mktemp("diseases")
    return by_grammar(planner_of(folder, DISEASES, schema), folder, DISEASES)


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(test_kinds.GRAPH)
    schema = replace(plain, relations=tuple(test_kinds.WORDED[one.name] for one in plain.relations))
    folder = tmp_path_factory.mktemp("kinds")
    planner = planner_of(folder, test_kinds.GRAPH, schema)
    (folder / "near").mkdir()
    near_names.build(folder / "near", folder / "mentions", "en")
    mentions = MemmapMentions(folder / "mentions", near=folder / "near")
    return by_grammar(replace(planner, mentions=mentions), folder, test_kinds.GRAPH)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which genes does TP53 activate", {"BAX"}),
        ("which genes activate TP53", {"MDM2"}),
        ("which genes are activated by TP53", {"BAX"}),
        ("genes activated by TP53", {"BAX"}),
        ("which genes does TP53 switch on", {"BAX"}),
        ("which metabolites are made from cholesterol", {"cortisol"}),
        ("what is cholesterol converted into", {"cortisol"}),
        ("which metabolites are converted into cholesterol", {"squalene"}),
    ],
)
def test_the_voice_of_a_verb_says_which_way_a_relation_is_walked(genes: Planner, text: str, names: set[str]) -> None:
    assert found(genes, pathways.PATHWAYS, text) == names


@pytest.mark.parametrize(
    ("text", "names"), [("inherited diseases", {"gout", "rash"}), ("inherited diseases that Cedar treats", {"gout"})]
)
def test_a_participle_of_a_field_asks_for_what_has_it(diseases: Planner, text: str, names: set[str]) -> None:
    assert found(diseases, DISEASES, text) == names
    assert best(diseases, text).show == ""


def test_the_field_itself_is_shown_where_its_name_is_said(diseases: Planner) -> None:
    plan = best(diseases, "inheritance of gout")
    assert (plan.show, plan.filters) == ("inheritance", ())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("products made of wool", {"Inishglas", "Currach", "Dock Chair"}),
        ("products sold by wool", {"Inishglas", "Dock Chair"}),
        ("products made of Merino Wool", {"Inishglas"}),
        ("products made of oak and wool", {"Dock Chair"}),
        ("products made of wool and oak", {"Dock Chair"}),
        ("products in the category woollens", {"Currach"}),
        ("chairs", {"Dock Chair"}),
        ("chair", {"Dock Chair"}),
        ("do you have any chairs", {"Dock Chair"}),
    ],
)
def test_a_noun_at_the_end_of_names_means_all_that_bear_it(products: Planner, text: str, names: set[str]) -> None:
    assert best(products, text).target.relevance_text == ""
    assert found(products, test_kinds.GRAPH, text) == names
