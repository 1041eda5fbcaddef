"""The learned ranker (docs/ranking.md): it orders the candidates of searches by what the searches know of them.

It learns from the candidates that searches find for questions with answers. Only candidates that were found are learned
from, and every signal that is itself learned comes from a model that has not seen the question. No signal remembers the
answers of other questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.signals.answer_types import AnswerTypes, type_signals
from search.signals.first_result import CALIBRATION
from search.signals.gather import DEPTH
from search.signals.table import SignalTable
from search.signals.titles import signal_title
from training.evaluation.comparisons import comparisons
from training.evaluation.measures import Values, intervals, means, measure
from training.learning.answer_type_fit import fit_types, inputs
from training.learning.folds import folds_apart, folds_of, patterns_of
from training.learning.plan_files import folds_of_hashes
from training.learning.ranker_calibration import ListFacts, RankerCalibration, calibrated
from training.learning.ranker_files import Model, files_of, served, tensors_of
from training.learning.ranker_fit import Floats, RankerPart, Ranks, fit_parts, mean_scores, shares_of_gain
from training.learning.ranker_settings import RankerSettings
from training.learning.ranker_tables import RankerTables, collect
from training.learning.task import FOLDS, Evaluated, LearnedTask, Material, TooFew, TrainingCard

FEWEST_QUESTIONS = RankerSettings.FEWEST
"""Smallest number of questions with an answer among their candidates that a training accepts."""
SHOWN = 15
"""Number of signals in the model card: those that gained most."""
LEARNING = "learning"
TYPES = ("type:place", "type:probability")
"""The signals that are learned together with the trees."""


@dataclass(frozen=True)
class RankerLearner(RankerSettings):
    """Learns to order candidates."""

    def task(self, material: Material) -> RankerTask:
        """Return the training task for the searches of the pipeline's present version."""
        return RankerTask(self, material)


@dataclass(frozen=True, eq=False)
class LearnedRanker(LearnedTask):
    """The content of the artifact and, for measuring, each question's candidates as ranked without its fold.

    `ranked` and `given` hold the keys of the candidates from best to worst, by the place of the question. `calibration`
    tells how probable it is that the first is an answer.
    """

    ranked: Mapping[int, NDArray[np.int32]]
    given: Mapping[int, NDArray[np.int32]]
    gains: Mapping[str, float]
    types_right: float
    reached: int
    candidates: float
    calibration: RankerCalibration


@dataclass(frozen=True, eq=False)
class RankerTask:
    """The training of the ranker on given questions (task.LearningTask)."""

    learner: RankerLearner
    material: Material

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        return TrainingCard(
            "Ranker of candidates",
            "It orders the candidates of a search by what the search knows of them: scores and ranks in the lists, the "
            "plans that found them, names and words of the question near them in the graph, and the type that the "
            "question asks for. It is LambdaMART (LightGBM), learned from questions and their answers. The figures "
            "below are for held-out folds: each question is ranked by trees that have not learned from it.",
            "It orders only what the lists contain. It fits the pipeline's version that it was trained for: with other "
            "lists or other trained parts its signals mean something else. How sure it is of its first candidate is "
            "calibrated for questions like those that it has learned from.",
        )

    def fit(self, run: RunContext) -> LearnedRanker:
        """Learn from the questions. Raises TooFew, RunCancelled, SearchCancelled, DeadlineExceeded and StageError."""
        material, tools = self.material, self.material.tools
        examples = material.examples
        texts = [example.text for example in examples]
        places = list(material.found.places)
        if len(places) < FEWEST_QUESTIONS:
            raise TooFew(_too_few(len(examples), len(places)))
        depth = int(material.options.get("light_depth", DEPTH))
        tables = collect(material, depth, places, run)
        names = sorted({*tables.names, *TYPES})
        self._check_reach(tables, len(places))
        folds = self._folds(texts)
        vectors = tools.encoder.encode(texts)
        fitting = _Fitting(self, tables, names, folds, inputs(texts, vectors), run)
        parts = [fitting.types(folds != fold) for fold in range(int(folds.max()) + 1)]
        ranks = {
            place: self._ranks(table, names, texts[place], vectors[place], parts[folds[place]], place)
            for place, table in tables.by_place.items()
        }
        every = fitting.types(folds >= 0)
        *of_folds, of_all = fitting.trees(ranks)
        held_out = [Model(types, trees) for types, trees in zip(parts, of_folds, strict=True)]
        whole = Model(every, of_all)
        scores = {place: mean_scores(held_out[folds[place]].trees, one.signals) for place, one in ranks.items()}
        calibration = calibrated(
            [ListFacts.of(tables.by_place[place], scores[place], one.answers, int(folds[place]))
             for place, one in ranks.items() if len(one.answers)],
            len(parts),
        )  # fmt: skip
        gains = dict(zip(names, shares_of_gain(whole.trees).tolist(), strict=True))
        files = {
            FOLDS: folds_of_hashes(examples, folds), CALIBRATION: calibration.file(), **files_of(held_out, whole),
        }  # fmt: skip
        return LearnedRanker(
            tensors_of(whole.types), served(tools.encoder.name, names, whole, held_out), files,
            {place: tables.by_place[place].keys[np.argsort(-one, kind="stable")] for place, one in scores.items()},
            {place: _given(table) for place, table in tables.by_place.items()},
            gains, self._types_right(parts, folds, texts, vectors),
            sum(bool(one.answers.any()) for one in ranks.values()),
            float(np.mean([len(table.keys) for table in tables.by_place.values()])),
            calibration,
        )  # fmt: skip

    def evaluate(self, learned: LearnedRanker, run: RunContext) -> Evaluated:
        """Return the measures of the given lists and of the held-out rankings, and what the trees looked at."""
        places = list(self.material.found.places)
        values = {"given": self._values(places, learned.given), "held out": self._values(places, learned.ranked)}
        compared = comparisons({"held out": values["held out"], "given": values["given"]})
        shown = sorted(learned.gains.items(), key=lambda one: -one[1])
        metrics = {
            "questions": len(places), "reached": learned.reached, "candidates": round(learned.candidates, 1),
            "types_right": round(100 * learned.types_right, 2),
            **{name.replace(" ", "_"): {"metrics": means(one), "intervals": intervals(one)}
               for name, one in values.items()},
            "comparisons": compared, "calibration": learned.calibration.measured(),
            "importance": {name: round(share, 5) for name, share in shown},
        }  # fmt: skip
        table: dict[str, Mapping[str, float]] = {name: means(one) for name, one in values.items()}
        table["difference"] = {one["metric"]: one["difference"] for one in compared}
        table["p of the difference (paired randomisation test)"] = {one["metric"]: one["p"] for one in compared}
        table["probability of the first (held out)"] = learned.calibration.figures()
        table |= {
            f"Signal: {signal_title(name)}": {"part of the gain, %": 100 * share} for name, share in shown[:SHOWN]
        }
        return Evaluated(metrics, table)

    def _folds(self, texts: Sequence[str]) -> NDArray[np.int64]:
        how, material = self.learner, self.material
        patterns = patterns_of(texts, material.tools.mentions)
        if not how.apart:
            return folds_of(texts, how.folds, how.seed, patterns)
        return folds_apart(texts, material.answers, material.tools.adjacency, how.folds, how.seed, patterns)

    def _values(self, places: Sequence[int], rankings: Mapping[int, NDArray[np.int32]]) -> Values:
        """Return the measures of rankings of keys; a question without a ranking scores 0."""
        answers = {str(place): [str(key) for key in self.material.answers[place].tolist()] for place in places}
        return measure({str(place): [str(key) for key in keys.tolist()] for place, keys in rankings.items()}, answers)

    def _ranks(
        self, table: SignalTable, names: Sequence[str], text: str, vector: Floats, types: AnswerTypes, place: int
    ) -> Ranks:
        """Return a question's candidates; `types` has not learned from it."""
        adjacency = self.material.tools.adjacency
        known = dict(zip(types.types, types.probabilities(text, vector).tolist(), strict=True))
        own = type_signals(known, [one.name for one in adjacency.schema.node_types], adjacency.types, table.keys)
        whole = SignalTable(table.keys, {**table.columns, **own})
        return Ranks(whole.matrix(names), np.isin(table.keys, self.material.answers[place]))

    def _check_reach(self, tables: RankerTables, asked: int) -> None:
        """Raise TooFew if the candidates of too few questions hold an answer, with the numbers that show it."""
        held = [np.isin(table.keys, self.material.answers[place]) for place, table in tables.by_place.items()]
        useful = sum(bool(one.any()) and not bool(one.all()) for one in held)
        if useful >= FEWEST_QUESTIONS:
            return
        reached, empty = sum(bool(one.any()) for one in held), asked - sum(len(one) > 0 for one in held)
        mean = float(np.mean([len(one) for one in held])) if held else 0.0
        raise TooFew(
            f"Of {asked:,} searches, {reached:,} hold an answer among their candidates ({mean:.0f} candidates on "
            f"average, {empty:,} searches without any). Learning to rank takes {FEWEST_QUESTIONS} searches that hold "
            "an answer beside other candidates. Are these questions about this knowledge base?"
        )

    def _types_right(
        self, parts: Sequence[AnswerTypes], folds: NDArray[np.int64], texts: Sequence[str], vectors: Floats
    ) -> float:
        """Return the share of questions whose most probable type, by the model without their fold, is right."""
        labels, names = self.labels(), [one.name for one in self.material.tools.adjacency.schema.node_types]
        right = 0
        for place, text in enumerate(texts):
            types = parts[folds[place]]
            right += types.types[int(types.probabilities(text, vectors[place]).argmax())] == names[labels[place]]
        return right / len(texts)

    def labels(self) -> NDArray[np.int64]:
        """Return the code of the most frequent type among each question's answers."""
        types = self.material.tools.adjacency.types
        return np.array([np.bincount(types[keys]).argmax() for keys in self.material.answers], dtype=np.int64)


@dataclass
class _Fitting:
    """Fits the parts of the rankers and reports each of them."""

    task: RankerTask
    tables: RankerTables
    names: Sequence[str]
    folds: NDArray[np.int64]
    read: Any
    run: RunContext
    done: int = 0

    @property
    def total(self) -> int:
        """The number of parts: types and trees of each fold and of the whole."""
        return 2 * (int(self.folds.max()) + 2)

    def types(self, chosen: NDArray[np.bool_]) -> AnswerTypes:
        """Return the model of the answer's type, fitted to the chosen questions."""
        self._tell(self.done)
        self.done += 1
        rows = np.flatnonzero(chosen)
        names = [one.name for one in self.task.material.tools.adjacency.schema.node_types]
        return fit_types(self.read[rows], self.task.labels()[rows], names, self.task.learner.strength)

    def trees(self, ranks: Mapping[int, Ranks]) -> list[list[lightgbm.Booster]]:
        """Return the trees that are fitted without each fold, and at the end those fitted to all questions.

        Raises TooFew if the questions of all folds but one teach nothing.
        """
        chosen = [*(self.folds != fold for fold in range(int(self.folds.max()) + 1)), self.folds >= 0]
        parts = [RankerPart(self._teaching(ranks, one), 1) for one in chosen]
        parts[-1] = replace(parts[-1], seeds=self.task.learner.seeds)
        return fit_parts(parts, self.task.learner, lambda fitted: self._tell(self.done + fitted))

    def _teaching(self, ranks: Mapping[int, Ranks], chosen: NDArray[np.bool_]) -> list[Ranks]:
        mine = [one for place, one in sorted(ranks.items()) if chosen[place] and one.teaches]
        if not mine:
            raise TooFew("No answer is among the candidates of the questions of all folds but one; take fewer folds.")
        return mine

    def _tell(self, done: int) -> None:
        self.run.check()
        self.run.report(LEARNING, done, self.total)


def _too_few(questions: int, searched: int) -> str:
    if questions == searched:
        return f"There are {questions} questions to learn from; it takes {FEWEST_QUESTIONS} at least."
    return (
        f"Of {questions:,} questions, only {searched:,} can be searched without a model that has learned from them; it "
        f"takes {FEWEST_QUESTIONS} at least. Train the planner and the retriever again, so that they keep their folds."
    )


def _given(table: SignalTable) -> NDArray[np.int32]:
    """Return the keys of the fused list, from best to worst."""
    ranks = table.columns.get("list:fused:rank")
    if ranks is None:
        return table.keys[:0]
    listed = np.flatnonzero(~np.isnan(ranks))
    return table.keys[listed[np.argsort(ranks[listed], kind="stable")]]
