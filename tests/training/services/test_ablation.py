"""Which rows the ablation measures, given the artifacts that a knowledge base has."""

from __future__ import annotations

import pytest

from benchmarks.ablation import REAL, SYNTHESISED, artifacts_of, rows_of
from search.models import Artifact, KnowledgeBase


def titles(*kinds: str, learned: str = REAL) -> list[str]:
    """The titles of the learned rows."""
    rows = rows_of({(learned, kind): f"{kind}-1" for kind in kinds})
    return [title.removesuffix(f", {learned}") for title, _ in rows if title.endswith(learned)]


def test_a_row_is_named_after_what_has_learned_and_uses_that_alone() -> None:
    assert titles() == []
    assert titles("planner") == ["planner"]
    assert titles("ranker") == ["graph and light ranker"]
    assert titles("retriever", "ranker") == [
        "fields", "graph and light ranker", "graph and fields", "graph, fields and light ranker",
    ]  # fmt: skip
    assert titles("planner", "retriever", "ranker")[-1] == "planner, fields and light ranker"
    rows = dict(rows_of({(REAL, "ranker"): "ranker-1"}))
    assert "retrieve=hybrid" in rows[f"graph and light ranker, {REAL}"]


def test_each_title_is_there_once_and_neural_rows_only_where_they_are_wanted() -> None:
    artifacts = {
        (learned, kind): f"{kind}-{at}"
        for at, learned in enumerate((SYNTHESISED, REAL))
        for kind in ("planner", "retriever", "ranker", "reranker")
    }
    every = [title for title, _ in rows_of(artifacts)]
    assert len(every) == len(set(every))
    assert [title for title, _ in rows_of(artifacts, neural=False) if "neural" in title or "encoder" in title] == []


@pytest.mark.django_db
@pytest.mark.parametrize(("splits", "learned"), [({"train": 5}, REAL), ({}, SYNTHESISED), ({"": 500}, SYNTHESISED)])
def test_questions_of_the_split_train_are_the_real_ones(splits: dict[str, int], learned: str) -> None:
    base = KnowledgeBase.objects.create(name="ablated")
    Artifact.objects.create(id="ranker-1", knowledge_base=base, kind="ranker", configuration={"splits": splits})
    assert artifacts_of("ablated") == {(learned, "ranker"): "ranker-1"}
