"""Grounded answers by round and cosine, round(α k) of them; documents fill up to k; one list after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.domain.graph import Node
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.domain.triplets import TripletQuery
from search.interfaces.triplets import Grounding, SymbolCandidates
from search.stages.fill import Fill
from search.stages.join import Join
from search.stages.rank_grounded import RankGrounded
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.oracle import Graph
from tests.rankings import ranked
from tests.search.stages.doubles import Cosines
from tests.search.stages.ground.test_fixpoint import adjacency_of

WHO = Question("who?")
COSINES = {key: 1.0 - key / 100 for key in range(60)}
"""The lower the key, the nearer the question."""
FILMS = Graph(tuple(Node(key, f"{key:02}", "film", f"Film {key}") for key in range(60)), ())


def cosines(kind: str = "document+relations") -> Cosines:
    return Cosines({kind: {"who?": COSINES}}, dict.fromkeys(range(60), "film"))


def grounding(found_in: dict[int, int], k: int = 20) -> Grounding:
    return Grounding(TripletQuery(target="y"), SymbolCandidates({}), found_in=found_in, wanted=k)


def rank(found_in: dict[int, int], k: int = 20, **options: Any) -> Any:
    both = cosines(options.pop("has", "document"))
    return RankGrounded(both, both, MemoryText({}), **options)(WHO, grounding(found_in, k), Limit())


@pytest.mark.parametrize(
    ("k", "alpha", "kept"), [(20, 2 / 3, 13), (10, 2 / 3, 7), (5, 0.5, 2), (3, 0.5, 2), (20, 1.0, 20)]
)
def test_round_of_alpha_k_answers_are_kept(k: int, alpha: float, kept: int) -> None:
    found = rank(dict.fromkeys(range(40), 0), k, alpha=alpha)
    assert len(found.ranking) == kept
    assert (found.ranking.total, found.trust.n_cand, found.name) == (40, 40, "grounded")


def test_an_absolute_number_replaces_the_part_alpha() -> None:
    assert len(rank(dict.fromkeys(range(40), 0), keep=12).ranking) == 12


def test_answers_of_fewer_candidates_come_first_and_the_cosine_decides_within_a_round() -> None:
    found_in = {5: 1, 1: 2, 9: 1, 3: 0}
    assert rank(found_in).ranking.keys == (3, 5, 9, 1)
    assert rank(found_in, order="cosine").ranking.keys == (1, 3, 5, 9)


def test_vectors_without_relations_are_preferred_and_their_lack_is_said() -> None:
    assert rank({1: 0}).detail == ""
    said = rank({1: 0}, has="document+relations").detail
    assert said == "This release has no vectors of the kind document; document+relations is used."


def test_nothing_grounded_is_an_empty_list() -> None:
    assert len(rank({}).ranking) == 0


def fill(
    folder: Path, kept: Ranking, found_in: dict[int, int], k: int = 5, labels: tuple[str, ...] = (), **options: Any
) -> Ranking:
    both = cosines()
    stage = Fill(both, both, MemoryText({}), adjacency_of(folder, FILMS, ()), **options)
    return stage(WHO, labels, grounding(found_in, k), kept, Limit())


def test_documents_fill_the_list_up_to_k_without_anything_that_was_grounded(tmp_path: Path) -> None:
    # Grounded: 0, 1, 2, 40; kept: 40 and 1. Up to k = 5 come 3, 4, 5; behind them everything else by cosine.
    found = fill(tmp_path, ranked({40: 0.6, 1: 0.9}), {0: 0, 1: 0, 2: 0, 40: 0}, depth=8)
    assert found.keys == (3, 4, 5, 0, 2, 6)


def test_many_grounded_answers_do_not_keep_the_list_from_being_filled(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("search.stages.fill._AT_FIRST", 4)
    found = fill(tmp_path, ranked({0: 0.9}), dict.fromkeys(range(50), 0), k=4, depth=4)
    assert found.keys == (50, 51, 52)


def test_without_anything_grounded_the_documents_are_the_list(tmp_path: Path) -> None:
    assert fill(tmp_path, Ranking(), {}, depth=10).keys == tuple(range(10))


def test_only_the_predicted_type_fills_the_list_up(tmp_path: Path) -> None:
    nodes = tuple(Node(key, f"{key:02}", "film" if key % 2 else "person", f"N{key}") for key in range(10))
    both = Cosines({"document+relations": {"who?": dict(list(COSINES.items())[:10])}}, {n.key: n.type for n in nodes})
    stage = Fill(both, both, MemoryText({}), adjacency_of(tmp_path, Graph(nodes, ()), ()))
    assert stage(WHO, ("film",), grounding({}), Ranking(), Limit()).keys == (1, 3, 5, 7, 9)


def test_without_vectors_words_order_and_fill_the_list(tmp_path: Path) -> None:
    class Words(MemoryText):
        def word_scores(self, text: str, keys: Any, field: str | None = None) -> Any:
            import numpy as np

            return np.ones(2), np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 1.0]])

    none, words = MemoryVectors({}), Words({7: 3.0, 8: 2.0, 9: 1.0})
    found = RankGrounded(HashEncoder(), none, words)(WHO, grounding({1: 0, 2: 0, 3: 0}), Limit())
    assert found.ranking.scores == {3: 3.0, 1: 1.0, 2: 0.5}
    assert "BM25" in found.detail
    filled = Fill(HashEncoder(), none, words, adjacency_of(tmp_path, FILMS, ()))(
        WHO, (), grounding({8: 0}, 2), ranked({1: 1.0}), Limit()
    )
    assert filled.keys == (7, 8, 9)
    assert "BM25" in filled.detail


@pytest.mark.parametrize("first", [{}, {9: 0.1}, {9: 0.1, 8: 0.9, 7: 0.5}, dict.fromkeys(range(30, 50), 0.5)])
def test_one_list_stands_after_the_other_whatever_their_scores(first: dict[int, float]) -> None:
    both = cosines()
    order = Ranking.in_order([*ranked(first)])
    second = ranked({1: 0.99, 2: 0.98, 3: 0.97})
    joined = Join(both, both)(WHO, order, second, Limit())
    assert joined.ranking.keys == (*order.keys, *second.keys)
    assert [c.score for c in joined.ranking] == sorted((c.score for c in joined.ranking), reverse=True)
    for candidate in joined.ranking:
        leaves = joined.leaves(candidate.key)
        assert sum(share.contribution for share in leaves.values()) == pytest.approx(candidate.score, abs=1e-9)
