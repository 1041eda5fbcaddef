"""What wording cannot tell is learned from answers, and what is measured and kept was not seen by what says it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from search.domain.errors import DeadlineExceeded, SearchCancelled
from search.domain.question import Question
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.neural.plan_scorer import PairWeights
from search.services.jobs.checkpoints import FileCheckpoints
from search.stages.plan import Planner
from search.stages.plan.sparse import Elements, LearnedScorer
from tests.training import makers
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning import plan_files
from training.learning.planner import LearnedPlanner, PlannerTask
from training.learning.task import TooFew


@dataclass(frozen=True)
class Kept:
    """The trained planner of a test (interfaces.PlanScorers)."""

    learned: LearnedPlanner

    def get(self, artifact: str, fold: int = -1) -> PairWeights:
        assert fold == -1
        return PairWeights.of(artifact, json.loads(self.learned.files["weights.json"]))


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return makers.planner(tmp_path_factory.mktemp("makers"))


@pytest.fixture(scope="module")
def taught(planner: Planner) -> makers.Taught:
    return makers.taught(makers.learner(), planner, makers.questions(end=makers.TAUGHT))


@pytest.fixture(scope="module")
def learned(taught: makers.Taught) -> LearnedPlanner:
    return taught.learned


def right(planner: Planner, examples: Sequence[Example]) -> float:
    """Return the share of questions whose first plan goes over the relation that answers them, and no further."""
    rels = {"made": "blim", "used": "zork"}
    firsts = [planner(Question(example.text), Limit())[0].plan for example in examples]
    return float(
        np.mean([
            [hop.rel for hop in plan.hops] == [rels[example.id.split("-")[0]]]
            for plan, example in zip(firsts, examples, strict=True)
        ])
    )  # fmt: skip


def test_what_words_cannot_tell_is_learned_from_answers(planner: Planner, taught: makers.Taught) -> None:
    learned, metrics = taught.learned, taught.metrics
    unseen = makers.questions(makers.TAUGHT)
    # Both relations fit as well, so one of them is taken for both.
    assert right(planner, unseen) == 0.5
    wise = replace(planner, plan_scorers=Kept(learned), artifact="a")
    assert right(wise, unseen) == 1.0
    assert metrics["plan_accuracy"] == metrics["whole"] == {"before": 50, "after": 100}
    assert (metrics["reachable"], metrics["way"]) == (100, 1.0)
    listed = wise(Question(unseen[0].text), Limit())
    assert {plan.source for plan in listed} == {"learned"}
    assert 0.99 < sum(plan.probability for plan in listed) <= 1 + 1e-9
    assert getattr(listed, "status", "") == "ok"


def swapped(examples: Sequence[Example], poisoned: set[str]) -> list[Example]:
    """Return the questions, some of them with an answer that is wrong."""
    return [replace(e, answers=("p0",) if e.answers != ("p0",) else ("p1",)) if e.id in poisoned else e
            for e in examples]  # fmt: skip


def test_the_weights_of_a_fold_have_not_seen_the_questions_of_the_fold(planner: Planner) -> None:
    examples = makers.questions(end=12)

    def learn(given: list[Example]) -> LearnedPlanner:
        return PlannerTask(makers.learner(), makers.lesson(planner, given)).fit(RunContext())

    def weights(learned: LearnedPlanner, fold: int) -> object:
        return json.loads(learned.files[f"fold-{fold}.json"])["weights"]

    honest, again = learn(examples), learn(examples)
    assert honest.files == again.files
    assert honest.served == {"form": "pairs", "folds": ["fold-0.json", "fold-1.json"]}
    folds = json.loads(honest.files["folds.json"])["hashes"]
    assert folds.keys() == {question_hash(example) for example in examples}
    lied = learn(swapped(examples, {e.id for e in examples if folds[question_hash(e)] == 0}))
    assert [weights(lied, fold) == weights(honest, fold) for fold in (0, 1)] == [True, False]


def test_the_same_words_are_in_one_fold_and_a_lone_text_is_divided_all_the_same(planner: Planner) -> None:
    texts = ["Who made it?", "who made it", "WHO  made it", *map(str, range(9))]
    folds = makers.learner(folds=3).folds_of(texts, planner.mentions)
    assert len(set(folds[:3])) == 1
    assert set(folds) == {0, 1, 2}
    assert sorted(makers.learner(folds=2).folds_of(["who"] * 4, planner.mentions)) == [0, 0, 1, 1]


def test_a_question_that_is_in_several_folds_is_in_none(planner: Planner) -> None:
    examples = [Example(f"q{at}", "who is meant by all of this", ("p0",)) for at in range(12)]
    learned = makers.taught(makers.learner(), planner, examples).learned
    assert json.loads(learned.files["folds.json"]) == {"hashes": {}}


def test_weights_of_folds_that_would_be_too_large_are_not_kept(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_files, "MOST_FOLD_BYTES", 1000)
    learned = makers.taught(makers.learner(), planner, makers.questions(end=12)).learned
    assert (set(learned.files), learned.served["folds"]) == ({"weights.json"}, [])


def test_what_is_served_scores_as_what_was_trained(planner: Planner, learned: LearnedPlanner) -> None:
    example = makers.questions()[0]
    elements = Elements(planner.schema)
    weights = PairWeights.of("a", json.loads(learned.files["weights.json"]))
    plain, taught = (
        {repr(one.asked): one for one in replace(planner.reader, learned=how).read(example.text, Limit())}
        for how in (None, LearnedScorer(weights, elements))
    )
    # Meanings that are hopeless with one of the two are not executed there.
    both = taught.keys() & plain.keys()
    assert len(both) > 1
    for name, one in ((name, taught[name]) for name in both):
        words = one.derivation.extra["words"]
        more = sum(weights.weights.get(element, {}).get(word, 0.0) for element in elements(one.asked) for word in words)
        # The wording is compared only where the best meaning guesses a walk, with or without what was learned.
        wording = [sum(value for key, value in each.features if key == "wording") for each in (one, plain[name])]
        if wording[0] == wording[1]:
            assert one.score == pytest.approx(plain[name].score + more, abs=1e-6)


def test_a_few_questions_are_refused_with_the_number_that_it_takes(planner: Planner) -> None:
    with pytest.raises(TooFew, match="There are 8 questions to learn from; it takes 10 at least"):
        makers.taught(makers.learner(), planner, makers.questions(end=4))


def test_questions_that_no_plan_answers_teach_nothing(planner: Planner) -> None:
    examples = [Example(f"q{at}", "who is meant by all of this", ("t0",)) for at in range(12)]
    log: list[str] = []
    found = makers.taught(makers.learner(), planner, examples, RunContext(log=log.append))
    assert log[0].startswith("Of 12 questions, the plans of 0 find an answer (")
    assert (found.metrics["reachable"], found.metrics["plan_accuracy"]["after"]) == (0, 0)
    assert json.loads(found.learned.files["weights.json"])["weights"] == {}
    plain, wise = (one(Question(makers.questions()[0].text), Limit())
                   for one in (planner, replace(planner, plan_scorers=Kept(found.learned), artifact="a")))  # fmt: skip
    assert wise[0].plan == plain[0].plan


def test_weights_that_do_not_help_on_questions_held_out_are_not_used(planner: Planner) -> None:
    found = makers.taught(makers.learner(folds=3), planner, makers.mixed())
    assert (found.metrics["way"], found.metrics["pairs"]) == (0.0, 0)
    assert found.metrics["plan_accuracy"]["before"] == 50


def test_synthesised_questions_beside_others_are_learned_from_and_not_measured(planner: Planner) -> None:
    examples, more = makers.questions(end=6), makers.questions(6, 16)
    lesson = makers.lesson(planner, examples)
    both = replace(lesson, more=more, more_answers=makers.lesson(planner, more).answers)
    task = PlannerTask(makers.learner(), both)
    learned = task.fit(RunContext())
    assert task.evaluate(learned, RunContext()).metrics["questions"] == 12
    assert json.loads(learned.files["folds.json"])["hashes"].keys() == {question_hash(one) for one in examples}
    alone = PlannerTask(makers.learner(), lesson).fit(RunContext())
    assert learned.files["fold-0.json"] != alone.files["fold-0.json"]


def test_a_training_stops_when_its_time_is_over(planner: Planner) -> None:
    with pytest.raises(DeadlineExceeded):
        makers.taught(makers.learner(), planner, makers.questions(), RunContext(Limit.seconds(0)))


def test_a_training_that_is_started_again_goes_on_from_its_checkpoints(planner: Planner, tmp_path: Path) -> None:
    examples, learner = makers.questions(end=12), makers.learner()
    whole = makers.taught(learner, planner, examples).learned
    asked = count()
    stopped = RunContext(Limit(cancelled=lambda: (tmp_path / "kept").is_dir() and next(asked) > 2),
                         checkpoints=FileCheckpoints(tmp_path / "kept"))  # fmt: skip
    with pytest.raises((RunCancelled, SearchCancelled)):
        makers.taught(learner, planner, examples, stopped)
    kept = sorted(file.name for file in (tmp_path / "kept").iterdir())
    assert len(kept) == 1
    names: list[str] = []
    again = RunContext(metric=lambda name, step, value: names.append(name),
                       checkpoints=FileCheckpoints(tmp_path / "kept"))  # fmt: skip
    resumed = makers.taught(learner, planner, examples, again).learned
    assert resumed.files == whole.files
    # The first part was read back, the two others were learned.
    assert set(names) == {"loss, without fold 1, L2 1", "loss, all questions, L2 1"}
