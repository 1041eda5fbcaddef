"""Clauses by hand, and the scores of passages against loops over all clauses and passages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from search import wiring
from search.domain.graph import Node
from search.domain.vector_kinds import PASSAGE
from search.fields import passages
from search.fields.names import PASSAGES, lists_of, title
from search.fields.passages import Passages, clauses
from search.fields.scores import FieldScores
from search.services.knowledge.index_snapshot import build_index
from search.text import passages as passages_of
from tests.fakes import HashEncoder
from tests.search.services.knowledge.test_index_snapshot import GRAPH, snapshot_of

ENCODER = HashEncoder()
QUESTION = "Which painkiller acts for three hours, and whose carrier is albumin?"


def test_a_question_is_cut_where_its_clauses_join() -> None:
    assert [(one.text, one.words) for one in clauses(QUESTION)] == [
        ("painkiller acts for three hours", 4), ("carrier is albumin", 2),
    ]  # fmt: skip


def test_a_question_without_two_words_of_its_own_is_one_clause() -> None:
    assert [one.text for one in clauses("What is it?")] == ["What is it?"]
    assert [one.text for one in clauses("amber")] == ["amber"]


def test_the_longest_clauses_of_a_long_question_stay_in_their_order() -> None:
    told = [f"part {'word ' * (1 + at % 3)}number{at}" for at in range(12)]
    kept = clauses(", ".join(told))
    assert len(kept) == passages.MOST_CLAUSES
    assert [one.text for one in kept] == [one for one in told if one in {clause.text for clause in kept}]
    assert min(clause.words for clause in kept) >= 4


def test_passages_are_sentences_together_or_in_parts_and_hold_no_name() -> None:
    short, long = "It is quick.", " ".join(f"w{at}" for at in range(95))
    said = {"text": f"{short} {short} {long}. Last one here.", "url": "https://a.b/Amber"}
    node = Node(0, "1", "drug", "Amber", fields=said)
    words = [one.split() for one in passages_of(node)]
    assert words[0] == [*short.split(), *short.split()]
    assert words[1] == [f"w{at}" for at in range(50)]
    assert words[2][:5] == [f"w{at}" for at in range(45, 50)]
    assert " ".join(words[-1]) == "Last one here."
    assert all("Amber" not in one and "https" not in " ".join(one) for one in words)
    assert passages_of(Node(1, "2", "drug", "Amber")) == ["Amber"]


@pytest.mark.django_db
def test_the_score_is_the_mean_over_clauses_of_the_best_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "KEPT", 4)
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=ENCODER, kinds=[PASSAGE]).release)
    parts = clauses(QUESTION)
    weights = [math.sqrt(one.words) for one in parts]
    expected = []
    for node in GRAPH.nodes:
        rows = [ENCODER.vector(one) for one in passages_of(node)]
        best = [max(float(ENCODER.vector(one.text) @ row) for row in rows) for one in parts]
        expected.append(sum(w * b for w, b in zip(weights, best, strict=True)) / sum(weights))
    floor = sorted(expected)[-4]
    keys, scores = Passages(ENCODER, tools.vectors).of(QUESTION)
    wanted = {key: score - floor for key, score in enumerate(expected) if score > floor + 2e-3}
    assert wanted.keys() <= set(keys.tolist())
    for key, score in zip(keys.tolist(), scores.tolist(), strict=True):
        assert score == pytest.approx(expected[key] - floor, abs=4e-3)
    lists = lists_of(tools.vectors.kinds, tools.text.fields, tools.adjacency.size)
    assert PASSAGES in lists
    assert title(PASSAGES) == "Passages, clause by clause"
    scored = FieldScores(tools.text, tools.mentions, tools.adjacency, Passages(ENCODER, tools.vectors))
    assert np.allclose(scored.of(QUESTION, [PASSAGES])[PASSAGES][1].max(), 1.0)


@pytest.mark.django_db
def test_a_release_without_passages_has_no_such_list() -> None:
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=ENCODER).release)
    assert PASSAGES not in lists_of(tools.vectors.kinds, tools.text.fields, tools.adjacency.size)
