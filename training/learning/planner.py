"""The learned planner (docs/planning.md): questions and their answers suffice, no plan is annotated."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.domain.options import option
from search.interfaces import Vectors
from search.neural.plan_scorer import LearnedPlanScorer
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.features import FEATURES, Features
from search.stages.plan.scoring.learned import LearnedScorer, Told, path_key
from search.stages.plan.scoring.score import Scorer
from training.data.examples import Example
from training.learning.plan_fit import Fit, Fitted, Places, fit, unlearned
from training.learning.plan_lists import Collector, PlanList, PlanLists
from training.learning.plan_quality import (
    Floats,
    Score,
    accuracy,
    best_temperature,
    calibration,
    graph_lists,
    probabilities,
)
from training.learning.task import Learned, Progress, Task, TooFew

LEAST = 10
"""Questions that it takes."""
KEPT_PLANS = 10
"""Plans of a training question whose cross-fitted probabilities are kept."""


@dataclass(frozen=True)
class PlannerLearner:
    """Learns to score plans."""

    folds: int = option(3, "Parts that each are scored by what was learned from the others.", low=2, high=20)
    epochs: int = option(10, "Passes over the questions, if `steps` allows so many.", low=1, high=200)
    steps: int = option(500, "Steps at most: many questions are passed over less often.", low=1, high=1_000_000)
    batch: int = option(64, "Questions a step.", low=1, high=4096)
    rate: float = option(0.001, "Height of the learning rate.", low=1e-6, high=1.0)
    decay: float = option(0.1, "Weight decay: how strongly it is held to what it knew before.", low=0.0, high=10.0)
    hidden: int = option(24, "Units of the perceptron over the features.", low=1, high=1024)
    seed: int = option(0, "Decides the folds and the order of the questions.", low=0, high=2**31 - 1)
    measured: int = option(
        300, "Questions, drawn from those given, on which the graph's list is measured.", low=0, high=100_000
    )

    def __call__(self, task: Task, progress: Progress) -> Learned:
        """Learn from the task's questions. Raises TooFew, DeadlineExceeded."""
        if len(task.examples) < LEAST:
            raise TooFew(f"There are {len(task.examples)} questions to learn from; it takes {LEAST} at least.")
        lists = self._collected(task, progress)
        known = task.planner.knowledge
        wordings = known.vectors.of([known.wording.plan((path,)) for path in lists.paths])
        folds = self._folds(len(lists))
        fitted, whole = self._fitted(lists, wordings, folds, progress)
        scored = _cross_fitted(fitted, lists, folds)
        labels = [one.labels.astype(np.float64) for one in lists.lists]
        temperature = best_temperature(scored, labels)
        for one in (*fitted, whole):
            one.net.temperature.fill_(temperature)
        start = _sums(unlearned(wordings, self.hidden), lists, np.arange(len(lists)))
        before, after = self._graph_lists(task, [_scorer(one, lists.paths, task) for one in fitted], folds, progress)
        metrics = {
            "questions": len(lists),
            "folds": len(fitted),
            "reachable": round(100 * float((lists.reach > 0).mean()), 2),
            "plan_accuracy": {"before": accuracy(start, labels), "after": accuracy(scored, labels)},
            "graph_list": {"questions": min(self.measured, len(lists)), "before": before, "after": after},
            "temperature": round(temperature, 3),
            "calibration": calibration(scored, labels, temperature),
        }
        kept = _kept(task.examples, lists, scored, folds, temperature, known.schema)
        return Learned(
            _tensors(whole),
            _served(whole, lists.paths, task),
            metrics,
            {"cross_fitted.jsonl.gz": gzip.compress(b"".join(kept), mtime=0)},
        )

    def _collected(self, task: Task, progress: Progress) -> PlanLists:
        planner, known = task.planner, task.planner.knowledge
        collector = Collector(planner.proposer, Features(known.shape, known.lexicon), planner.adjacency)
        total = len(task.examples)
        return collector.collect(
            [example.text for example in task.examples], task.answers,
            lambda done: progress("plans", done, total), task.limit,
        )  # fmt: skip

    def _folds(self, count: int) -> Places:
        """Return the fold of each question."""
        folds = np.arange(count) % min(self.folds, count)
        np.random.default_rng(self.seed).shuffle(folds)
        return folds

    def _fitted(
        self, lists: PlanLists, wordings: Vectors, folds: Places, progress: Progress
    ) -> tuple[list[Fitted], Fitted]:
        """Return what was learned without each of the folds, and from all questions."""
        epochs = max(1, min(self.epochs, self.steps * self.batch // len(lists)))
        how = Fit(epochs, self.batch, self.rate, self.decay, self.hidden, self.seed)
        count = int(folds.max()) + 1
        total = (count + 1) * epochs
        done = iter(range(1, total + 1))

        def tick() -> None:
            progress("learning", next(done), total)

        parts = [fit(lists, wordings, np.flatnonzero(folds != fold), how, tick) for fold in range(count)]
        return parts, fit(lists, wordings, np.arange(len(lists)), how, tick)

    def _graph_lists(
        self, task: Task, learned: Sequence[Score], folds: Places, progress: Progress
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the measures of the graph's list on some of the questions, without training and cross-fitted."""
        known = task.planner.knowledge
        plain = Scorer(Features(known.shape, known.lexicon), known.wording, known.vectors)
        drawn = np.random.default_rng(self.seed).permutation(len(folds))[: self.measured]
        progress("measuring", 0, 1)
        measures = graph_lists(
            [task.examples[at] for at in drawn], [(plain, learned[folds[at]]) for at in drawn],
            task.planner.proposer, task.planner.nodes, task.planner.plans, task.limit,
        )  # fmt: skip
        progress("measuring", 1, 1)
        before, after = measures or ({}, {})
        return before, after


def _cross_fitted(fitted: Sequence[Fitted], lists: PlanLists, folds: Places) -> list[tuple[Floats, float]]:
    """Return each question's sums by the scorer that has not seen it."""
    scored: list[tuple[Floats, float]] = [(np.zeros(0), 0.0)] * len(lists)
    for fold, one in enumerate(fitted):
        mine = np.flatnonzero(folds == fold)
        for at, sums in zip(mine, _sums(one, lists, mine), strict=True):
            scored[at] = sums
    return scored


def _sums(fitted: Fitted, lists: PlanLists, chosen: Places) -> list[tuple[Floats, float]]:
    return [(sums.astype(np.float64), text) for sums, text in fitted.sums(lists, chosen)]


def _scorer(fitted: Fitted, paths: Sequence[Metapath], task: Task) -> LearnedScorer:
    known = task.planner.knowledge
    scorer = LearnedPlanScorer("fold", _served(fitted, paths, task), _tensors(fitted))
    told = Told(scorer, known.wording, known.vectors)
    return LearnedScorer(Features(known.shape, known.lexicon), known.vectors, scorer, told)


def _served(fitted: Fitted, paths: Sequence[Metapath], task: Task) -> dict[str, object]:
    """Return what `LearnedPlanScorer` reads beside the weights."""
    schema = task.planner.schema
    return {
        "encoder": task.planner.encoder.name,
        "features": FEATURES,
        "hidden": fitted.net.size.hidden,
        "types": [kind.name for kind in schema.node_types],
        "relations": [relation.name for relation in schema.relations],
        "paths": [path_key(path, schema) for path in paths],
    }


def _tensors(fitted: Fitted) -> dict[str, NDArray[np.float32]]:
    weights = {name: tensor.numpy() for name, tensor in fitted.net.state_dict().items()}
    return {**weights, "free": fitted.free.numpy()}


def _kept(
    examples: Sequence[Example],
    lists: PlanLists,
    scored: Sequence[tuple[Floats, float]],
    folds: Places,
    temperature: float,
    schema: Schema,
) -> Iterator[bytes]:
    """Yield a line a question: its best plans by what was learned without it, for what is learned later."""
    keys = [path_key(path, schema) for path in lists.paths]
    for example, one, (sums, text), fold in zip(examples, lists.lists, scored, folds.tolist(), strict=True):
        shares = probabilities(sums, text, temperature)
        order = np.argsort(-sums, kind="stable")[:KEPT_PLANS]
        plans = [_plan(one, int(at), float(shares[at]), keys) for at in order]
        line = {"id": example.id, "fold": fold, "no_hops": round(float(shares[-1]), 6), "plans": plans}
        yield orjson.dumps(line) + b"\n"


def _plan(one: PlanList, at: int, share: float, keys: Sequence[str]) -> dict[str, object]:
    mine = one.branches[one.branches[:, 0] == at]
    return {
        "branches": [{"mention": list(one.spans[mention]), "path": keys[path]} for _, mention, path in mine.tolist()],
        "probability": round(share, 6),
        "f1": round(float(one.labels[at]), 6),
    }
