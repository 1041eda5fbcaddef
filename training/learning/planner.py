"""The learned planner (docs/planning.md): questions and their answers suffice, no plan is annotated."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.domain.options import option
from search.interfaces import Keys, Vectors
from search.neural.plan_scorer import LearnedPlanScorer
from search.stages.plan import Planner
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.features import FEATURES, Features
from search.stages.plan.scoring.learned import LearnedScorer, MappedPaths, path_key
from search.stages.plan.scoring.score import Scorer
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.plan_fit import FitSettings, Fitted, Indices, fit, unlearned
from training.learning.plan_lists import Collector, PlanList, PlanLists
from training.learning.plan_quality import (
    Floats,
    accuracy,
    best_temperature,
    calibration,
    graph_lists,
    probabilities,
)
from training.learning.task import Card, Evaluated, Learned, Material, RunContext, TooFew

FEWEST_QUESTIONS = 10
"""Questions that it takes."""
CROSS_FITTED = "cross_fitted.jsonl.gz"
"""File of the artifact: a line a question, its best plans as scored by what was learned without it."""
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

    def task(self, material: Material) -> PlannerTask:
        """Return the task of teaching the planner that searches use: what it is to score is what it will list for them.

        Raises StageError where the release's encoder is not there.
        """
        names = {one.name for one in fields(Planner) if "help" in one.metadata} - {"artifact"}
        options = {name: value for name, value in material.options.items() if name in names}
        tools = material.tools
        planner = Planner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, **options)
        return PlannerTask(self, Lesson(material.examples, material.answers, planner))

    def folds_of(self, count: int) -> Indices:
        """Return the fold of each question."""
        folds = np.arange(count) % min(self.folds, count)
        np.random.default_rng(self.seed).shuffle(folds)
        return folds

    def fit_of(self, questions: int) -> FitSettings:
        """Return how so many questions are fitted."""
        epochs = max(1, min(self.epochs, self.steps * self.batch // questions))
        return FitSettings(epochs, self.batch, self.rate, self.decay, self.hidden, self.seed)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Questions, the keys of their answers (sorted, one array a question), and the planner to teach."""

    examples: Sequence[Example]
    answers: Sequence[Keys]
    planner: Planner


@dataclass(frozen=True, eq=False)
class LearnedPlanner(Learned):
    """What was learned from all questions, and, for measuring, what was learned without each fold of them."""

    lists: PlanLists
    wordings: Vectors
    folds: Indices
    fitted: Sequence[Fitted]
    scored: Sequence[tuple[Floats, float]]
    temperature: float


@dataclass(frozen=True, eq=False)
class PlannerTask:
    """The planner's learner at work (task.LearningTask)."""

    learner: PlannerLearner
    lesson: Lesson

    def describe(self) -> Card:
        """Describe the learner for the model card."""
        return Card(
            "Scorer of plans",
            "It scores the candidate plans of a question: which way through the graph, from a name in the question, "
            "leads to the answer. It learns from questions and their answers alone; no plan is annotated. Each plan is "
            "labelled by the F1 of what it finds, and the likely plans are asked to find answers.",
            "It scores plans over vectors of one encoder only. Types and relations that it has not seen are scored by "
            "their wording.",
        )

    def fit(self, run: RunContext) -> LearnedPlanner:
        """Learn from the questions. Raises TooFew, TrainingCancelled, SearchCancelled, DeadlineExceeded."""
        examples, known = self.lesson.examples, self.lesson.planner.knowledge
        if len(examples) < FEWEST_QUESTIONS:
            raise TooFew(f"There are {len(examples)} questions to learn from; it takes {FEWEST_QUESTIONS} at least.")
        lists = self._collected(run)
        wordings = known.vectors.of([known.wording.plan((path,)) for path in lists.paths])
        folds = self.learner.folds_of(len(lists))
        fitted, whole = self._fitted(lists, wordings, folds, run)
        scored = _cross_fitted(fitted, lists, folds, run)
        temperature = best_temperature(scored, _labels(lists), run.check)
        for one in (*fitted, whole):
            one.net.temperature.fill_(temperature)
        kept = b"".join(_kept(examples, lists, scored, folds, temperature, known.schema))
        files = {CROSS_FITTED: gzip.compress(kept, mtime=0)}
        return LearnedPlanner(
            _tensors(whole), _served(whole, lists.paths, self.lesson.planner), files,
            lists, wordings, folds, fitted, scored, temperature,
        )  # fmt: skip

    def evaluate(self, learned: LearnedPlanner, run: RunContext) -> Evaluated:
        """Measure on each question what was learned without it, beside the scorer that has learned nothing."""
        lists, labels = learned.lists, _labels(learned.lists)
        start = _sums(unlearned(learned.wordings, self.learner.hidden), lists, np.arange(len(lists)))
        before, after = self._graph_lists(learned, run)
        right = {"before": accuracy(start, labels), "after": accuracy(learned.scored, labels)}
        metrics = {
            "questions": len(lists),
            "folds": len(learned.fitted),
            "reachable": round(100 * float((lists.reach > 0).mean()), 2),
            "plan_accuracy": right,
            "graph_list": {"questions": min(self.learner.measured, len(lists)), "before": before, "after": after},
            "temperature": round(learned.temperature, 3),
            "calibration": calibration(learned.scored, labels, learned.temperature),
        }
        table = {
            "untrained": {"plan right": right["before"], **before},
            "cross-fitted": {"plan right": right["after"], **after},
        }
        return Evaluated(metrics, table)

    def _collected(self, run: RunContext) -> PlanLists:
        planner, known = self.lesson.planner, self.lesson.planner.knowledge
        collector = Collector(planner.proposer, Features(known.shape, known.lexicon), planner.adjacency)
        total = len(self.lesson.examples)
        return collector.collect(
            [example.text for example in self.lesson.examples], self.lesson.answers,
            lambda done: run.progress("plans", done, total), run.limit,
        )  # fmt: skip

    def _fitted(
        self, lists: PlanLists, wordings: Vectors, folds: Indices, run: RunContext
    ) -> tuple[list[Fitted], Fitted]:
        """Return what was learned without each of the folds, and from all questions."""
        how = self.learner.fit_of(len(lists))
        count = int(folds.max()) + 1
        total = (count + 1) * how.epochs
        done = iter(range(1, total + 1))

        def part(name: str, chosen: Indices) -> Fitted:
            def tick(epoch: int, loss: float) -> None:
                run.progress("learning", next(done), total)
                run.metric(f"loss, {name}", epoch, loss)

            key = _checkpoint(name, lists, wordings, chosen, how)
            if (saved := run.checkpoints.load(key)) is not None:
                for epoch in range(how.epochs):
                    tick(epoch + 1, float("nan"))
                return Fitted.from_bytes(saved, how.hidden)
            fitted = fit(lists, wordings, chosen, how, tick, run.check)
            run.checkpoints.save(key, fitted.to_bytes())
            return fitted

        parts = [part(f"without fold {fold}", np.flatnonzero(folds != fold)) for fold in range(count)]
        return parts, part("all questions", np.arange(len(lists)))

    def _graph_lists(self, learned: LearnedPlanner, run: RunContext) -> tuple[dict[str, float], dict[str, float]]:
        """Return the measures of the graph's list on some of the questions, without training and cross-fitted."""
        planner, known = self.lesson.planner, self.lesson.planner.knowledge
        scorers = [_scorer(one, learned.lists.paths, planner) for one in learned.fitted]
        plain = Scorer(Features(known.shape, known.lexicon), known.wording, known.vectors)
        drawn = np.random.default_rng(self.learner.seed).permutation(len(learned.folds))[: self.learner.measured]
        run.progress("measuring", 0, 1)
        measures = graph_lists(
            [self.lesson.examples[at] for at in drawn], [(plain, scorers[learned.folds[at]]) for at in drawn],
            planner.proposer, planner.nodes, planner.plans, run.limit,
        )  # fmt: skip
        run.progress("measuring", 1, 1)
        before, after = measures or ({}, {})
        return before, after


def _checkpoint(name: str, lists: PlanLists, wordings: Vectors, chosen: Indices, how: FitSettings) -> str:
    """Return the name of a part's checkpoint: other questions, answers, paths or settings have another one."""
    content = hashlib.blake2b(repr((name, how)).encode(), digest_size=8)
    content.update(wordings.tobytes() + chosen.tobytes())
    for one in lists.lists:
        content.update(one.features.tobytes() + one.labels.tobytes() + one.branches.tobytes() + one.masked.tobytes())
    return f"plans-{content.hexdigest()}"


def _labels(lists: PlanLists) -> list[Floats]:
    return [one.labels.astype(np.float64) for one in lists.lists]


def _cross_fitted(
    fitted: Sequence[Fitted], lists: PlanLists, folds: Indices, run: RunContext
) -> list[tuple[Floats, float]]:
    """Return each question's sums by the scorer that has not seen it."""
    scored: list[tuple[Floats, float]] = [(np.zeros(0), 0.0)] * len(lists)
    for fold, one in enumerate(fitted):
        run.check()
        mine = np.flatnonzero(folds == fold)
        for at, sums in zip(mine, _sums(one, lists, mine), strict=True):
            scored[at] = sums
    return scored


def _sums(fitted: Fitted, lists: PlanLists, chosen: Indices) -> list[tuple[Floats, float]]:
    return [(sums.astype(np.float64), text) for sums, text in fitted.sums(lists, chosen)]


def _scorer(fitted: Fitted, paths: Sequence[Metapath], planner: Planner) -> LearnedScorer:
    known = planner.knowledge
    scorer = LearnedPlanScorer("fold", _served(fitted, paths, planner), _tensors(fitted))
    path_vectors = MappedPaths(scorer, known.wording, known.vectors)
    return LearnedScorer(Features(known.shape, known.lexicon), known.vectors, scorer, path_vectors)


def _served(fitted: Fitted, paths: Sequence[Metapath], planner: Planner) -> dict[str, object]:
    """Return what `LearnedPlanScorer` reads beside the weights."""
    schema = planner.schema
    return {
        "encoder": planner.encoder.name,
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
    folds: Indices,
    temperature: float,
    schema: Schema,
) -> Iterator[bytes]:
    """Yield a line a question: its best plans by what was learned without it, for what is learned later."""
    keys = [path_key(path, schema) for path in lists.paths]
    for example, one, (sums, text), fold in zip(examples, lists.lists, scored, folds.tolist(), strict=True):
        shares = probabilities(sums, text, temperature)
        order = np.argsort(-sums, kind="stable")[:KEPT_PLANS]
        plans = [_plan(one, int(at), float(shares[at]), keys) for at in order]
        line = {
            "id": example.id,
            "hash": question_hash(example),
            "fold": fold,
            "no_hops": round(float(shares[-1]), 6),
            "plans": plans,
        }
        yield orjson.dumps(line) + b"\n"


def _plan(one: PlanList, at: int, share: float, keys: Sequence[str]) -> dict[str, object]:
    mine = one.branches[one.branches[:, 0] == at]
    return {
        "branches": [{"mention": list(one.spans[mention]), "path": keys[path]} for _, mention, path in mine.tolist()],
        "probability": round(share, 6),
        "f1": round(float(one.labels[at]), 6),
    }
