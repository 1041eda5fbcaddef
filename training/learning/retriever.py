"""The learned retriever of fields (docs/retrieval.md): its documents' vectors stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.fields.names import kind_of, lists_of
from search.fields.passages import Passages
from search.fields.scores import FieldScores
from search.interfaces import Keys
from search.neural.devices import chosen_dtype
from search.neural.field_retriever import RetrieverShape, base_tower, embedded, tokenized
from search.stages.retrieve_fields import first_weights
from training.data.examples import Example
from training.learning.devices import training_device
from training.learning.encoder import EncoderTask
from training.learning.folds import folds_apart, folds_of, patterns_of
from training.learning.retriever_data import RetrieverLesson, asked, nodes_of
from training.learning.retriever_fit import Indices
from training.learning.retriever_fitting import LearnedRetriever, RetrieverFitting, measures
from training.learning.retriever_settings import TRAINED, RetrieverSettings
from training.learning.task import Evaluated, Material, TooFew, TrainingCard

FEWEST_QUESTIONS = RetrieverSettings.FEWEST
"""Smallest number of real questions that a training accepts, if there are any."""
_READ = "questions"


@dataclass(frozen=True)
class RetrieverLearner(RetrieverSettings):
    """Learns to read questions for a retrieval of fields."""

    def task(self, material: Material) -> RetrieverTask | EncoderTask:
        """Return the training task. Raises StageError when the encoder's model cannot be trained on this machine."""
        if self.documents == TRAINED:
            return EncoderTask(self, material)
        tools = material.tools
        lists = lists_of(tools.vectors.kinds, tools.text.fields, tools.adjacency.size)
        start = first_weights(lists)
        shape = RetrieverShape(
            lists,
            tuple(name for name in lists if kind_of(name)),
            tuple(label.name for label in tools.schema.node_types),
            tuple(start[name] for name in lists),
        )  # fmt: skip
        try:
            base_tower(tools.encoder.name)
        except (OSError, ValueError) as error:
            reason = f"the encoder {tools.encoder.name} has no model that can be trained ({error})"
            raise StageError("retriever", reason, permanent=True) from error
        return RetrieverTask(self, material, shape)


@dataclass(frozen=True, eq=False)
class RetrieverTask:
    """The training of the retriever on given questions (task.LearningTask)."""

    learner: RetrieverLearner
    material: Material
    shape: RetrieverShape

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        return TrainingCard(
            "Retriever of fields",
            "It reads a question for a retrieval of fields: the encoder's model makes its vector, one linear map for "
            "each kind of vectors turns it to that kind, and the lists (fields by meaning and by words, PageRank) are "
            "weighed by the question. It learns from questions and their answers; the documents' vectors stay as they "
            "are. The loss is over the nodes of the whole knowledge base, or a sample of a large one.",
            "It reads questions for vectors of one encoder, and for the lists that its knowledge base had.",
        )

    def fit(self, run: RunContext) -> LearnedRetriever:
        """Learn from the questions: first from synthesised ones, then from the real ones.

        Raises TooFew, StageError if the loss diverges at once or nothing can be learned, RunCancelled.
        """
        real, made = self._read(run)
        settings = replace(self.learner, layers=self.learner.layers_for(len(made)))
        device = training_device(settings.device, "retriever")
        nodes = nodes_of(self.material.tools, self.shape, chosen_dtype("auto", device), device)
        fitting = RetrieverFitting(
            settings, self.shape, self.material.tools.encoder.name, nodes, device, run, after_synthesised=len(made) > 0
        )
        if not len(real):
            return fitting.alone(made)
        return fitting.both(made, real, self._folds(real))

    def evaluate(self, learned: LearnedRetriever, run: RunContext) -> Evaluated:
        """Return measures of the cross-fitted retrievers and of the untrained one, on the same questions."""
        before, after = measures(learned.before), measures(learned.ranks)
        metrics = {**learned.told, "before": before, "after": after}
        return Evaluated(metrics, {"untrained": before, "cross-fitted": after})

    def _folds(self, real: RetrieverLesson) -> Indices:
        how, texts = self.learner, [example.text for example in real.examples]
        patterns = patterns_of(texts, self.material.tools.mentions)
        if not how.apart:
            return folds_of(texts, how.folds, how.seed, patterns)
        answers = [one.answers for one in real.asked]
        return folds_apart(texts, answers, self.material.tools.adjacency, how.folds, how.seed, patterns)

    def _read(self, run: RunContext) -> tuple[RetrieverLesson, RetrieverLesson]:
        """Return the real and the synthesised questions that have an answer whose type may be one."""
        examples, answers = list(self.material.examples), list(self.material.answers)
        made = list(self.material.synthesised)
        own = list(self.material.synthesised_answers)
        if len(made) > self.learner.synthesised:
            drawn = np.random.default_rng(self.learner.seed).permutation(len(made))[: self.learner.synthesised]
            made, own = [made[at] for at in sorted(drawn)], [own[at] for at in sorted(drawn)]
        if not self.learner.passes:
            made, own = [], []
        if missing := self.learner.too_few(len(examples), len(made)):
            raise TooFew(missing.message)
        real = self._lesson(examples, answers, run, 0, len(examples) + len(made))
        if examples and len(real) < FEWEST_QUESTIONS:
            raise TooFew(
                f"Of {len(examples)} questions, {len(real)} have an answer whose type may be an answer; it takes "
                f"{FEWEST_QUESTIONS}."
            )
        return real, self._lesson(made, own, run, len(examples), len(examples) + len(made))

    def _lesson(
        self, examples: Sequence[Example], answers: Sequence[Keys], run: RunContext, done: int, total: int
    ) -> RetrieverLesson:
        tools = self.material.tools
        answerable = np.array([label.answerable for label in tools.schema.node_types], dtype=bool)
        passages = Passages(tools.encoder, tools.vectors)
        scores = FieldScores(tools.text, tools.mentions, tools.adjacency, passages)
        base = base_tower(tools.encoder.name)
        tokens = tokenized(base, [example.text for example in examples]) if examples else []
        vectors = embedded(base, tokens, run.check)
        found, kept = [], []
        for place, (example, own) in enumerate(zip(examples, answers, strict=True)):
            run.report(_READ, done + place, total)
            keys = own[answerable[tools.adjacency.types[own]]]
            if len(keys):
                found.append(asked(example.text, tokens[place], vectors[place], keys, scores, self.shape, run.check))
                kept.append(example)
        run.report(_READ, done + len(examples), total)
        return RetrieverLesson(found, kept)
