"""The learned planner (docs/planning.md): questions and their answers suffice, no plan is annotated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import product

import numpy as np

from search.domain.run_context import RunContext
from search.interfaces import Keys, MentionIndex
from search.neural.plan_scorer import FORM
from search.stages.plan import Planner
from training.data.examples import Example
from training.learning.folds import folds_of, patterns_of
from training.learning.pair_fit import PairPart, fit
from training.learning.plan_files import files_of, folds_of_hashes, pair_weights
from training.learning.plan_meanings import Collector, Meanings, PairTable, Places, Values
from training.learning.plan_quality import best_temperature, calibration, measures
from training.learning.planner_settings import PlannerSettings
from training.learning.task import FOLDS, Evaluated, LearnedTask, Material, TooFew, TrainingCard

FEWEST_QUESTIONS = PlannerSettings.FEWEST
"""Smallest number of questions that a training accepts."""
PENALTIES = (1.0, 10.0)
"""Strengths of L2; questions that were not learned from choose."""
WAYS = (1.0, 0.75, 0.5, 0.25)
"""Shares of the learned weights that are used; questions that were not learned from choose. What was learned from some
patterns of questions may be wrong for all others, and then none of it is used (0)."""
_ALWAYS = -1
"""The fold of questions that every fit learns from."""


@dataclass(frozen=True, slots=True)
class PlannerChoice:
    """How strongly the weights are held to 0, and which share of them is used."""

    penalty: float
    way: float


GENTLE = PlannerChoice(10.0, 0.5)
"""The choice for synthesised questions alone: their words are not people's. One half is what WiSE-FT (Wortsman et al.
2022) recommends where there are no questions to choose it by."""


@dataclass(frozen=True)
class PlannerLearner(PlannerSettings):
    """Learns to score the meanings of questions."""

    def task(self, material: Material) -> PlannerTask:
        """Return the training task for the planner of searches, so that it learns on the meanings that searches try.

        Raises StageError when the release's encoder is not available.
        """
        names = {one.name for one in fields(Planner) if "help" in one.metadata} - {"artifact", "fold"}
        options = {name: value for name, value in material.options.items() if name in names}
        tools = material.tools
        planner = Planner(
            tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, tools.columns,
            values=tools.values, text=tools.text, vectors=tools.vectors, **options,
        )  # fmt: skip
        return PlannerTask(self, lesson_of(material, planner))

    def folds_of(self, texts: Sequence[str], mentions: MentionIndex) -> Places:
        """Return the fold of each question (`folds_of`)."""
        return folds_of(texts, self.folds, self.seed, patterns_of(texts, mentions))


@dataclass(frozen=True, eq=False)
class PlannerLesson:
    """Questions, the keys of their answers (sorted, one array a question), and the planner to teach.

    `more` are questions that every fit learns from, also those for measuring; nothing is measured on them.
    """

    examples: Sequence[Example]
    answers: Sequence[Keys]
    planner: Planner
    more: Sequence[Example] = ()
    more_answers: Sequence[Keys] = ()
    gently: bool = False
    """Whether `GENTLE` is taken, because mainly synthesised questions are learned from."""


def lesson_of(material: Material, planner: Planner) -> PlannerLesson:
    """Return the lesson for a planner: measured on the questions that people asked, if there are enough of them.

    Synthesised questions are learned from beside them. Without enough, they count like all others.
    """
    if len(material.examples) >= FEWEST_QUESTIONS:
        made = material.synthesised, material.synthesised_answers
        return PlannerLesson(material.examples, material.answers, planner, *made)
    examples = [*material.examples, *material.synthesised]
    answers = [*material.answers, *material.synthesised_answers]
    return PlannerLesson(examples, answers, planner, gently=bool(material.synthesised))


@dataclass(frozen=True, eq=False)
class LearnedPlanner(LearnedTask):
    """The weights fitted on all questions and, for measuring, those fitted without each fold.

    `scored` are the questions of each fold, with the scores of their meanings by weights that have not seen them.
    """

    meanings: Sequence[Meanings]
    scored: Sequence[tuple[PairPart, Values]]
    temperature: float
    choice: PlannerChoice
    pairs: int


@dataclass(frozen=True, eq=False)
class PlannerTask:
    """The training of the planner on given questions (task.LearningTask)."""

    learner: PlannerLearner
    lesson: PlannerLesson

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        return TrainingCard(
            "Scorer of plans",
            "It scores the meanings that the grammar finds for a question: what the words of this knowledge base's "
            "questions say about paths, answer types and conditions. It learns from questions and their answers alone; "
            "no plan is annotated. The meanings that find the answers best are taken for right.",
            "It knows only words that several of its questions have in common. Of types and relations that it has not "
            "seen it says nothing.",
        )

    def fit(self, run: RunContext) -> LearnedPlanner:
        """Learn from the questions. Raises TooFew, RunCancelled, SearchCancelled, DeadlineExceeded."""
        examples = self.lesson.examples
        if missing := self.learner.too_few(len(examples), 0):
            raise TooFew(missing.message)
        meanings = self._collected(run)
        _warn_unreached(meanings, run)
        table = PairTable.of_questions(meanings, run.check)
        folds = self.learner.folds_of([example.text for example in examples], self.lesson.planner.mentions)
        always = np.full(len(self.lesson.more), _ALWAYS, dtype=folds.dtype)
        parts, whole, choice = _Fits(self.learner, table, np.concatenate([folds, always]), run).fitted(
            GENTLE if self.lesson.gently else None
        )
        scored = [
            (part, part.sums(weights))
            for fold, weights in enumerate(parts)
            for part in [PairPart.of_table(table, np.flatnonzero(folds == fold))]
        ]
        temperature = best_temperature(scored, run.check)
        kept = [pair_weights(f"fold {fold}", table, weights, temperature) for fold, weights in enumerate(parts)]
        files, names = files_of(pair_weights("all questions", table, whole, temperature), kept)
        if names:
            files[FOLDS] = folds_of_hashes(examples, folds)
        return LearnedPlanner(
            {}, {"form": FORM, "folds": names}, files, meanings[: len(examples)], scored, temperature, choice,
            int(np.count_nonzero(whole)),
        )  # fmt: skip

    def evaluate(self, learned: LearnedPlanner, run: RunContext) -> Evaluated:
        """Return measures of the cross-fitted weights and of the grammar alone, on the same questions."""
        questions = len(learned.meanings)
        before = measures([(part, part.scores) for part, _ in learned.scored], questions)
        after = measures(learned.scored, questions)
        metrics = {
            "questions": questions,
            "folds": len(learned.scored),
            "reachable": round(100 * float(np.mean([one.fit.max(initial=0.0) > 0 for one in learned.meanings])), 2),
            "plan_accuracy": {"before": before["right"], "after": after["right"]},
            "whole": {"before": before["whole"], "after": after["whole"]},
            "f1": {"before": before["f1"], "after": after["f1"]},
            "pairs": learned.pairs,
            "temperature": round(learned.temperature, 3),
            "penalty": learned.choice.penalty,
            "way": learned.choice.way,
            "calibration": calibration(learned.scored, learned.temperature),
        }
        named = {"right": "plan right", "whole": "just the answers", "f1": "F1"}
        table = {
            row: {named[name]: value for name, value in found.items()}
            for row, found in (("untrained", before), ("cross-fitted", after))
        }
        return Evaluated(metrics, table)

    def _collected(self, run: RunContext) -> list[Meanings]:
        examples = [*self.lesson.examples, *self.lesson.more]
        return Collector(self.lesson.planner.reader, self.learner.tried).collect(
            [example.text for example in examples], [*self.lesson.answers, *self.lesson.more_answers],
            lambda done: run.progress("plans", done, len(examples)), run.limit,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Fits:
    """The fits of one training; `folds` has the fold of each question of the table."""

    learner: PlannerLearner
    table: PairTable
    folds: Places
    run: RunContext

    def fitted(self, chosen: PlannerChoice | None) -> tuple[list[Values], Values, PlannerChoice]:
        """Return the weights without each fold, those of all questions, and how these were chosen.

        `chosen` is taken for all, if it is given. With fewer than three folds none is left to choose by.
        """
        count = int(self.folds.max()) + 1
        if chosen is None and count < 3:
            chosen = PlannerChoice(PENALTIES[0], 1.0)
        penalties = PENALTIES if chosen is None else (chosen.penalty,)
        tick = self._ticking(len(penalties) * count * (1 if chosen else 2) + 1)
        without = {(fold, penalty): self._fit(f"without fold {fold}", self.folds != fold, penalty, tick)
                   for fold, penalty in product(range(count), penalties)}  # fmt: skip
        if chosen is not None:
            choices, own = [chosen] * count, chosen
        else:
            # The next fold chooses, by weights that have learned from neither, so that no fold chooses for itself.
            choices = []
            for fold in range(count):
                after = (fold + 1) % count
                others = (self.folds != fold) & (self.folds != after)
                tried = {penalty: self._fit(f"without folds {fold} and {after}", others, penalty, tick)
                         for penalty in penalties}  # fmt: skip
                choices.append(self._choice([(self.folds == after, tried)]))
            own = self._choice(
                [(self.folds == fold, {penalty: without[fold, penalty] for penalty in penalties})
                 for fold in range(count)]
            )  # fmt: skip
        parts = [choice.way * without[fold, choice.penalty] for fold, choice in enumerate(choices)]
        whole = self._fit("all questions", np.ones(len(self.folds), dtype=np.bool_), own.penalty, tick)
        return parts, own.way * whole, own

    def _choice(self, asked: Sequence[tuple[Places, dict[float, Values]]]) -> PlannerChoice:
        """Return the choice with the best mean F1 of the first meanings, of equal ones that with the lowest loss.

        `asked` are questions, with weights that have not learned from them by penalty. Where the best choice gains less
        than one standard error over the grammar alone, none of the weights is used.
        """
        parts = [(PairPart.of_table(self.table, np.flatnonzero(chosen)), weights) for chosen, weights in asked]
        plain = np.concatenate([part.firsts(part.scores)[1] for part, _ in parts])
        scores: dict[PlannerChoice, tuple[float, float]] = {}
        gains: dict[PlannerChoice, Values] = {}
        for one in (PlannerChoice(penalty, way) for penalty, way in product(PENALTIES, WAYS)):
            self.run.check()
            sums = [(part, part.sums(one.way * weights[one.penalty])) for part, weights in parts]
            gains[one] = np.concatenate([part.firsts(own)[1] for part, own in sums]) - plain
            scores[one] = round(float(gains[one].sum()), 6), -sum(part.loss(own) for part, own in sums)
        best = max(scores, key=scores.__getitem__)
        gain = gains[best]
        return best if gain.sum() > gain.std() * len(gain) ** 0.5 else PlannerChoice(best.penalty, 0.0)

    def _ticking(self, fits: int) -> Callable[[int], None]:
        """Return what counts finished fits."""
        done = 0

        def tick(finished: int) -> None:
            nonlocal done
            done += finished
            self.run.progress("learning", done, fits)

        tick(0)
        return tick

    def _fit(self, name: str, learned: Places, penalty: float, tick: Callable[[int], None]) -> Values:
        """Return the weights learned from some questions, as they were saved if this fit was done before."""
        chosen = np.flatnonzero(learned)
        key = self._checkpoint(name, chosen, penalty)
        series = f"loss, {name}, L2 {penalty:g}"
        if (saved := self.run.checkpoints.load(key)) is not None:
            weights = np.frombuffer(saved)
        else:
            weights = fit(
                self.table, chosen, penalty, self.learner.steps,
                lambda step, loss: self.run.metric(series, step, loss), self.run.check,
            )  # fmt: skip
            self.run.checkpoints.save(key, weights.tobytes())
        tick(1)
        return weights

    def _checkpoint(self, name: str, chosen: Places, penalty: float) -> str:
        """Return the name of a fit's checkpoint. Other questions, answers or settings give another name."""
        content = hashlib.blake2b(repr((name, penalty, self.learner)).encode(), digest_size=8)
        table = self.table
        for part in (chosen, table.scores, table.fit, table.first, table.of.indices, table.parts.indices):
            content.update(part.tobytes())
        content.update(repr(table.pairs).encode())
        return f"plans-{content.hexdigest()}"


def _warn_unreached(meanings: Sequence[Meanings], run: RunContext) -> None:
    """Log, with the numbers, that no plan of any question finds an answer."""
    if not any((one.fit > 0).any() for one in meanings):
        plans = float(np.mean([len(one.fit) for one in meanings]))
        run.log(
            f"Of {len(meanings):,} questions, the plans of 0 find an answer ({plans:.0f} plans on average), so nothing "
            "can be learned. Are these questions about this knowledge base?"
        )
