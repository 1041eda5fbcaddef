"""train_reranker: learn to order what searches find, from questions and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.jobs.train_learner import TrainLearnerJob


@dataclass(frozen=True)
class TrainRerankerJob(TrainLearnerJob):
    """Trains a reranker, a model that reads the first results and orders them anew; slow without a GPU (Kind).

    It goes on from its checkpoints after an interruption.
    """

    learner: ClassVar[str] = "reranker"
    shares: ClassVar[Mapping[str, float]] = {"searches": 5.0, "learning": 95.0}
