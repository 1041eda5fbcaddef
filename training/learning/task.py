"""Learning as a protocol: what a learner is given, what it gives back, and what it tells while it works.

Whoever runs a training (command, job, admin) knows this and no learner. A learner is a frozen dataclass whose fields
are its settings, named by a row of `GRASP_LEARNERS`; `task` puts it to work on questions. Nothing here loads a model
library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from search.domain.errors import SearchCancelled, SearchError
from search.domain.graph import Schema
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, Keys, MentionIndex, NodeStore, TextIndex, VectorIndex
from training.data.examples import Example

Progress = Callable[[str, int, int], None]
Metric = Callable[[str, int, float], None]


class TooFew(ValueError):
    """There are too few questions to learn from; the message says how many it takes."""


class TrainingCancelled(SearchError):
    """Somebody asked for this training to stop; nothing was written."""

    def __init__(self) -> None:
        super().__init__("The training was cancelled.")


class Checkpoints(Protocol):
    """Keeps what a training has reached, so that one that is started again goes on from there."""

    def save(self, name: str, content: bytes) -> None:
        """Keep content under a name; the former content stays whole until the new one is."""
        ...

    def load(self, name: str) -> bytes | None:
        """Return what was kept under a name, None where nothing was."""
        ...


class NoCheckpoints:
    """Keeps nothing (Checkpoints)."""

    def save(self, name: str, content: bytes) -> None:
        """Keep nothing."""

    def load(self, name: str) -> bytes | None:
        """Return nothing."""
        return None


def _untold(*_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class RunContext:
    """What a run hands to a learner: whether to go on, whom to tell, where to keep what is reached.

    `limit` says when time is over and whether the run was cancelled: its question must be cheap, since a learner asks
    it many times a second. `progress` is told `(part, done, total)`, `metric` `(name, step, value)`.
    """

    limit: Limit = field(default_factory=Limit)
    progress: Progress = _untold
    metric: Metric = _untold
    checkpoints: Checkpoints = field(default_factory=NoCheckpoints)

    def check(self) -> None:
        """Raise TrainingCancelled or DeadlineExceeded where the run has to stop."""
        try:
            self.limit.check("training")
        except SearchCancelled as error:
            raise TrainingCancelled() from error


class LearningTools(Protocol):
    """The tools of the release that is learned on, each built when it is first needed."""

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


@dataclass(frozen=True, eq=False)
class Material:
    """What there is to learn from: questions, the keys of their answers, the release's tools.

    `answers` holds sorted keys, one array a question. `options` are the settings of the stage that will use what is
    learned, as the pipeline's active version has them.
    """

    examples: Sequence[Example]
    answers: Sequence[Keys]
    tools: LearningTools
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights and what belongs to them, as `register_artifact` takes it."""

    tensors: Mapping[str, NDArray[Any]]
    served: Mapping[str, Any]
    files: Mapping[str, bytes]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """How good it is, on questions that what is measured has not learned from.

    `metrics` is JSON of the learner's own shape. `table` is what people are shown: `{row: {column: figure}}`.
    """

    metrics: Mapping[str, Any]
    table: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Card:
    """What a learner says of itself in the model card: a title, what is learned and how, what it is no good for."""

    title: str
    what: str
    limits: str = ""


L = TypeVar("L", bound=Learned)


class LearningTask(Protocol[L]):
    """A learner at work on questions."""

    def fit(self, run: RunContext) -> L:
        """Learn. Writes nothing but checkpoints.

        Calls `run.check()` often enough to end within a second of a cancel request. Raises TooFew where there is not
        enough to learn from, TrainingCancelled or SearchCancelled, DeadlineExceeded.
        """
        ...

    def evaluate(self, learned: L, run: RunContext) -> Evaluated:
        """Measure what was learned; `learned` is what this task's `fit` returned. Raises as `fit` does."""
        ...

    def describe(self) -> Card:
        """Describe the learner for the model card."""
        ...


class Learner(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def task(self, material: Material) -> LearningTask[Any]:
        """Return the task of learning from this material. Raises StageError where a tool that it takes is not there."""
        ...
