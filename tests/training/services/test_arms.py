"""Arms of an ablation that share what they can give the figures of searches that share nothing."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import arms
from benchmarks.arms import Memo, Shared, answered
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import KnowledgeBase
from tests.training import makers
from training.evaluation.measures import means
from training.services.evaluate import evaluate

CHOICES = {
    "words": "bm25@0",
    "graph": "grasp@0 rerank=none fuse.method=static fuse.weight=1 fuse.lead=2",
    "both": "grasp@0 rerank=none",
    "the same": "grasp@0",
    "fields": "grasp@0 retrieve=mfar",
}


@pytest.mark.django_db
def test_arms_measure_what_an_evaluation_measures_and_equal_ones_are_left_out(makers_base: KnowledgeBase) -> None:
    asked = makers.questions()[:6]
    found = answered("makers", CHOICES, asked)
    assert list(found) == ["words", "graph", "both", "fields"]
    report = evaluate(
        knowledge_base="makers", examples=asked, split=None, pipelines=[CHOICES[title] for title in found], settings={},
        repeated=0, attribute=False,
    )  # fmt: skip
    for title, one in found.items():
        expected = report["pipelines"][CHOICES[title]]["metrics"]
        assert {name: value for name, value in means(one.values).items() if name in expected} == expected
        assert (len(one.seconds), one.failed) == (6, 0)
        assert min(one.seconds) > 0


def test_a_stage_is_computed_once_for_the_same_options_and_inputs() -> None:
    calls: list[str] = []

    def stage(question: list[str], limit: Limit) -> list[str]:
        calls.append(question[0])
        return [question[0].upper()]

    shared, first, second = Shared(), [0.0], [0.0]
    question, other = ["a"], ["a"]
    one, again = Memo(stage, b"x", shared, first), Memo(stage, b"x", shared, second)
    result = one(question, Limit())
    assert again(question, Limit()) is result
    assert first == second
    assert (calls, first[0] > 0) == (["a"], True)
    # Equal inputs that are other objects may come from other options of the stages before.
    assert again(other, Limit()) is not result
    assert Memo(stage, b"y", shared, second)(question, Limit()) == ["A"]
    assert calls == ["a", "a", "a"]


def test_what_a_stage_raised_is_raised_again() -> None:
    def broken(*_: Any) -> None:
        raise StageError("plan", "no model")

    shared = Shared()
    for _ in range(2):
        with pytest.raises(StageError, match="no model"):
            Memo(broken, b"", shared, [0.0])(1)
    assert len(shared.known) == 1


def test_nothing_is_explained() -> None:
    assert arms._unexplained(1, 2) == []
