"""The protocol of learning: a learner's input, its results, and the progress that it reports.

The callers of a training (command, job, admin) depend on this protocol and on no learner. A learner is a frozen
dataclass whose fields are its settings; a row of `GRASP_LEARNERS` names it. Its method `task` returns the training on
given questions. This module loads no model library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from search.domain.conditions import CheckedConditions
from search.domain.fusion import Fusion
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.question import Question
from search.domain.run_context import RunContext
from search.domain.trace import Limit
from search.interfaces import (
    Adjacency,
    Columns,
    Encoder,
    GraphStore,
    Keys,
    MentionIndex,
    NodeStore,
    TextIndex,
    ValueIndex,
    VectorIndex,
)
from training.data.examples import Example

FOLDS = "folds.json"
"""Name of the file that assigns questions to folds, in an artifact that also keeps a scorer fitted without each fold.

It maps the hash of each question to its fold: `{"hashes": {hash: fold}}`. The pipeline's option that selects a fold is
named by `FOLD` in the learner's row of `GRASP_LEARNERS`, and `folds` of `config.json` names the files with the weights.
"""


class TooFew(ValueError):
    """There are too few questions to learn from; the message gives the required number."""


class LearningTools(Protocol):
    """The tools of the release used for training; each is built at its first use."""

    @property
    def schema(self) -> Schema: ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def adjacency(self) -> Adjacency: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def mentions(self) -> MentionIndex: ...
    @property
    def text(self) -> TextIndex: ...
    @property
    def vectors(self) -> VectorIndex: ...
    @property
    def values(self) -> ValueIndex: ...
    @property
    def columns(self) -> Columns: ...
    @property
    def graph(self) -> GraphStore: ...


@dataclass(frozen=True, slots=True)
class FoundOfTask:
    """What a search hands to its reranker: the arguments of `RerankStage`, except the limit."""

    question: Question
    fusion: Fusion
    plans: Sequence[LinkedPlan]
    checked: CheckedConditions


class TaskReader(Protocol):
    """What a learner keeps of a search. It is sent to other processes, so it holds settings and no tools."""

    def __call__(self, found: FoundOfTask, tools: LearningTools) -> Any:
        """Return what is kept; it is sent back from another process."""
        ...


class Finder(Protocol):
    """Searches the training questions with the pipeline that searches use, up to its reranker.

    Nothing that is learned has seen the question that it helps to search: an artifact that has learned from a question
    is replaced by what it has kept of the other folds.
    """

    @property
    def places(self) -> Sequence[int]:
        """The places of the questions that can be searched so, sorted by the models that search them.

        Questions of the same models follow each other, so that each model is loaded once. A question is missing if an
        artifact has learned from it and has kept no model without it.
        """
        ...

    @property
    def fingerprint(self) -> str:
        """A text that changes with the release, the pipeline and the models that the questions are searched with."""
        ...

    def __call__(self, place: int, limit: Limit) -> FoundOfTask | None:
        """Return what the search for the question at a place hands to its reranker.

        Returns None if the search fails in a way that fails for users too, such as a question that is too long. Raises
        KeyError for a place that is not in `places`, StageError when a tool is not available, DeadlineExceeded and
        SearchCancelled.
        """
        ...

    def read(self, places: Sequence[int], reader: TaskReader, run: RunContext) -> Iterator[tuple[int, Any]]:
        """Search the questions at these places, and yield each place with what `reader` keeps of its search.

        The order is any, because many questions are searched by several processes. The value is None if the search
        fails. Raises the exceptions of a single search, WorkInterrupted if a process was ended from outside, and those
        of `run.check()`.
        """
        ...


@dataclass(frozen=True)
class Unsearched:
    """A finder without questions, for learners that need no searches (Finder)."""

    @property
    def places(self) -> Sequence[int]:
        """No places."""
        return ()

    @property
    def fingerprint(self) -> str:
        """An empty text."""
        return ""

    def __call__(self, place: int, limit: Limit) -> FoundOfTask | None:
        """Raise KeyError, because no question can be searched."""
        raise KeyError(place)

    def read(self, places: Sequence[int], reader: TaskReader, run: RunContext) -> Iterator[tuple[int, Any]]:
        """Yield nothing; there are no places."""
        yield from ()


@dataclass(frozen=True, eq=False)
class Material:
    """The input of a learner: questions, the keys of their answers, and the release's tools.

    `answers` holds one array of sorted keys for each question. `options` are the options of the stage that will use
    the artifact, from the pipeline's active version. `found` searches the questions, for learners that learn from what
    searches find; nothing is searched before it is called. `synthesised` are questions made of the knowledge base
    (training.data.synthesis), apart from those that people asked; a learner decides how it uses them, and `examples`
    may be empty beside them.
    """

    examples: Sequence[Example]
    answers: Sequence[Keys]
    tools: LearningTools
    options: Mapping[str, Any]
    found: Finder = field(default_factory=Unsearched)
    synthesised: Sequence[Example] = ()
    synthesised_answers: Sequence[Keys] = ()


@dataclass(frozen=True, eq=False)
class LearnedTask:
    """The result of learning, in the form that `register_artifact` takes: weights, description and further files."""

    tensors: Mapping[str, NDArray[Any]]
    served: Mapping[str, Any]
    files: Mapping[str, bytes]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The measures of a learned model, on questions that it has not learned from.

    `metrics` is JSON in a shape that the learner chooses. `table` is shown to people: `{row: {column: figure}}`.
    """

    metrics: Mapping[str, Any]
    table: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class TrainingCard:
    """A learner's part of the model card: a title, a description of the learning, and its limits."""

    title: str
    what: str
    limits: str = ""


L = TypeVar("L", bound=LearnedTask)


class LearningTask(Protocol[L]):
    """The training of a learner on given questions."""

    def fit(self, run: RunContext) -> L:
        """Return the learned model. Writes only checkpoints.

        Calls `run.check()` often enough to stop within one second after a cancel request. Raises TooFew when there are
        too few questions, RunCancelled or SearchCancelled, and DeadlineExceeded.
        """
        ...

    def evaluate(self, learned: L, run: RunContext) -> Evaluated:
        """Return measures of `learned`, the result of this task's `fit`. Raises the same exceptions as `fit`."""
        ...

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        ...


class Learner(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def task(self, material: Material) -> LearningTask[Any]:
        """Return the training task on this material. Raises StageError when a required tool is not available."""
        ...
