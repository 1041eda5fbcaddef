"""The learned planner (docs/planning.md): questions and their answers suffice, no plan is annotated."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.interfaces import Keys, MentionIndex, Vectors
from search.neural.plan_scorer import LearnedPlanScorer
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.learned import LearnedScorer, MappedPaths
from search.stages.plan.scoring.score import Scorer
from training.data.examples import Example
from training.learning.folds import folds_of, patterns_of
from training.learning.plan_files import folds_of_hashes, kept_lines, scorers_of_folds, served, tensors
from training.learning.plan_fit import FitSettings, Fitted, Indices, fit, unlearned
from training.learning.plan_lists import Collector, PlanLists
from training.learning.plan_quality import (
    Floats,
    accuracy,
    best_temperature,
    calibration,
    graph_lists,
    surprise,
)
from training.learning.planner_settings import PlannerSettings
from training.learning.task import FOLDS, Card, Evaluated, Learned, Material, TooFew

FEWEST_QUESTIONS = PlannerSettings.FEWEST
"""Smallest number of questions that a training accepts."""
_GENTLE = 0.3
"""Factor on the learning rate for synthesised questions alone: their words are not people's, and at the full rate the
scorer unlearns what the words of people's questions have in common with the base's."""
_WAY = 0.5
"""For synthesised questions alone, the share of the way to the learned weights (`FitSettings.way`); one half is what
WiSE-FT recommends where there are no questions to choose it by."""
WAYS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Shares of the way from the unlearned to the learned weights; questions that were not learned from choose. What was
learned from some patterns of questions may be wrong for all others, and then none of it is used."""
_ALWAYS = -1
"""The fold of questions that every fit learns from."""
CROSS_FITTED = "cross_fitted.jsonl.gz"
"""File of the artifact: one line for each question, with its best plans scored by a scorer fitted without it."""


@dataclass(frozen=True)
class PlannerLearner(PlannerSettings):
    """Learns to score plans."""

    def task(self, material: Material) -> PlannerTask:
        """Return the training task for the planner of searches, so that it learns on the plans that searches list.

        Raises StageError when the release's encoder is not available.
        """
        names = ("plans", "least", "temperature")
        options = {name: value for name, value in material.options.items() if name in names}
        tools = material.tools
        planner = RulePlanner(
            tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, graph=tools.graph,
            values=tools.values, text=tools.text, vectors=tools.vectors, **options,
        )  # fmt: skip
        return PlannerTask(self, lesson_of(material, planner))

    def folds_of(self, texts: Sequence[str], mentions: MentionIndex) -> Indices:
        """Return the fold of each question (`folds_of`)."""
        return folds_of(texts, self.folds, self.seed, patterns_of(texts, mentions))

    def fit_of(self, questions: int) -> FitSettings:
        """Return the settings of a fit on this number of questions."""
        epochs = max(1, min(self.epochs, self.steps * self.batch // questions))
        return FitSettings(epochs, self.batch, self.rate, self.decay, self.hidden, self.seed)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Questions, the keys of their answers (sorted, one array a question), and the planner to teach.

    `more` are questions that every fit learns from, also those for measuring; nothing is measured on them.
    """

    examples: Sequence[Example]
    answers: Sequence[Keys]
    planner: RulePlanner
    more: Sequence[Example] = ()
    more_answers: Sequence[Keys] = ()
    gently: bool = False
    """Whether the rate is lowered (`_GENTLE`), because mainly synthesised questions are learned from."""


def lesson_of(material: Material, planner: RulePlanner) -> Lesson:
    """Return the lesson for a planner: measured on the questions that people asked, if there are enough of them.

    Synthesised questions are learned from beside them. Without enough, they count like all others.
    """
    if len(material.examples) >= FEWEST_QUESTIONS:
        made = material.synthesised, material.synthesised_answers
        return Lesson(material.examples, material.answers, planner, *made)
    examples = [*material.examples, *material.synthesised]
    answers = [*material.answers, *material.synthesised_answers]
    return Lesson(examples, answers, planner, gently=bool(material.synthesised))


@dataclass(frozen=True, eq=False)
class LearnedPlanner(Learned):
    """The scorer fitted on all questions and, for measuring, the scorers fitted without each fold."""

    lists: PlanLists
    wordings: Vectors
    folds: Indices
    fitted: Sequence[Fitted]
    scored: Sequence[tuple[Floats, float]]
    temperature: float
    way: float


@dataclass(frozen=True, eq=False)
class PlannerTask:
    """The training of the planner on given questions (task.LearningTask)."""

    learner: PlannerLearner
    lesson: Lesson

    def describe(self) -> Card:
        """Describe the learner for the model card."""
        return Card(
            "Scorer of plans",
            "It scores the candidate plans of a question: which way through the graph, from a name in the question, "
            "leads to the answer. It learns from questions and their answers alone; no plan is annotated. Each plan is "
            "labelled by the F1 of what it finds with the question's conditions, less where it leaves over words that "
            "a plan as good explains. The likely plans are asked to find answers.",
            "It scores plans over vectors of one encoder only. Types and relations that it has not seen are scored by "
            "their wording.",
        )

    def fit(self, run: RunContext) -> LearnedPlanner:
        """Learn from the questions. Raises TooFew, RunCancelled, SearchCancelled, DeadlineExceeded."""
        examples, known = self.lesson.examples, self.lesson.planner.knowledge
        if missing := self.learner.too_few(len(examples), 0):
            raise TooFew(missing.message)
        lists = self._collected(run)
        _warn_unreached(lists, run)
        wordings = known.vectors.of([known.wording.plan((path,)) for path in lists.paths])
        folds = self.learner.folds_of([example.text for example in examples], self.lesson.planner.mentions)
        always = np.full(len(self.lesson.more), _ALWAYS, dtype=folds.dtype)
        fitted, whole, way = self._fitted(lists, wordings, np.concatenate([folds, always]), run)
        lists = PlanLists(lists.lists[: len(examples)], lists.paths)
        told = [at for at, one in enumerate(lists.lists) if one.teaches]
        labels = [one for at, one in enumerate(_labels(lists)) if lists.lists[at].teaches]
        scored = _cross_fitted(fitted, lists, folds, run)
        temperature = best_temperature([scored[at] for at in told], labels, run.check)
        for one in (*fitted, whole):
            one.net.temperature.fill_(temperature)
        kept = b"".join(kept_lines(examples, lists, scored, folds, temperature, known.schema))
        scorers = scorers_of_folds(fitted)
        files = {
            CROSS_FITTED: gzip.compress(kept, mtime=0),
            **scorers,
            **({FOLDS: folds_of_hashes(examples, folds)} if scorers else {}),
        }
        return LearnedPlanner(
            tensors(whole), served(whole, lists.paths, self.lesson.planner) | {"folds": list(scorers)}, files,
            lists, wordings, folds, fitted, scored, temperature, way,
        )  # fmt: skip

    def evaluate(self, learned: LearnedPlanner, run: RunContext) -> Evaluated:
        """Return measures of the cross-fitted scorers and of the untrained scorer, on the same questions."""
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
            "way": learned.way,
            "calibration": calibration(learned.scored, labels, learned.temperature),
        }
        table = {
            "untrained": {"plan right": right["before"], **before},
            "cross-fitted": {"plan right": right["after"], **after},
        }
        return Evaluated(metrics, table)

    def _collected(self, run: RunContext) -> PlanLists:
        planner = self.lesson.planner
        collector = Collector(planner)
        examples = [*self.lesson.examples, *self.lesson.more]
        total = len(examples)
        return collector.collect(
            [example.text for example in examples], [*self.lesson.answers, *self.lesson.more_answers],
            lambda done: run.progress("plans", done, total), run.limit,
        )  # fmt: skip

    def _fitted(
        self, lists: PlanLists, wordings: Vectors, folds: Indices, run: RunContext
    ) -> tuple[list[Fitted], Fitted, float]:
        """Return the scorers fitted without each fold, the scorer fitted on all questions, and its share of the way."""
        how = self.learner.fit_of(len(lists))
        how = replace(how, rate=_GENTLE * how.rate, way=_WAY) if self.lesson.gently else how
        count = int(folds.max()) + 1
        total = ((2 * count if count > 2 else count) + 1) * how.epochs
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
            names = [example.id for example in (*self.lesson.examples, *self.lesson.more)]
            fitted = fit(lists, wordings, chosen, how, tick, run.check, names, run.log)
            run.checkpoints.save(key, fitted.to_bytes())
            return fitted

        parts = [part(f"without fold {fold}", np.flatnonzero(folds != fold)) for fold in range(count)]
        if count < 3:
            return parts, part("all questions", np.arange(len(lists))), 1.0
        # The next fold chooses, by a scorer that has learned from neither, so that no fold chooses for itself.
        moved = []
        for fold, one in enumerate(parts):
            after = (fold + 1) % count
            tried = part(f"without folds {fold} and {after}", np.flatnonzero((folds != fold) & (folds != after)))
            moved.append(one.towards(wordings, _way([tried], [folds == after], lists, wordings)))
        own = _way(parts, [folds == fold for fold in range(count)], lists, wordings)
        return moved, part("all questions", np.arange(len(lists))).towards(wordings, own), own

    def _graph_lists(self, learned: LearnedPlanner, run: RunContext) -> tuple[dict[str, float], dict[str, float]]:
        """Return the measures of the graph's list on a sample of questions: untrained, then cross-fitted."""
        planner, known = self.lesson.planner, self.lesson.planner.knowledge
        scorers = [_scorer(one, learned.lists.paths, planner) for one in learned.fitted]
        plain = Scorer(planner.features, known.wording, known.vectors)
        drawn = np.random.default_rng(self.learner.seed).permutation(len(learned.folds))[: self.learner.measured]
        run.progress("measuring", 0, 1)
        measures = graph_lists(
            [self.lesson.examples[at] for at in drawn], [(plain, scorers[learned.folds[at]]) for at in drawn],
            planner.proposer, planner.nodes, planner.plans, run.limit,
        )  # fmt: skip
        run.progress("measuring", 1, 1)
        before, after = measures or ({}, {})
        return before, after


def _warn_unreached(lists: PlanLists, run: RunContext) -> None:
    """Log, with the numbers, that no plan of any question finds an answer."""
    if not (lists.reach > 0).any():
        plans = float(np.mean([len(one.features) for one in lists.lists]))
        run.log(
            f"Of {len(lists):,} questions, the plans of 0 find an answer ({plans:.0f} plans on average), so all that "
            "can be learned is that the text answers them. Are these questions about this knowledge base?"
        )


def _checkpoint(name: str, lists: PlanLists, wordings: Vectors, chosen: Indices, how: FitSettings) -> str:
    """Return the name of a fit's checkpoint. Other questions, answers, paths or settings give another name."""
    content = hashlib.blake2b(repr((name, how)).encode(), digest_size=8)
    content.update(wordings.tobytes() + chosen.tobytes())
    for one in lists.lists:
        content.update(one.features.tobytes() + one.labels.tobytes() + one.branches.tobytes() + one.masked.tobytes())
        content.update(bytes([one.teaches]))
    return f"plans-{content.hexdigest()}"


def _labels(lists: PlanLists) -> list[Floats]:
    return [one.labels.astype(np.float64) for one in lists.lists]


def _cross_fitted(
    fitted: Sequence[Fitted], lists: PlanLists, folds: Indices, run: RunContext
) -> list[tuple[Floats, float]]:
    """Return each question's sums by the scorer fitted without its fold."""
    scored: list[tuple[Floats, float]] = [(np.zeros(0), 0.0)] * len(lists)
    for fold, one in enumerate(fitted):
        run.check()
        mine = np.flatnonzero(folds == fold)
        for at, sums in zip(mine, _sums(one, lists, mine), strict=True):
            scored[at] = sums
    return scored


def _way(
    fitted: Sequence[Fitted], asked: Sequence[NDArray[np.bool_]], lists: PlanLists, wordings: Vectors
) -> float:  # fmt: skip
    """Return the share of the way (`WAYS`) with the lowest loss; each scorer has not learned from those it is asked."""
    every = _labels(lists)
    teaches = np.array([one.teaches for one in lists.lists], dtype=np.bool_)
    losses = dict.fromkeys(WAYS, 0.0)
    for one, chosen in zip(fitted, asked, strict=True):
        places = np.flatnonzero(teaches[: len(chosen)] & chosen)
        for way in WAYS:
            sums = _sums(one.towards(wordings, way), lists, places)
            losses[way] += surprise(sums, [every[at] for at in places])
    return min(WAYS, key=losses.__getitem__)


def _sums(fitted: Fitted, lists: PlanLists, chosen: Indices) -> list[tuple[Floats, float]]:
    return [(sums.astype(np.float64), text) for sums, text in fitted.sums(lists, chosen)]


def _scorer(fitted: Fitted, paths: Sequence[Metapath], planner: RulePlanner) -> LearnedScorer:
    known = planner.knowledge
    scorer = LearnedPlanScorer("fold", served(fitted, paths, planner), tensors(fitted))
    path_vectors = MappedPaths(scorer, known.wording, known.vectors)
    return LearnedScorer(planner.features, known.vectors, scorer, path_vectors)
