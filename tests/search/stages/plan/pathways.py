"""A small graph of pathways: types named by several words, relations of genes among themselves, dates of edits."""

from __future__ import annotations

from pathlib import Path as Folder

import numpy as np

from search.adapters import (
    adjacency_memmap,
    columns_memmap,
    field_values,
    mentions_memmap,
    near_names,
    text_bm25,
    values_memmap,
)
from search.bindings import own_bindings
from search.domain.graph import Field, Node, NodeType, Relation, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.fakes import HashEncoder
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.search.stages.plan.films import graph_of

_NAMES: tuple[tuple[str, str], ...] = (
    ("pathway", "Statin action"), ("pathway", "Vitamin D metabolism"), ("pathway", "Mood signals"),
    ("pathway", "Wing growth"), ("pathway", "Fly sleep"),
    ("disease", "rickets"), ("disease", "schizophrenia"), ("disease", "gout"),
    ("disease_group", "bone disease"), ("disease_group", "disease of mental health"),
    ("organism", "Homo sapiens"), ("organism", "Rattus norvegicus"), ("organism", "Drosophila melanogaster"),
    ("gene", "TP53"), ("gene", "MDM2"), ("gene", "BAX"),
    ("metabolite", "cholesterol"), ("metabolite", "cortisol"), ("metabolite", "squalene"),
    ("author", "Noah A. Smith"), ("author", "Ada Holm"),
)  # fmt: skip
_FACTS: tuple[tuple[str, str, str], ...] = (
    ("Vitamin D metabolism", "ANNOTATED_WITH_DISEASE", "rickets"),
    ("Mood signals", "ANNOTATED_WITH_DISEASE", "schizophrenia"), ("Statin action", "ANNOTATED_WITH_DISEASE", "gout"),
    ("rickets", "SUBCLASS_OF", "bone disease"), ("schizophrenia", "SUBCLASS_OF", "disease of mental health"),
    ("gout", "SUBCLASS_OF", "bone disease"),
    ("Statin action", "IN_ORGANISM", "Homo sapiens"), ("Vitamin D metabolism", "IN_ORGANISM", "Rattus norvegicus"),
    ("Mood signals", "IN_ORGANISM", "Homo sapiens"), ("Wing growth", "IN_ORGANISM", "Drosophila melanogaster"),
    ("Fly sleep", "IN_ORGANISM", "Drosophila melanogaster"),
    ("TP53", "INTERACTION_STIMULATION", "BAX"), ("MDM2", "INTERACTION_STIMULATION", "TP53"),
    ("TP53", "INTERACTION_ARROW", "MDM2"), ("BAX", "INTERACTION_ARROW", "TP53"),
    ("squalene", "INTERACTION_CONVERSION", "cholesterol"), ("cholesterol", "INTERACTION_CONVERSION", "cortisol"),
    ("Statin action", "HAS_PARTICIPANT", "cholesterol"), ("Mood signals", "HAS_PARTICIPANT", "cortisol"),
    ("Statin action", "HAS_PARTICIPANT", "TP53"), ("Wing growth", "HAS_PARTICIPANT", "BAX"),
    ("Wing growth", "HAS_PARTICIPANT", "MDM2"), ("Mood signals", "HAS_PARTICIPANT", "squalene"),
    ("Statin action", "AUTHORED_BY", "Ada Holm"), ("Mood signals", "AUTHORED_BY", "Ada Holm"),
    ("Statin action", "AUTHORED_BY", "Noah A. Smith"), ("Wing growth", "AUTHORED_BY", "Noah A. Smith"),
)  # fmt: skip
_EDITED = {
    "Statin action": "2022-03-01", "Vitamin D metabolism": "2020-07-09", "Mood signals": "2019-01-20",
    "Wing growth": "2021-11-30", "Fly sleep": "2023-05-02",
}  # fmt: skip
_STATUS = {
    "Statin action": "Mature", "Vitamin D metabolism": "Emerging", "Wing growth": "Legacy", "Fly sleep": "Emerging",
}  # fmt: skip
_LAB = {"Statin action": "Umeå, Sweden", "Mood signals": "Lund, Sweden", "Wing growth": "Oslo, Norway"}


def _with_fields() -> oracle.Graph:
    plain, own = graph_of(_NAMES, _FACTS), {"last_edited": _EDITED, "status": _STATUS, "lab": _LAB}
    nodes = tuple(
        Node(n.key, n.id, n.type, n.name, fields={field: of[n.name] for field, of in own.items() if n.name in of})
        for n in plain.nodes
    )
    return oracle.Graph(nodes, plain.edges)


_FIELDS = (
    Field("last_edited", "date", coverage=5),
    Field("status", "keyword", coverage=4),
    Field("lab", "keyword", coverage=3),
)
PATHWAYS = _with_fields()


def schema() -> Schema:
    """Return the schema of the pathways with their fields."""
    plain = schema_of(PATHWAYS)
    kinds = [NodeType(kind.name, kind.count, _FIELDS) if kind.fields else kind for kind in plain.node_types]
    worded = [Relation(one.name) for one in plain.relations]
    return Schema(tuple(kinds), tuple(worded), plain.relation_types)


def planner_in(folder: Folder) -> Planner:
    """Build the indexes of the pathways in an empty folder and return a planner over them."""
    own = schema()
    for part in ("adjacency", "mentions", "near", "values", "text", "columns"):
        (folder / part).mkdir()
    write_adjacency(PATHWAYS, own, folder / "adjacency")
    mentions_memmap.build(folder / "mentions", ((node.key, node.name, False) for node in PATHWAYS.nodes))
    near_names.build(folder / "near", folder / "mentions", "en")
    field_values.build(folder / "values", own, PATHWAYS.nodes)
    columns_memmap.build(folder / "columns", own, PATHWAYS.nodes)
    types = np.array([own.type_codes[node.type] for node in PATHWAYS.nodes], dtype=np.int16)
    text_bm25.build(folder / "text", (text_bm25.Document("", {"text": node.name}) for node in PATHWAYS.nodes), types)
    return Planner(
        mentions=mentions_memmap.MemmapMentions(folder / "mentions", near=folder / "near"),
        adjacency=adjacency_memmap.MemmapAdjacency(folder / "adjacency", own),
        encoder=HashEncoder(dimensions=4096),
        nodes=Nodes(PATHWAYS, own),
        schema=own,
        columns=columns_memmap.MemmapColumns(folder / "columns", own),
        values=values_memmap.MemmapValues(folder / "values", own),
        text=text_bm25.Bm25Index(folder / "text", own),
    )


def best(planner: Planner, text: str) -> ScoredPlan:
    """Return the best plan of a question."""
    return planner(Question(text), Limit())[0]


def found(planner: Planner, text: str) -> set[str]:
    """Return the names that the best plan of a question finds."""
    plan = best(planner, text).plan
    linked = LinkedPlan(plan, own_bindings(plan, planner.nodes))
    return {PATHWAYS.nodes[key].name for key in oracle.candidates(PATHWAYS, linked)}
