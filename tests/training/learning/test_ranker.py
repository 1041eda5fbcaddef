"""The ranker learns from what searches find, is measured on what it has not seen, and refuses what teaches nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, PipelineVersion, Release, SearchRun
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.signals.first_result import CALIBRATION, INPUTS
from tests.training import makers
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.learning.ranker_fit import RankerPart, Ranks, fit_parts, fit_trees, mean_scores
from training.learning.ranker_settings import RankerSettings
from training.learning.task import FOLDS
from training.services.found import found_by
from training.services.train import SEARCHES_SEED, train
from training.services.train_all import train_all
from training.services.train_request import TrainRequest

pytestmark = pytest.mark.django_db
QUICK: dict[str, Any] = {"folds": 2, "seeds": 2, "rounds": 20, "least": 5, "rate": 0.2}
TAUGHT = [replace(example, split="train") for example in makers.questions() if example.id.startswith("used")]
"""Questions whose first plan is wrong before anything is learned, so that there is something to gain."""


@pytest.fixture
def base(makers_base: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The makers; rankers are read from the folder of this test."""
    rankers = {**settings.GRASP_TOOLS["rankers"], "OPTIONS": {"directory": settings.GRASP_HOME / "artifacts"}}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "rankers": rankers}
    wiring.forget()
    return makers_base


def trained(examples: list[Example] = TAUGHT, run: RunContext | None = None, **settings: Any) -> dict[str, Any]:
    return train(kind="ranker", knowledge_base="makers", examples=examples, settings={**QUICK, **settings}, run=run,
                 unproven=True)  # fmt: skip


def test_where_nobody_has_asked_it_learns_from_made_questions_and_is_not_switched_on(base: KnowledgeBase) -> None:
    learned = {f"ranker.{name}": value for name, value in QUICK.items()}
    report = train_all(
        TrainRequest(
            knowledge_base="makers", examples=[], learners=["ranker"], settings=learned, synthesised=60, judged=20
        )
    )
    [part] = [part for part in report["parts"] if part["part"] == "ranker"]
    assert (part["switched_on"], report["active"], report["switched_on"]) == (False, False, [])
    assert "synthesised questions of another seed" in part["reason"]
    assert "It is not switched on" in part["reason"]
    artifact = Artifact.objects.get()
    made = artifact.configuration["synthesised"]
    # Other questions than those that the planner and the retriever learn from with the same seed.
    assert (made["number"], made["seed"], artifact.configuration["splits"]) == (60, SEARCHES_SEED, {})
    kept = json.loads((artifact.directory / "questions.json").read_bytes())["hashes"]
    assert set(kept) == set(json.loads((artifact.directory / FOLDS).read_bytes())["hashes"])
    assert PipelineVersion.objects.get().options["rerank.light_artifact"] == artifact.id


def test_beside_questions_that_people_asked_it_learns_from_no_made_ones(base: KnowledgeBase) -> None:
    report = train(
        kind="ranker", knowledge_base="makers", examples=TAUGHT, settings=QUICK, synthesised=60, activate=False
    )
    assert (report["questions"], report["synthesised"]) == (len(TAUGHT), None)


OF_MADE = ", as learned from made questions alone."


def searched(text: str) -> SearchRun:
    row = request_search(knowledge_base="makers", question=text, pipeline="grasp", k=5, enqueue=False)
    return run_search(row.pk)


def test_it_gains_on_held_out_questions_and_searches_use_it(base: KnowledgeBase, client: Client) -> None:
    report = trained()
    metrics = report["metrics"]
    assert metrics["questions"] == metrics["reached"] == len(TAUGHT)
    assert metrics["types_right"] == 100.0
    assert metrics["held_out"]["metrics"]["MRR"] > metrics["given"]["metrics"]["MRR"]
    assert sum(metrics["importance"].values()) == pytest.approx(1, abs=1e-3)
    assert [one["metric"] for one in metrics["comparisons"]] == ["H@1", "H@5", "R@20", "MRR", "R-precision"]
    artifact = Artifact.objects.get()
    card = (artifact.directory / "README.md").read_text()
    assert "Ranker of candidates" in card
    assert "p of the difference" in card
    assert "Signal: " in card
    assert "probability of the first (held out)" in card
    told = metrics["calibration"]
    assert (told["questions"], sum(one["questions"] for one in told["bins"])) == (len(TAUGHT), len(TAUGHT))
    assert 0 <= told["error"] <= 1
    assert told["weights"].keys() <= set(INPUTS)
    version = PipelineVersion.objects.get(active=True)
    assert version.options == {"rerank": "light", "rerank.light_artifact": artifact.id}
    run = searched(makers.questions()[-1].text)
    assert run.status == SearchRun.Status.DONE
    described = describe_search(run)
    step = next(step for step in described["steps"] if step["role"] == "rerank")
    assert (step["status"], step["detail"]) == ("ok", "")
    assert 0 < described["fusion"]["probability"] < 1
    shown = client.get(f"/search/{run.pk}/", headers={"host": "localhost"}).content.decode()
    assert "The first result is right with a probability of" in shown
    assert OF_MADE not in shown
    # As a training without questions of people describes itself.
    configuration = artifact.configuration | {"splits": {}, "synthesised": {"number": 500, "seed": 0, "kinds": {}}}
    Artifact.objects.update(configuration=configuration)
    assert OF_MADE in client.get(f"/search/{run.pk}/", headers={"host": "localhost"}).content.decode()
    configuration["splits"] = {"train": 40}
    Artifact.objects.update(configuration=configuration)
    assert OF_MADE not in client.get(f"/search/{run.pk}/", headers={"host": "localhost"}).content.decode()
    first = described["results"][0]
    assert 1 <= len(first["signals"]) <= 5
    sizes = [abs(one["contribution"]) for one in first["signals"]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(one["title"] and one["title"] != one["name"] for one in first["signals"])
    total = sum(share["contribution"] for share in first["scores"].values())
    assert total == pytest.approx(first["score"])
    page = client.get(f"/search/{run.pk}/results/1/why/", headers={"host": "localhost"}).content.decode()
    assert "What moved it up or down" in page
    assert first["signals"][0]["title"] in page


def test_a_question_is_ranked_by_what_has_not_learned_from_it(base: KnowledgeBase) -> None:
    trained()
    artifact = Artifact.objects.get()
    folds = json.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
    assert {folds[question_hash(example)] for example in TAUGHT} == {0, 1}
    rankers = wiring.rankers()
    table = np.random.default_rng(0).normal(size=(30, len(rankers.get(artifact.id).signals))).astype(np.float32)
    scores = [rankers.get(artifact.id, fold).scores(table).tolist() for fold in (-1, 0, 1)]
    assert scores[0] != scores[1] != scores[2]
    release = Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get()
    # A later learner is handed the fused list, not what the ranker made of it.
    handed = found_by(release, "grasp", TAUGHT)(0, Limit())
    assert handed is not None
    assert "light" not in handed.fusion.rankings


def test_the_same_questions_and_seed_give_the_same_ranker(base: KnowledgeBase) -> None:
    trained()
    PipelineVersion.objects.all().delete()
    trained()
    one, other = (artifact.directory for artifact in Artifact.objects.all())
    for name in ("trees-0.txt", "trees-1.txt", "fold-0-trees-0.txt", "model.safetensors", CALIBRATION, FOLDS):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert (one / "trees-0.txt").read_bytes() != (one / "trees-1.txt").read_bytes()


def test_an_interrupted_training_does_not_search_again(base: KnowledgeBase, tmp_path: Path) -> None:
    kept = FileCheckpoints(tmp_path / "kept")
    asked: list[str] = []

    def cancel(part: str, done: int, total: int | None) -> None:
        if part == "learning":
            asked.append(part)

    with pytest.raises(RunCancelled):
        trained(run=RunContext(Limit(cancelled=lambda: bool(asked)), progress=cancel, checkpoints=kept))
    assert not Artifact.objects.exists()
    told: list[tuple[str, int]] = []
    resumed = RunContext(progress=lambda part, done, total: told.append((part, done)), checkpoints=kept)
    report = trained(run=resumed)
    searches = [done for part, done in told if part == "searches"]
    assert searches == [len(TAUGHT)], "nothing is searched again"
    assert report["metrics"]["reached"] == len(TAUGHT)


def test_questions_whose_answers_are_never_found_are_refused_with_the_numbers(base: KnowledgeBase) -> None:
    # So few nodes are all found; the ranker is given the first of each list alone.
    save_pipeline_version(
        knowledge_base=base, pipeline="grasp", options={"rerank": "light", "rerank.light_depth": 1}
    )  # fmt: skip
    wrong = [replace(one, text="zebra quagga okapi", id=f"q{at}") for at, one in enumerate(TAUGHT)]
    why = r"Of 28 searches, \d+ hold an answer among their candidates \(\d+ candidates on average, 0 searches without"
    with pytest.raises(BadQuestions, match=why):
        trained(wrong)
    assert not Artifact.objects.exists()
    with pytest.raises(BadQuestions, match="There are 10 questions to learn from; it takes 20 at least"):
        trained(TAUGHT[:10])


def test_the_trees_find_what_decides_the_order() -> None:
    chance = np.random.default_rng(3)
    questions = []
    for _ in range(60):
        signals = chance.normal(size=(20, 3)).astype(np.float32)
        questions.append(Ranks(signals, signals[:, 1] == signals[:, 1].max()))
    how = RankerSettings(rounds=30, least=5, features=1.0)
    trees = fit_trees(questions[:50], how, 1, lambda: None)
    ranks = [
        int((scores >= scores[one.answers.argmax()]).sum())
        for one in questions[50:]
        if (scores := mean_scores(trees, one.signals)) is not None
    ]
    assert np.mean(ranks) < 3, "by chance it would be 10.5"
    shares = trees[0].feature_importance("gain")
    assert shares.argmax() == 1


def test_a_fit_stops_between_two_trees_when_asked() -> None:
    class Stop(Exception):
        pass

    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 4:
            raise Stop

    signals = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    with pytest.raises(Stop):
        fit_trees([Ranks(signals, signals[:, 0] > 1)], RankerSettings(least=2), 3, check)
    assert len(calls) == 4


def test_parts_that_are_fitted_side_by_side_are_those_fitted_alone() -> None:
    chance = np.random.default_rng(5)
    questions = [Ranks(one, one[:, 0] > 1) for one in chance.normal(size=(40, 30, 3)).astype(np.float32)]
    how = RankerSettings(rounds=10, least=5)
    told: list[int] = []
    several = fit_parts(
        [RankerPart(questions[:20], 1), RankerPart(questions, 2), RankerPart(questions[20:], 1)], how, told.append
    )
    alone = [
        fit_trees(*one, lambda: None)
        for one in ((questions[:20], how, 1), (questions, how, 2), (questions[20:], how, 1))
    ]
    assert [[one.model_to_string() for one in trees] for trees in several] == [
        [one.model_to_string() for one in trees] for trees in alone
    ]
    assert told[-1] == 3
    assert told == sorted(told)


def test_fits_side_by_side_all_stop_when_asked() -> None:
    class Stop(Exception):
        pass

    def stop(done: int) -> None:
        raise Stop

    signals = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    endless = RankerSettings(least=2, rounds=5_000_000)
    with pytest.raises(Stop):
        fit_parts([RankerPart([Ranks(signals, signals[:, 0] > 1)], 1)] * 3, endless, stop)
