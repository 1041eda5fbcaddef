"""train_planner: learn to score plans from questions and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.jobs.train_learner import TrainLearnerJob


@dataclass(frozen=True)
class TrainPlannerJob(TrainLearnerJob):
    """Trains a planner, which chooses among the readings of a question (Kind).

    It goes on from its checkpoints after an interruption.
    """

    learner: ClassVar[str] = "planner"
    shares: ClassVar[Mapping[str, float]] = {"plans": 60.0, "learning": 30.0, "measuring": 10.0}
