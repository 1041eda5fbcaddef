"""Candidates of constants by the cosine of names, conditions as hard filters, and what joins the search text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.adapters import mentions_memmap
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.graph import Field, Node, NodeType, Schema
from search.domain.plan import Filter
from search.domain.trace import Limit
from search.domain.triplets import Symbol, Triplet, TripletQuery
from search.interfaces.triplets import SymbolCandidates
from search.stages.candidates import Candidates
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.graphs import Nodes
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines, TriesEverything
from tests.search.stages.ground.test_fixpoint import adjacency_of

UM, MU, DADE, MIAMI, RNA, RIB, OLD = range(7)
GRAPH = Graph(
    (
        Node(UM, "a", "institution", "University of Miami", fields={"country": "US", "founded": 1925}),
        Node(MU, "b", "institution", "Miami University", fields={"country": "US", "founded": 1809}),
        Node(DADE, "c", "institution", "Miami Dade College", fields={"country": "US", "founded": 1959}),
        Node(MIAMI, "d", "city", "Miami"),
        Node(RNA, "e", "paper", "RNA Transcription", fields={"year": 2015, "day": "2015-03-02"}),
        Node(RIB, "f", "paper", "Ribosomes", fields={"year": 2015, "day": "2015-07-01"}),
        Node(OLD, "g", "paper", "Old", fields={"year": 1999, "day": "1999-01-01"}),
    ),
    ((RNA, "from", UM), (RIB, "from", MU), (OLD, "from", DADE)),
)
TYPES = {node.key: node.type for node in GRAPH.nodes}
NEAR = {UM: 0.9, MU: 0.8, DADE: 0.6, MIAMI: 0.95, RNA: 0.1}


def schema() -> Schema:
    kinds = (
        NodeType("institution", 3, (Field("country", "keyword"), Field("founded", "number"))),
        NodeType("city", 1),
        NodeType("paper", 3, (Field("year", "number"), Field("day", "date"))),
    )
    return Schema(kinds, (), ())


def stage(folder: Path, table: Mapping[str, Mapping[int, float]], **options: Any) -> tuple[Candidates, Cosines]:
    """Return the stage over names with the given cosines, and the double that answers for encoder and vectors."""
    cosines = Cosines({"name": table}, TYPES)
    return built(folder, cosines, cosines, **options), cosines


def built(folder: Path, encoder: Any, vectors: Any, texts: Mapping[int, float] = {}, **options: Any) -> Candidates:
    adjacency = adjacency_of(folder / "graph", GRAPH, ())
    kinds = schema()
    object.__setattr__(
        adjacency, "schema", Schema(kinds.node_types, adjacency.schema.relations, adjacency.schema.relation_types)
    )
    (folder / "names").mkdir()
    mentions_memmap.build(folder / "names", [(node.key, node.name, False) for node in GRAPH.nodes])
    return Candidates(
        encoder, vectors, MemoryText(texts), MemmapMentions(folder / "names"), Nodes(GRAPH, kinds),
        TriesEverything(GRAPH), adjacency, **options,
    )  # fmt: skip


def query(constant: Symbol, *filters: Filter) -> TripletQuery:
    return TripletQuery((Symbol("y", ("paper",)), constant), (Triplet("y", "from", constant.name),), filters, "y")


def look_up(folder: Path, asked: TripletQuery, text: str, **options: Any) -> SymbolCandidates:
    made, _ = stage(folder, {text: NEAR}, **options)
    return made(asked, Limit())


def test_a_constant_has_the_nearest_names_of_its_type_best_first(tmp_path: Path) -> None:
    found = look_up(tmp_path, query(Symbol("i", ("institution",), "Miami uni")), "Miami uni")
    assert found.ranked == {"i": (UM, MU, DADE)}
    assert found.texts == {"i": "Miami uni"}
    assert found.to_json()["constants"][0]["first"][0]["name"] == "University of Miami"


def test_l_max_cuts_the_list(tmp_path: Path) -> None:
    assert look_up(tmp_path, query(Symbol("i", ("institution",), "Miami uni")), "Miami uni", l_max=2).ranked == {
        "i": (UM, MU)
    }


def test_without_a_label_every_type_is_looked_up(tmp_path: Path) -> None:
    found = look_up(tmp_path, query(Symbol("i", (), "Miami uni")), "Miami uni", l_max=3)
    assert found.ranked == {"i": (MIAMI, UM, MU)}


def test_nodes_that_were_chosen_for_a_constant_stand_first(tmp_path: Path) -> None:
    found = look_up(tmp_path, query(Symbol("i", ("institution",), "Miami uni", ("c",))), "Miami uni")
    assert found.ranked == {"i": (DADE, UM, MU)}


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (Filter("i", "founded", ">", 1900), (UM, DADE)),
        (Filter("i", "founded", "=", "1809"), (MU,)),
        (Filter("i", "country", "=", "us"), (UM, MU, DADE)),
        (Filter("i", "name", "!=", "Miami University"), (UM, DADE)),
    ],
)
def test_a_condition_on_a_field_is_a_hard_filter_of_a_constant(
    tmp_path: Path, condition: Filter, kept: tuple[int, ...]
) -> None:
    found = look_up(tmp_path, query(Symbol("i", ("institution",), "Miami uni"), condition), "Miami uni")
    assert found.ranked == {"i": kept}


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (Filter("i", "motto", "=", "Dream"), "there is no such property"),
        (Filter("i", "country", "=", "Dream"), "no entity has this value"),
        (Filter("i", "founded", ">", "Dream"), "there is no such property"),
    ],
)
def test_a_condition_that_cannot_be_applied_joins_the_text_of_its_constant(
    tmp_path: Path, condition: Filter, why: str
) -> None:
    text = f"Miami uni {condition.field} Dream"
    found = look_up(tmp_path, query(Symbol("i", ("institution",), "Miami uni"), condition), text)
    assert found.texts == {"i": text}
    assert found.ranked == {"i": (UM, MU, DADE)}
    assert f"cannot be applied: {why}; it joins the name that is searched." in found.detail


def test_conditions_restrict_variables_all_together_and_those_that_cannot_be_applied_do_not(tmp_path: Path) -> None:
    asked = query(
        Symbol("i", ("institution",), "Miami uni"),
        Filter("y", "year", "=", 2015), Filter("y", "day", "<", "2015-06-30"), Filter("y", "colour", "=", "red"),
    )  # fmt: skip
    found = look_up(tmp_path, asked, "Miami uni")
    assert {name: keys.tolist() for name, keys in found.allowed.items()} == {"y": [RNA]}
    assert "colour = 'red' cannot be applied: there is no such property; it is left out." in found.detail


def test_symbols_that_nothing_connects_with_the_answers_are_not_looked_up(tmp_path: Path) -> None:
    asked = TripletQuery(
        (Symbol("y"), Symbol("i", (), "Miami uni"), Symbol("z", (), "elsewhere")),
        (Triplet("y", "from", "i"), Triplet("z", "from", "w")), (Filter("w", "year", "=", 1999),), "y",
    )  # fmt: skip
    made, cosines = stage(tmp_path, {"Miami uni": NEAR, "elsewhere": NEAR})
    assert set(made(asked, Limit()).ranked) == {"i"}
    assert cosines.looked_up == ["Miami uni"]


def test_a_query_that_cannot_be_grounded_looks_up_nothing(tmp_path: Path) -> None:
    made, cosines = stage(tmp_path, {"Miami uni": NEAR})
    assert made(TripletQuery((Symbol("i", (), "Miami uni"),), (), (), "i"), Limit()).ranked == {}
    assert cosines.looked_up == []


def test_without_vectors_exact_names_come_first_then_documents_by_their_words(tmp_path: Path) -> None:
    texts = {RNA: 9.0, DADE: 5.0, UM: 4.0}
    made = built(tmp_path, HashEncoder(), MemoryVectors({}), texts)
    found = made(query(Symbol("i", ("institution",), "Miami University")), Limit())
    assert found.ranked["i"][0] == MU
    assert DADE in found.ranked["i"]
    assert "This release has no vectors" in found.detail
    only_old = made(
        query(Symbol("i", ("institution",), "Miami University"), Filter("i", "founded", "<", 1950)), Limit()
    )
    assert only_old.ranked == {"i": (MU, UM)}


def test_cosines_of_filtered_constants_are_those_of_the_vectors(tmp_path: Path) -> None:
    encoder = HashEncoder()
    vectors = {node.key: encoder.vector(node.name) for node in GRAPH.nodes}
    made = built(tmp_path, encoder, MemoryVectors({"name": vectors}))
    asked = query(Symbol("i", ("institution",), "Miami uni"), Filter("i", "country", "=", "US"))
    expected = sorted((UM, MU, DADE), key=lambda key: -float(vectors[key] @ np.asarray(encoder.vector("Miami uni"))))
    assert made(asked, Limit()).ranked == {"i": tuple(expected)}
