"""What learned from a question is not asked about it where anything is chosen or measured by the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search import wiring
from search.domain.question import Question
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, Release, SearchRun
from search.neural.plan_scorer import LoadedPlanScorers
from search.stages.plan import Planner
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.learning.task import FOLDS
from training.services.evaluate import evaluate
from training.services.train import train
from training.services.tune import _about_learned, tune

pytestmark = pytest.mark.django_db
SETTINGS = {**makers.QUICK, "steps": 4}
TAUGHT = [replace(example, split="train") for example in makers.questions(end=8)]
UNSEEN = [replace(example, split="val") for example in makers.questions(8, 11)]
SAME = 1e-4
"""How far probabilities of the same weights may lie apart."""


def trained() -> Artifact:
    train(kind="planner", knowledge_base="makers", examples=TAUGHT, settings=SETTINGS, unproven=True)
    return Artifact.objects.get()


def planner(fold: int = -1, artifact: Artifact | None = None) -> Planner:
    """Return the planner of searches, with a trained artifact if one is given."""
    tools = wiring.tools(Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get())
    plain = Planner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, tools.columns,
                    values=tools.values, text=tools.text, vectors=tools.vectors)  # fmt: skip
    if artifact is None:
        return plain
    return replace(plain, plan_scorers=LoadedPlanScorers(artifact.directory.parent), artifact=artifact.id, fold=fold)


def probabilities(asked: Planner, example: Example) -> dict[str, float]:
    listed = asked(Question(example.text), Limit())
    return {json.dumps(one.plan.to_json(), sort_keys=True): one.probability for one in listed}


def recorded(example: Example) -> dict[str, float]:
    """Return the probabilities of the plans of the search that was recorded for a question."""
    step = SearchRun.objects.get(purpose=example.id).steps.get(role="plan")
    return {json.dumps(one["plan"], sort_keys=True): one["probability"] for one in step.output}


def apart(one: dict[str, float], other: dict[str, float]) -> float:
    """Return the greatest difference of two lists of plans; one that is not in a list has none there."""
    return max(abs(one.get(plan, 0.0) - other.get(plan, 0.0)) for plan in {*one, *other})


def tuned(examples: list[Example]) -> dict[str, Any]:
    return tune(knowledge_base="makers", examples=examples, split=None, pipeline="grasp")


def part(examples: list[Example], output: Path, *, cross_fitted: bool = False) -> dict[str, Any]:
    report = evaluate(
        knowledge_base="makers", examples=examples, split=None, pipelines=["grasp"], settings={}, output=output,
        cross_fitted=cross_fitted,
    )  # fmt: skip
    found: dict[str, Any] = report["pipelines"]["grasp"]
    return found


def test_a_single_training_question_is_told_as_one() -> None:
    assert _about_learned(1, 2) == (
        "1 training question was searched with a scorer that had not learned from it. "
        "2 training questions were left out. "
    )
    assert _about_learned(0, 0) == ""


def test_tuning_asks_seen_questions_of_what_was_fitted_without_them(makers_base: KnowledgeBase) -> None:
    artifact = trained()
    report = tuned([*TAUGHT, *UNSEEN])
    assert (report["questions"], report["cross_fitted"], report["left_out"]) == (22, 16, 0)
    assert report["reason"].startswith(
        "16 training questions were searched with a scorer that had not learned from them. "
    )
    folds = json.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
    whole, parts = planner(artifact=artifact), [planner(fold, artifact) for fold in (0, 1)]
    differ = []
    for example in TAUGHT:
        mine = folds[question_hash(example)]
        assert apart(recorded(example), probabilities(parts[mine], example)) < SAME
        differ.append(apart(recorded(example), probabilities(whole, example)) > 2 * SAME)
    assert sum(differ) > len(TAUGHT) / 2, "else nothing shows which scorer was asked"
    for example in UNSEEN:
        assert apart(recorded(example), probabilities(whole, example)) < SAME
    used = dict(SearchRun.objects.values_list("purpose", "specification__stages__plan__OPTIONS__fold"))
    assert used == {e.id: folds[question_hash(e)] for e in TAUGHT} | {e.id: -1 for e in UNSEEN}


def test_an_artifact_without_scorers_of_folds_is_used_and_its_questions_are_left_out(
    makers_base: KnowledgeBase,
) -> None:
    artifact = trained()
    (artifact.directory / "fold-1.json").unlink()
    folds = json.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
    kept = sum(folds[question_hash(example)] == 0 for example in TAUGHT)
    report = tuned([*TAUGHT, *UNSEEN])
    assert (report["cross_fitted"], report["left_out"]) == (kept, len(TAUGHT) - kept)
    (artifact.directory / FOLDS).unlink()
    SearchRun.objects.all().delete()
    report = tuned([*TAUGHT, *UNSEEN])
    assert (report["questions"], report["cross_fitted"], report["left_out"]) == (6, 0, 16)
    assert recorded(UNSEEN[0])
    with pytest.raises(BadQuestions, match="has learned from all of these questions"):
        tuned(TAUGHT)


def test_an_evaluation_asks_seen_questions_so_where_that_is_wanted(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    artifact = trained()
    plain = part([*TAUGHT, *UNSEEN], tmp_path / "plain")
    assert (plain["seen_in_training"], plain["cross_fitted"]) == (16, 0)
    SearchRun.objects.all().delete()
    crossed = part([*UNSEEN, *TAUGHT], tmp_path / "crossed", cross_fitted=True)
    assert (crossed["seen_in_training"], crossed["cross_fitted"]) == (16, 16)
    assert crossed["specification"] == plain["specification"]
    assert {"plan", "graph", "text list", "fusion", "explain"} <= crossed["latency_ms"]["stages"].keys()
    assert sum(one["questions"] for one in crossed["calibration"]["bins"]) == 22
    assert crossed["cached_model_calls"] == 0
    folds = json.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
    for example in TAUGHT:
        used = SearchRun.objects.get(purpose=example.id).specification["stages"]["plan"]["OPTIONS"]["fold"]
        assert used == folds[question_hash(example)]


def test_a_fold_that_was_not_kept_is_said(makers_base: KnowledgeBase) -> None:
    artifact = trained()
    asked = planner(7, artifact)
    listed = asked(Question(UNSEEN[0].text), Limit())
    assert f"{artifact.id} has kept 2 scorers of folds, and number 7 is none of them" in listed.detail
