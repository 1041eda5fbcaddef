"""train_ranker: learn to order the candidates of searches from questions and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.jobs.train_learner import TrainLearnerJob


@dataclass(frozen=True)
class TrainRankerJob(TrainLearnerJob):
    """Trains a ranker, which orders what all lists found, by its words, meaning and paths; needs no GPU (Kind).

    It goes on from its checkpoints after an interruption.
    """

    learner: ClassVar[str] = "ranker"
    shares: ClassVar[Mapping[str, float]] = {"searches": 60.0, "learning": 40.0}
