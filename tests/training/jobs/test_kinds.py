"""Evaluating, tuning and training as jobs: what is refused at launch, what comes of them, and going on after a kill."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest
from search.domain.run_context import RunCancelled
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion, SearchRun
from search.services.jobs.change import resume_job
from search.services.jobs.kinds import about, kind_class
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from tests.search import strange
from training.data.examples import Example
from training.models import ChosenOptions, Evaluation
from training.services.question_sets import register_questions

pytestmark = pytest.mark.django_db
EXAMPLES = [Example(f"q{number}", f"film/2 please, number {number}", ("film/2",), "val") for number in range(24)]


@pytest.fixture
def town(films: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The films, with pipelines that can be tuned, and a set of questions."""
    settings.GRASP_PIPELINES = strange.PIPELINES
    settings.GRASP_DEFAULT_PIPELINE = "walking"
    register_questions(knowledge_base="films", examples=EXAMPLES, name="asked")
    return films


def launched(kind: str, **arguments: Any) -> Job:
    job, _ = launch_job(kind=kind, knowledge_base="films", question_set="asked", arguments=arguments, here=True)
    return job


def refused(kind: str, question_set: str = "asked", **arguments: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as error:
        launch_job(kind=kind, knowledge_base="films", question_set=question_set, arguments=arguments)
    return {fault.pointer: fault.message for fault in error.value.faults}


def test_an_evaluation_is_a_job_with_the_newest_version_of_its_question_set(town: KnowledgeBase) -> None:
    register_questions(knowledge_base="films", examples=EXAMPLES[:8], name="asked")
    job = launched("evaluate", pipelines=["walking"])
    assert (job.question_set, job.release_name) == ("asked@2", "films-1")
    report = run_here(job)
    assert (report["questions"], list(report["pipelines"])) == (8, ["walking"])
    assert job.result["evaluation"] == report["evaluation"]
    assert Evaluation.objects.get().status == "done"


def test_each_training_says_what_its_part_is_for() -> None:
    told = {kind: about(kind_class(f"train_{kind}")) for kind in ("planner", "ranker", "reranker", "retriever")}
    # The page that lists the kinds has nothing else to choose by.
    assert len({text.replace(kind, "part") for kind, text in told.items()}) == len(told)
    for kind, text in told.items():
        assert text.startswith(f"Trains a {kind}, "), text


def size_of(job: Job) -> float:
    return sum(part["size"] for part in job.progress["parts"])


def test_the_sizes_of_the_parts_follow_from_the_number_of_questions(town: KnowledgeBase) -> None:
    # 24 questions and 20 of them again at 0.1 s each; of ten, all are asked again.
    assert size_of(launched("evaluate", pipelines=["walking"])) == pytest.approx(4.4)
    assert size_of(launched("evaluate", pipelines=["walking"], limit=10)) == pytest.approx(2.0)
    # A planner's 100 s, and 50 s of searches before and after it, are for 1,000 questions; 24 take no less than 100 do.
    # 600 are made in 2 s.
    whole = {"split": "val", "allow_val": True}
    assert size_of(launched("train_planner", **whole)) == pytest.approx(20.0)
    made = size_of(launched("train_planner", **whole, synthesised=600))
    assert made == pytest.approx(2.0 + 200 * 0.624)


@pytest.mark.parametrize("kind", ["evaluate", "tune"])
def test_another_version_of_the_pipeline_after_the_launch_changes_nothing(town: KnowledgeBase, kind: str) -> None:
    job = launched(kind, **({"pipelines": ["walking"]} if kind == "evaluate" else {"activate": False}))
    save_pipeline_version(knowledge_base=town, pipeline="walking", options={"blend.k": 7})
    run_here(job)
    assert [one["version"] for one in Evaluation.objects.get().specifications] == [0]


def test_an_evaluation_of_another_release_names_it_in_its_row(town: KnowledgeBase) -> None:
    asked: dict[str, Any] = {"kind": "evaluate", "knowledge_base": "films", "question_set": "asked", "here": True}
    job, _ = launch_job(**asked, release="films-1", arguments={"pipelines": ["walking"]})
    assert (job.release_name, job.specification["target"]["release"]) == ("films-1", "films-1")
    with pytest.raises(InvalidRequest, match="films has no release 'films-9'; it has: films-1"):
        launch_job(**asked, release="films-9", arguments={"pipelines": ["walking"]})


def test_what_is_wrong_with_an_evaluation_is_told_at_launch(town: KnowledgeBase) -> None:
    told = refused("evaluate", pipelines=["walkin"], split="dev", output="here")
    assert set(told) == {"/arguments/pipelines", "/question_set", "/arguments/output"}
    assert "/arguments/settings/fuse.q" in refused("evaluate", pipelines=["walking"], settings={"fuse.q": 1})
    assert refused("evaluate", question_set="askd")["/question_set"].startswith("films has no question set 'askd'.")
    assert "/question_set" in refused("evaluate", question_set="")
    assert not Job.objects.exists()


def test_a_tuning_that_is_interrupted_goes_on_and_saves_one_choice(
    town: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = launched("tune")

    def stop(part: str, done: int, total: int | None) -> None:
        if (part, done) == ("searches", 10):
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_here(job, stop)
    assert (job.state, SearchRun.objects.count(), ChosenOptions.objects.count()) == ("cancelled", 10, 0)
    resume_job(job, user=None, here=True)
    report = run_here(job)
    assert (job.state, SearchRun.objects.count(), Evaluation.objects.count()) == ("done", 24, 1)
    assert report["questions"] == 24
    saved = PipelineVersion.objects.count()
    # As if its process had died between the last write and the end of the job.
    Job.objects.filter(pk=job.pk).update(state="queued", finished=None)
    job.refresh_from_db()
    assert run_here(job) == report
    assert (PipelineVersion.objects.count(), Evaluation.objects.get().status) == (saved, "done")


def test_tuning_refuses_a_pipeline_and_a_split_at_launch(town: KnowledgeBase) -> None:
    told = refused("tune", pipeline="walkin", split="test")
    assert set(told) == {"/arguments/split"}
    assert set(refused("tune", pipeline="walkin")) == {"/arguments/pipeline"}


def test_training_refuses_settings_and_splits_at_launch(town: KnowledgeBase) -> None:
    told = refused("train_planner", split="val", settings={"folds": 1, "fold": 3})
    assert set(told) == {"/arguments/settings/folds", "/arguments/settings/fold", "/question_set"}
    assert "needs --allow-val" in told["/question_set"]
    assert set(refused("train_planner")) == {"/question_set"}


def test_training_refuses_too_few_questions_at_launch_as_the_form_and_the_command_do(town: KnowledgeBase) -> None:
    few = {"/arguments/synthesised": "There are 150 synthesised questions to learn from and no others; it takes 200."}
    assert refused("train_retriever", "", synthesised=150) == few
    beside = refused("train_retriever", limit=12, split="val", allow_val=True, synthesised=200)
    assert beside == {
        "/question_set": "There are 12 questions to learn from; it takes 20 at least. Synthesised ones beside them do "
        "not count."
    }  # fmt: skip


def test_a_training_whose_process_died_after_its_last_write_registers_nothing_twice(
    films: KnowledgeBase, settings: Settings, tmp_path: Any
) -> None:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_LEARNERS = {
        "planner": {"BACKEND": "tests.training.toy.ToyLearner", "PIPELINE": "text", "OPTION": "retrieve.artifact"}
    }
    stages = {
        **settings.GRASP_PIPELINES["text"]["STAGES"],
        "retrieve": {"BACKEND": "tests.training.services.test_any_learner.Find"},
    }
    settings.GRASP_PIPELINES = {"text": {**settings.GRASP_PIPELINES["text"], "STAGES": stages}}
    examples = [Example(f"q{at}", f"question {at}", ("film/1",), "train") for at in range(4)]
    register_questions(knowledge_base="films", examples=examples, name="asked")
    job = launched("train_planner", unproven=True)
    # As if an attempt before had been killed between the files and the row of its artifact.
    left = Artifact(id="planner-left").directory
    left.mkdir(parents=True)
    Job.objects.filter(pk=job.pk).update(notes={"artifacts": [left.name]})
    report = run_here(job)
    Job.objects.filter(pk=job.pk).update(state="queued", finished=None)
    job.refresh_from_db()
    assert run_here(job) == report
    assert (Artifact.objects.count(), PipelineVersion.objects.count()) == (1, 1)
    assert [folder.name for folder in left.parent.iterdir()] == [Artifact.objects.get().pk]
