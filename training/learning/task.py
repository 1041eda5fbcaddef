"""What a learner is given and what it gives back; nothing here loads a model library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from search.domain.trace import Limit
from search.interfaces import Keys
from search.stages.plan import Planner
from training.data.examples import Example

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Task:
    """Questions to learn from, the keys of their answers (sorted, one array a question), and the planner to teach."""

    examples: Sequence[Example]
    answers: Sequence[Keys]
    planner: Planner
    limit: Limit = field(default_factory=Limit)


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights and what belongs to them, as `register_artifact` takes it."""

    tensors: Mapping[str, NDArray[Any]]
    served: Mapping[str, Any]
    metrics: Mapping[str, Any]
    files: Mapping[str, bytes]


class Learner(Protocol):
    """A frozen dataclass whose fields are its settings; called, it learns. It writes nothing anywhere."""

    def __call__(self, task: Task, progress: Progress) -> Learned:
        """Learn. `progress` is told `(part, done, total)`. Raises TooFew where there is not enough to learn from."""
        ...


class TooFew(ValueError):
    """There are too few questions to learn from; the message says how many it takes."""
