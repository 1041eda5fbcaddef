"""Retrieval by fields against sums over all nodes, taken from the indexes one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from search import wiring
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.trace import Limit
from search.fields.names import field_of, is_words, kind_of, lists_of
from search.fields.scores import FieldScores
from search.interfaces import FieldQuery
from search.services.knowledge.index_snapshot import build_index
from search.services.knowledge.releases import activate_release
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.stages.retrieve_fields import Fields
from search.views.shown.why import show_why
from tests.fakes import HashEncoder
from tests.search.services.knowledge.test_index_snapshot import GRAPH, snapshot_of

pytestmark = pytest.mark.django_db
QUESTION = "Which film did Person 3 make about a birch?"
ENCODER = HashEncoder()


class Reader:
    """A retriever whose query is drawn at random, the same every time; it serves as its own shelf."""

    name = "drawn"
    encoder = ENCODER.name

    def __init__(self, lists: tuple[str, ...], types: Mapping[str, float] = {}) -> None:
        self.lists = lists
        self._types = types
        self.asked: list[tuple[str, int]] = []

    def get(self, artifact: str, fold: int = -1) -> Reader:
        self.asked.append((artifact, fold))
        return self

    def read(self, text: str) -> FieldQuery:
        draw = np.random.default_rng(5)
        vectors = {name: ENCODER.vector(f"{name} {text}") for name in self.lists if kind_of(name)}
        return FieldQuery(vectors, {name: float(draw.uniform(0, 5)) for name in self.lists}, self._types)


@pytest.fixture
def tools(db: None) -> wiring.Tools:
    return wiring.Tools(build_index(snapshot=snapshot_of(), encoder=ENCODER, kinds=["field:plot"]).release)


def stage(tools: wiring.Tools, reader: Reader | None = None, **options: Any) -> Fields:
    return Fields(
        reader or Reader(()),
        ENCODER,
        tools.vectors,
        tools.text,
        tools.mentions,
        tools.adjacency,
        tools.nodes,
        **options,
    )


def found(one: Fields) -> Fusion:
    return one(Question(QUESTION), Limit())


def lists(tools: wiring.Tools) -> tuple[str, ...]:
    return lists_of(tools.vectors.kinds, tools.text.fields, tools.adjacency.size)


def summed(tools: wiring.Tools, query: FieldQuery) -> list[float]:
    """The score of every node, by loops over all of them."""
    scores = [query.types.get(node.type, 0.0) for node in GRAPH.nodes]
    for name, weight in query.weights.items():
        if kind := kind_of(name):
            matrix = tools.vectors.matrix(kind)
            for key, row in zip(matrix.keys, matrix.rows.astype(np.float32), strict=True):
                scores[key] += weight * float(row @ query.vectors[name] / np.linalg.norm(row))
            continue
        if is_words(name) and not name.startswith("neighbourhood"):
            matches = tools.text.search(QUESTION, 99, field=field_of(name))
            best = max((one.score for one in matches), default=1)
            for match in matches:
                scores[match.key] += weight * match.score / best
            continue
        own = FieldScores(tools.text, tools.mentions, tools.adjacency).of(QUESTION, [name])[name]
        for key, score in zip(*own, strict=True):
            scores[key] += weight * float(score)
    return scores


def test_the_score_is_the_sum_over_lists_and_exact_for_every_candidate(tools: wiring.Tools) -> None:
    reader = Reader(lists(tools), {"film": 2.0, "person": -1.0})
    fusion = found(stage(tools, reader, artifact="drawn", fold=2))
    expected = summed(tools, reader.read(QUESTION))
    assert reader.asked == [("drawn", 2)]
    assert len(fusion.ranking) == len(GRAPH.nodes)
    for key, score in fusion.ranking.scores.items():
        assert score == pytest.approx(expected[key], abs=1e-4)
        assert sum(share.contribution for share in fusion.leaves(key).values()) == pytest.approx(score, abs=1e-9)
    assert list(fusion.ranking.keys) == sorted(fusion.ranking.keys, key=lambda key: -fusion.ranking.scores[key])


def test_a_short_list_has_the_best_of_all_nodes_with_their_whole_scores(tools: wiring.Tools) -> None:
    long = found(stage(tools, Reader(lists(tools)), artifact="drawn"))
    short = found(stage(tools, Reader(lists(tools)), artifact="drawn", depth=4))
    assert len(short.ranking) == 4
    for key, score in short.ranking.scores.items():
        assert score == pytest.approx(long.ranking.scores[key], abs=1e-5)


def test_a_node_without_a_field_is_not_in_its_list(tools: wiring.Tools) -> None:
    fusion = found(stage(tools))
    assert set(fusion.rankings["field:plot/dense"].ranking.keys) == {0, 1}
    assert fusion.leaves(5)["field:plot/dense"].contribution == 0
    assert set(fusion.rankings["name/dense"].ranking.keys) == set(range(len(GRAPH.nodes)))


def test_without_an_artifact_lists_weigh_the_same_and_single_fields_share_one_weight(tools: wiring.Tools) -> None:
    weights = found(stage(tools)).weights
    fields = [weight for name, weight in weights.items() if field_of(name)]
    assert {weight for name, weight in weights.items() if kind_of(name)} == {12.0}
    assert weights["text/bm25"] == weights["pagerank"] == pytest.approx(sum(fields)) == 6.0


def test_types_that_cannot_be_answers_are_not_listed(tools: wiring.Tools) -> None:
    adjacency = tools.adjacency
    types = tuple(replace(kind, answerable=kind.name == "film") for kind in adjacency.schema.node_types)
    limited = replace(adjacency, schema=replace(adjacency.schema, node_types=types))
    fusion = found(replace(stage(tools), adjacency=limited))
    assert set(fusion.ranking.keys) == {0, 1}


def test_an_artifact_of_another_encoder_or_of_lists_that_are_not_there_is_refused(tools: wiring.Tools) -> None:
    other = Reader(lists(tools))
    other.encoder = "other@1"
    with pytest.raises(StageError, match="vectors of other@1, and those of this release were made by hash@1") as raised:
        found(stage(tools, other, artifact="drawn"))
    assert raised.value.permanent
    with pytest.raises(StageError, match=r"lists that this release does not have: chunk/dense\. `index_kb` builds"):
        found(stage(tools, Reader((*lists(tools), "chunk/dense")), artifact="drawn"))


def test_the_pipeline_shows_the_sum_of_every_result_with_the_titles_of_its_lists() -> None:
    release = build_index(snapshot=snapshot_of()).release
    activate_release(knowledge_base=release.knowledge_base, release=release)
    run = request_search(knowledge_base="films", question=QUESTION, pipeline="mfar", k=3, enqueue=False)
    shown = describe_search(run_search(run.pk))
    assert (shown["status"], shown["fusion"]["method"]) == ("done", "sum")
    assert shown["fusion"]["titles"]["neighbours/dense"] == "Neighbours, by meaning"
    assert len(shown["results"]) == 3
    for result in shown["results"]:
        shares = result["scores"]
        assert sum(share["contribution"] for share in shares.values()) == pytest.approx(result["score"], abs=1e-6)
        for share in shares.values():
            assert share["contribution"] == pytest.approx(share["weight"] * (share["score"] or 0.0), abs=1e-6)
    why = show_why(shown, 1, {})
    assert why is not None
    assert why.fused
    assert why.formula == "w × score"
    assert why.total == pytest.approx(shown["results"][0]["score"])
