"""Everything that a pipeline uses is trained in order, and only what held-out questions bear out is switched on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest
from search.domain.options import option
from search.domain.run_context import RunCancelled
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion
from search.services.jobs.change import resume_job
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from search.stages.retrieve import Hybrid
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.models import Evaluation
from training.services.judge_learner import ONLY_MADE_ONES
from training.services.judge_version import JudgedVersion, compare
from training.services.question_sets import register_questions
from training.services.train_all import train_all
from training.services.train_parts import parts_of_pipeline
from training.services.train_request import TrainRequest

pytestmark = pytest.mark.django_db
TAUGHT = makers.questions(end=makers.TAUGHT)
QUICK = {f"planner.{name}": value for name, value in makers.QUICK.items()}


@dataclass(frozen=True, kw_only=True)
class Learned(Hybrid):
    """Text retrieval that takes an artifact, and does nothing with it."""

    artifact: str = option("", "What was learned.")


@pytest.fixture
def town(makers_base: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The makers, with a second learner, which gains nothing, and a third, which is trained on request only."""
    grasp = settings.GRASP_PIPELINES["grasp"]
    retrieve = grasp["STAGES"]["retrieve"]
    variants = {**retrieve["VARIANTS"], "learned": {"BACKEND": f"{__name__}.Learned"}}
    stages = {**grasp["STAGES"], "retrieve": {**retrieve, "VARIANTS": variants}}
    settings.GRASP_PIPELINES = {**settings.GRASP_PIPELINES, "grasp": {**grasp, "STAGES": stages}}
    toy = {"BACKEND": "tests.training.toy.ToyLearner", "PIPELINE": "grasp", "OPTION": "retrieve.artifact",
           "VARIANTS": {"*": "learned"}}  # fmt: skip
    settings.GRASP_LEARNERS = {
        "slow": {**toy, "OPTION": "rerank.artifact", "ON_REQUEST": True},
        "retriever": toy,
        "planner": settings.GRASP_LEARNERS["planner"],
    }
    return makers_base


def asked(**changed: Any) -> TrainRequest:
    given: dict[str, Any] = {"knowledge_base": "makers", "examples": TAUGHT, "settings": QUICK}
    return TrainRequest(**{**given, **changed})


def test_parts_follow_the_stages_of_the_pipeline_and_what_takes_long_is_asked_for(town: KnowledgeBase) -> None:
    assert [part.name for part in parts_of_pipeline("grasp")] == ["planner", "retriever", "fusion"]
    assert [part.name for part in parts_of_pipeline("grasp", ["slow"])] == ["fusion", "slow"]
    with pytest.raises(InvalidRequest, match="'routter' is no learner of grasp; there are: slow, retriever, planner"):
        parts_of_pipeline("grasp", ["routter"])


def test_what_gains_is_switched_on_and_what_does_not_is_not(town: KnowledgeBase) -> None:
    report = train_all(asked())
    planner, retriever, fusion = report["parts"]
    assert (planner["part"], planner["switched_on"]) == ("planner", True)
    assert planner["after"]["H@1"] > planner["before"]["H@1"]
    found = {one["metric"]: one for one in planner["comparisons"]}
    assert found["MRR"]["p"] < 0.05 < found["MRR"]["difference"]
    assert planner["reason"].startswith(f"On {len(TAUGHT)} held-out questions MRR changes by +")
    assert (retriever["part"], retriever["switched_on"]) == ("retriever", False)
    # It keeps no models of folds, so it is tried on most of the questions, and judged on the rest.
    held = retriever["questions"]
    assert 1 <= held < len(TAUGHT) / 2
    assert retriever["reason"] == (
        f"On {held} held-out questions of {len(TAUGHT)} MRR changes by +0.00 (95% +0.00 to +0.00, p = 1; 0 won, {held} "
        f"equal, 0 lost) and H@1 changes by +0.00 (95% +0.00 to +0.00, p = 1; 0 won, {held} equal, 0 lost). It is not "
        "switched on, because no question is answered better or worse."
    )
    assert fusion["part"] == "fusion"
    assert {surface["method"] for surface in fusion["surfaces"]} == {"static", "dynamic"}
    assert report["switched_on"] == [part["part"] for part in report["parts"] if part["switched_on"]]
    active = PipelineVersion.objects.get(active=True)
    assert (active.version, report["active"]) == (report["pipeline_version"], True)
    assert active.options["plan.artifact"] == planner["artifact"]
    assert "retrieve.artifact" not in active.options
    # What was not borne out is there, and can be promoted by hand.
    other = PipelineVersion.objects.get(version=retriever["pipeline_version"])
    assert other.options == {"plan.artifact": planner["artifact"], "retrieve": "learned",
                             "retrieve.artifact": retriever["artifact"]}  # fmt: skip
    activate_pipeline_version(other)
    assert Evaluation.objects.filter(status="done", purpose="report").count() == 3 + fusion["switched_on"]


def test_an_order_that_only_made_questions_have_taught_is_held_back_however_much_they_gain() -> None:
    none, every, fair = [0.0] * 40, [1.0] * 40, [True] * 40
    gains = compare(judged(none, fair), judged(every, fair))
    refused = gains.refused(ONLY_MADE_ONES)
    assert (gains.better, refused.better, refused.after) == (True, False, gains.after)
    assert gains.reason.endswith("It is switched on.")
    assert refused.reason.endswith(f"40 won, 0 equal, 0 lost). It is not switched on, because {ONLY_MADE_ONES}.")


def test_an_interrupted_training_goes_on_and_ends_as_it_would_have(town: KnowledgeBase) -> None:
    register_questions(knowledge_base="makers", examples=TAUGHT, name="asked")
    job, _ = launch_job(kind="train_all", knowledge_base="makers", question_set="asked", here=True,
                        arguments={"settings": QUICK, "learners": ["planner"]})  # fmt: skip
    parts = {part["name"] for part in job.progress["parts"]}
    told: set[str] = set()

    def stop(part: str, done: int, total: int | None) -> None:
        told.add(part)
        if (part, done) == ("planner: judging: grasp", 5):
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_here(job, stop)
    assert told <= parts, told - parts
    assert (Artifact.objects.count(), PipelineVersion.objects.filter(active=True).count()) == (1, 0)
    resume_job(job, user=None, here=True)
    report = run_here(job)
    assert (job.state, Artifact.objects.count(), report["switched_on"][0]) == ("done", 1, "planner")
    versions = PipelineVersion.objects.count()
    # As if its process had died between the last write and the end of the job.
    Job.objects.filter(pk=job.pk).update(state="queued", finished=None)
    job.refresh_from_db()
    again = run_here(job)
    assert {**again, "seconds": 0} == {**report, "seconds": 0}
    assert (Artifact.objects.count(), PipelineVersion.objects.count()) == (1, versions)


def test_the_command_trains_everything_and_prints_why(town: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text("".join(
        json.dumps({"id": one.id, "text": one.text, "answers": list(one.answers), "split": "train"}) + "\n"
        for one in TAUGHT
    ))  # fmt: skip
    out = StringIO()
    sets = [part for name, value in QUICK.items() for part in ("--set", f"{name}={value}")]
    call_command("train", "all", "makers", "--questions", str(path), "--learners", "planner", "--no-activate", "--json",
                 *sets, stdout=out)  # fmt: skip
    report = json.loads(out.getvalue())
    assert (report["parts"][0]["switched_on"], report["active"]) == (True, False)
    assert not PipelineVersion.objects.filter(active=True).exists()
    assert Job.objects.get().kind == "train_all"


def test_bad_requests_are_refused_before_anything_is_trained(town: KnowledgeBase) -> None:
    with pytest.raises(InvalidRequest, match=r"'router\.x' is of no learner that is trained: planner, retriever"):
        train_all(asked(settings={"router.x": 1}))
    with pytest.raises(InvalidRequest, match=r"Training a planner has no setting 'folders'"):
        train_all(asked(settings={"planner.folders": 1}))
    with pytest.raises(BadQuestions, match="Training on the split 'test'"):
        train_all(asked(examples=[*TAUGHT, Example("q", "what", ("p0",), "test")]))
    with pytest.raises(InvalidRequest, match="There is no pipeline 'grap'"):
        train_all(asked(pipeline="grap"))
    assert not Artifact.objects.exists()


def test_ten_questions_bear_out_nothing(town: KnowledgeBase) -> None:
    report = train_all(asked(examples=TAUGHT[:9], learners=["planner"]))
    assert report["switched_on"] == []
    assert report["parts"][0]["reason"] == "There are 9 questions to learn from; it takes 10 at least."
    assert "Too few questions to choose by (9)" in report["parts"][1]["reason"]
    assert (report["pipeline_version"], report["active"]) == (0, False)


def judged(hits: list[float], fair: list[bool]) -> JudgedVersion:
    values = {name: np.array(hits) for name in ("H@1", "H@5", "R@20", "MRR")}
    return JudgedVersion("e", values, np.array(fair))


def test_only_questions_that_are_fair_to_both_decide() -> None:
    before = judged([0.0] * 20, [True] * 20)
    after = judged([100.0] * 8 + [0.0] * 12, [True] * 20)
    # 8 wins of 20: of the 2^8 changes of signs, two are as extreme, so p = 2 / 256.
    verdict = compare(before, after)
    assert (verdict.better, verdict.questions) == (True, 20)
    assert verdict.comparisons[0]["p"] == pytest.approx(2 / 256, abs=1e-6)
    # Of the wins only 4 are fair: p = 2 / 16.
    unfair = judged([100.0] * 8 + [0.0] * 12, [False] * 4 + [True] * 16)
    verdict = compare(before, unfair)
    assert (verdict.better, verdict.questions) == (False, 16)
    assert "p = 0.125" in verdict.reason


def test_a_gain_by_one_measure_that_costs_the_other_is_not_taken() -> None:
    before = judged([0.0] * 20, [True] * 20)
    after = judged([100.0] * 12 + [0.0] * 8, [True] * 20)
    after.values["H@1"] = np.array([-5.0] * 20)
    assert not compare(before, after).better
