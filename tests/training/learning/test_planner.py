"""What wording cannot tell is learned from answers, and what is measured and kept was not seen by what says it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load, save_file

from search.domain.errors import DeadlineExceeded, SearchCancelled
from search.domain.question import Question
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.neural.plan_scorer import LearnedPlanScorer, LoadedPlanScorers
from search.services.jobs.checkpoints import FileCheckpoints
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.learned import LearnedScorer, MappedPaths
from tests.training import makers
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning import plan_files
from training.learning.plan_files import served as served_of
from training.learning.plan_files import tensors as tensors_of
from training.learning.plan_fit import FitSettings, fit
from training.learning.plan_lists import Collector
from training.learning.planner import LearnedPlanner, PlannerTask
from training.learning.task import Learned, TooFew


@dataclass(frozen=True)
class Kept:
    """The learned scorers of a test, by name (interfaces.PlanScorers)."""

    learned: Learned

    def get(self, artifact: str, fold: int = -1) -> LearnedPlanScorer:
        assert fold == -1
        return LearnedPlanScorer(artifact, self.learned.served, self.learned.tensors)


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> RulePlanner:
    return makers.planner(tmp_path_factory.mktemp("makers"))


@pytest.fixture(scope="module")
def taught(planner: RulePlanner) -> makers.Taught:
    return makers.taught(makers.learner(), planner, makers.questions(end=makers.TAUGHT))


@pytest.fixture(scope="module")
def learned(taught: makers.Taught) -> Learned:
    return taught.learned


def right(planner: RulePlanner, examples: Sequence[Example]) -> float:
    """Return the share of questions whose first plan goes over the relation that answers them, and no further."""
    rels = {"made": "zork", "used": "blim"}
    firsts = [planner(Question(example.text), Limit())[0].plan for example in examples]
    return float(
        np.mean([
            [hop.rel for hop in plan.hops] == [rels[example.id.split("-")[0]]]
            for plan, example in zip(firsts, examples, strict=True)
        ])
    )  # fmt: skip


def test_what_words_cannot_tell_is_learned_from_answers(planner: RulePlanner, taught: makers.Taught) -> None:
    learned, metrics = taught.learned, taught.metrics
    unseen = makers.questions(makers.TAUGHT)
    assert right(planner, unseen) <= 0.5
    wise = replace(planner, plan_scorers=Kept(learned), artifact="a")
    assert right(wise, unseen) == 1.0
    accuracy = metrics["plan_accuracy"]
    assert (accuracy["before"] <= 50, accuracy["after"]) == (True, 100)
    assert learned.tensors["temperature"] == pytest.approx([metrics["temperature"]], abs=1e-3)
    assert metrics["temperature"] != 1
    listed = wise(Question(unseen[0].text), Limit())
    assert {plan.source for plan in listed} == {"learned"}
    assert sum(plan.probability for plan in listed) == pytest.approx(1)
    assert listed.status == "ok"


def lines(learned: Learned) -> dict[str, dict[str, Any]]:
    """Return what is kept of each question, by its id."""
    kept = [json.loads(line) for line in gzip.decompress(learned.files["cross_fitted.jsonl.gz"]).splitlines()]
    assert len({line["id"] for line in kept}) == len(kept)
    return {line["id"]: line for line in kept}


def test_what_later_learners_need_is_kept_of_every_question(learned: Learned) -> None:
    examples = makers.questions(end=makers.TAUGHT)
    kept = lines(learned)
    assert list(kept) == [example.id for example in examples]
    for example in examples:
        line = kept[example.id]
        shares = [plan["probability"] for plan in line["plans"]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) + line["no_hops"] <= 1 + 1e-4
        first = line["plans"][0]
        [branch] = first["branches"]
        start, end = branch["mention"]
        assert example.text[start:end] == makers.WORLD.nodes[int(example.id.split("-")[1])].name
        relation = "zork" if example.id.startswith("made") else "blim"
        assert json.loads(branch["path"]) == ["thing", [relation, "out", "person"]]
        assert first["f1"] == 1.0


def swapped(examples: Sequence[Example], poisoned: set[str]) -> list[Example]:
    """Return the questions, some of them with an answer that is wrong."""
    return [replace(e, answers=("p0",) if e.answers != ("p0",) else ("p1",)) if e.id in poisoned else e
            for e in examples]  # fmt: skip


def agree(one: LearnedPlanner, other: LearnedPlanner, name: str) -> bool:
    """Say whether two trainings tell a question's plans apart alike; the temperature comes from all questions."""
    shares = [{str(plan["branches"]): plan["probability"] for plan in lines(learned)[name]["plans"]}
              for learned in (one, other)]  # fmt: skip
    both = [key for key in shares[0] if min(share.get(key, 0.0) for share in shares) > 1e-4]
    logs = [np.log([share[key] for key in both]) * learned.temperature
            for share, learned in zip(shares, (one, other), strict=True)]  # fmt: skip
    return len(both) > 1 and np.allclose(logs[0] - logs[0][0], logs[1] - logs[1][0], atol=0.05)


def test_what_is_kept_of_a_question_was_learned_without_it(planner: RulePlanner) -> None:
    examples = makers.questions(end=12)
    learner = makers.learner(epochs=3, rate=0.001, measured=0)

    def learn(given: list[Example]) -> LearnedPlanner:
        return PlannerTask(learner, makers.lesson(planner, given)).fit(RunContext())

    honest, again = learn(examples), learn(examples)
    assert honest.files == again.files
    assert all(np.array_equal(honest.tensors[name], again.tensors[name]) for name in honest.tensors)
    before = lines(honest)
    folds = {line["fold"] for line in before.values()}
    assert folds == {0, 1}
    poisoned = {name for name, line in before.items() if line["fold"] == 0}
    lied = learn(swapped(examples, poisoned))
    assert {name for name in before if agree(honest, lied, name)} == poisoned


def test_the_scorer_of_a_fold_has_not_seen_the_questions_of_the_fold(planner: RulePlanner) -> None:
    examples = makers.questions(end=12)
    learner = makers.learner(epochs=3, measured=0)

    def learn(given: list[Example]) -> LearnedPlanner:
        return PlannerTask(learner, makers.lesson(planner, given)).fit(RunContext())

    def weights(learned: LearnedPlanner, fold: int) -> dict[str, NDArray[np.float16]]:
        return {k: v for k, v in load(learned.files[f"fold-{fold}.safetensors"]).items() if k != "temperature"}

    honest = learn(examples)
    assert honest.served["folds"] == ["fold-0.safetensors", "fold-1.safetensors"]
    folds = json.loads(honest.files["folds.json"])["hashes"]
    assert folds.keys() == {question_hash(example) for example in examples}
    lied = learn(swapped(examples, {e.id for e in examples if folds[question_hash(e)] == 0}))
    same = [
        all(np.array_equal(tensor, weights(lied, fold)[name]) for name, tensor in weights(honest, fold).items())
        for fold in (0, 1)
    ]
    assert same == [True, False]


def test_the_same_words_are_in_one_fold_and_a_lone_text_is_divided_all_the_same(planner: RulePlanner) -> None:
    texts = ["Who made it?", "who made it", "WHO  made it", *map(str, range(9))]
    folds = makers.learner(folds=3).folds_of(texts, planner.mentions)
    assert len(set(folds[:3])) == 1
    assert set(folds) == {0, 1, 2}
    assert sorted(makers.learner(folds=2).folds_of(["who"] * 4, planner.mentions)) == [0, 0, 1, 1]


def test_a_question_that_is_in_several_folds_is_in_none(planner: RulePlanner) -> None:
    examples = [Example(f"q{at}", "who is meant by all of this", ("p0",)) for at in range(12)]
    learned = makers.taught(makers.learner(measured=0), planner, examples).learned
    assert json.loads(learned.files["folds.json"]) == {"hashes": {}}


def test_scorers_of_folds_that_would_be_too_large_are_not_kept(
    planner: RulePlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_files, "MOST_FOLD_BYTES", 1000)
    learned = makers.taught(makers.learner(measured=0), planner, makers.questions(end=6)).learned
    assert (set(learned.files), learned.served["folds"]) == ({"cross_fitted.jsonl.gz"}, [])


def test_what_is_served_gives_the_sums_of_what_was_trained(planner: RulePlanner, tmp_path: Path) -> None:
    examples = makers.questions(end=8)
    lesson = makers.lesson(planner, examples)
    known = planner.knowledge
    collector = Collector(planner)
    lists = collector.collect([example.text for example in examples], lesson.answers, lambda done: None, Limit())
    wordings = known.vectors.of([known.wording.plan((path,)) for path in lists.paths])
    how = FitSettings(epochs=2, batch=8, rate=0.05, decay=0.1, hidden=8, seed=3)
    fitted = fit(lists, wordings, np.arange(len(lists)), how, lambda epoch, loss: None)
    fitted.net.temperature.fill_(1.5)
    folder = tmp_path / "planner-1"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({"kind": "planner", "format": 1, **served_of(fitted, lists.paths, planner)})
    )
    save_file(tensors_of(fitted), folder / "model.safetensors")
    scorer = LoadedPlanScorers(tmp_path).get("planner-1")
    served = LearnedScorer(planner.features, known.vectors, scorer, MappedPaths(scorer, known.wording, known.vectors))
    for example, (sums, text) in zip(examples, fitted.sums(lists, np.arange(len(lists))), strict=True):
        question = planner.proposer.read(example.text)
        candidates = planner.proposer.candidates(question, Limit())
        scored = served(question, candidates)
        totals = dict(scored.candidates)
        assert [totals[candidate] for candidate in candidates] == pytest.approx(sums.tolist(), abs=1e-4)
        assert scored.text == pytest.approx(text, abs=1e-4)
        assert [total for _, total in scored.candidates] == sorted(totals.values(), reverse=True)


def test_a_few_questions_are_refused_with_the_number_that_it_takes(planner: RulePlanner) -> None:
    with pytest.raises(TooFew, match="There are 8 questions to learn from; it takes 10 at least"):
        makers.taught(makers.learner(), planner, makers.questions(end=4))


def test_questions_that_name_nothing_teach_that_the_text_answers_them(planner: RulePlanner) -> None:
    examples = [Example(f"q{at}", "who is meant by all of this", ("p0",)) for at in range(12)]
    log: list[str] = []
    found = makers.taught(makers.learner(measured=0), planner, examples, RunContext(log=log.append))
    assert log[0].startswith("Of 12 questions, the plans of 0 find an answer (0 plans on average), so all that can be")
    assert (found.metrics["reachable"], found.metrics["plan_accuracy"]["after"]) == (0, 0)
    assert all((line["no_hops"], line["plans"]) == (1.0, []) for line in lines(found.learned).values())
    wise = replace(planner, plan_scorers=Kept(found.learned), artifact="a")
    [only] = wise(Question("who is meant by all of this"), Limit())
    assert (only.source, only.probability, only.plan.anchors) == ("learned", 1.0, ())
    assert wise(Question(makers.questions()[0].text), Limit())


def test_a_training_stops_when_its_time_is_over(planner: RulePlanner) -> None:
    with pytest.raises(DeadlineExceeded):
        makers.taught(makers.learner(), planner, makers.questions(), RunContext(Limit.seconds(0)))


def test_a_training_that_is_started_again_goes_on_from_its_checkpoints(planner: RulePlanner, tmp_path: Path) -> None:
    examples, learner = makers.questions(end=12), makers.learner(measured=0)
    whole = makers.taught(learner, planner, examples).learned
    asked = count()
    stopped = RunContext(Limit(cancelled=lambda: (tmp_path / "kept").is_dir() and next(asked) > 2),
                         checkpoints=FileCheckpoints(tmp_path / "kept"))  # fmt: skip
    with pytest.raises((RunCancelled, SearchCancelled)):
        makers.taught(learner, planner, examples, stopped)
    kept = sorted(file.name for file in (tmp_path / "kept").iterdir())
    assert len(kept) == 1
    losses: list[tuple[str, float]] = []
    again = RunContext(metric=lambda name, step, value: losses.append((name, value)),
                       checkpoints=FileCheckpoints(tmp_path / "kept"))  # fmt: skip
    resumed = makers.taught(learner, planner, examples, again).learned
    assert all(np.array_equal(whole.tensors[name], resumed.tensors[name]) for name in whole.tensors)
    assert resumed.files == whole.files
    # The first part was read back, the two others were learned.
    assert {name for name, value in losses if np.isnan(value)} == {"loss, without fold 0"}
    assert {name for name, _ in losses} == {"loss, without fold 0", "loss, without fold 1", "loss, all questions"}
    other = makers.taught(learner, planner, makers.questions(end=11), again).learned
    assert len(other.lists) == 22
