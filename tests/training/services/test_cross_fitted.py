"""What learned from a question is not asked about it where anything is chosen or measured by the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search import wiring
from search.domain.question import Question
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, Release, SearchRun
from search.neural.plan_scorer import LearnedPlanScorer, LoadedPlanScorers
from search.stages.plan.rules import RulePlanner
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.learning.plan_files import served, tensors
from training.learning.plan_fit import fit
from training.learning.plan_lists import Collector
from training.learning.task import FOLDS
from training.services.evaluate import evaluate
from training.services.train import train
from training.services.tune import _about_learned, tune

pytestmark = pytest.mark.django_db
SETTINGS = {**makers.QUICK, "epochs": 4, "measured": 0}
TAUGHT = [replace(example, split="train") for example in makers.questions(end=8)]
UNSEEN = [replace(example, split="val") for example in makers.questions(8, 11)]
CLOSE = 0.01
"""Half precision: how far a probability of a scorer that is kept may lie from that of one that is not."""


class Only:
    """One scorer, whatever is asked for (interfaces.PlanScorers)."""

    def __init__(self, scorer: LearnedPlanScorer) -> None:
        self.scorer = scorer

    def get(self, artifact: str, fold: int = -1) -> LearnedPlanScorer:
        return self.scorer


def trained() -> Artifact:
    train(kind="planner", knowledge_base="makers", examples=TAUGHT, settings=SETTINGS, unproven=True)
    return Artifact.objects.get()


def planner() -> RulePlanner:
    tools = wiring.tools(Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get())
    return RulePlanner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema)


def refitted(fold: int, folds: dict[str, int], temperature: float) -> RulePlanner:
    """Return a planner that was taught, here and now, only the questions of the other folds."""
    plain = planner()
    others = [example for example in TAUGHT if folds[question_hash(example)] != fold]
    known = plain.knowledge
    lists = Collector(plain).collect(
        [example.text for example in others], makers.lesson(plain, others).answers, lambda done: None, Limit()
    )
    wordings = known.vectors.of([known.wording.plan((path,)) for path in lists.paths])
    how = makers.PlannerLearner(**SETTINGS).fit_of(len(TAUGHT))
    fitted = fit(lists, wordings, np.arange(len(lists)), how, lambda epoch, loss: None)
    fitted.net.temperature.fill_(temperature)
    scorer = LearnedPlanScorer("refit", served(fitted, lists.paths, plain), tensors(fitted))
    return replace(plain, plan_scorers=Only(scorer), artifact="refit")


def probabilities(asked: RulePlanner, example: Example) -> dict[str, float]:
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
    whole = replace(planner(), plan_scorers=LoadedPlanScorers(artifact.directory.parent), artifact=artifact.id)
    temperature = float(wiring.plan_scorers().get(artifact.id)._net.temperature)
    refits = [refitted(fold, folds, temperature) for fold in (0, 1)]
    differ = []
    for example in TAUGHT:
        mine = folds[question_hash(example)]
        assert apart(recorded(example), probabilities(refits[mine], example)) < CLOSE
        differ.append(apart(recorded(example), probabilities(whole, example)) > 2 * CLOSE)
    assert sum(differ) > len(TAUGHT) / 2, "else nothing shows which scorer was asked"
    for example in UNSEEN:
        assert apart(recorded(example), probabilities(whole, example)) < 1e-4
    used = dict(SearchRun.objects.values_list("purpose", "specification__stages__plan__OPTIONS__fold"))
    assert used == {e.id: folds[question_hash(e)] for e in TAUGHT} | {e.id: -1 for e in UNSEEN}


def test_an_artifact_without_scorers_of_folds_is_used_and_its_questions_are_left_out(
    makers_base: KnowledgeBase,
) -> None:
    artifact = trained()
    (artifact.directory / "fold-1.safetensors").unlink()
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
    asked = replace(
        planner(), plan_scorers=LoadedPlanScorers(artifact.directory.parent), artifact=artifact.id, fold=7
    )  # fmt: skip
    listed = asked(Question(UNSEEN[0].text), Limit())
    assert f"{artifact.id} has kept 2 scorers of folds, and number 7 is none of them" in listed.detail
