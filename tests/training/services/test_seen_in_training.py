"""What was learned from can be told for ever: reports count it by what learned, val needs a flag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search.models import Artifact, KnowledgeBase
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.services.evaluate import evaluate
from training.services.learned_from import QUESTIONS_FILE
from training.services.train import train
from training.services.tune import tune

pytestmark = pytest.mark.django_db
LITTLE = {**makers.QUICK, "steps": 1}
TAUGHT = [replace(example, split="train") for example in makers.questions(end=6)]
UNSEEN = [replace(example, split="val") for example in makers.questions(6, 9)]


def trained(examples: list[Example], **more: Any) -> dict[str, Any]:
    return train(kind="planner", knowledge_base="makers", examples=examples, settings=LITTLE, unproven=True, **more)


def part(examples: list[Example], output: Path) -> dict[str, Any]:
    report = evaluate(
        knowledge_base="makers", examples=examples, split=None, pipelines=["grasp"], settings={}, output=output
    )
    return report["pipelines"]["grasp"]


def renamed(example: Example) -> Example:
    """Return a question as another file has it: other id, other split, other case and punctuation."""
    return replace(example, id=f"other-{example.id}", split="val", text=f"{example.text.upper()}?")


def test_a_report_counts_the_questions_that_were_learned_from(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    asked = [renamed(TAUGHT[0]), renamed(TAUGHT[5]), *UNSEEN]
    before = part(asked, tmp_path / "before")
    assert (before["seen_in_training"], before["trained"]) == (0, {})
    report = trained(TAUGHT)
    found = part(asked, tmp_path / "after")
    assert (found["seen_in_training"], found["seen_by"]) == (2, {"planner": 2})
    assert found["trained"] == {report["artifact"]: {"splits": {"train": 12}, "allow_val": False}}
    (Artifact.objects.get().directory / QUESTIONS_FILE).unlink()
    lost = part(asked, tmp_path / "lost")
    assert (lost["seen_in_training"], lost["seen_by"]) == (None, {"planner": None})


def test_val_is_learned_from_where_that_is_asked_for_and_everybody_is_told(
    makers_base: KnowledgeBase, tmp_path: Path
) -> None:
    mixed = [*TAUGHT, *UNSEEN]
    with pytest.raises(BadQuestions, match="Training on the split 'val' needs --allow-val"):
        trained(mixed)
    report = trained(mixed, allow_val=True)
    assert (report["allow_val"], report["splits"]) == (True, {"train": 12, "val": 6})
    artifact = Artifact.objects.get()
    assert artifact.configuration["allow_val"] is True
    assert "It has learned from questions of `val`" in (artifact.directory / "README.md").read_text()
    assert part(UNSEEN, tmp_path)["trained"][artifact.id] == {"splits": {"train": 12, "val": 6}, "allow_val": True}
    assert part(UNSEEN, tmp_path)["seen_in_training"] == 6


def test_a_question_without_a_split_among_others_that_have_one_is_refused(makers_base: KnowledgeBase) -> None:
    with pytest.raises(BadQuestions, match="question 'made-0' has none while others have one"):
        trained([replace(TAUGHT[0], split=""), *TAUGHT[1:]])
    with pytest.raises(BadQuestions, match="Tuning takes questions of a split"):
        tune(knowledge_base="makers", examples=[replace(TAUGHT[0], split=""), *UNSEEN], split=None, pipeline="grasp")
