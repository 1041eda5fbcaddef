"""From questions to the next search: what was trained is used without a restart, taken back, and done without."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.db import DatabaseError
from django.db.models.signals import pre_save

from search.domain.errors import InvalidRequest
from search.domain.run_context import RunCancelled, RunContext
from search.models import Artifact, KnowledgeBase, PipelineVersion, SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.pipelines.save_pipeline_version import activate_pipeline_version, save_pipeline_version
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.data.hashes import data_hash
from training.models import Evaluation, Outcome
from training.services.train import train

pytestmark = pytest.mark.django_db
TAUGHT = makers.questions(end=makers.TAUGHT)
UNSEEN = makers.questions(makers.TAUGHT)
LITTLE = {"steps": 1}
"""Settings with which next to nothing is learned, for what does not depend on that."""


def trained(**changed: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": "planner", "knowledge_base": "makers", "examples": TAUGHT,
                             "settings": makers.QUICK, "unproven": True}  # fmt: skip
    return train(**{**given, **changed})


def searched(question: Example) -> SearchRun:
    run = request_search(knowledge_base="makers", question=question.text, enqueue=False)
    return run_search(run.pk)


def planned(run: SearchRun) -> tuple[set[str], str, str]:
    """Return what scored the plans, and the state and the sentence of the step."""
    step = run.steps.get(name="plan")
    return {plan["source"] for plan in step.output}, step.status, step.detail


def right(questions: list[Example]) -> list[bool]:
    """Say of each question whether its first plan goes over the relation that answers it, and no further."""
    firsts = [searched(question).steps.get(name="plan").output[0]["plan"] for question in questions]
    wanted = ["blim" if question.id.startswith("made") else "zork" for question in questions]
    return [[hop["rel"] for hop in plan["hops"]] == [relation] for plan, relation in zip(firsts, wanted, strict=True)]


def test_the_next_searches_use_what_was_trained_and_an_older_version_takes_it_back(makers_base: KnowledgeBase) -> None:
    first = save_pipeline_version(knowledge_base=makers_base, pipeline="grasp", options={"plan.plans": 5})
    asked = UNSEEN[:6]
    assert sum(right(asked)) <= 3
    report = trained()
    assert (report["release"], report["questions"], report["pipeline_version"], report["active"]) == (
        "makers-1", len(TAUGHT), 2, True,
    )  # fmt: skip
    assert all(right(asked))
    run = searched(asked[0])
    assert ranking_of(run)[0][0] in asked[0].answers
    assert planned(run) == ({"learned"}, "ok", "")
    assert run.specification["stages"]["plan"]["OPTIONS"]["artifact"] == report["artifact"]
    version = PipelineVersion.objects.get(version=2)
    assert version.options == {"plan.plans": 5, "plan.artifact": report["artifact"]}
    assert version.note == f"Trained planner {report['artifact']}, from {len(TAUGHT)} questions."
    activate_pipeline_version(first)
    assert planned(searched(asked[0]))[0] == {"schema"}


def test_the_artifact_says_what_it_was_trained_on_and_how_good_it_is(makers_base: KnowledgeBase) -> None:
    report = trained(settings={**LITTLE, "seed": 7})
    artifact = Artifact.objects.get(pk=report["artifact"])
    assert (artifact.kind, artifact.knowledge_base) == ("planner", makers_base)
    assert (artifact.configuration["seed"], artifact.configuration["release"]) == (7, "makers-1")
    assert artifact.metrics == report["metrics"]
    assert artifact.metrics["reachable"] == 100
    assert artifact.data_hash == data_hash(TAUGHT[::-1]) != data_hash(TAUGHT[1:])
    assert {file.name for file in artifact.directory.iterdir()} == {
        "README.md", "config.json", "files.json", "fold-0.json", "fold-1.json", "fold-2.json", "folds.json",
        "job.json", "questions.json", "weights.json",
    }  # fmt: skip
    made = json.loads((artifact.directory / "job.json").read_bytes())
    assert made["base_model"] == {"name": "all-MiniLM-L6-v2", "revision": "0.1.0"}
    assert (made["release"], made["seed"], made["metrics"]) == ("makers-1", 7, report["metrics"])


def test_a_version_that_is_not_activated_changes_no_search(makers_base: KnowledgeBase) -> None:
    report = trained(settings=LITTLE, activate=False)
    assert (report["pipeline_version"], report["active"]) == (1, False)
    assert planned(searched(UNSEEN[0]))[0] == {"schema"}
    activate_pipeline_version(PipelineVersion.objects.get())
    assert planned(searched(UNSEEN[0]))[0] == {"learned"}


def test_a_planner_goes_on_with_a_snapshot_that_has_more_types_and_relations(
    makers_base: KnowledgeBase, tmp_path: Path
) -> None:
    trained(settings=LITTLE)
    import_snapshot(
        source=makers.bundle(tmp_path / "more", ("t0", "stands in", "harbour"), ("t9", "stands in", "hill"))
    )
    run = searched(UNSEEN[0])
    assert run.release_name == "makers-2"
    sources, status, detail = planned(run)
    assert (sources, status) == ({"learned"}, "ok")
    assert detail == ""
    assert ranking_of(run)
    new = searched(Example("q", f"where stands {makers.WORLD.nodes[9].name}", ("hill",)))
    assert new.status == "done"
    assert any(hop["rel"] == "stands in" for plan in new.steps.get(name="plan").output for hop in plan["plan"]["hops"])


def test_a_search_without_the_artifacts_files_is_answered_and_says_so(makers_base: KnowledgeBase) -> None:
    report = trained(settings=LITTLE)
    artifact = Artifact.objects.get()
    weights = artifact.directory / "weights.json"
    weights.write_bytes(weights.read_bytes()[:100])
    run = searched(UNSEEN[0])
    sources, status, detail = planned(run)
    assert (run.status, sources, status) == ("done", {"schema"}, "degraded")
    said = f"Plans are scored without the trained planner: the trained part {report['artifact']} cannot"
    assert detail.startswith(said)
    shutil.rmtree(artifact.directory)
    assert "there is no trained part" in planned(searched(UNSEEN[0]))[2]
    assert ranking_of(searched(UNSEEN[0]))


def test_a_training_whose_row_is_not_taken_leaves_nothing(makers_base: KnowledgeBase) -> None:
    def refuse(**_: Any) -> None:
        raise DatabaseError("Postgres is away")

    pre_save.connect(refuse, sender=Artifact)
    try:
        with pytest.raises(DatabaseError, match="Postgres is away"):
            trained(settings=LITTLE)
    finally:
        pre_save.disconnect(refuse, sender=Artifact)
    assert not Artifact.objects.exists()
    assert not PipelineVersion.objects.exists()
    assert list((Path(settings.GRASP_HOME) / "artifacts").iterdir()) == []


def test_a_version_that_does_not_fit_the_site_any_more_is_refused_before_anything_is_learned(
    makers_base: KnowledgeBase,
) -> None:
    PipelineVersion.objects.create(
        knowledge_base=makers_base, pipeline="grasp", version=1, active=True, options={"plan.magic": 1}
    )
    with pytest.raises(InvalidRequest, match=r"grasp has no setting 'plan\.magic'"):
        trained()
    with pytest.raises(InvalidRequest, match=r"grasp has no setting 'plan\.magic'"):
        trained(unproven=False)
    assert not Artifact.objects.exists()


@pytest.mark.parametrize("split", ["test", "TEST", "test-0.1", "dev", "testing", "Train", "validation"])
def test_questions_of_other_splits_are_refused_whatever_door_they_come_through(split: str) -> None:
    examples = [*TAUGHT, Example("q", "what now", ("p0",), split)]
    with pytest.raises(BadQuestions, match=f"Training on the split '{split}' would make its figures worthless"):
        trained(examples=examples)


def test_what_cannot_be_trained_is_refused_with_what_can() -> None:
    with pytest.raises(InvalidRequest, match="'router' is nothing that can be trained; these can be: planner"):
        trained(kind="router")


def test_progress_is_told_of_every_part(makers_base: KnowledgeBase) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    def tell(part: str, done: int, total: int) -> None:
        told.setdefault(part, []).append((done, total))

    trained(settings=LITTLE, run=RunContext(progress=tell))
    assert list(told) == ["plans", "learning"]
    assert all(done == total for done, total in (steps[-1] for steps in told.values()))


def test_what_whole_searches_of_held_out_questions_bear_out_is_switched_on(makers_base: KnowledgeBase) -> None:
    report = trained(unproven=False)
    told = report["metrics"]["judged"]
    assert (report["active"], told["switched_on"], told["test"]) == (True, True, "paired randomisation test")
    assert PipelineVersion.objects.get(active=True).options == {"plan.artifact": report["artifact"]}
    # The questions are searched by models of the folds that have not learned from them, once without and once with it.
    before, after = (Evaluation.objects.get(pk=report[key]) for key in ("evaluation_before", "evaluation"))
    seen = [one.report["pipelines"]["grasp"] for one in (before, after) if one.report is not None]
    assert [(one["seen_in_training"], one["cross_fitted"]) for one in seen] == [(0, 0), (len(TAUGHT), len(TAUGHT))]
    ranks = [
        dict(Outcome.objects.filter(evaluation=one).values_list("question__position", "measures"))
        for one in (before, after)
    ]
    moved = [ranks[1][at]["H@1"] - ranks[0][at]["H@1"] for at in ranks[0]]
    counted = [told[key]["H@1"] for key in ("wins", "ties", "losses")]
    assert counted == [sum(map(sign.__eq__, np.sign(moved))) for sign in (1.0, 0.0, -1.0)]
    assert told["p"]["H@1"] < 0.05
    assert Artifact.objects.get().metrics == report["metrics"]
    assert PipelineVersion.objects.get().note.endswith(f"{report['reason']}")
    assert report["reason"].endswith("It is switched on.")


def test_what_is_not_borne_out_stays_off_says_why_and_can_be_promoted_by_hand(makers_base: KnowledgeBase) -> None:
    first = save_pipeline_version(knowledge_base=makers_base, pipeline="grasp", options={"plan.plans": 5})
    report = trained(unproven=False, examples=makers.mixed(), settings={"folds": 3})
    assert (report["active"], report["pipeline_version"]) == (False, 2)
    told = report["metrics"]["judged"]
    assert "It is not switched on, because " in report["reason"] == told["reason"]
    assert told["wins"]["H@1"] == told["losses"]["H@1"] == 0
    assert PipelineVersion.objects.get(active=True) == first
    activate_pipeline_version(PipelineVersion.objects.get(version=2))
    assert planned(searched(UNSEEN[0]))[0] == {"learned"}


def test_a_judged_training_that_was_interrupted_goes_on_and_is_switched_on_once(makers_base: KnowledgeBase) -> None:
    run = RunContext()

    def stop(part: str, done: int, total: int | None) -> None:
        if (part, done) == ("judging: grasp", 5):
            raise RunCancelled

    with pytest.raises(RunCancelled):
        trained(unproven=False, run=replace(run, progress=stop))
    assert (Artifact.objects.count(), PipelineVersion.objects.filter(active=True).count()) == (1, 0)
    report = trained(unproven=False, run=run)
    assert (Artifact.objects.count(), report["active"]) == (1, True)
    assert trained(unproven=False, run=run) == report
    assert (Artifact.objects.count(), PipelineVersion.objects.count()) == (1, 1)
